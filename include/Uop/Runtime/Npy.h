//===- Npy.h - numpy's .npy files -------------------------------*- C++ -*-===//
//
// Reads and writes arrays in the .npy format, versions 1.0 to 3.0, as specified
// in NumPy Enhancement Proposal 1 and the documentation of numpy.lib.format.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_RUNTIME_NPY_H
#define UOP_RUNTIME_NPY_H

#include "Uop/Dialect/Uop.h"
#include "Uop/Runtime/StagedFile.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace uop::runtime {

/// A dense array in C order (last axis fastest), little endian. Booleans are
/// bytes of value 0 or 1.
struct NpyArray {
  DType dtype = DType::F32;
  /// Rank 0 is a single element.
  llvm::SmallVector<int64_t> shape;
  std::vector<uint8_t> data;
};

/// Reads the file at `path`. An array in Fortran order is transposed into C
/// order. Every error names the file: not an .npy file, a version or an
/// element type that isn't supported, a bad header or shape, too few bytes or
/// too many.
llvm::Expected<NpyArray> readNpy(llvm::StringRef path);

/// An array as a file of version 1.0 that waits for its place. `data` holds the
/// elements as in `NpyArray`.
llvm::Expected<StagedFile> stageNpy(llvm::StringRef path, DType dtype,
                                    llvm::ArrayRef<int64_t> shape,
                                    llvm::ArrayRef<uint8_t> data);

/// Writes an array in one step: on an error a file that stood at `path` is as
/// it was.
llvm::Error writeNpy(llvm::StringRef path, DType dtype,
                     llvm::ArrayRef<int64_t> shape,
                     llvm::ArrayRef<uint8_t> data);

} // namespace uop::runtime

#endif // UOP_RUNTIME_NPY_H
