//===- Facts.h - what is known of a random value ----------------*- C++ -*-===//
//
// Ranges, rounding errors and costs of values, propagated op by op, so that a
// generator can refuse an op that would leave what it wants.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_UNITTESTS_FUZZ_FACTS_H
#define UOP_UNITTESTS_FUZZ_FACTS_H

#include "RandomProgram.h"

namespace uop::fuzz {

struct Facts {
  /// Bounds of the elements (tame programs only; a bool is 0 or 1).
  double low = 0, high = 0;
  /// How far two right ways to compute an element may differ (tame programs
  /// only): reassociation, contraction, other math functions.
  double error = 0;
  /// Ops that one element takes when nothing is shared, with and without what
  /// loops of reductions repeat.
  double cost = 1, code = 1;

  double magnitude() const { return std::max(std::abs(low), std::abs(high)); }
};

/// The facts of UOp `code` over sources of dtype `source` (for WHERE, of the
/// branches). `count` is the number of elements a REDUCE combines. Nothing if
/// a tame program must not hold the op; costs are the caller's.
std::optional<Facts> propagate(OpCode code, DType source, DType target,
                               ReduceKind kind, double count,
                               llvm::ArrayRef<Facts> sources);

} // namespace uop::fuzz

#endif // UOP_UNITTESTS_FUZZ_FACTS_H
