//===- Bounds.h - smallest and largest value of a UOp -----------*- C++ -*-===//
//
// vmin and vmax of scalar i32 and bool nodes, by the interval rules of their
// ops, each node once.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_GRAPH_BOUNDS_H
#define UOP_GRAPH_BOUNDS_H

#include "Uop/Dialect/IntRange.h"
#include "llvm/ADT/DenseMap.h"

namespace uop {

/// Remembers what it has found; valid while the nodes it saw exist unchanged.
class Bounds {
public:
  using Interval = uop::Interval;
  /// The tightest interval known of a scalar i32 or bool (0 and 1); every i32 for
  /// an i32 of which nothing is known, and for values of other dtypes.
  Interval get(mlir::Value value);
  int64_t vmin(mlir::Value value) { return get(value).min; }
  int64_t vmax(mlir::Value value) { return get(value).max; }

  /// From here on `value` is known to lie within `interval`; to be said before
  /// anything that depends on it is asked for. What is said of one value twice
  /// holds at once.
  void assume(mlir::Value value, Interval interval);
  /// Whether an assumption contradicts what the graph says of some value asked
  /// for: then nothing ever computes it.
  bool isContradictory() const { return contradictory; }

private:
  /// Adds `value` to `known`; nullopt, with the sources that must be known
  /// before it, when there are such.
  std::optional<Interval> infer(mlir::Value value,
                                llvm::SmallVectorImpl<mlir::Value> &missing);

  llvm::DenseMap<mlir::Value, Interval> known, assumed;
  bool contradictory = false;
};

} // namespace uop

#endif // UOP_GRAPH_BOUNDS_H
