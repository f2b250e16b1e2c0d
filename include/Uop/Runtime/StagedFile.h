//===- StagedFile.h - files that appear whole -------------------*- C++ -*-===//
//
// A file that is written beside its place and put there in one step.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_RUNTIME_STAGEDFILE_H
#define UOP_RUNTIME_STAGEDFILE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace uop::runtime {

/// A file that stands beside its place until `commit` puts it there. One that is
/// never committed leaves nothing behind, and a file at its place as it was.
class StagedFile {
public:
  /// Writes what `print` prints. A device or a pipe has no place beside it, so
  /// that gets it at once. Errors name the file.
  static llvm::Expected<StagedFile>
  write(llvm::StringRef path,
        llvm::function_ref<void(llvm::raw_ostream &)> print);
  llvm::Error commit();

  StagedFile(StagedFile &&other);
  StagedFile &operator=(StagedFile &&) = delete;
  ~StagedFile();

private:
  StagedFile() = default;

  /// As the caller named it; the file that this is; the file beside that, empty
  /// if there is none (any more).
  std::string path, target, temporary;
};

} // namespace uop::runtime

#endif // UOP_RUNTIME_STAGEDFILE_H
