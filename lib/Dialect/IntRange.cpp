//===- IntRange.cpp - bounds of integer UOps ------------------------------===//
//
// The tightest interval that the operands' intervals allow, for every op that
// computes an i32 or a bool, and InferIntRangeInterface on top of it.
//
//===----------------------------------------------------------------------===//

#include "Uop/Dialect/IntRange.h"
#include "Uop/Dialect/Scalar.h"
#include "Uop/Dialect/Typing.h"

using namespace mlir;
using namespace uop;

static constexpr int64_t intMin = -2147483648LL, intMax = 2147483647LL;

static bool isBool(Type type) { return type.isSignlessInteger(1); }

bool uop::isBounded(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  return integer && integer.isSignless() &&
         (integer.getWidth() == 32 || integer.getWidth() == 1);
}

Interval uop::getWidest(Type type) {
  return isBool(type) ? Interval{0, 1} : Interval{intMin, intMax};
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

static Interval hull(std::initializer_list<int64_t> values) {
  return {std::min(values), std::max(values)};
}

static Interval join(Interval a, Interval b) {
  return {std::min(a.min, b.min), std::max(a.max, b.max)};
}

static std::optional<Interval> join(std::optional<Interval> a, Interval b) {
  return a ? join(*a, b) : b;
}

static Interval negate(Interval a) { return {-a.max, -a.min}; }

static int64_t floorDiv(int64_t a, int64_t b) {
  int64_t q = a / b;
  return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
}

/// Over divisors of one sign the quotient is monotone in either operand.
static Interval divide(Interval a, Interval b) {
  std::optional<Interval> result;
  auto add = [&](int64_t min, int64_t max) {
    if (min <= max)
      result = join(result, hull({floorDiv(a.min, min), floorDiv(a.min, max),
                                  floorDiv(a.max, min), floorDiv(a.max, max)}));
  };
  add(b.min, std::min<int64_t>(b.max, -1));
  add(std::max<int64_t>(b.min, 1), b.max);
  if (b.min <= 0 && b.max >= 0) // x // 0 is 0
    result = join(result, {0, 0});
  return *result; // INT_MIN // -1 leaves i32 and becomes any value
}

/// The smallest divisor with the same floor(a / divisor) as `divisor`.
static int64_t getBlockStart(int64_t a, int64_t divisor) {
  int64_t q = floorDiv(a, divisor);
  return q >= 0 ? a / (q + 1) + 1 : (-a - q - 1) / -q;
}

/// Remainders of positive divisors, from the largest down, by blocks over which
/// both ends of `a` have one quotient each. Remainders within a block are
/// linear in the divisor, or all there can be where a multiple lies within `a`.
static Interval moduloPositive(Interval a, Interval b) {
  std::optional<Interval> result;
  int64_t divisor = b.max;
  // The first blocks are the largest; what is left is bounded by its divisors.
  for (int left = 64; divisor >= b.min; --left) {
    if (result && result->min == 0 && result->max >= divisor - 1)
      break;
    int64_t q = floorDiv(a.min, divisor);
    if (left == 0 || q != floorDiv(a.max, divisor)) {
      result = join(result, {0, divisor - 1});
      if (left == 0)
        break;
      divisor = std::min(getBlockStart(a.min, divisor),
                         getBlockStart(a.max, divisor)) - 1;
      continue;
    }
    int64_t start = std::max({b.min, getBlockStart(a.min, divisor),
                              getBlockStart(a.max, divisor)});
    result = join(result, hull({a.min - q * divisor, a.max - q * divisor,
                                a.min - q * start, a.max - q * start}));
    divisor = start - 1;
  }
  return *result;
}

static Interval modulo(Interval a, Interval b) {
  std::optional<Interval> result;
  if (b.max > 0)
    result = moduloPositive(a, {std::max<int64_t>(b.min, 1), b.max});
  if (b.min < 0) // a % -c is -(-a % c)
    result = join(result, negate(moduloPositive(
                              negate(a), negate({b.min, std::min<int64_t>(
                                                            b.max, -1)}))));
  if (b.min <= 0 && b.max >= 0) // x % 0 is 0
    result = join(result, {0, 0});
  return *result;
}

/// Bounds of a binary op before wrapping.
static Interval combine(OpCode code, bool ofBools, Interval a, Interval b) {
  switch (code) {
  case OpCode::Add:
    if (ofBools)
      return {a.min | b.min, a.max | b.max};
    return {a.min + b.min, a.max + b.max};
  case OpCode::Mul:
    return hull({a.min * b.min, a.min * b.max, a.max * b.min, a.max * b.max});
  case OpCode::Max:
    return {std::max(a.min, b.min), std::max(a.max, b.max)};
  case OpCode::CmpLt:
    return {a.max < b.min, a.min < b.max};
  case OpCode::CmpNe:
    return {a.max < b.min || b.max < a.min,
            !(a.isPoint() && b.isPoint() && a.min == b.min)};
  case OpCode::FloorDiv:
    return divide(a, b);
  case OpCode::FloorMod:
    return modulo(a, b);
  default:
    llvm_unreachable("no binary op of integers");
  }
}

static Interval castTo(Type to, Type from, Interval source) {
  if (!isBounded(from))
    return getWidest(to);
  if (isBool(to) && !isBool(from))
    return {source.min > 0 || source.max < 0,
            !(source.isPoint() && source.min == 0)};
  return source;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

static Interval inferExact(Operation *op, llvm::ArrayRef<Interval> sources) {
  Type type = op->getResult(0).getType();
  if (auto constant = dyn_cast<ConstOp>(op)) {
    Word word = getWord(constant.getProperties().value);
    int64_t value = isBool(type) ? int64_t(word) : int64_t(int32_t(word));
    return {value, value};
  }
  if (isa<RangeOp>(op))
    return {0, std::max<int64_t>(sources[0].max - 1, 0)};
  if (isa<CastOp>(op))
    return castTo(type, op->getOperand(0).getType(), sources[0]);
  if (isa<WhereOp>(op))
    return sources[0].min   ? sources[1]
           : sources[0].max ? join(sources[1], sources[2])
                            : sources[2];
  std::optional<OpCode> code = ::uop::getOpCode(op);
  if (!code || !isBinary(*code) || !isBounded(op->getOperand(0).getType()))
    return getWidest(type);
  return combine(*code, isBool(op->getOperand(0).getType()), sources[0],
                 sources[1]);
}

Interval uop::inferInterval(Operation *op, llvm::ArrayRef<Interval> sources) {
  Type type = op->getResult(0).getType();
  Interval widest = getWidest(type);
  if (!isBounded(type))
    return widest;
  Interval exact = inferExact(op, sources);
  return exact.min < widest.min || exact.max > widest.max ? widest : exact;
}

//===----------------------------------------------------------------------===//
// MLIR's interface
//===----------------------------------------------------------------------===//

/// Bools are read unsigned, so that true is 1.
static Interval read(const ConstantIntRanges &range) {
  if (range.umin().getBitWidth() == 1)
    return {static_cast<int64_t>(range.umin().getZExtValue()),
            static_cast<int64_t>(range.umax().getZExtValue())};
  return {range.smin().getSExtValue(), range.smax().getSExtValue()};
}

static ConstantIntRanges toRanges(Type type, Interval i) {
  if (isBool(type))
    return ConstantIntRanges::fromUnsigned(llvm::APInt(1, i.min),
                                           llvm::APInt(1, i.max));
  return ConstantIntRanges::fromSigned(
      llvm::APInt(32, i.min, /*isSigned=*/true),
      llvm::APInt(32, i.max, /*isSigned=*/true));
}

static void inferRanges(Operation *op,
                        llvm::ArrayRef<ConstantIntRanges> ranges,
                        SetIntRangeFn set) {
  Value result = op->getResult(0);
  if (!isBounded(result.getType()))
    return;
  llvm::SmallVector<Interval, 3> sources;
  for (auto [operand, range] : llvm::zip(op->getOperands(), ranges))
    sources.push_back(isBounded(operand.getType())
                          ? read(range)
                          : getWidest(operand.getType()));
  set(result, toRanges(result.getType(), inferInterval(op, sources)));
}

#define UOP_DEFINE_RANGE(code)                                                 \
  void code##Op::inferResultRanges(llvm::ArrayRef<ConstantIntRanges> ranges,   \
                                   SetIntRangeFn set) {                        \
    inferRanges(getOperation(), ranges, set);                                  \
  }
UOP_DEFINE_RANGE(Const)
UOP_DEFINE_RANGE(Range)
UOP_DEFINE_RANGE(Cast)
UOP_DEFINE_RANGE(Where)
UOP_DEFINE_RANGE(Add)
UOP_DEFINE_RANGE(Mul)
UOP_DEFINE_RANGE(Max)
UOP_DEFINE_RANGE(CmpLt)
UOP_DEFINE_RANGE(CmpNe)
UOP_DEFINE_RANGE(FloorDiv)
UOP_DEFINE_RANGE(FloorMod)
