//===- Session.cpp - running one program ----------------------------------===//
//
// Lowers, compiles or interprets, and prints on the way what is asked for.
//
//===----------------------------------------------------------------------===//

#include "Session.h"
#include "Report.h"
#include "Uop/Graph/Results.h"
#include "Uop/Graph/Interpreter.h"
#include "Uop/Runtime/Program.h"
#include "Uop/Target/Uir.h"
#include "Uop/Transforms/CheckBounds.h"
#include "Uop/Transforms/Linearize.h"
#include "Uop/Transforms/Rangeify.h"

using namespace uop;
using namespace uop::runtime;

static int lower(ProgramOp program) {
  // What can't be proved in a moment is left to run.
  CheckBoundsOptions quick;
  quick.budget = 1000000;
  quick.warn = false;
  if (failed(rangeify(program)) || failed(checkBounds(program, quick)) ||
      failed(linearize(program)))
    return 1;
  return 0;
}

static int print(ProgramOp program, const Options &options) {
  if (options.print == "type") {
    mlir::Type type = program.getRoot().getType();
    llvm::outs() << "dtype=" << getName(getDType(type))
                 << " shape=" << formatShape(getShape(type)) << " addrspace="
                 << stringifyAddrSpace(getSpace(type)).upper() << "\n";
  } else if (options.print == "uir") {
    printUir(program, llvm::outs());
  } else if (options.print == "mlir") {
    program->getParentOp()->print(llvm::outs());
    llvm::outs() << "\n";
  } else {
    std::string text, name = program.getSymName().str();
    llvm::raw_string_ostream os(text);
    COptions cOptions;
    cOptions.name = makeCIdentifier(name);
    cOptions.locations = options.locations;
    printCPrelude(os);
    if (lower(program) || failed(printC(program, os, cOptions)))
      return 1;
    llvm::outs() << text;
  }
  return 0;
}

/// The shaped graph, or the program of loops, without compiling anything.
int Session::interpret() {
  if (interface.isLoops && lower(program))
    return 1;
  collectAccesses(program, written, read);
  if (files.checkOutputs(written))
    return 1;
  ArrayMap arrays;
  for (const KernelParam &param : interface.params) {
    if (files.load(param, !interface.isNumbered || read.contains(param.slot)))
      return 1;
    arrays[param.slot] =
        toArray(files.buffers[param.slot], param.dtype, param.size);
  }
  if (interface.isLoops) {
    std::vector<mlir::Operation *> schedule;
    for (mlir::Operation &op : program.getBodyBlock().without_terminator())
      schedule.push_back(&op);
    if (failed(evaluateLinear(schedule, arrays)))
      return 1;
  } else {
    mlir::FailureOr<ShapedResults> results =
        evaluateShapedProgram(program, arrays);
    if (failed(results))
      return 1;
    for (auto &[slot, array] : results->buffers)
      arrays[slot] = std::move(array);
    for (auto [number, array] : llvm::enumerate(results->outputs))
      arrays[interface.getOutputSlot(number)] = std::move(array);
  }
  for (const auto &[slot, array] : arrays) {
    llvm::Expected<Buffer> buffer = toBuffer(array);
    if (!buffer)
      return fail(buffer.takeError());
    files.buffers[slot] = std::move(*buffer);
  }
  return files.finish(written);
}

int Session::execute() {
  Stopwatch stopwatch;
  // What is stored in place is known before, outputs are only stored to.
  if (!interface.isLoops)
    collectAccesses(program, written, read);
  if (lower(program))
    return 1;
  if (interface.isLoops)
    collectAccesses(program, written, read);
  if (files.checkOutputs(written))
    return 1;
  llvm::Expected<Program> compiled =
      Program::compile(program, {program.getSymName().str(), options.strict});
  if (!compiled)
    return fail(compiled.takeError());
  double scheduled = stopwatch.getMilliseconds();
  if (options.debug >= 4)
    llvm::errs() << compiled->source();

  for (auto [i, param] : llvm::enumerate(compiled->params()))
    if (files.load(param, compiled->isRead(i)))
      return 1;
  std::vector<Buffer *> pointers;
  for (const KernelParam &param : compiled->params())
    pointers.push_back(&files.buffers[param.slot]);
  // A STORE of no elements is none in the kernel.
  for (const KernelParam &param : interface.params)
    if (written.contains(param.slot) && !files.buffers.count(param.slot) &&
        files.load(param, /*isRead=*/false))
      return 1;

  // The best of five, unless a run is long or changes what it reads.
  bool again = options.time;
  for (size_t i = 0; i < pointers.size(); ++i)
    again &= !(compiled->isRead(i) && compiled->isWritten(i));
  double best = 0;
  for (int run = 0; run == 0 || (again && run < 5); ++run) {
    Stopwatch running;
    if (llvm::Error error = compiled->run(pointers))
      return fail(std::move(error));
    double taken = running.getMilliseconds();
    best = run == 0 ? taken : std::min(best, taken);
    again &= taken < 500;
  }
  if (options.time || options.debug >= 2)
    reportLaunch(compiled->getSource(), {best, std::nullopt}, false);
  if (options.time)
    reportCompilation(compiled->kernel().fromCache,
                      compiled->kernel().milliseconds);
  if (options.debug >= 1)
    reportRun(1, scheduled, best);
  return files.finish(written);
}

int Session::run(ProgramOp program, const Options &options) {
  if (!options.print.empty())
    return print(program, options);
  mlir::FailureOr<Interface> interface = Interface::get(program);
  if (failed(interface))
    return 1;
  return Session(program, std::move(*interface), options).run();
}

int Session::run() {
  if (files.resolve())
    return 1;
  // Without buffers there is nothing to compile for.
  bool isConstant = !interface.isLoops && interface.params.empty();
  return options.interpreter || isConstant ? interpret() : execute();
}
