//===- Uir.h - the .uir text format -----------------------------*- C++ -*-===//
//
// Parsing and printing of `.uir`, one SSA statement per line.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_TARGET_UIR_H
#define UOP_TARGET_UIR_H

#include "Uop/Graph/UniquingBuilder.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/SourceMgr.h"

namespace uop {

/// Parses the main buffer of `sourceMgr` as `.uir` into a module of one program,
/// named for the buffer's file (its stem, `program` for standard input). Null after
/// an error, which has the file, line and column of the statement. Nodes have the
/// location of the statement that made them.
mlir::OwningOpRef<mlir::ModuleOp> parseUir(const llvm::SourceMgr &sourceMgr,
                                           mlir::MLIRContext *context);

/// Prints a program in the canonical form: toposort order, `%0` on, constants
/// inline where the statement's other operands give their type back.
void printUir(ProgramOp program, llvm::raw_ostream &os);

/// Prints the nodes nearest to `root` (at most `limit` that have sources) in the
/// same form; a program of its own when nothing is cut off, else with a comment
/// `# %0 = add ...` for each node that is.
void printUirExcerpt(mlir::Value root, size_t limit, llvm::raw_ostream &os);

/// Whether a file is `.uir`: by its name, or for standard input ("-") by its text:
/// the first statement starts with `%name =` followed by a bare UOp mnemonic.
bool isUir(llvm::StringRef fileName, llvm::StringRef text);

/// The literal of one element in `.uir`: `true`, `-3`, `2.5`, `1e-05`, `inf`,
/// `-inf`, `nan`; floats in the shortest form that reads back the same in their
/// dtype, always with a point or an exponent.
std::string formatLiteral(DType dtype, Word word);

/// Registers `--uir-to-mlir`, `--mlir-to-uir` and `--mlir-to-c`.
void registerUopTranslations();

} // namespace uop

#endif // UOP_TARGET_UIR_H
