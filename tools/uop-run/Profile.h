//===- Profile.h - a trace of this run --------------------------*- C++ -*-===//
//
// What LLVM's time profiler notes, as a file for Perfetto and chrome://tracing.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_TOOLS_UOPRUN_PROFILE_H
#define UOP_TOOLS_UOPRUN_PROFILE_H

#include "llvm/ADT/StringRef.h"

#include <string>

/// A trace, unless `path` is empty. Functions give 0, or 1 after saying what is
/// wrong.
class Profile {
public:
  explicit Profile(llvm::StringRef path) : path(path) {}
  ~Profile();

  /// Takes notes from now on. An error where there is no place for the file.
  int start();
  /// Writes the file, whole or not at all.
  int write();

private:
  std::string path;
};

#endif // UOP_TOOLS_UOPRUN_PROFILE_H
