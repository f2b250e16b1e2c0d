//===- Program.h - a compiled kernel ----------------------------*- C++ -*-===//
//
// From a scheduled program to a function that runs on buffers.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_RUNTIME_PROGRAM_H
#define UOP_RUNTIME_PROGRAM_H

#include "Uop/Runtime/Buffer.h"
#include "Uop/Runtime/KernelSource.h"

namespace uop::runtime {

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
  llvm::ArrayRef<KernelParam> params() const { return printed.params; }
  /// Whether the kernel stores to, and whether it reads from, each parameter.
  bool isWritten(unsigned param) const { return printed.written[param]; }
  bool isRead(unsigned param) const { return printed.read[param]; }
  /// The C text, prelude included.
  const std::string &source() const { return text; }
  /// The function, and what it does.
  const KernelSource &getSource() const { return printed; }
  const Kernel &kernel() const { return code; }

  /// Runs on one buffer per parameter, in the order of `params`. An error, before
  /// anything runs, for a wrong number or size of buffers and for buffers that
  /// overlap where one of them is written.
  llvm::Error run(llvm::ArrayRef<Buffer *> buffers) const;

private:
  KernelSource printed;
  std::string text;
  Kernel code;
};

} // namespace uop::runtime

#endif // UOP_RUNTIME_PROGRAM_H
