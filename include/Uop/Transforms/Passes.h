//===- Passes.h - the passes of uop -----------------------------*- C++ -*-===//
//
// Creation and registration of every pass in Passes.td, and the named pipelines.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_TRANSFORMS_PASSES_H
#define UOP_TRANSFORMS_PASSES_H

#include "Uop/Dialect/Uop.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace uop {

#define GEN_PASS_DECL
#include "Uop/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "Uop/Transforms/Passes.h.inc"

/// Registers `--rangeify`, `--linearize` and `--uop-to-kernel` (both).
void registerUopPipelines();

} // namespace uop

#endif // UOP_TRANSFORMS_PASSES_H
