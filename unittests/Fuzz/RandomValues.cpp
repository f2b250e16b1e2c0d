//===- RandomValues.cpp - random numbers, elements and shapes -------------===//
//
// Elements lean to the edge cases of their dtype, shapes to odd and small axes.
//
//===----------------------------------------------------------------------===//

#include "RandomValues.h"
#include <cmath>
#include <limits>

using namespace uop;
using namespace uop::fuzz;

DType Random::dtype() {
  static constexpr DType dtypes[] = {DType::F32, DType::F32, DType::I32,
                                     DType::F16, DType::Bool};
  return oneOf(dtypes);
}

int64_t Random::axis() {
  static constexpr int64_t sizes[] = {1, 1, 2, 2, 3, 3, 4, 5, 7};
  return percent(2) ? 0 : oneOf(sizes);
}

Shape Random::shape(int64_t rank, int64_t most) {
  Shape result;
  int64_t count = 1;
  for (int64_t i = 0, e = below(rank + 1); i < e; ++i) {
    int64_t size = axis();
    if (count * size > most)
      size = 1;
    count *= size;
    result.push_back(size);
  }
  return result;
}

Shape Random::factors(int64_t count) {
  Shape result;
  if (count == 0) {
    for (int64_t i = 0, e = below(3); i < e; ++i)
      result.push_back(between(0, 4));
    result.insert(result.begin() + below(result.size() + 1), 0);
    return result;
  }
  int64_t left = count;
  while (left > 1 && result.size() < 4 && !percent(15)) {
    Shape divisors;
    for (int64_t d = 2; d <= left; ++d)
      if (left % d == 0)
        divisors.push_back(d);
    int64_t size = oneOf(divisors);
    result.insert(result.begin() + below(result.size() + 1), size);
    left /= size;
  }
  if (left > 1)
    result.push_back(left);
  while (result.size() < 5 && percent(20))
    result.insert(result.begin() + below(result.size() + 1), 1);
  return result;
}

Word Random::wildWord(DType dtype) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  static constexpr float floats[] = {0.0f,
                                     -0.0f,
                                     -0.0f,
                                     -0.0f,
                                     1.0f,
                                     -1.0f,
                                     0.5f,
                                     2.0f,
                                     infinity,
                                     -infinity,
                                     NAN,
                                     65504.0f,
                                     -65504.0f,
                                     6.1035156e-05f,
                                     5.9604645e-08f,
                                     3.4028235e+38f,
                                     -3.4028235e+38f,
                                     1.1754944e-38f,
                                     1e-45f,
                                     16777216.0f,
                                     2147483648.0f,
                                     0.33333334f,
                                     1e20f,
                                     2049.0f};
  static constexpr int32_t ints[] = {
      0,     1,          -1,          2,
      -2,    3,          7,           -7,
      65536, 2147483647, -2147483647, std::numeric_limits<int32_t>::min()};
  switch (dtype) {
  case DType::Bool:
    return below(2);
  case DType::I32:
    if (percent(40))
      return oneOf(ints);
    return percent(50) ? between(-20, 20) : static_cast<Word>(bits());
  default:
    break;
  }
  float value;
  if (percent(35))
    value = oneOf(floats);
  else if (percent(20))
    value = toFloat(static_cast<Word>(bits()));
  else
    value = between(-4096, 4096) / 256.0f;
  if (std::isnan(value))
    value = NAN;
  return fromFloat(dtype == DType::F16 ? roundToHalf(value) : value);
}

Word Random::tameWord(DType dtype, int64_t low, int64_t high) {
  switch (dtype) {
  case DType::Bool:
    return below(2);
  case DType::I32:
    return between(low, high);
  default:
    return fromFloat(between(low * 16, high * 16) / 16.0f);
  }
}
