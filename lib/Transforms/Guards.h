//===- Guards.h - what a condition says of values ---------------*- C++ -*-===//
//
// Bounds of the values that a condition compares, where it is known to hold.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_LIB_TRANSFORMS_GUARDS_H
#define UOP_LIB_TRANSFORMS_GUARDS_H

#include "Uop/Graph/Bounds.h"

namespace uop {

/// Assumes in `bounds` that the bool `condition` is `outcome`, and what follows
/// for the values it compares: through conjunctions, disjunctions and negations,
/// and back through sums, products and quotients with constants. `plain` are the
/// bounds without assumptions.
void assumeOutcome(Bounds &bounds, Bounds &plain, mlir::Value condition,
                   bool outcome);

} // namespace uop

#endif // UOP_LIB_TRANSFORMS_GUARDS_H
