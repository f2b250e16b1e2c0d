//===- Report.cpp - how long a run took -----------------------------------===//

#include "Report.h"
#include "llvm/Support/Format.h"

using namespace uop::runtime;
using llvm::errs;
using llvm::format;

void reportLaunch(const KernelSource &kernel, const LaunchTime &time,
                  bool showAgain) {
  double perSecond = time.milliseconds > 0 ? 1e-6 / time.milliseconds : 0;
  errs() << format("  %-30.30s %8.3f ms %8.2f GFLOP/s %8.2f GB/s",
                   kernel.name.c_str(), time.milliseconds,
                   kernel.flops * perSecond, kernel.bytes * perSecond);
  if (showAgain && time.again)
    errs() << format("  (again: %.3f ms)", *time.again);
  else if (showAgain)
    errs() << "  (again: -)";
  errs() << "\n";
}

void reportCompilation(bool fromCache, double milliseconds) {
  errs() << format("  %-30s %8.3f ms\n",
                   fromCache ? "(from the kernel cache)" : "(compiled)",
                   milliseconds);
}

void reportRun(size_t kernels, double scheduled, double run) {
  errs() << "realize: " << kernels << (kernels == 1 ? " kernel" : " kernels")
         << format(", schedule %.1f ms, run %.1f ms\n", scheduled, run);
}

void Progress::show(size_t done, size_t total) {
  if (!errs().is_displayed() || stopwatch.getMilliseconds() < 1000)
    return;
  errs() << "\rcompiling kernels " << done << "/" << total;
  shown = true;
}

/// Leaves an empty line.
Progress::~Progress() {
  if (shown)
    errs() << "\r\x1b[K";
}
