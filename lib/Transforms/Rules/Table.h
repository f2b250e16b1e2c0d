//===- Table.h - rules as rows of a table -----------------------*- C++ -*-===//
//
// A rule is a name, the op at its root, and a function from a node to what
// takes its place; a set is a table of these. Each row is an ordinary MLIR
// pattern.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_LIB_TRANSFORMS_RULES_TABLE_H
#define UOP_LIB_TRANSFORMS_RULES_TABLE_H

#include "../IndexMath.h"
#include "Nodes.h"
#include "Uop/Graph/Rewrite.h"

namespace uop {

/// The graph that a rule works on: that of graphRewrite, with its unique nodes
/// and all it remembers, or under another driver the nodes around the match.
class RuleGraph {
public:
  RuleGraph(mlir::PatternRewriter &rewriter, mlir::Operation *root)
      : rewriter(rewriter), graph(GraphRewriter::from(rewriter)), root(root) {}

  mlir::Value get(OpCode code, mlir::ValueRange sources, const Arg &arg = {});
  mlir::Value constant(DType dtype, Word word);
  mlir::Value i32(int64_t value) {
    return constant(DType::I32, static_cast<Word>(value));
  }
  mlir::Value boolean(bool value) { return constant(DType::Bool, value); }
  /// `condition` the other way round.
  mlir::Value negate(mlir::Value condition) {
    return get(OpCode::CmpNe, {condition, boolean(true)});
  }

  Bounds &bounds();
  IndexMath &math();
  /// Arithmetic on this graph under other bounds.
  IndexMath makeMath(Bounds &bounds);

  bool isShared(mlir::Value value) {
    return graph ? graph->isShared(value) : !value.hasOneUse();
  }
  /// Notes that the rule would do more if `shared` were not.
  void holdBack(mlir::Value shared) {
    if (graph)
      graph->holdBack(getDefiningOp(shared));
  }
  /// Leaves the node to the rule of its only user, when that is a node like
  /// `isOuter` says; false if it is not.
  bool defer(GraphRewriter::IsOuterFn isOuter);
  /// Whether nothing must be created but the node itself.
  bool isThrifty() { return graph && graph->isThrifty(); }
  /// Whether the graph has no more nodes once `by` is in root's place, as far
  /// as can be told from what shared them before. If not, notes what would have
  /// to change.
  bool isAffordable(mlir::Value by);
  /// Spares the look: the rule knows that it has no more.
  void setAffordable() { knownAffordable = true; }
  /// Takes back what was created and `by` does not need.
  void discardUnused(mlir::Value by) {
    if (graph && graph->getCreated().size() > 1)
      graph->discardUnused(by);
  }

private:
  mlir::PatternRewriter &rewriter;
  GraphRewriter *graph;
  mlir::Operation *root;
  bool knownAffordable = false;
  /// Under another driver, for one match.
  std::optional<Bounds> ownBounds;
  std::unique_ptr<IndexMath> ownMath;
};

/// What takes the place of `op`; null, or op's own value, where the rule does
/// not apply.
using RuleFn = mlir::Value (*)(mlir::Operation *op, RuleGraph &graph);

struct RuleRow {
  /// SET/RULE.
  llvm::StringLiteral name;
  RuleRoot root;
  RuleFn apply;
};

void addRules(mlir::RewritePatternSet &patterns, llvm::ArrayRef<RuleRow> rows);

//===----------------------------------------------------------------------===//
// What rows ask of nodes
//===----------------------------------------------------------------------===//

inline mlir::Value lhs(mlir::Operation *op) { return op->getOperand(0); }
inline mlir::Value rhs(mlir::Operation *op) { return op->getOperand(1); }
inline bool isI32(mlir::Value value) {
  return value.getType().isSignlessInteger(32);
}
inline bool isBool(mlir::Value value) {
  return value.getType().isSignlessInteger(1);
}
/// A scalar or an array of integers or bools.
bool isInteger(mlir::Value value);
/// The only value of all elements: of a CONST, and of one in any shape.
std::optional<Word> getSplat(mlir::Value value);
/// The ops of values that have one.
inline constexpr OpCodeSet splats = {OpCode::Const, OpCode::Reshape,
                                     OpCode::Expand, OpCode::Permute,
                                     OpCode::Shrink};
/// x if `value` is x != true.
mlir::Value getNegated(mlir::Value value);
/// The op of `value` if it has this code.
inline mlir::Operation *match(mlir::Value value, OpCode code) {
  mlir::Operation *op = getDefiningOp(value);
  return op && ::uop::getOpCode(op) == code ? op : nullptr;
}

} // namespace uop

#endif // UOP_LIB_TRANSFORMS_RULES_TABLE_H
