//===- Fold.cpp - rules: constants in, constant out -----------------------===//
//
// Every ALU op of constants becomes a constant, by the folder of the op.
//
//===----------------------------------------------------------------------===//

#include "Uop/Transforms/RuleSets.h"

using namespace mlir;
using namespace uop;

namespace {

/// alu(constants...) -> constant, and what else the op's own folder knows.
template <typename OpT> struct FoldRule : OpRewritePattern<OpT> {
  explicit FoldRule(MLIRContext *context) : OpRewritePattern<OpT>(context) {
    static const std::string name =
        ("fold/" + OpT::getOperationName().drop_front(strlen("uop."))).str();
    this->setDebugName(name);
  }

  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    // The folders of commutative ops also turn operands in place, which is not
    // what a rule may do; and most nodes need no look at all.
    if (!isa<CastOp, WhereOp>(op) &&
        !llvm::all_of(op->getOperands(), [](Value operand) {
          return isa<ConstOp>(operand.getDefiningOp());
        }))
      return failure();
    llvm::SmallVector<OpFoldResult, 1> folded;
    if (failed(op->fold(folded)) || folded.empty())
      return failure();
    if (auto value = dyn_cast<Value>(folded[0])) {
      rewriter.replaceOp(op, value);
      return success();
    }
    auto attr = cast<TypedAttr>(cast<Attribute>(folded[0]));
    rewriter.replaceOpWithNewOp<ConstOp>(op, attr.getType(), attr);
    return success();
  }
};

template <typename... OpTs> void addRules(RewritePatternSet &patterns) {
  (patterns.add<FoldRule<OpTs>>(patterns.getContext()), ...);
}

} // namespace

void uop::populateFoldRules(RewritePatternSet &patterns) {
  addRules<CastOp, RecipOp, Exp2Op, Log2Op, SqrtOp, SinOp, AddOp, MulOp, MaxOp,
           CmpLtOp, CmpNeOp, FloorDivOp, FloorModOp, WhereOp>(patterns);
}
