//===- Rangeify.cpp - from shapes to loops and memory ---------------------===//
//
// What a program's results are stored to, and the program that does so
// (ShapeLowering.h).
//
//===----------------------------------------------------------------------===//

#include "Uop/Transforms/Rangeify.h"
#include "ShapeLowering.h"
#include "Uop/Graph/Results.h"
#include "Uop/Graph/Walk.h"
#include "Uop/Transforms/Passes.h"

using namespace mlir;
using namespace uop;

namespace uop {
#define GEN_PASS_DEF_UOPRANGEIFY
#include "Uop/Transforms/Passes.h.inc"
} // namespace uop

namespace {

/// What the results of `root` are stored to, outputs from slot `output` on.
FailureOr<llvm::SmallVector<StoreTarget>> getTargets(Value root,
                                                     int64_t output) {
  for (Operation *op : toposort(root))
    if (isa<AfterOp>(op))
      return emitError(op->getLoc())
             << "AFTER stands in a program of shapes: plan it with "
                "--uop-kernelize";
  FailureOr<llvm::SmallVector<Value>> results = getResults(root);
  if (failed(results))
    return failure();
  llvm::SmallVector<StoreTarget> targets;
  for (Value result : *results) {
    auto store = result.getDefiningOp<StoreOp>();
    if (!store) {
      targets.push_back({result, {}, output++, result.getLoc(), {}});
      continue;
    }
    BufferOp buffer = getStoredBuffer(store);
    if (!buffer)
      return failure();
    targets.push_back({store.getValue(),
                       store.getPointer(),
                       static_cast<int64_t>(buffer.getSlot()),
                       store.getLoc(),
                       {}});
  }
  return targets;
}

struct RangeifyPass : uop::impl::UopRangeifyBase<RangeifyPass> {
  void runOnOperation() override {
    if (failed(rangeify(getOperation())))
      signalPassFailure();
  }
};

} // namespace

int64_t uop::getOutputSlot(Value root) {
  int64_t slot = 0;
  for (Operation *op : toposort(root))
    if (auto buffer = dyn_cast<BufferOp>(op))
      slot = std::max<int64_t>(slot, buffer.getSlot() + 1);
  return slot;
}

Value uop::lowerToLoops(UniquingBuilder &builder, llvm::ArrayRef<Value> values,
                        llvm::ArrayRef<int64_t> outputSlots) {
  llvm::SmallVector<StoreTarget> targets;
  for (auto [value, slot] : llvm::zip_equal(values, outputSlots))
    targets.push_back({value, {}, slot, value.getLoc(), {}});
  return ShapeLowering(builder).lower(targets);
}

LogicalResult uop::rangeify(ProgramOp program) {
  if (!isShaped(program))
    return success();
  // Lowered on the side, then copied in the graph's own order without what is
  // left over.
  OpBuilder builder(program.getContext());
  OwningOpRef<ProgramOp> scratch =
      createProgram(builder, program.getLoc(), program.getSymName());
  UniquingBuilder lowered(&scratch->getBodyBlock());
  lowered.setLoc(program.getLoc());
  Value inlined = inlineCalls(lowered, program.getRoot());
  if (!inlined)
    return failure();
  FailureOr<llvm::SmallVector<StoreTarget>> targets =
      getTargets(inlined, getOutputSlot(program.getRoot()));
  if (failed(targets))
    return failure();
  Value sink = ShapeLowering(lowered).lower(*targets);
  if (!sink)
    return failure();
  return rebuildProgram(
      program, [&](UniquingBuilder &fresh) { return copyInto(fresh, sink); });
}
