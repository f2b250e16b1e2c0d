//===- Sandbox.h - a folder and an environment for one test -----*- C++ -*-===//
//
// A fixture for tests of the runtime: a temporary folder that goes away, an
// environment without the variables that the runtime reads, and small files.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_UNITTESTS_RUNTIME_SANDBOX_H
#define UOP_UNITTESTS_RUNTIME_SANDBOX_H

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <vector>

class Sandbox : public ::testing::Test {
protected:
  Sandbox() {
    std::error_code ec = llvm::sys::fs::createUniqueDirectory("uop-test", root);
    if (ec)
      ADD_FAILURE() << ec.message();
    (void)llvm::sys::fs::setPermissions(root, llvm::sys::fs::owner_all);
    for (const char *name : {"CC", "CFLAGS", "XDG_CACHE_HOME", "HOME"})
      set(name, nullptr);
    set("UOPC_CACHE", path("cache").c_str());
  }

  ~Sandbox() override {
    for (const auto &[name, value] : saved)
      if (value)
        setenv(name.c_str(), value->c_str(), 1);
      else
        unsetenv(name.c_str());
    (void)llvm::sys::fs::remove_directories(root);
  }

  /// Sets a variable until the test ends; null unsets it.
  void set(const char *name, const char *value) {
    const char *old = std::getenv(name);
    saved.emplace(name, old ? std::optional<std::string>(old) : std::nullopt);
    if (value)
      setenv(name, value, 1);
    else
      unsetenv(name);
  }

  std::string path(llvm::StringRef name) const {
    return (root + "/" + name).str();
  }

  std::string write(llvm::StringRef name, llvm::StringRef bytes) const {
    std::error_code ec;
    llvm::raw_fd_ostream os(path(name), ec);
    EXPECT_FALSE(ec) << ec.message();
    os << bytes;
    return path(name);
  }

  static std::string read(llvm::StringRef file) {
    auto buffer = llvm::MemoryBuffer::getFile(file);
    return buffer ? (*buffer)->getBuffer().str() : "<unreadable>";
  }

  /// The files of a folder, with their paths.
  static std::vector<std::string> list(llvm::StringRef folder) {
    std::vector<std::string> files;
    std::error_code ec;
    for (llvm::sys::fs::directory_iterator at(folder, ec), end;
         !ec && at != end; at.increment(ec))
      files.push_back(at->path());
    return files;
  }

  /// The message of an error, or an empty string.
  static std::string message(llvm::Error error) {
    return error ? llvm::toString(std::move(error)) : "";
  }
  template <typename T> static std::string message(llvm::Expected<T> result) {
    return result ? "" : llvm::toString(result.takeError());
  }

  llvm::SmallString<128> root;

private:
  std::map<std::string, std::optional<std::string>> saved;
};

/// Fails unless the text holds the part.
inline void expectContains(llvm::StringRef text, llvm::StringRef part) {
  EXPECT_TRUE(text.contains(part))
      << "no \"" << part.str() << "\" in: " << text.str();
}

#endif // UOP_UNITTESTS_RUNTIME_SANDBOX_H
