//===- ExternalCompiler.h - the compiler that CC names ----------*- C++ -*-===//
//
// A C compiler that is a program of its own: C text to a shared object.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_LIB_RUNTIME_EXTERNALCOMPILER_H
#define UOP_LIB_RUNTIME_EXTERNALCOMPILER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>
#include <vector>

namespace uop::runtime {

/// Every operation on _Float16 rounds, as clang spells it.
inline constexpr const char *clangHalfFlags[] = {
    "-Xclang", "-ffloat16-excess-precision=none"};

/// The words of a command or of flags.
std::vector<std::string> splitOnSpace(llvm::StringRef text);

/// A compiler program with the arguments that CC gives it.
class ExternalCompiler {
public:
  /// Finds the program; no compiler runs yet.
  static llvm::Expected<ExternalCompiler> find(llvm::StringRef command);

  /// What tells this compiler from another and from a later version.
  std::string identity() const;

  /// Builds a shared object from `source` in a temporary folder and returns its
  /// bytes. Thread safe.
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
  build(llvm::StringRef source, bool usesThreads,
        std::vector<std::string> flags) const;

private:
  std::string program;
  std::vector<std::string> words;
};

} // namespace uop::runtime

#endif // UOP_LIB_RUNTIME_EXTERNALCOMPILER_H
