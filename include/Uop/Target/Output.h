//===- Output.h - the output file of a tool ---------------------*- C++ -*-===//
//
// Text is written once it is whole, so that a failure leaves the file as it was.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_TARGET_OUTPUT_H
#define UOP_TARGET_OUTPUT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/LogicalResult.h"

namespace uop {

/// Writes `text` to `file`, `-` being standard output. Says on standard error why
/// it can't, and fails.
llvm::LogicalResult writeOutput(llvm::StringRef file, llvm::StringRef text);

} // namespace uop

#endif // UOP_TARGET_OUTPUT_H
