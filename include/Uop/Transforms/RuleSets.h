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

/// Rewrites a program by rule sets to a fixed point, as the pass `uop-simplify`
/// does. Emits an error and leaves the program as it was for a set that does not
/// exist and for everything that `graphRewrite` refuses.
mlir::FailureOr<RewriteStats> simplify(ProgramOp program,
                                       const SimplifyOptions &options = {});

// The sets, one function per file of Rules.
void populateFoldRules(mlir::RewritePatternSet &patterns);

} // namespace uop

#endif // UOP_TRANSFORMS_RULESETS_H
