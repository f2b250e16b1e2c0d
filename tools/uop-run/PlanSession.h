//===- PlanSession.h - running a plan of kernels ----------------*- C++ -*-===//
//
// A program that is cut into kernels, or a plan that is there already, with its
// inputs and results.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_TOOLS_UOPRUN_PLANSESSION_H
#define UOP_TOOLS_UOPRUN_PLANSESSION_H

#include "Files.h"
#include "Report.h"

/// Runs or prints a plan; 0, or 1 after saying what is wrong.
class PlanSession {
public:
  /// Cuts `program` into kernels.
  static int run(uop::ProgramOp program, const Options &options);
  static int run(uop::PlanOp plan, const Options &options);

private:
  PlanSession(Interface interface, const Options &options)
      : interface(std::move(interface)), options(options),
        files(this->interface, options) {}

  int run();
  int print();
  int execute();
  int interpret();
  int load(llvm::ArrayRef<uop::runtime::PlanParam> params);
  llvm::Expected<std::vector<uop::runtime::LaunchTime>>
  measure(const uop::runtime::Plan &compiled);
  int finish() { return files.finish(written); }

  Interface interface;
  const Options &options;
  Files files;
  uop::PlanOp plan;
  /// Since before there was a plan.
  uop::runtime::Stopwatch stopwatch;
  std::vector<uop::runtime::Argument> arguments;
  /// Slots of inputs that are stored to.
  llvm::DenseSet<int64_t> written;
};

#endif // UOP_TOOLS_UOPRUN_PLANSESSION_H
