//===- Reductions.cpp - rules: reductions without their loop --------------===//
//
// On shaped programs a REDUCE over axes that were expanded. On programs of
// loops an accumulator (acc += value; END of a RANGE): of a value that the loop
// does not change, of a mask that counts, of a mask that picks one turn. What a
// store leaves in an accumulator is then forwarded to the load of it.
//
//===----------------------------------------------------------------------===//

#include "Masks.h"
#include "Uop/Transforms/RuleSets.h"
#include "llvm/ADT/bit.h"
#include <cmath>

using namespace mlir;
using namespace uop;

namespace {

/// How much of a graph a rule looks at.
constexpr unsigned maxNodes = 1024;

//===----------------------------------------------------------------------===//
// Sums of n equal floats
//===----------------------------------------------------------------------===//

/// What adding `word` n times to +0.0 gives, where no partial sum is rounded;
/// nullopt where one may be. Infinities and NaN are never rounded.
std::optional<Word> sumExactly(DType dtype, Word word, int64_t n) {
  float x = toFloat(word);
  if (n == 0 || x == 0.0f)
    return Word(0);
  if (!std::isfinite(x))
    return word;
  int exponent;
  auto mantissa =
      static_cast<int64_t>(std::frexp(std::fabs(x), &exponent) * 0x1p24f);
  mantissa >>= llvm::countr_zero(static_cast<uint64_t>(mantissa));
  int64_t limit = dtype == DType::F16 ? 1 << 11 : 1 << 24;
  double largest = dtype == DType::F16 ? 65504.0 : 3.4028234663852886e38;
  if (n > limit || mantissa * n > limit ||
      std::fabs(static_cast<double>(x)) * static_cast<double>(n) > largest)
    return std::nullopt;
  return fromFloat(x * static_cast<float>(n));
}

/// Up to this many, 0 + x + x + ... is the rounded product, whatever x is: the
/// error of each partial sum is too small to show.
constexpr int64_t maxRoundedTerms = 5;

/// `value` added n times to zero, as a value of the same shape; null where bits
/// could differ. On floats +0.0 is still to be added.
Value multiply(PatternRewriter &rewriter, Location loc, Value value,
               int64_t n) {
  Type type = getReadType(value.getType());
  DType dtype = getDType(type);
  if (dtype == DType::Bool)
    return n > 0 ? value : Value();
  Value factor;
  if (dtype == DType::I32)
    factor = makeI32(rewriter, loc, static_cast<int32_t>(n));
  else if (n <= maxRoundedTerms)
    factor = makeConst(rewriter, loc, dtype, fromFloat(static_cast<float>(n)));
  else
    return {};
  return MulOp::create(rewriter, loc, value,
                       spread(rewriter, loc, factor, getShape(type)));
}

//===----------------------------------------------------------------------===//
// Shaped programs
//===----------------------------------------------------------------------===//

struct ReduceRule : OpRewritePattern<ReduceOp> {
  ReduceRule(MLIRContext *context, llvm::StringRef name)
      : OpRewritePattern<ReduceOp>(context) {
    setDebugName(name);
  }
  LogicalResult matchAndRewrite(ReduceOp op,
                                PatternRewriter &rewriter) const override {
    Value value = rewrite(op, rewriter);
    if (!value || value.getType() != op.getResult().getType() ||
        exceedsThrift(rewriter))
      return failure();
    rewriter.replaceOp(op, value);
    return success();
  }
  virtual Value rewrite(ReduceOp op, PatternRewriter &rewriter) const = 0;
};

/// A REDUCE over no axes is its source, over no elements the identity.
struct ReduceOfNothing : ReduceRule {
  explicit ReduceOfNothing(MLIRContext *context)
      : ReduceRule(context, "reductions/reduce-of-nothing") {}
  Value rewrite(ReduceOp op, PatternRewriter &rewriter) const override {
    if (op.getPop() == 0)
      return op.getSource();
    llvm::ArrayRef<int64_t> from = getShape(op.getSource().getType());
    llvm::ArrayRef<int64_t> shape = getShape(op.getResult().getType());
    if (!llvm::is_contained(from.take_back(op.getPop()), 0) ||
        llvm::is_contained(shape, 0))
      return {};
    DType dtype = getDType(op.getResult().getType());
    return spread(rewriter, op.getLoc(),
                  makeConst(rewriter, op.getLoc(), dtype,
                            getIdentity(op.getKind(), dtype)),
                  shape);
  }
};

/// reduce(const of any shape) -> const
struct ReduceOfUniform : ReduceRule {
  explicit ReduceOfUniform(MLIRContext *context)
      : ReduceRule(context, "reductions/reduce-of-constant") {}
  Value rewrite(ReduceOp op, PatternRewriter &rewriter) const override {
    Value source = op.getSource();
    for (int steps = 0; isMovement(getOpCode(source)); ++steps) {
      if (steps == 16)
        return {};
      source = source.getDefiningOp()->getOperand(0);
    }
    std::optional<Word> word = getConstWord(source);
    std::optional<int64_t> count = getNumElements(
        getShape(op.getSource().getType()).take_back(op.getPop()));
    if (!word || !count || *count == 0)
      return {};
    DType dtype = getDType(source.getType());
    std::optional<Word> result = word;
    if (op.getKind() == ReduceKind::Add) {
      if (dtype == DType::I32)
        result = *word * static_cast<Word>(*count);
      else if (isFloat(dtype))
        result = sumExactly(dtype, *word, *count);
    }
    if (!result)
      return {};
    return spread(rewriter, op.getLoc(),
                  makeConst(rewriter, op.getLoc(), dtype, *result),
                  getShape(op.getResult().getType()));
  }
};

/// reduce(expand(x)) over axes that were expanded -> what is left, times their
/// size. A maximum does not notice repetition: with NaNs it is that of what
/// follows the last one, and of equal zeros the last.
struct ReduceOfExpand : ReduceRule {
  explicit ReduceOfExpand(MLIRContext *context)
      : ReduceRule(context, "reductions/reduce-of-expand") {}
  Value rewrite(ReduceOp op, PatternRewriter &rewriter) const override {
    auto expand = op.getSource().getDefiningOp<ExpandOp>();
    if (!expand)
      return {};
    Location loc = op.getLoc();
    llvm::ArrayRef<int64_t> from = getShape(expand.getSource().getType());
    llvm::ArrayRef<int64_t> shape = expand.getShape();
    size_t kept = shape.size() - op.getPop();
    llvm::SmallVector<int64_t> reduced(shape);
    uint64_t count = 1;
    bool remain = false;
    for (size_t axis = kept; axis < shape.size(); ++axis) {
      if (shape[axis] == 0)
        return {};
      if (from[axis] == shape[axis]) {
        remain |= shape[axis] != 1;
        continue;
      }
      reduced[axis] = 1;
      // Wraps like the sum; more than five floats need no exact number.
      count *= static_cast<uint64_t>(shape[axis]);
    }
    bool isSum = op.getKind() == ReduceKind::Add;
    bool isFloatSum = isSum && isFloat(getDType(expand.getSource().getType()));
    if (count == 1 || (isFloatSum && (remain || !isFew(shape, kept))))
      return {};
    Value value = expand.getSource();
    if (!remain) {
      value = reshape(rewriter, loc, value, shape.take_front(kept), reduced);
    } else {
      if (llvm::ArrayRef<int64_t>(reduced) != from)
        value = ExpandOp::create(rewriter, loc, value,
                                 rewriter.getDenseI64ArrayAttr(reduced));
      value = copyOver(rewriter, op, value);
    }
    if (isSum && getDType(value.getType()) != DType::Bool)
      value = multiply(rewriter, loc, value, static_cast<int64_t>(count));
    if (value && isFloatSum) {
      Value zero = makeConst(rewriter, loc, getDType(value.getType()), 0);
      value =
          AddOp::create(rewriter, loc, value,
                        spread(rewriter, loc, zero, getShape(value.getType())));
    }
    if (value && isMemory(value.getType()))
      value = LoadOp::create(rewriter, loc, value, ValueRange());
    return value;
  }

  /// `value`, expanded to `reduced`, in the shape `shape`.
  static Value reshape(PatternRewriter &rewriter, Location loc, Value value,
                       llvm::ArrayRef<int64_t> shape,
                       llvm::ArrayRef<int64_t> reduced) {
    if (getShape(value.getType()) != reduced)
      value = ExpandOp::create(rewriter, loc, value,
                               rewriter.getDenseI64ArrayAttr(reduced));
    // That to [.., 1], which the expansion needed, is often all there is.
    while (auto inner = value.getDefiningOp<ReshapeOp>())
      value = inner.getSource();
    if (getShape(value.getType()) == shape)
      return value;
    return ReshapeOp::create(rewriter, loc, value,
                             rewriter.getDenseI64ArrayAttr(shape));
  }

  static bool isFew(llvm::ArrayRef<int64_t> shape, size_t kept) {
    std::optional<int64_t> count = getNumElements(shape.drop_front(kept));
    return count && *count <= maxRoundedTerms;
  }
};

//===----------------------------------------------------------------------===//
// Programs of loops
//===----------------------------------------------------------------------===//

/// END(STORE(p, LOAD(p) op value), ..., r, ...) where p = INDEX(AFTER(memory,
/// ..., r, ...), place), and memory and place do not depend on r.
struct Accumulator {
  EndOp end;
  StoreOp store;
  IndexOp pointer;
  AfterOp after;
  Operation *combine = nullptr;
  unsigned valueSide = 0;
  RangeOp range;

  Value getValue() { return combine->getOperand(valueSide); }
  DType getDType() { return ::uop::getDType(getValue().getType()); }
  bool isSum() { return isa<AddOp>(combine); }
  bool isOnlyRange() { return end.getRanges().size() == 1; }

  /// Whether it starts from zero (of floats the positive one) and is changed by
  /// nothing else before the loop.
  bool startsAtZero() {
    bool found = false;
    for (Value dep : after.getDeps()) {
      if (dep.getDefiningOp<RangeOp>())
        continue;
      auto init = dep.getDefiningOp<StoreOp>();
      auto place =
          init ? init.getPointer().getDefiningOp<IndexOp>() : IndexOp();
      if (found || !place || place.getSource() != after.getSource() ||
          place.getIndices() != pointer.getIndices() ||
          !isConst(init.getValue(), 0))
        return false;
      found = true;
    }
    return found;
  }

  /// The effect without the loop: `value` combined once.
  Value withoutRange(PatternRewriter &rewriter, Value value) {
    Location loc = end.getLoc();
    auto drop = [&](ValueRange values) {
      llvm::SmallVector<Value> rest;
      for (Value other : values)
        if (other != range.getResult())
          rest.push_back(other);
      return rest;
    };
    Value memory = after.getSource();
    if (auto deps = drop(after.getDeps()); !deps.empty())
      memory = AfterOp::create(rewriter, loc, memory, deps);
    Value place = IndexOp::create(rewriter, loc, memory, pointer.getIndices());
    llvm::SmallVector<Value, 2> sources(2);
    sources[valueSide] = value;
    sources[1 - valueSide] = LoadOp::create(rewriter, loc, place, ValueRange());
    Value result = StoreOp::create(rewriter, store.getLoc(), place,
                                   copyOver(rewriter, combine, sources));
    if (auto ranges = drop(end.getRanges()); !ranges.empty())
      result = EndOp::create(rewriter, loc, result, ranges);
    return result;
  }
};

struct AccumulatorRule : OpRewritePattern<EndOp> {
  AccumulatorRule(MLIRContext *context, llvm::StringRef name)
      : OpRewritePattern<EndOp>(context) {
    setDebugName(name);
  }

  LogicalResult matchAndRewrite(EndOp op,
                                PatternRewriter &rewriter) const override {
    Accumulator acc;
    acc.end = op;
    acc.store = op.getSource().getDefiningOp<StoreOp>();
    if (!acc.store)
      return failure();
    acc.pointer = acc.store.getPointer().getDefiningOp<IndexOp>();
    acc.combine = acc.store.getValue().getDefiningOp();
    if (!acc.pointer || !isa<AddOp, MaxOp>(acc.combine) ||
        ::uop::getSpace(acc.pointer.getResult().getType()) != AddrSpace::Local)
      return failure();
    for (Value index : acc.pointer.getIndices())
      if (!getConstWord(index))
        return failure();
    acc.after = acc.pointer.getSource().getDefiningOp<AfterOp>();
    if (!acc.after || !findValue(acc))
      return failure();
    for (Value range : op.getRanges()) {
      acc.range = range.getDefiningOp<RangeOp>();
      if (!isCollapsible(acc))
        continue;
      if (Value value = collapse(acc, rewriter)) {
        Value effect = acc.withoutRange(rewriter, value);
        if (exceedsThrift(rewriter))
          return failure();
        rewriter.replaceOp(op, effect);
        return success();
      }
    }
    return failure();
  }

  /// What one turn less loop adds; null where that is not known.
  virtual Value collapse(Accumulator &acc, PatternRewriter &rewriter) const = 0;

private:
  static bool findValue(Accumulator &acc) {
    for (unsigned side : {0, 1}) {
      auto load = acc.combine->getOperand(side).getDefiningOp<LoadOp>();
      if (!load || load->getNumOperands() != 1 ||
          load.getSource() != acc.pointer.getResult())
        continue;
      acc.valueSide = 1 - side;
      // The operands of a maximum of floats do not commute.
      return acc.valueSide == 1 || acc.isSum() || !isFloat(acc.getDType());
    }
    return false;
  }

  static bool isCollapsible(Accumulator &acc) {
    if (!acc.range || (acc.range.getKind() != AxisKind::Loop &&
                       acc.range.getKind() != AxisKind::Reduce &&
                       acc.range.getKind() != AxisKind::Upcast))
      return false;
    Value range = acc.range.getResult();
    if (!llvm::is_contained(acc.after.getDeps(), range))
      return false;
    // What happens before the loop, and the ends of the other loops.
    unsigned budget = maxNodes;
    auto isFree = [&](Value value) {
      return value == range || !dependsOn(value, range, budget);
    };
    return isFree(acc.after.getSource()) &&
           llvm::all_of(acc.after.getDeps(), isFree) &&
           llvm::all_of(acc.end.getRanges(), isFree);
  }
};

/// A value that the loop does not change: added n times it is n times as much,
/// and the maximum with it once is that with it n times.
struct CollapseInvariant : AccumulatorRule {
  explicit CollapseInvariant(MLIRContext *context)
      : AccumulatorRule(context, "reductions/invariant") {}
  Value collapse(Accumulator &acc, PatternRewriter &rewriter) const override {
    Value range = acc.range.getResult(), value = acc.getValue();
    unsigned budget = maxNodes;
    if (dependsOn(value, range, budget))
      return {};
    Location loc = acc.end.getLoc();
    DType dtype = acc.getDType();
    LoopMask mask(rewriter, loc, acc.range);
    // It must be computed at least once for its loads to be in bounds.
    if (mask.getMinCount() < 1)
      return {};
    if (!acc.isSum() || dtype == DType::Bool)
      return value;
    if (dtype == DType::I32)
      return MulOp::create(rewriter, loc, value, acc.range.getEnd());
    if (!acc.isOnlyRange() || !acc.startsAtZero())
      return {};
    std::optional<Word> count = getConstWord(acc.range.getEnd());
    if (!count)
      return {};
    if (std::optional<Word> word = getConstWord(value)) {
      std::optional<Word> sum = sumExactly(dtype, *word, *count);
      return sum ? makeConst(rewriter, loc, dtype, *sum) : Value();
    }
    return multiply(rewriter, loc, value, *count);
  }
};

/// A sum of a value under a mask over the loop, numbers only.
struct MaskedSumRule : AccumulatorRule {
  using AccumulatorRule::AccumulatorRule;
  Value collapse(Accumulator &acc, PatternRewriter &rewriter) const final {
    if (!acc.isSum() || acc.getDType() == DType::Bool)
      return {};
    LoopMask mask(rewriter, acc.end.getLoc(), acc.range);
    if (mask.getMinCount() < 0 || !mask.match(acc.getValue()))
      return {};
    return collapseMasked(acc, mask, rewriter);
  }
  virtual Value collapseMasked(Accumulator &acc, LoopMask &mask,
                               PatternRewriter &rewriter) const = 0;
};

/// sum of where(lo <= r < hi, x, 0) with nothing that depends on r: x times the
/// turns between the limits.
struct CollapseCount : MaskedSumRule {
  explicit CollapseCount(MLIRContext *context)
      : MaskedSumRule(context, "reductions/count") {}
  Value collapseMasked(Accumulator &acc, LoopMask &mask,
                       PatternRewriter &rewriter) const override {
    DType dtype = acc.getDType();
    if (!mask.isInterval() || mask.dependsOnRange(mask.getValue()))
      return {};
    std::optional<Word> factor = getConstWord(mask.getValue());
    if (isFloat(dtype)) {
      std::optional<Word> end = getConstWord(acc.range.getEnd());
      if (!factor || !end || !acc.isOnlyRange() || !acc.startsAtZero() ||
          !std::isfinite(toFloat(*factor)) || !sumExactly(dtype, *factor, *end))
        return {};
      // The number of turns must be exact too.
      if (!sumExactly(dtype, fromFloat(1.0f), *end))
        return {};
    }
    Value result = mask.makeCount();
    Location loc = acc.end.getLoc();
    if (isFloat(dtype)) {
      result = CastOp::create(rewriter, loc, mask.getValue().getType(), result);
      if (*factor != fromFloat(1.0f))
        result = MulOp::create(rewriter, loc, result, mask.getValue());
    } else if (factor != Word(1)) {
      result = MulOp::create(rewriter, loc, result, mask.getValue());
    }
    return mask.makeWhere(mask.makeInvariantCondition(), result);
  }
};

/// sum of where(r == i, x[r], 0) -> where(0 <= i < end, x[i], 0)
struct CollapseGather : MaskedSumRule {
  explicit CollapseGather(MLIRContext *context)
      : MaskedSumRule(context, "reductions/gather") {}
  Value collapseMasked(Accumulator &acc, LoopMask &mask,
                       PatternRewriter &) const override {
    if (!mask.getPick())
      return {};
    if (isFloat(acc.getDType()) &&
        (!acc.startsAtZero() || !keepsOrder(acc, mask.getPick())))
      return {};
    return mask.makeGather();
  }

  /// Whether the turns that are left add in the order in which they did: not
  /// when an inner loop decides which turn of this one counts.
  static bool keepsOrder(Accumulator &acc, Value pick) {
    unsigned budget = maxNodes;
    for (Value other : acc.end.getRanges()) {
      auto range = other.getDefiningOp<RangeOp>();
      if (!range ||
          (range != acc.range && range.getIdx() > acc.range.getIdx() &&
           dependsOn(pick, other, budget)))
        return false;
    }
    return true;
  }
};

/// load of what was stored at that place last -> the value stored
struct ForwardStore : OpRewritePattern<LoadOp> {
  explicit ForwardStore(MLIRContext *context)
      : OpRewritePattern<LoadOp>(context) {
    setDebugName("reductions/forward-store");
  }
  LogicalResult matchAndRewrite(LoadOp op,
                                PatternRewriter &rewriter) const override {
    auto pointer = op.getSource().getDefiningOp<IndexOp>();
    if (op->getNumOperands() != 1 || !pointer ||
        getSpace(pointer.getResult().getType()) != AddrSpace::Local)
      return failure();
    // A RANGE among what it waits for is a loop that may write again.
    auto after = pointer.getSource().getDefiningOp<AfterOp>();
    if (!after || after.getDeps().size() != 1)
      return failure();
    auto store = after.getDeps().front().getDefiningOp<StoreOp>();
    auto written =
        store ? store.getPointer().getDefiningOp<IndexOp>() : IndexOp();
    if (!written || written.getIndices() != pointer.getIndices() ||
        store.getValue().getType() != op.getResult().getType())
      return failure();
    for (Value index : pointer.getIndices())
      if (!getConstWord(index))
        return failure();
    Value memory = written.getSource();
    for (int steps = 0; memory != after.getSource(); ++steps) {
      auto earlier = memory.getDefiningOp<AfterOp>();
      if (!earlier || steps == 16)
        return failure();
      memory = earlier.getSource();
    }
    rewriter.replaceOp(op, store.getValue());
    return success();
  }
};

} // namespace

void uop::populateReductionRules(RewritePatternSet &patterns) {
  patterns.add<ReduceOfNothing, ReduceOfUniform, ReduceOfExpand,
               CollapseInvariant, CollapseCount, CollapseGather, ForwardStore>(
      patterns.getContext());
}
