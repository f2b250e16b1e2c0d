//===- Expression.h - scalar expressions for proofs -------------*- C++ -*-===//
//
// Infix text to a program whose root is a scalar expression over unknowns.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_UNITTESTS_PROOFS_EXPRESSION_H
#define UOP_UNITTESTS_PROOFS_EXPRESSION_H

#include "Uop/Graph/UniquingBuilder.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <map>

namespace uop::proofs {

/// An unknown: a RANGE from 0 to `high` (plus `low`, if that is not 0), or an
/// element of memory, which is any value of its dtype.
struct Unknown {
  DType dtype = DType::I32;
  std::optional<std::pair<int64_t, int64_t>> bounds;
  /// Elements of an unknown that is indexed, as in `m[i]`; 0 for a scalar.
  int64_t size = 0;
};

/// `a in 0..31, b in -100..100, p: bool, x: f32, m: f32[8]`.
using Unknowns = std::map<char, Unknown>;
Unknowns parseUnknowns(llvm::StringRef text);

/// The value of `name` in builder's block; the same name is the same value.
mlir::Value makeUnknown(UniquingBuilder &builder, char name,
                        const Unknown &unknown);

/// A program of its own.
mlir::OwningOpRef<ProgramOp> makeProgram(mlir::MLIRContext *context,
                                         llvm::function_ref<mlir::Value(
                                             UniquingBuilder &)> build);

/// Parses `+ * // % < != max(a,b) where(c,a,b) int(a) bool(a) float(a) half(a)
/// recip sqrt exp2 log2 sin m[i] m[i if gate else alt]`, literals and one-letter
/// names. A small letter that is not in `unknowns` is any i32; a capital one is
/// the constant of that letter. Null, with the place said on stderr, for what is
/// no expression or has no type.
mlir::Value parseExpression(UniquingBuilder &builder, llvm::StringRef text,
                            const Unknowns &unknowns,
                            const std::map<char, int32_t> &constants = {});

} // namespace uop::proofs

#endif // UOP_UNITTESTS_PROOFS_EXPRESSION_H
