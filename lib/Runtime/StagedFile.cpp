//===- StagedFile.cpp - files that appear whole ---------------------------===//

#include "Uop/Runtime/StagedFile.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"

#include <utility>

using namespace llvm;

namespace uop::runtime {

static Error writeError(StringRef path, std::error_code ec) {
  return createStringError("'" + path + "': can't be written: " + ec.message());
}

StagedFile::StagedFile(StagedFile &&other)
    : path(std::move(other.path)), target(std::move(other.target)),
      temporary(std::exchange(other.temporary, std::string())) {}

StagedFile::~StagedFile() {
  if (!temporary.empty())
    (void)sys::fs::remove(temporary);
}

Error StagedFile::commit() {
  if (temporary.empty())
    return Error::success();
  if (std::error_code ec = sys::fs::rename(temporary, target))
    return writeError(path, ec);
  temporary.clear();
  return Error::success();
}

Expected<StagedFile>
StagedFile::write(StringRef path, function_ref<void(raw_ostream &)> print) {
  auto writeTo = [&](raw_fd_ostream &os) {
    print(os);
    os.close();
    std::error_code ec = os.error();
    os.clear_error();
    return ec;
  };
  StagedFile staged;
  staged.path = path.str();
  staged.target = path.str();
  sys::fs::file_status status;
  bool exists = !sys::fs::status(path, status);
  if (exists && sys::fs::is_directory(status))
    return writeError(path, std::make_error_code(std::errc::is_a_directory));
  std::error_code ec;
  if (exists && sys::fs::is_other(status)) {
    raw_fd_ostream os(path, ec, sys::fs::CD_OpenExisting);
    if (!ec)
      ec = writeTo(os);
    if (ec)
      return writeError(path, ec);
    return std::move(staged);
  }

  // A link stays a link: what it points to is replaced.
  SmallString<128> real, temporary;
  if (exists && !sys::fs::real_path(path, real))
    staged.target = real.str().str();
  int fd = -1;
  ec = sys::fs::createUniqueFile(staged.target + ".%%%%%%%%", fd, temporary);
  if (ec)
    return writeError(path, ec);
  staged.temporary = temporary.str().str();
  raw_fd_ostream os(fd, /*shouldClose=*/true);
  ec = writeTo(os);
  if (!ec && exists)
    ec = sys::fs::setPermissions(temporary, status.permissions());
  if (ec)
    return writeError(path, ec);
  return std::move(staged);
}

} // namespace uop::runtime
