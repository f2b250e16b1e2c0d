//===- RuleIndex.h - rewrite patterns by what they match --------*- C++ -*-===//
//
// Finds the patterns that a node has to be offered to by its op and its first
// operand's type, so that a node pays nothing for those of other nodes.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_GRAPH_RULEINDEX_H
#define UOP_GRAPH_RULEINDEX_H

#include "Uop/Dialect/Uop.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"

namespace uop {

/// A pattern that says more of its root than the op.
class RulePattern : public mlir::RewritePattern {
public:
  using RewritePattern::RewritePattern;
  /// False if no op whose first operand is a scalar of this type can match.
  virtual bool isFor(mlir::Type first) const = 0;
};

/// The patterns of a set, ordered once for any number of runs.
class RuleIndex {
public:
  explicit RuleIndex(const mlir::FrozenRewritePatternSet &patterns);

  const mlir::FrozenRewritePatternSet &getPatterns() const { return patterns; }

  /// The native patterns that may match an op, in the order in which they are
  /// tried.
  llvm::ArrayRef<const mlir::RewritePattern *> get(OpCode code,
                                                   mlir::Operation *op) const {
    const ByType &lists = byCode[static_cast<unsigned>(code)];
    mlir::Type first =
        op->getNumOperands() ? op->getOperand(0).getType() : mlir::Type();
    return first == i32 ? lists.ofI32 : first == f32 ? lists.ofF32 : lists.all;
  }
  /// Whether there is a native pattern for this op.
  bool hasAny(OpCode code) const {
    return !byCode[static_cast<unsigned>(code)].all.empty();
  }

private:
  using List = llvm::SmallVector<const mlir::RewritePattern *, 0>;
  struct ByType {
    List all, ofI32, ofF32;
  };
  mlir::FrozenRewritePatternSet patterns;
  mlir::Type i32, f32;
  ByType byCode[numOpCodes];
};

} // namespace uop

#endif // UOP_GRAPH_RULEINDEX_H
