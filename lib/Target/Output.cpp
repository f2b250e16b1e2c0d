//===- Output.cpp - the output file of a tool -----------------------------===//
//
// MLIR's output files, opened when there is something to write.
//
//===----------------------------------------------------------------------===//

#include "Uop/Target/Output.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/ToolOutputFile.h"

llvm::LogicalResult uop::writeOutput(llvm::StringRef file,
                                     llvm::StringRef text) {
  std::string error;
  std::unique_ptr<llvm::ToolOutputFile> output =
      mlir::openOutputFile(file, &error);
  if (!output) {
    llvm::errs() << "error: " << error << "\n";
    return llvm::failure();
  }
  output->os() << text;
  output->keep();
  return llvm::success();
}
