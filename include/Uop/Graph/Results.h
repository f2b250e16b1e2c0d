//===- Results.h - what programs of shapes compute --------------*- C++ -*-===//
//
// Which programs are of shapes, what their results are, and what they store to.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_GRAPH_RESULTS_H
#define UOP_GRAPH_RESULTS_H

#include "Uop/Dialect/Uop.h"

namespace uop {

/// Whether `program` is one of shapes, for rangeify to lower, and not one of
/// loops: its root is a value, or its graph holds a value of rank 1 or more, a
/// STORE of such values, a movement, REDUCE or STAGE, or a SINK of a value.
bool isShaped(ProgramOp program);

/// The results of a program of shapes, in order: its root, or if that is a SINK
/// the sources, those of a SINK among them in its place. Each is a value or a
/// STORE; a STORE or a SINK that comes again is left out, a value is not. Emits
/// an error and fails on any other effect.
mlir::FailureOr<llvm::SmallVector<mlir::Value>> getResults(mlir::Value root);

/// The BUFFER that `store` assigns to, through RESHAPE, PERMUTE, SHRINK, INDEX
/// and AFTER. Null, with an error, when its pointer is a view of anything else,
/// or one with an EXPAND, which would store twice to one element.
BufferOp getStoredBuffer(StoreOp store);

} // namespace uop

#endif // UOP_GRAPH_RESULTS_H
