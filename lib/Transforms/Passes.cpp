//===- Passes.cpp - named pipelines ---------------------------------------===//
//
// The short spellings of the passes that most users run.
//
//===----------------------------------------------------------------------===//

#include "Uop/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

void uop::registerUopPipelines() {
  PassPipelineRegistration<>("rangeify",
                             "turn shapes into loops and memory (uop-rangeify)",
                             [](OpPassManager &pm) {
                               pm.addNestedPass<ProgramOp>(createUopRangeify());
                             });
  PassPipelineRegistration<>(
      "linearize", "turn graphs into schedules (uop-linearize)",
      [](OpPassManager &pm) {
        pm.addNestedPass<ProgramOp>(createUopLinearize());
      });
  PassPipelineRegistration<>(
      "uop-to-kernel", "from shaped programs to schedules",
      [](OpPassManager &pm) {
        pm.addNestedPass<ProgramOp>(createUopRangeify());
        pm.addNestedPass<ProgramOp>(createUopLinearize());
      });
}
