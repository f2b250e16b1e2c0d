//===- C.h - printing kernels as C ------------------------------*- C++ -*-===//
//
// From a linear program to the text of a C function.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_TARGET_C_H
#define UOP_TARGET_C_H

#include "Uop/Dialect/Uop.h"
#include "llvm/Support/raw_ostream.h"

namespace uop {

/// A parameter of a kernel: `dataN` for BUFFER slot N.
struct KernelParam {
  int64_t slot;
  DType dtype;
  int64_t size;
};

struct COptions {
  /// The function's name; made a C identifier.
  std::string name = "kernel";
  /// Put the source location of each statement in a comment.
  bool locations = false;
};

/// The buffers of a program, sorted by slot: the kernel's parameters.
llvm::SmallVector<KernelParam> getKernelParams(ProgramOp program);

/// Prints the prelude (includes and division helpers).
void printCPrelude(llvm::raw_ostream &os);

/// Prints the function of a scheduled program. Emits an error and fails, with
/// nothing printed, on ops that C has no form for (BARRIER, WMMA, PARAM, shaped
/// values).
mlir::LogicalResult printC(ProgramOp program, llvm::raw_ostream &os,
                           const COptions &options);

/// `name` as a C identifier: other characters become `_`, a leading digit gets
/// one in front, keywords one behind, and names that C reserves, as `__x`, a `k`
/// in front. An identifier that this returned stays as it is.
std::string makeCIdentifier(llvm::StringRef name);

} // namespace uop

#endif // UOP_TARGET_C_H
