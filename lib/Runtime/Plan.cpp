//===- Plan.cpp - a compiled plan of kernels ------------------------------===//
//
// Launches read their pointers from a table that is filled at the start of a run.
//
//===----------------------------------------------------------------------===//

#include "Uop/Runtime/Plan.h"
#include "PlanLayout.h"
#include "Uop/Runtime/Stopwatch.h"
#include "llvm/Support/TimeProfiler.h"
#include <mutex>

using namespace uop;
using namespace uop::runtime;

namespace {

/// What one run needs for itself.
struct Workspace {
  Buffer arena;
  /// The pointers that kernels get, those of each launch in a row.
  std::vector<void *> table;
};

struct Launch {
  KernelEntry *entry;
  /// Of its first pointer in the table.
  unsigned first;
};

} // namespace

struct Plan::State {
  llvm::Error build(const CompileOptions &options);
  llvm::Expected<std::unique_ptr<Workspace>> acquire();
  void release(std::unique_ptr<Workspace> workspace);
  /// Checks the arguments and calls `work` with the table of pointers.
  llvm::Error withTable(llvm::ArrayRef<Argument> arguments,
                        llvm::function_ref<void(void **)> work);
  bool isRepeatable(const PlanKernel &kernel) const;

  PlanLayout layout;
  std::vector<PlanKernel> kernels;
  /// The kernel of each launch.
  std::vector<unsigned> numbers;
  std::vector<Launch> launches;
  /// What stands in the table.
  llvm::SmallVector<Place> places;
  /// Workspaces that no run uses at present.
  std::mutex mutex;
  std::vector<std::unique_ptr<Workspace>> idle;
};

static llvm::Expected<std::vector<KernelSource>>
printAll(const PlanLayout &layout, COptions options) {
  std::vector<KernelSource> sources;
  for (ProgramOp kernel : layout.kernels) {
    llvm::Expected<mlir::OwningOpRef<ProgramOp>> linear = lowerKernel(kernel);
    if (!linear)
      return linear.takeError();
    options.name = kernel.getSymName().str();
    llvm::Expected<KernelSource> source = printKernel(**linear, options);
    if (!source)
      return source.takeError();
    sources.push_back(std::move(*source));
  }
  return std::move(sources);
}

/// Prints and compiles the kernels and lays out the table.
llvm::Error Plan::State::build(const CompileOptions &options) {
  llvm::Expected<std::vector<KernelSource>> sources =
      printAll(layout, COptions());
  if (!sources)
    return sources.takeError();
  for (const PlanLayout::Launch &launch : layout.launches) {
    numbers.push_back(launch.kernel);
    launches.push_back({nullptr, static_cast<unsigned>(places.size())});
    if (llvm::Error error =
            layout.bind(launch, (*sources)[launch.kernel], places))
      return error;
  }
  llvm::Expected<std::vector<Kernel>> compiled =
      compileKernels(*sources, options);
  if (!compiled)
    return compiled.takeError();
  for (auto [source, code] : llvm::zip(*sources, *compiled))
    kernels.push_back({std::move(source), std::move(code)});
  for (auto [launch, number] : llvm::zip(launches, numbers))
    launch.entry = kernels[number].code.as<KernelEntry>();
  // The module may go before the plan does.
  layout.kernels.clear();
  layout.launches.clear();
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<Workspace>> Plan::State::acquire() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (!idle.empty()) {
      std::unique_ptr<Workspace> workspace = std::move(idle.back());
      idle.pop_back();
      return std::move(workspace);
    }
  }
  auto workspace = std::make_unique<Workspace>();
  llvm::Expected<Buffer> arena = Buffer::allocate(layout.arenaSize);
  if (!arena)
    return arena.takeError();
  workspace->arena = std::move(*arena);
  workspace->table.resize(places.size());
  return std::move(workspace);
}

void Plan::State::release(std::unique_ptr<Workspace> workspace) {
  std::lock_guard<std::mutex> lock(mutex);
  idle.push_back(std::move(workspace));
}

llvm::Error Plan::State::withTable(llvm::ArrayRef<Argument> arguments,
                                   llvm::function_ref<void(void **)> work) {
  llvm::SmallVector<void *, 16> bases;
  if (llvm::Error error = layout.resolve(arguments, bases))
    return error;
  llvm::Expected<std::unique_ptr<Workspace>> workspace = acquire();
  if (!workspace)
    return workspace.takeError();
  bases.push_back((*workspace)->arena.data());
  void **table = (*workspace)->table.data();
  for (auto [i, place] : llvm::enumerate(places))
    table[i] = static_cast<char *>(bases[place.base]) + place.offset;
  work(table);
  release(std::move(*workspace));
  return llvm::Error::success();
}

Plan::Plan(std::unique_ptr<State> state) : state(std::move(state)) {}
Plan::Plan(Plan &&) noexcept = default;
Plan &Plan::operator=(Plan &&) noexcept = default;
Plan::~Plan() = default;

llvm::Expected<Plan> Plan::compile(PlanOp plan,
                                   const CompileOptions &options) {
  llvm::TimeTraceScope scope("compile plan", plan.getSymName());
  llvm::Expected<PlanLayout> layout = PlanLayout::get(plan);
  if (!layout)
    return layout.takeError();
  auto state = std::make_unique<State>();
  state->layout = std::move(*layout);
  if (llvm::Error error = state->build(options))
    return std::move(error);
  return Plan(std::move(state));
}

llvm::ArrayRef<PlanParam> Plan::params() const { return state->layout.params; }
llvm::ArrayRef<PlanKernel> Plan::kernels() const { return state->kernels; }
llvm::ArrayRef<unsigned> Plan::launches() const { return state->numbers; }
uint64_t Plan::getArenaSize() const { return state->layout.arenaSize; }

llvm::Error Plan::run(llvm::ArrayRef<Argument> arguments) const {
  if (llvm::timeTraceProfilerEnabled())
    return measure(arguments, /*again=*/false).takeError();
  return state->withTable(arguments, [&](void **table) {
    for (const Launch &launch : state->launches)
      launch.entry(table + launch.first);
  });
}

llvm::Error Plan::run(llvm::ArrayRef<Buffer *> buffers) const {
  if (buffers.size() != params().size())
    return llvm::createStringError(
        "the plan takes " + llvm::Twine(params().size()) + " buffers, got " +
        llvm::Twine(buffers.size()));
  llvm::SmallVector<Argument, 16> arguments;
  for (auto [param, buffer] : llvm::zip(params(), buffers)) {
    if (buffer->size() != param.getByteSize())
      return llvm::createStringError(
          param.getName() + " takes " + llvm::Twine(param.getByteSize()) +
          " bytes, got " + llvm::Twine(buffer->size()));
    arguments.push_back({param.role, param.number, buffer->data(), param.dtype,
                         param.size});
  }
  return run(arguments);
}

/// A second run does what the first did, unless it reads what the first wrote.
bool Plan::State::isRepeatable(const PlanKernel &kernel) const {
  for (size_t i = 0; i < kernel.source.params.size(); ++i)
    if (kernel.source.written[i] && kernel.source.read[i])
      return false;
  return true;
}

llvm::Expected<std::vector<LaunchTime>>
Plan::measure(llvm::ArrayRef<Argument> arguments, bool again) const {
  std::vector<LaunchTime> times(state->launches.size());
  llvm::Error error = state->withTable(arguments, [&](void **table) {
    for (size_t i = 0; i < times.size(); ++i) {
      const Launch &launch = state->launches[i];
      const PlanKernel &kernel = state->kernels[state->numbers[i]];
      auto time = [&] {
        llvm::TimeTraceScope scope("launch", kernel.source.name);
        Stopwatch stopwatch;
        launch.entry(table + launch.first);
        return stopwatch.getMilliseconds();
      };
      times[i].milliseconds = time();
      if (again && state->isRepeatable(kernel))
        times[i].again = time();
    }
  });
  if (error)
    return std::move(error);
  return times;
}

llvm::Expected<std::vector<KernelSource>>
uop::runtime::printKernels(PlanOp plan, const COptions &options) {
  llvm::Expected<PlanLayout> layout = PlanLayout::get(plan);
  if (!layout)
    return layout.takeError();
  return printAll(*layout, options);
}
