//===- NpyTest.cpp - reading and writing .npy files -----------------------===//

#include "Uop/Runtime/Npy.h"

#include "Sandbox.h"

#include "llvm/ADT/StringExtras.h"

#include <cstring>
#include <sys/stat.h>

using namespace uop;
using namespace uop::runtime;
using llvm::StringRef;

namespace {

std::string bytesOf(const void *data, size_t size) {
  return std::string(static_cast<const char *>(data), size);
}

template <typename T> std::string bytesOf(std::vector<T> values) {
  return bytesOf(values.data(), values.size() * sizeof(T));
}

/// A file as numpy lays it out: the header padded to a multiple of 64.
std::string npy(StringRef dictionary, StringRef data, int major = 1) {
  std::string header = dictionary.str();
  size_t prefix = major == 1 ? 10 : 12;
  while ((prefix + header.size() + 1) % 64)
    header += ' ';
  header += '\n';
  std::string file = "\x93NUMPY";
  file += char(major);
  file += '\0';
  for (size_t i = 0; i < prefix - 8; ++i)
    file += char(header.size() >> (8 * i));
  return file + header + data.str();
}

std::string header(StringRef descr, StringRef shape,
                   StringRef fortran = "False") {
  return ("{'descr': '" + descr + "', 'fortran_order': " + fortran +
          ", 'shape': " + shape + ", }")
      .str();
}

class NpyTest : public Sandbox {
protected:
  std::string errorOf(StringRef bytes) {
    std::string file = write("bad.npy", bytes);
    std::string text = message(readNpy(file));
    expectContains(text, "'" + file + "': ");
    return text;
  }
  NpyArray good(StringRef bytes) {
    auto array = readNpy(write("good.npy", bytes));
    if (!array) {
      ADD_FAILURE() << llvm::toString(array.takeError());
      return {};
    }
    return std::move(*array);
  }
};

using Shape = llvm::SmallVector<int64_t>;

TEST_F(NpyTest, RoundTripsEveryDtypeAndRank) {
  for (DType dtype : {DType::Bool, DType::I32, DType::F32, DType::F16})
    for (Shape shape : {Shape{}, Shape{1}, Shape{7}, Shape{0}, Shape{2, 3},
                        Shape{2, 0, 3}, Shape{1, 2, 3, 4, 5}}) {
      size_t count = getByteWidth(dtype);
      for (int64_t size : shape)
        count *= size;
      std::vector<uint8_t> data(count);
      for (size_t i = 0; i < count; ++i)
        data[i] = dtype == DType::Bool ? i & 1 : i * 37;
      std::string file = path("a.npy");
      ASSERT_EQ(message(writeNpy(file, dtype, shape, data)), "");
      auto array = readNpy(file);
      ASSERT_TRUE(bool(array)) << llvm::toString(array.takeError());
      EXPECT_EQ(array->dtype, dtype);
      EXPECT_EQ(array->shape, shape);
      EXPECT_EQ(array->data, data);
      EXPECT_EQ((read(file).size() - count) % 64, 0u);
    }
  EXPECT_EQ(list(root).size(), 1u);
}

TEST_F(NpyTest, WritesTheBytesThatNumpyWrites) {
  std::vector<float> values = {1, 2, 3, 4, 5, 6};
  auto bytes = bytesOf(values);
  ASSERT_EQ(message(writeNpy(path("a.npy"), DType::F32, {2, 3},
                             llvm::arrayRefFromStringRef(bytes))),
            "");
  EXPECT_EQ(read(path("a.npy")), npy(header("<f4", "(2, 3)"), bytes));
  ASSERT_EQ(message(writeNpy(path("a.npy"), DType::F32, {6},
                             llvm::arrayRefFromStringRef(bytes))),
            "");
  EXPECT_EQ(read(path("a.npy")), npy(header("<f4", "(6,)"), bytes));
}

TEST_F(NpyTest, ReadsAllVersionsAndSpellings) {
  std::string ints = bytesOf(std::vector<int32_t>{1, -2, 3});
  for (int major : {1, 2, 3}) {
    NpyArray array = good(npy(header("<i4", "(3,)"), ints, major));
    EXPECT_EQ(array.dtype, DType::I32);
    EXPECT_EQ(bytesOf(array.data), ints);
  }
  EXPECT_EQ(good(npy(header("=i4", "(3L,)"), ints)).shape, Shape{3});
  EXPECT_EQ(good(npy(header("<i4", "( 1 ,3 )"), ints)).shape, (Shape{1, 3}));
  // Keys in another order, double quotes, no padding, no final comma.
  EXPECT_EQ(good(npy("{\"shape\":(3,),\"fortran_order\":False,"
                     "\"descr\":\"<i4\"}",
                     ints))
                .shape,
            Shape{3});
  EXPECT_EQ(good(npy(header("<f2", "()"), "ab")).dtype, DType::F16);
  NpyArray flags = good(npy(header("|b1", "(3,)"), StringRef("\0\1\x7f", 3)));
  EXPECT_EQ(flags.data, (std::vector<uint8_t>{0, 1, 1}));
  EXPECT_TRUE(
      good(npy(header("<f4", "(0, 9000000000000000000, 9)"), "")).data.empty());
}

TEST_F(NpyTest, TransposesFortranOrder) {
  NpyArray two = good(npy(header("<i4", "(2, 3)", "True"),
                          bytesOf(std::vector<int32_t>{1, 4, 2, 5, 3, 6})));
  EXPECT_EQ(bytesOf(two.data), bytesOf(std::vector<int32_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(two.shape, (Shape{2, 3}));
  // Element (i, j, k) holds 100 i + 10 j + k.
  std::vector<int32_t> fortran, c;
  for (int k = 0; k < 4; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 2; ++i)
        fortran.push_back(100 * i + 10 * j + k);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 4; ++k)
        c.push_back(100 * i + 10 * j + k);
  NpyArray three =
      good(npy(header("<i4", "(2, 3, 4)", "True"), bytesOf(fortran)));
  EXPECT_EQ(bytesOf(three.data), bytesOf(c));
  EXPECT_EQ(good(npy(header("|b1", "(2,)", "True"), "\1\1")).data.size(), 2u);
}

TEST_F(NpyTest, NamesWhatIsWrong) {
  std::string ints = bytesOf(std::vector<int32_t>{1, -2, 3});
  std::string file = npy(header("<i4", "(3,)"), ints);
  expectContains(message(readNpy(path("none.npy"))),
                 "none.npy': can't be read");
  expectContains(message(readNpy(root)), "can't be read");
  expectContains(errorOf(""), "not an .npy file");
  expectContains(errorOf("\x93NUMP"), "not an .npy file");
  expectContains(errorOf("hello, world"), "not an .npy file");
  for (size_t size = 6; size < file.size(); ++size)
    expectContains(errorOf(StringRef(file).take_front(size)), "truncated");
  expectContains(errorOf(file + "x"),
                 "i32 of shape (3,) takes 12 bytes, the file has 13");
  std::string version = file;
  version[6] = 9;
  expectContains(errorOf(version), "version 9.0 of the .npy format");
  for (StringRef descr :
       {"<f8", ">f4", "<i8", "<u4", "|O", "<c8", "|S3", "", "<M8[ns]", "|u1"})
    expectContains(errorOf(npy(header(descr, "(3,)"), ints)),
                   ("dtype '" + descr +
                    "' isn't supported (bool '|b1', i32 "
                    "'<i4', f32 '<f4' and f16 '<f2' are)")
                       .str());
  expectContains(errorOf(npy("{'descr': [('a', '<f4')], 'fortran_order': "
                             "False, 'shape': (3,), }",
                             ints)),
                 "a structured dtype isn't supported");
  expectContains(errorOf(npy(header("<i4", "(-3,)"), ints)), "negative size");
  expectContains(errorOf(npy(header("<i4", "(3000000000, 4000000000)"), ints)),
                 "shape (3000000000, 4000000000) is too large");
  expectContains(errorOf(npy(header("<i4", "(99999999999999999999,)"), ints)),
                 "size 99999999999999999999 is too large");
  expectContains(errorOf(npy(header("<i4", "(9223372036854775807,)"), ints)),
                 "is too large");
  expectContains(errorOf(npy(header("<f4", "(1000000000000,)"), ints)),
                 "truncated: f32 of shape (1000000000000,) takes "
                 "4000000000000 bytes, the file has 12");
}

TEST_F(NpyTest, RefusesBadHeaders) {
  for (StringRef text :
       {"", "{", "{}", "[]", "{'descr'}", "{'descr': '<i4'}",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (3,), } x",
        "{'descr': '<i4', 'fortran_order': 0, 'shape': (3,), }",
        "{'descr': 5, 'fortran_order': False, 'shape': (3,), }",
        "{'descr': '<i4, 'fortran_order': False, 'shape': (3,), }",
        "{'descr': '<i4', 'fortran_order': False, 'shape': 3, }",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (3.0,), }",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (3 3), }",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (3,",
        "{'descr': '<i4', 'descr': '<i4', 'fortran_order': False, 'shape': ()}",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (3,), 'x': 1}"})
    EXPECT_NE(errorOf(npy(text, bytesOf(std::vector<int32_t>{1, 2, 3}))), "")
        << text.str();
}

TEST_F(NpyTest, SurvivesEveryChangedByte) {
  std::string file =
      npy(header("<i4", "(3,)"), bytesOf(std::vector<int32_t>{1, 2, 3}));
  for (size_t at = 0; at < 80; ++at)
    for (int change : {0, 1, 0x20, 0x7f, 0xff}) {
      std::string changed = file;
      changed[at] ^= change;
      (void)message(readNpy(write("changed.npy", changed)));
    }
}

TEST_F(NpyTest, AFailedWriteLeavesTheOldFile) {
  std::string file = write("old.npy", "old");
  expectContains(message(writeNpy(file, DType::F32, {3}, {})),
                 "f32 of shape (3,) doesn't take 0 bytes");
  expectContains(message(writeNpy(file, DType::F32, {-1}, {})), "can't be");
  EXPECT_EQ(read(file), "old");
  EXPECT_EQ(list(root).size(), 1u);
  expectContains(message(writeNpy(path("none/a.npy"), DType::Bool, {1}, {1})),
                 "none/a.npy': can't be written");
  ASSERT_EQ(mkdir(path("folder").c_str(), 0700), 0);
  expectContains(message(writeNpy(path("folder"), DType::Bool, {1}, {1})),
                 "can't be written");
  EXPECT_EQ(list(root).size(), 2u);
}

TEST_F(NpyTest, WritesThroughLinksAndToDevices) {
  std::string file = write("real.npy", "old");
  ASSERT_EQ(chmod(file.c_str(), 0640), 0);
  ASSERT_FALSE(llvm::sys::fs::create_link(file, path("link.npy")));
  ASSERT_EQ(message(writeNpy(path("link.npy"), DType::Bool, {1}, {1})), "");
  struct stat info;
  ASSERT_EQ(lstat(path("link.npy").c_str(), &info), 0);
  EXPECT_TRUE(S_ISLNK(info.st_mode));
  ASSERT_EQ(stat(file.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
  EXPECT_EQ(message(readNpy(file)), "");
  EXPECT_EQ(message(writeNpy("/dev/null", DType::Bool, {1}, {1})), "");
  expectContains(message(writeNpy("/dev/full", DType::Bool, {1}, {1})),
                 "can't be written");
  EXPECT_EQ(list(root).size(), 2u);
}

} // namespace
