//===- CheckBounds.h - whether accesses stay inside memory ------*- C++ -*-===//
//
// A proof or a counterexample for every INDEX of a program of loops.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_TRANSFORMS_CHECKBOUNDS_H
#define UOP_TRANSFORMS_CHECKBOUNDS_H

#include "Uop/Dialect/Uop.h"

namespace uop {

struct CheckBoundsOptions {
  /// How many nodes may be evaluated in search of counterexamples, all in all.
  int64_t budget = 100000000;
  /// Whether an INDEX that is neither proved nor refuted gets a warning.
  bool warn = true;
};

/// Proves for every INDEX into flat memory that wherever it is read (through a
/// gate: where the gate is true) or written it lies inside: by bounds, then by
/// bounds under each outcome of the gates and WHEREs around it, then by
/// evaluation at every point of the loops it depends on. Emits an error for the
/// first that has a counterexample, the first point in the order of the loops.
mlir::LogicalResult checkBounds(ProgramOp program,
                                const CheckBoundsOptions &options = {});

} // namespace uop

#endif // UOP_TRANSFORMS_CHECKBOUNDS_H
