//===- DoubleByAdding.cpp - a pass over uop, as a plugin ------------------===//
//
// Turns x * 2 into x + x, as a template for passes of one's own.
//
//===----------------------------------------------------------------------===//

#include "Uop/Graph/Rewrite.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

using namespace mlir;

namespace {

/// x * 2 -> x + x, on i32 scalars.
struct Double : OpRewritePattern<uop::MulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(uop::MulOp op,
                                PatternRewriter &rewriter) const override {
    llvm::APInt factor;
    if (!matchPattern(op.getRhs(), m_ConstantInt(&factor)) || factor != 2)
      return failure();
    rewriter.replaceOpWithNewOp<uop::AddOp>(op, op.getLhs(), op.getLhs());
    return success();
  }
};

struct DoubleByAdding
    : PassWrapper<DoubleByAdding, OperationPass<uop::ProgramOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DoubleByAdding)

  llvm::StringRef getArgument() const final { return "double-by-adding"; }
  llvm::StringRef getDescription() const final { return "x * 2 -> x + x"; }

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<Double>(&getContext());
    if (failed(uop::graphRewrite(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "DoubleByAdding", "1",
          [] { PassRegistration<DoubleByAdding>(); }};
}
