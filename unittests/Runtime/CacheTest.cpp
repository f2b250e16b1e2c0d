//===- CacheTest.cpp - the kernel cache on disk ---------------------------===//

#include "Uop/Runtime/Cache.h"

#include "Sandbox.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace uop::runtime;
using llvm::StringRef;

namespace {

class CacheTest : public Sandbox {
protected:
  static mode_t modeOf(const std::string &file) {
    struct stat info;
    return stat(file.c_str(), &info) == 0 ? info.st_mode & 0777 : 0;
  }
  static std::string payload(const Cache &cache, StringRef name) {
    auto entry = cache.read(name);
    return entry ? entry->getBuffer().str() : "<none>";
  }
};

TEST_F(CacheTest, StoresPrivately) {
  set("UOPC_CACHE", path("a/b/c").c_str());
  Cache cache = llvm::cantFail(Cache::open());
  EXPECT_EQ(cache.folder(), path("a/b/c"));
  EXPECT_EQ(payload(cache, "k.o"), "<none>");
  EXPECT_EQ(message(cache.write("k.o", "first")), "");
  EXPECT_EQ(payload(cache, "k.o"), "first");
  EXPECT_EQ(message(cache.write("k.o", "second")), "");
  EXPECT_EQ(payload(cache, "k.o"), "second");
  for (const char *folder : {"a", "a/b", "a/b/c"})
    EXPECT_EQ(modeOf(path(folder)), 0700u);
  EXPECT_EQ(modeOf(cache.pathOf("k.o")), 0600u);
  EXPECT_EQ(list(cache.folder()).size(), 1u);
}

TEST_F(CacheTest, FolderComesFromTheEnvironment) {
  auto folder = [] { return llvm::cantFail(Cache::open()).folder().str(); };
  set("XDG_CACHE_HOME", path("xdg").c_str());
  set("HOME", path("home").c_str());
  EXPECT_EQ(folder(), path("cache"));
  set("UOPC_CACHE", "");
  EXPECT_EQ(folder(), path("xdg/uopc"));
  set("XDG_CACHE_HOME", "relative");
  EXPECT_EQ(folder(), path("home/.cache/uopc"));
  set("XDG_CACHE_HOME", nullptr);
  EXPECT_EQ(folder(), path("home/.cache/uopc"));
  set("UOPC_CACHE", path("slash/./").c_str());
  EXPECT_EQ(folder(), path("slash"));
}

TEST_F(CacheTest, RefusesFoldersThatOthersMayChange) {
  ASSERT_EQ(mkdir(path("cache").c_str(), 0700), 0);
  for (mode_t mode : {0770, 0702, 0777, 01777}) {
    ASSERT_EQ(chmod(path("cache").c_str(), mode), 0);
    std::string text = message(Cache::open());
    expectContains(text, path("cache"));
    expectContains(text, "others than its owner may write to it");
  }
  ASSERT_EQ(chmod(path("cache").c_str(), 0755), 0);
  EXPECT_EQ(message(Cache::open()), "");
  if (geteuid() != 0)
    return;
  ASSERT_EQ(chown(path("cache").c_str(), 12345, 12345), 0);
  expectContains(message(Cache::open()), "belongs to another user");
}

TEST_F(CacheTest, NamesAFolderThatCannotBe) {
  std::string file = write("file", "x");
  for (const std::string &folder :
       {file, file + "/sub", std::string("/proc/uopc/cache"),
        std::string("/dev/null")}) {
    set("UOPC_CACHE", folder.c_str());
    expectContains(message(Cache::open()),
                   "kernel cache folder '" + folder + "'");
  }
  // One that may be read only; root may write everywhere.
  ASSERT_EQ(mkdir(path("sealed").c_str(), 0500), 0);
  Cache sealed = llvm::cantFail(Cache::open(path("sealed")));
  if (geteuid() != 0)
    expectContains(message(sealed.write("k.o", "x")), path("sealed"));
  // A folder that vanishes after it was opened.
  Cache cache = llvm::cantFail(Cache::open(path("gone")));
  ASSERT_EQ(rmdir(path("gone").c_str()), 0);
  expectContains(message(cache.write("k.o", "x")), path("gone"));
}

TEST_F(CacheTest, DigestSeparatesParts) {
  EXPECT_EQ(Cache::digest({"ab", "c"}).size(), 64u);
  EXPECT_EQ(Cache::digest({"ab", "c"}), Cache::digest({"ab", "c"}));
  EXPECT_NE(Cache::digest({"ab", "c"}), Cache::digest({"a", "bc"}));
  EXPECT_NE(Cache::digest({"ab"}), Cache::digest({"ab", ""}));
}

TEST_F(CacheTest, DamagedEntriesCountAsNone) {
  Cache cache = llvm::cantFail(Cache::open());
  auto put = [&](StringRef bytes) { write("cache/k.o", bytes); };
  ASSERT_EQ(message(cache.write("k.o", "payload")), "");
  std::string whole = read(cache.pathOf("k.o"));
  for (size_t size = 0; size < whole.size(); ++size) {
    put(StringRef(whole).take_front(size));
    EXPECT_EQ(payload(cache, "k.o"), "<none>") << size;
  }
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] ^= 1;
    put(changed);
    EXPECT_EQ(payload(cache, "k.o"), "<none>") << at;
  }
  put(whole + "x");
  EXPECT_EQ(payload(cache, "k.o"), "<none>");
  put(std::string(1000, '\0'));
  EXPECT_EQ(payload(cache, "k.o"), "<none>");
  // A sound entry under another's name.
  write("cache/other.o", whole);
  EXPECT_EQ(payload(cache, "other.o"), "<none>");
  ASSERT_EQ(message(cache.write("k.o", "payload")), "");
  EXPECT_EQ(payload(cache, "k.o"), "payload");
}

TEST_F(CacheTest, ReadersNeverSeeHalfAnEntry) {
  Cache cache = llvm::cantFail(Cache::open());
  std::string a(300000, 'a'), b(200000, 'b');
  ASSERT_EQ(message(cache.write("k.o", a)), "");
  std::vector<pid_t> writers;
  for (int i = 0; i < 4; ++i) {
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (int round = 0; round < 20; ++round)
        if (llvm::Error error = cache.write("k.o", round % 2 ? a : b)) {
          llvm::consumeError(std::move(error));
          _exit(1);
        }
      _exit(0);
    }
    writers.push_back(child);
  }
  for (int round = 0; round < 50; ++round) {
    std::string text = payload(cache, "k.o");
    EXPECT_TRUE(text == a || text == b);
  }
  for (pid_t child : writers) {
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(list(cache.folder()).size(), 1u);
}

} // namespace
