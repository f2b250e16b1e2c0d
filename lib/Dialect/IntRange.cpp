//===- IntRange.cpp - bounds of integer UOps ------------------------------===//
//
// InferIntRangeInterface of every op that computes an i32 or a bool: the
// tightest interval that the operands' intervals allow. Arithmetic that may
// wrap has any value.
//
//===----------------------------------------------------------------------===//

#include "Uop/Dialect/Scalar.h"
#include "Uop/Dialect/Typing.h"

using namespace mlir;
using namespace uop;

namespace {

struct Interval {
  int64_t low, high;
  bool isPoint() const { return low == high; }
};

constexpr int64_t intMin = -2147483648LL, intMax = 2147483647LL;

bool isBool(Type type) { return type.isSignlessInteger(1); }
bool isTracked(Type type) { return isBool(type) || type.isSignlessInteger(32); }

/// Bools are read unsigned, so that true is 1.
Interval read(const ConstantIntRanges &range) {
  if (range.umin().getBitWidth() == 1)
    return {static_cast<int64_t>(range.umin().getZExtValue()),
            static_cast<int64_t>(range.umax().getZExtValue())};
  return {range.smin().getSExtValue(), range.smax().getSExtValue()};
}

void write(Value value, Interval interval, SetIntRangeFn set) {
  if (isBool(value.getType())) {
    set(value, ConstantIntRanges::fromUnsigned(llvm::APInt(1, interval.low),
                                               llvm::APInt(1, interval.high)));
    return;
  }
  if (interval.low < intMin || interval.high > intMax)
    interval = {intMin, intMax};
  set(value, ConstantIntRanges::fromSigned(
                 llvm::APInt(32, interval.low, /*isSigned=*/true),
                 llvm::APInt(32, interval.high, /*isSigned=*/true)));
}

Interval hull(std::initializer_list<int64_t> values) {
  return {std::min(values), std::max(values)};
}

Interval join(Interval a, Interval b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

int64_t floorDiv(int64_t a, int64_t b) {
  int64_t q = a / b;
  return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
}

/// Over divisors of one sign the quotient is monotone in either operand.
Interval divide(Interval a, Interval b) {
  std::optional<Interval> result;
  auto add = [&](int64_t low, int64_t high) {
    if (low > high)
      return;
    Interval part = hull({floorDiv(a.low, low), floorDiv(a.low, high),
                          floorDiv(a.high, low), floorDiv(a.high, high)});
    result = result ? join(*result, part) : part;
  };
  add(b.low, std::min<int64_t>(b.high, -1));
  add(std::max<int64_t>(b.low, 1), b.high);
  if (b.low <= 0 && b.high >= 0) // x // 0 is 0
    result = result ? join(*result, {0, 0}) : Interval{0, 0};
  return *result; // INT_MIN // -1 leaves i32 and becomes any value
}

Interval modulo(Interval a, Interval b) {
  if (b.isPoint() && b.low != 0) {
    int64_t first = floorDiv(a.low, b.low);
    if (first == floorDiv(a.high, b.low))
      return hull({a.low - first * b.low, a.high - first * b.low});
    return b.low > 0 ? Interval{0, b.low - 1} : Interval{b.low + 1, 0};
  }
  Interval result{0, 0};
  if (b.high > 0) // remainders of positive divisors
    result = a.low >= 0 && a.high < std::max<int64_t>(b.low, 1)
                 ? a
                 : Interval{0, a.low >= 0 ? std::min(a.high, b.high - 1)
                                          : b.high - 1};
  if (b.low < 0) {
    bool whole = a.high <= 0 && a.low > std::min<int64_t>(b.high, -1);
    Interval part = whole ? a
                          : Interval{a.high <= 0 ? std::max(a.low, b.low + 1)
                                                 : b.low + 1,
                                     0};
    result = b.high > 0 ? join(result, part) : part;
  }
  if (b.low <= 0 && b.high >= 0)
    result = join(result, {0, 0});
  return result;
}

/// Bounds of a binary op; nullopt where nothing is known.
std::optional<Interval> combine(OpCode code, bool bools, Interval a,
                                Interval b) {
  switch (code) {
  case OpCode::Add:
    if (bools)
      return Interval{a.low | b.low, a.high | b.high};
    return Interval{a.low + b.low, a.high + b.high};
  case OpCode::Mul:
    return hull({a.low * b.low, a.low * b.high, a.high * b.low,
                 a.high * b.high});
  case OpCode::Max:
    return Interval{std::max(a.low, b.low), std::max(a.high, b.high)};
  case OpCode::CmpLt:
    return Interval{a.high < b.low, a.low < b.high};
  case OpCode::CmpNe:
    return Interval{a.high < b.low || b.high < a.low,
                    !(a.isPoint() && b.isPoint() && a.low == b.low)};
  case OpCode::FloorDiv:
    return divide(a, b);
  case OpCode::FloorMod:
    return modulo(a, b);
  default:
    return std::nullopt;
  }
}

void inferBinary(OpCode code, Operation *op,
                 llvm::ArrayRef<ConstantIntRanges> ranges, SetIntRangeFn set) {
  Value result = op->getResult(0);
  Type source = op->getOperand(0).getType();
  if (!isTracked(result.getType()) || !isTracked(source) ||
      !isTracked(op->getOperand(1).getType()))
    return;
  if (auto interval = combine(code, isBool(source), read(ranges[0]),
                              read(ranges[1])))
    write(result, *interval, set);
}

} // namespace

#define UOP_DEFINE_RANGE(code)                                                 \
  void code##Op::inferResultRanges(llvm::ArrayRef<ConstantIntRanges> ranges,   \
                                   SetIntRangeFn set) {                        \
    inferBinary(OpCode::code, getOperation(), ranges, set);                    \
  }
UOP_DEFINE_RANGE(Add)
UOP_DEFINE_RANGE(Mul)
UOP_DEFINE_RANGE(Max)
UOP_DEFINE_RANGE(CmpLt)
UOP_DEFINE_RANGE(CmpNe)
UOP_DEFINE_RANGE(FloorDiv)
UOP_DEFINE_RANGE(FloorMod)

void ConstOp::inferResultRanges(llvm::ArrayRef<ConstantIntRanges>,
                                SetIntRangeFn set) {
  if (!isTracked(getType()))
    return;
  Word word = getWord(getValueAttr());
  int64_t value = isBool(getType()) ? int64_t(word) : int64_t(int32_t(word));
  write(getResult(), {value, value}, set);
}

void CastOp::inferResultRanges(llvm::ArrayRef<ConstantIntRanges> ranges,
                               SetIntRangeFn set) {
  Type from = getSource().getType(), to = getType();
  if (!isTracked(to))
    return;
  if (!isTracked(from))
    return write(getResult(), isBool(to) ? Interval{0, 1}
                                         : Interval{intMin, intMax},
                 set);
  Interval source = read(ranges[0]);
  if (isBool(to) && !isBool(from))
    source = {source.low > 0 || source.high < 0,
              !(source.isPoint() && source.low == 0)};
  write(getResult(), source, set);
}

void WhereOp::inferResultRanges(llvm::ArrayRef<ConstantIntRanges> ranges,
                                SetIntRangeFn set) {
  if (!isTracked(getType()) || !isTracked(getTrueValue().getType()) ||
      !isTracked(getFalseValue().getType()))
    return;
  Interval condition = read(ranges[0]);
  Interval yes = read(ranges[1]), no = read(ranges[2]);
  write(getResult(),
        condition.low ? yes : condition.high ? join(yes, no) : no, set);
}

void RangeOp::inferResultRanges(llvm::ArrayRef<ConstantIntRanges> ranges,
                                SetIntRangeFn set) {
  if (!isTracked(getEnd().getType()))
    return;
  write(getResult(), {0, std::max<int64_t>(read(ranges[0]).high - 1, 0)}, set);
}
