//===- ScratchFolder.h - a private temporary folder -------------*- C++ -*-===//
//
// Where a compiler that isn't on this thread leaves its files.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_LIB_RUNTIME_SCRATCHFOLDER_H
#define UOP_LIB_RUNTIME_SCRATCHFOLDER_H

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cstdlib>
#include <string>
#include <utility>

namespace uop::runtime {

/// A folder that only this user can enter; it goes away with the object.
class ScratchFolder {
public:
  static llvm::Expected<ScratchFolder> create() {
    llvm::SmallString<128> place;
    llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/true, place);
    llvm::sys::path::append(place, "uopc-XXXXXX");
    std::string folder = place.str().str();
    if (!mkdtemp(folder.data()))
      return llvm::createStringError("C compiler: no temporary folder '" +
                                     folder + "': " + llvm::sys::StrError());
    return ScratchFolder(std::move(folder));
  }
  ScratchFolder(ScratchFolder &&other)
      : folder(std::exchange(other.folder, std::string())) {}
  ScratchFolder &operator=(ScratchFolder &&) = delete;
  ~ScratchFolder() {
    if (!folder.empty())
      (void)llvm::sys::fs::remove_directories(folder);
  }

  /// The path of the file `name` in the folder.
  std::string pathOf(llvm::StringRef name) const {
    return (folder + "/" + name).str();
  }

private:
  explicit ScratchFolder(std::string folder) : folder(std::move(folder)) {}
  std::string folder;
};

} // namespace uop::runtime

#endif // UOP_LIB_RUNTIME_SCRATCHFOLDER_H
