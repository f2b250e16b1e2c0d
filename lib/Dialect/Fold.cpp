//===- Fold.cpp - folding of ALU ops --------------------------------------===//
//
// Constants in, constant out, as the emitted C computes it. What C leaves open
// (division by zero, INT_MIN // -1, a float outside i32) is left alone.
//
//===----------------------------------------------------------------------===//

#include "Assembly.h"
#include "Uop/Dialect/Scalar.h"
#include <cmath>

using namespace mlir;
using namespace uop;

bool uop::isDefinedAlu(OpCode code, DType source, DType target, Word a,
                       Word b) {
  if (code == OpCode::FloorDiv || code == OpCode::FloorMod)
    return b != 0 && !(a == Word(1) << 31 && b == ~Word(0));
  if (code == OpCode::Cast && isFloat(source) && target == DType::I32) {
    float f = toFloat(a);
    return f > -2147483904.0f && f < 2147483648.0f;
  }
  return true;
}

OpFoldResult uop::foldAlu(OpCode code, Operation *op,
                          llvm::ArrayRef<Attribute> operands) {
  Type result = op->getResult(0).getType();
  if (code == OpCode::Cast && op->getOperand(0).getType() == result)
    return op->getOperand(0);
  if (code == OpCode::Where) {
    Value chosen;
    if (auto condition = dyn_cast_or_null<IntegerAttr>(operands[0]))
      chosen = op->getOperand(getWord(condition) ? 1 : 2);
    else if (op->getOperand(1) == op->getOperand(2))
      chosen = op->getOperand(1);
    if (chosen && chosen.getType() == result)
      return chosen;
  }
  if (isa<RankedTensorType>(result) || llvm::is_contained(operands, Attribute()))
    return {};
  Word words[3] = {};
  for (auto [i, attr] : llvm::enumerate(operands)) {
    if (!isa<IntegerAttr, FloatAttr>(attr))
      return {};
    words[i] = getWord(attr);
  }
  DType source = getDType(op->getOperand(code == OpCode::Where).getType());
  DType target = getDType(result);
  if (!isDefinedAlu(code, source, target, words[0], words[1]))
    return {};
  return getConstantAttr(
      op->getContext(), target,
      evalAlu(code, source, target, words[0], words[1], words[2]));
}
