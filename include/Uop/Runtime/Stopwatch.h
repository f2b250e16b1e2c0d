//===- Stopwatch.h - wall time ----------------------------------*- C++ -*-===//

#ifndef UOP_RUNTIME_STOPWATCH_H
#define UOP_RUNTIME_STOPWATCH_H

#include <chrono>

namespace uop::runtime {

/// Wall time since its making.
class Stopwatch {
public:
  double getMilliseconds() const {
    return std::chrono::duration<double, std::milli>(Clock::now() - start)
        .count();
  }

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now();
};

} // namespace uop::runtime

#endif // UOP_RUNTIME_STOPWATCH_H
