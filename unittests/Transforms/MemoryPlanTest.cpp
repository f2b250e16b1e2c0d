//===- MemoryPlanTest.cpp - temps in one arena ----------------------------===//
//
// Offsets checked pair by pair, and arenas against the smallest there is: on
// chains by formula, on small random plans by trying every order of placing.
//
//===----------------------------------------------------------------------===//

#include "Uop/Transforms/MemoryPlan.h"
#include "gtest/gtest.h"
#include <numeric>
#include <random>

using namespace uop;

namespace {

bool meet(const LiveRange &a, const LiveRange &b) {
  return a.first <= b.last && b.first <= a.last;
}

void checkDisjoint(const std::vector<LiveRange> &temps,
                   const std::vector<int64_t> &offsets) {
  ASSERT_EQ(offsets.size(), temps.size());
  for (size_t i = 0; i < temps.size(); ++i) {
    EXPECT_EQ(offsets[i] % tempAlignment, 0);
    EXPECT_GE(offsets[i], 0);
    for (size_t k = 0; k < i; ++k)
      EXPECT_TRUE(!meet(temps[i], temps[k]) ||
                  offsets[i] + temps[i].bytes <= offsets[k] ||
                  offsets[k] + temps[k].bytes <= offsets[i])
          << "temps " << k << " and " << i << " overlap";
  }
}

int64_t plan(const std::vector<LiveRange> &temps) {
  std::vector<int64_t> offsets = assignOffsets(temps);
  checkDisjoint(temps, offsets);
  return getArenaSize(temps, offsets);
}

/// The smallest arena: the best of all orders of placing temps one by one at
/// the lowest offset that is free. (Sort the temps of a smallest arena by
/// offset.)
int64_t findSmallest(const std::vector<LiveRange> &temps) {
  std::vector<size_t> order(temps.size());
  std::iota(order.begin(), order.end(), 0);
  int64_t best = INT64_MAX;
  do {
    std::vector<int64_t> offsets(temps.size(), -1);
    int64_t size = 0;
    for (size_t i : order) {
      int64_t offset = 0;
      for (bool moved = true; moved;) {
        moved = false;
        for (size_t k = 0; k < temps.size(); ++k)
          if (offsets[k] >= 0 && meet(temps[i], temps[k]) &&
              offsets[k] < offset + temps[i].bytes &&
              offset < offsets[k] + temps[k].bytes) {
            offset = offsets[k] + temps[k].bytes;
            moved = true;
          }
      }
      offsets[i] = offset;
      size = std::max(size, offset + temps[i].bytes);
    }
    best = std::min(best, size);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

TEST(MemoryPlanTest, Nothing) {
  EXPECT_EQ(plan({}), 0);
  EXPECT_EQ(plan({{0, 0, 3}, {0, 1, 2}}), 0);
}

TEST(MemoryPlanTest, ChainsNeedTwoNeighbours) {
  std::mt19937 random(1);
  for (unsigned length = 1; length < 200; ++length) {
    std::vector<LiveRange> temps;
    int64_t want = 0, before = 0;
    for (unsigned i = 0; i < length; ++i) {
      int64_t bytes = 64 * (1 + random() % 50);
      temps.push_back({bytes, i, i + 1});
      want = std::max(want, before + bytes);
      before = bytes;
    }
    EXPECT_EQ(getPeakBytes(temps), want);
    EXPECT_EQ(plan(temps), want) << "a chain of " << length;
  }
}

TEST(MemoryPlanTest, SizesAreRoundedUp) {
  EXPECT_EQ(plan({{1, 0, 0}, {65, 0, 0}}), 192);
}

TEST(MemoryPlanTest, SmallPlansAreNearTheSmallest) {
  std::mt19937 random(2);
  double got = 0, best = 0;
  for (int round = 0; round < 300; ++round) {
    std::vector<LiveRange> temps;
    for (unsigned i = 0; i < 6; ++i) {
      unsigned first = random() % 8;
      temps.push_back({int64_t(64 * (1 + random() % 9)), first,
                       first + unsigned(random() % 4)});
    }
    int64_t size = plan(temps), smallest = findSmallest(temps);
    EXPECT_GE(smallest, getPeakBytes(temps));
    EXPECT_LE(size, 1.34 * smallest);
    got += size;
    best += smallest;
  }
  EXPECT_LE(got, 1.02 * best);
}

TEST(MemoryPlanTest, LargePlansAreNearThePeak) {
  std::mt19937 random(3);
  for (unsigned count : {100u, 900u, 3000u}) {
    std::vector<LiveRange> temps;
    for (unsigned i = 0; i < count; ++i) {
      unsigned first = random() % count;
      temps.push_back(
          {int64_t(random() % 5000), first, first + unsigned(random() % 20)});
    }
    EXPECT_LE(plan(temps), 1.5 * getPeakBytes(temps)) << count;
  }
}

TEST(MemoryPlanTest, AHundredThousandTempsTakeNoTime) {
  std::vector<LiveRange> temps;
  for (unsigned i = 0; i < 100000; ++i)
    temps.push_back({int64_t(64 * (i % 97 + 1)), i, i + i % 13});
  std::vector<int64_t> offsets = assignOffsets(temps);
  EXPECT_LE(getArenaSize(temps, offsets), 1.5 * getPeakBytes(temps));
}

} // namespace
