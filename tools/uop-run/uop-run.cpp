//===- uop-run.cpp - compile and run a program ----------------------------===//
//
// The command line around the runtime: reads a program and its inputs, runs it on
// the CPU or through an interpreter, prints or writes what comes out.
//
//===----------------------------------------------------------------------===//

#include "Options.h"
#include "Uop/Graph/Results.h"
#include "Uop/Graph/Walk.h"
#include "Uop/Runtime/Npy.h"
#include "Uop/Runtime/Program.h"
#include "Uop/Target/Uir.h"
#include "Uop/Transforms/CheckBounds.h"
#include "Uop/Transforms/Linearize.h"
#include "Uop/Transforms/Rangeify.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include <chrono>

using namespace uop;
using namespace uop::runtime;

namespace {

int fail(const llvm::Twine &message) {
  llvm::errs() << "uop-run: " << message << "\n";
  return 1;
}

int fail(llvm::Error error) { return fail(llvm::toString(std::move(error))); }

/// One program, its inputs and where its results go.
class Session {
public:
  Session(ProgramOp program, const Options &options)
      : program(program), options(options), isLoops(!isShaped(program)),
        isSink(mlir::isa<VoidType>(program.getRoot().getType())),
        outputSlot(getOutputSlot(program.getRoot())),
        params(getKernelParams(program)) {}
  int run();

private:
  int print();
  int interpret();
  int execute();
  int lower();
  int findOutputs();
  int resolveFiles();
  /// The contents of a parameter before the run.
  llvm::Expected<Buffer> makeBuffer(const KernelParam &param, bool isRead);
  llvm::Error addBuffer(int64_t slot, const Array &array);
  /// An error for an --output that nothing would be written to.
  int checkOutputs();
  int report(int64_t slot, mlir::Type type);
  /// Writes or prints every result.
  int finish();

  ProgramOp program;
  Options options;
  bool isLoops, isSink;
  /// The values of a program of shapes; number i has slot `outputSlot + i`.
  llvm::SmallVector<mlir::Type> outputs;
  int64_t outputSlot;
  llvm::SmallVector<KernelParam> params;
  /// Slots that the program stores to and reads, apart from its outputs.
  llvm::DenseSet<int64_t> written, read;
  /// The memory of a run, by slot.
  std::map<int64_t, Buffer> buffers;
  /// The files that wait until all of them are written.
  std::vector<StagedNpy> staged;
};

llvm::Expected<Buffer> Session::makeBuffer(const KernelParam &param,
                                           bool isRead) {
  auto file = options.inputs.find(param.slot);
  if (file != options.inputs.end())
    return readBuffer(file->second, param);
  if (isRead && !options.fill)
    return llvm::createStringError(
        llvm::inconvertibleErrorCode(),
        "slot " + llvm::Twine(param.slot) + " (" + getName(param.dtype) +
            formatShape(param.size) + ") has no contents: give --input " +
            llvm::Twine(param.slot) + "=FILE.npy or --fill");
  llvm::Expected<Buffer> buffer = Buffer::allocate(
      uint64_t(param.size) * getByteWidth(param.dtype), Buffer::Fill::Zero);
  if (buffer && isRead)
    fill(*buffer, param, *options.fill);
  return buffer;
}

llvm::Error Session::addBuffer(int64_t slot, const Array &array) {
  llvm::Expected<Buffer> buffer = toBuffer(array);
  if (!buffer)
    return buffer.takeError();
  buffers.insert_or_assign(slot, std::move(*buffer));
  return llvm::Error::success();
}

int Session::checkOutputs() {
  for (const auto &output : options.outputs)
    if (!written.contains(output.first) &&
        (isLoops || output.first < outputSlot))
      return fail("the program does not store to slot " +
                  llvm::Twine(output.first));
  return 0;
}

/// A result goes to the file that its slot was given, else to the terminal.
int Session::report(int64_t slot, mlir::Type type) {
  DType dtype = getDType(type);
  llvm::ArrayRef<int64_t> shape = getShape(type);
  // No element, no store, and no memory: the value is all brackets.
  auto buffer = buffers.find(slot);
  const void *data = nullptr;
  size_t bytes = 0;
  if (buffer != buffers.end()) {
    data = buffer->second.data();
    bytes = buffer->second.size();
  }
  auto file = options.outputs.find(slot);
  if (file != options.outputs.end()) {
    llvm::Expected<StagedNpy> written =
        StagedNpy::write(file->second, dtype, shape,
                         {static_cast<const uint8_t *>(data), bytes});
    if (!written)
      return fail(written.takeError());
    staged.push_back(std::move(*written));
    return 0;
  }
  if (isLoops || slot < outputSlot)
    llvm::outs() << "slot " << slot << ": ";
  else if (isSink)
    llvm::outs() << "out " << slot - outputSlot << ": ";
  printNested(llvm::outs(), data, dtype, shape);
  llvm::outs() << "\n";
  return 0;
}

int Session::finish() {
  for (auto [number, type] : llvm::enumerate(outputs))
    if (int status = report(outputSlot + number, type))
      return status;
  for (const KernelParam &param : params) {
    if (!written.contains(param.slot))
      continue;
    mlir::Type type =
        getValueType(program.getContext(), param.dtype, {param.size});
    if (int status = report(param.slot, type))
      return status;
  }
  // Now that all are written, into their places.
  for (StagedNpy &file : staged)
    if (llvm::Error error = file.commit())
      return fail(std::move(error));
  return 0;
}

int Session::lower() {
  // What can't be proved in a moment is left to run.
  CheckBoundsOptions quick;
  quick.budget = 1000000;
  quick.warn = false;
  if (failed(rangeify(program)) || failed(checkBounds(program, quick)) ||
      failed(linearize(program)))
    return 1;
  return 0;
}

/// The shaped graph, or the program of loops, without compiling anything.
int Session::interpret() {
  if (isLoops && lower())
    return 1;
  collectAccesses(program, written, read);
  if (checkOutputs())
    return 1;
  ArrayMap arrays;
  for (const KernelParam &param : params) {
    llvm::Expected<Buffer> buffer =
        makeBuffer(param, !isSink || read.contains(param.slot));
    if (!buffer)
      return fail(buffer.takeError());
    arrays[param.slot] = toArray(*buffer, param.dtype, param.size);
  }
  if (isLoops) {
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
      arrays[outputSlot + number] = std::move(array);
  }
  for (const auto &[slot, array] : arrays)
    if (llvm::Error error = addBuffer(slot, array))
      return fail(std::move(error));
  return finish();
}

int Session::execute() {
  std::string name = program.getSymName().str();
  // What is stored in place is known before, outputs are only stored to.
  if (!isLoops)
    collectAccesses(program, written, read);
  if (lower())
    return 1;
  if (isLoops)
    collectAccesses(program, written, read);
  if (checkOutputs())
    return 1;
  llvm::Expected<Program> compiled =
      Program::compile(program, {name, options.strict});
  if (!compiled)
    return fail(compiled.takeError());
  if (options.debug >= 4)
    llvm::errs() << compiled->source();

  std::vector<Buffer *> pointers;
  for (auto [i, param] : llvm::enumerate(compiled->params())) {
    llvm::Expected<Buffer> buffer = makeBuffer(param, compiled->isRead(i));
    if (!buffer)
      return fail(buffer.takeError());
    pointers.push_back(
        &buffers.emplace(param.slot, std::move(*buffer)).first->second);
  }
  // A STORE of no elements is none in the kernel.
  for (const KernelParam &param : params) {
    if (!written.contains(param.slot) || buffers.count(param.slot))
      continue;
    llvm::Expected<Buffer> buffer = makeBuffer(param, /*isRead=*/false);
    if (!buffer)
      return fail(buffer.takeError());
    buffers.emplace(param.slot, std::move(*buffer));
  }

  // The best of five, unless a run is long or changes what it reads.
  bool again = options.time;
  for (size_t i = 0; i < pointers.size(); ++i)
    again &= !(compiled->isRead(i) && compiled->isWritten(i));
  double best = 0;
  for (int run = 0; run == 0 || (again && run < 5); ++run) {
    auto start = std::chrono::steady_clock::now();
    if (llvm::Error error = compiled->run(pointers))
      return fail(std::move(error));
    std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - start;
    best = run == 0 ? taken.count() : std::min(best, taken.count());
    again &= taken.count() < 500;
  }
  if (options.time || options.debug >= 2) {
    const Kernel &kernel = compiled->kernel();
    llvm::errs() << llvm::format("  %-32s %8.3f ms %8.2f GFLOP/s\n",
                                 name.c_str(), best,
                                 best > 0 ? compiled->flops() / best * 1e-6 : 0)
                 << llvm::format("  %-32s %8.3f ms\n",
                                 kernel.fromCache ? "(from the kernel cache)"
                                                  : "(compiled)",
                                 kernel.milliseconds);
  }
  return finish();
}

int Session::print() {
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
    if (lower() || failed(printC(program, os, cOptions)))
      return 1;
    llvm::outs() << text;
  }
  return 0;
}

/// The types of the outputs.
int Session::findOutputs() {
  if (isLoops)
    return 0;
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> results =
      getResults(program.getRoot());
  if (failed(results))
    return 1;
  for (mlir::Value result : *results)
    if (!mlir::isa<VoidType>(result.getType()))
      outputs.push_back(result.getType());
  return 0;
}

/// Checks the slots of files, and finds those of outputs that have none.
int Session::resolveFiles() {
  llvm::DenseSet<int64_t> slots;
  for (const KernelParam &param : params)
    slots.insert(param.slot);
  for (const auto &input : options.inputs)
    if (!slots.contains(input.first))
      return fail("the program has no buffer of slot " +
                  llvm::Twine(input.first));
  for (size_t number = 0; number < outputs.size(); ++number)
    slots.insert(outputSlot + number);
  for (const auto &output : options.outputs)
    if (!slots.contains(output.first))
      return fail("the program has no buffer of slot " +
                  llvm::Twine(output.first));
  if (!options.valueOutput.empty()) {
    if (outputs.empty())
      return fail((isLoops ? "a program of loops" : "this program") +
                  llvm::Twine(" has no value: --output takes SLOT=FILE.npy, "
                              "got '") +
                  options.valueOutput + "'");
    if (outputs.size() > 1)
      return fail("the program has " + llvm::Twine(outputs.size()) +
                  " outputs: --output takes outN=FILE.npy, got '" +
                  options.valueOutput + "'");
    options.numberedOutputs.emplace(0, options.valueOutput);
  }
  for (const auto &[number, file] : options.numberedOutputs) {
    if (number >= static_cast<int64_t>(outputs.size()))
      return fail("the program has no output " + llvm::Twine(number));
    auto [it, fresh] = options.outputs.try_emplace(outputSlot + number, file);
    if (!fresh)
      return fail("--output gives slot " + llvm::Twine(outputSlot + number) +
                  " twice: '" + it->second + "' and '" + file + "'");
  }
  return 0;
}

int Session::run() {
  if (!options.print.empty())
    return print();
  if (findOutputs() || resolveFiles())
    return 1;
  if (options.threads)
    setenv("OMP_NUM_THREADS", std::to_string(options.threads).c_str(), 1);
  // Without buffers there is nothing to compile for.
  return options.interpreter || (!isLoops && params.empty()) ? interpret()
                                                             : execute();
}

mlir::OwningOpRef<mlir::ModuleOp> parse(llvm::SourceMgr &sourceMgr,
                                        llvm::StringRef name,
                                        mlir::MLIRContext *context) {
  const llvm::MemoryBuffer *buffer =
      sourceMgr.getMemoryBuffer(sourceMgr.getMainFileID());
  if (isUir(name, buffer->getBuffer()))
    return parseUir(sourceMgr, context);
  return mlir::parseSourceFile<mlir::ModuleOp>(sourceMgr, context);
}

} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  llvm::Expected<std::optional<Options>> parsed = parseOptions(argc, argv);
  if (!parsed)
    return fail(parsed.takeError());
  if (!*parsed)
    return 0;
  const Options &options = **parsed;
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> file =
      mlir::openInputFile(options.file, &message);
  if (!file)
    return fail(message);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  context.loadDialect<UopDialect>();
  llvm::SourceMgr sourceMgr;
  sourceMgr.AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  mlir::SourceMgrDiagnosticHandler handler(sourceMgr, &context);
  mlir::OwningOpRef<mlir::ModuleOp> module =
      parse(sourceMgr, options.file, &context);
  if (!module)
    return 1;
  llvm::SmallVector<ProgramOp> programs(module->getOps<ProgramOp>());
  if (!options.program.empty())
    llvm::erase_if(programs, [&](ProgramOp p) {
      return p.getSymName() != options.program;
    });
  if (programs.size() != 1)
    return fail(options.file + ": " +
                (programs.empty()
                     ? options.program.empty() ? "no program in it"
                                               : "no such program"
                                  : "several programs: choose one with "
                                    "--program=NAME"));
  return Session(programs[0], options).run();
}
