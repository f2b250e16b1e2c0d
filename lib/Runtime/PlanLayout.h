//===- PlanLayout.h - where a plan's memory is ------------------*- C++ -*-===//
//
// What compiled and interpreted plans share: the memory of each launch, and the
// checks of plan and arguments.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_LIB_RUNTIME_PLANLAYOUT_H
#define UOP_LIB_RUNTIME_PLANLAYOUT_H

#include "Uop/Runtime/Plan.h"

namespace uop::runtime {

/// A run of bytes of one param, or of the arena.
struct Place {
  /// The number of the param; the arena comes after the last.
  unsigned base = 0;
  uint64_t offset = 0;
  DType dtype = DType::Void;
  int64_t size = 0;

  uint64_t getByteSize() const { return uint64_t(size) * getByteWidth(dtype); }
};

class PlanLayout {
public:
  struct Launch {
    /// The number of the kernel.
    unsigned kernel = 0;
    /// By argument of the launch.
    llvm::SmallVector<Place> memory;
  };

  static llvm::Expected<PlanLayout> get(PlanOp plan);

  /// Checks that the kernel of `launch`, which takes what `signature` says, finds
  /// its buffers there, and notes what becomes of the params. The places of
  /// `signature.params` are appended.
  llvm::Error bind(const Launch &launch, const KernelSignature &signature,
                   llvm::SmallVectorImpl<Place> &places);

  /// Checks `arguments` and appends the address of each param in turn.
  llvm::Error resolve(llvm::ArrayRef<Argument> arguments,
                      llvm::SmallVectorImpl<void *> &bases) const;

  /// Inputs by slot, then outputs by number.
  std::vector<PlanParam> params;
  /// Each once, in the order of their first launch.
  std::vector<ProgramOp> kernels;
  std::vector<Launch> launches;
  uint64_t arenaSize = 0;

private:
  std::optional<size_t> find(const Argument &argument, size_t guess) const;
  llvm::Error check(const Argument &argument, const PlanParam &param) const;
  std::string name;
};

} // namespace uop::runtime

#endif // UOP_LIB_RUNTIME_PLANLAYOUT_H
