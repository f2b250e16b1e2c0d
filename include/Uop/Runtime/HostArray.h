//===- HostArray.h - elements in host memory --------------------*- C++ -*-===//
//
// Filling, reading and printing the contents of buffers.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_RUNTIME_HOSTARRAY_H
#define UOP_RUNTIME_HOSTARRAY_H

#include "Uop/Graph/Interpreter.h"
#include "Uop/Runtime/Buffer.h"
#include "Uop/Target/C.h"

namespace uop::runtime {

/// What to put into a buffer that no file is given for.
struct Fill {
  enum Kind { Iota, Ones, Random } kind = Ones;
  uint64_t seed = 0;
};

/// `iota`, `ones` or `random:SEED`.
llvm::Expected<Fill> parseFill(llvm::StringRef text);

/// Fills a buffer of `size` elements: 0, 1, 2, ...; ones; or values that follow
/// from seed and slot alone (floats in [-1, 1), i32 in [-100, 100], bools).
void fill(Buffer &buffer, const KernelParam &param, Fill how);

/// Element `i` of memory of this dtype.
Word getElement(const void *data, DType dtype, int64_t i);
void setElement(void *data, DType dtype, int64_t i, Word word);

/// A `.npy` file as the contents of a parameter: its dtype and its number of
/// elements must be the parameter's.
llvm::Expected<Buffer> readBuffer(llvm::StringRef path,
                                  const KernelParam &param);

/// The contents as an interpreter's array, and back.
Array toArray(const Buffer &buffer, DType dtype, llvm::ArrayRef<int64_t> shape);
llvm::Expected<Buffer> toBuffer(const Array &array);

/// Writes nested lists of `.uir` literals, `[[1, 2], [3, 4]]`, a scalar bare. Of
/// more than 1,000 elements only the first and the last three of an axis appear.
void printNested(llvm::raw_ostream &os, const void *data, DType dtype,
                 llvm::ArrayRef<int64_t> shape);

} // namespace uop::runtime

#endif // UOP_RUNTIME_HOSTARRAY_H
