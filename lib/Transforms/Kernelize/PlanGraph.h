//===- PlanGraph.h - the graph that is cut into kernels ---------*- C++ -*-===//
//
// A program of shapes as the planner sees it: calls inlined, STAGEs noted, long
// reductions in two steps, every read of a BUFFER with the STOREs it comes
// after.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_LIB_TRANSFORMS_KERNELIZE_PLANGRAPH_H
#define UOP_LIB_TRANSFORMS_KERNELIZE_PLANGRAPH_H

#include "Uop/Graph/Walk.h"
#include "Uop/Transforms/Kernelize.h"

namespace uop::planning {

/// A node by its place in the order of the graph, sources before users.
using Node = unsigned;

struct PlanGraph {
  std::vector<mlir::Operation *> nodes;
  llvm::DenseMap<mlir::Operation *, Node> numbers;
  /// The values that the program is for, by number of output.
  llvm::SmallVector<Node> outputs;
  /// Nodes that a STAGE or the planner itself wants in memory.
  std::vector<bool> staged;
  /// The STOREs of any elements into each BUFFER slot, in the order in which
  /// they happen.
  std::map<int64_t, llvm::SmallVector<Node, 2>> stores;
  /// Of memory and STOREs: the BUFFER below; of memory: itself, or what an
  /// AFTER is an AFTER of.
  std::vector<Node> buffers, skips;
  /// Of a BUFFER or AFTER: how many of the STOREs into its slot come before it.
  llvm::DenseMap<Node, unsigned> versions;

  mlir::Operation *op(Node node) const { return nodes[node]; }
  Node number(mlir::Value value) const {
    return numbers.lookup(value.getDefiningOp());
  }
  mlir::Type type(Node node) const {
    return nodes[node]->getResult(0).getType();
  }
  bool isMemory(Node node) const { return ::uop::isMemory(type(node)); }
  /// Whether the node is what views of memory are views of.
  bool isBase(Node node) const {
    return mlir::isa<BufferOp, AfterOp>(nodes[node]);
  }
  /// What a plan stores for the node: its own shape, for a STORE its value's.
  llvm::ArrayRef<int64_t> shape(Node node) const;
  /// What a view, an AFTER or a STORE has as its memory; AFTERs on the way are
  /// passed over, but not `stop`.
  Node below(Node view, Node stop) const;
  /// The BUFFER below memory or a STORE, and its slot.
  Node buffer(Node node) const { return buffers[node]; }
  int64_t slot(Node node) const;
  /// The values, no constants, that say where in its BUFFER a STORE stores.
  llvm::SmallVector<Node> getScalars(Node store) const;
};

/// Builds the graph of `program` in `scratch`, an empty program. Fails, with an
/// error, on ops of loops, on a PARAM that no CALL binds, and where a BUFFER
/// would have to be read after a STORE and before an earlier one.
mlir::FailureOr<PlanGraph> buildPlanGraph(ProgramOp program, ProgramOp scratch,
                                          const KernelizeOptions &options);

} // namespace uop::planning

#endif // UOP_LIB_TRANSFORMS_KERNELIZE_PLANGRAPH_H
