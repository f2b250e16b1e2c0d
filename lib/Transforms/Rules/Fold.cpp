//===- Fold.cpp - rules: constants in, constant out -----------------------===//
//
// Every ALU op of constants becomes a constant, by the folder of the op.
//
//===----------------------------------------------------------------------===//

#include "Table.h"
#include "Uop/Transforms/RuleSets.h"

using namespace mlir;
using namespace uop;

namespace {

/// What the op's own folder makes of it. Those of commutative ops also turn
/// operands in place, which is not what a rule may do: these get constants
/// only.
Value fold(Operation *op, RuleGraph &graph) {
  if (!isa<CastOp, WhereOp>(op) &&
      !getSourceCodes(op).isSubsetOf(OpCode::Const))
    return {};
  llvm::SmallVector<OpFoldResult, 1> folded;
  if (failed(op->fold(folded)) || folded.empty())
    return {};
  if (auto value = dyn_cast<Value>(folded[0]))
    return value;
  return graph.get(OpCode::Const, {}, {cast<Attribute>(folded[0]), {}, 0});
}

#define UOP_FOLD(code, name)                                                   \
  {"fold/" name, RuleRoot(OpCode::code).overOnly(OpCode::Const), fold}

const RuleRow rows[] = {
    {"fold/cast", OpCode::Cast, fold},
    UOP_FOLD(Recip, "recip"),
    UOP_FOLD(Exp2, "exp2"),
    UOP_FOLD(Log2, "log2"),
    UOP_FOLD(Sqrt, "sqrt"),
    UOP_FOLD(Sin, "sin"),
    UOP_FOLD(Add, "add"),
    UOP_FOLD(Mul, "mul"),
    UOP_FOLD(Max, "max"),
    UOP_FOLD(CmpLt, "cmplt"),
    UOP_FOLD(CmpNe, "cmpne"),
    UOP_FOLD(FloorDiv, "floordiv"),
    UOP_FOLD(FloorMod, "floormod"),
    {"fold/where", OpCode::Where, fold},
};

#undef UOP_FOLD

} // namespace

void uop::populateFoldRules(RewritePatternSet &patterns) {
  addRules(patterns, rows);
}
