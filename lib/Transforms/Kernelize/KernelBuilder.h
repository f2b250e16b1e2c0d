//===- KernelBuilder.h - the programs of kernels ----------------*- C++ -*-===//
//
// What the planner decided, as programs and a plan.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_LIB_TRANSFORMS_KERNELIZE_KERNELBUILDER_H
#define UOP_LIB_TRANSFORMS_KERNELIZE_KERNELBUILDER_H

#include "Fusion.h"

namespace uop::planning {

/// An argument of a launch: elements of a memory.
struct Argument {
  Memory memory;
  int64_t begin, end;
  DType dtype;
};

struct BuiltKernel {
  mlir::OwningOpRef<ProgramOp> program;
  llvm::SmallVector<Argument> arguments;
  /// `r_3_4` or `e_3_4`: whether it reduces, and the shape of its results.
  std::string name;
};

/// The program of one kernel. Its BUFFER slots are those of `arguments`: memory
/// that is read in the order in which the graph names it, what else is stored
/// to behind.
mlir::FailureOr<BuiltKernel>
buildKernel(const PlanGraph &graph, const Fusion &fusion, const Kernel &kernel);

} // namespace uop::planning

#endif // UOP_LIB_TRANSFORMS_KERNELIZE_KERNELBUILDER_H
