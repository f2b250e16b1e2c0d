//===- RuleSets.h - the rewrite rules by name -------------------*- C++ -*-===//
//
// Every rule belongs to one named set; a set is a table in a file of its own in
// lib/Transforms/Rules.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_TRANSFORMS_RULESETS_H
#define UOP_TRANSFORMS_RULESETS_H

#include "Uop/Graph/Rewrite.h"

namespace uop {

struct RuleSet {
  /// As in the option of `uop-simplify`: `fold`, `identities`, ...
  llvm::StringRef name;
  /// One line on what its rules do.
  llvm::StringRef summary;
  /// Whether `uop-simplify` uses it when no sets are named.
  bool isDefault;
  /// Adds the rules; each has the debug name `SET/RULE`.
  void (*populate)(mlir::RewritePatternSet &patterns);
};

/// Every set, in the order in which documents list them.
llvm::ArrayRef<RuleSet> getRuleSets();
/// The set of this name; null if there is none.
const RuleSet *findRuleSet(llvm::StringRef name);

struct SimplifyOptions {
  /// Names of sets; empty for those that are used by default.
  llvm::SmallVector<std::string> sets;
  RewriteOptions rewrite;
};

/// The patterns of the sets that are named; of the default ones for no names.
/// Fails with the message given to `error` for a set that does not exist.
mlir::FailureOr<mlir::FrozenRewritePatternSet>
getRulePatterns(mlir::MLIRContext *context, llvm::ArrayRef<std::string> sets,
                ErrorFn error);

/// Rewrites a program by rule sets to a fixed point, as the pass `uop-simplify`
/// does. Emits an error and leaves the program as it was for a set that does
/// not exist and for everything that `graphRewrite` refuses.
///
/// Where the rules make a shared graph larger (constants not counted), it is
/// rewritten again with rules that create one node at most; where they waited
/// for nodes to be shared no longer, until none does.
mlir::FailureOr<RewriteStats> simplify(ProgramOp program,
                                       const SimplifyOptions &options = {});
mlir::FailureOr<RewriteStats> simplify(ProgramOp program,
                                       const RuleIndex &rules,
                                       const RewriteOptions &options = {});

// The sets, one function per file of Rules.
void populateFoldRules(mlir::RewritePatternSet &patterns);
void populateIdentityRules(mlir::RewritePatternSet &patterns);
void populateSumRules(mlir::RewritePatternSet &patterns);
void populateDivisionRules(mlir::RewritePatternSet &patterns);
void populateComparisonRules(mlir::RewritePatternSet &patterns);
void populateBooleanRules(mlir::RewritePatternSet &patterns);
void populateWhereRules(mlir::RewritePatternSet &patterns);
void populateGuardedRules(mlir::RewritePatternSet &patterns);
void populateCastRules(mlir::RewritePatternSet &patterns);
/// Not among the default sets: changes the bits of floats.
void populateFastMathRules(mlir::RewritePatternSet &patterns);
/// stack(a, b)[1] -> b, and indices of indices.
void populateStackRules(mlir::RewritePatternSet &patterns);
/// Sums and maxima of what the loop does not change, of an arange, of a gather.
void populateReductionRules(mlir::RewritePatternSet &patterns);
/// Includes `fold`, `stacks` and `reductions`. Shapes of up to 4096 elements
/// become nests of STACKs, so that it is for programs of constants.
void populateEvaluateRules(mlir::RewritePatternSet &patterns);

} // namespace uop

#endif // UOP_TRANSFORMS_RULESETS_H
