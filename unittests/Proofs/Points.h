//===- Points.h - scalar expressions at points ------------------*- C++ -*-===//
//
// Two expressions evaluated for the same unknowns: at every point of a small
// box, or at a sample.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_UNITTESTS_PROOFS_POINTS_H
#define UOP_UNITTESTS_PROOFS_POINTS_H

#include "Uop/Dialect/Scalar.h"

namespace uop::proofs {

struct PointsResult {
  bool isSame = true;
  /// Whether every point was looked at.
  bool isExhaustive = false;
  int64_t points = 0;
  /// The first point of difference: `ridx97=3, data98[0]=-1: 4, was 5`.
  std::string counterexample;
};

/// Compares two scalar roots: RANGEs have their values, an element of memory has
/// any, the same for the same buffer and index. All points if there are at most
/// `limit`, else a sample of that many, numbers at the edge of i32 and of the
/// ranges more often than others. With `approximate`, floats are ordinary numbers
/// and results may differ by rounding.
PointsResult comparePoints(mlir::Value before, mlir::Value after, int64_t limit,
                           bool approximate = false);

} // namespace uop::proofs

#endif // UOP_UNITTESTS_PROOFS_POINTS_H
