//===- KernelSource.h - kernels as C ----------------------------*- C++ -*-===//
//
// From programs to C functions, with what the runtime must know of each, and from
// those to compiled functions of one signature.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_RUNTIME_KERNELSOURCE_H
#define UOP_RUNTIME_KERNELSOURCE_H

#include "Uop/Runtime/Compiler.h"
#include "Uop/Target/C.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/DenseSet.h"

namespace uop::runtime {

/// The slots of the BUFFERs that a program of loops stores to, and that it reads.
void collectAccesses(ProgramOp program, llvm::DenseSet<int64_t> &written,
                     llvm::DenseSet<int64_t> &read);

/// The buffers of a kernel, by slot, and whether it stores to and reads from each.
struct KernelSignature {
  llvm::SmallVector<KernelParam> params;
  llvm::SmallVector<bool> written, read;
};

KernelSignature getSignature(ProgramOp linear);

/// A kernel as C.
struct KernelSource : KernelSignature {
  /// Of the program.
  std::string name;
  /// The function, without prelude.
  std::string text;
  /// It has loops that are shared out over threads.
  bool usesThreads = false;
  /// Loads, stores and float operations of one run, to see whether it is brief.
  double steps = 0;
  /// Floating point operations of one run. Loops of unknown length count once.
  double flops = 0;
  /// Bytes of the buffers that one run reads and writes, each byte counted once:
  /// an upper bound where only a part of a buffer is.
  double bytes = 0;
};

/// A copy of `program`, a graph of shapes or of loops, as a scheduled program. In
/// loops, an index that is out of bounds for sure is an error.
llvm::Expected<mlir::OwningOpRef<ProgramOp>> lowerKernel(ProgramOp program);

/// Prints `linear`, a scheduled program.
llvm::Expected<KernelSource> printKernel(ProgramOp linear,
                                         const COptions &options);

/// The text of all `sources` behind one prelude.
std::string printTranslationUnit(llvm::ArrayRef<KernelSource> sources);

/// A compiled kernel is called with one pointer per parameter.
using KernelEntry = void(void **buffers);

struct CompileOptions {
  /// Exact results: see CompileRequest.
  bool strict = false;
  /// Called as kernels get compiled, by one thread at a time.
  std::function<void(size_t done, size_t total)> progress;
};

/// Compiles all sources, together and in parallel. Of equal kernels one is
/// compiled. The result has a KernelEntry for each source, in order.
llvm::Expected<std::vector<Kernel>>
compileKernels(llvm::ArrayRef<KernelSource> sources,
               const CompileOptions &options = {});

} // namespace uop::runtime

#endif // UOP_RUNTIME_KERNELSOURCE_H
