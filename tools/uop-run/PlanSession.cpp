//===- PlanSession.cpp - running a plan of kernels ------------------------===//
//
// Schedules, compiles and runs, and says how long each took.
//
//===----------------------------------------------------------------------===//

#include "PlanSession.h"
#include "Uop/Transforms/Kernelize.h"
#include "llvm/Support/TimeProfiler.h"

using namespace uop;
using namespace uop::runtime;

int PlanSession::run(ProgramOp program, const Options &options) {
  mlir::FailureOr<Interface> interface = Interface::get(program);
  if (failed(interface))
    return 1;
  PlanSession session(std::move(*interface), options);
  // A STORE of no elements is in no kernel.
  llvm::DenseSet<int64_t> read;
  collectAccesses(program, session.written, read);
  KernelizeOptions kernelizeOptions;
  kernelizeOptions.reassociate = !options.strict;
  {
    llvm::TimeTraceScope scope("plan", program.getSymName());
    mlir::FailureOr<PlanOp> plan = kernelize(program, kernelizeOptions);
    if (failed(plan))
      return 1;
    session.plan = *plan;
  }
  return session.run();
}

int PlanSession::run(PlanOp plan, const Options &options) {
  PlanSession session(Interface::get(plan), options);
  session.plan = plan;
  return session.run();
}

int PlanSession::run() {
  if (!options.print.empty())
    return print();
  if (files.resolve())
    return 1;
  return options.interpreter ? interpret() : execute();
}

int PlanSession::print() {
  if (options.print == "mlir") {
    plan->getParentOp()->print(llvm::outs());
    llvm::outs() << "\n";
    return 0;
  }
  if (options.print != "c")
    return fail("--print=" + options.print + " shows a program; of a plan " +
                "there are --print=mlir and --print=c");
  COptions cOptions;
  cOptions.locations = options.locations;
  llvm::Expected<std::vector<KernelSource>> sources =
      printKernels(plan, cOptions);
  if (!sources)
    return fail(sources.takeError());
  llvm::outs() << printTranslationUnit(*sources);
  return 0;
}

/// The memory of the params, with what the files say.
int PlanSession::load(llvm::ArrayRef<PlanParam> params) {
  for (const PlanParam &param : params) {
    bool isInput = param.role == Role::Input;
    int64_t slot = isInput ? param.number
                           : interface.getOutputSlot(param.number);
    if (isInput && param.written)
      written.insert(slot);
    if (files.load({slot, param.dtype, param.size}, isInput && param.read))
      return 1;
    arguments.push_back({param.role, param.number,
                         files.buffers.find(slot)->second.data(), param.dtype,
                         param.size});
  }
  return files.checkOutputs(written);
}

int PlanSession::interpret() {
  llvm::Expected<InterpretedPlan> lowered = InterpretedPlan::get(plan);
  if (!lowered)
    return fail(lowered.takeError());
  if (load(lowered->params()))
    return 1;
  if (llvm::Error error = lowered->run(arguments))
    return fail(std::move(error));
  return finish();
}

/// One run; with --time the best of five, unless a run is long or changes what it
/// reads.
llvm::Expected<std::vector<LaunchTime>>
PlanSession::measure(const Plan &compiled) {
  Stopwatch total;
  llvm::Expected<std::vector<LaunchTime>> best =
      compiled.measure(arguments, /*again=*/options.debug >= 3);
  bool again = options.time && total.getMilliseconds() < 500;
  for (const PlanParam &param : compiled.params())
    again &= !(param.role == Role::Input && param.written && param.read);
  for (int run = 1; best && again && run < 5; ++run) {
    auto times = compiled.measure(arguments, /*again=*/false);
    if (!times)
      return times;
    for (auto [time, other] : llvm::zip(*best, *times))
      time.milliseconds = std::min(time.milliseconds, other.milliseconds);
  }
  return best;
}

int PlanSession::execute() {
  Stopwatch compiling;
  CompileOptions compileOptions;
  compileOptions.strict = options.strict;
  std::optional<Progress> progress(std::in_place);
  compileOptions.progress = [&](size_t done, size_t total) {
    progress->show(done, total);
  };
  llvm::Expected<Plan> compiled = Plan::compile(plan, compileOptions);
  progress.reset();
  if (!compiled)
    return fail(compiled.takeError());
  double compileTime = compiling.getMilliseconds();
  double scheduled = stopwatch.getMilliseconds();
  if (options.debug >= 4) {
    llvm::errs() << printTranslationUnit({});
    for (const PlanKernel &kernel : compiled->kernels())
      llvm::errs() << kernel.source.text;
  }
  if (load(compiled->params()))
    return 1;

  bool showLaunches = options.time || options.debug >= 2;
  Stopwatch running;
  std::vector<LaunchTime> times;
  if (showLaunches) {
    auto measured = measure(*compiled);
    if (!measured)
      return fail(measured.takeError());
    times = std::move(*measured);
  } else if (llvm::Error error = compiled->run(arguments)) {
    return fail(std::move(error));
  }
  double ran = showLaunches ? 0 : running.getMilliseconds();

  for (auto [number, time] : llvm::zip(compiled->launches(), times)) {
    ran += time.milliseconds;
    reportLaunch(compiled->kernels()[number].source, time, options.debug >= 3);
  }
  bool fromCache = llvm::all_of(
      compiled->kernels(),
      [](const PlanKernel &kernel) { return kernel.code.fromCache; });
  if (options.time)
    reportCompilation(fromCache, compileTime);
  if (options.debug >= 1)
    reportRun(compiled->launches().size(), scheduled, ran);
  return finish();
}
