//===- Smt.h - scalar expressions for a solver ------------------*- C++ -*-===//
//
// Pairs of i32 or bool expressions as SMT-LIB 2, and Z3 to compare them.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_UNITTESTS_PROOFS_SMT_H
#define UOP_UNITTESTS_PROOFS_SMT_H

#include "Uop/Dialect/Scalar.h"

namespace uop::proofs {

/// Two ways to say the same: vectors of 32 bits, and integers that are wrapped
/// after every op that may leave i32. Z3 is good at different things in each.
enum class Theory { BitVectors, Integers };

/// Declarations, bounds and an assertion that `before` and `after` differ;
/// nullopt if they hold an op of floats, or one that is no scalar expression.
std::optional<std::string> makeQuery(mlir::Value before, mlir::Value after,
                                     Theory theory);

enum class Answer { Proved, Refuted, TimedOut };

/// Asks Z3 each query, with a limit in milliseconds for each. Empty, with the
/// reason in `error`, if it can't be run.
std::vector<Answer> askZ3(llvm::ArrayRef<std::string> queries, unsigned limit,
                          std::string &error);
/// Values of the unknowns that Z3 found for a query that is refuted.
std::string getModel(const std::string &query, unsigned limit);

} // namespace uop::proofs

#endif // UOP_UNITTESTS_PROOFS_SMT_H
