//===- RuleSets.cpp - the table of rule sets, and uop-simplify ------------===//
//
// Names to functions; the rules themselves are in Rules.
//
//===----------------------------------------------------------------------===//

#include "Uop/Transforms/RuleSets.h"
#include "Uop/Transforms/Passes.h"
#include "Uop/Transforms/RuleReport.h"

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
      {"identities", "neutral, absorbing and equal operands", true,
       populateIdentityRules},
      {"sums", "i32 sums in canonical form, operands in order", true,
       populateSumRules},
      {"division", "floor division and remainder", true, populateDivisionRules},
      {"comparisons", "CMPLT, CMPNE and MAX of integers", true,
       populateComparisonRules},
      {"boolean", "and, or, not", true, populateBooleanRules},
      {"where", "nested WHEREs and ALU ops of them", true, populateWhereRules},
      {"guarded", "values under the condition that guards them", true,
       populateGuardedRules},
      {"casts", "CAST of CAST", true, populateCastRules},
      {"fast-math", "floats as if they were real numbers: changes results",
       false, populateFastMathRules},
      {"stacks", "an INDEX of a STACK by a constant selects", true,
       populateStackRules},
      {"reductions", "reductions that algebra does without their loop", true,
       populateReductionRules},
      {"evaluate", "a program of constants becomes its value", false,
       populateEvaluateRules},
  };
  return sets;
}

const RuleSet *uop::findRuleSet(llvm::StringRef name) {
  for (const RuleSet &set : getRuleSets())
    if (set.name == name)
      return &set;
  return nullptr;
}

FailureOr<FrozenRewritePatternSet>
uop::getRulePatterns(MLIRContext *context, llvm::ArrayRef<std::string> sets,
                     ErrorFn error) {
  RewritePatternSet patterns(context);
  if (sets.empty())
    for (const RuleSet &set : getRuleSets())
      if (set.isDefault)
        set.populate(patterns);
  for (const std::string &name : sets) {
    const RuleSet *set = findRuleSet(name);
    if (!set) {
      error("no rule set '" + name + "'");
      return failure();
    }
    set->populate(patterns);
  }
  return FrozenRewritePatternSet(std::move(patterns));
}

FailureOr<RewriteStats> uop::simplify(ProgramOp program, const RuleIndex &rules,
                                      const RewriteOptions &given) {
  // Each round that is not the last makes something smaller; the limit only
  // guards against rules from elsewhere.
  constexpr int maxRounds = 16;
  RewriteOptions options = given;
  std::optional<RewriteStats> total;
  for (int round = 0; round < maxRounds; ++round) {
    options.thrifty = given.thrifty;
    options.refuseGrowth = true;
    FailureOr<RewriteStats> stats = graphRewrite(program, rules, options);
    if (failed(stats))
      return failure();
    bool refused = stats->refused;
    if (refused) {
      options.thrifty = true;
      options.refuseGrowth = given.refuseGrowth;
      stats = graphRewrite(program, rules, options);
      if (failed(stats))
        return failure();
      if (stats->refused) {
        stats->nodesAfter = stats->nodesBefore;
        stats->costAfter = stats->costBefore;
        stats->fired.clear();
      }
    }
    int64_t steps = stats->getSteps();
    // What the root does not reach counted as a user, and is gone now.
    bool changed = steps > 0 || stats->hadUnreached;
    bool again = changed && (refused || stats->isPartial);
    if (!total) {
      total = std::move(*stats);
    } else {
      total->nodesAfter = stats->nodesAfter;
      total->costAfter = stats->costAfter;
      total->ledBack += stats->ledBack;
      for (auto &[rule, count] : stats->fired)
        total->fired[rule] += count;
    }
    if (!again)
      break;
  }
  return std::move(*total);
}

FailureOr<RewriteStats> uop::simplify(ProgramOp program,
                                      const SimplifyOptions &options) {
  auto patterns = getRulePatterns(
      program.getContext(), options.sets,
      [&](const llvm::Twine &what) { emitError(program.getLoc()) << what; });
  if (failed(patterns))
    return failure();
  return simplify(program, RuleIndex(*patterns), options.rewrite);
}

namespace {

struct SimplifyPass : uop::impl::UopSimplifyBase<SimplifyPass> {
  using UopSimplifyBase::UopSimplifyBase;

  LogicalResult initialize(MLIRContext *context) override {
    // A set that does not exist is an error of the program that it is asked for.
    llvm::SmallVector<std::string> names(sets.begin(), sets.end());
    auto found = getRulePatterns(context, names, [](const llvm::Twine &) {});
    if (succeeded(found))
      rules = std::make_shared<const RuleIndex>(*found);
    return success();
  }

  void runOnOperation() override {
    SimplifyOptions options;
    llvm::append_range(options.sets, sets);
    if (maxSteps > 0)
      options.rewrite.maxSteps = maxSteps;
    RuleReport report(ruleStats, traceRules);
    report.observe(options.rewrite);
    FailureOr<RewriteStats> stats =
        rules ? simplify(getOperation(), *rules, options.rewrite)
              : simplify(getOperation(), options);
    if (failed(stats))
      return signalPassFailure();
    report.print(getOperation(), *stats);
  }

  std::shared_ptr<const RuleIndex> rules;
};

} // namespace
