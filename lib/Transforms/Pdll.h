//===- Pdll.h - from PDLL to PDL --------------------------------*- C++ -*-===//
//
// Runs the PDLL compiler of MLIR. Private to the reader of rule files.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_LIB_TRANSFORMS_PDLL_H
#define UOP_LIB_TRANSFORMS_PDLL_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace uop {

/// The PDL module of a file in PDLL; null after an error, which has the file's
/// line and column. The PDLL parser is in no shared library of MLIR, so this
/// runs the program `mlir-pdll`: the one of the MLIR that uop was built with,
/// or what the PATH has.
mlir::OwningOpRef<mlir::ModuleOp>
compilePdll(llvm::StringRef path, llvm::ArrayRef<std::string> includeDirs,
            mlir::MLIRContext *context);

} // namespace uop

#endif // UOP_LIB_TRANSFORMS_PDLL_H
