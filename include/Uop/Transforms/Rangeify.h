//===- Rangeify.h - from shapes to loops and memory -------------*- C++ -*-===//
//
// The lowering of shaped values to loop programs, for callers that are no pass.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_TRANSFORMS_RANGEIFY_H
#define UOP_TRANSFORMS_RANGEIFY_H

#include "Uop/Graph/UniquingBuilder.h"

namespace uop {

/// The slot that a lowered program of this root writes its value to: the highest
/// BUFFER slot of the graph plus one, 0 if there is none.
int64_t getOutputSlot(mlir::Value root);

/// Lowers `program` in place as the pass `uop-rangeify` does. Emits an error and
/// leaves the program as it was on failure.
mlir::LogicalResult rangeify(ProgramOp program);

/// Stores each of `values` (register values or memory views, in builder's block)
/// into the flat buffer of its output slot; returns the SINK, or null after an
/// error. Values of one shape share their output loops.
mlir::Value lowerToLoops(UniquingBuilder &builder,
                         llvm::ArrayRef<mlir::Value> values,
                         llvm::ArrayRef<int64_t> outputSlots);

} // namespace uop

#endif // UOP_TRANSFORMS_RANGEIFY_H
