//===- Profile.h - a trace of this run --------------------------*- C++ -*-===//
//
// What LLVM's time profiler notes, as a file for Perfetto and chrome://tracing.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_TOOLS_UOPRUN_PROFILE_H
#define UOP_TOOLS_UOPRUN_PROFILE_H

#include "llvm/ADT/StringRef.h"

#include <string>

/// Takes notes from its making on, unless `path` is empty.
class Profile {
public:
  explicit Profile(llvm::StringRef path);
  ~Profile();

  /// Writes the file, whole or not at all; 0, or 1 after saying why it can't.
  int write();

private:
  std::string path;
};

#endif // UOP_TOOLS_UOPRUN_PROFILE_H
