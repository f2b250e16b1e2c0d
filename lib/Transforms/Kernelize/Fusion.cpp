//===- Fusion.cpp - a legal set of kernels, in order ----------------------===//
//
// Repairs what the walk over the graph cannot see: kernels that take too many
// buffers, and BUFFERs that are read before and after a STORE at once. Then
// joins kernels with the same loops and puts all of them in order.
//
//===----------------------------------------------------------------------===//

#include "Fusion.h"
#include <queue>

using namespace mlir;
using namespace uop;
using namespace uop::planning;

llvm::SmallVector<Target> Fusion::getTargets(const PlanGraph &graph,
                                             Node root) const {
  int64_t size = *getNumElements(graph.shape(root));
  llvm::SmallVector<Target> targets;
  llvm::SmallVector<std::pair<Node, int64_t>> stack{{root, 0}};
  while (!stack.empty()) {
    auto [node, offset] = stack.pop_back_val();
    auto found = places.find(node);
    if (found == places.end()) {
      targets.push_back({{Memory::Temp, node}, offset, offset + size});
      continue;
    }
    for (const Place &place : llvm::reverse(found->second))
      if (place.isOutput)
        targets.push_back(
            {{Memory::Output, place.number}, offset, offset + size});
      else
        stack.push_back({place.number, offset + place.offset});
  }
  llvm::sort(targets);
  return targets;
}

namespace {

class Fuser {
public:
  Fuser(const PlanGraph &graph, const KernelizeOptions &options)
      : graph(graph), options(options) {}

  FailureOr<Fusion> run();

private:
  using Edges = std::vector<llvm::SmallVector<unsigned, 2>>;

  Edges findEdges();
  std::vector<unsigned> sort(const Edges &edges);
  bool copyClashes();
  FailureOr<bool> splitLarge();
  LogicalResult cutLeaves(const Kernel &kernel, bool &changed);
  bool copyOldContents(llvm::ArrayRef<unsigned> order);
  void joinKernels(llvm::ArrayRef<unsigned> order, const Edges &edges);
  bool canJoin(const Kernel &a, const Kernel &b);
  size_t countWrites(const Kernel &kernel);
  llvm::SmallVector<Node> getSources(Node node);
  size_t countParameters(const Kernel &kernel) {
    return kernel.reads.size() + countWrites(kernel);
  }
  void addWriters(Node node, llvm::SmallVectorImpl<unsigned> &writers);
  /// Whether a kernel finds what it reads where another one has stored it. One
  /// that copies a BUFFER reads the BUFFER.
  bool readsStored(const Kernel &kernel, Node read) {
    return fusion.materialized[read] && !llvm::is_contained(kernel.roots, read);
  }
  bool cut(Node node) {
    bool fresh = !wishes.cut[node];
    wishes.cut[node] = true;
    return fresh;
  }

  const PlanGraph &graph;
  const KernelizeOptions &options;
  Wishes wishes;
  Fusion fusion;
  llvm::DenseMap<Node, unsigned> kernelOf;
};

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// The kernels that store a node: its own, or those of a STACK's sources.
void Fuser::addWriters(Node node, llvm::SmallVectorImpl<unsigned> &writers) {
  llvm::SmallVector<Node> stack{node};
  while (!stack.empty()) {
    Node next = stack.pop_back_val();
    if (fusion.stacks.contains(next)) {
      for (Value source : graph.op(next)->getOperands())
        stack.push_back(graph.number(source));
    } else if (auto it = kernelOf.find(next); it != kernelOf.end()) {
      writers.push_back(it->second);
    }
  }
}

/// For each kernel those that come after it.
Fuser::Edges Fuser::findEdges() {
  kernelOf.clear();
  for (auto [k, kernel] : llvm::enumerate(fusion.kernels))
    for (Node root : kernel.roots)
      kernelOf[root] = k;
  Edges edges(fusion.kernels.size());
  llvm::SmallVector<unsigned> writers;
  for (auto [k, kernel] : llvm::enumerate(fusion.kernels)) {
    for (Node read : kernel.reads) {
      writers.clear();
      std::optional<unsigned> changer;
      if (readsStored(kernel, read)) {
        addWriters(read, writers);
      } else if (auto it = graph.stores.find(graph.slot(read));
                 it != graph.stores.end()) {
        unsigned version = graph.versions.lookup(read);
        if (version > 0)
          addWriters(it->second[version - 1], writers);
        if (version < it->second.size())
          changer = kernelOf.lookup(it->second[version]);
      }
      for (unsigned writer : writers)
        if (writer != k)
          edges[writer].push_back(k);
      if (changer && *changer != k)
        edges[k].push_back(*changer);
    }
  }
  for (const auto &[slot, stores] : graph.stores)
    for (size_t i = 1; i < stores.size(); ++i)
      edges[kernelOf.lookup(stores[i - 1])].push_back(
          kernelOf.lookup(stores[i]));
  return edges;
}

/// The kernels that no cycle holds back, in order; of those that may come next,
/// the one whose result comes first in the graph.
std::vector<unsigned> Fuser::sort(const Edges &edges) {
  std::vector<unsigned> waiting(edges.size());
  for (const auto &next : edges)
    for (unsigned k : next)
      ++waiting[k];
  using Entry = std::pair<Node, unsigned>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> ready;
  auto offer = [&](unsigned k) {
    const auto &roots = fusion.kernels[k].roots;
    ready.push({*std::max_element(roots.begin(), roots.end()), k});
  };
  for (unsigned k = 0; k < edges.size(); ++k)
    if (waiting[k] == 0)
      offer(k);
  std::vector<unsigned> order;
  while (!ready.empty()) {
    unsigned k = ready.top().second;
    ready.pop();
    order.push_back(k);
    for (unsigned next : edges[k])
      if (--waiting[next] == 0)
        offer(next);
  }
  return order;
}

//===----------------------------------------------------------------------===//
// Repairs
//===----------------------------------------------------------------------===//

/// What is stored to a BUFFER that it is made of at other indices, and where,
/// is complete before the first element is stored.
bool Fuser::copyClashes() {
  bool changed = false;
  for (Node store : fusion.clashes) {
    Value value = graph.op(store)->getOperand(1);
    if (!value.getDefiningOp<ConstOp>())
      changed |= cut(graph.number(value));
    for (Node scalar : graph.getScalars(store))
      changed |= cut(scalar);
  }
  return changed;
}

/// Kernels that no order can serve, because they read old contents of a BUFFER
/// and come after the STORE that changes it, read a copy instead.
bool Fuser::copyOldContents(llvm::ArrayRef<unsigned> order) {
  llvm::DenseSet<unsigned> sorted(order.begin(), order.end());
  bool changed = false;
  for (auto [k, kernel] : llvm::enumerate(fusion.kernels)) {
    if (sorted.contains(k))
      continue;
    for (Node read : kernel.reads) {
      if (readsStored(kernel, read))
        continue;
      auto stores = graph.stores.find(graph.slot(read));
      if (stores == graph.stores.end() ||
          graph.versions.lookup(read) == stores->second.size())
        continue;
      unsigned next =
          kernelOf.lookup(stores->second[graph.versions.lookup(read)]);
      if (next != k && !sorted.contains(next))
        changed |= cut(read);
    }
  }
  return changed;
}

/// Buffers that the kernel stores to. Neighbours in one memory may yet be one.
size_t Fuser::countWrites(const Kernel &kernel) {
  size_t count = 0;
  for (Node root : kernel.roots)
    count += isa<StoreOp>(graph.op(root))
                 ? !llvm::any_of(kernel.reads,
                                 [&](Node read) {
                                   return !readsStored(kernel, read) &&
                                          graph.slot(read) == graph.slot(root);
                                 })
                 : fusion.getTargets(graph, root).size();
  return count;
}

/// What a node is computed from; for a STORE, not what it stores to.
llvm::SmallVector<Node> Fuser::getSources(Node node) {
  llvm::SmallVector<Node> sources;
  Operation *op = graph.op(node);
  if (isa<StoreOp>(op)) {
    sources = graph.getScalars(node);
    sources.push_back(graph.number(op->getOperand(1)));
  } else if (!graph.isBase(node)) {
    for (Value source : op->getOperands())
      if (getNumElements(getShape(source.getType())) != 0)
        sources.push_back(graph.number(source));
  }
  return sources;
}

/// The leaves below every node of a kernel, sources before users: of a node
/// with too many, the source with most is stored.
LogicalResult Fuser::cutLeaves(const Kernel &kernel, bool &changed) {
  int64_t limit =
      options.maxParameters - static_cast<int64_t>(countWrites(kernel));
  llvm::DenseMap<Node, llvm::SmallVector<Node, 4>> leaves;
  std::vector<std::pair<Node, bool>> stack;
  for (Node root : kernel.roots)
    stack.push_back({root, false});
  while (!stack.empty()) {
    auto [node, entered] = stack.back();
    Operation *op = graph.op(node);
    bool isRoot = llvm::is_contained(kernel.roots, node);
    if (leaves.contains(node)) {
      stack.pop_back();
      continue;
    }
    if (!isRoot && kernel.reads.contains(node)) {
      leaves[node] = {node};
      stack.pop_back();
      continue;
    }
    bool isBase = graph.isBase(node);
    if (!entered && !isBase) {
      stack.back().second = true;
      for (Node source : getSources(node))
        stack.push_back({source, false});
      continue;
    }
    stack.pop_back();
    llvm::SmallVector<Node> sources = getSources(node);
    llvm::SmallVector<Node, 4> all;
    if (isBase)
      all.push_back(node);
    while (true) {
      for (Node source : sources) {
        llvm::SmallVector<Node, 4> both;
        const auto &more = leaves[source];
        std::set_union(all.begin(), all.end(), more.begin(), more.end(),
                       std::back_inserter(both));
        all = std::move(both);
      }
      if (static_cast<int64_t>(all.size()) <= limit)
        break;
      Node *most =
          std::max_element(sources.begin(), sources.end(), [&](Node a, Node b) {
            return leaves[a].size() < leaves[b].size();
          });
      if (most == sources.end() || leaves[*most].size() <= 1)
        return emitError(op->getLoc())
               << ::uop::getName(*::uop::getOpCode(op)) << " alone needs "
               << all.size() + countWrites(kernel)
               << " buffers, a kernel takes " << options.maxParameters;
      // Movement costs nothing: what is moved is stored, not the moved copy.
      Node stored = *most;
      while (isMovement(*::uop::getOpCode(graph.op(stored))))
        stored = graph.number(graph.op(stored)->getOperand(0));
      changed |= cut(stored);
      leaves[*most] = {stored};
      all.clear();
    }
    leaves[node] = std::move(all);
  }
  return success();
}

/// Kernels that take more buffers than they may.
FailureOr<bool> Fuser::splitLarge() {
  bool changed = false;
  for (const Kernel &kernel : fusion.kernels) {
    if (countParameters(kernel) <= static_cast<size_t>(options.maxParameters))
      continue;
    bool apart = false;
    if (kernel.roots.size() > 1)
      for (Node root : kernel.roots)
        apart |= wishes.alone.insert(root).second;
    changed |= apart;
    if (!apart && failed(cutLeaves(kernel, changed)))
      return failure();
  }
  return changed;
}

//===----------------------------------------------------------------------===//
// Kernels with the same loops
//===----------------------------------------------------------------------===//

/// Whether two kernels of one shape, neither of which needs the other, are
/// better one. Where elements are read again and again, each is left to itself.
bool Fuser::canJoin(const Kernel &a, const Kernel &b) {
  constexpr double reuse = 4;
  auto isBoundByMemory = [](const Kernel &kernel) {
    return kernel.loads <= reuse * kernel.loadable;
  };
  auto isAlone = [&](const Kernel &kernel) {
    return isa<StoreOp>(graph.op(kernel.roots[0])) ||
           wishes.alone.contains(kernel.roots[0]);
  };
  return !isAlone(a) && !isAlone(b) && isBoundByMemory(a) &&
         isBoundByMemory(b) && a.roots.size() + b.roots.size() <= maxResults &&
         a.operations + b.operations <= maxOperations &&
         countParameters(a) + countParameters(b) <=
             static_cast<size_t>(options.maxParameters);
}

/// Joins kernels of one shape that are equally many steps from the start, so
/// that none of them needs another.
void Fuser::joinKernels(llvm::ArrayRef<unsigned> order, const Edges &edges) {
  std::vector<unsigned> level(edges.size());
  for (unsigned k : order)
    for (unsigned next : edges[k])
      level[next] = std::max(level[next], level[k] + 1);
  std::map<std::pair<unsigned, std::vector<int64_t>>, unsigned> open;
  std::vector<Kernel> joined;
  for (unsigned k : order) {
    Kernel &kernel = fusion.kernels[k];
    llvm::ArrayRef<int64_t> shape = graph.shape(kernel.roots[0]);
    auto [it, isNew] = open.try_emplace(
        {level[k], {shape.begin(), shape.end()}}, joined.size());
    if (!isNew && canJoin(joined[it->second], kernel)) {
      Kernel &into = joined[it->second];
      llvm::append_range(into.roots, kernel.roots);
      into.reads.insert(kernel.reads.begin(), kernel.reads.end());
      into.operations += kernel.operations;
      into.work += kernel.work;
      into.loads += kernel.loads;
      into.loadable += kernel.loadable;
      continue;
    }
    it->second = joined.size();
    joined.push_back(std::move(kernel));
  }
  fusion.kernels = std::move(joined);
}

FailureOr<Fusion> Fuser::run() {
  wishes.cut = graph.staged;
  for (auto [number, node] : llvm::enumerate(graph.outputs))
    wishes.places[node].push_back(
        {/*isOutput=*/true, static_cast<unsigned>(number), 0});
  // What is stored for its cost makes its users cheap.
  wishes.expected.resize(graph.nodes.size());
  wishes.expected = partition(graph, wishes, options).materialized;
  // Each repair makes a node stored, or alone, that was not: it comes to an
  // end.
  while (true) {
    fusion = partition(graph, wishes, options);
    FailureOr<bool> split = splitLarge();
    if (failed(split))
      return failure();
    bool isRepaired = copyClashes();
    if (isRepaired || *split)
      continue;
    Edges edges = findEdges();
    std::vector<unsigned> order = sort(edges);
    if (order.size() < fusion.kernels.size()) {
      if (copyOldContents(order))
        continue;
      return emitError(graph.op(graph.nodes.size() - 1)->getLoc())
             << "a cycle through a BUFFER that is stored to";
    }
    joinKernels(order, edges);
    edges = findEdges();
    std::vector<Kernel> kernels;
    for (unsigned k : sort(edges)) {
      llvm::sort(fusion.kernels[k].roots);
      kernels.push_back(std::move(fusion.kernels[k]));
    }
    fusion.kernels = std::move(kernels);
    return std::move(fusion);
  }
}

} // namespace

FailureOr<Fusion> uop::planning::fuse(const PlanGraph &graph,
                                      const KernelizeOptions &options) {
  return Fuser(graph, options).run();
}
