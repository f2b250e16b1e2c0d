//===- ValidatePasses.h - the interpreter around every pass -----*- C++ -*-===//
//
// A pass instrumentation that runs each program before and after each pass.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_TRANSFORMS_VALIDATEPASSES_H
#define UOP_TRANSFORMS_VALIDATEPASSES_H

#include "Uop/Transforms/Difference.h"
#include "mlir/Pass/PassInstrumentation.h"
#include <atomic>

namespace uop {

struct ValidateOptions {
  CompareOptions compare;
  /// Whether a remark says which programs could not be compared, and why.
  bool verbose = false;
};

/// Compares every program before and after every pass that changes it. The first
/// difference is an error that names the pass, what differs and the smallest input
/// found, and sets `found`; after it nothing is compared any more. `found` is to
/// outlive the pass manager, and may be shared by several.
std::unique_ptr<mlir::PassInstrumentation>
createPassValidator(std::atomic<bool> &found,
                    const ValidateOptions &options = {});

} // namespace uop

#endif // UOP_TRANSFORMS_VALIDATEPASSES_H
