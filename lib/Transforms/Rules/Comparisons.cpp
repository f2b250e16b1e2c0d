//===- Comparisons.cpp - rules: CMPLT, CMPNE and MAX of integers ----------===//
//
// Decided by bounds, with like terms and common factors cancelled, constants on
// the right, quotients multiplied out.
//
//===----------------------------------------------------------------------===//

#include "Table.h"
#include "Uop/Transforms/RuleSets.h"

using namespace mlir;
using namespace uop;

namespace {

/// b if `value` is the i32 of the bool b.
Value getBoolSource(Value value) {
  Operation *cast = match(value, OpCode::Cast);
  return cast && isI32(value) && isBool(lhs(cast)) ? lhs(cast) : Value();
}

const RuleRow rows[] = {
    {"comparisons/bool-less-than",
     RuleRoot(OpCode::CmpLt).overSome(OpCode::Cast).ofI32(),
     [](Operation *op, RuleGraph &graph) {
       // b < 1, 0 < b
       Value left = getBoolSource(lhs(op)), right = getBoolSource(rhs(op));
       if (left && isConst(rhs(op), 1))
         return graph.negate(left);
       return right && isConst(lhs(op), 0) ? right : Value();
     }},
    {"comparisons/bool-not-equal",
     RuleRoot(OpCode::CmpNe).overSome(OpCode::Cast).ofI32(),
     [](Operation *op, RuleGraph &graph) {
       // b != 0, b != 1
       Value b = getBoolSource(lhs(op));
       if (b && isConst(rhs(op), 0))
         return b;
       return b && isConst(rhs(op), 1) ? graph.negate(b) : Value();
     }},
    {"comparisons/bools-not-equal",
     RuleRoot(OpCode::CmpNe).overOnly(OpCode::Cast).ofI32(),
     [](Operation *op, RuleGraph &graph) {
       Value a = getBoolSource(lhs(op)), b = getBoolSource(rhs(op));
       return a && b ? graph.get(OpCode::CmpNe, {a, b}) : Value();
     }},
    {"comparisons/less-than", RuleRoot(OpCode::CmpLt).ofI32(),
     [](Operation *op, RuleGraph &graph) {
       return isI32(lhs(op)) && isI32(rhs(op))
                  ? graph.math().less(lhs(op), rhs(op))
                  : Value();
     }},
    {"comparisons/not-equal", RuleRoot(OpCode::CmpNe).ofI32(),
     [](Operation *op, RuleGraph &graph) {
       return isI32(lhs(op)) && isI32(rhs(op))
                  ? graph.math().notEqual(lhs(op), rhs(op))
                  : Value();
     }},
    {"comparisons/max-decided", RuleRoot(OpCode::Max).ofI32(),
     [](Operation *op, RuleGraph &graph) {
       if (!isI32(lhs(op)) || !isI32(rhs(op)))
         return Value();
       auto less = graph.math().isLess(lhs(op), rhs(op));
       auto greater = graph.math().isLess(rhs(op), lhs(op));
       if (less == true || greater == false)
         return rhs(op);
       return less == false || greater == true ? lhs(op) : Value();
     }},
    {"comparisons/max-of-max", RuleRoot(OpCode::Max).overSome(OpCode::Max),
     [](Operation *op, RuleGraph &graph) -> Value {
       // max(max(x, c), d), max(max(x, y), x)
       Operation *inner = match(lhs(op), OpCode::Max);
       Value other = rhs(op);
       if (!inner) {
         inner = match(rhs(op), OpCode::Max);
         other = lhs(op);
       }
       if (!inner || !isInteger(op->getResult(0)))
         return Value();
       if (other == lhs(inner) || other == rhs(inner))
         return inner->getResult(0);
       auto c = getConstWord(rhs(inner)), d = getConstWord(other);
       if (!c || !d)
         return Value();
       Word larger = evalAlu(OpCode::Max, getDType(other.getType()),
                             getDType(other.getType()), *c, *d);
       return graph.get(
           OpCode::Max,
           {lhs(inner), graph.constant(getDType(other.getType()), larger)});
     }},
};

} // namespace

void uop::populateComparisonRules(RewritePatternSet &patterns) {
  addRules(patterns, rows);
}
