//===- Args.cpp - the args of UOps ----------------------------------------===//
//
// What an op holds beside its sources, as one value for every kind of op.
//
//===----------------------------------------------------------------------===//

#include "Uop/Dialect/Scalar.h"
#include "Uop/Dialect/Typing.h"

using namespace mlir;
using namespace uop;

Arg uop::getArg(OpCode code, Operation *op) {
  Arg arg;
  switch (code) {
  case OpCode::Const:
    arg.attr = getUniqueConstant(cast<ConstOp>(op).getProperties().value);
    break;
  case OpCode::Call:
    arg.attr = cast<CallOp>(op).getNameAttr();
    break;
  case OpCode::Reshape:
    arg.attr = cast<ReshapeOp>(op).getShapeAttr();
    break;
  case OpCode::Expand:
    arg.attr = cast<ExpandOp>(op).getShapeAttr();
    break;
  case OpCode::Permute:
    arg.attr = cast<PermuteOp>(op).getPermutationAttr();
    break;
  case OpCode::Shrink:
    arg.attr = cast<ShrinkOp>(op).getBoundsAttr();
    break;
  case OpCode::Reduce:
    arg.attr = cast<ReduceOp>(op).getKindAttr();
    arg.number = cast<ReduceOp>(op).getPop();
    break;
  case OpCode::Param:
    arg.number = cast<ParamOp>(op).getSlot();
    arg.type = op->getResult(0).getType();
    break;
  case OpCode::Buffer:
    arg.number = cast<BufferOp>(op).getSlot();
    arg.type = op->getResult(0).getType();
    break;
  case OpCode::Alloc:
    arg.number = cast<AllocOp>(op).getSlot();
    arg.type = op->getResult(0).getType();
    break;
  case OpCode::Cast:
    arg.type = withShape(op->getResult(0).getType(), {});
    break;
  case OpCode::Range:
    arg.number = cast<RangeOp>(op).getIdx();
    arg.kind = cast<RangeOp>(op).getKind();
    break;
  case OpCode::Stage:
    arg.number = cast<StageOp>(op).getDetach();
    break;
  default:
    break;
  }
  return arg;
}
