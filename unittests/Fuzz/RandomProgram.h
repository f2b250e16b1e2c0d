//===- RandomProgram.h - random well-typed shaped programs ------*- C++ -*-===//
//
// From a seed, a program of shapes over every op and dtype together with the
// arrays of its buffers: the same on every machine.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_UNITTESTS_FUZZ_RANDOMPROGRAM_H
#define UOP_UNITTESTS_FUZZ_RANDOMPROGRAM_H

#include "Uop/Graph/Interpreter.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace uop::fuzz {

/// What values may occur.
enum class Mode {
  /// Small numbers and nothing at the edge of a domain, so that programs agree
  /// within `RandomProgram::tolerance` even where sums are reassociated.
  Tame,
  /// NaNs, infinities, signed zeros, INT_MIN, division by zero: all that has a
  /// meaning. Only conversions of floats to i32 stay in range.
  Wild,
};

/// What the root of a program is.
enum class Root {
  /// One value.
  Value,
  /// A SINK of values, with SINKs in it.
  Values,
  /// A SINK of values and STOREs to views of the buffers, which overlap as it
  /// happens. In half of the programs AFTERs of stores and values give new
  /// versions of buffers, and views of them; values read any version.
  Stores,
};

struct RandomProgram {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  ProgramOp program;
  /// An array for every BUFFER.
  ArrayMap inputs;
  /// In tame programs, how far apart two right results of one element may be; 0
  /// where they must be equal.
  double tolerance = 0;
};

/// The program of a seed. The dialect must be loaded.
RandomProgram makeRandomProgram(mlir::MLIRContext *context, uint64_t seed,
                                Mode mode, Root root = Root::Value);

} // namespace uop::fuzz

#endif // UOP_UNITTESTS_FUZZ_RANDOMPROGRAM_H
