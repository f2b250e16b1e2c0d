//===- Guards.cpp - what a condition says of values -----------------------===//
//
// A worklist of facts: bools with their outcome, i32s with an interval.
//
//===----------------------------------------------------------------------===//

#include "Guards.h"
#include "Uop/Dialect/Scalar.h"

using namespace mlir;
using namespace uop;

namespace {

using Interval = Bounds::Interval;

std::optional<int64_t> getInteger(Value value) {
  auto constant = value.getDefiningOp<ConstOp>();
  if (!constant || isFloat(getDType(value.getType())))
    return std::nullopt;
  Word word = getWord(constant.getValue());
  return value.getType().isSignlessInteger(1) ? int64_t(word)
                                              : int64_t(int32_t(word));
}

int64_t floorDiv(int64_t a, int64_t b) {
  int64_t q = a / b;
  return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
}

class Assumptions {
public:
  Assumptions(Bounds &bounds, Bounds &plain) : bounds(bounds), plain(plain) {}

  void add(Value value, Interval interval) {
    if (isMemory(value.getType()))
      return;
    facts.push_back({value, interval});
  }
  void add(Value condition, bool outcome) {
    add(condition, Interval{outcome, outcome});
  }
  void run() {
    // Facts only go from values to their sources, through shared ones once for
    // each path: long chains of shared conditions are cut short.
    for (int left = 1000; left > 0 && !facts.empty(); --left) {
      auto [value, interval] = facts.pop_back_val();
      bounds.assume(value, interval);
      if (value.getType().isSignlessInteger(1))
        followBool(value, interval.min != 0);
      else if (value.getType().isSignlessInteger(32))
        followInteger(value, interval);
    }
  }

private:
  void followBool(Value condition, bool outcome);
  void followInteger(Value value, Interval interval);
  void addLess(Value a, Value b, int64_t distance) {
    // a + distance <= b
    add(a, {intMin, plain.vmax(b) - distance});
    add(b, {plain.vmin(a) + distance, intMax});
  }

  static constexpr int64_t intMin = -2147483648LL, intMax = 2147483647LL;
  Bounds &bounds, &plain;
  llvm::SmallVector<std::pair<Value, Interval>> facts;
};

} // namespace

void Assumptions::followBool(Value condition, bool outcome) {
  Operation *op = condition.getDefiningOp();
  if (!op || op->getNumOperands() < 2)
    return;
  Value a = op->getOperand(0), b = op->getOperand(1);
  bool ofBools = a.getType().isSignlessInteger(1);
  bool ofIntegers = a.getType().isSignlessInteger(32);
  if ((isa<MulOp>(op) && outcome) || (isa<AddOp>(op) && !outcome)) {
    add(a, outcome);
    add(b, outcome);
  } else if (isa<CmpLtOp>(op) && ofIntegers) {
    if (outcome)
      addLess(a, b, 1);
    else
      addLess(b, a, 0);
  } else if (isa<CmpNeOp>(op) && ofBools) {
    if (std::optional<int64_t> constant = getInteger(b))
      add(a, outcome != (*constant != 0));
    else if (std::optional<int64_t> constant = getInteger(a))
      add(b, outcome != (*constant != 0));
  } else if (isa<CmpNeOp>(op) && ofIntegers) {
    if (!outcome) {
      add(a, plain.get(b));
      add(b, plain.get(a));
      return;
    }
    for (auto [value, other] : {std::pair(a, b), std::pair(b, a)}) {
      Interval have = plain.get(value), not_ = plain.get(other);
      if (not_.min != not_.max)
        continue;
      if (have.min == not_.min)
        add(value, {have.min + 1, have.max});
      if (have.max == not_.min)
        add(value, {have.min, have.max - 1});
    }
  }
}

void Assumptions::followInteger(Value value, Interval interval) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumOperands() != 2)
    return;
  for (unsigned i : {0u, 1u}) {
    Value source = op->getOperand(i);
    std::optional<int64_t> constant = getInteger(op->getOperand(1 - i));
    if (!constant)
      continue;
    int64_t c = *constant;
    Interval have = plain.get(source);
    auto fits = [](int64_t a, int64_t b) {
      return std::min(a, b) >= intMin && std::max(a, b) <= intMax;
    };
    if (isa<AddOp>(op) && fits(have.min + c, have.max + c)) {
      add(source, {interval.min - c, interval.max - c});
    } else if (isa<MulOp>(op) && c != 0 && fits(have.min * c, have.max * c)) {
      if (c > 0)
        add(source, {-floorDiv(-interval.min, c), floorDiv(interval.max, c)});
      else
        add(source, {-floorDiv(-interval.max, c), floorDiv(interval.min, c)});
    } else if (isa<FloorDivOp>(op) && i == 0 && c > 0) {
      add(source, {interval.min * c, interval.max * c + c - 1});
    } else if (isa<MaxOp>(op)) {
      // max(x, c) <= m bounds x above; below only where c can't be the result.
      add(source,
          {interval.min > c ? interval.min : intMin, interval.max});
    }
  }
}

void uop::assumeOutcome(Bounds &bounds, Bounds &plain, Value condition,
                        bool outcome) {
  Assumptions assumptions(bounds, plain);
  assumptions.add(condition, outcome);
  assumptions.run();
}
