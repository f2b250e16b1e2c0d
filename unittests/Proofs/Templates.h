//===- Templates.h - graphs on which rules fire -----------------*- C++ -*-===//
//
// What random expressions don't find, and what is known to be hard.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_UNITTESTS_PROOFS_TEMPLATES_H
#define UOP_UNITTESTS_PROOFS_TEMPLATES_H

#include "llvm/ADT/ArrayRef.h"

namespace uop::proofs {

/// An expression with capital letters for constants, tried with many values of
/// them, for every rule; the rules that fire on it are proved on it.
struct Template {
  const char *expression;
  const char *unknowns;
};
llvm::ArrayRef<Template> getTemplates();

/// `.uir` programs for rules on nodes that are no scalar expressions: what they
/// compute is compared by the interpreters.
llvm::ArrayRef<const char *> getProgramTemplates();

/// A rule (or, with a `/` at the end, a set) that need not keep bits, and why.
struct Exemption {
  const char *rule;
  const char *reason;
};
llvm::ArrayRef<Exemption> getExemptions();

} // namespace uop::proofs

#endif // UOP_UNITTESTS_PROOFS_TEMPLATES_H
