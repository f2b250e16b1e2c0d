//===- Division.cpp - rules: floor division and remainder -----------------===//
//
// By constants of either sign and by symbols that are not zero: nested, split
// by congruence, bounds and common factors. What takes a dividend apart needs
// its bounds to prove that it does not wrap. Division by what may be zero and
// INT_MIN // -1 stay as they are.
//
//===----------------------------------------------------------------------===//

#include "Table.h"
#include "Uop/Transforms/RuleSets.h"

using namespace mlir;
using namespace uop;

namespace {

bool isScalarDivision(Operation *op) {
  return isI32(lhs(op)) && isI32(rhs(op)) &&
         !isa<ConstOp>(getDefiningOp(lhs(op)));
}

const RuleRow rows[] = {
    {"division/floordiv", RuleRoot(OpCode::FloorDiv).ofI32(),
     [](Operation *op, RuleGraph &graph) {
       return isScalarDivision(op) ? graph.math().divide(lhs(op), rhs(op))
                                   : Value();
     }},
    {"division/floormod", RuleRoot(OpCode::FloorMod).ofI32(),
     [](Operation *op, RuleGraph &graph) {
       return isScalarDivision(op) ? graph.math().modulo(lhs(op), rhs(op))
                                   : Value();
     }},
};

} // namespace

void uop::populateDivisionRules(RewritePatternSet &patterns) {
  addRules(patterns, rows);
}
