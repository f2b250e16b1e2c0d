//===- Boolean.cpp - rules: algebra of bools ------------------------------===//
//
// "or" is ADD, "and" is MUL, "not x" is x != true.
//
//===----------------------------------------------------------------------===//

#include "../Guards.h"
#include "Table.h"
#include "Uop/Transforms/RuleSets.h"

using namespace mlir;
using namespace uop;

namespace {

bool isBoolOp(Operation *op) {
  return getDTypeOrNone(lhs(op).getType()) == DType::Bool;
}

/// What `condition` is where `given` is `outcome`, if that decides it.
std::optional<bool> decide(Value condition, Value given, bool outcome,
                           RuleGraph &graph) {
  // Only what compares or combines comparisons follows from another bool.
  if (!isBool(condition) || condition.getDefiningOp()->getNumOperands() < 2)
    return std::nullopt;
  Bounds assumed;
  assumeOutcome(assumed, graph.bounds(), given, outcome);
  Bounds::Interval interval = assumed.get(condition);
  if (interval.min != interval.max)
    return std::nullopt;
  return interval.min != 0;
}

/// "and" (where true is neutral) or "or": one operand decides the other.
Value decideOther(Operation *op, bool neutral, RuleGraph &graph) {
  if (!isBool(lhs(op)) || !isBool(rhs(op)))
    return {};
  for (auto [given, other] :
       {std::pair(lhs(op), rhs(op)), std::pair(rhs(op), lhs(op))})
    if (auto outcome = decide(other, given, neutral, graph))
      return *outcome == neutral ? given : graph.boolean(!neutral);
  return {};
}

/// x op (not x) for either order.
bool isComplement(Operation *op) {
  return getNegated(lhs(op)) == rhs(op) || getNegated(rhs(op)) == lhs(op);
}

/// not x op not y  is  not (x dual y).
Value pullNegations(Operation *op, OpCode dual, RuleGraph &graph) {
  Value x = getNegated(lhs(op)), y = getNegated(rhs(op));
  if (!x || !y)
    return {};
  return graph.negate(graph.get(dual, {x, y}));
}

/// x op (x dual y) is x.
Value absorb(Operation *op, OpCode dual) {
  for (auto [x, other] :
       {std::pair(lhs(op), rhs(op)), std::pair(rhs(op), lhs(op))})
    if (Operation *inner = match(other, dual))
      if (lhs(inner) == x || rhs(inner) == x)
        return x;
  return {};
}

const RuleRow rows[] = {
    {"boolean/or-true", RuleRoot(OpCode::Add).ofBools().overSome(splats),
     [](Operation *op, RuleGraph &) {
       if (!isBoolOp(op))
         return Value();
       return getSplat(rhs(op)) == 1   ? rhs(op)
              : getSplat(lhs(op)) == 1 ? lhs(op)
                                       : Value();
     }},
    {"boolean/or-same", RuleRoot(OpCode::Add).ofBools(),
     [](Operation *op, RuleGraph &) {
       return isBoolOp(op) && lhs(op) == rhs(op) ? lhs(op) : Value();
     }},
    {"boolean/and-same", RuleRoot(OpCode::Mul).ofBools(),
     [](Operation *op, RuleGraph &) {
       return isBoolOp(op) && lhs(op) == rhs(op) ? lhs(op) : Value();
     }},
    {"boolean/or-not", RuleRoot(OpCode::Add).ofBools().overSome(OpCode::CmpNe),
     [](Operation *op, RuleGraph &graph) {
       return isBoolOp(op) && isComplement(op) ? graph.boolean(true) : Value();
     }},
    {"boolean/and-not", RuleRoot(OpCode::Mul).ofBools().overSome(OpCode::CmpNe),
     [](Operation *op, RuleGraph &graph) {
       return isBoolOp(op) && isComplement(op) ? graph.boolean(false) : Value();
     }},
    {"boolean/absorb-or", RuleRoot(OpCode::Add).ofBools().overSome(OpCode::Mul),
     [](Operation *op, RuleGraph &) {
       return isBoolOp(op) ? absorb(op, OpCode::Mul) : Value();
     }},
    {"boolean/absorb-and",
     RuleRoot(OpCode::Mul).ofBools().overSome(OpCode::Add),
     [](Operation *op, RuleGraph &) {
       return isBoolOp(op) ? absorb(op, OpCode::Add) : Value();
     }},
    {"boolean/or-decided", RuleRoot(OpCode::Add).ofBools(),
     [](Operation *op, RuleGraph &graph) {
       return decideOther(op, false, graph);
     }},
    {"boolean/and-decided", RuleRoot(OpCode::Mul).ofBools(),
     [](Operation *op, RuleGraph &graph) {
       return decideOther(op, true, graph);
     }},
    {"boolean/or-of-nots",
     RuleRoot(OpCode::Add).ofBools().overOnly(OpCode::CmpNe),
     [](Operation *op, RuleGraph &graph) {
       return isBool(op->getResult(0)) ? pullNegations(op, OpCode::Mul, graph)
                                       : Value();
     }},
    {"boolean/and-of-nots",
     RuleRoot(OpCode::Mul).ofBools().overOnly(OpCode::CmpNe),
     [](Operation *op, RuleGraph &graph) {
       return isBool(op->getResult(0)) ? pullNegations(op, OpCode::Add, graph)
                                       : Value();
     }},
    {"boolean/not-false", RuleRoot(OpCode::CmpNe).ofBools().overSome(splats),
     [](Operation *op, RuleGraph &) {
       return isBoolOp(op) && getSplat(rhs(op)) == 0 ? lhs(op) : Value();
     }},
    {"boolean/not-not",
     RuleRoot(OpCode::CmpNe).ofBools().overSome(OpCode::Const),
     [](Operation *op, RuleGraph &) {
       return isBool(lhs(op)) && isConst(rhs(op), 1) ? getNegated(lhs(op))
                                                     : Value();
     }},
    {"boolean/nots-not-equal",
     RuleRoot(OpCode::CmpNe).ofBools().overOnly(OpCode::CmpNe),
     [](Operation *op, RuleGraph &graph) {
       Value x = getNegated(lhs(op)), y = getNegated(rhs(op));
       return x && y ? graph.get(OpCode::CmpNe, {x, y}) : Value();
     }},
    {"boolean/not-less-than",
     RuleRoot(OpCode::CmpNe).ofBools().overSome(OpCode::CmpLt),
     [](Operation *op, RuleGraph &graph) {
       // not (x < c)  is  c-1 < x;  not (c < x)  is  x < c+1
       Operation *less = match(lhs(op), OpCode::CmpLt);
       if (!less || !isConst(rhs(op), 1) || !isI32(lhs(less)))
         return Value();
       auto low = IndexMath::getConstant(lhs(less));
       auto high = IndexMath::getConstant(rhs(less));
       if (high && *high != -2147483648LL)
         return graph.get(OpCode::CmpLt, {graph.i32(*high - 1), lhs(less)});
       if (low && *low != 2147483647LL)
         return graph.get(OpCode::CmpLt, {rhs(less), graph.i32(*low + 1)});
       return Value();
     }},
};

} // namespace

void uop::populateBooleanRules(RewritePatternSet &patterns) {
  addRules(patterns, rows);
}
