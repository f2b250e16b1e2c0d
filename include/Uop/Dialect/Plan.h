//===- Plan.h - the ops of plans --------------------------------*- C++ -*-===//
//
// Plans of kernels: the classes of UopPlanOps.td.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_DIALECT_PLAN_H
#define UOP_DIALECT_PLAN_H

#include "Uop/Dialect/Uop.h"

#define GET_OP_CLASSES
#include "Uop/Dialect/UopPlanOps.h.inc"

namespace uop {

/// Bytes of the memory that a value of a plan names.
int64_t getByteSize(MemType type);

} // namespace uop

#endif // UOP_DIALECT_PLAN_H
