//===- Scalar.h - arithmetic on one element ---------------------*- C++ -*-===//
//
// What every ALU op computes, bit by bit: the folder and the interpreters use it,
// and the emitted C does the same.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_DIALECT_SCALAR_H
#define UOP_DIALECT_SCALAR_H

#include "Uop/Dialect/Uop.h"

namespace uop {

/// One element of any dtype in 32 bits: a bool is 0 or 1, an i32 itself, an f32
/// its bits, an f16 the bits of the f32 of the same value.
using Word = uint32_t;

inline float toFloat(Word w) { return llvm::bit_cast<float>(w); }
inline Word fromFloat(float f) { return llvm::bit_cast<Word>(f); }
/// The f16 nearest to `f` (ties to even, overflow to infinity), as an f32.
float roundToHalf(float f);
/// The 16 bits of an f32 that is exactly an f16, and back.
uint16_t toHalfBits(float f);
float fromHalfBits(uint16_t bits);

/// The value of ALU op `code` on elements of dtype `source` (for WHERE and CAST
/// too: the dtype of the branches, of the operand); `target` is the result's
/// dtype and differs from it only for CAST and the comparisons. Total: division
/// by zero is 0, INT_MIN // -1 is INT_MIN, a float outside i32 gives what this
/// machine's conversion gives.
Word evalAlu(OpCode code, DType source, DType target, Word a, Word b = 0,
             Word c = 0);

/// Whether every implementation agrees on that value: not where C leaves it open
/// (division by zero, INT_MIN // -1, a float outside i32). Only these are folded.
bool isDefinedAlu(OpCode code, DType source, DType target, Word a, Word b = 0);

/// `(a > b) ? a : b`, or the sum, as a REDUCE over `dtype` combines.
Word evalReduce(ReduceKind kind, DType dtype, Word accumulator, Word value);
/// What a REDUCE of nothing gives: 0; -inf, INT_MIN or false for max.
Word getIdentity(ReduceKind kind, DType dtype);

/// The constant's bits, and the attribute of bits: one NaN per dtype.
Word getWord(mlir::Attribute constant);
mlir::TypedAttr getConstantAttr(mlir::MLIRContext *context, DType dtype, Word w);
/// `constant`, but of all NaNs of a dtype always the same one.
mlir::TypedAttr getUniqueConstant(mlir::TypedAttr constant);

} // namespace uop

#endif // UOP_DIALECT_SCALAR_H
