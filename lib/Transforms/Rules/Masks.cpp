//===- Masks.cpp - which turns of a loop count ----------------------------===//
//
// Conditions on a loop counter as limits and equalities, after the treatment of
// affine guards in polyhedral counting (Verdoolaege et al., "Counting integer
// points in parametric polytopes", 2007) in one dimension.
//
//===----------------------------------------------------------------------===//

#include "Masks.h"
#include "Uop/Graph/Walk.h"

using namespace mlir;
using namespace uop;

namespace {

constexpr unsigned maxNodes = 1024;
constexpr size_t maxTerms = 64;
constexpr Word allOnes = ~Word(0);

bool fits(int64_t value) { return value == static_cast<int32_t>(value); }

} // namespace

Value uop::spread(PatternRewriter &rewriter, Location loc, Value scalar,
                  llvm::ArrayRef<int64_t> shape) {
  if (shape.empty())
    return scalar;
  llvm::SmallVector<int64_t> ones(shape.size(), 1);
  Value value = ReshapeOp::create(rewriter, loc, scalar,
                                  rewriter.getDenseI64ArrayAttr(ones));
  if (llvm::ArrayRef<int64_t>(ones) == shape)
    return value;
  return ExpandOp::create(rewriter, loc, value,
                          rewriter.getDenseI64ArrayAttr(shape));
}

bool LoopMask::dependsOnRange(Value v) {
  unsigned budget = maxNodes;
  return dependsOn(v, range.getResult(), budget);
}

//===----------------------------------------------------------------------===//
// Taking a value apart
//===----------------------------------------------------------------------===//

bool LoopMask::match(Value v) {
  DType dtype = getDType(v.getType());
  if (auto where = v.getDefiningOp<WhereOp>()) {
    bool negated = isConst(where.getTrueValue(), 0);
    if (!negated && !isConst(where.getFalseValue(), 0))
      return false;
    value = negated ? where.getFalseValue() : where.getTrueValue();
    return !isMemory(value.getType()) &&
           addCondition(where.getCondition(), negated);
  }
  auto getBool = [](Value cast) -> Value {
    auto op = cast.getDefiningOp<CastOp>();
    if (op && getDType(op.getSource().getType()) == DType::Bool)
      return op.getSource();
    return {};
  };
  if (Value condition = getBool(v)) {
    value = makeConst(rewriter, loc, dtype,
                      dtype == DType::I32 ? 1 : fromFloat(1.0f));
    return addCondition(condition, false);
  }
  auto mul = v.getDefiningOp<MulOp>();
  if (!mul || dtype != DType::I32) // 0.0 * inf is not 0
    return false;
  for (unsigned side : {0, 1})
    if (Value condition = getBool(mul->getOperand(side))) {
      value = mul->getOperand(1 - side);
      return !isMemory(value.getType()) && addCondition(condition, false);
    }
  return false;
}

bool LoopMask::addCondition(Value condition, bool negated) {
  llvm::SmallVector<Value> stack{condition};
  for (size_t count = 0; !stack.empty(); ++count) {
    if (count == maxTerms)
      return false;
    Value next = stack.pop_back_val();
    auto both = next.getDefiningOp<MulOp>();
    if (both && !negated)
      stack.append({both.getRhs(), both.getLhs()});
    else if (!addConjunct(next, negated))
      return false;
  }
  return true;
}

bool LoopMask::addConjunct(Value condition, bool negated) {
  while (auto compare = condition.getDefiningOp<CmpNeOp>()) {
    if (getDType(compare.getLhs().getType()) != DType::Bool)
      break;
    if (isConst(compare.getRhs(), 1))
      condition = compare.getLhs();
    else if (isConst(compare.getLhs(), 1))
      condition = compare.getRhs();
    else
      break;
    negated = !negated;
  }
  if (!dependsOnRange(condition)) {
    invariant.push_back({condition, negated});
    return true;
  }
  auto less = condition.getDefiningOp<CmpLtOp>();
  if (less && addComparison(less, negated))
    return true;
  auto unequal = condition.getDefiningOp<CmpNeOp>();
  if (unequal && negated && addEquality(unequal))
    return true;
  others.push_back({condition, negated});
  return true;
}

std::optional<LoopMask::Linear> LoopMask::getLinear(Value expression) {
  Linear result{0, {}};
  llvm::SmallVector<Value> stack{expression};
  for (size_t count = 0; !stack.empty(); ++count) {
    if (count == maxTerms)
      return std::nullopt;
    Value term = stack.pop_back_val();
    int sign = 0;
    if (term == range.getResult())
      sign = 1;
    if (auto mul = term.getDefiningOp<MulOp>())
      if ((mul.getLhs() == range.getResult() &&
           isConst(mul.getRhs(), allOnes)) ||
          (mul.getRhs() == range.getResult() && isConst(mul.getLhs(), allOnes)))
        sign = -1;
    if (sign != 0) {
      if (result.sign != 0)
        return std::nullopt;
      result.sign = sign;
      continue;
    }
    if (!dependsOnRange(term)) {
      result.rest =
          result.rest ? AddOp::create(rewriter, loc, result.rest, term) : term;
      continue;
    }
    auto add = term.getDefiningOp<AddOp>();
    if (!add)
      return std::nullopt;
    stack.append({add.getRhs(), add.getLhs()});
  }
  if (result.sign == 0)
    return std::nullopt;
  return result;
}

Bounds::Interval LoopMask::getInterval(Value v) {
  unsigned budget = maxNodes;
  if (!v)
    return {0, 0};
  // Anything that it can't depend on will do to measure its size.
  if (dependsOn(v, Value(), budget))
    return {-2147483648LL, 2147483647LL};
  return bounds.get(v);
}

Value LoopMask::makeDifference(Value a, Value b, int32_t c, bool mayWrap) {
  Bounds::Interval x = getInterval(a), y = getInterval(b);
  if (!mayWrap && (!fits(x.min - y.max + c) || !fits(x.max - y.min + c)))
    return {};
  std::optional<Word> known = a ? getConstWord(a) : Word(0);
  std::optional<Word> subtracted = b ? getConstWord(b) : Word(0);
  Word constant = static_cast<Word>(c);
  if (known && subtracted)
    return makeI32(rewriter, loc,
                   static_cast<int32_t>(*known - *subtracted + constant));
  Value result = a;
  if (subtracted) {
    constant -= *subtracted;
  } else {
    Value minus = MulOp::create(rewriter, loc, b, makeI32(rewriter, loc, -1));
    if (known)
      constant += *known;
    result = known ? minus : AddOp::create(rewriter, loc, a, minus);
  }
  if (constant == 0)
    return result;
  return AddOp::create(rewriter, loc, result,
                       makeI32(rewriter, loc, static_cast<int32_t>(constant)));
}

std::optional<LoopMask::Sides> LoopMask::getSides(Operation *compare) {
  Value lhs = compare->getOperand(0), rhs = compare->getOperand(1);
  if (getDType(lhs.getType()) != DType::I32)
    return std::nullopt;
  bool onLeft = dependsOnRange(lhs);
  Value limit = onLeft ? rhs : lhs;
  if (dependsOnRange(limit))
    return std::nullopt;
  std::optional<Linear> linear = getLinear(onLeft ? lhs : rhs);
  if (!linear)
    return std::nullopt;
  return Sides{*linear, limit, onLeft};
}

bool LoopMask::addComparison(CmpLtOp compare, bool negated) {
  // sign * r + rest < limit, or limit < sign * r + rest.
  std::optional<Sides> sides = getSides(compare);
  if (!sides)
    return false;
  const auto &[linear, limit, onLeft] = *sides;
  Bounds::Interval counter = getInterval(range.getResult());
  Bounds::Interval rest = getInterval(linear.rest);
  int64_t least = linear.sign > 0 ? counter.min : -counter.max;
  int64_t most = linear.sign > 0 ? counter.max : -counter.min;
  if (!fits(least + rest.min) || !fits(most + rest.max))
    return false;
  // r < t, or r >= t, and the negations of these; t = limit - rest for r, and
  // rest - limit for -r.
  bool plus = linear.sign > 0;
  bool isUpper = onLeft == plus;
  int32_t c = isUpper ? 0 : 1;
  Value t = plus ? makeDifference(limit, linear.rest, c, false)
                 : makeDifference(linear.rest, limit, c, false);
  if (!t)
    return false;
  (isUpper != negated ? upper : lower).push_back(t);
  return true;
}

bool LoopMask::addEquality(CmpNeOp compare) {
  std::optional<Sides> sides = getSides(compare);
  if (pick || !sides)
    return false;
  const auto &[linear, limit, onLeft] = *sides;
  // Exact modulo 2^32, so that it may wrap.
  pick = linear.sign > 0 ? makeDifference(limit, linear.rest, 0, true)
                         : makeDifference(linear.rest, limit, 0, true);
  return true;
}

//===----------------------------------------------------------------------===//
// Making what stands for the loop
//===----------------------------------------------------------------------===//

Value LoopMask::makeCount() {
  Value high = range.getEnd();
  for (Value limit : upper) {
    if (bounds.vmin(limit) >= bounds.vmax(high))
      continue;
    if (bounds.vmax(limit) <= bounds.vmin(high))
      high = limit;
    else
      high = WhereOp::create(rewriter, loc,
                             CmpLtOp::create(rewriter, loc, limit, high), limit,
                             high);
  }
  Value zero = makeI32(rewriter, loc, 0);
  if (bounds.vmin(high) < 0)
    high = MaxOp::create(rewriter, loc, high, zero);
  Value low = zero;
  for (Value limit : lower) {
    if (bounds.vmax(limit) <= bounds.vmin(low))
      continue;
    if (bounds.vmin(limit) >= bounds.vmax(low))
      low = limit;
    else
      low = MaxOp::create(rewriter, loc, limit, low);
  }
  if (isConst(low, 0))
    return high;
  Bounds::Interval h = bounds.get(high), l = bounds.get(low);
  // Both are at least 0, so that the difference never wraps.
  Value count = makeDifference(high, low, 0, true);
  if (h.min - l.max < 0)
    count = MaxOp::create(rewriter, loc, count, zero);
  return count;
}

Value LoopMask::both(Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  return MulOp::create(rewriter, loc, a, b);
}

Value LoopMask::makeCondition(const Condition &condition) {
  if (!condition.negated)
    return condition.value;
  return CmpNeOp::create(rewriter, loc, condition.value,
                         makeConst(rewriter, loc, DType::Bool, 1));
}

Value LoopMask::makeInvariantCondition() {
  Value result;
  for (const Condition &condition : invariant)
    result = both(result, makeCondition(condition));
  return result;
}

Value LoopMask::makeWhere(Value condition, Value v) {
  if (!condition)
    return v;
  return WhereOp::create(rewriter, loc, condition, v,
                         makeConst(rewriter, loc, getDType(v.getType()), 0));
}

Value LoopMask::makeGather() {
  Value valid;
  Bounds::Interval picked = getInterval(pick);
  if (picked.min < 0)
    valid = CmpLtOp::create(rewriter, loc, makeI32(rewriter, loc, -1), pick);
  if (picked.max >= getMinCount())
    valid = both(valid, CmpLtOp::create(rewriter, loc, pick, range.getEnd()));
  Value gated;
  auto find = [&](Operation *op) {
    return op == range.getOperation() ? pick : Value();
  };
  auto copy = [&](Operation *op, ValueRange sources) -> Value {
    OpCode code = *::uop::getOpCode(op);
    // Nothing but a load has a gate, not a read that is implied.
    if (isAlu(code) && llvm::none_of(sources, [](Value source) {
          return isMemory(source.getType());
        }))
      return copyOver(rewriter, op, sources);
    if (code == OpCode::Index && isMemory(sources[0].getType()))
      return copyOver(rewriter, op, sources);
    // Loops and memory inside the loop depend on more than a value of r.
    if (code != OpCode::Load || !isMemory(sources[0].getType()))
      return {};
    if (!valid)
      return copyOver(rewriter, op, sources);
    Value gate = valid;
    Value other;
    if (sources.size() == 3) {
      gate = both(gate, sources[1]);
      other = sources[2];
    } else {
      other = makeConst(rewriter, loc, getDType(op->getResult(0).getType()), 0);
    }
    Value load =
        LoadOp::create(rewriter, loc, sources[0], ValueRange{gate, other});
    if (sources.size() != 3)
      gated = load;
    return load;
  };
  Value result = copyReplacing(value, find, copy);
  if (!result)
    return {};
  Value rest = makeInvariantCondition();
  auto addOther = [&](Value condition, bool negated) {
    Value moved = copyReplacing(condition, find, copy);
    if (moved)
      rest = both(rest, makeCondition({moved, negated}));
    return static_cast<bool>(moved);
  };
  for (const Condition &condition : others)
    if (!addOther(condition.value, condition.negated))
      return {};
  for (Value limit : upper)
    rest = both(rest, CmpLtOp::create(rewriter, loc, pick, limit));
  for (Value limit : lower)
    rest = both(rest, makeCondition(
                          {CmpLtOp::create(rewriter, loc, pick, limit), true}));
  // What the gate keeps out of a load is zero already.
  if (result != gated || rest)
    rest = both(valid, rest);
  return makeWhere(rest, result);
}
