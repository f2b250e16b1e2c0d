//===- Facts.cpp - what is known of a random value ------------------------===//
//
// Interval arithmetic, and first order error bounds with the magnitudes of
// whole intervals, which also cover sums and products in another order.
//
//===----------------------------------------------------------------------===//

#include "Facts.h"
#include <cmath>

using namespace uop;
using namespace uop::fuzz;

namespace {

/// Keeps products of a few factors finite in any order.
double getLimit(DType dtype) {
  return dtype == DType::F16 ? 60 : dtype == DType::F32 ? 1e4 : 1e6;
}

double getEpsilon(DType dtype) {
  return dtype == DType::F16 ? 0x1p-10 : dtype == DType::F32 ? 0x1p-22 : 0;
}

Facts unite(const Facts &a, const Facts &b) {
  Facts result;
  result.low = std::min(a.low, b.low);
  result.high = std::max(a.high, b.high);
  result.error = std::max(a.error, b.error);
  return result;
}

/// Of a monotonic function with its slope's bound over the interval.
Facts apply(double a, double b, const Facts &x, double slope, double epsilon) {
  Facts result;
  result.low = std::min(a, b);
  result.high = std::max(a, b);
  result.error =
      1.1 * slope * x.error + epsilon * std::max(1.0, result.magnitude());
  return result;
}

std::optional<Facts> propagateUnary(OpCode code, DType dtype, const Facts &x) {
  double epsilon = getEpsilon(dtype);
  constexpr double least = 0.1;
  bool positive = x.low >= least;
  switch (code) {
  case OpCode::Recip: {
    if (!positive && x.high > -least)
      return std::nullopt;
    double nearest = std::min(std::abs(x.low), std::abs(x.high));
    return apply(1 / x.low, 1 / x.high, x, 1 / (nearest * nearest), epsilon);
  }
  case OpCode::Exp2:
    if (x.low < -4 || x.high > 10)
      return std::nullopt;
    return apply(std::exp2(x.low), std::exp2(x.high), x, std::exp2(x.high),
                 epsilon);
  case OpCode::Log2:
    if (!positive)
      return std::nullopt;
    return apply(std::log2(x.low), std::log2(x.high), x, 1.5 / x.low, epsilon);
  case OpCode::Sqrt:
    if (!positive)
      return std::nullopt;
    return apply(std::sqrt(x.low), std::sqrt(x.high), x, 0.5 / std::sqrt(x.low),
                 epsilon);
  default: // SIN
    if (x.magnitude() > 50)
      return std::nullopt;
    return apply(-1, 1, x, 1, epsilon);
  }
}

std::optional<Facts> propagateCast(DType source, DType target, const Facts &x) {
  Facts result = x;
  result.cost = result.code = 1;
  if (!isFloat(target)) {
    // A conversion that rounds makes small differences big.
    if (x.error != 0)
      return std::nullopt;
    if (target == DType::Bool) {
      result.low = 0;
      result.high = 1;
    }
    return result;
  }
  if (x.error != 0 && target != source)
    result.error += getEpsilon(target) * x.magnitude();
  // Rounding may cross the bounds a little.
  double slack = getEpsilon(target) * x.magnitude();
  result.low -= slack;
  result.high += slack;
  return result;
}

std::optional<Facts> propagateReduce(ReduceKind kind, DType dtype, double count,
                                     const Facts &x) {
  Facts result = x;
  if (kind == ReduceKind::Max || dtype == DType::Bool) {
    if (count == 0 && dtype != DType::Bool)
      return std::nullopt;
    result.low = count == 0 ? 0 : x.low;
    return result;
  }
  result.low = count * x.low;
  result.high = count * x.high;
  result.error = count * (x.error + getEpsilon(dtype) * count * x.magnitude());
  return result;
}

std::optional<Facts> propagateBinary(OpCode code, DType dtype, const Facts &a,
                                     const Facts &b) {
  Facts result;
  double epsilon = getEpsilon(dtype);
  if (dtype == DType::Bool) {
    result.high = 1;
    return result;
  }
  switch (code) {
  case OpCode::Add:
    result.low = a.low + b.low;
    result.high = a.high + b.high;
    result.error =
        a.error + b.error + epsilon * (a.magnitude() + b.magnitude());
    return result;
  case OpCode::Mul: {
    double corners[] = {a.low * b.low, a.low * b.high, a.high * b.low,
                        a.high * b.high};
    result.low = *std::min_element(std::begin(corners), std::end(corners));
    result.high = *std::max_element(std::begin(corners), std::end(corners));
    result.error = a.magnitude() * b.error + b.magnitude() * a.error +
                   a.error * b.error +
                   epsilon * std::max(1.0, result.magnitude());
    return result;
  }
  case OpCode::Max:
    result.low = std::max(a.low, b.low);
    result.high = std::max(a.high, b.high);
    result.error = std::max(a.error, b.error);
    return result;
  case OpCode::CmpLt:
  case OpCode::CmpNe:
    if (a.error != 0 || b.error != 0)
      return std::nullopt;
    result.high = 1;
    return result;
  case OpCode::FloorDiv:
    if (b.low <= 0 && b.high >= 0)
      return std::nullopt;
    result.high = a.magnitude() + 1;
    result.low = -result.high;
    return result;
  default: // FLOORMOD
    if (b.low <= 0 && b.high >= 0)
      return std::nullopt;
    result.high = b.magnitude();
    result.low = -result.high;
    return result;
  }
}

} // namespace

std::optional<Facts> uop::fuzz::propagate(OpCode code, DType source,
                                          DType target, ReduceKind kind,
                                          double count,
                                          llvm::ArrayRef<Facts> sources) {
  std::optional<Facts> result;
  if (code == OpCode::Cast)
    result = propagateCast(source, target, sources[0]);
  else if (isUnary(code))
    result = propagateUnary(code, source, sources[0]);
  else if (isBinary(code))
    result = propagateBinary(code, source, sources[0], sources[1]);
  else if (code == OpCode::Where)
    result = unite(sources[1], sources[2]);
  else if (code == OpCode::Reduce)
    result = propagateReduce(kind, source, count, sources[0]);
  else if (code == OpCode::Load && sources.size() == 3)
    result = unite(sources[0], sources[2]);
  else if (code == OpCode::Stack) {
    result = sources[0];
    for (const Facts &other : sources)
      result = unite(*result, other);
  } else
    result = sources[0];
  if (result && result->magnitude() > getLimit(target))
    return std::nullopt;
  return result;
}
