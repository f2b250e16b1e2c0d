//===- Loader.h - object files to callable code -----------------*- C++ -*-===//
//
// Links compiled code into this process: object files through ORC, shared objects
// through dlopen.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_LIB_RUNTIME_LOADER_H
#define UOP_LIB_RUNTIME_LOADER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>
#include <vector>

namespace uop::runtime {

struct LoadedCode {
  /// Keeps the code loaded.
  std::shared_ptr<void> code;
  /// Of the symbols that were asked for, in order.
  std::vector<void *> addresses;
};

/// Links a relocatable object; with `usesThreads`, against LLVM's OpenMP runtime
/// too. Thread safe.
llvm::Expected<LoadedCode> loadObject(std::unique_ptr<llvm::MemoryBuffer> object,
                                      bool usesThreads,
                                      llvm::ArrayRef<std::string> symbols);

/// Opens a shared object. Thread safe.
llvm::Expected<LoadedCode> loadShared(const std::string &path, bool usesThreads,
                                      llvm::ArrayRef<std::string> symbols);

} // namespace uop::runtime

#endif // UOP_LIB_RUNTIME_LOADER_H
