//===- Where.cpp - rules: WHERE -------------------------------------------===//
//
// Nested WHEREs, negated conditions, bools chosen by a bool, and ALU ops of
// WHEREs of constants.
//
//===----------------------------------------------------------------------===//

#include "Table.h"
#include "Uop/Transforms/RuleSets.h"

using namespace mlir;
using namespace uop;

namespace {

struct Where {
  Value condition, yes, no;
};

std::optional<Where> getWhere(Value value) {
  if (auto op = value.getDefiningOp<WhereOp>())
    return Where{op.getCondition(), op.getTrueValue(), op.getFalseValue()};
  return std::nullopt;
}

Where getWhere(Operation *op) {
  return {op->getOperand(0), op->getOperand(1), op->getOperand(2)};
}

/// An ALU op whose operands are constants, and one WHERE of constants or
/// several by one condition: the WHERE of its values.
Value pushThrough(Operation *op, RuleGraph &graph) {
  Value result = op->getResult(0);
  if (isa<RankedTensorType>(result.getType()))
    return {};
  Value condition;
  Word words[2][2] = {};
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    if (auto word = getConstWord(operand)) {
      words[0][i] = words[1][i] = *word;
      continue;
    }
    auto where = getWhere(operand);
    if (!where || (condition && condition != where->condition))
      return {};
    condition = where->condition;
    auto yes = getConstWord(where->yes), no = getConstWord(where->no);
    if (!yes || !no)
      return {};
    words[0][i] = *yes;
    words[1][i] = *no;
  }
  if (!condition)
    return {};
  OpCode code = *::uop::getOpCode(op);
  DType source = getDType(lhs(op).getType()),
        target = getDType(result.getType());
  Value branches[2];
  for (int i : {0, 1}) {
    if (!isDefinedAlu(code, source, target, words[i][0], words[i][1]))
      return {};
    branches[i] = graph.constant(
        target, evalAlu(code, source, target, words[i][0], words[i][1]));
  }
  return graph.get(OpCode::Where, {condition, branches[0], branches[1]});
}

#define UOP_PUSH(code, name)                                                   \
  {"where/push-" name,                                                         \
   RuleRoot(OpCode::code)                                                      \
       .overSome(OpCode::Where)                                                \
       .overOnly({OpCode::Where, OpCode::Const}),                              \
   pushThrough}

const RuleRow rows[] = {
    {"where/not", RuleRoot(OpCode::Where).overSome(OpCode::CmpNe),
     [](Operation *op, RuleGraph &graph) {
       Where w = getWhere(op);
       Value c = getNegated(w.condition);
       return c ? graph.get(OpCode::Where, {c, w.no, w.yes}) : Value();
     }},
    {"where/nested-same-condition",
     RuleRoot(OpCode::Where).overSome(OpCode::Where),
     [](Operation *op, RuleGraph &graph) {
       Where w = getWhere(op);
       auto yes = getWhere(w.yes), no = getWhere(w.no);
       bool inYes = yes && yes->condition == w.condition;
       bool inNo = no && no->condition == w.condition;
       if (!inYes && !inNo)
         return Value();
       return graph.get(OpCode::Where, {w.condition, inYes ? yes->yes : w.yes,
                                        inNo ? no->no : w.no});
     }},
    {"where/nested-and", RuleRoot(OpCode::Where).overSome(OpCode::Where),
     [](Operation *op, RuleGraph &graph) {
       // where(c, where(d, x, y), y)  is  where(c & d, x, y)
       Where w = getWhere(op);
       auto inner = getWhere(w.yes);
       if (!inner || inner->no != w.no)
         return Value();
       return graph.get(
           OpCode::Where,
           {graph.get(OpCode::Mul, {w.condition, inner->condition}), inner->yes,
            w.no});
     }},
    {"where/nested-or", RuleRoot(OpCode::Where).overSome(OpCode::Where),
     [](Operation *op, RuleGraph &graph) {
       // where(c, x, where(d, x, y))  is  where(c | d, x, y)
       Where w = getWhere(op);
       auto inner = getWhere(w.no);
       if (!inner || inner->yes != w.yes)
         return Value();
       return graph.get(
           OpCode::Where,
           {graph.get(OpCode::Add, {w.condition, inner->condition}), w.yes,
            inner->no});
     }},
    {"where/bool", RuleRoot(OpCode::Where).overSome(OpCode::Const),
     [](Operation *op, RuleGraph &graph) {
       Where w = getWhere(op);
       if (!isBool(op->getResult(0)))
         return Value();
       auto yes = getConstWord(w.yes), no = getConstWord(w.no);
       if (yes && no)
         return *yes ? w.condition : graph.negate(w.condition);
       if (yes && *yes)
         return graph.get(OpCode::Add, {w.condition, w.no});
       if (no && !*no)
         return graph.get(OpCode::Mul, {w.condition, w.yes});
       return Value();
     }},
    UOP_PUSH(Cast, "cast"),
    UOP_PUSH(Recip, "recip"),
    UOP_PUSH(Exp2, "exp2"),
    UOP_PUSH(Log2, "log2"),
    UOP_PUSH(Sqrt, "sqrt"),
    UOP_PUSH(Sin, "sin"),
    UOP_PUSH(Add, "add"),
    UOP_PUSH(Mul, "mul"),
    UOP_PUSH(Max, "max"),
    UOP_PUSH(CmpLt, "cmplt"),
    UOP_PUSH(CmpNe, "cmpne"),
    UOP_PUSH(FloorDiv, "floordiv"),
    UOP_PUSH(FloorMod, "floormod"),
};

#undef UOP_PUSH

} // namespace

void uop::populateWhereRules(RewritePatternSet &patterns) {
  addRules(patterns, rows);
}
