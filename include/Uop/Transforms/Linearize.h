//===- Linearize.h - from a graph to a schedule -----------------*- C++ -*-===//
//
// The list scheduler that recovers loop nests from a flat graph.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_TRANSFORMS_LINEARIZE_H
#define UOP_TRANSFORMS_LINEARIZE_H

#include "Uop/Graph/Walk.h"

namespace uop {

/// Every op that `sink` reaches, in an order that is a program with properly
/// nested loops. Emits an error and fails when there is none.
mlir::FailureOr<std::vector<mlir::Operation *>> linearize(mlir::Value sink);

/// Linearizes `program` in place: its block then holds exactly the scheduled ops,
/// in order.
mlir::LogicalResult linearize(ProgramOp program);

/// Whether the order in program's block nests; emits an error where it does not.
mlir::LogicalResult verifySchedule(ProgramOp program);

} // namespace uop

#endif // UOP_TRANSFORMS_LINEARIZE_H
