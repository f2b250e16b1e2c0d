//===- BufferTest.cpp - host memory and the check for overlaps ------------===//

#include "Uop/Runtime/Buffer.h"

#include "Sandbox.h"

#include <cstring>
#include <random>

using namespace uop::runtime;

namespace {

class BufferTest : public Sandbox {};

TEST_F(BufferTest, IsAlignedAndZeroedOnRequest) {
  for (uint64_t bytes :
       {0, 1, 63, 64, 65, 4096, 1 << 20, (1 << 20) + 1, 9 << 20}) {
    auto buffer = Buffer::allocate(bytes, Buffer::Fill::Zero);
    ASSERT_TRUE(bool(buffer)) << llvm::toString(buffer.takeError());
    ASSERT_NE(buffer->data(), nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->data()) % Buffer::alignment,
              0u);
    EXPECT_EQ(buffer->size(), bytes);
    auto *start = static_cast<unsigned char *>(buffer->data());
    for (uint64_t i = 0; i < bytes; ++i)
      ASSERT_EQ(start[i], 0);
    std::memset(start, 0xff, bytes);
  }
}

TEST_F(BufferTest, OutOfMemoryIsAnError) {
  for (uint64_t bytes : {uint64_t(1) << 46, uint64_t(1) << 62, UINT64_MAX})
    expectContains(message(Buffer::allocate(bytes)),
                   "out of memory: can't allocate a buffer of " +
                       std::to_string(bytes) + " bytes");
}

TEST_F(BufferTest, Moves) {
  for (uint64_t bytes : {100, 4 << 20}) {
    Buffer first = llvm::cantFail(Buffer::allocate(bytes));
    void *start = first.data();
    Buffer second = std::move(first);
    EXPECT_EQ(first.data(), nullptr);
    EXPECT_EQ(first.size(), 0u);
    EXPECT_EQ(second.data(), start);
    Buffer third = llvm::cantFail(Buffer::allocate(8));
    third = std::move(second);
    EXPECT_EQ(third.data(), start);
    EXPECT_EQ(third.size(), bytes);
    Buffer &alias = third;
    third = std::move(alias);
    EXPECT_EQ(third.data(), start);
  }
}

TEST_F(BufferTest, OverlapsAreErrorsOnlyWhereOneIsWritten) {
  char bytes[100];
  auto check = [&](std::vector<NamedMemory> slots) {
    return message(checkDisjoint(slots));
  };
  EXPECT_EQ(check({}), "");
  EXPECT_EQ(check({{"slot", 0, bytes, 50, true}, {"slot", 1, bytes + 50, 50, true}}), "");
  EXPECT_EQ(check({{"slot", 0, bytes, 50, false}, {"slot", 1, bytes, 50, false}}), "");
  EXPECT_EQ(check({{"slot", 0, bytes, 0, true}, {"slot", 1, bytes, 50, true}}), "");
  EXPECT_EQ(check({{"slot", 0, bytes, 51, false}, {"slot", 3, bytes + 50, 50, true}}),
            "the buffers of slot 0 and slot 3 overlap, and slot 3 is written: "
            "give each its own memory");
  EXPECT_EQ(check({{"input", 7, bytes, 51, true}, {"slot", 3, bytes + 50, 50, false}}),
            "the buffers of input 7 and slot 3 overlap, and input 7 is "
            "written: give each its own memory");
  // The span in between begins later but ends earlier than the first one.
  EXPECT_NE(check({{"slot", 0, bytes, 90, true},
                   {"slot", 1, bytes + 95, 1, false},
                   {"slot", 2, bytes + 80, 1, false}}),
            "");
}

TEST_F(BufferTest, OverlapCheckAgreesWithAllPairs) {
  std::mt19937 random(7);
  char bytes[64];
  unsigned conflicts = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<NamedMemory> slots;
    for (int slot = 0, n = random() % 5 + 1; slot < n; ++slot)
      slots.push_back(
          {"slot", slot, bytes + random() % 40, random() % 12,
           random() % 3 == 0});
    bool expected = false;
    for (auto &a : slots)
      for (auto &b : slots) {
        auto *first = static_cast<const char *>(a.data);
        auto *second = static_cast<const char *>(b.data);
        if (a.number < b.number && (a.written || b.written) &&
            first < second + b.bytes && second < first + a.bytes && a.bytes &&
            b.bytes)
          expected = true;
      }
    EXPECT_EQ(message(checkDisjoint(slots)) != "", expected);
    conflicts += expected;
  }
  EXPECT_GT(conflicts, 100u);
}

} // namespace
