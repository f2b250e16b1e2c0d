//===- InlineCalls.cpp - CALLs as their bodies ----------------------------===//
//
// The pass over inlineCalls.
//
//===----------------------------------------------------------------------===//

#include "Uop/Graph/Walk.h"
#include "Uop/Transforms/Passes.h"

namespace uop {
#define GEN_PASS_DEF_UOPINLINECALLS
#include "Uop/Transforms/Passes.h.inc"
} // namespace uop

using namespace mlir;
using namespace uop;

namespace {

struct InlineCallsPass : ::uop::impl::UopInlineCallsBase<InlineCallsPass> {
  void runOnOperation() override {
    ProgramOp program = getOperation();
    if (llvm::none_of(program.getBodyBlock(), llvm::IsaPred<CallOp>)) {
      markAllAnalysesPreserved();
      return;
    }
    if (failed(rebuildProgram(program, [&](UniquingBuilder &builder) {
          return inlineCalls(builder, program.getRoot());
        })))
      signalPassFailure();
  }
};

} // namespace
