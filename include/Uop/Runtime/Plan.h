//===- Plan.h - a compiled plan of kernels ----------------------*- C++ -*-===//
//
// From a `uop.plan` to kernels that run one after the other on the caller's memory.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_RUNTIME_PLAN_H
#define UOP_RUNTIME_PLAN_H

#include "Uop/Dialect/Plan.h"
#include "Uop/Runtime/Buffer.h"
#include "Uop/Runtime/KernelSource.h"

namespace uop::runtime {

/// What memory is for that the caller gives to a plan.
enum class Role : uint8_t { Input, Output };

/// Memory that a plan takes: the input of a slot or the output of a number.
struct PlanParam {
  Role role;
  int64_t number;
  DType dtype;
  llvm::SmallVector<int64_t> shape;
  /// In elements.
  int64_t size;
  /// Some kernel stores to it, or reads from it.
  bool written = false, read = false;

  uint64_t getByteSize() const { return uint64_t(size) * getByteWidth(dtype); }
  /// `input 3`, as errors say.
  std::string getName() const;
};

/// Memory that the caller gives, used in place. Kernels only store to outputs and
/// to inputs that are `written`.
struct Argument {
  Role role;
  int64_t number;
  void *data;
  DType dtype;
  /// In elements.
  int64_t size;
};

/// A kernel of a plan.
struct PlanKernel {
  KernelSource source;
  Kernel code;
};

/// How long one launch took.
struct LaunchTime {
  double milliseconds = 0;
  /// A second run at once; none of a kernel that changes what it reads.
  std::optional<double> again;
};

/// Kernels, the order of their launches and the memory of each. Movable; may run
/// from several threads at once on different memory.
class Plan {
public:
  /// Lowers every kernel that `plan` launches (copies: the module stays as it
  /// was) and compiles them together. Errors: a kernel that can't be lowered,
  /// printed or compiled, a launch whose memory doesn't fit the kernel or
  /// overlaps where the kernel writes.
  static llvm::Expected<Plan> compile(PlanOp plan,
                                      const CompileOptions &options = {});

  Plan(Plan &&) noexcept;
  Plan &operator=(Plan &&) noexcept;
  ~Plan();

  /// What `run` takes: inputs by slot, then outputs by number.
  llvm::ArrayRef<PlanParam> params() const;
  /// The kernels, each once, in the order of their first launch.
  llvm::ArrayRef<PlanKernel> kernels() const;
  /// The number of the kernel of each launch.
  llvm::ArrayRef<unsigned> launches() const;
  /// Bytes of the memory that temps share in one run.
  uint64_t getArenaSize() const;

  /// Runs on one argument for each of `params`, in any order. An error, before
  /// anything ran, for arguments that are missing, given twice, of another dtype
  /// or size, null, misaligned, or that overlap where one of them is written, and
  /// when there is no memory for temps.
  llvm::Error run(llvm::ArrayRef<Argument> arguments) const;

  /// The same on one buffer for each of `params`, in that order.
  llvm::Error run(llvm::ArrayRef<Buffer *> buffers) const;

  /// Runs like `run` and measures each launch; with `again`, a second time.
  llvm::Expected<std::vector<LaunchTime>>
  measure(llvm::ArrayRef<Argument> arguments, bool again) const;

private:
  struct State;
  explicit Plan(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

/// The kernels that `plan` launches as C, each once, in the order of their first
/// launch; the name in `options` does not count.
llvm::Expected<std::vector<KernelSource>> printKernels(PlanOp plan,
                                                       const COptions &options);

/// A plan that `evaluatePlan` runs on the memory that a `Plan` would take, with the
/// same errors: its oracle.
class InterpretedPlan {
public:
  /// The module of `plan` must stay as it is.
  static llvm::Expected<InterpretedPlan> get(PlanOp plan);

  InterpretedPlan(InterpretedPlan &&) noexcept;
  ~InterpretedPlan();

  llvm::ArrayRef<PlanParam> params() const;
  llvm::Error run(llvm::ArrayRef<Argument> arguments) const;

private:
  struct State;
  explicit InterpretedPlan(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace uop::runtime

#endif // UOP_RUNTIME_PLAN_H
