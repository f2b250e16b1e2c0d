//===- KernelOps.cpp - STAGE, BARRIER, WMMA -------------------------------===//
//
// The kernel family, and the registration of the plans that kernels stand in.
//
//===----------------------------------------------------------------------===//

#include "Assembly.h"
#include "Uop/Dialect/Plan.h"

using namespace mlir;
using namespace uop;

#define GET_OP_CLASSES
#include "Uop/Dialect/UopKernelOps.cpp.inc"

void UopDialect::addKernelOps() {
  addOperations<
#define GET_OP_LIST
#include "Uop/Dialect/UopKernelOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "Uop/Dialect/UopPlanOps.cpp.inc"
      >();
}

UOP_DEFINE_TYPED(Stage, (Arg{{}, {}, p.detach ? 1 : 0}))
UOP_DEFINE_TYPED(Barrier, Arg{})
UOP_DEFINE_TYPED(Wmma, Arg{})
