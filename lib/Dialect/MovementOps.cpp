//===- MovementOps.cpp - RESHAPE, EXPAND, PERMUTE, SHRINK, REDUCE ---------===//
//
// The movement family.
//
//===----------------------------------------------------------------------===//

#include "Assembly.h"

using namespace mlir;
using namespace uop;

#define GET_OP_CLASSES
#include "Uop/Dialect/UopMovementOps.cpp.inc"

void UopDialect::addMovementOps() {
  addOperations<
#define GET_OP_LIST
#include "Uop/Dialect/UopMovementOps.cpp.inc"
      >();
}

UOP_DEFINE_TYPED(Reshape, (Arg{p.shape, {}, 0}))
UOP_DEFINE_TYPED(Expand, (Arg{p.shape, {}, 0}))
UOP_DEFINE_TYPED(Permute, (Arg{p.permutation, {}, 0}))
UOP_DEFINE_TYPED(Shrink, (Arg{p.bounds, {}, 0}))
UOP_DEFINE_TYPED(Reduce, (Arg{p.kind, {}, p.pop}))
