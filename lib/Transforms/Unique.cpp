//===- Unique.cpp - one node for every structure --------------------------===//
//
// Copies a program through the UniquingBuilder, or says where it is not unique.
//
//===----------------------------------------------------------------------===//

#include "Uop/Graph/Walk.h"
#include "Uop/Transforms/Passes.h"

namespace uop {
#define GEN_PASS_DEF_UOPUNIQUE
#include "Uop/Transforms/Passes.h.inc"
} // namespace uop

using namespace mlir;
using namespace uop;

/// Emits an error at the first op that repeats an earlier one.
static LogicalResult checkUnique(ProgramOp program) {
  // A builder knows what it has adopted, in its own block or not.
  Region scratch(program);
  UniquingBuilder builder(&scratch.emplaceBlock());
  for (Operation &op : program.getBodyBlock().without_terminator()) {
    Operation *first = builder.adopt(&op).getDefiningOp();
    if (first == &op)
      continue;
    InFlightDiagnostic error = emitError(op.getLoc());
    error << "this " << ::uop::getName(*::uop::getOpCode(&op))
          << " is a node that exists already";
    error.attachNote(first->getLoc()) << "the first one is here";
    return error;
  }
  return success();
}

namespace {

struct UniquePass : ::uop::impl::UopUniqueBase<UniquePass> {
  using UopUniqueBase::UopUniqueBase;

  void runOnOperation() override {
    ProgramOp program = getOperation();
    LogicalResult result = success();
    if (check) {
      markAllAnalysesPreserved();
      result = checkUnique(program);
    } else {
      result = rebuildProgram(program, [&](UniquingBuilder &builder) {
        return copyInto(builder, program.getRoot());
      });
    }
    if (failed(result))
      signalPassFailure();
  }
};

} // namespace
