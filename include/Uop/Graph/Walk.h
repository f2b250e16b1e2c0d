//===- Walk.h - walks over graphs -------------------------------*- C++ -*-===//
//
// The order in which a graph's nodes are visited, and replacing some of them.
// Every walk keeps its own stack, so that a graph may be any number deep.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_GRAPH_WALK_H
#define UOP_GRAPH_WALK_H

#include "Uop/Graph/UniquingBuilder.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/DenseMap.h"

namespace uop {

/// Every op that `root` reaches, sources before users, sources left to right; a
/// depth first order that follows from the graph alone, not from the block.
/// `size`: about how many there are, where that is known.
std::vector<mlir::Operation *> toposort(mlir::Value root, size_t size = 0);

/// The ops that `root` reaches in the fewest steps, sources before users: at most
/// `limit` that have sources, and those without that they use.
std::vector<mlir::Operation *> nearest(mlir::Value root, size_t limit);

/// Rebuilds what `root` reaches through `builder`, each node of `mapping` as the
/// value it maps to (which must be in builder's block). Nodes are copied when
/// they are in another block, and unchanged ones are shared when in the same.
mlir::Value substitute(UniquingBuilder &builder, mlir::Value root,
                       const llvm::DenseMap<mlir::Value, mlir::Value> &mapping);

/// Makes the copy of a node over its new sources; null to give up.
using CopyFn =
    llvm::function_ref<mlir::Value(mlir::Operation *, mlir::ValueRange)>;

/// `root` with every node for which `find` gives a value replaced by it, and
/// what depends on these copied by `copy`; the rest is shared. A CALL's body is
/// a scope of its own and stays as it is. Null when `copy` gives up.
mlir::Value
copyReplacing(mlir::Value root,
              llvm::function_ref<mlir::Value(mlir::Operation *)> find,
              CopyFn copy);

/// Replaces the body of `program` by what `build` makes: `build` gets a builder on
/// a fresh block and returns the new root, or null to leave the program as it is
/// (and fail). The old block is dropped.
mlir::LogicalResult
rebuildProgram(ProgramOp program,
               llvm::function_ref<mlir::Value(UniquingBuilder &)> build);

/// A copy of `root`'s graph in builder's block, every structure once.
mlir::Value copyInto(UniquingBuilder &builder, mlir::Value root);

/// `root` with every CALL replaced by its body over its arguments. A nested body
/// is a scope of its own: its PARAMs are never bound by an outer CALL.
mlir::Value inlineCalls(UniquingBuilder &builder, mlir::Value root);

} // namespace uop

#endif // UOP_GRAPH_WALK_H
