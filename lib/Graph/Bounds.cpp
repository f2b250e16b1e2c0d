//===- Bounds.cpp - smallest and largest value of a UOp -------------------===//
//
// A memoised walk that asks each op's InferIntRangeInterface once.
//
//===----------------------------------------------------------------------===//

#include "Uop/Graph/Bounds.h"

using namespace mlir;
using namespace uop;

static bool isTracked(Type type) {
  return type.isSignlessInteger(32) || type.isSignlessInteger(1);
}

static ConstantIntRanges toRange(Type type, Bounds::Interval interval) {
  unsigned width = type.getIntOrFloatBitWidth();
  if (width == 1)
    return ConstantIntRanges::fromUnsigned(llvm::APInt(1, interval.min),
                                           llvm::APInt(1, interval.max));
  return ConstantIntRanges::fromSigned(
      llvm::APInt(32, interval.min, /*isSigned=*/true),
      llvm::APInt(32, interval.max, /*isSigned=*/true));
}

static Bounds::Interval getWidest(Type type) {
  if (type.isSignlessInteger(1))
    return {0, 1};
  return {-2147483648LL, 2147483647LL};
}

static Bounds::Interval intersect(Bounds::Interval a, Bounds::Interval b) {
  return {std::max(a.min, b.min), std::min(a.max, b.max)};
}

void Bounds::assume(Value value, Interval interval) {
  auto [it, isNew] = assumed.try_emplace(value, interval);
  if (!isNew)
    it->second = intersect(it->second, interval);
  known.erase(value);
}

Bounds::Interval Bounds::get(Value root) {
  if (!isTracked(root.getType()))
    return getWidest(root.getType());
  if (auto it = known.find(root); it != known.end())
    return it->second;
  llvm::SmallVector<Value> stack{root};
  llvm::SmallVector<ConstantIntRanges> ranges;
  while (!stack.empty()) {
    Value value = stack.back();
    if (known.contains(value)) {
      stack.pop_back();
      continue;
    }
    Interval result = getWidest(value.getType());
    auto op = value.getDefiningOp<InferIntRangeInterface>();
    if (op) {
      bool ready = true;
      for (Value operand : op->getOperands())
        if (isTracked(operand.getType()) && !known.contains(operand)) {
          stack.push_back(operand);
          ready = false;
        }
      if (!ready)
        continue;
      ranges.clear();
      for (Value operand : op->getOperands())
        ranges.push_back(isTracked(operand.getType())
                             ? toRange(operand.getType(), known[operand])
                             : ConstantIntRanges::maxRange(1));
      op.inferResultRanges(ranges, [&](Value, const ConstantIntRanges &range) {
        if (range.umin().getBitWidth() == 1)
          result = {static_cast<int64_t>(range.umin().getZExtValue()),
                    static_cast<int64_t>(range.umax().getZExtValue())};
        else
          result = {range.smin().getSExtValue(), range.smax().getSExtValue()};
      });
    }
    if (auto it = assumed.find(value); it != assumed.end()) {
      Interval both = intersect(result, it->second);
      contradictory |= both.min > both.max;
      // An empty interval has no place in the arithmetic of ranges.
      result = both.min > both.max ? result : both;
    }
    known[value] = result;
    stack.pop_back();
  }
  return known[root];
}
