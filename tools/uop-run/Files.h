//===- Files.h - what goes in and what comes out ----------------*- C++ -*-===//
//
// The memory of a run by slot: from files or filled, and to files or the terminal.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_TOOLS_UOPRUN_FILES_H
#define UOP_TOOLS_UOPRUN_FILES_H

#include "Options.h"
#include "Uop/Dialect/Plan.h"
#include "Uop/Runtime/Npy.h"
#include "llvm/ADT/DenseSet.h"

/// What a program or a plan takes and gives.
struct Interface {
  static mlir::FailureOr<Interface> get(uop::ProgramOp program);
  static Interface get(uop::PlanOp plan);

  int64_t getOutputSlot(int64_t number) const { return outputSlot + number; }

  /// A program of loops: it has no outputs.
  bool isLoops = false;
  /// Outputs print with their numbers.
  bool isNumbered = false;
  /// The buffers, by slot.
  llvm::SmallVector<uop::KernelParam> params;
  /// The types of the outputs; number i has slot `outputSlot + i`.
  llvm::SmallVector<mlir::Type> outputs;
  int64_t outputSlot = 0;
};

/// The memory of one run and its files. Functions that give an int give 0, or 1
/// after saying what is wrong.
class Files {
public:
  Files(const Interface &interface, const Options &options)
      : interface(interface), options(options) {}

  /// Finds the slots of all files; an error for one that there is no slot for.
  int resolve();
  /// An error for an --output that nothing would be written to.
  int checkOutputs(const llvm::DenseSet<int64_t> &written) const;
  /// Makes the contents of a buffer before the run. What is not read is zero
  /// unless there is a file for it.
  int load(const uop::KernelParam &param, bool isRead);
  /// Writes or prints every output and the buffers `written`.
  int finish(const llvm::DenseSet<int64_t> &written);

  std::map<int64_t, uop::runtime::Buffer> buffers;

private:
  int report(int64_t slot, uop::DType dtype, llvm::ArrayRef<int64_t> shape);

  const Interface &interface;
  Options options;
  /// The files that wait until all of them are written.
  std::vector<uop::runtime::StagedFile> staged;
};

/// Says what is wrong, on standard error, and gives 1.
int fail(const llvm::Twine &message);
int fail(llvm::Error error);

#endif // UOP_TOOLS_UOPRUN_FILES_H
