//===- Composite.h - PAD and FLIP out of other ops --------------*- C++ -*-===//
//
// Operations on shaped values that need no op of their own.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_GRAPH_COMPOSITE_H
#define UOP_GRAPH_COMPOSITE_H

#include "Uop/Graph/UniquingBuilder.h"

namespace uop {

/// `value` with `padding[2*a]` zeros (0, 0.0, false) before and `padding[2*a+1]`
/// behind it on each axis a. The zeros are chosen by a mask: what stands for them
/// in `value` is never computed out of bounds, so that a padded 1/x is 0 and not
/// inf. Composed from STACK, RESHAPE and SHRINK, O(log(padding/size)) nodes an
/// axis. Null, with an error, when a number is negative or one is missing.
mlir::Value pad(UniquingBuilder &builder, mlir::Value value,
                llvm::ArrayRef<int64_t> padding);

/// `value` with the elements of `axis` in reverse order, bit by bit the same. Of
/// an axis of size p*q*..., p, q, ... prime, it stacks p slices, then q, and so
/// on. Null, with an error, when there is no such axis.
mlir::Value flip(UniquingBuilder &builder, mlir::Value value, int64_t axis);

/// An array of any shape whose elements are all one value.
mlir::Value full(UniquingBuilder &builder, DType dtype, Word element,
                 llvm::ArrayRef<int64_t> shape);

} // namespace uop

#endif // UOP_GRAPH_COMPOSITE_H
