//===- Identities.cpp - rules: neutral, absorbing and equal operands ------===//
//
// What one operand decides, of any shape. Of floats only what keeps every bit:
// x * 1.0 and x + -0.0 are x, x + 0.0 is not (of -0.0).
//
//===----------------------------------------------------------------------===//

#include "Table.h"
#include "Uop/Transforms/RuleSets.h"

using namespace mlir;
using namespace uop;

namespace {

/// x in an op of x and the array of `integer`, or of `real` for floats.
Value getOther(Operation *op, Word integer, float real) {
  auto right = getSplat(rhs(op)), left = getSplat(lhs(op));
  if (!right && !left)
    return {};
  bool ofFloats = isFloat(getDType(op->getResult(0).getType()));
  Word word = ofFloats ? fromFloat(real) : integer;
  return right == word ? lhs(op) : left == word ? rhs(op) : Value();
}

const RuleRow rows[] = {
    {"identities/add-zero", RuleRoot(OpCode::Add).overSome(splats),
     [](Operation *op, RuleGraph &) { return getOther(op, 0, -0.0f); }},
    {"identities/mul-one", RuleRoot(OpCode::Mul).overSome(splats),
     [](Operation *op, RuleGraph &) { return getOther(op, 1, 1.0f); }},
    {"identities/mul-zero", RuleRoot(OpCode::Mul).overSome(splats),
     [](Operation *op, RuleGraph &) {
       for (Value operand : op->getOperands())
         if (getSplat(operand) == 0 && isInteger(operand))
           return operand;
       return Value();
     }},
    {"identities/div-one", RuleRoot(OpCode::FloorDiv).overSome(splats),
     [](Operation *op, RuleGraph &) {
       return getSplat(rhs(op)) == 1 ? lhs(op) : Value();
     }},
    {"identities/mod-one", RuleRoot(OpCode::FloorMod).overSome(OpCode::Const),
     [](Operation *op, RuleGraph &graph) {
       return isConst(rhs(op), 1) ? graph.i32(0) : Value();
     }},
    {"identities/max-same", OpCode::Max,
     [](Operation *op, RuleGraph &) {
       return lhs(op) == rhs(op) ? lhs(op) : Value();
     }},
    {"identities/less-than-itself", OpCode::CmpLt,
     [](Operation *op, RuleGraph &graph) {
       return lhs(op) == rhs(op) ? graph.boolean(false) : Value();
     }},
    {"identities/not-itself", OpCode::CmpNe,
     [](Operation *op, RuleGraph &graph) {
       return lhs(op) == rhs(op) && isInteger(lhs(op)) ? graph.boolean(false)
                                                       : Value();
     }},
    {"identities/where-same", OpCode::Where,
     [](Operation *op, RuleGraph &) {
       return rhs(op) == op->getOperand(2) ? rhs(op) : Value();
     }},
    {"identities/where-constant", RuleRoot(OpCode::Where).overSome(splats),
     [](Operation *op, RuleGraph &) {
       auto condition = getSplat(lhs(op));
       return condition ? op->getOperand(*condition ? 1 : 2) : Value();
     }},
};

} // namespace

void uop::populateIdentityRules(RewritePatternSet &patterns) {
  addRules(patterns, rows);
}
