//===- RuleFile.h - rewrite rules from a file -------------------*- C++ -*-===//
//
// Rules that come from outside: patterns of PDL, written as PDLL or as MLIR,
// read, checked and compiled while the program runs, and applied by
// graphRewrite like every other rule.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_TRANSFORMS_RULEFILE_H
#define UOP_TRANSFORMS_RULEFILE_H

#include "Uop/Graph/Rewrite.h"
#include <memory>

namespace uop {

struct RuleFileOptions {
  /// Folders of `#include`s, asked before the file's own folder, the `.td`
  /// files of uop and those of MLIR.
  llvm::SmallVector<std::string> includeDirs;
};

/// The compiled rules of one file. Copies share them; several threads may apply
/// them at once, each to a program of its own.
class RuleFile {
public:
  /// Reads `path`: PDLL (compiled to PDL by the program `mlir-pdll`), or, if it
  /// is called `.mlir` or `.mlirbc`, a module of `pdl.pattern`s. Emits an error
  /// with line and column of the file for one that is malformed or uses a
  /// native constraint or rewrite that is not one of `Rules.pdll`. The dialects
  /// pdl and pdl_interp must be loaded.
  static mlir::FailureOr<RuleFile> read(llvm::StringRef path,
                                        const RuleFileOptions &options,
                                        mlir::MLIRContext *context);

  /// `STEM/PATTERN` for each rule, where the file is `STEM.pdll`.
  llvm::SmallVector<llvm::StringRef> getRuleNames() const;

  /// Rewrites `program` with these rules, and with those of `also`, to a fixed
  /// point; fails like `graphRewrite`, and when a rule builds a malformed node.
  mlir::FailureOr<RewriteStats>
  apply(ProgramOp program, const RewriteOptions &options = {},
        llvm::ArrayRef<std::string> also = {}) const;

private:
  struct Rule;
  class Pattern;
  std::vector<std::shared_ptr<const Rule>> rules;
};

} // namespace uop

#endif // UOP_TRANSFORMS_RULEFILE_H
