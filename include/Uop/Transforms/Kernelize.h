//===- Kernelize.h - from a graph to a plan of kernels ----------*- C++ -*-===//
//
// Cutting a program of shapes into kernels, for callers that are no pass.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_TRANSFORMS_KERNELIZE_H
#define UOP_TRANSFORMS_KERNELIZE_H

#include "Uop/Dialect/Plan.h"

namespace uop {

/// No plan takes more than so many times the operations that the graph takes
/// when every node is computed on its own.
inline constexpr double workBound = 4;

struct KernelizeOptions {
  /// Buffers that a kernel may take; one that needs more is split.
  int64_t maxParameters = 64;
  /// Whether float sums may be added up in another order, so that a long one
  /// with few results becomes two kernels.
  bool reassociate = true;
};

/// Replaces `program` in its module by a plan of its name and, before it, the
/// kernels that are launched: programs whose BUFFER slots are 0, 1, ... in the
/// order of first appearance, what they store to last. What a plan of the
/// module launches already is used again where a kernel has the same graph.
/// Emits an error and leaves the module as it was on failure, and for a program
/// that is such a kernel.
///
/// A program of loops becomes a plan of one launch.
mlir::FailureOr<PlanOp> kernelize(ProgramOp program,
                                  const KernelizeOptions &options = {});

} // namespace uop

#endif // UOP_TRANSFORMS_KERNELIZE_H
