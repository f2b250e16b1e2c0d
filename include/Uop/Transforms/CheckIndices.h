//===- CheckIndices.h - accesses that are out of bounds for sure *- C++ -*-===//
//
// A last look at a program of loops before it is compiled.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_TRANSFORMS_CHECKINDICES_H
#define UOP_TRANSFORMS_CHECKINDICES_H

#include "Uop/Dialect/Uop.h"

namespace uop {

/// Emits an error for the first INDEX into memory that leaves it for sure: in
/// every iteration by its bounds, or in some iteration where it is a sum of
/// scaled loop counters, each used once, of loops that run. Reads behind a gate
/// are left alone.
mlir::LogicalResult checkIndices(ProgramOp program);

} // namespace uop

#endif // UOP_TRANSFORMS_CHECKINDICES_H
