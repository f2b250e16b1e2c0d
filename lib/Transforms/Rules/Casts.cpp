//===- Casts.cpp - rules: CAST of CAST ------------------------------------===//
//
// A pair is one conversion where the one between loses nothing: never f32 to
// f16 and back.
//
//===----------------------------------------------------------------------===//

#include "Table.h"
#include "Uop/Transforms/RuleSets.h"

using namespace mlir;
using namespace uop;

namespace {

/// Whether converting by way of `between` gives what converting at once does.
bool isExact(DType from, DType between, DType to) {
  if (from == DType::Bool) // 0 and 1 are the same in every dtype
    return between != DType::Void;
  if (between == DType::Bool)
    return false;
  if (from == DType::F16 && between == DType::F32)
    return true;
  // A number that is not 0 does not become 0.
  return from == DType::I32 && to == DType::Bool;
}

const RuleRow rows[] = {
    {"casts/pair", RuleRoot(OpCode::Cast).overSome(OpCode::Cast),
     [](Operation *op, RuleGraph &graph) {
       Operation *inner = match(lhs(op), OpCode::Cast);
       if (!inner || isMemory(lhs(inner).getType()))
         return Value();
       DType from = getDType(lhs(inner).getType());
       DType to = getDType(op->getResult(0).getType());
       if (!isExact(from, getDType(lhs(op).getType()), to))
         return Value();
       if (from == to)
         return lhs(inner);
       return graph.get(OpCode::Cast, {lhs(inner)},
                        {{}, getScalarType(op->getContext(), to), 0});
     }},
    {"casts/integer-to-bool", RuleRoot(OpCode::Cast).ofI32(),
     [](Operation *op, RuleGraph &graph) {
       if (!isBool(op->getResult(0)) || !isI32(lhs(op)))
         return Value();
       return graph.get(OpCode::CmpNe, {lhs(op), graph.i32(0)});
     }},
};

} // namespace

void uop::populateCastRules(RewritePatternSet &patterns) {
  addRules(patterns, rows);
}
