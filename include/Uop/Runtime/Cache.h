//===- Cache.h - the kernel cache on disk -----------------------*- C++ -*-===//
//
// A folder of compiled kernels, private to one user and shared by any number
// of processes at once. Leans on the file system only.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_RUNTIME_CACHE_H
#define UOP_RUNTIME_CACHE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>

namespace uop::runtime {

/// Entries are files named by a digest of everything that decides their
/// content. An entry is the payload, an ELF file or the name of the entry that
/// holds it, followed by a trailer with the payload's length and a SHA-256 over
/// name and payload; ELF readers ignore what follows, so an entry can be given to
/// dlopen as it is.
class Cache {
public:
  /// Opens the folder that the environment names, creating it (mode 0700,
  /// parents too) where it is missing: $UOPC_CACHE, else $XDG_CACHE_HOME/uopc,
  /// else ~/.cache/uopc. An error if it can't be created or isn't a folder, or
  /// if it belongs to another user or others may write to it.
  static llvm::Expected<Cache> open();

  /// The same for a given folder.
  static llvm::Expected<Cache> open(llvm::StringRef folder);

  /// Digest of `parts` in hexadecimal; where a part ends matters.
  static std::string digest(llvm::ArrayRef<llvm::StringRef> parts);

  /// The payload stored as `name`, or null where there is none: a damaged or
  /// truncated entry counts as none.
  std::unique_ptr<llvm::MemoryBuffer> read(llvm::StringRef name) const;

  /// Stores `payload` as `name` in one step (a temporary, then a rename), so
  /// that other processes see the old entry or the new one. Mode 0600.
  llvm::Error write(llvm::StringRef name, llvm::StringRef payload) const;

  /// Where the entry `name` is, or would be: an absolute path.
  std::string pathOf(llvm::StringRef name) const;

  /// The folder's absolute path.
  llvm::StringRef folder() const { return path; }

private:
  explicit Cache(std::string path) : path(std::move(path)) {}
  std::string path;
};

} // namespace uop::runtime

#endif // UOP_RUNTIME_CACHE_H
