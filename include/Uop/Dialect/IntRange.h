//===- IntRange.h - bounds of integer UOps ----------------------*- C++ -*-===//
//
// The interval rule of each op on plain numbers: what MLIR's integer range
// interface and `Bounds` say of an op.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_DIALECT_INTRANGE_H
#define UOP_DIALECT_INTRANGE_H

#include "Uop/Dialect/Uop.h"

namespace uop {

/// The numbers from `min` to `max`. Of a bool: 0 and 1.
struct Interval {
  int64_t min, max;
  bool isPoint() const { return min == max; }
};

/// Whether values of this type have bounds: scalars of i32 and bool.
bool isBounded(mlir::Type type);
/// All that a value of this type can be, every i32 for a type without bounds.
Interval getWidest(mlir::Type type);

/// The smallest interval that holds whatever `op` computes from operands within
/// `sources` (that of an operand without bounds is not looked at). Arithmetic
/// that may wrap has any value, and so has what `op` reads.
Interval inferInterval(mlir::Operation *op, llvm::ArrayRef<Interval> sources);

} // namespace uop

#endif // UOP_DIALECT_INTRANGE_H
