//===- RandomExpression.h - small expressions for rules ---------*- C++ -*-===//
//
// Small scalar expressions of the kind that index arithmetic is made of.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_UNITTESTS_PROOFS_RANDOMEXPRESSION_H
#define UOP_UNITTESTS_PROOFS_RANDOMEXPRESSION_H

#include "Uop/Graph/UniquingBuilder.h"

namespace uop::proofs {

/// The expression of a seed: of i32, bool and, when `floats`, f32 ops over few
/// unknowns and telling constants, with shared parts. The same on every machine.
mlir::Value makeRandomExpression(UniquingBuilder &builder, uint64_t seed,
                                 bool floats);

} // namespace uop::proofs

#endif // UOP_UNITTESTS_PROOFS_RANDOMEXPRESSION_H
