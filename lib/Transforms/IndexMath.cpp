//===- IndexMath.cpp - index arithmetic, simplified as it is built --------===//
//
// Canonical sums, congruence splitting and the index map of RESHAPE.
//
//===----------------------------------------------------------------------===//

#include "IndexMath.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace uop;

static constexpr int64_t intMin = -2147483648LL, intMax = 2147483647LL;

static int64_t divideDown(int64_t a, int64_t b) {
  int64_t q = a / b;
  return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
}

/// The op of this code over (x, positive constant), if `value` is one: what a
/// program divides by itself may be anything.
static std::optional<std::pair<Value, int64_t>> matchByConstant(OpCode code,
                                                                Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || ::uop::getOpCode(op) != code)
    return std::nullopt;
  auto constant = IndexMath::getConstant(op->getOperand(1));
  if (constant && *constant > 0)
    return std::pair(op->getOperand(0), *constant);
  return std::nullopt;
}

std::optional<int64_t> IndexMath::getConstant(Value value) {
  if (auto op = value.getDefiningOp<ConstOp>())
    return static_cast<int32_t>(getWord(op.getValueAttr()));
  return std::nullopt;
}

Value IndexMath::constant(int64_t value) {
  if (value < intMin || value > intMax)
    return {};
  return builder.i32(static_cast<int32_t>(value));
}

//===----------------------------------------------------------------------===//
// Canonical sums
//===----------------------------------------------------------------------===//

IndexMath::Sum IndexMath::decompose(Value value) {
  if (auto it = sums.find(value); it != sums.end())
    return it->second;
  Sum sum;
  if (auto known = getConstant(value))
    sum.constant = *known;
  else
    sum.terms.push_back({value, 1});
  return sum;
}

Bounds::Interval IndexMath::bounds(Value value) {
  return bounds(decompose(value));
}

Bounds::Interval IndexMath::bounds(const Sum &sum) {
  // Factors and atoms fit 32 bits, so a term fits 64; a sum that leaves i32 by
  // far saturates.
  constexpr int64_t far = int64_t(1) << 60;
  Bounds::Interval total{sum.constant, sum.constant};
  for (const Term &term : sum.terms) {
    Bounds::Interval atom = knownBounds.get(term.atom);
    int64_t low, high;
    if (llvm::MulOverflow(atom.min, term.factor, low))
      low = term.factor > 0 ? -far : far;
    if (llvm::MulOverflow(atom.max, term.factor, high))
      high = term.factor > 0 ? far : -far;
    if (low > high)
      std::swap(low, high);
    total.min = std::max(total.min + std::max(low, -far), -far);
    total.max = std::min(total.max + std::min(high, far), far);
  }
  return total;
}

/// The first loop of an atom: its own, or that of the sum it divides, whose atoms
/// are known by now.
int64_t IndexMath::getLoop(Value atom) {
  if (auto it = atomOrder.find(atom); it != atomOrder.end())
    return it->second.first;
  int64_t loop = intMax + 1;
  Operation *op = atom.getDefiningOp();
  if (auto range = dyn_cast<RangeOp>(op))
    loop = range.getIdx();
  else if (isa<FloorDivOp, FloorModOp>(op))
    for (const Term &term : decompose(op->getOperand(0)).terms)
      if (auto it = atomOrder.find(term.atom); it != atomOrder.end())
        loop = std::min(loop, it->second.first);
  unsigned place = atomOrder.size();
  atomOrder[atom] = {loop, place};
  return loop;
}

void IndexMath::addTerm(Sum &sum, Value atom, int64_t factor) {
  for (Term &term : sum.terms)
    if (term.atom == atom) {
      term.factor += factor;
      if (term.factor == 0)
        sum.terms.erase(&term);
      return;
    }
  if (factor != 0)
    sum.terms.push_back({atom, factor});
}

void IndexMath::addScaled(Sum &sum, const Sum &other, int64_t factor) {
  for (const Term &term : other.terms)
    addTerm(sum, term.atom, term.factor * factor);
  sum.constant += other.constant * factor;
}

/// Whether `value` is e // c, in the form that nested divisions take.
static bool isQuotient(Value value, Value e, int64_t c) {
  auto quotient = matchByConstant(OpCode::FloorDiv, value);
  if (!quotient)
    return false;
  if (*quotient == std::pair(e, c))
    return true;
  auto inner = matchByConstant(OpCode::FloorDiv, e);
  return inner && quotient->first == inner->first &&
         quotient->second == inner->second * c;
}

bool IndexMath::recombine(Sum &sum) {
  for (const Term &mod : sum.terms) {
    auto remainder = matchByConstant(OpCode::FloorMod, mod.atom);
    // A remainder by 1, which a program may have written, would pair with itself.
    if (!remainder || remainder->second == 1)
      continue;
    auto [e, c] = *remainder;
    int64_t factor = mod.factor;
    for (const Term &other : sum.terms) {
      if (other.factor != factor * c)
        continue;
      Sum joined;
      auto outer = matchByConstant(OpCode::FloorMod, other.atom);
      if (isQuotient(other.atom, e, c)) {
        // f * (e % c) + f*c * (e // c)  is  f * e
        joined = decompose(e);
      } else if (outer && isQuotient(outer->first, e, c)) {
        // f * (e % c) + f*c * (e // c % b)  is  f * (e % (c*b))
        Value value = floorMod(e, c * outer->second);
        if (!value)
          continue;
        joined = decompose(value);
      } else {
        continue;
      }
      Value modAtom = mod.atom, otherAtom = other.atom;
      addTerm(sum, modAtom, -factor);
      addTerm(sum, otherAtom, -factor * c);
      addScaled(sum, joined, factor);
      return true;
    }
  }
  return joinDigits(sum);
}

/// k * (m % b) + r  is  (k*m + r) % (k*b)  where 0 <= r < k. Worth it where r
/// disappears in k*m, as the low digits of one number do in its high ones.
bool IndexMath::joinDigits(Sum &sum) {
  for (const Term &high : sum.terms) {
    auto remainder = matchByConstant(OpCode::FloorMod, high.atom);
    if (!remainder || high.factor <= 1)
      continue;
    auto [m, b] = *remainder;
    int64_t factor = high.factor;
    Sum low;
    for (const Term &term : sum.terms)
      if (std::abs(term.factor) < factor)
        low.terms.push_back(term);
    Bounds::Interval interval = bounds(low);
    if (low.terms.empty() || interval.min < 0 || interval.max >= factor)
      continue;
    Sum number = low;
    addScaled(number, decompose(m), factor);
    while (recombine(number))
      ;
    if (number.terms.size() > decompose(m).terms.size())
      continue;
    Value whole = compose(number);
    Value joined = whole ? floorMod(whole, factor * b) : Value();
    if (!joined)
      continue;
    Value highAtom = high.atom;
    addTerm(sum, highAtom, -factor);
    addScaled(sum, low, -1);
    addScaled(sum, decompose(joined), 1);
    return true;
  }
  return false;
}

Value IndexMath::compose(Sum sum) {
  while (recombine(sum))
    ;
  Bounds::Interval interval = bounds(sum);
  if (interval.min < intMin || interval.max > intMax)
    return {};
  if (sum.terms.empty())
    return constant(sum.constant);
  for (const Term &term : sum.terms)
    getLoop(term.atom);
  llvm::sort(sum.terms, [&](const Term &a, const Term &b) {
    int64_t strideA = std::abs(a.factor), strideB = std::abs(b.factor);
    if (strideA != strideB)
      return strideA > strideB;
    return atomOrder[a.atom] < atomOrder[b.atom];
  });
  Value value;
  for (const Term &term : sum.terms) {
    Value scaled = term.atom;
    if (term.factor != 1) {
      Value factor = constant(term.factor);
      if (!factor)
        return {};
      scaled = builder.mul(term.atom, factor);
    }
    value = value ? builder.add(value, scaled) : scaled;
  }
  if (sum.constant != 0)
    value = builder.add(value, constant(sum.constant));
  if (sum.terms.size() != 1 || sum.terms[0].factor != 1 || sum.constant != 0)
    sums[value] = sum;
  return value;
}

Value IndexMath::add(Value a, Value b) {
  if (!a || !b)
    return {};
  Sum sum = decompose(a);
  addScaled(sum, decompose(b), 1);
  return compose(sum);
}

Value IndexMath::mul(Value a, int64_t factor) {
  if (!a || factor < intMin || factor > intMax)
    return {};
  Sum sum;
  addScaled(sum, decompose(a), factor);
  return compose(sum);
}

//===----------------------------------------------------------------------===//
// Division
//===----------------------------------------------------------------------===//

std::pair<IndexMath::Sum, IndexMath::Sum>
IndexMath::split(const Sum &sum, int64_t divisor) {
  Sum quotient, rest;
  for (const Term &term : sum.terms) {
    if (term.factor % divisor == 0)
      quotient.terms.push_back({term.atom, term.factor / divisor});
    else
      rest.terms.push_back(term);
  }
  quotient.constant = divideDown(sum.constant, divisor);
  rest.constant = sum.constant - quotient.constant * divisor;
  return {quotient, rest};
}

/// The greatest common divisor of the factors and `divisor`.
template <typename Terms>
static int64_t getCommonFactor(const Terms &terms, int64_t divisor) {
  for (const auto &term : terms)
    divisor = std::gcd(divisor, term.factor);
  return divisor;
}

Value IndexMath::atomDiv(Sum rest, int64_t divisor) {
  Bounds::Interval interval = bounds(rest);
  int64_t low = divideDown(interval.min, divisor);
  if (low == divideDown(interval.max, divisor))
    return constant(low);
  // (g*a + r) // (g*c)  is  (a + r//g) // c
  if (int64_t g = getCommonFactor(rest.terms, divisor); g > 1) {
    for (Term &term : rest.terms)
      term.factor /= g;
    rest.constant = divideDown(rest.constant, g);
    return floorDiv(compose(rest), divisor / g);
  }
  // (e // a) // c  is  e // (a*c)
  if (rest.terms.size() == 1 && rest.terms[0].factor == 1 &&
      rest.constant == 0)
    if (auto inner = matchByConstant(OpCode::FloorDiv, rest.terms[0].atom))
      if (inner->second * divisor <= intMax)
        return floorDiv(inner->first, inner->second * divisor);
  Value numerator = compose(rest);
  return numerator ? builder.get(OpCode::FloorDiv,
                                 {numerator, constant(divisor)})
                   : Value();
}

Value IndexMath::atomMod(Sum rest, int64_t divisor) {
  Bounds::Interval interval = bounds(rest);
  int64_t low = divideDown(interval.min, divisor);
  if (low == divideDown(interval.max, divisor)) {
    rest.constant -= low * divisor;
    return compose(rest);
  }
  // (g*a + r) % (g*c), 0 <= r < g,  is  g * (a % c) + r
  if (int64_t g = getCommonFactor(rest.terms, divisor); g > 1) {
    int64_t over = divideDown(rest.constant, g);
    int64_t small = rest.constant - over * g;
    for (Term &term : rest.terms)
      term.factor /= g;
    rest.constant = over;
    return add(mul(floorMod(compose(rest), divisor / g), g), constant(small));
  }
  // (e % m) % c  is  e % c  where c divides m
  if (rest.terms.size() == 1 && rest.terms[0].factor == 1 &&
      rest.constant == 0)
    if (auto inner = matchByConstant(OpCode::FloorMod, rest.terms[0].atom))
      if (inner->second % divisor == 0)
        return floorMod(inner->first, divisor);
  Value numerator = compose(rest);
  return numerator ? builder.get(OpCode::FloorMod,
                                 {numerator, constant(divisor)})
                   : Value();
}

Value IndexMath::floorDiv(Value a, int64_t divisor) {
  if (!a || divisor == 1)
    return a;
  if (divisor > intMax) // an index is less
    return bounds(a).min >= 0 ? constant(0) : Value();
  auto [quotient, rest] = split(decompose(a), divisor);
  return add(compose(quotient), atomDiv(rest, divisor));
}

Value IndexMath::floorMod(Value a, int64_t divisor) {
  if (!a)
    return {};
  if (divisor == 1)
    return constant(0);
  if (divisor > intMax)
    return bounds(a).min >= 0 ? a : Value();
  return atomMod(split(decompose(a), divisor).second, divisor);
}

Value IndexMath::lessThan(Value a, int64_t limit) {
  Bounds::Interval interval = bounds(a);
  if (interval.max < limit)
    return builder.boolean(true);
  if (interval.min >= limit)
    return builder.boolean(false);
  // g*b + c < limit  is  b < (limit - c) / g, rounded up
  Sum sum = decompose(a);
  int64_t g = getCommonFactor(sum.terms, 0);
  for (Term &term : sum.terms)
    term.factor /= g;
  limit = -divideDown(sum.constant - limit, g);
  sum.constant = 0;
  return builder.get(OpCode::CmpLt, {compose(sum), constant(limit)});
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

Value IndexMath::ravel(llvm::ArrayRef<Value> index,
                       llvm::ArrayRef<int64_t> shape) {
  Value offset = constant(0);
  int64_t stride = 1;
  for (size_t axis = shape.size(); axis-- > 0;) {
    // An axis of size 1 has index 0, whatever its stride.
    if (shape[axis] == 1)
      continue;
    offset = add(offset, mul(index[axis], stride));
    if (!offset || llvm::MulOverflow(stride, shape[axis], stride))
      return {};
  }
  return offset;
}

/// One group: both shapes have the same number of elements and no axis of size 1.
/// Every stride of either shape is a boundary; when they form a chain of
/// divisors, the pieces between them are axes that both shapes are made of.
bool IndexMath::reshapeGroup(llvm::ArrayRef<Value> index,
                             llvm::ArrayRef<int64_t> shape,
                             llvm::ArrayRef<int64_t> source,
                             llvm::MutableArrayRef<Value> result) {
  auto getStrides = [](llvm::ArrayRef<int64_t> sizes) {
    llvm::SmallVector<int64_t> strides(sizes.size() + 1, 1);
    for (size_t i = sizes.size(); i-- > 0;)
      strides[i] = strides[i + 1] * sizes[i];
    return strides; // strides[i+1] is the stride of axis i, strides[0] the count
  };
  llvm::SmallVector<int64_t> from = getStrides(shape), to = getStrides(source);
  llvm::SmallVector<int64_t> cuts(from);
  llvm::append_range(cuts, to);
  llvm::sort(cuts);
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  bool refines = true;
  for (size_t i = 0; i + 1 < cuts.size(); ++i)
    refines &= cuts[i + 1] % cuts[i] == 0;
  if (!refines) {
    Value offset = ravel(index, shape);
    for (size_t axis = 0; axis < source.size(); ++axis) {
      Value digit = floorDiv(offset, to[axis + 1]);
      result[axis] = axis == 0 ? digit : floorMod(digit, source[axis]);
      if (!result[axis])
        return false;
    }
    return true;
  }
  for (Value &digit : result)
    digit = constant(0);
  size_t axis = shape.size() - 1, target = source.size() - 1;
  for (size_t i = 0; i + 1 < cuts.size(); ++i) {
    while (cuts[i] >= from[axis])
      --axis;
    while (cuts[i] >= to[target])
      --target;
    int64_t below = cuts[i] / from[axis + 1];
    Value piece = floorDiv(index[axis], below);
    if (cuts[i + 1] != from[axis])
      piece = floorMod(piece, cuts[i + 1] / cuts[i]);
    result[target] =
        add(result[target], mul(piece, cuts[i] / to[target + 1]));
    if (!result[target])
      return false;
  }
  return true;
}

llvm::SmallVector<Value> IndexMath::reshape(llvm::ArrayRef<Value> index,
                                            llvm::ArrayRef<int64_t> shape,
                                            llvm::ArrayRef<int64_t> source) {
  llvm::SmallVector<Value> result(source.size(), constant(0));
  // Axes of size 1 are index 0 and no part of any group.
  llvm::SmallVector<size_t> axes, sourceAxes;
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] != 1)
      axes.push_back(i);
  for (size_t i = 0; i < source.size(); ++i)
    if (source[i] != 1)
      sourceAxes.push_back(i);
  // From the right, the shortest runs of axes with equal products.
  while (!axes.empty()) {
    llvm::SmallVector<int64_t> groupShape, groupSource;
    llvm::SmallVector<Value> groupIndex;
    llvm::SmallVector<size_t> places;
    // The products may pass 64 bits on the way: compare in 128.
    __int128 left = 1, right = 1;
    do {
      if (left <= right) {
        size_t axis = axes.pop_back_val();
        groupShape.insert(groupShape.begin(), shape[axis]);
        groupIndex.insert(groupIndex.begin(), index[axis]);
        left *= shape[axis];
      } else {
        size_t axis = sourceAxes.pop_back_val();
        groupSource.insert(groupSource.begin(), source[axis]);
        places.insert(places.begin(), axis);
        right *= source[axis];
      }
    } while (left != right);
    llvm::SmallVector<Value> digits(places.size());
    if (!reshapeGroup(groupIndex, groupShape, groupSource, digits))
      return {};
    for (auto [place, digit] : llvm::zip(places, digits))
      result[place] = digit;
  }
  return result;
}

llvm::SmallVector<Value> IndexMath::getRanges(llvm::ArrayRef<Value> index) {
  llvm::SmallVector<Value> ranges;
  llvm::SmallVector<Value> stack(index);
  llvm::DenseSet<Value> seen;
  while (!stack.empty()) {
    Value value = stack.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!seen.insert(value).second)
      continue;
    if (isa<RangeOp>(op))
      ranges.push_back(value);
    else if (isAlu(*::uop::getOpCode(op)))
      llvm::append_range(stack, op->getOperands());
  }
  llvm::sort(ranges, [](Value a, Value b) {
    return a.getDefiningOp<RangeOp>().getIdx() <
           b.getDefiningOp<RangeOp>().getIdx();
  });
  return ranges;
}
