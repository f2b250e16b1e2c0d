//===- Options.h - the command line of uop-run ------------------*- C++ -*-===//
//
// What the words of the command line say, checked.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_TOOLS_UOPRUN_OPTIONS_H
#define UOP_TOOLS_UOPRUN_OPTIONS_H

#include "Uop/Runtime/HostArray.h"

struct Options {
  std::string file;
  std::string program;
  /// `type`, `uir`, `mlir`, `c`; empty to run.
  std::string print;
  bool interpreter = false;
  /// Cut the program into kernels.
  bool kernelize = false;
  bool time = false;
  bool strict = false;
  bool locations = false;
  /// 0: as many as the machine has.
  unsigned threads = 0;
  std::optional<uop::runtime::Fill> fill;
  /// Files by slot.
  std::map<int64_t, std::string> inputs, outputs;
  /// Files by the number of an output: `--output=out1=FILE`.
  std::map<int64_t, std::string> numberedOutputs;
  /// The `--output` that names no slot; empty if there is none.
  std::string valueOutput;
  /// Where the trace goes; empty for none.
  std::string profile;
  /// From the variable DEBUG.
  int debug = 0;
};

/// Reads the command line; an error for words that say nothing, and nullopt when
/// help or version was asked for (and shown).
llvm::Expected<std::optional<Options>> parseOptions(int argc, char **argv);

#endif // UOP_TOOLS_UOPRUN_OPTIONS_H
