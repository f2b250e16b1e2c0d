//===- Session.h - running one program --------------------------*- C++ -*-===//
//
// A program as one kernel, with its inputs and results.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_TOOLS_UOPRUN_SESSION_H
#define UOP_TOOLS_UOPRUN_SESSION_H

#include "Files.h"

/// Runs or prints a program as one kernel.
class Session {
public:
  /// 0, or 1 after saying what is wrong.
  static int run(uop::ProgramOp program, const Options &options);

private:
  Session(uop::ProgramOp program, Interface interface, const Options &options)
      : program(program), interface(std::move(interface)), options(options),
        files(this->interface, options) {}
  int run();
  int interpret();
  int execute();

  uop::ProgramOp program;
  Interface interface;
  const Options &options;
  Files files;
  /// Slots that the program stores to and reads, apart from its outputs.
  llvm::DenseSet<int64_t> written, read;
};

#endif // UOP_TOOLS_UOPRUN_SESSION_H
