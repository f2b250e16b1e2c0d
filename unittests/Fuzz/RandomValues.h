//===- RandomValues.h - random numbers, elements and shapes -----*- C++ -*-===//
//
// The dice that random programs are made with, in integer arithmetic of our own
// on a generator whose output the C++ standard fixes.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_UNITTESTS_FUZZ_RANDOMVALUES_H
#define UOP_UNITTESTS_FUZZ_RANDOMVALUES_H

#include "RandomProgram.h"
#include <random>

namespace uop::fuzz {

using Shape = llvm::SmallVector<int64_t>;

class Random {
public:
  explicit Random(uint64_t seed) : engine(seed) {}

  /// From 0 to n-1.
  int64_t below(int64_t n) { return engine() % static_cast<uint64_t>(n); }
  /// From low to high, both included.
  int64_t between(int64_t low, int64_t high) {
    return low + below(high - low + 1);
  }
  bool percent(int64_t chance) { return below(100) < chance; }
  uint64_t bits() { return engine(); }
  template <typename Range> auto &oneOf(Range &range) {
    return range[below(std::size(range))];
  }

  DType dtype();
  /// An axis size: mostly 1 to 5, seldom 0.
  int64_t axis();
  /// A shape of up to `rank` axes and at most `most` elements.
  Shape shape(int64_t rank, int64_t most);
  /// Some shape of `count` elements.
  Shape factors(int64_t count);
  /// An element with edge cases.
  Word wildWord(DType dtype);
  /// A number from low to high in steps of 1/16 (floats) or 1.
  Word tameWord(DType dtype, int64_t low, int64_t high);

private:
  std::mt19937_64 engine;
};

} // namespace uop::fuzz

#endif // UOP_UNITTESTS_FUZZ_RANDOMVALUES_H
