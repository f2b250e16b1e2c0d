//===- ValueOps.cpp - CONST, PARAM, CALL, STACK, INDEX, ALU ---------------===//
//
// The value family: its generated classes, verifiers and folders.
//
//===----------------------------------------------------------------------===//

#include "Assembly.h"

using namespace mlir;
using namespace uop;

#define GET_OP_CLASSES
#include "Uop/Dialect/UopValueOps.cpp.inc"

void UopDialect::addValueOps() {
  addOperations<
#define GET_OP_LIST
#include "Uop/Dialect/UopValueOps.cpp.inc"
      >();
}

UOP_DEFINE_VERIFIER(Const)
UOP_DEFINE_VERIFIER(Param)
UOP_DEFINE_VERIFIER(Cast)
UOP_DEFINE_TYPED(Call, (Arg{p.name, {}, 0}))
UOP_DEFINE_TYPED(Stack, Arg{})
UOP_DEFINE_TYPED(Index, Arg{})
UOP_DEFINE_TYPED(Where, Arg{})

#define UOP_DEFINE_ALU(code)                                                   \
  UOP_DEFINE_TYPED(code, Arg{})                                                \
  UOP_DEFINE_FOLDER(code)
UOP_DEFINE_ALU(Recip)
UOP_DEFINE_ALU(Exp2)
UOP_DEFINE_ALU(Log2)
UOP_DEFINE_ALU(Sqrt)
UOP_DEFINE_ALU(Sin)
UOP_DEFINE_ALU(Add)
UOP_DEFINE_ALU(Mul)
UOP_DEFINE_ALU(Max)
UOP_DEFINE_ALU(CmpLt)
UOP_DEFINE_ALU(CmpNe)
UOP_DEFINE_ALU(FloorDiv)
UOP_DEFINE_ALU(FloorMod)
UOP_DEFINE_FOLDER(Cast)
UOP_DEFINE_FOLDER(Where)

OpFoldResult ConstOp::fold(FoldAdaptor) { return getValueAttr(); }
