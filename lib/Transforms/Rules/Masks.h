//===- Masks.h - which turns of a loop count --------------------*- C++ -*-===//
//
// A value of a loop that is zero where a condition on its counter fails: what
// the sum of it is without the loop.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_LIB_TRANSFORMS_RULES_MASKS_H
#define UOP_LIB_TRANSFORMS_RULES_MASKS_H

#include "Nodes.h"
#include "Uop/Graph/Bounds.h"

namespace uop {

/// `scalar` in a shape.
mlir::Value spread(mlir::PatternRewriter &rewriter, mlir::Location loc,
                   mlir::Value scalar, llvm::ArrayRef<int64_t> shape);

/// A value WHERE(condition, value, 0) over a RANGE r, the condition a
/// conjunction of: r between limits, r equal to something, conditions that do
/// not depend on r, and others.
class LoopMask {
public:
  LoopMask(mlir::PatternRewriter &rewriter, mlir::Location loc, RangeOp range)
      : rewriter(rewriter), loc(loc), range(range) {}

  /// The fewest turns the loop makes; negative when its end may be.
  int64_t getMinCount() { return bounds.vmin(range.getEnd()); }

  /// Takes `value` apart; false when it is no such value. Limits are moved to
  /// one side of r only where the bounds show that nothing wraps.
  bool match(mlir::Value value);

  mlir::Value getValue() const { return value; }
  bool dependsOnRange(mlir::Value v);
  /// Whether there are limits, and nothing else depends on r.
  bool isInterval() const {
    return !pick && others.empty() && !(lower.empty() && upper.empty());
  }
  /// The i32 that r must equal; null if there is none.
  mlir::Value getPick() const { return pick; }

  /// How many turns lie within the limits.
  mlir::Value makeCount();
  /// The conditions that do not depend on r; null for none.
  mlir::Value makeInvariantCondition();
  /// `v` where `condition` (null for always), else zero.
  mlir::Value makeWhere(mlir::Value condition, mlir::Value v);
  /// The value at the turn that counts, zero when there is none; its loads are
  /// gated. Null when what it holds cannot be computed outside the loop.
  mlir::Value makeGather();

private:
  struct Condition {
    mlir::Value value;
    bool negated;
  };
  /// sign * r + rest, sign 1 or -1; rest null for 0.
  struct Linear {
    int sign;
    mlir::Value rest;
  };
  /// A comparison of something of r with something without, which is `limit`.
  struct Sides {
    Linear linear;
    mlir::Value limit;
    bool onLeft;
  };
  /// The sides of a CMPLT or CMPNE of i32; nullopt where it has no such ones.
  std::optional<Sides> getSides(mlir::Operation *compare);
  bool addCondition(mlir::Value condition, bool negated);
  bool addConjunct(mlir::Value condition, bool negated);
  bool addComparison(CmpLtOp compare, bool negated);
  bool addEquality(CmpNeOp compare);
  std::optional<Linear> getLinear(mlir::Value expression);
  /// The interval of a value of moderate size.
  Bounds::Interval getInterval(mlir::Value v);
  /// a - b + c; null when that may wrap and must not.
  mlir::Value makeDifference(mlir::Value a, mlir::Value b, int32_t c,
                             bool mayWrap);
  mlir::Value both(mlir::Value a, mlir::Value b);
  mlir::Value makeCondition(const Condition &condition);

  mlir::PatternRewriter &rewriter;
  mlir::Location loc;
  RangeOp range;
  Bounds bounds;
  mlir::Value value;
  llvm::SmallVector<Condition> invariant, others;
  /// r >= each of lower, r < each of upper.
  llvm::SmallVector<mlir::Value> lower, upper;
  mlir::Value pick;
};

} // namespace uop

#endif // UOP_LIB_TRANSFORMS_RULES_MASKS_H
