//===- LinearizePass.cpp - scheduling as passes ---------------------------===//
//
// `uop-linearize` and `uop-verify-schedule`.
//
//===----------------------------------------------------------------------===//

#include "Uop/Transforms/Linearize.h"
#include "Uop/Transforms/Passes.h"

namespace uop {
#define GEN_PASS_DEF_UOPLINEARIZE
#define GEN_PASS_DEF_UOPVERIFYSCHEDULE
#include "Uop/Transforms/Passes.h.inc"
} // namespace uop

using namespace uop;

namespace {

struct LinearizePass : impl::UopLinearizeBase<LinearizePass> {
  void runOnOperation() override {
    if (failed(linearize(getOperation())))
      signalPassFailure();
  }
};

struct VerifySchedulePass : impl::UopVerifyScheduleBase<VerifySchedulePass> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    if (failed(verifySchedule(getOperation())))
      signalPassFailure();
  }
};

} // namespace
