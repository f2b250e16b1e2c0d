//===- EvaluatePlan.h - the interpreter of plans ----------------*- C++ -*-===//
//
// Runs a plan without compiling anything: the oracle of what is made of plans.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_TRANSFORMS_EVALUATEPLAN_H
#define UOP_TRANSFORMS_EVALUATEPLAN_H

#include "Uop/Dialect/Plan.h"
#include "Uop/Graph/Interpreter.h"

namespace uop {

/// The outputs of `plan`, in their shapes. `inputs` holds the contents of every
/// input, by slot; what the plan stores to is changed. Kernels are lowered on
/// copies and evaluated one after the other over bytes, temps in one arena;
/// memory that nothing was stored to holds a pattern of bytes. Emits an error
/// and fails like `evaluateLinear`, and where two arguments of a launch that
/// stores to one of them overlap.
mlir::FailureOr<std::vector<Array>> evaluatePlan(PlanOp plan, ArrayMap &inputs);

} // namespace uop

#endif // UOP_TRANSFORMS_EVALUATEPLAN_H
