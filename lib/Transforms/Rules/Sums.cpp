//===- Sums.cpp - rules: sums in canonical form, operands in order --------===//
//
// i32 sums with constants and like terms gathered, terms by stride and loop;
// the operands of other commutative ops by loop and structure. All of it holds
// for arithmetic that wraps. Floats only have constants moved to the right.
//
//===----------------------------------------------------------------------===//

#include "Table.h"
#include "Uop/Transforms/RuleSets.h"

using namespace mlir;
using namespace uop;

namespace {

bool isI32Sum(Operation *op) {
  return isa<AddOp>(op) && lhs(op).getType() == rhs(op).getType() &&
         isI32(lhs(op));
}

bool isI32Multiple(Operation *op) {
  return isa<MulOp>(op) &&
         (isa<ConstOp>(getDefiningOp(rhs(op))) ||
          isa<ConstOp>(getDefiningOp(lhs(op)))) &&
         isI32(op->getResult(0));
}

/// Part of a larger sum: that one is taken apart as a whole, or a chain of n
/// terms would be n times.
Value gather(Operation *op, RuleGraph &graph) {
  if (graph.defer([](Operation *user) {
        return isI32Sum(user) || isI32Multiple(user);
      }))
    return {};
  IndexMath &math = graph.math();
  Value sum = op->getResult(0);
  if (math.isCanonical(sum))
    return {};
  IndexMath::Gathered gathered =
      math.gather(sum, graph.isThrifty() ? 16 : size_t(-1), /*deep=*/false);
  if (!gathered.shared.empty() && gathered.value) {
    // Sums that others use as well are taken apart where that costs nothing.
    Value deep = math.gather(sum, 16, /*deep=*/true).value;
    bool isDeep = deep && (deep == sum || graph.isAffordable(deep));
    bool isShallow = !isDeep && graph.isAffordable(gathered.value);
    // The parts of what is not used may be taken apart elsewhere.
    if (!isShallow)
      for (Value part : gathered.marked)
        math.clearCanonical(part);
    if (isDeep)
      return deep;
    for (Value shared : gathered.shared)
      graph.holdBack(shared);
    if (!isShallow)
      return {};
  }
  // What was taken apart is used here only, and falls.
  if (gathered.made <= gathered.taken)
    graph.setAffordable();
  return gathered.value;
}

/// A constant on the left goes to the right; other integers by order.
Value order(Operation *op, RuleGraph &graph) {
  Value a = lhs(op), b = rhs(op);
  bool aConst = getSplat(a).has_value(), bConst = getSplat(b).has_value();
  bool turn =
      aConst != bConst ? aConst : isInteger(a) && !graph.math().inOrder(a, b);
  return turn ? graph.get(*::uop::getOpCode(op), {b, a}) : Value();
}

const RuleRow rows[] = {
    // The other source may be memory, which is read.
    {"sums/gather", RuleRoot(OpCode::Add).ofI32(),
     [](Operation *op, RuleGraph &graph) {
       return isI32Sum(op)     ? gather(op, graph)
              : isI32(lhs(op)) ? order(op, graph)
                               : Value();
     }},
    {"sums/distribute", RuleRoot(OpCode::Mul).overSome(OpCode::Const).ofI32(),
     [](Operation *op, RuleGraph &graph) {
       return isI32Multiple(op) ? gather(op, graph) : Value();
     }},
    {"sums/order-add", RuleRoot(OpCode::Add).notOfI32(),
     [](Operation *op, RuleGraph &graph) {
       return isI32(lhs(op)) ? Value() : order(op, graph);
     }},
    {"sums/order-mul", OpCode::Mul,
     [](Operation *op, RuleGraph &graph) {
       return isI32Multiple(op) ? Value() : order(op, graph);
     }},
    // Not of floats: MAX tells its operands apart where one is NaN.
    {"sums/order-max", OpCode::Max,
     [](Operation *op, RuleGraph &graph) {
       return isInteger(lhs(op)) ? order(op, graph) : Value();
     }},
    {"sums/order-not-equal", OpCode::CmpNe, order},
};

} // namespace

void uop::populateSumRules(RewritePatternSet &patterns) {
  addRules(patterns, rows);
}
