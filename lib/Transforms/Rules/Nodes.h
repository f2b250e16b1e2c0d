//===- Nodes.h - what rules make nodes with ---------------------*- C++ -*-===//
//
// Constants, and copies of nodes over other sources, made through the rewriter
// that a rule gets.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_LIB_TRANSFORMS_RULES_NODES_H
#define UOP_LIB_TRANSFORMS_RULES_NODES_H

#include "Uop/Dialect/Scalar.h"
#include "Uop/Dialect/Typing.h"
#include "mlir/IR/PatternMatch.h"

namespace uop {

/// The bits of a CONST; nullopt for other values.
std::optional<Word> getConstWord(mlir::Value value);
/// Whether `value` is the CONST of these bits.
inline bool isConst(mlir::Value value, Word word) {
  return getConstWord(value) == word;
}
mlir::Value makeConst(mlir::PatternRewriter &rewriter, mlir::Location loc,
                      DType dtype, Word word);
inline mlir::Value makeI32(mlir::PatternRewriter &rewriter, mlir::Location loc,
                           int32_t value) {
  return makeConst(rewriter, loc, DType::I32, static_cast<Word>(value));
}

/// The node of `op`'s structure over other sources; null when they do not type.
mlir::Value copyOver(mlir::PatternRewriter &rewriter, mlir::Operation *op,
                     mlir::ValueRange sources);

/// Whether the rule has made more than a thrifty run lets it: such a run
/// follows one in which the graph had grown.
bool exceedsThrift(mlir::PatternRewriter &rewriter);

/// Whether `value` depends on `source`, looking at no more than `budget` nodes,
/// which it counts down; a value that is too large to tell does.
bool dependsOn(mlir::Value value, mlir::Value source, unsigned &budget);

} // namespace uop

#endif // UOP_LIB_TRANSFORMS_RULES_NODES_H
