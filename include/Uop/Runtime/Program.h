//===- Program.h - a compiled kernel ----------------------------*- C++ -*-===//
//
// From a scheduled program to a function that runs on buffers.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_RUNTIME_PROGRAM_H
#define UOP_RUNTIME_PROGRAM_H

#include "Uop/Runtime/Buffer.h"
#include "Uop/Runtime/Compiler.h"
#include "Uop/Target/C.h"
#include "llvm/ADT/DenseSet.h"

namespace uop::runtime {

/// The slots of the BUFFERs that a program of loops stores to, and that it reads.
void collectAccesses(ProgramOp program, llvm::DenseSet<int64_t> &written,
                     llvm::DenseSet<int64_t> &read);

struct ProgramOptions {
  /// The kernel's name in the C text.
  std::string name = "kernel";
  /// Exact results: see CompileRequest.
  bool strict = false;
};

/// A kernel with its parameters; cheap to copy, may run from several threads on
/// different buffers.
class Program {
public:
  /// Prints `linear`, a scheduled program, as C and compiles it.
  static llvm::Expected<Program> compile(ProgramOp linear,
                                         const ProgramOptions &options);

  /// The buffers that `run` wants, by slot.
  llvm::ArrayRef<KernelParam> params() const { return parameters; }
  /// Whether the kernel stores to, and whether it reads from, each parameter.
  bool isWritten(unsigned param) const { return written[param]; }
  bool isRead(unsigned param) const { return read[param]; }
  /// The C text, prelude included.
  const std::string &source() const { return text; }
  const Kernel &kernel() const { return code; }
  /// Floating point operations of one run (loops of unknown length count once).
  double flops() const { return operations; }

  /// Runs on one buffer per parameter, in the order of `params`. An error, before
  /// anything runs, for a wrong number or size of buffers and for buffers that
  /// overlap where one of them is written.
  llvm::Error run(llvm::ArrayRef<Buffer *> buffers) const;

private:
  llvm::SmallVector<KernelParam> parameters;
  llvm::SmallVector<bool> written, read;
  std::string text;
  Kernel code;
  double operations = 0;
};

} // namespace uop::runtime

#endif // UOP_RUNTIME_PROGRAM_H
