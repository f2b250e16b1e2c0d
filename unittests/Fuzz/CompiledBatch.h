//===- CompiledBatch.h - many kernels in one compilation --------*- C++ -*-===//
//
// Scheduled programs printed into one C text under different names, compiled at
// once: starting a compiler costs far more than a small kernel.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_UNITTESTS_FUZZ_COMPILEDBATCH_H
#define UOP_UNITTESTS_FUZZ_COMPILEDBATCH_H

#include "Uop/Graph/Interpreter.h"
#include "Uop/Runtime/Compiler.h"
#include "Uop/Target/C.h"

namespace uop::fuzz {

class CompiledBatch {
public:
  /// Adds a scheduled program and the contents of all its buffers before the run.
  /// False after an error.
  bool add(ProgramOp program, ArrayMap arrays);
  /// False, with the reason in `error`, if the C compiler refuses.
  bool compile(bool strict, std::string &error);
  /// The buffers after a run of program number `i`.
  ArrayMap run(size_t i) const;
  const std::string &source() const { return text; }

private:
  struct Entry {
    llvm::SmallVector<KernelParam> params;
    ArrayMap arrays;
  };
  std::vector<Entry> entries;
  std::string text;
  runtime::Kernel kernel;
};

} // namespace uop::fuzz

#endif // UOP_UNITTESTS_FUZZ_COMPILEDBATCH_H
