//===- Comparison.h - when a random program went right ----------*- C++ -*-===//
//
// What the fuzz tests share: the numbers of the environment, and when two
// elements count as one value.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_UNITTESTS_FUZZ_COMPARISON_H
#define UOP_UNITTESTS_FUZZ_COMPARISON_H

#include "Uop/Dialect/Scalar.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <cstdlib>

namespace uop::fuzz {

/// A number of the environment, or the one given where there is none.
inline uint64_t getVariable(const char *name, uint64_t otherwise) {
  const char *text = std::getenv(name);
  uint64_t value;
  return text && llvm::to_integer(text, value, 10) ? value : otherwise;
}

/// Whether an element is right: the same value, any NaN for a NaN, exactly or
/// within a tolerance.
inline bool agree(DType dtype, Word got, Word want,
                  std::optional<double> tolerance = std::nullopt) {
  if (got == want)
    return true;
  if (!isFloat(dtype))
    return false;
  float a = toFloat(got), b = toFloat(want);
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) && std::isnan(b);
  return tolerance && std::abs(double(a) - b) <= *tolerance;
}

} // namespace uop::fuzz

#endif // UOP_UNITTESTS_FUZZ_COMPARISON_H
