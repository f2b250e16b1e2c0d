//===- UopOps.td - every op of the uop dialect ---------------*- tablegen -*-===//
//
// The families together: what generated documents and rule files include.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_DIALECT_UOPOPS_TD
#define UOP_DIALECT_UOPOPS_TD

include "Uop/Dialect/UopKernelOps.td"
include "Uop/Dialect/UopLoopOps.td"
include "Uop/Dialect/UopMemoryOps.td"
include "Uop/Dialect/UopMovementOps.td"
include "Uop/Dialect/UopPlanOps.td"
include "Uop/Dialect/UopValueOps.td"

#endif // UOP_DIALECT_UOPOPS_TD
