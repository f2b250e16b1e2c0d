//===- IndexDivision.cpp - quotients, remainders and comparisons ----------===//
//
// What becomes of a sum that is divided by a constant or compared: parts that
// the divisor divides leave, bounds decide the rest, common factors cancel.
//
//===----------------------------------------------------------------------===//

#include "IndexMath.h"
#include <numeric>

using namespace mlir;
using namespace uop;

static constexpr int64_t intMin = -2147483648LL, intMax = 2147483647LL;
/// How deep quotients of remainders of quotients are followed.
static constexpr int maxDepth = 16;

/// The greatest common divisor of the factors and `divisor`.
static int64_t getCommonFactor(const Sum &sum, int64_t divisor) {
  for (const Sum::Term &term : sum.terms)
    divisor = std::gcd(divisor, term.factor);
  return divisor;
}

/// (x, constant) if `value` is x // constant or x % constant.
template <typename OpT>
static std::optional<std::pair<Value, int64_t>> matchAtom(Value value) {
  auto op = dyn_cast_or_null<OpT>(getDefiningOp(value));
  if (!op)
    return std::nullopt;
  auto constant = IndexMath::getConstant(op.getRhs());
  if (!constant || *constant == 0)
    return std::nullopt;
  return std::pair(op.getLhs(), *constant);
}

/// The only term, of factor 1, if there is no other.
static const Sum::Term *getSingle(const Sum &sum) {
  return sum.terms.size() == 1 && sum.terms[0].factor == 1 ? &sum.terms[0]
                                                           : nullptr;
}

//===----------------------------------------------------------------------===//
// By constants
//===----------------------------------------------------------------------===//

/// r such that (g*a + c) // (g*d)  is  (a + r) // d: c // g, for a negative
/// divisor rounded up.
static int64_t scaleDown(int64_t c, int64_t g, int64_t divisor) {
  return divisor > 0 ? divideDown(c, g) : -divideDown(-c, g);
}

std::optional<Sum> IndexMath::findResidues(const Sum &sum, int64_t divisor) {
  if (!given || sum.terms.size() > 8)
    return std::nullopt;
  int64_t size = std::abs(divisor);
  if (llvm::all_of(sum.terms, [&](const Sum::Term &t) {
        return std::abs(t.factor) * 2 <= size && t.factor > 0;
      }))
    return std::nullopt;
  // Residues from 0 up, from 0 down, nearest 0.
  for (int64_t first : {int64_t(0), 1 - size, 1 - (size + 1) / 2}) {
    Sum candidate = sum;
    for (Sum::Term &term : candidate.terms)
      term.factor -= divideDown(term.factor - first, size) * size;
    Bounds::Interval interval = bounds(candidate);
    if (divideDown(interval.min, divisor) == divideDown(interval.max, divisor))
      return candidate;
  }
  return std::nullopt;
}

/// Splits sum = g * high + low, 0 <= low < g, for a g that the divisor is a
/// multiple of; 0 if there is none. Low digits play no part in the quotient.
int64_t IndexMath::splitDigits(const Sum &sum, int64_t divisor, Sum &high,
                               Sum &low) {
  if (!given || divisor < 0 || sum.terms.size() > 16)
    return 0;
  for (const Sum::Term &term : sum.terms) {
    int64_t g = std::gcd(term.factor, divisor);
    if (g == 1 || g == divisor)
      continue;
    high = low = {};
    for (const Sum::Term &t : sum.terms)
      if (t.factor % g == 0)
        high.terms.push_back({t.atom, t.factor / g});
      else
        low.terms.push_back(t);
    high.constant = divideDown(sum.constant, g);
    low.constant = sum.constant - high.constant * g;
    Bounds::Interval interval = bounds(low);
    if (interval.min >= 0 && interval.max < g && fits(high))
      return g;
  }
  return 0;
}

bool IndexMath::divideInto(Sum sum, int64_t divisor, Sum &total, int depth) {
  if (divisor == -1 && bounds(sum).min == intMin)
    return false;
  while (true) {
    // What the divisor divides leaves.
    Sum rest;
    for (const Sum::Term &term : sum.terms)
      if (term.factor % divisor == 0)
        addTerm(total, term.atom, term.factor / divisor);
      else
        rest.terms.push_back(term);
    int64_t whole =
        given ? sum.constant / divisor : divideDown(sum.constant, divisor);
    total.constant += whole;
    rest.constant = sum.constant - whole * divisor;
    sum = std::move(rest);

    Bounds::Interval interval = bounds(sum);
    int64_t low = divideDown(interval.min, divisor);
    if (low == divideDown(interval.max, divisor)) {
      total.constant += low;
      return true;
    }
    if (auto residues = findResidues(sum, divisor)) {
      for (auto [term, residue] : llvm::zip(sum.terms, residues->terms))
        addTerm(total, term.atom, (term.factor - residue.factor) / divisor);
      total.constant += divideDown(bounds(*residues).min, divisor);
      return true;
    }
    // (g*a + r) // (g*c)  is  (a + r//g) // c
    if (int64_t g = getCommonFactor(sum, divisor); g > 1) {
      for (Sum::Term &term : sum.terms)
        term.factor /= g;
      sum.constant = scaleDown(sum.constant, g, divisor);
      divisor /= g;
      continue;
    }
    Sum upper, lower;
    if (int64_t g = splitDigits(sum, divisor, upper, lower)) {
      sum = std::move(upper);
      divisor /= g;
      continue;
    }
    const Sum::Term *single = getSingle(sum);
    if (!single || divisor < 0)
      break;
    // (e // a + k) // c  is  (e + k*a) // (a*c)
    if (auto inner = matchAtom<FloorDivOp>(single->atom)) {
      auto [e, a] = *inner;
      bool allowed = given ? a != -1 || knownBounds.vmin(e) > intMin
                           : a > 0 && sum.constant == 0;
      if (allowed && std::abs(a * divisor) <= intMax) {
        Sum numerator = decomposeExact(e);
        numerator.constant += sum.constant * a;
        if (fits(numerator)) {
          sum = std::move(numerator);
          divisor *= a;
          continue;
        }
      }
    }
    // (e % (c*d)) // c  is  (e // c) % d
    if (auto inner = matchAtom<FloorModOp>(single->atom);
        given && inner && inner->second > 0 && inner->second % divisor == 0 &&
        sum.constant == 0 && depth < maxDepth) {
      Sum quotient;
      if (divideInto(decomposeExact(inner->first), divisor, quotient,
                     depth + 1) &&
          fits(quotient))
        return moduloInto(quotient, inner->second / divisor, 1, total,
                          depth + 1);
    }
    break;
  }
  Value numerator = compose(std::move(sum)),
        constantDivisor = constant(divisor);
  if (!numerator || !constantDivisor)
    return false;
  addTerm(total, get(OpCode::FloorDiv, {numerator, constantDivisor}), 1);
  return true;
}

/// f * (e % m)  is  f * e  modulo what divides f*m.
bool IndexMath::replaceRemainders(Sum &sum, int64_t divisor) {
  for (const Sum::Term &term : sum.terms) {
    auto inner = matchAtom<FloorModOp>(term.atom);
    if (!inner || (term.factor * inner->second) % divisor != 0)
      continue;
    Sum replaced = sum;
    addTerm(replaced, term.atom, -term.factor);
    addScaled(replaced, decomposeExact(inner->first), term.factor);
    if (!fits(replaced))
      continue;
    sum = replaced;
    return true;
  }
  return false;
}

bool IndexMath::moduloInto(Sum sum, int64_t divisor, int64_t scale, Sum &total,
                           int depth) {
  if (divisor == -1 && bounds(sum).min == intMin)
    return false;
  for (int step = 0;; ++step) {
    llvm::erase_if(sum.terms, [&](Sum::Term &term) {
      if (given)
        term.factor %= divisor;
      return term.factor % divisor == 0;
    });
    int64_t whole =
        given ? sum.constant / divisor : divideDown(sum.constant, divisor);
    sum.constant -= whole * divisor;

    Bounds::Interval interval = bounds(sum);
    int64_t low = divideDown(interval.min, divisor);
    if (low == divideDown(interval.max, divisor)) {
      sum.constant -= low * divisor;
      addScaled(total, sum, scale);
      return true;
    }
    if (auto residues = findResidues(sum, divisor)) {
      residues->constant -=
          divideDown(bounds(*residues).min, divisor) * divisor;
      addScaled(total, *residues, scale);
      return true;
    }
    // (g*a + r) % (g*c)  is  g * ((a + r//g) % c) + r % g
    if (int64_t g = getCommonFactor(sum, divisor); g > 1) {
      int64_t over = scaleDown(sum.constant, g, divisor);
      total.constant += scale * (sum.constant - over * g);
      for (Sum::Term &term : sum.terms)
        term.factor /= g;
      sum.constant = over;
      divisor /= g;
      scale *= g;
      continue;
    }
    Sum upper, lower;
    if (int64_t g = splitDigits(sum, divisor, upper, lower)) {
      addScaled(total, lower, scale);
      sum = std::move(upper);
      divisor /= g;
      scale *= g;
      continue;
    }
    // (e % m) % c  is  e % c  where c divides m
    if (given) {
      if (step < maxDepth && replaceRemainders(sum, divisor))
        continue;
      break;
    }
    const Sum::Term *single = getSingle(sum);
    if (!single || sum.constant != 0)
      break;
    auto inner = matchAtom<FloorModOp>(single->atom);
    if (!inner || inner->second <= 0 || inner->second % divisor != 0)
      break;
    sum = decompose(inner->first);
  }
  Value numerator = compose(std::move(sum)),
        constantDivisor = constant(divisor);
  if (!numerator || !constantDivisor)
    return false;
  addTerm(total, get(OpCode::FloorMod, {numerator, constantDivisor}), scale);
  return true;
}

Value IndexMath::floorDiv(Value a, int64_t divisor) {
  if (!a || divisor == 1)
    return a;
  if (divisor > intMax) // an index is less
    return bounds(a).min >= 0 ? constant(0) : Value();
  Sum total;
  return divideInto(decompose(a), divisor, total) ? compose(std::move(total))
                                                  : Value();
}

Value IndexMath::floorMod(Value a, int64_t divisor) {
  if (!a)
    return {};
  if (divisor == 1)
    return constant(0);
  if (divisor > intMax)
    return bounds(a).min >= 0 ? a : Value();
  Sum total;
  return moduloInto(decompose(a), divisor, 1, total) ? compose(std::move(total))
                                                     : Value();
}

Value IndexMath::divide(Value a, Value b) {
  auto divisor = getConstant(b);
  if (!divisor)
    return divideBySymbol(a, b, /*remainder=*/false);
  Sum total;
  if (*divisor == 0 || !divideInto(decomposeExact(a), *divisor, total))
    return {};
  return compose(std::move(total), /*mayWrap=*/true);
}

Value IndexMath::modulo(Value a, Value b) {
  auto divisor = getConstant(b);
  if (!divisor)
    return divideBySymbol(a, b, /*remainder=*/true);
  Sum total;
  if (*divisor == 0 || !moduloInto(decomposeExact(a), *divisor, 1, total))
    return {};
  return compose(std::move(total), /*mayWrap=*/true);
}

//===----------------------------------------------------------------------===//
// By symbols
//===----------------------------------------------------------------------===//

Value IndexMath::divideBySymbol(Value a, Value b, bool remainder) {
  Bounds::Interval divisor = knownBounds.get(b);
  if (divisor.min <= 0 && divisor.max >= 0)
    return {};
  Sum sum = decomposeExact(a);
  Bounds::Interval interval = bounds(sum);
  // A quotient is the same for the whole box where it is at its corners.
  if (interval.min == intMin && divisor.max == -1)
    return {};
  int64_t corners[] = {divideDown(interval.min, divisor.min),
                       divideDown(interval.min, divisor.max),
                       divideDown(interval.max, divisor.min),
                       divideDown(interval.max, divisor.max)};
  if (llvm::all_equal(corners)) {
    Sum total;
    if (!remainder) {
      total.constant = corners[0];
    } else {
      if (std::abs(corners[0]) > 1)
        return {};
      total = sum;
      addScaled(total, decompose(b), -corners[0]);
    }
    return compose(std::move(total), /*mayWrap=*/true);
  }
  // (q*b + r) // b  is  q + r // b
  Sum quotient, rest;
  rest.constant = sum.constant;
  for (const Sum::Term &term : sum.terms) {
    auto product = dyn_cast_or_null<MulOp>(getDefiningOp(term.atom));
    if (term.atom == b)
      quotient.constant += term.factor;
    else if (product && product.getLhs() == b)
      addTerm(quotient, product.getRhs(), term.factor);
    else if (product && product.getRhs() == b)
      addTerm(quotient, product.getLhs(), term.factor);
    else
      rest.terms.push_back(term);
  }
  if (rest.terms.size() == sum.terms.size() || !fits(rest) || !fits(quotient))
    return {};
  // The product of quotient and divisor is what left the sum; none of it wraps.
  for (const Sum::Term &term : quotient.terms) {
    Bounds::Interval x = knownBounds.get(term.atom);
    for (int64_t u : {x.min, x.max})
      for (int64_t v : {divisor.min, divisor.max})
        if (u * v < intMin || u * v > intMax)
          return {};
  }
  Sum total;
  if (!remainder) {
    total.constant = quotient.constant;
    for (const Sum::Term &term : quotient.terms)
      addScaled(total, decompose(term.atom), term.factor);
  }
  Value numerator = compose(rest);
  if (!numerator)
    return {};
  if (!rest.terms.empty() || rest.constant != 0)
    addTerm(
        total,
        get(remainder ? OpCode::FloorMod : OpCode::FloorDiv, {numerator, b}),
        1);
  return compose(std::move(total), /*mayWrap=*/true);
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

Value IndexMath::lessThan(Value a, int64_t limit) {
  Bounds::Interval interval = bounds(a);
  if (interval.max < limit || interval.min >= limit)
    return boolean(interval.max < limit);
  // g*b + c < limit  is  b < (limit - c) / g, rounded up
  Sum sum = decompose(a);
  int64_t g = getCommonFactor(sum, 0);
  for (Sum::Term &term : sum.terms)
    term.factor /= g;
  limit = -divideDown(sum.constant - limit, g);
  sum.constant = 0;
  return get(OpCode::CmpLt, {compose(sum), constant(limit)});
}

Value IndexMath::boolean(bool value) {
  return get(OpCode::Const, {},
             {BoolAttr::get(dialect->getContext(), value), {}, 0});
}

/// The terms of positive and of negative factor, these turned round.
static std::pair<Sum, Sum> splitSides(const Sum &sum) {
  Sum left, right;
  for (const Sum::Term &term : sum.terms)
    if (term.factor > 0)
      left.terms.push_back(term);
    else
      right.terms.push_back({term.atom, -term.factor});
  return {left, right};
}

/// The low digits of a sum decide nothing: g*a + r < k, 0 <= r < g, is a < k /
/// g where all r round the same way.
bool IndexMath::dropDigits(Sum &sum, int64_t &limit) {
  if (sum.terms.size() < 2 || sum.terms.size() > 16)
    return false;
  for (const Sum::Term &term : sum.terms) {
    int64_t g = std::abs(term.factor);
    Sum high, low;
    for (const Sum::Term &t : sum.terms)
      (t.factor % g == 0 ? high : low).terms.push_back(t);
    if (g == 1 || low.terms.empty())
      continue;
    Bounds::Interval interval = bounds(low);
    int64_t width = interval.max - interval.min;
    int64_t shifted = limit - interval.min;
    int64_t quotient = divideDown(shifted, g), rest = shifted - quotient * g;
    if (width >= g || (rest != 0 && rest <= width))
      continue;
    for (Sum::Term &t : high.terms)
      t.factor /= g;
    sum = high;
    limit = quotient + (rest != 0);
    return true;
  }
  return false;
}

std::optional<bool> IndexMath::isLess(Value a, Value b) {
  Sum sum = decomposeExact(a);
  addScaled(sum, decomposeExact(b), -1);
  Bounds::Interval interval = bounds(sum);
  if (interval.max < 0 || interval.min >= 0)
    return interval.max < 0;
  return std::nullopt;
}

Value IndexMath::less(Value a, Value b) {
  Sum sum = decomposeExact(a);
  addScaled(sum, decomposeExact(b), -1);
  for (int step = 0; step < maxDepth; ++step) {
    Bounds::Interval interval = bounds(sum);
    if (interval.max < 0 || interval.min >= 0)
      return boolean(interval.max < 0);
    // sum < limit without its constant; g*a < k  is  a < k / g, rounded up
    int64_t limit = -sum.constant;
    sum.constant = 0;
    bool changed = true;
    while (changed) {
      int64_t g = getCommonFactor(sum, 0);
      for (Sum::Term &term : sum.terms)
        term.factor /= g;
      limit = -divideDown(-limit, g);
      changed = dropDigits(sum, limit);
    }
    sum.constant = -limit;
    // e // c < k  is  e < k*c, and e // c > k  is  e > (k+1)*c - 1
    auto quotient = sum.terms.size() == 1
                        ? matchAtom<FloorDivOp>(sum.terms[0].atom)
                        : std::nullopt;
    if (!quotient ||
        (quotient->second == -1 && knownBounds.vmin(quotient->first) == intMin))
      break;
    auto [e, c] = *quotient;
    Sum next = decomposeExact(e);
    bool below = sum.terms[0].factor > 0;
    // q < k, or q >= 1-k, that is not q < 1-k
    int64_t edge = below ? limit : 1 - limit;
    // not below: e >= edge*c (c > 0) or e <= edge*c
    bool keep = below == (c > 0);
    Sum moved;
    addScaled(moved, next, keep ? 1 : -1);
    int64_t bound = edge * c;
    // e < b; -e < -b; -e < 1-b (from e >= b); e < b+1 (from e <= b)
    if (below)
      moved.constant -= c > 0 ? bound : -bound;
    else
      moved.constant -= c > 0 ? 1 - bound : bound + 1;
    sum = moved;
  }
  auto [left, right] = splitSides(sum);
  int64_t limit = -sum.constant;
  if (left.terms.empty())
    left.constant = -limit;
  else
    right.constant = limit;
  Value x = compose(std::move(left)), y = compose(std::move(right));
  return x && y ? get(OpCode::CmpLt, {x, y}) : Value();
}

Value IndexMath::notEqual(Value a, Value b) {
  Sum sum = decompose(a);
  addScaled(sum, decompose(b), -1);
  wrapSum(sum);
  if (sum.terms.empty())
    return boolean(sum.constant != 0);
  Bounds::Interval interval = bounds(sum);
  constexpr int64_t period = int64_t(1) << 32;
  // Zero modulo 2^32?
  if (divideDown(interval.min - 1, period) == divideDown(interval.max, period))
    return boolean(true);
  if (interval.min > -period && interval.max < period) {
    int64_t g = getCommonFactor(sum, 0);
    if (sum.constant % g != 0)
      return boolean(true);
    for (Sum::Term &term : sum.terms)
      term.factor /= g;
    sum.constant /= g;
  }
  // left != right + limit. The order of the sides does not hang on the limit,
  // nor on the terms of factor -2^31, which is its own negative.
  Sum left, right, either;
  for (const Sum::Term &term : sum.terms)
    if (term.factor == intMin)
      either.terms.push_back(term);
    else if (term.factor > 0)
      left.terms.push_back(term);
    else
      right.terms.push_back({term.atom, -term.factor});
  int64_t limit = -sum.constant;
  auto turn = [&] {
    std::swap(left, right);
    limit = -limit;
  };
  auto order = [&] {
    if (right.terms.empty())
      return;
    Value x = compose(left, /*mayWrap=*/true), y = compose(right, true);
    if (x && y && !inOrder(x, y))
      turn();
  };
  if (left.terms.empty() && !right.terms.empty())
    turn();
  order();
  if (!either.terms.empty()) {
    llvm::append_range(left.terms, either.terms);
    order();
  }
  right.constant = limit;
  Value x = compose(std::move(left), /*mayWrap=*/true);
  Value y = compose(std::move(right), /*mayWrap=*/true);
  return x && y ? get(OpCode::CmpNe, {x, y}) : Value();
}
