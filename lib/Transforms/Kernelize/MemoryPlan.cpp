//===- MemoryPlan.cpp - temps in one arena --------------------------------===//
//
// Two greedy orders of placing temps, and what they come to.
//
//===----------------------------------------------------------------------===//

#include "Uop/Transforms/MemoryPlan.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"

#include <map>
#include <numeric>
#include <optional>
#include <set>

using namespace uop;

namespace {

int64_t getRounded(const LiveRange &temp) {
  return llvm::alignTo(temp.bytes, tempAlignment);
}

/// The free runs of an arena.
class FreeList {
public:
  FreeList(int64_t size, bool fromBothEnds)
      : size(size), fromBothEnds(fromBothEnds) {
    insert(0, size);
  }

  /// Takes the smallest run that is large enough; nothing when there is none.
  /// What is left of it lies behind, but at the end of an arena that is used
  /// from both ends before.
  std::optional<int64_t> take(int64_t bytes) {
    auto fit = bySize.lower_bound({bytes, 0});
    if (fit == bySize.end())
      return std::nullopt;
    int64_t start = fit->second, stop = start + fit->first;
    erase(byStart.find(start));
    bool atEnd = fromBothEnds && stop == size && start != 0;
    if (stop - start > bytes)
      insert(atEnd ? start : start + bytes, atEnd ? stop - bytes : stop);
    return atEnd ? stop - bytes : start;
  }

  void give(int64_t start, int64_t bytes) {
    int64_t stop = start + bytes;
    auto after = byStart.lower_bound(start);
    if (after != byStart.end() && after->first == stop) {
      stop = after->second;
      after = erase(after);
    }
    if (after != byStart.begin() && std::prev(after)->second == start) {
      start = std::prev(after)->first;
      erase(std::prev(after));
    }
    insert(start, stop);
  }

private:
  using Runs = std::map<int64_t, int64_t>;
  void insert(int64_t start, int64_t stop) {
    byStart[start] = stop;
    bySize.insert({stop - start, start});
  }
  Runs::iterator erase(Runs::iterator run) {
    bySize.erase({run->second - run->first, run->first});
    return byStart.erase(run);
  }

  Runs byStart;
  std::set<std::pair<int64_t, int64_t>> bySize;
  int64_t size;
  bool fromBothEnds;
};

/// In the order of their first launch, each into the smallest gap. Empty when
/// an arena of `free` is too small.
std::vector<int64_t> placeByTime(llvm::ArrayRef<LiveRange> temps,
                                 FreeList free) {
  std::vector<unsigned> starts(temps.size());
  std::iota(starts.begin(), starts.end(), 0);
  std::vector<unsigned> ends = starts;
  llvm::sort(starts, [&](unsigned a, unsigned b) {
    return std::tie(temps[a].first, a) < std::tie(temps[b].first, b);
  });
  llvm::sort(ends, [&](unsigned a, unsigned b) {
    return std::tie(temps[a].last, a) < std::tie(temps[b].last, b);
  });
  std::vector<int64_t> offsets(temps.size());
  size_t gone = 0;
  for (unsigned i : starts) {
    for (; gone < ends.size() && temps[ends[gone]].last < temps[i].first;
         ++gone)
      if (int64_t bytes = getRounded(temps[ends[gone]]))
        free.give(offsets[ends[gone]], bytes);
    int64_t bytes = getRounded(temps[i]);
    if (bytes == 0)
      continue;
    std::optional<int64_t> offset = free.take(bytes);
    if (!offset)
      return {};
    offsets[i] = *offset;
  }
  return offsets;
}

/// The largest first, each at the lowest offset where it meets no other.
std::vector<int64_t> placeBySize(llvm::ArrayRef<LiveRange> temps) {
  std::vector<unsigned> order(temps.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::tie(temps[b].bytes, a) < std::tie(temps[a].bytes, b);
  });
  std::vector<int64_t> offsets(temps.size());
  llvm::SmallVector<unsigned> placed; // by offset
  for (unsigned i : order) {
    int64_t offset = 0;
    for (unsigned other : placed) {
      if (temps[other].last < temps[i].first ||
          temps[other].first > temps[i].last)
        continue;
      if (offsets[other] >= offset + getRounded(temps[i]))
        break;
      offset = std::max(offset, offsets[other] + getRounded(temps[other]));
    }
    offsets[i] = offset;
    placed.insert(llvm::upper_bound(placed, offset,
                                    [&](int64_t at, unsigned other) {
                                      return at < offsets[other];
                                    }),
                  i);
  }
  return offsets;
}

} // namespace

int64_t uop::getArenaSize(llvm::ArrayRef<LiveRange> temps,
                          llvm::ArrayRef<int64_t> offsets) {
  int64_t size = 0;
  for (auto [temp, offset] : llvm::zip_equal(temps, offsets))
    size = std::max(size, offset + getRounded(temp));
  return size;
}

int64_t uop::getPeakBytes(llvm::ArrayRef<LiveRange> temps) {
  std::map<unsigned, int64_t> changes;
  for (const LiveRange &temp : temps) {
    changes[temp.first] += getRounded(temp);
    changes[temp.last + 1] -= getRounded(temp);
  }
  int64_t now = 0, peak = 0;
  for (auto [launch, change] : changes)
    peak = std::max(peak, now += change);
  return peak;
}

std::vector<int64_t> uop::assignOffsets(llvm::ArrayRef<LiveRange> temps) {
  constexpr size_t manyTemps = 1000;
  constexpr int64_t anySize = INT64_MAX / 2;
  int64_t peak = getPeakBytes(temps);
  std::vector<int64_t> best =
      placeByTime(temps, FreeList(anySize, /*fromBothEnds=*/false));
  auto improve = [&](std::vector<int64_t> offsets) {
    if (!offsets.empty() &&
        getArenaSize(temps, offsets) < getArenaSize(temps, best))
      best = std::move(offsets);
    return getArenaSize(temps, best) > peak;
  };
  if (improve({}) &&
      improve(placeByTime(temps, FreeList(peak, /*fromBothEnds=*/true))) &&
      temps.size() <= manyTemps)
    improve(placeBySize(temps));
  return best;
}
