//===- Report.h - how long a run took ---------------------------*- C++ -*-===//
//
// The lines of --time and DEBUG on standard error, in 100 columns.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_TOOLS_UOPRUN_REPORT_H
#define UOP_TOOLS_UOPRUN_REPORT_H

#include "Uop/Runtime/Plan.h"
#include "Uop/Runtime/Stopwatch.h"

/// One launch; with `showAgain` what a warm run took, too.
void reportLaunch(const uop::runtime::KernelSource &kernel,
                  const uop::runtime::LaunchTime &time, bool showAgain);

/// What it took to get the code.
void reportCompilation(bool fromCache, double milliseconds);

/// One whole run.
void reportRun(size_t kernels, double scheduled, double run);

/// `compiling kernels 37/500` on a terminal, from the second second on.
class Progress {
public:
  void show(size_t done, size_t total);
  ~Progress();

private:
  uop::runtime::Stopwatch stopwatch;
  bool shown = false;
};

#endif // UOP_TOOLS_UOPRUN_REPORT_H
