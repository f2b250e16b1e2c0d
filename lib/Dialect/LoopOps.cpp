//===- LoopOps.cpp - RANGE and END ----------------------------------------===//
//
// The loop family.
//
//===----------------------------------------------------------------------===//

#include "Assembly.h"

using namespace mlir;
using namespace uop;

#define GET_OP_CLASSES
#include "Uop/Dialect/UopLoopOps.cpp.inc"

void UopDialect::addLoopOps() {
  addOperations<
#define GET_OP_LIST
#include "Uop/Dialect/UopLoopOps.cpp.inc"
      >();
}

UOP_DEFINE_TYPED(Range, (Arg{{}, {}, p.idx, p.kind}))
UOP_DEFINE_TYPED(End, Arg{})
