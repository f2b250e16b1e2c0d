//===- KernelBuilder.cpp - the programs of kernels ------------------------===//
//
// A copy of a kernel's part of the graph over BUFFERs of its own.
//
//===----------------------------------------------------------------------===//

#include "KernelBuilder.h"
#include "Uop/Graph/Composite.h"

using namespace mlir;
using namespace uop;
using namespace uop::planning;

namespace {

/// Whether a REDUCE is its identity for want of elements.
bool isOfNothing(ReduceOp op) {
  return getNumElements(getShape(op.getSource().getType())) == 0;
}

class KernelBuilder {
public:
  KernelBuilder(const PlanGraph &graph, const Fusion &fusion,
                const Kernel &kernel, ProgramOp program)
      : graph(graph), fusion(fusion), kernel(kernel),
        builder(&program.getBodyBlock()) {}

  /// The SINK of the kernel's STOREs; null after an error.
  Value build();

  llvm::SmallVector<Argument> arguments;
  bool reduces = false;

private:
  Value copy(Node root);
  Value copyNode(Node node);
  Value copyPointer(Node node);
  Value getBuffer(const Target &target, DType dtype);
  Value getView(Value flat, llvm::ArrayRef<int64_t> shape);
  std::vector<Target> getRuns();

  const PlanGraph &graph;
  const Fusion &fusion;
  const Kernel &kernel;
  UniquingBuilder builder;
  llvm::DenseMap<Node, Value> copies;
  std::map<Target, unsigned> slots;
};

/// The kernel's parameter for a run of elements.
Value KernelBuilder::getBuffer(const Target &target, DType dtype) {
  auto [it, isNew] = slots.try_emplace(target, arguments.size());
  if (isNew)
    arguments.push_back({target.memory, target.begin, target.end, dtype});
  return builder.buffer(it->second, dtype, target.end - target.begin);
}

/// Null for a null `flat`.
Value KernelBuilder::getView(Value flat, llvm::ArrayRef<int64_t> shape) {
  if (!flat)
    return {};
  return getShape(flat.getType()) == shape ? flat
                                           : builder.reshape(flat, shape);
}

/// A node whose sources are copied, or that is read from memory.
Value KernelBuilder::copyNode(Node node) {
  Operation *op = graph.op(node);
  builder.setLoc(op->getLoc());
  DType dtype = getDType(graph.type(node));
  if (fusion.materialized[node] && !llvm::is_contained(kernel.roots, node))
    return getView(getBuffer(fusion.getTargets(graph, node)[0], dtype),
                   graph.shape(node));
  // What an AFTER comes after has happened when the kernel is launched.
  if (graph.isBase(node))
    return copyPointer(node);
  // What it would reduce is not there, whatever that comes after.
  if (auto reduce = dyn_cast<ReduceOp>(op); reduce && isOfNothing(reduce))
    return full(builder, dtype, getIdentity(reduce.getKind(), dtype),
                graph.shape(node));
  reduces |= isa<ReduceOp>(op);
  llvm::SmallVector<Value, 3> sources;
  for (Value source : op->getOperands())
    sources.push_back(copies.lookup(graph.number(source)));
  return builder.rebuild(op, sources);
}

/// The graph below `root` down to memory.
Value KernelBuilder::copy(Node root) {
  llvm::SmallVector<std::pair<Node, unsigned>> stack{{root, 0}};
  while (!stack.empty()) {
    auto [node, next] = stack.back();
    Operation *op = graph.op(node);
    auto reduce = dyn_cast<ReduceOp>(op);
    bool isLeaf =
        graph.isBase(node) || (reduce && isOfNothing(reduce)) ||
        (fusion.materialized[node] && !llvm::is_contained(kernel.roots, node));
    if (!isLeaf && next < op->getNumOperands()) {
      ++stack.back().second;
      Node source = graph.number(op->getOperand(next));
      if (!copies.contains(source))
        stack.push_back({source, 0});
      continue;
    }
    stack.pop_back();
    if (copies.contains(node))
      continue;
    Value value = copyNode(node);
    if (!value)
      return {};
    copies[node] = value;
  }
  return copies.lookup(root);
}

/// A view of memory over the BUFFER's own parameter, whatever copies of its
/// contents there are.
Value KernelBuilder::copyPointer(Node node) {
  llvm::SmallVector<Operation *> views;
  Node buffer = graph.buffer(node);
  for (; node != buffer; node = graph.below(node, buffer))
    if (!isa<AfterOp>(graph.op(node)))
      views.push_back(graph.op(node));
  builder.setLoc(graph.op(node)->getLoc());
  Value pointer =
      getBuffer({{Memory::Input, graph.slot(node)}, 0, graph.shape(node)[0]},
                getDType(graph.type(node)));
  for (Operation *view : llvm::reverse(views)) {
    llvm::SmallVector<Value, 3> sources{pointer};
    for (Value source : llvm::drop_begin(view->getOperands()))
      sources.push_back(copy(graph.number(source)));
    builder.setLoc(view->getLoc());
    pointer = builder.rebuild(view, sources);
  }
  return pointer;
}

Value KernelBuilder::build() {
  llvm::SmallVector<Value> stores;
  if (auto store = dyn_cast<StoreOp>(graph.op(kernel.roots[0]))) {
    Value value = copy(graph.number(store.getValue()));
    if (!value)
      return {};
    Value pointer = copyPointer(graph.number(store.getPointer()));
    builder.setLoc(store.getLoc());
    stores.push_back(builder.store(pointer, value));
    return builder.sink(stores);
  }
  llvm::SmallVector<Value> values;
  for (Node root : kernel.roots) {
    values.push_back(copy(root));
    if (!values.back())
      return {};
  }
  std::vector<Target> runs = getRuns();
  for (auto [root, value] : llvm::zip_equal(kernel.roots, values))
    for (const Target &target : fusion.getTargets(graph, root)) {
      builder.setLoc(graph.op(root)->getLoc());
      // The last run that begins no later.
      const Target &run = *std::prev(
          llvm::upper_bound(runs, target, [](const Target &a, const Target &b) {
            return std::tie(a.memory, a.begin) < std::tie(b.memory, b.begin);
          }));
      Value flat = getBuffer(run, getDType(graph.type(root)));
      if (!flat)
        return {};
      if (target.end - target.begin != run.end - run.begin)
        flat = builder.shrink(
            flat, {target.begin - run.begin, target.end - run.begin});
      stores.push_back(builder.store(getView(flat, graph.shape(root)), value));
    }
  return builder.sink(stores);
}

/// What the roots are stored to: neighbours in one memory are one parameter.
std::vector<Target> KernelBuilder::getRuns() {
  std::vector<Target> targets;
  for (Node root : kernel.roots)
    llvm::append_range(targets, fusion.getTargets(graph, root));
  llvm::sort(targets);
  std::vector<Target> runs;
  for (const Target &target : targets)
    if (!runs.empty() && runs.back().end == target.begin &&
        !(runs.back().memory < target.memory))
      runs.back().end = target.end;
    else
      runs.push_back(target);
  return runs;
}

} // namespace

FailureOr<BuiltKernel> uop::planning::buildKernel(const PlanGraph &graph,
                                                  const Fusion &fusion,
                                                  const Kernel &kernel) {
  Operation *root = graph.op(kernel.roots[0]);
  OpBuilder opBuilder(root->getContext());
  BuiltKernel built;
  built.program = createProgram(opBuilder, root->getLoc(), "kernel");
  KernelBuilder builder(graph, fusion, kernel, *built.program);
  Value sink = builder.build();
  if (!sink)
    return failure();
  finishProgram(*built.program, sink);
  built.arguments = std::move(builder.arguments);
  built.name = builder.reduces ? "r_" : "e_";
  llvm::raw_string_ostream os(built.name);
  llvm::interleave(graph.shape(kernel.roots[0]), os, "_");
  return std::move(built);
}
