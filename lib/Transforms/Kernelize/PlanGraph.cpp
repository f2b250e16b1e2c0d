//===- PlanGraph.cpp - the graph that is cut into kernels -----------------===//
//
// One rebuild of the program, and the order of its STOREs.
//
//===----------------------------------------------------------------------===//

#include "PlanGraph.h"
#include "Uop/Graph/Composite.h"
#include "Uop/Graph/Results.h"

using namespace mlir;
using namespace uop;
using namespace uop::planning;

llvm::ArrayRef<int64_t> PlanGraph::shape(Node node) const {
  if (auto store = dyn_cast<StoreOp>(nodes[node]))
    return getShape(store.getPointer().getType());
  return getShape(type(node));
}

Node PlanGraph::buffer(Node node) const {
  while (!isa<BufferOp>(nodes[node]))
    node = number(nodes[node]->getOperand(0));
  return node;
}

llvm::SmallVector<Node> PlanGraph::getScalars(Node store) const {
  llvm::SmallVector<Node> scalars;
  for (Operation *op = nodes[store]; !isa<BufferOp>(op);
       op = op->getOperand(0).getDefiningOp())
    if (auto index = dyn_cast<IndexOp>(op))
      for (Value scalar : index.getIndices())
        if (!scalar.getDefiningOp<ConstOp>())
          scalars.push_back(number(scalar));
  return scalars;
}

int64_t PlanGraph::slot(Node node) const {
  return cast<BufferOp>(nodes[buffer(node)]).getSlot();
}

namespace {

/// The size of the first of the two steps of a long reduction: how many partial
/// results each output gets. 0 where one step is as good.
int64_t chooseParts(ReduceOp reduce) {
  constexpr int64_t fewOutputs = 64, longReduction = 65536;
  std::optional<int64_t> outputs = getNumElements(getShape(reduce.getType()));
  std::optional<int64_t> total = getNumElements(
      getShape(reduce.getSource().getType()).take_back(reduce.getPop()));
  if (!outputs || !total || *outputs == 0 || *outputs > fewOutputs ||
      *total < longReduction)
    return 0;
  // The divisor nearest to 256, by ratio.
  for (int64_t step = 0; step <= 256 * 3; ++step) {
    int64_t below = 256 * 256 / (256 + step), above = 256 + step;
    if (*total % above == 0 && *total / above >= 256)
      return above;
    if (below >= 64 && *total % below == 0)
      return below;
  }
  return 0;
}

/// Whether a value needs no copy: all of a BUFFER, or a constant.
bool standsInMemory(Value value) {
  Operation *op = value.getDefiningOp();
  while (isa<ReshapeOp>(op))
    op = op->getOperand(0).getDefiningOp();
  return isa<BufferOp, AfterOp, ConstOp>(op);
}

class GraphBuilder {
public:
  GraphBuilder(ProgramOp scratch, const KernelizeOptions &options)
      : builder(&scratch.getBodyBlock()), options(options) {}

  FailureOr<PlanGraph> build(ProgramOp program);

private:
  Value rebuild(Operation *op, llvm::ArrayRef<Value> sources);
  Value rebuildReduce(ReduceOp op, Value source);
  LogicalResult addResults(Value root);
  LogicalResult orderStores();
  unsigned unite(unsigned a, unsigned b);

  UniquingBuilder builder;
  const KernelizeOptions &options;
  llvm::DenseSet<Value> staged;
  PlanGraph graph;
  /// Sets of STOREs by number, each sorted; the first is empty.
  std::vector<llvm::SmallVector<Node, 2>> sets{{}};
  std::map<llvm::SmallVector<Node, 2>, unsigned> setNumbers{{{}, 0}};
  llvm::DenseMap<std::pair<unsigned, unsigned>, unsigned> unions;
};

/// A long reduction with few results: partial results first, stored, then their
/// reduction. Only where the order of the terms is free.
/// One of nothing is its identity.
Value GraphBuilder::rebuildReduce(ReduceOp op, Value source) {
  DType dtype = getDType(op.getType());
  if (getNumElements(getShape(source.getType())) == 0)
    return full(builder, dtype, getIdentity(op.getKind(), dtype),
                getShape(op.getType()));
  bool anyOrder = !isFloat(dtype) ||
                  (op.getKind() == ReduceKind::Add && options.reassociate);
  int64_t parts = anyOrder ? chooseParts(op) : 0;
  if (parts == 0)
    return builder.rebuild(op, source);
  llvm::ArrayRef<int64_t> shape = getShape(source.getType());
  int64_t total = *getNumElements(shape.take_back(op.getPop()));
  llvm::SmallVector<int64_t> split(shape.drop_back(op.getPop()));
  split.append({parts, total / parts});
  Value partial =
      builder.reduce(builder.reshape(source, split), op.getKind(), 1);
  staged.insert(partial);
  return builder.reduce(partial, op.getKind(), 1);
}

Value GraphBuilder::rebuild(Operation *op, llvm::ArrayRef<Value> sources) {
  OpCode code = *::uop::getOpCode(op);
  switch (code) {
  case OpCode::Stage:
    if (!cast<StageOp>(op).getDetach() && !standsInMemory(sources[0]))
      staged.insert(sources[0]);
    return sources[0];
  case OpCode::Reduce:
    return rebuildReduce(cast<ReduceOp>(op), sources[0]);
  case OpCode::Param:
    mlir::emitError(op->getLoc()) << "PARAM " << cast<ParamOp>(op).getSlot()
                            << " is in no CALL: nothing gives it a value";
    return {};
  case OpCode::Alloc:
  case OpCode::Range:
  case OpCode::End:
  case OpCode::Barrier:
  case OpCode::Wmma:
    emitError(op->getLoc())
        << ::uop::getName(code) << " stands in a program of shapes";
    return {};
  default:
    return builder.rebuild(op, sources);
  }
}

/// The results that are values are outputs; the others are STOREs.
LogicalResult GraphBuilder::addResults(Value root) {
  FailureOr<llvm::SmallVector<Value>> results = getResults(root);
  if (failed(results))
    return failure();
  for (Value result : *results)
    if (!isa<VoidType>(result.getType()))
      graph.outputs.push_back(graph.number(result));
  for (Operation *op : graph.nodes)
    if (auto store = dyn_cast<StoreOp>(op); store && !getStoredBuffer(store))
      return failure();
  return success();
}

unsigned GraphBuilder::unite(unsigned a, unsigned b) {
  if (a == b || b == 0)
    return a;
  if (a == 0)
    return b;
  auto [it, inserted] = unions.try_emplace({std::min(a, b), std::max(a, b)}, 0);
  if (!inserted)
    return it->second;
  llvm::SmallVector<Node, 2> both;
  std::set_union(sets[a].begin(), sets[a].end(), sets[b].begin(),
                 sets[b].end(), std::back_inserter(both));
  auto [known, isNew] = setNumbers.try_emplace(both, sets.size());
  if (isNew)
    sets.push_back(both);
  return it->second = known->second;
}

/// The STOREs that every node comes after, and from them what each read of memory
/// finds there: the first so many STOREs into its slot.
LogicalResult GraphBuilder::orderStores() {
  size_t count = graph.nodes.size();
  for (Node node = 0; node < count; ++node)
    if (isa<StoreOp>(graph.op(node)) && getNumElements(graph.shape(node)) != 0)
      graph.stores[graph.slot(node)].push_back(node);
  std::vector<unsigned> before(graph.stores.empty() ? 0 : count);
  for (Node node = 0; node < count; ++node) {
    Operation *op = graph.op(node);
    if (!before.empty()) {
      unsigned set = 0;
      for (Value source : op->getOperands())
        set = unite(set, before[graph.number(source)]);
      if (isa<StoreOp>(op)) {
        setNumbers.try_emplace({node}, sets.size());
        if (setNumbers[{node}] == sets.size())
          sets.push_back({node});
        set = unite(set, setNumbers[{node}]);
      }
      before[node] = set;
    }
    if (!graph.isBase(node))
      continue;
    unsigned version = 0;
    if (isa<AfterOp>(op)) {
      auto stores = graph.stores.find(graph.slot(node));
      if (stores == graph.stores.end()) {
        graph.versions[node] = 0;
        continue;
      }
      for (auto [k, store] : llvm::enumerate(stores->second)) {
        if (!llvm::is_contained(sets[before[node]], store))
          continue;
        if (version != k)
          return emitError(op->getLoc())
                 << "a cycle through BUFFER slot " << graph.slot(node)
                 << ": it is read after one STORE and before another that comes "
                    "first";
        ++version;
      }
    }
    graph.versions[node] = version;
  }
  return success();
}

FailureOr<PlanGraph> GraphBuilder::build(ProgramOp program) {
  builder.setLoc(program.getLoc());
  Value root = inlineCalls(builder, program.getRoot());
  if (!root)
    return failure();
  llvm::DenseMap<Value, Value> rebuilt;
  llvm::SmallVector<Value> sources;
  for (Operation *op : toposort(root)) {
    sources.clear();
    for (Value source : op->getOperands())
      sources.push_back(rebuilt.lookup(source));
    builder.setLoc(op->getLoc());
    Value value = rebuild(op, sources);
    if (!value)
      return failure();
    rebuilt[op->getResult(0)] = value;
  }
  root = rebuilt.lookup(root);
  graph.nodes = toposort(root);
  graph.numbers.reserve(graph.nodes.size());
  for (auto [number, op] : llvm::enumerate(graph.nodes))
    graph.numbers[op] = number;
  graph.staged.resize(graph.nodes.size());
  for (Node node = 0; node < graph.nodes.size(); ++node)
    graph.staged[node] = staged.contains(graph.op(node)->getResult(0));
  if (failed(addResults(root)) || failed(orderStores()))
    return failure();
  return std::move(graph);
}

} // namespace

FailureOr<PlanGraph>
uop::planning::buildPlanGraph(ProgramOp program, ProgramOp scratch,
                               const KernelizeOptions &options) {
  return GraphBuilder(scratch, options).build(program);
}
