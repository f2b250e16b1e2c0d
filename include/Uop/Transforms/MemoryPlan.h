//===- MemoryPlan.h - temps in one arena ------------------------*- C++ -*-===//
//
// Offsets for temps that share memory by live range. Leans on nothing.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_TRANSFORMS_MEMORYPLAN_H
#define UOP_TRANSFORMS_MEMORYPLAN_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <vector>

namespace uop {

/// A temp of so many bytes that launches `first` to `last`, both included,
/// need.
struct LiveRange {
  int64_t bytes = 0;
  unsigned first = 0, last = 0;
};

/// Every temp starts at a multiple of this many bytes: a cache line, and the
/// widest vector register.
inline constexpr int64_t tempAlignment = 64;

/// An offset for each temp, such that no two that a launch needs overlap. Sizes
/// count as rounded up to the alignment. Takes n log n time, and for up to a
/// thousand temps also n squared for a tighter arena.
///
/// Source: best fit by start of life, the same from both ends of an arena of
/// the peak's size, which is right for chains, and greedy by size as in
/// Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net
/// Inference" (2020); the smallest arena of the three.
std::vector<int64_t> assignOffsets(llvm::ArrayRef<LiveRange> temps);

/// Bytes of the arena that such offsets need.
int64_t getArenaSize(llvm::ArrayRef<LiveRange> temps,
                     llvm::ArrayRef<int64_t> offsets);

/// The most bytes that one launch needs, rounded up temp by temp: no arena is
/// smaller.
int64_t getPeakBytes(llvm::ArrayRef<LiveRange> temps);

} // namespace uop

#endif // UOP_TRANSFORMS_MEMORYPLAN_H
