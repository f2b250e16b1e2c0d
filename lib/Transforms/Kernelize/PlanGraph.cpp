//===- PlanGraph.cpp - the graph that is cut into kernels -----------------===//
//
// One rebuild of the program, and the order of its STOREs.
//
//===----------------------------------------------------------------------===//

#include "PlanGraph.h"
#include "Uop/Graph/Results.h"

using namespace mlir;
using namespace uop;
using namespace uop::planning;

llvm::ArrayRef<int64_t> PlanGraph::shape(Node node) const {
  if (auto store = dyn_cast<StoreOp>(nodes[node]))
    return getShape(store.getPointer().getType());
  return getShape(type(node));
}

Node PlanGraph::below(Node view, Node stop) const {
  Node next = number(nodes[view]->getOperand(0));
  return next == stop ? next : skips[next];
}

llvm::SmallVector<Node> PlanGraph::getScalars(Node store) const {
  llvm::SmallVector<Node> scalars;
  for (Node node = store; !isa<BufferOp>(nodes[node]);
       node = below(node, buffer(store)))
    if (auto index = dyn_cast<IndexOp>(nodes[node]))
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
  void findBuffers();
  void numberStores();
  unsigned getStoresBefore(Node node);

  UniquingBuilder builder;
  const KernelizeOptions &options;
  llvm::DenseSet<Value> staged;
  PlanGraph graph;
  /// Whether memory is a view that can be stored to; of a STORE, whether it
  /// does.
  std::vector<bool> isStorable;
  /// The STOREs that a node comes after: of each slot (by its number) the first
  /// so many, and others, all sorted.
  struct Before {
    llvm::SmallVector<std::pair<unsigned, unsigned>, 2> first;
    llvm::SmallVector<std::pair<unsigned, unsigned>, 0> others;
  };
  static void normalize(Before &before);
  /// Each once, the first of them empty; the one of every node; those that came
  /// of several others.
  std::vector<Before> befores{{}};
  std::vector<unsigned> beforeOf;
  std::map<llvm::SmallVector<unsigned, 2>, unsigned> unions;
  /// The number of a slot that is stored to, and a STORE's place among those.
  std::map<int64_t, unsigned> slotNumbers;
  llvm::DenseMap<Node, unsigned> places;
};

/// A long reduction with few results: partial results first, stored, then their
/// reduction. Only where the order of the terms is free.
Value GraphBuilder::rebuildReduce(ReduceOp op, Value source) {
  bool anyOrder = !isFloat(getDType(op.getType())) ||
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
  // Only what is wrong is looked at again, for its error.
  for (Node node = 0; node < graph.nodes.size(); ++node)
    if (isa<StoreOp>(graph.op(node)) && !isStorable[node] &&
        !getStoredBuffer(cast<StoreOp>(graph.op(node))))
      return failure();
  return success();
}

void GraphBuilder::numberStores() {
  for (Node node = 0; node < graph.nodes.size(); ++node) {
    if (!isa<StoreOp>(graph.op(node)) || getNumElements(graph.shape(node)) == 0)
      continue;
    int64_t slot = graph.slot(node);
    slotNumbers.try_emplace(slot, slotNumbers.size());
    places[node] = graph.stores[slot].size();
    graph.stores[slot].push_back(node);
  }
}

/// Others that follow upon the first belong to them.
void GraphBuilder::normalize(Before &before) {
  llvm::sort(before.first);
  llvm::SmallVector<std::pair<unsigned, unsigned>, 2> first;
  for (auto [slot, count] : before.first)
    if (!first.empty() && first.back().first == slot)
      first.back().second = count; // the larger, for being sorted
    else
      first.push_back({slot, count});
  llvm::sort(before.others);
  llvm::SmallVector<std::pair<unsigned, unsigned>, 0> others;
  for (auto [slot, place] : before.others) {
    auto it = llvm::lower_bound(first, std::pair(slot, 0u));
    if (it == first.end() || it->first != slot)
      it = first.insert(it, {slot, 0});
    if (place == it->second)
      ++it->second;
    else if (place > it->second &&
             (others.empty() || others.back() != std::pair(slot, place)))
      others.push_back({slot, place});
  }
  before.first = std::move(first);
  before.others = std::move(others);
}

/// The number of the STOREs that a node, its sources being done, comes after.
unsigned GraphBuilder::getStoresBefore(Node node) {
  Operation *op = graph.op(node);
  llvm::SmallVector<unsigned, 2> parts;
  for (Value source : op->getOperands())
    if (unsigned part = beforeOf[graph.number(source)])
      parts.push_back(part);
  llvm::sort(parts);
  parts.erase(llvm::unique(parts), parts.end());
  auto place = places.find(node);
  bool isStore = place != places.end();
  if (!isStore && parts.size() < 2)
    return parts.empty() ? 0 : parts[0];
  if (!isStore)
    if (auto it = unions.find(parts); it != unions.end())
      return it->second;
  Before before;
  for (unsigned part : parts) {
    llvm::append_range(before.first, befores[part].first);
    llvm::append_range(before.others, befores[part].others);
  }
  if (isStore)
    before.others.push_back({slotNumbers[graph.slot(node)], place->second});
  normalize(before);
  befores.push_back(std::move(before));
  if (!isStore)
    unions[parts] = befores.size() - 1;
  return befores.size() - 1;
}

/// The STOREs that every node comes after, and from them what each read of
/// memory finds there: the first so many STOREs into its slot.
LogicalResult GraphBuilder::orderStores() {
  numberStores();
  beforeOf.resize(graph.nodes.size());
  for (Node node = 0; node < graph.nodes.size(); ++node) {
    if (!graph.stores.empty())
      beforeOf[node] = getStoresBefore(node);
    if (!graph.isBase(node))
      continue;
    unsigned &version = graph.versions[node];
    auto slot = slotNumbers.find(graph.slot(node));
    if (!isa<AfterOp>(graph.op(node)) || slot == slotNumbers.end())
      continue;
    const Before &before = befores[beforeOf[node]];
    std::pair<unsigned, unsigned> start(slot->second, 0);
    auto other = llvm::lower_bound(before.others, start);
    if (other != before.others.end() && other->first == slot->second)
      return emitError(graph.op(node)->getLoc())
             << "a cycle through BUFFER slot " << slot->first
             << ": it is read after one STORE and before another that comes "
                "first";
    auto first = llvm::lower_bound(before.first, start);
    if (first != before.first.end() && first->first == slot->second)
      version = first->second;
  }
  return success();
}

void GraphBuilder::findBuffers() {
  graph.buffers.resize(graph.nodes.size());
  graph.skips.resize(graph.nodes.size());
  isStorable.resize(graph.nodes.size());
  for (Node node = 0; node < graph.nodes.size(); ++node) {
    Operation *op = graph.op(node);
    bool isView =
        !isa<BufferOp>(op) && (graph.isMemory(node) || isa<StoreOp>(op));
    Node source = isView ? graph.number(op->getOperand(0)) : node;
    graph.buffers[node] = isView ? graph.buffers[source] : node;
    isStorable[node] =
        isa<BufferOp>(op) ||
        (isView && isStorable[source] &&
         isa<StoreOp, AfterOp, IndexOp, ReshapeOp, PermuteOp, ShrinkOp>(op));
    graph.skips[node] = isa<AfterOp>(op) ? graph.skips[source] : node;
  }
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
  findBuffers();
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
