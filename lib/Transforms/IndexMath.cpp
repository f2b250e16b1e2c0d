//===- IndexMath.cpp - integer sums in canonical form ---------------------===//
//
// Taking sums apart, putting them together, and the order of their terms.
//
//===----------------------------------------------------------------------===//

#include "IndexMath.h"
#include "Uop/Dialect/Scalar.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace uop;

static constexpr int64_t intMin = -2147483648LL, intMax = 2147483647LL;
/// What takes a sum apart only in order to look at it stops here, and the
/// joining of quotients with remainders does: they look at pairs of terms.
static constexpr size_t maxSmallSum = 64;

IndexMath::IndexMath(UniquingBuilder &builder)
    : getNode([&builder](OpCode code, ValueRange sources, const Arg &arg) {
        return builder.get(code, sources, arg);
      }),
      given(false), knownBounds(ownBounds),
      dialect(builder.getContext()->getLoadedDialect<UopDialect>()),
      i32(getScalarType(builder.getContext(), DType::I32)) {}

IndexMath::IndexMath(MLIRContext *context, GetFn get, Bounds &bounds,
                     SharedFn isShared)
    : getNode(std::move(get)), isShared(std::move(isShared)), given(true),
      knownBounds(bounds), dialect(context->getLoadedDialect<UopDialect>()),
      i32(getScalarType(context, DType::I32)) {}

/// The OpT over (x, constant), if `value` is one: what a program divides by
/// itself may be anything.
template <typename OpT>
static std::optional<std::pair<Value, int64_t>> matchByConstant(Value value) {
  auto op = dyn_cast_or_null<OpT>(getDefiningOp(value));
  if (!op)
    return std::nullopt;
  auto constant = IndexMath::getConstant(op->getOperand(1));
  if (constant && *constant != 0)
    return std::pair(op->getOperand(0), *constant);
  return std::nullopt;
}

std::optional<int64_t> IndexMath::getConstant(Value value) {
  if (auto op = dyn_cast_or_null<ConstOp>(getDefiningOp(value)))
    return static_cast<int32_t>(getWord(op.getProperties().value));
  return std::nullopt;
}

Value IndexMath::constant(int64_t value) {
  if (value < intMin || value > intMax)
    return {};
  return get(OpCode::Const, {}, {dialect->getI32Attr(value), {}, 0});
}

//===----------------------------------------------------------------------===//
// Taking sums apart
//===----------------------------------------------------------------------===//

static int64_t wrap(int64_t value) { return static_cast<int32_t>(value); }

bool IndexMath::flatten(Value root, Sum &sum, size_t maxTerms,
                        bool stopAtShared, Gathered *gathered) {
  llvm::SmallVector<Sum::Term, 16> stack{{root, 1}};
  // A large sum finds its terms by a table.
  llvm::DenseMap<Value, size_t> places;
  size_t sumsTaken = 0, productsTaken = 0;
  while (!stack.empty()) {
    auto [value, factor] = stack.pop_back_val();
    Operation *op = getDefiningOp(value);
    if (auto known = getConstant(value)) {
      sum.constant = wrap(sum.constant + *known * factor);
      continue;
    }
    bool isSum =
        isa<AddOp>(op) && isI32(op->getOperand(0)) && isI32(op->getOperand(1));
    std::optional<int64_t> scale;
    unsigned scaled = 0;
    if (isa<MulOp>(op) && !(scale = getConstant(op->getOperand(1))) &&
        (scale = getConstant(op->getOperand(0))))
      scaled = 1;
    if ((isSum || scale) && value != root && stopAtShared && isShared(value)) {
      if (gathered)
        gathered->shared.push_back(value);
    } else if (isSum) {
      if (++sumsTaken > maxTerms)
        return false;
      stack.push_back({op->getOperand(1), factor});
      stack.push_back({op->getOperand(0), factor});
      continue;
    } else if (scale && isI32(op->getOperand(scaled))) {
      stack.push_back({op->getOperand(scaled), wrap(factor * *scale)});
      ++productsTaken;
      continue;
    }
    if (sum.terms.size() < 16) {
      addTerm(sum, value, factor);
      continue;
    }
    // Zero factors stay until the end: places must not move.
    if (places.empty())
      for (auto [i, term] : llvm::enumerate(sum.terms))
        places[term.atom] = i;
    auto [it, isNew] = places.try_emplace(value, sum.terms.size());
    if (isNew)
      sum.terms.push_back({value, factor});
    else
      sum.terms[it->second].factor += factor;
  }
  wrapSum(sum);
  if (gathered)
    gathered->taken = sumsTaken + productsTaken;
  return true;
}

Sum IndexMath::decompose(Value value) {
  if (auto it = sums.find(value); it != sums.end())
    return it->second;
  Sum sum;
  if (given && flatten(value, sum, maxSmallSum, false))
    return sum;
  sum = {};
  if (auto known = getConstant(value))
    sum.constant = *known;
  else
    sum.terms.push_back({value, 1});
  return sum;
}

Sum IndexMath::decomposeExact(Value value) {
  Sum sum = decompose(value);
  if (!given || fits(sum))
    return sum;
  sum = {};
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
  for (const Sum::Term &term : sum.terms) {
    Bounds::Interval atom = knownBounds.get(term.atom);
    int64_t low, high;
    if (llvm::MulOverflow(atom.min, term.factor, low))
      low = (atom.min > 0) == (term.factor > 0) ? far : -far;
    if (llvm::MulOverflow(atom.max, term.factor, high))
      high = (atom.max > 0) == (term.factor > 0) ? far : -far;
    if (low > high)
      std::swap(low, high);
    total.min = std::max(total.min + std::max(low, -far), -far);
    total.max = std::min(total.max + std::min(high, far), far);
  }
  return total;
}

bool IndexMath::fits(const Sum &sum) {
  Bounds::Interval interval = bounds(sum);
  return interval.min >= intMin && interval.max <= intMax;
}

void IndexMath::addTerm(Sum &sum, Value atom, int64_t factor) {
  for (Sum::Term &term : sum.terms)
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
  for (const Sum::Term &term : other.terms)
    addTerm(sum, term.atom, term.factor * factor);
  sum.constant += other.constant * factor;
}

void IndexMath::wrapSum(Sum &sum) {
  for (Sum::Term &term : sum.terms)
    term.factor = wrap(term.factor);
  llvm::erase_if(sum.terms, [](const Sum::Term &t) { return t.factor == 0; });
  sum.constant = wrap(sum.constant);
}

//===----------------------------------------------------------------------===//
// Putting sums together
//===----------------------------------------------------------------------===//

/// Whether `value` is e // c, in the form that nested divisions take.
bool IndexMath::isQuotient(Value value, Value e, int64_t c) {
  auto quotient = matchByConstant<FloorDivOp>(value);
  if (!quotient)
    return false;
  if (*quotient == std::pair(e, c))
    return true;
  auto inner = matchByConstant<FloorDivOp>(e);
  if (inner && c > 0 && inner->second > 0 && quotient->first == inner->first &&
      quotient->second == inner->second * c)
    return true;
  return false;
}

bool IndexMath::recombine(Sum &sum) {
  if ((given && sum.terms.size() > maxSmallSum) ||
      llvm::none_of(sum.terms, [](const Sum::Term &term) {
        return isa<FloorModOp>(getDefiningOp(term.atom));
      }))
    return false;
  for (const Sum::Term &mod : sum.terms) {
    auto remainder = matchByConstant<FloorModOp>(mod.atom);
    // A remainder by 1, which a program may have written, would pair with
    // itself.
    if (!remainder || std::abs(remainder->second) == 1 ||
        (!given && remainder->second < 0))
      continue;
    auto [e, c] = *remainder;
    int64_t factor = mod.factor;
    int64_t scaled = factor * c;
    for (const Sum::Term &other : sum.terms) {
      if (other.factor != scaled || other.atom == mod.atom)
        continue;
      Sum joined;
      auto outer = matchByConstant<FloorModOp>(other.atom);
      auto quotient = matchByConstant<FloorDivOp>(other.atom);
      if (isQuotient(other.atom, e, c)) {
        // f * (e % c) + f*c * (e // c)  is  f * e
        joined = decompose(e);
      } else if (given && quotient && quotient->second == c) {
        // e // c and (e + c*x) % c, where neither wraps
        Sum whole = decomposeExact(quotient->first), difference = whole;
        addScaled(difference, decomposeExact(e), -1);
        auto divides = [c = c](int64_t n) { return n % c == 0; };
        if (!divides(difference.constant) ||
            !llvm::all_of(difference.terms, [&](const Sum::Term &term) {
              return divides(term.factor);
            }))
          continue;
        joined = whole;
      } else if (outer && c > 0 && outer->second > 0 &&
                 isQuotient(outer->first, e, c)) {
        // f * (e % c) + f*c * (e // c % b)  is  f * (e % (c*b))
        Sum number;
        if (c * outer->second > intMax ||
            !moduloInto(decomposeExact(e), c * outer->second, 1, number))
          continue;
        joined = number;
      } else {
        continue;
      }
      Value modAtom = mod.atom, otherAtom = other.atom;
      addTerm(sum, modAtom, -factor);
      addTerm(sum, otherAtom, -scaled);
      addScaled(sum, joined, factor);
      return true;
    }
  }
  return joinDigits(sum);
}

/// k * (m % b) + r  is  (k*m + r) % (k*b)  where 0 <= r < k. Worth it where r
/// disappears in k*m, as the low digits of one number do in its high ones.
bool IndexMath::joinDigits(Sum &sum) {
  for (const Sum::Term &high : sum.terms) {
    auto remainder = matchByConstant<FloorModOp>(high.atom);
    if (!remainder || remainder->second <= 0 || high.factor <= 1)
      continue;
    auto [m, b] = *remainder;
    int64_t factor = high.factor;
    Sum low;
    for (const Sum::Term &term : sum.terms)
      if (std::abs(term.factor) < factor)
        low.terms.push_back(term);
    Bounds::Interval interval = bounds(low);
    if (low.terms.empty() || interval.min < 0 || interval.max >= factor ||
        factor * b > intMax)
      continue;
    Sum inner = decomposeExact(m), number = low, joined;
    addScaled(number, inner, factor);
    if (!fits(number))
      continue;
    while (recombine(number))
      ;
    if (number.terms.size() > inner.terms.size() || !fits(number) ||
        !moduloInto(number, factor * b, 1, joined))
      continue;
    Value highAtom = high.atom;
    addTerm(sum, highAtom, -factor);
    addScaled(sum, low, -1);
    addScaled(sum, joined, 1);
    return true;
  }
  return false;
}

void IndexMath::sortTerms(Sum &sum) {
  if (sum.terms.size() < 2) {
    if (!given && !sum.terms.empty())
      getOrder(sum.terms[0].atom);
    return;
  }
  // Compared in this order, the stride from above.
  struct Key {
    int64_t stride;
    uint64_t factorAndLoop;
    uint64_t tie;
    int64_t constant;
    Sum::Term term;
  };
  llvm::SmallVector<Key, 8> keys;
  orders.reserve(orders.size() + 2 * sum.terms.size());
  for (const Sum::Term &term : sum.terms) {
    // A product that is an atom because it is shared stands where it would
    // stand otherwise.
    auto product =
        given ? matchByConstant<MulOp>(term.atom) : std::nullopt;
    int64_t stride =
        std::abs(product ? term.factor * product->second : term.factor);
    Order order = getOrder(product ? product->first : term.atom);
    // Both have 32 bits. Factors come from above, of stride 1 they mix.
    uint64_t factor = stride == 1 ? 0 : intMax - wrap(term.factor);
    keys.push_back({stride, factor << 32 | uint64_t(order.loop), order.tie,
                    order.constant, term});
  }
  llvm::sort(keys, [](const Key &a, const Key &b) {
    if (a.stride != b.stride)
      return a.stride > b.stride;
    if (a.factorAndLoop != b.factorAndLoop)
      return a.factorAndLoop < b.factorAndLoop;
    return std::tie(a.tie, a.constant) < std::tie(b.tie, b.constant);
  });
  for (auto [key, term] : llvm::zip(keys, sum.terms))
    term = key.term;
}

void IndexMath::mark(Value value) {
  if (canonical.insert(value).second && gathering)
    gathering->marked.push_back(value);
}

/// The terms of a sum in order; of equal factors, in a given graph, one
/// product.
Value IndexMath::composeTerms(Sum &sum) {
  sortTerms(sum);
  // Of atoms that are sums themselves, it is not canonical, unless `gather` has
  // decided so.
  bool flat = given &&
              (gathering || llvm::none_of(sum.terms, [](const Sum::Term &term) {
                 return isa<AddOp>(getDefiningOp(term.atom)) ||
                        matchByConstant<MulOp>(term.atom);
               }));
  bool isExact = true;
  auto make = [&](OpCode code, Value a, Value b) {
    Value value = get(code, {a, b});
    if (flat)
      mark(value);
    // Rules may have replaced it by a node that stands elsewhere in a sum.
    Operation *op = getDefiningOp(value);
    isExact &= ::uop::getOpCode(op) == code && op->getOperand(0) == a &&
               op->getOperand(1) == b;
    return value;
  };
  Value value;
  // Terms of factor -1 stand among those of factor 1, by order.
  for (size_t i = 0; i < sum.terms.size();) {
    int64_t factor = sum.terms[i].factor;
    size_t end = i + 1;
    // A multiple among them would stand elsewhere in the inner sum.
    auto isMultiple = [&](size_t k) {
      return matchByConstant<MulOp>(sum.terms[k].atom).has_value();
    };
    while (given && factor != 1 && end < sum.terms.size() &&
           sum.terms[end].factor == factor && !isMultiple(i) &&
           !isMultiple(end))
      ++end;
    Value scaled = sum.terms[i].atom;
    for (size_t k = i + 1; k < end; ++k)
      scaled = make(OpCode::Add, scaled, sum.terms[k].atom);
    if (factor != 1) {
      Value constantFactor = constant(factor);
      if (!constantFactor)
        return {};
      scaled = make(OpCode::Mul, scaled, constantFactor);
    }
    value = value ? make(OpCode::Add, value, scaled) : scaled;
    i = end;
  }
  if (!isExact)
    canonical.erase(value);
  return value;
}

Value IndexMath::compose(Sum sum, bool mayWrap) {
  if (mayWrap)
    wrapSum(sum);
  while (recombine(sum))
    ;
  if (!mayWrap && !fits(sum))
    return {};
  if (mayWrap)
    wrapSum(sum);
  if (sum.terms.empty())
    return constant(sum.constant);
  Value value = composeTerms(sum);
  if (!value)
    return {};
  if (sum.constant != 0) {
    Value last = constant(sum.constant);
    if (!last)
      return {};
    bool known = isCanonical(value) || sum.terms.size() == 1;
    value = get(OpCode::Add, {value, last});
    if (given && known)
      mark(value);
  }
  if (!given &&
      (sum.terms.size() != 1 || sum.terms[0].factor != 1 || sum.constant != 0))
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

IndexMath::Gathered IndexMath::gather(Value value, size_t maxTerms, bool deep) {
  Sum sum;
  Gathered result;
  if (!flatten(value, sum, maxTerms, !deep, &result))
    return result;
  gathering = &result;
  made = 0;
  result.value = compose(std::move(sum), /*mayWrap=*/true);
  result.made = made;
  gathering = nullptr;
  if (result.value == value)
    canonical.insert(value);
  return result;
}

//===----------------------------------------------------------------------===//
// The order of terms
//===----------------------------------------------------------------------===//

/// The first loop of an atom: its own, or that of the sum it divides, whose
/// atoms are known by now.
IndexMath::Order IndexMath::getOrder(Value atom) {
  if (auto it = orders.find(atom); it != orders.end())
    return it->second;
  if (given)
    return getStructure(atom);
  int64_t loop = intMax + 1;
  Operation *op = getDefiningOp(atom);
  if (auto range = dyn_cast<RangeOp>(op))
    loop = range.getIdx();
  else if (isa<FloorDivOp, FloorModOp>(op))
    for (const Sum::Term &term : decompose(op->getOperand(0)).terms)
      if (auto it = orders.find(term.atom); it != orders.end())
        loop = std::min(loop, it->second.loop);
  uint64_t place = orders.size();
  return orders[atom] = {loop, place};
}

/// A hash of what a node holds besides its sources, the same in every run.
static uint64_t hashArg(Operation *op, OpCode code) {
  Arg arg = getArg(code, op);
  uint64_t hash = static_cast<uint64_t>(code) * 0x9e3779b97f4a7c15ull +
                  static_cast<uint64_t>(arg.number) * 0xff51afd7ed558ccdull +
                  static_cast<uint64_t>(arg.kind) + 1;
  auto mix = [&](uint64_t v) {
    hash = (hash ^ (hash >> 29) ^ v) * 0xbf58476d1ce4e5b9ull;
  };
  if (auto number = dyn_cast_or_null<IntegerAttr>(arg.attr))
    mix(getWord(number));
  else if (auto number = dyn_cast_or_null<FloatAttr>(arg.attr))
    mix(getWord(number));
  else if (auto array = dyn_cast_or_null<DenseI64ArrayAttr>(arg.attr))
    for (int64_t v : array.asArrayRef())
      mix(v);
  else if (auto text = dyn_cast_or_null<StringAttr>(arg.attr))
    for (char c : text.getValue())
      mix(c);
  else if (auto kind = dyn_cast_or_null<ReduceKindAttr>(arg.attr))
    mix(static_cast<uint64_t>(kind.getValue()));
  if (arg.type) {
    if (auto dtype = getDTypeOrNone(arg.type))
      mix(static_cast<uint64_t>(*dtype));
    for (int64_t size : getShape(arg.type))
      mix(size);
  }
  return hash;
}

IndexMath::Order IndexMath::getStructure(Value atom) {
  llvm::SmallVector<Value, 8> stack{atom};
  while (true) {
    Value value = stack.back();
    Operation *op = getDefiningOp(value);
    bool ready = true;
    for (Value source : op->getOperands())
      if (!orders.contains(source)) {
        stack.push_back(source);
        ready = false;
      }
    if (!ready)
      continue;
    OpCode code = *::uop::getOpCode(op);
    Order order{intMax + 1, hashArg(op, code)};
    if (auto range = dyn_cast<RangeOp>(op))
      order.loop = range.getIdx();
    auto addend = isa<AddOp>(op) && isI32(value)
                      ? getConstant(op->getOperand(1))
                      : std::nullopt;
    if (addend) {
      order = orders.find(op->getOperand(0))->second;
      order.constant = wrap(order.constant + *addend);
    }
    for (Value source : op->getOperands().drop_back(addend ? 2 : 0)) {
      Order of = orders.find(source)->second;
      if (isAlu(code))
        order.loop = std::min(order.loop, of.loop);
      order.tie =
          (order.tie ^ (order.tie >> 31)) * 0x94d049bb133111ebull + of.tie;
    }
    orders[value] = order;
    stack.pop_back();
    // What two nodes wait for is on the stack twice.
    while (!stack.empty() && orders.contains(stack.back()))
      stack.pop_back();
    if (stack.empty())
      return order;
  }
}

bool IndexMath::inOrder(Value a, Value b) {
  if (a == b || isa<ConstOp>(getDefiningOp(b)))
    return true;
  if (isa<ConstOp>(getDefiningOp(a)))
    return false;
  return !(getOrder(b) < getOrder(a));
}
