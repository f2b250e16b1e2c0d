//===- Kernelize.cpp - from a graph to a plan of kernels ------------------===//
//
// Puts what was decided into the module: kernels, each graph once, and the plan
// that launches them on memory with offsets.
//
//===----------------------------------------------------------------------===//

#include "Uop/Transforms/Kernelize.h"
#include "KernelBuilder.h"
#include "Uop/Graph/Encoding.h"
#include "Uop/Graph/Results.h"
#include "Uop/Graph/Walk.h"
#include "Uop/Transforms/MemoryPlan.h"
#include "Uop/Transforms/Passes.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace uop;
using namespace uop::planning;

namespace uop {
#define GEN_PASS_DEF_UOPKERNELIZE
#include "Uop/Transforms/Passes.h.inc"
} // namespace uop

namespace {

struct Launch {
  std::string kernel;
  llvm::SmallVector<Argument> arguments;
};

/// The kernels of a module by their graphs, and the names that are taken.
class KernelTable {
public:
  explicit KernelTable(ModuleOp module);

  /// Whether a plan of the module launches the program.
  bool isLaunched(ProgramOp program) const {
    return launched.contains(program.getSymName());
  }
  /// The name of the kernel of this graph. Where there is none, a new one that
  /// begins with `base`; then `isNew` is true.
  std::string getName(ProgramOp kernel, llvm::StringRef base, bool &isNew);

private:
  llvm::StringMap<std::string> nameOf;
  llvm::StringMap<unsigned> counts;
  llvm::StringSet<> launched, taken;
};

class Planner {
public:
  Planner(ProgramOp program, KernelTable &table)
      : program(program), table(table) {}

  LogicalResult plan(const KernelizeOptions &options);
  LogicalResult planLoops();
  /// Puts kernels and plan in the place of the program.
  PlanOp commit();

private:
  void addLaunch(BuiltKernel built);
  int64_t addMemory(OpBuilder &builder);
  int64_t addTemps(OpBuilder &builder);
  Value getMemory(OpBuilder &builder, const Argument &argument);

  ProgramOp program;
  KernelTable &table;
  llvm::SmallVector<OwningOpRef<ProgramOp>> kernels;
  std::vector<Launch> launches;
  /// The memory of the plan, with dtype and shape.
  std::map<Memory, MemType> memory;
  std::map<Memory, Value> values;
};

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

KernelTable::KernelTable(ModuleOp module) {
  module.walk([&](LaunchOp launch) { launched.insert(launch.getKernel()); });
  for (Operation &op : *module.getBody()) {
    if (auto symbol = dyn_cast<SymbolOpInterface>(op))
      taken.insert(symbol.getName());
    std::string graph;
    if (auto kernel = dyn_cast<ProgramOp>(op);
        kernel && isLaunched(kernel) && encodeGraph(kernel.getRoot(), graph))
      nameOf.try_emplace(graph, kernel.getSymName().str());
  }
}

std::string KernelTable::getName(ProgramOp kernel, llvm::StringRef base,
                                 bool &isNew) {
  std::string graph;
  encodeGraph(kernel.getRoot(), graph);
  auto [it, inserted] = nameOf.try_emplace(graph);
  isNew = inserted;
  while (it->second.empty()) {
    // The second kernel of a name is `r_3n1`.
    unsigned count = counts[base]++;
    std::string name =
        count == 0 ? base.str() : (base + "n" + llvm::Twine(count)).str();
    if (taken.insert(name).second)
      it->second = name;
  }
  return it->second;
}

/// Launches the kernel: the one of the same graph, if there is one.
void Planner::addLaunch(BuiltKernel built) {
  bool isNew;
  std::string name = table.getName(*built.program, built.name, isNew);
  if (isNew) {
    built.program->setSymName(name);
    kernels.push_back(std::move(built.program));
  }
  launches.push_back({name, std::move(built.arguments)});
}

LogicalResult Planner::plan(const KernelizeOptions &options) {
  OpBuilder builder(program.getContext());
  OwningOpRef<ProgramOp> scratch =
      createProgram(builder, program.getLoc(), "graph");
  FailureOr<PlanGraph> graph = buildPlanGraph(program, *scratch, options);
  if (failed(graph))
    return failure();
  FailureOr<Fusion> fusion = fuse(*graph, options);
  if (failed(fusion))
    return failure();
  for (const Kernel &kernel : fusion->kernels) {
    FailureOr<BuiltKernel> built = buildKernel(*graph, *fusion, kernel);
    if (failed(built))
      return failure();
    addLaunch(std::move(*built));
  }
  for (Operation *op : graph->nodes)
    if (auto buffer = dyn_cast<BufferOp>(op))
      memory[{Memory::Input, static_cast<int64_t>(buffer.getSlot())}] =
          cast<MemType>(buffer.getResult().getType());
  MLIRContext *context = program.getContext();
  auto makeType = [&](Node node) {
    return MemType::get(context, graph->shape(node),
                        getScalarType(context, getDType(graph->type(node))),
                        AddrSpace::Global);
  };
  for (auto [number, node] : llvm::enumerate(graph->outputs))
    memory[{Memory::Output, static_cast<int64_t>(number)}] = makeType(node);
  for (const Launch &launch : launches)
    for (const Argument &argument : launch.arguments)
      if (argument.memory.kind == Memory::Temp)
        memory[argument.memory] = makeType(argument.memory.number);
  return success();
}

/// A program of loops is a kernel but for the numbers of its slots.
LogicalResult Planner::planLoops() {
  std::map<int64_t, MemType> slots;
  std::vector<Operation *> order = toposort(program.getRoot());
  for (Operation *op : order)
    if (auto buffer = dyn_cast<BufferOp>(op))
      slots[buffer.getSlot()] = cast<MemType>(buffer.getResult().getType());
  BuiltKernel built;
  OpBuilder opBuilder(program.getContext());
  built.program = createProgram(opBuilder, program.getLoc(), "kernel");
  built.name = program.getSymName().str();
  UniquingBuilder builder(&built.program->getBodyBlock());
  llvm::DenseMap<int64_t, int64_t> numbers;
  for (auto [slot, type] : slots) {
    numbers[slot] = built.arguments.size();
    Memory input{Memory::Input, slot};
    memory[input] = type;
    built.arguments.push_back({input, 0, type.getShape()[0], getDType(type)});
  }
  llvm::DenseMap<Value, Value> mapping;
  for (Operation *op : order)
    if (auto buffer = dyn_cast<BufferOp>(op)) {
      builder.setLoc(op->getLoc());
      auto type = cast<MemType>(buffer.getResult().getType());
      mapping[buffer.getResult()] = builder.buffer(
          numbers[buffer.getSlot()], getDType(type), type.getShape()[0]);
    }
  Value root = substitute(builder, program.getRoot(), mapping);
  if (!root)
    return failure();
  finishProgram(*built.program, root);
  built.name += "_loops";
  addLaunch(std::move(built));
  return success();
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

/// The memory between kernels; returns the size of the arena.
int64_t Planner::addTemps(OpBuilder &builder) {
  std::map<Memory, LiveRange> ranges;
  std::vector<Memory> temps; // by first launch
  for (auto [i, launch] : llvm::enumerate(launches))
    for (const Argument &argument : launch.arguments) {
      if (argument.memory.kind != Memory::Temp)
        continue;
      auto [it, isNew] = ranges.try_emplace(argument.memory);
      if (isNew) {
        temps.push_back(argument.memory);
        it->second = {getByteSize(memory[argument.memory]),
                      static_cast<unsigned>(i), 0};
      }
      it->second.last = i;
    }
  std::vector<LiveRange> lives;
  for (const Memory &temp : temps)
    lives.push_back(ranges[temp]);
  std::vector<int64_t> offsets = assignOffsets(lives);
  for (auto [number, temp] : llvm::enumerate(temps))
    values[temp] = TempOp::create(builder, program.getLoc(), memory[temp],
                                  number, offsets[number]);
  return getArenaSize(lives, offsets);
}

int64_t Planner::addMemory(OpBuilder &builder) {
  for (const auto &[place, type] : memory) {
    if (place.kind == Memory::Input)
      values[place] =
          InputOp::create(builder, program.getLoc(), type, place.number);
    if (place.kind == Memory::Output)
      values[place] =
          OutputOp::create(builder, program.getLoc(), type, place.number);
  }
  return addTemps(builder);
}

Value Planner::getMemory(OpBuilder &builder, const Argument &argument) {
  Value whole = values[argument.memory];
  auto type = cast<MemType>(whole.getType());
  int64_t size = argument.end - argument.begin;
  if (size == *getNumElements(type.getShape()))
    return whole;
  return SliceOp::create(builder, program.getLoc(),
                         MemType::get(type.getContext(), size,
                                      type.getElementType(), type.getSpace()),
                         whole, argument.begin);
}

PlanOp Planner::commit() {
  OpBuilder builder(program);
  for (OwningOpRef<ProgramOp> &kernel : kernels)
    builder.insert(kernel.release());
  PlanOp plan =
      PlanOp::create(builder, program.getLoc(), program.getSymName(), 0);
  builder.setInsertionPointToEnd(&plan.getBodyBlock());
  plan.setArenaSize(addMemory(builder));
  for (const Launch &launch : launches) {
    llvm::SmallVector<Value> arguments;
    for (const Argument &argument : launch.arguments)
      arguments.push_back(getMemory(builder, argument));
    LaunchOp::create(builder, program.getLoc(), launch.kernel, arguments);
  }
  // Users before sources: nothing is left with a use of its own.
  Block &block = program.getBodyBlock();
  while (!block.empty())
    block.back().erase();
  program.erase();
  return plan;
}

FailureOr<PlanOp> kernelizeWith(KernelTable &table, ProgramOp program,
                                const KernelizeOptions &options) {
  if (options.maxParameters < 2)
    return program.emitError()
           << "a kernel takes at least 2 buffers, the limit is "
           << options.maxParameters;
  Planner planner(program, table);
  if (failed(isShaped(program) ? planner.plan(options) : planner.planLoops()))
    return failure();
  return planner.commit();
}

struct KernelizePass : ::uop::impl::UopKernelizeBase<KernelizePass> {
  using UopKernelizeBase::UopKernelizeBase;

  void runOnOperation() override {
    KernelizeOptions options;
    options.maxParameters = maxParameters;
    options.reassociate = reassociate;
    KernelTable table(getOperation());
    llvm::SmallVector<ProgramOp> programs(getOperation().getOps<ProgramOp>());
    for (ProgramOp program : programs)
      if (!table.isLaunched(program) &&
          failed(kernelizeWith(table, program, options)))
        return signalPassFailure();
  }
};

} // namespace

FailureOr<PlanOp> uop::kernelize(ProgramOp program,
                                 const KernelizeOptions &options) {
  KernelTable table(program->getParentOfType<ModuleOp>());
  if (table.isLaunched(program))
    return program.emitError()
           << "program '" << program.getSymName() << "' is a kernel of a plan";
  return kernelizeWith(table, program, options);
}
