//===- Interpreter.h - two evaluators of UOp programs -----------*- C++ -*-===//
//
// The oracles: one evaluates the shaped graph directly, knowing nothing of loops,
// the other walks a linear program op by op.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_GRAPH_INTERPRETER_H
#define UOP_GRAPH_INTERPRETER_H

#include "Uop/Dialect/Scalar.h"
#include <map>

namespace uop {

/// Elements in row major order.
struct Array {
  DType dtype = DType::F32;
  llvm::SmallVector<int64_t> shape;
  std::vector<Word> data;
};

/// Flat arrays by BUFFER slot.
using ArrayMap = std::map<int64_t, Array>;

/// The value of a graph without loops or allocations. Emits an error and fails on
/// ops it has no meaning for, on a buffer that is missing or of another dtype or
/// size, on an index out of bounds, and on values of more than 2^28 elements.
mlir::FailureOr<Array> evaluateShaped(mlir::Value root, const ArrayMap &buffers);

/// What a program of shapes leaves behind.
struct ShapedResults {
  /// Its values, in the order of `getResults`.
  std::vector<Array> outputs;
  /// The buffers that it stores to, with all its STOREs done.
  ArrayMap buffers;
};

/// Evaluates a program of shapes, which leaves `buffers` alone: a BUFFER is what it
/// was before, an AFTER what it is behind the STOREs that the AFTER depends on.
/// Fails like `evaluateShaped`.
mlir::FailureOr<ShapedResults>
evaluateShapedProgram(ProgramOp program, const ArrayMap &buffers);

/// Runs a scheduled program over `buffers`, whose arrays it changes. Emits an
/// error and fails like `evaluateShaped`.
mlir::LogicalResult evaluateLinear(llvm::ArrayRef<mlir::Operation *> schedule,
                                   ArrayMap &buffers);

} // namespace uop

#endif // UOP_GRAPH_INTERPRETER_H
