//===- RuleIndex.h - rewrite patterns by what they match --------*- C++ -*-===//
//
// Finds the patterns that a node has to be offered to by its op, the type of
// its first source and the ops of its sources, so that a node pays nothing for
// those of other nodes.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_GRAPH_RULEINDEX_H
#define UOP_GRAPH_RULEINDEX_H

#include "Uop/Dialect/Uop.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"

namespace uop {

/// What a rule asks of the node at its root.
class RuleRoot {
public:
  constexpr RuleRoot(OpCode code) : code(code) {}

  /// At least one source is one of these ops.
  constexpr RuleRoot overSome(OpCodeSet ops) const {
    RuleRoot root = *this;
    root.some = ops;
    return root;
  }
  /// Every source is one of these ops.
  constexpr RuleRoot overOnly(OpCodeSet ops) const {
    RuleRoot root = *this;
    root.only = ops;
    return root;
  }
  /// The first source is a scalar of i32.
  constexpr RuleRoot ofI32() const {
    RuleRoot root = *this;
    root.first = First::I32;
    return root;
  }
  /// The first source is anything else.
  constexpr RuleRoot notOfI32() const {
    RuleRoot root = *this;
    root.first = First::NotI32;
    return root;
  }
  /// The first source is of bools, in any shape.
  constexpr RuleRoot ofBools() const {
    RuleRoot root = *this;
    root.first = First::Bools;
    return root;
  }

  OpCode getCode() const { return code; }
  /// Whether the first source may be of this type.
  bool fits(mlir::Type type) const;
  /// Whether the sources may be of these ops.
  bool fits(OpCodeSet sources) const {
    return (some.empty() || some.intersects(sources)) &&
           (only.empty() || sources.isSubsetOf(only));
  }

private:
  enum class First : uint8_t { Any, I32, NotI32, Bools };
  OpCode code;
  First first = First::Any;
  /// Empty for any.
  OpCodeSet some, only;
};

/// The ops of the sources of a UOp.
inline OpCodeSet getSourceCodes(mlir::Operation *op) {
  OpCodeSet codes;
  for (mlir::Value source : op->getOperands())
    codes.insert(getOpCode(source));
  return codes;
}

/// A pattern that says more of its root than the op. Nodes that the root does
/// not fit may be offered to it all the same: it refuses them.
class RulePattern : public mlir::RewritePattern {
public:
  RulePattern(const RuleRoot &root, mlir::MLIRContext *context);

  const RuleRoot &getRoot() const { return root; }

private:
  RuleRoot root;
};

/// The patterns of a set, ordered once for any number of runs.
class RuleIndex {
public:
  explicit RuleIndex(const mlir::FrozenRewritePatternSet &patterns);

  const mlir::FrozenRewritePatternSet &getPatterns() const { return patterns; }

  struct Candidate {
    const mlir::RewritePattern *pattern;
    RuleRoot root;
  };
  /// The native patterns that may match an op over sources that fit, in the
  /// order in which they are tried.
  llvm::ArrayRef<Candidate> get(OpCode code, mlir::Operation *op) const {
    const ByType &lists = byCode[static_cast<unsigned>(code)];
    mlir::Type first =
        op->getNumOperands() ? op->getOperand(0).getType() : mlir::Type();
    for (size_t i = 0; i < std::size(types); ++i)
      if (first == types[i])
        return lists.ofType[i];
    return lists.all;
  }
  /// Whether there is a native pattern for this op.
  bool hasAny(OpCode code) const {
    return !byCode[static_cast<unsigned>(code)].all.empty();
  }

private:
  using List = llvm::SmallVector<Candidate, 0>;
  struct ByType {
    List all, ofType[3];
  };
  void add(OpCode code, const mlir::RewritePattern *pattern);

  mlir::FrozenRewritePatternSet patterns;
  /// i32, f32 and bool: the types that have lists of their own.
  mlir::Type types[3];
  ByType byCode[numOpCodes];
};

} // namespace uop

#endif // UOP_GRAPH_RULEINDEX_H
