//===- CSyntax.h - how C spells types, constants and names ------*- C++ -*-===//
//
// What every printer of C needs, whatever the program.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_LIB_TARGET_CSYNTAX_H
#define UOP_LIB_TARGET_CSYNTAX_H

#include "Uop/Dialect/Scalar.h"

namespace uop {

/// `float`, `_Float16`, `int`, `_Bool`, `void`.
const char *getCType(DType dtype);

/// One element as a C expression of its type: `2.0f`, `((_Float16)2.0f)`,
/// `(-2147483647-1)`, `-INFINITY`, `1` for true.
std::string formatCConstant(DType dtype, Word word);

/// " // file:line" of the first file location in `loc`; empty if there is none.
std::string formatLocation(mlir::Location loc);

} // namespace uop

#endif // UOP_LIB_TARGET_CSYNTAX_H
