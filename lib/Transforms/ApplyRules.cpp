//===- ApplyRules.cpp - the pass that applies a rule file -----------------===//
//
// Reads the file once, before any program, and rewrites every program by it.
//
//===----------------------------------------------------------------------===//

#include "Uop/Transforms/Passes.h"
#include "Uop/Transforms/RuleFile.h"
#include "Uop/Transforms/RuleReport.h"
#include "mlir/Dialect/PDL/IR/PDL.h"
#include "mlir/Dialect/PDLInterp/IR/PDLInterp.h"

using namespace mlir;
using namespace uop;

namespace uop {
#define GEN_PASS_DEF_UOPAPPLYRULES
#include "Uop/Transforms/Passes.h.inc"
} // namespace uop

namespace {

struct ApplyRulesPass : uop::impl::UopApplyRulesBase<ApplyRulesPass> {
  using UopApplyRulesBase::UopApplyRulesBase;

  /// Options are `key=value`s, but what begins with anything else is the file,
  /// so that `--uop-apply-rules=FILE` is enough.
  LogicalResult initializeOptions(
      llvm::StringRef options,
      function_ref<LogicalResult(const Twine &)> onError) override {
    llvm::StringRef first = options.take_until([](char c) { return c == ' '; });
    llvm::StringRef key = first.split('=').first;
    bool isOption =
        first.empty() || (first.contains('=') && isOptionName(key)) ||
        (!first.contains('=') && (key == "rule-stats" || key == "trace-rules"));
    std::string text = isOption ? options.str() : "file=" + options.str();
    return Pass::initializeOptions(text, onError);
  }

  LogicalResult initialize(MLIRContext *context) override {
    if (file.empty())
      return emitError(UnknownLoc::get(context))
             << "uop-apply-rules needs a rule file";
    RuleFileOptions options;
    llvm::append_range(options.includeDirs, include);
    FailureOr<RuleFile> read = RuleFile::read(file, options, context);
    if (failed(read))
      return failure();
    rules = std::move(*read);
    return success();
  }

  void runOnOperation() override {
    RewriteOptions options;
    if (maxSteps > 0)
      options.maxSteps = maxSteps;
    RuleReport report(ruleStats, traceRules);
    report.observe(options);
    llvm::SmallVector<std::string> also;
    llvm::append_range(also, sets);
    FailureOr<RewriteStats> stats = rules.apply(getOperation(), options, also);
    if (failed(stats))
      return signalPassFailure();
    report.print(getOperation(), *stats);
  }

private:
  static bool isOptionName(llvm::StringRef key) {
    static constexpr llvm::StringLiteral names[] = {
        "file", "include", "sets", "max-steps", "rule-stats", "trace-rules"};
    return llvm::is_contained(names, key);
  }

  /// Clones of the pass share what the first has read.
  RuleFile rules;
};

} // namespace
