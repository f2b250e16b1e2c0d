//===- Difference.h - whether two programs do the same ----------*- C++ -*-===//
//
// Runs two programs, shaped or of loops, on the same generated inputs.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_TRANSFORMS_DIFFERENCE_H
#define UOP_TRANSFORMS_DIFFERENCE_H

#include "Uop/Dialect/Plan.h"
#include "Uop/Graph/Interpreter.h"

namespace uop {

struct CompareOptions {
  /// Sets of inputs: one of small numbers, one of numbers at the edge of their
  /// dtype (signed zeros, infinities, NaN, INT_MIN, ...), the others random.
  unsigned rounds = 5;
  /// Programs of more elements in memory, or more ops to run, are not compared.
  double maxElements = 1 << 22;
  double maxSteps = 2e7;
};

/// What came of a comparison.
struct Comparison {
  enum Outcome {
    Same,
    Different,
    /// `message` says why nothing can be said.
    Skipped,
  } outcome = Same;
  /// `element (1, 2) of the output is 3.5, was 2.5` and the like.
  std::string message;
  /// The inputs that show the difference, made as small as could be found: as
  /// many zeros as possible, other numbers as simple as possible.
  ArrayMap inputs;
  /// The op of `after` that computed or stored what differs.
  mlir::Operation *op = nullptr;
};

/// Compares what `before` and `after` compute: values of shaped programs and what
/// these and programs of loops leave in their buffers; a shaped program's values
/// against the output slots of the loops it was lowered to; a scalar expression over
/// loop counters for all their values. Two NaNs are the same, nothing
/// else of different bits is. Inputs on which `before` fails (an index out of
/// bounds) count for nothing.
Comparison compare(ProgramOp before, ProgramOp after,
                   const CompareOptions &options = {});

/// Compares a program of shapes, or of loops, with the plan that it became.
Comparison compare(ProgramOp before, PlanOp after,
                   const CompareOptions &options = {});

/// `BUFFER 0[3] = 5, BUFFER 1[0] = nan, all else 0`.
std::string formatInputs(const ArrayMap &inputs);

} // namespace uop

#endif // UOP_TRANSFORMS_DIFFERENCE_H
