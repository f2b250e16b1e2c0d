//===- ClangCompiler.h - clang as a library ---------------------*- C++ -*-===//
//
// The compiler inside this process: C text to the bytes of an object file.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_LIB_RUNTIME_CLANGCOMPILER_H
#define UOP_LIB_RUNTIME_CLANGCOMPILER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace uop::runtime {

/// Text over this size is compiled in a child process.
constexpr size_t inProcessLimit = 256 * 1024;

/// What identifies clang and the headers it is given here.
std::string clangIdentity();

/// Compiles `source` to a relocatable ELF object. `flags` are those of the
/// clang driver. The error holds clang's diagnostics, which call the text
/// `kernel.c`. For large text clang runs in a forked child with limits on
/// memory and time, and its death is an error too.
llvm::Expected<llvm::SmallVector<char, 0>>
compileWithClang(llvm::StringRef source, llvm::ArrayRef<std::string> flags);

} // namespace uop::runtime

#endif // UOP_LIB_RUNTIME_CLANGCOMPILER_H
