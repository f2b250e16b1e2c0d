//===- Fusion.h - which node is computed in which kernel --------*- C++ -*-===//
//
// The decisions of the planner: what is kept in memory, and what each kernel
// computes on its way. Every constant that they turn on stands here.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_LIB_TRANSFORMS_KERNELIZE_FUSION_H
#define UOP_LIB_TRANSFORMS_KERNELIZE_FUSION_H

#include "Access.h"
#include "PlanGraph.h"
#include "llvm/ADT/SetVector.h"

namespace uop::planning {

/// A node may be computed this many times as often as it has elements, in all
/// kernels together; what is cheaper than its users may be computed again as
/// often as they are. So no plan computes more than `workBound` (Kernelize.h)
/// times what the graph computes node by node.
inline constexpr double recomputeBound = workBound / 2;
/// To store an element and load it again costs as much as this many operations,
/// each.
inline constexpr double memoryCost = 8;
/// A kernel computes at most this many nodes: C compilers take more than linear
/// time in the length of a loop's body.
inline constexpr unsigned maxOperations = 400;
/// A STACK of more sources than this is stored source by source; so many
/// conditions for each element would cost more.
inline constexpr unsigned maxInlineStack = 8;
/// A REDUCE of `serialWork` elements or more that fewer than `fewThreads`
/// threads could share is a kernel of its own where the kernel's other loops
/// could occupy that many.
inline constexpr double fewThreads = 64, serialWork = 65536;
/// Kernels are not joined beyond this many results.
inline constexpr unsigned maxResults = 16;

/// Where a kernel stores a node: an output, or a part of another node's memory.
struct Place {
  bool isOutput;
  /// The number of the output, or the STACK that the node is a source of.
  unsigned number;
  /// In elements.
  int64_t offset = 0;
};

/// Memory of a plan: an input (by BUFFER slot), an output (by number), or the
/// temp of a node.
struct Memory {
  enum Kind { Input, Output, Temp } kind;
  int64_t number;
  bool operator<(const Memory &other) const {
    return std::tie(kind, number) < std::tie(other.kind, other.number);
  }
};

/// Elements of a memory that a node is stored to.
struct Target {
  Memory memory;
  int64_t begin, end;
  bool operator<(const Target &other) const {
    return std::tie(memory, begin, end) <
           std::tie(other.memory, other.begin, other.end);
  }
};

struct Kernel {
  /// What it stores, all of one shape: nodes, or one STORE into a BUFFER.
  llvm::SmallVector<Node, 2> roots;
  /// The memory it reads: BUFFERs, AFTERs and nodes that other kernels store.
  llvm::SetVector<Node> reads;
  /// How many nodes are computed in it, and how often in all.
  unsigned operations = 0;
  double work = 0;
  /// How often elements are read, and how many there are to read.
  double loads = 0, loadable = 0;
};

struct Fusion {
  std::vector<Kernel> kernels;
  /// Whether other kernels read the node from memory.
  std::vector<bool> materialized;
  /// Where a node is stored beside its own temp, or instead of one.
  llvm::DenseMap<Node, llvm::SmallVector<Place, 1>> places;
  /// STACKs that are stored source by source.
  llvm::DenseSet<Node> stacks;
  /// Reads of a BUFFER by the kernel that stores to it, at another index than
  /// the one that it stores to.
  llvm::SmallVector<Node> clashes;

  /// Where a node's elements are stored, in order; at least one place. The
  /// source of a STACK stands in all of the STACK's places.
  llvm::SmallVector<Target> getTargets(const PlanGraph &graph, Node node) const;
};

/// What the planner wants of the graph beside what the costs say.
struct Wishes {
  /// Nodes that are stored: every reader finds them in memory.
  std::vector<bool> cut;
  /// Nodes that have a kernel to themselves if they are stored.
  llvm::DenseSet<Node> alone;
  /// Where the results are stored.
  llvm::DenseMap<Node, llvm::SmallVector<Place, 1>> places;
  /// Nodes that are expected to be in memory when costs are counted.
  std::vector<bool> expected;
};

/// Cuts the graph into kernels, in no particular order.
Fusion partition(const PlanGraph &graph, const Wishes &wishes,
                 const KernelizeOptions &options);

/// Cuts the graph into kernels, joins those that can share their loops, and
/// puts them in an order in which every BUFFER is read before it is changed.
/// Emits an error when a node alone takes more buffers than a kernel may.
mlir::FailureOr<Fusion> fuse(const PlanGraph &graph,
                             const KernelizeOptions &options);

} // namespace uop::planning

#endif // UOP_LIB_TRANSFORMS_KERNELIZE_FUSION_H
