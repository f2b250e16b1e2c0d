//===- Diagnostics.h - MLIR's diagnostics as errors -------------*- C++ -*-===//
//
// The runtime returns what passes and printers report.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_LIB_RUNTIME_DIAGNOSTICS_H
#define UOP_LIB_RUNTIME_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/Error.h"

namespace uop::runtime {

/// Runs `action`; what it reports becomes the error. What other threads report in
/// the same context goes on to whom it concerns.
llvm::Error
collectErrors(mlir::MLIRContext *context,
              llvm::function_ref<mlir::LogicalResult()> action);

} // namespace uop::runtime

#endif // UOP_LIB_RUNTIME_DIAGNOSTICS_H
