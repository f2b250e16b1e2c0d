//===- RuleSets.cpp - the table of rule sets, and uop-simplify ------------===//
//
// Names to functions; the rules themselves are in Rules.
//
//===----------------------------------------------------------------------===//

#include "Uop/Transforms/RuleSets.h"
#include "Uop/Transforms/Passes.h"

using namespace mlir;
using namespace uop;

namespace uop {
#define GEN_PASS_DEF_UOPSIMPLIFY
#include "Uop/Transforms/Passes.h.inc"
} // namespace uop

llvm::ArrayRef<RuleSet> uop::getRuleSets() {
  static const RuleSet sets[] = {
      {"fold", "ALU ops of constants become constants", true,
       populateFoldRules},
  };
  return sets;
}

const RuleSet *uop::findRuleSet(llvm::StringRef name) {
  for (const RuleSet &set : getRuleSets())
    if (set.name == name)
      return &set;
  return nullptr;
}

FailureOr<RewriteStats> uop::simplify(ProgramOp program,
                                      const SimplifyOptions &options) {
  RewritePatternSet patterns(program.getContext());
  if (options.sets.empty())
    for (const RuleSet &set : getRuleSets())
      if (set.isDefault)
        set.populate(patterns);
  for (const std::string &name : options.sets) {
    const RuleSet *set = findRuleSet(name);
    if (!set)
      return emitError(program.getLoc()) << "no rule set '" << name << "'";
    set->populate(patterns);
  }
  return graphRewrite(program, std::move(patterns), options.rewrite);
}

namespace {

struct SimplifyPass : uop::impl::UopSimplifyBase<SimplifyPass> {
  using UopSimplifyBase::UopSimplifyBase;

  void runOnOperation() override {
    SimplifyOptions options;
    llvm::append_range(options.sets, sets);
    if (maxSteps > 0)
      options.rewrite.maxSteps = maxSteps;
    if (failed(simplify(getOperation(), options)))
      signalPassFailure();
  }
};

} // namespace
