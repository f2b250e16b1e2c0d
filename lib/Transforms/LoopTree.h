//===- LoopTree.h - scopes and the tree of loops ----------------*- C++ -*-===//
//
// What the scheduler knows before it starts: the graph by numbers, the loops
// that each op must sit inside, and the place of each op in the tree of loops.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_LIB_TRANSFORMS_LOOPTREE_H
#define UOP_LIB_TRANSFORMS_LOOPTREE_H

#include "Uop/Graph/Walk.h"

namespace uop {

/// The ops that a root reaches, numbered in the order of `toposort`.
struct NumberedGraph {
  explicit NumberedGraph(mlir::Value root);

  uint32_t size() const { return ops.size(); }
  /// The numbers of the sources of op `number`.
  llvm::ArrayRef<uint32_t> getSources(uint32_t number) const {
    return llvm::ArrayRef<uint32_t>(sources).slice(
        sourceBegin[number], sourceBegin[number + 1] - sourceBegin[number]);
  }

  std::vector<mlir::Operation *> ops;
  std::vector<OpCode> codes;
  std::vector<uint32_t> sourceBegin;
  std::vector<uint32_t> sources;
};

/// Sets of small numbers, each kept once, so that equality is that of handles
/// and the union of two large sets that differ little costs little.
///
/// Source: big-endian Patricia trees, Okasaki and Gill, "Fast Mergeable Integer
/// Maps" (1998), with their nodes hash consed.
class LoopSets {
public:
  using Set = uint32_t;
  static constexpr Set empty = 0;

  LoopSets() : nodes(1) {}

  Set single(uint32_t member);
  Set unite(Set a, Set b);
  Set remove(Set set, uint32_t member);
  bool contains(Set set, uint32_t member) const;
  /// A member of both sets, if there is one.
  std::optional<uint32_t> findCommon(Set a, Set b) const;
  uint32_t getMin(Set set) const { return nodes[set].min; }
  uint32_t getMax(Set set) const { return nodes[set].max; }

  /// Calls `pair(a, b)` for neighbours a < b of `set`, except those of parts
  /// that an earlier visit has seen.
  void visitNewNeighbours(Set set,
                          llvm::function_ref<void(uint32_t, uint32_t)> pair);

private:
  struct Node {
    uint32_t left = 0, right = 0; // both 0: a leaf, or the empty set
    uint32_t min = 0, max = 0;
  };
  bool isLeaf(Set set) const { return nodes[set].left == 0; }
  /// The highest bit in which members of the set differ.
  uint32_t getBranchBit(Set set) const;
  Set join(Set left, Set right);

  std::vector<Node> nodes;
  std::vector<bool> visited;
  llvm::DenseMap<uint32_t, Set> leaves;
  llvm::DenseMap<std::pair<Set, Set>, Set> joins;
  llvm::DenseMap<std::pair<Set, Set>, Set> unions;
  llvm::DenseMap<std::pair<Set, uint32_t>, Set> removals;
};

/// The loops of a graph as a tree, and where each op stands in it. Tree node 0
/// is the kernel outside all loops; the others are the loops in increasing idx,
/// so that a loop's number is above that of the loop around it.
///
/// Two loops that share a scope nest, everywhere: a loop's parent is the loop
/// of greatest idx below its own that any op needs together with it. Every
/// scope is then part of one path, that of its greatest loop.
class LoopTree {
public:
  using Node = uint32_t;
  static constexpr Node root = 0;

  /// Emits an error and fails when no nest of the loops has a place for every
  /// op.
  static mlir::FailureOr<LoopTree> build(const NumberedGraph &graph);

  uint32_t size() const { return loops.size(); }
  uint32_t getDepth(Node node) const { return loops[node].depth; }
  Node getParent(Node node) const { return loops[node].parent; }
  /// The number of the RANGE that opens loop `node`.
  uint32_t getRange(Node node) const { return loops[node].range; }
  int64_t getIdx(Node node) const { return loops[node].idx; }
  /// The loop that RANGE number `range` opens.
  Node getLoop(uint32_t range) const { return loopOf.lookup(range); }

  Node getAncestor(Node node, uint32_t depth) const;
  Node getCommonAncestor(Node a, Node b) const;
  bool isInside(Node inner, Node outer) const {
    return loops[inner].depth >= loops[outer].depth &&
           getAncestor(inner, loops[outer].depth) == outer;
  }

  /// The innermost loop that must be open when op `number` runs. A RANGE runs
  /// in the loop around its own.
  Node getTarget(uint32_t number) const { return targets[number]; }
  /// The loops that op `number` uses and nothing has closed.
  LoopSets::Set getScope(uint32_t number) const { return scopes[number]; }
  LoopSets &getSets() { return sets; }
  const LoopSets &getSets() const { return sets; }

  /// The idx of the loops from the outermost to `node`: `[0, 1]`.
  std::string formatPath(Node node) const;

private:
  struct Loop {
    int64_t idx;
    uint32_t range;
    Node parent, jump;
    uint32_t depth;
  };

  mlir::LogicalResult numberLoops(const NumberedGraph &graph);
  mlir::LogicalResult findScopes(const NumberedGraph &graph);
  mlir::LogicalResult nestLoops(const NumberedGraph &graph);
  mlir::LogicalResult checkClosedOnce(const NumberedGraph &graph) const;
  void placeOps(const NumberedGraph &graph);

  std::vector<Loop> loops;
  llvm::DenseMap<uint32_t, Node> loopOf;
  LoopSets sets;
  std::vector<LoopSets::Set> scopes;
  std::vector<Node> targets;
};

/// `[0, 1]`; of more than 16 numbers, the first 16 and how many more.
std::string formatIndices(llvm::ArrayRef<int64_t> indices);

/// `STORE (file:line)`, without the place when it is unknown.
std::string describeOp(mlir::Operation *op);

/// The first of `ops` described, at most five, and how many more.
std::string describeOps(llvm::ArrayRef<mlir::Operation *> ops);

} // namespace uop

#endif // UOP_LIB_TRANSFORMS_LOOPTREE_H
