//===- Diagnostics.cpp - MLIR's diagnostics as errors ---------------------===//

#include "Diagnostics.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Threading.h"

llvm::Error
uop::runtime::collectErrors(mlir::MLIRContext *context,
              llvm::function_ref<mlir::LogicalResult()> action) {
  std::string problem;
  uint64_t thread = llvm::get_threadid();
  mlir::ScopedDiagnosticHandler handler(
      context, [&](mlir::Diagnostic &diagnostic) -> mlir::LogicalResult {
        if (llvm::get_threadid() != thread ||
            diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error)
          return mlir::failure();
        if (!problem.empty())
          problem += "; ";
        if (auto loc = diagnostic.getLocation()
                           ->findInstanceOf<mlir::FileLineColLoc>())
          problem += llvm::formatv("{0}:{1}:{2}: ", loc.getFilename().strref(),
                                   loc.getLine(), loc.getColumn());
        problem += diagnostic.str();
        return mlir::success();
      });
  if (mlir::succeeded(action()))
    return llvm::Error::success();
  return llvm::createStringError(llvm::inconvertibleErrorCode(), problem);
}
