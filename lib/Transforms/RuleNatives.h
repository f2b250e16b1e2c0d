//===- RuleNatives.h - what rules of PDL call in C++ ------------*- C++ -*-===//
//
// The native constraints and rewrites that include/Uop/Transforms/Rules.pdll
// declares, in one table that both the check of a rule file and the PDL
// interpreter use. Private to the reader of rule files.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_LIB_TRANSFORMS_RULENATIVES_H
#define UOP_LIB_TRANSFORMS_RULENATIVES_H

#include "Uop/Graph/Rewrite.h"
#include "mlir/IR/PatternMatch.h"

namespace uop {

/// What the rules of a file share while they rewrite one program.
struct RuleRun {
  /// The rule that is being tried, and the node that it is tried on.
  llvm::StringRef rule;
  mlir::Operation *root = nullptr;
  /// Set with an error when a rule builds what cannot be.
  bool failed = false;
};

/// The run that native functions belong to; each thread has its own.
class CurrentRuleRun {
public:
  explicit CurrentRuleRun(RuleRun &run);
  ~CurrentRuleRun();
  static RuleRun &get();

private:
  RuleRun *outer;
};

/// A native constraint or rewrite. Signatures are in letters: Attr, Op, Value,
/// ValueRange (R).
struct RuleNative {
  llvm::StringLiteral name;
  bool isRewrite;
  llvm::StringLiteral arguments;
  llvm::StringLiteral results;
  mlir::LogicalResult (*function)(mlir::PatternRewriter &rewriter,
                                  mlir::PDLResultList &results,
                                  llvm::ArrayRef<mlir::PDLValue> arguments);
};

llvm::ArrayRef<RuleNative> getRuleNatives();
/// Null if there is none.
const RuleNative *findRuleNative(llvm::StringRef name, bool isRewrite);

/// Whether ops of this name hold `property` natively, where PDL does not see
/// it.
bool isNativeProperty(mlir::OperationName op, llvm::StringRef property);
/// The attribute that `op` has where a rule file says `attr`: kinds are strings
/// there. Null if the string names no kind.
mlir::Attribute fromRuleAttribute(mlir::OperationName op, llvm::StringRef name,
                                  mlir::Attribute attr);

/// The rewrite that builds a node, in place of PDL's own, which gives up
/// silently. Its arguments: the name of the op, the names of its attributes,
/// then those attributes, values, types, and the node that it replaces, by
/// kind.
inline constexpr llvm::StringLiteral createNative = "uop.create";

/// Gives `patterns` every native.
void registerRuleNatives(mlir::PDLPatternModule &patterns);

} // namespace uop

#endif // UOP_LIB_TRANSFORMS_RULENATIVES_H
