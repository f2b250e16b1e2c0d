//===- Bounds.cpp - smallest and largest value of a UOp -------------------===//
//
// A memoised walk that asks each op once.
//
//===----------------------------------------------------------------------===//

#include "Uop/Graph/Bounds.h"

using namespace mlir;
using namespace uop;

static Interval intersect(Interval a, Interval b) {
  return {std::max(a.min, b.min), std::min(a.max, b.max)};
}

void Bounds::assume(Value value, Interval interval) {
  auto [it, isNew] = assumed.try_emplace(value, interval);
  if (!isNew)
    it->second = intersect(it->second, interval);
  known.erase(value);
}

/// Whether an op computes its value from its sources alone.
static bool isComputed(Operation *op) {
  std::optional<OpCode> code = ::uop::getOpCode(op);
  return code && (isAlu(*code) || *code == OpCode::Const ||
                  *code == OpCode::Range);
}

std::optional<Interval> Bounds::infer(Value value,
                                      llvm::SmallVectorImpl<Value> &missing) {
  Interval result = getWidest(value.getType());
  Operation *op = getDefiningOp(value);
  if (op && isComputed(op)) {
    llvm::SmallVector<Interval, 3> sources;
    bool complete = true;
    for (Value operand : op->getOperands()) {
      auto it = known.find(operand);
      if (it != known.end()) {
        sources.push_back(it->second);
      } else if (isBounded(operand.getType())) {
        missing.push_back(operand);
        complete = false;
      } else {
        sources.push_back(getWidest(operand.getType()));
      }
    }
    if (!complete)
      return std::nullopt;
    result = inferInterval(op, sources);
  }
  if (auto it = assumed.find(value); it != assumed.end()) {
    Interval both = intersect(result, it->second);
    contradictory |= both.min > both.max;
    // An empty interval has no place in the arithmetic of ranges.
    result = both.min > both.max ? result : both;
  }
  known[value] = result;
  return result;
}

Interval Bounds::get(Value root) {
  if (auto it = known.find(root); it != known.end())
    return it->second;
  if (!isBounded(root.getType()))
    return getWidest(root.getType());
  llvm::SmallVector<Value, 8> stack{root};
  while (true) {
    std::optional<Interval> interval = infer(stack.back(), stack);
    if (!interval)
      continue;
    stack.pop_back();
    // What two nodes wait for is on the stack twice.
    while (!stack.empty() && known.contains(stack.back()))
      stack.pop_back();
    if (stack.empty())
      return *interval;
  }
}
