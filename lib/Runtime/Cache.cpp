//===- Cache.cpp - the kernel cache on disk -------------------------------===//

#include "Uop/Runtime/Cache.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <cstdlib>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;

namespace uop::runtime {

namespace {

/// Trailer: magic, payload length as 64 bits little endian, SHA-256.
constexpr StringLiteral magic = "UOPCACH1";
constexpr size_t shaSize = 32;
constexpr size_t trailerSize = 8 + 8 + shaSize;

Error folderError(const Twine &folder, const Twine &reason) {
  return createStringError("kernel cache folder '" + folder + "' " + reason +
                           " (UOPC_CACHE names another one)");
}

std::array<uint8_t, shaSize> checksum(StringRef name, StringRef payload) {
  SHA256 sha;
  sha.update(name);
  sha.update(payload);
  return sha.final();
}

/// Makes `folder` and its missing parents, with mode 0700.
std::error_code createPrivately(StringRef folder) {
  // From the innermost ancestor that exists down to the folder itself.
  SmallVector<StringRef> missing;
  for (StringRef at = folder; !at.empty() && !sys::fs::exists(at);
       at = sys::path::parent_path(at))
    missing.push_back(at);
  for (StringRef at : llvm::reverse(missing))
    if (mkdir(at.str().c_str(), 0700) != 0 && errno != EEXIST)
      return errnoAsErrorCode();
  return {};
}

/// The folder that the environment names.
Expected<std::string> folderFromEnvironment() {
  auto variable = [](const char *name) {
    const char *value = std::getenv(name);
    return StringRef(value ? value : "");
  };
  if (StringRef folder = variable("UOPC_CACHE"); !folder.empty())
    return folder.str();
  SmallString<128> folder;
  // The XDG base directory specification says to ignore a relative path here.
  if (StringRef base = variable("XDG_CACHE_HOME");
      sys::path::is_absolute(base)) {
    folder = base;
    sys::path::append(folder, "uopc");
    return folder.str().str();
  }
  if (!sys::path::home_directory(folder))
    return createStringError("no folder for the kernel cache: UOPC_CACHE, "
                             "XDG_CACHE_HOME and HOME are unset");
  sys::path::append(folder, ".cache", "uopc");
  return folder.str().str();
}

} // namespace

Expected<Cache> Cache::open() {
  Expected<std::string> folder = folderFromEnvironment();
  if (!folder)
    return folder.takeError();
  return open(*folder);
}

Expected<Cache> Cache::open(StringRef folder) {
  SmallString<128> path(folder);
  if (std::error_code ec = sys::fs::make_absolute(path))
    return folderError(folder, "has no absolute path: " + ec.message());
  sys::path::remove_dots(path);
  while (path.size() > 1 && path.back() == '/')
    path.pop_back();

  struct stat info;
  if (stat(path.c_str(), &info) != 0) {
    if (errno != ENOENT)
      return folderError(path, "can't be used: " + sys::StrError());
    if (std::error_code ec = createPrivately(path))
      return folderError(path, "can't be created: " + ec.message());
    if (stat(path.c_str(), &info) != 0)
      return folderError(path, "can't be used: " + sys::StrError());
  }
  if (!S_ISDIR(info.st_mode))
    return folderError(path, "isn't a folder");
  if (info.st_uid != geteuid())
    return folderError(path, "belongs to another user");
  if (info.st_mode & (S_IWGRP | S_IWOTH))
    return folderError(path, "is refused: others than its owner may write to "
                             "it");
  return Cache(path.str().str());
}

std::string Cache::digest(ArrayRef<StringRef> parts) {
  SHA256 sha;
  for (StringRef part : parts) {
    std::array<uint8_t, 8> length;
    support::endian::write64le(length.data(), part.size());
    sha.update(length);
    sha.update(part);
  }
  return toHex(sha.final(), /*LowerCase=*/true);
}

std::unique_ptr<MemoryBuffer> Cache::read(StringRef name) const {
  // Read, not mapped: the bytes that are checked are the bytes that are used.
  ErrorOr<std::unique_ptr<MemoryBuffer>> file =
      MemoryBuffer::getFile(pathOf(name), /*IsText=*/false,
                            /*RequiresNullTerminator=*/false,
                            /*IsVolatile=*/true);
  if (!file)
    return nullptr;
  StringRef bytes = (*file)->getBuffer();
  if (bytes.size() <= trailerSize)
    return nullptr;
  StringRef payload = bytes.drop_back(trailerSize);
  StringRef trailer = bytes.take_back(trailerSize);
  if (!trailer.consume_front(magic) ||
      support::endian::read64le(trailer.data()) != payload.size() ||
      arrayRefFromStringRef(trailer.drop_front(8)) !=
          ArrayRef<uint8_t>(checksum(name, payload)))
    return nullptr;
  return MemoryBuffer::getMemBufferCopy(payload, name);
}

Error Cache::write(StringRef name, StringRef payload) const {
  std::array<uint8_t, 8> length;
  support::endian::write64le(length.data(), payload.size());
  std::array<uint8_t, shaSize> sha = checksum(name, payload);

  SmallString<128> temporary;
  int fd = -1;
  if (std::error_code ec = sys::fs::createUniqueFile(
          pathOf(name) + ".%%%%%%%%%%%%", fd, temporary, sys::fs::OF_None,
          sys::fs::owner_read | sys::fs::owner_write))
    return folderError(path, "can't be written to: " + ec.message());
  raw_fd_ostream out(fd, /*shouldClose=*/true);
  out << payload << magic << toStringRef(length) << toStringRef(sha);
  out.close();
  std::error_code ec = out.error();
  out.clear_error();
  if (!ec)
    ec = sys::fs::rename(temporary, pathOf(name));
  if (!ec)
    return Error::success();
  (void)sys::fs::remove(temporary);
  return folderError(path, "can't be written to: " + ec.message());
}

std::string Cache::pathOf(StringRef name) const {
  return (path + "/" + name).str();
}

} // namespace uop::runtime
