//===- FastMath.cpp - rules: floats as if they were real numbers ----------===//
//
// Changes bits, and values where NaN, infinities or -0.0 are about. Off unless
// it is asked for by name.
//
//===----------------------------------------------------------------------===//

#include "Table.h"
#include "Uop/Transforms/RuleSets.h"

using namespace mlir;
using namespace uop;

namespace {

bool isScalarFloat(Operation *op) {
  return isa<mlir::FloatType>(op->getResult(0).getType());
}

/// x if `value` is -x.
Value getOpposite(Value value) {
  Operation *op = match(value, OpCode::Mul);
  return op && getSplat(rhs(op)) == fromFloat(-1.0f) ? lhs(op) : Value();
}

/// (x op c) op d  is  x op (c op d).
Value reassociate(Operation *op, RuleGraph &graph) {
  OpCode code = *::uop::getOpCode(op);
  Operation *inner = match(lhs(op), code);
  auto d = getConstWord(rhs(op));
  auto c = inner ? getConstWord(rhs(inner)) : std::nullopt;
  if (!c || !d || !isScalarFloat(op))
    return {};
  DType dtype = getDType(op->getResult(0).getType());
  return graph.get(
      code,
      {lhs(inner), graph.constant(dtype, evalAlu(code, dtype, dtype, *c, *d))});
}

Value makeFloat(Operation *op, float value, RuleGraph &graph) {
  return graph.constant(getDType(op->getResult(0).getType()), fromFloat(value));
}

const RuleRow rows[] = {
    {"fast-math/add-zero", RuleRoot(OpCode::Add).overSome(splats),
     [](Operation *op, RuleGraph &) {
       return isFloat(getDType(op->getResult(0).getType())) &&
                      getSplat(rhs(op)) == fromFloat(0.0f)
                  ? lhs(op)
                  : Value();
     }},
    {"fast-math/mul-zero", RuleRoot(OpCode::Mul).overSome(splats),
     [](Operation *op, RuleGraph &) {
       return isFloat(getDType(op->getResult(0).getType())) &&
                      getSplat(rhs(op)) == fromFloat(0.0f)
                  ? rhs(op)
                  : Value();
     }},
    {"fast-math/subtract-itself", RuleRoot(OpCode::Add).overSome(OpCode::Mul),
     [](Operation *op, RuleGraph &graph) {
       bool zero = isScalarFloat(op) && (getOpposite(lhs(op)) == rhs(op) ||
                                         getOpposite(rhs(op)) == lhs(op));
       return zero ? makeFloat(op, 0.0f, graph) : Value();
     }},
    {"fast-math/divide-by-itself",
     RuleRoot(OpCode::Mul).overSome(OpCode::Recip),
     [](Operation *op, RuleGraph &graph) {
       Operation *left = match(lhs(op), OpCode::Recip);
       Operation *right = match(rhs(op), OpCode::Recip);
       bool one = isScalarFloat(op) && ((left && lhs(left) == rhs(op)) ||
                                        (right && lhs(right) == lhs(op)));
       return one ? makeFloat(op, 1.0f, graph) : Value();
     }},
    {"fast-math/reassociate-add", RuleRoot(OpCode::Add).overSome(OpCode::Const),
     reassociate},
    {"fast-math/reassociate-mul", RuleRoot(OpCode::Mul).overSome(OpCode::Const),
     reassociate},
};

} // namespace

void uop::populateFastMathRules(RewritePatternSet &patterns) {
  addRules(patterns, rows);
}
