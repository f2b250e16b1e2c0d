//===- Partition.cpp - which node is computed in which kernel -------------===//
//
// One walk from the results to the buffers. Each node is met after all of its
// users, with the kernels and indices at which they want it: it is computed in
// those kernels, or stored by one and read by the others.
//
//===----------------------------------------------------------------------===//

#include "Fusion.h"

using namespace mlir;
using namespace uop;
using namespace uop::planning;

namespace {

/// What one element of a node takes when it is computed from what is in memory,
/// with everything below it computed no more often than it has elements.
struct Cost {
  double operations = 0, loads = 0;
  /// Operations of the node itself.
  double own = 0;
};

double getWeight(OpCode code) {
  switch (code) {
  case OpCode::Exp2:
  case OpCode::Log2:
  case OpCode::Sin:
    return 8;
  case OpCode::Recip:
  case OpCode::Sqrt:
  case OpCode::FloorDiv:
  case OpCode::FloorMod:
    return 4;
  default:
    return 1;
  }
}

bool isCompute(OpCode code) {
  return isAlu(code) || code == OpCode::Reduce || code == OpCode::Stack ||
         code == OpCode::Load;
}

class Partitioner {
public:
  Partitioner(const PlanGraph &graph, const Wishes &wishes,
              const KernelizeOptions &options);
  Fusion run();

private:
  struct Use {
    unsigned kernel;
    Index index;
  };
  struct Uses {
    llvm::SmallVector<Use, 1> list;
    /// There are more than are told apart: of these kernels, one use each.
    bool many = false;
    llvm::DenseSet<unsigned> kernels;
  };
  /// What is only known while kernels grow.
  struct State {
    Index index;
    llvm::SmallVector<unsigned, 2> successors;
    /// Operations that are done again for being cheap.
    double repeated = 0;
    /// The index of the flat BUFFER that is stored to.
    Index stored;
  };

  void computeCosts();
  unsigned addKernel(Node root);
  void addStores();
  void visit(Node node);
  bool isStored(Node node, const Uses &uses);
  bool isRepeatedCheaply(Node node, const Uses &uses);
  bool isSerial(Node node, const Uses &uses);
  std::optional<unsigned> findKernelToJoin(Node node, const Uses &uses);
  bool reaches(unsigned from, unsigned to);
  void storeSources(Node stack, const Uses &uses);
  void readStored(unsigned kernel, Node node);
  llvm::SmallVector<unsigned> getStackReaders(Node source);
  void readBuffer(unsigned kernel, Node base, const Index &index);
  void use(Value value, unsigned kernel, Index index);
  Index follow(Node from, Node to, Index index);
  void useScalars(unsigned kernel, Node view, Node base);
  double getCount(Node node) { return *getNumElements(graph.shape(node)); }
  /// Constants, however they are moved: nothing to compute, or to read.
  bool isConstant(Node node) const {
    return costs[node].operations == 0 && costs[node].loads == 0;
  }
  auto numberer() {
    return [this](Value value) { return graph.number(value); };
  }

  const PlanGraph &graph;
  const Wishes &wishes;
  const KernelizeOptions &options;
  Accesses accesses;
  std::vector<Cost> costs;
  /// Of memory: the BUFFER, AFTER or stored node that it is a view of.
  std::vector<Node> bases;
  std::vector<Uses> pending;
  std::vector<State> states;
  /// The kernel that stores a node, and those that read a STACK as a whole.
  llvm::DenseMap<Node, unsigned> kernelOf;
  llvm::DenseMap<Node, llvm::SmallVector<unsigned, 1>> stackReaders;
  Fusion result;
};

Partitioner::Partitioner(const PlanGraph &graph, const Wishes &wishes,
                         const KernelizeOptions &options)
    : graph(graph), wishes(wishes), options(options),
      pending(graph.nodes.size()) {
  result.materialized.resize(graph.nodes.size());
  result.places = wishes.places;
  bases.resize(graph.nodes.size());
  for (Node node = 0; node < graph.nodes.size(); ++node)
    if (graph.isMemory(node))
      bases[node] = graph.isBase(node) || wishes.cut[node]
                        ? node
                        : bases[graph.number(graph.op(node)->getOperand(0))];
  computeCosts();
}

void Partitioner::computeCosts() {
  costs.resize(graph.nodes.size());
  for (Node node = 0; node < graph.nodes.size(); ++node) {
    Operation *op = graph.op(node);
    OpCode code = *::uop::getOpCode(op);
    Cost &cost = costs[node];
    if (graph.isMemory(node)) {
      cost.loads = 1;
      continue;
    }
    if (!isCompute(code) && !isMovement(code) && code != OpCode::Index)
      continue;
    for (Value source : op->getOperands()) {
      Node number = graph.number(source);
      bool isInMemory = wishes.cut[number] || wishes.expected[number];
      cost.operations += isInMemory ? 0 : costs[number].operations;
      cost.loads += isInMemory ? 1 : costs[number].loads;
      if (code == OpCode::Index)
        break;
    }
    // The scalars of an INDEX are read, whatever it takes apart.
    if (code == OpCode::Index && op->getNumOperands() > 1)
      cost.loads += 1;
    if (isAlu(code))
      cost.own = getWeight(code);
    if (code == OpCode::Stack)
      cost.own = op->getNumOperands() - 1;
    if (code == OpCode::Expand || code == OpCode::Reduce) {
      double have = getCount(node),
             below = getCount(graph.number(op->getOperand(0)));
      double ratio = have == 0 ? 0 : below / have;
      cost.own = code == OpCode::Reduce ? ratio : 0;
      cost.operations *= ratio;
      cost.loads *= ratio;
    }
    cost.operations += cost.own;
  }
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

unsigned Partitioner::addKernel(Node root) {
  unsigned kernel = result.kernels.size();
  result.kernels.emplace_back().roots.push_back(root);
  accesses.openLoops(states.emplace_back().index, graph.shape(root),
                     /*reduce=*/false);
  kernelOf[root] = kernel;
  llvm::append_range(states[kernel].successors, getStackReaders(root));
  return kernel;
}

/// The index of `to` that a view `from` of it needs at `index`.
Index Partitioner::follow(Node from, Node to, Index index) {
  for (Node node = from; node != to;) {
    Operation *op = graph.op(node);
    if (!graph.isBase(node))
      index = accesses.getSourceIndex(op, 0, index, numberer());
    node = graph.below(node, to);
  }
  return index;
}

/// The kernels that read the STACKs whose source a node is stored as.
llvm::SmallVector<unsigned> Partitioner::getStackReaders(Node source) {
  llvm::SmallVector<unsigned> readers;
  llvm::SmallVector<Node> stack{source};
  while (!stack.empty()) {
    auto places = result.places.find(stack.pop_back_val());
    if (places == result.places.end())
      continue;
    for (const Place &place : places->second) {
      if (place.isOutput)
        continue;
      stack.push_back(place.number);
      if (auto it = stackReaders.find(place.number); it != stackReaders.end())
        llvm::append_range(readers, it->second);
    }
  }
  return readers;
}

/// What the INDEX ops of a view of memory take it apart at.
void Partitioner::useScalars(unsigned kernel, Node view, Node base) {
  for (Node node = view; node != base; node = graph.below(node, base))
    if (auto index = dyn_cast<IndexOp>(graph.op(node)))
      for (Value scalar : index.getIndices())
        use(scalar, kernel, {});
}

/// A kernel for every STORE, before any node asks what comes after it.
void Partitioner::addStores() {
  for (const auto &[slot, stores] : graph.stores) {
    std::optional<unsigned> before;
    for (Node store : stores) {
      unsigned kernel = addKernel(store);
      Node pointer = graph.number(graph.op(store)->getOperand(0));
      states[kernel].stored =
          follow(pointer, graph.buffer(pointer), states[kernel].index);
      if (before)
        states[*before].successors.push_back(kernel);
      before = kernel;
    }
  }
}

/// Whether some launch of `from` may have to come before `to`. Looks only so
/// far.
bool Partitioner::reaches(unsigned from, unsigned to) {
  constexpr size_t limit = 256;
  llvm::SetVector<unsigned> seen;
  seen.insert(from);
  for (size_t i = 0; i < seen.size(); ++i) {
    if (seen[i] == to || seen.size() > limit)
      return true;
    for (unsigned next : states[seen[i]].successors)
      seen.insert(next);
  }
  return false;
}

void Partitioner::readStored(unsigned kernel, Node node) {
  Kernel &reader = result.kernels[kernel];
  if (!reader.reads.insert(node))
    return;
  reader.loadable += getCount(node);
  if (auto it = kernelOf.find(node); it != kernelOf.end())
    states[it->second].successors.push_back(kernel);
  else
    stackReaders[node].push_back(kernel);
}

void Partitioner::readBuffer(unsigned kernel, Node base, const Index &index) {
  Kernel &reader = result.kernels[kernel];
  reader.loads += accesses.getEvaluations(index);
  if (reader.reads.insert(base)) {
    reader.loadable += getCount(base);
    auto stores = graph.stores.find(graph.slot(base));
    unsigned version = graph.versions.lookup(base);
    if (stores != graph.stores.end() && version > 0) {
      unsigned writer = kernelOf.lookup(stores->second[version - 1]);
      states[writer].successors.push_back(kernel);
    }
  }
  Node root = reader.roots[0];
  if (isa<StoreOp>(graph.op(root)) && graph.slot(root) == graph.slot(base) &&
      (!graph.getScalars(root).empty() ||
       follow(base, graph.buffer(base), index) != states[kernel].stored))
    result.clashes.push_back(root);
}

//===----------------------------------------------------------------------===//
// Decisions
//===----------------------------------------------------------------------===//

/// Whether a REDUCE would keep one thread busy while all others wait for it.
bool Partitioner::isSerial(Node node, const Uses &uses) {
  double total =
      getCount(graph.number(graph.op(node)->getOperand(0))) / getCount(node);
  for (const Use &use : uses.list) {
    double turns = accesses.getEvaluations(use.index);
    if (turns < fewThreads && turns * total >= serialWork &&
        accesses.getEvaluations(states[use.kernel].index) >= fewThreads * turns)
      return true;
  }
  return false;
}

/// What costs no more than its users cost may be computed whenever they are,
/// but not in the loops of a reduction.
bool Partitioner::isRepeatedCheaply(Node node, const Uses &uses) {
  double cost = costs[node].operations;
  for (const Use &use : uses.list)
    if (accesses.isInReduction(use.index) ||
        states[use.kernel].repeated +
                cost * accesses.getEvaluations(use.index) >
            result.kernels[use.kernel].work)
      return false;
  for (const Use &use : uses.list)
    states[use.kernel].repeated +=
        costs[node].own * accesses.getEvaluations(use.index);
  return true;
}

/// Whether a computed node is stored by one kernel and read by its users.
bool Partitioner::isStored(Node node, const Uses &uses) {
  Operation *op = graph.op(node);
  if (isa<StackOp>(op) && op->getNumOperands() > maxInlineStack)
    return true;
  if (isa<ReduceOp>(op) && isSerial(node, uses))
    return true;
  const Cost &cost = costs[node];
  double count = getCount(node), evaluations = 0, elsewhere = 0;
  if (count > maxMemoryElements)
    return false;
  for (const Use &use : uses.list) {
    if (result.kernels[use.kernel].operations >= maxOperations)
      return true;
    double turns = accesses.getEvaluations(use.index);
    evaluations += turns;
    if (use.kernel != uses.list[0].kernel)
      elsewhere += turns;
  }
  // What it is made of would be read again, in place of a store and a load.
  if (elsewhere > 0 && elsewhere * cost.loads > count + elsewhere)
    return true;
  if (evaluations <= count)
    return false;
  if ((evaluations - count) * cost.operations >
      memoryCost * (evaluations + count))
    return true;
  return evaluations > recomputeBound * count && !isRepeatedCheaply(node, uses);
}

/// A kernel that computes the node for each of its own elements, and nowhere
/// else, may store it on its way, if no other reader comes before that kernel.
/// Not what is to end a kernel.
std::optional<unsigned> Partitioner::findKernelToJoin(Node node,
                                                      const Uses &uses) {
  if (wishes.cut[node] || wishes.alone.contains(node) || uses.many)
    return std::nullopt;
  llvm::MapVector<unsigned, unsigned> counts;
  for (const Use &use : uses.list)
    ++counts[use.kernel];
  llvm::SmallVector<unsigned> readers = getStackReaders(node);
  for (const Use &use : uses.list) {
    const Kernel &kernel = result.kernels[use.kernel];
    Node root = kernel.roots[0];
    if (counts[use.kernel] != 1 || isa<StoreOp>(graph.op(root)) ||
        graph.shape(root) != graph.shape(node) ||
        use.index != states[use.kernel].index ||
        kernel.roots.size() >= maxResults ||
        kernel.operations >= maxOperations ||
        kernel.roots.size() + kernel.reads.size() + 1 >=
            static_cast<size_t>(options.maxParameters))
      continue;
    auto isAfter = [&](unsigned reader) { return reaches(reader, use.kernel); };
    if (llvm::none_of(counts,
                      [&](auto other) {
                        return other.first != use.kernel &&
                               isAfter(other.first);
                      }) &&
        llvm::none_of(readers, isAfter))
      return use.kernel;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

/// `kernel` needs `value` at `index`.
void Partitioner::use(Value value, unsigned kernel, Index index) {
  constexpr size_t toldApart = 64;
  Node node = graph.number(value);
  if ((isConstant(node) && !wishes.cut[node]) || getCount(node) == 0)
    return;
  if (graph.isMemory(node) && !wishes.cut[node]) {
    Node base = bases[node];
    Index below = follow(node, base, std::move(index));
    useScalars(kernel, node, wishes.cut[base] ? base : graph.buffer(base));
    if (!wishes.cut[base]) {
      readBuffer(kernel, base, below);
      return;
    }
    node = base;
    index = std::move(below);
  }
  Uses &uses = pending[node];
  if (uses.many ? uses.kernels.contains(kernel)
                : llvm::any_of(uses.list, [&](const Use &known) {
                    return known.kernel == kernel && known.index == index;
                  }))
    return;
  uses.list.push_back({kernel, std::move(index)});
  if (uses.many) {
    uses.kernels.insert(kernel);
  } else if (uses.list.size() > toldApart) {
    uses.many = true;
    for (const Use &known : uses.list)
      uses.kernels.insert(known.kernel);
  }
}

/// A STACK whose sources are stored where they stand in it.
void Partitioner::storeSources(Node stack, const Uses &uses) {
  result.stacks.insert(stack);
  result.materialized[stack] = true;
  for (const Use &use : uses.list)
    readStored(use.kernel, stack);
  Operation *op = graph.op(stack);
  int64_t size = getCount(stack) / op->getNumOperands();
  for (auto [i, source] : llvm::enumerate(op->getOperands()))
    result.places[graph.number(source)].push_back(
        {/*isOutput=*/false, stack, static_cast<int64_t>(i) * size});
}

void Partitioner::visit(Node node) {
  Operation *op = graph.op(node);
  OpCode code = *::uop::getOpCode(op);
  if (code == OpCode::Sink)
    return;
  if (code == OpCode::Store) {
    if (auto it = kernelOf.find(node); it != kernelOf.end()) {
      use(op->getOperand(1), it->second, states[it->second].index);
      Node pointer = graph.number(op->getOperand(0));
      useScalars(it->second, pointer, graph.buffer(pointer));
    }
    return;
  }
  Uses uses = std::move(pending[node]);
  bool placed = result.places.contains(node);
  if ((uses.list.empty() && !placed) || getCount(node) == 0)
    return;
  bool stored = wishes.cut[node] || uses.many ||
                (isCompute(code) && !isConstant(node) &&
                 (placed || isStored(node, uses)));
  if (stored && code == OpCode::Stack &&
      (op->getNumOperands() > maxInlineStack ||
       costs[node].operations > 2 * maxInlineStack))
    return storeSources(node, uses);
  if (stored) {
    std::optional<unsigned> joined = findKernelToJoin(node, uses);
    result.materialized[node] = true;
    if (joined) {
      result.kernels[*joined].roots.push_back(node);
      kernelOf[node] = *joined;
      llvm::append_range(states[*joined].successors, getStackReaders(node));
    }
    unsigned kernel = joined ? *joined : addKernel(node);
    for (const Use &use : uses.list)
      if (use.kernel != kernel)
        readStored(use.kernel, node);
    uses.list = {{kernel, states[kernel].index}};
  } else if (placed) {
    unsigned kernel = addKernel(node);
    uses.list.push_back({kernel, states[kernel].index});
  }
  for (const Use &user : uses.list) {
    if (graph.isBase(node)) {
      readBuffer(user.kernel, node, user.index);
      useScalars(user.kernel, node, graph.buffer(node));
      continue;
    }
    if (isCompute(code)) {
      Kernel &kernel = result.kernels[user.kernel];
      ++kernel.operations;
      kernel.work += costs[node].own * accesses.getEvaluations(user.index);
    }
    for (unsigned i = 0; i < op->getNumOperands(); ++i)
      use(op->getOperand(i), user.kernel,
          accesses.getSourceIndex(op, i, user.index, numberer()));
  }
}

Fusion Partitioner::run() {
  addStores();
  for (Node node = graph.nodes.size(); node-- > 0;)
    visit(node);
  return std::move(result);
}

} // namespace

Fusion uop::planning::partition(const PlanGraph &graph, const Wishes &wishes,
                                const KernelizeOptions &options) {
  return Partitioner(graph, wishes, options).run();
}
