//===- CanonicalizeIndices.cpp - rules on index arithmetic only -----------===//
//
// The rule sets of uop-simplify, held to scalars of i32 and bool: what indices,
// loop counters and masks are made of. Floats and shaped values stay as
// written.
//
//===----------------------------------------------------------------------===//

#include "Uop/Transforms/Passes.h"
#include "Uop/Transforms/RuleSets.h"

namespace uop {
#define GEN_PASS_DEF_UOPCANONICALIZEINDICES
#include "Uop/Transforms/Passes.h.inc"
} // namespace uop

using namespace mlir;
using namespace uop;

namespace {

bool isIndexType(Type type) {
  return type.isSignlessInteger(32) || type.isSignlessInteger(1);
}

/// A rule that only sees nodes of which sources and value are i32 or bool.
class IndexOnly : public RulePattern {
public:
  IndexOnly(MLIRContext *context, std::unique_ptr<RewritePattern> rule,
            const RuleRoot &root)
      : RulePattern(root, context), rule(std::move(rule)) {
    setDebugName(this->rule->getDebugName());
  }

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!isIndexType(op->getResult(0).getType()) ||
        !llvm::all_of(op->getOperandTypes(), isIndexType))
      return failure();
    return rule->matchAndRewrite(op, rewriter);
  }

private:
  std::unique_ptr<RewritePattern> rule;
};

struct CanonicalizeIndicesPass
    : ::uop::impl::UopCanonicalizeIndicesBase<CanonicalizeIndicesPass> {
  using UopCanonicalizeIndicesBase::UopCanonicalizeIndicesBase;

  void runOnOperation() override {
    ProgramOp program = getOperation();
    RewritePatternSet rules(&getContext());
    if (sets.empty())
      for (const RuleSet &set : getRuleSets())
        if (set.isDefault)
          set.populate(rules);
    for (const std::string &name : sets) {
      const RuleSet *set = findRuleSet(name);
      if (!set) {
        emitError(program.getLoc()) << "no rule set '" << name << "'";
        return signalPassFailure();
      }
      set->populate(rules);
    }
    RewritePatternSet patterns(&getContext());
    auto *dialect = getContext().getLoadedDialect<UopDialect>();
    for (std::unique_ptr<RewritePattern> &rule : rules.getNativePatterns()) {
      auto *ofTable = dynamic_cast<RulePattern *>(rule.get());
      auto code = rule->getRootKind() ? dialect->getOpCode(*rule->getRootKind())
                                      : std::nullopt;
      if (code)
        patterns.add<IndexOnly>(&getContext(), std::move(rule),
                                ofTable ? ofTable->getRoot() : RuleRoot(*code));
    }
    RewriteOptions options;
    if (maxSteps > 0)
      options.maxSteps = maxSteps;
    if (failed(simplify(program, RuleIndex(std::move(patterns)), options)))
      signalPassFailure();
  }
};

} // namespace
