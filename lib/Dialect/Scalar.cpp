//===- Scalar.cpp - arithmetic on one element -----------------------------===//
//
// The meaning of every ALU op, in terms of this machine's own arithmetic.
//
//===----------------------------------------------------------------------===//

#include "Uop/Dialect/Scalar.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace uop;

float uop::roundToHalf(float f) {
  return static_cast<float>(static_cast<_Float16>(f));
}

uint16_t uop::toHalfBits(float f) {
  return llvm::bit_cast<uint16_t>(static_cast<_Float16>(f));
}

float uop::fromHalfBits(uint16_t bits) {
  return static_cast<float>(llvm::bit_cast<_Float16>(bits));
}

namespace {

Word makeFloat(DType dtype, float f) {
  return fromFloat(dtype == DType::F16 ? roundToHalf(f) : f);
}

int32_t floorDiv(int32_t a, int32_t b) {
  if (b == 0)
    return 0;
  if (b == -1)
    return static_cast<int32_t>(0u - static_cast<uint32_t>(a));
  int32_t q = a / b;
  return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
}

int32_t floorMod(int32_t a, int32_t b) {
  if (b == 0 || b == -1)
    return 0;
  int32_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

/// What x86 converts a float outside i32 to.
int32_t truncateToInt(float f) {
  if (!(f >= -2147483648.0f && f < 2147483648.0f))
    return std::numeric_limits<int32_t>::min();
  return static_cast<int32_t>(f);
}

Word evalCast(DType source, DType target, Word a) {
  if (source == target)
    return a;
  bool fromFloating = isFloat(source);
  switch (target) {
  case DType::Bool:
    return fromFloating ? toFloat(a) != 0.0f : a != 0;
  case DType::I32:
    return fromFloating ? static_cast<Word>(truncateToInt(toFloat(a))) : a;
  case DType::F32:
  case DType::F16:
    return makeFloat(target, fromFloating ? toFloat(a)
                                          : static_cast<float>(
                                                static_cast<int32_t>(a)));
  case DType::Void:
    break;
  }
  llvm_unreachable("void has no values");
}

Word evalFloat(OpCode code, DType dtype, Word wa, Word wb) {
  float a = toFloat(wa), b = toFloat(wb);
  switch (code) {
  case OpCode::Recip:
    return makeFloat(dtype, 1.0f / a);
  case OpCode::Exp2:
    return makeFloat(dtype, ::exp2f(a));
  case OpCode::Log2:
    return makeFloat(dtype, ::log2f(a));
  case OpCode::Sqrt:
    return makeFloat(dtype, ::sqrtf(a));
  case OpCode::Sin:
    return makeFloat(dtype, ::sinf(a));
  case OpCode::Add:
    return makeFloat(dtype, a + b);
  case OpCode::Mul:
    return makeFloat(dtype, a * b);
  case OpCode::Max:
    return a > b ? wa : wb;
  case OpCode::CmpLt:
    return a < b;
  case OpCode::CmpNe:
    return a != b;
  default:
    llvm_unreachable("no float op");
  }
}

Word evalInt(OpCode code, Word wa, Word wb) {
  int32_t a = wa, b = wb;
  switch (code) {
  case OpCode::Add:
    return wa + wb;
  case OpCode::Mul:
    return wa * wb;
  case OpCode::Max:
    return a > b ? wa : wb;
  case OpCode::CmpLt:
    return a < b;
  case OpCode::CmpNe:
    return a != b;
  case OpCode::FloorDiv:
    return floorDiv(a, b);
  case OpCode::FloorMod:
    return floorMod(a, b);
  default:
    llvm_unreachable("no integer op");
  }
}

} // namespace

Word uop::evalAlu(OpCode code, DType source, DType target, Word a, Word b,
                  Word c) {
  if (code == OpCode::Cast)
    return evalCast(source, target, a);
  if (code == OpCode::Where)
    return a ? b : c;
  if (isFloat(source))
    return evalFloat(code, source, a, b);
  if (source == DType::Bool && code == OpCode::Add)
    return a | b;
  return evalInt(code, a, b);
}

Word uop::evalReduce(ReduceKind kind, DType dtype, Word accumulator,
                     Word value) {
  return evalAlu(kind == ReduceKind::Add ? OpCode::Add : OpCode::Max, dtype,
                 dtype, accumulator, value);
}

Word uop::getIdentity(ReduceKind kind, DType dtype) {
  if (kind == ReduceKind::Add || dtype == DType::Bool)
    return 0;
  return isFloat(dtype) ? fromFloat(-std::numeric_limits<float>::infinity())
                        : Word(1) << 31;
}

Word uop::getWord(Attribute constant) {
  if (auto integer = dyn_cast<IntegerAttr>(constant))
    return static_cast<Word>(integer.getValue().getZExtValue());
  llvm::APFloat value = cast<FloatAttr>(constant).getValue();
  bool lost;
  value.convert(llvm::APFloat::IEEEsingle(),
                llvm::APFloat::rmNearestTiesToEven, &lost);
  return fromFloat(value.convertToFloat());
}

TypedAttr uop::getConstantAttr(MLIRContext *context, DType dtype, Word w) {
  Type type = getScalarType(context, dtype);
  if (dtype == DType::Bool)
    return BoolAttr::get(context, w != 0);
  if (dtype == DType::I32)
    return IntegerAttr::get(type, static_cast<int32_t>(w));
  llvm::APFloat value(toFloat(w));
  if (value.isNaN())
    value = llvm::APFloat::getQNaN(llvm::APFloat::IEEEsingle());
  bool lost;
  value.convert(cast<mlir::FloatType>(type).getFloatSemantics(),
                llvm::APFloat::rmNearestTiesToEven, &lost);
  return FloatAttr::get(type, value);
}

TypedAttr uop::getUniqueConstant(TypedAttr constant) {
  auto value = dyn_cast<FloatAttr>(constant);
  if (!value || !value.getValue().isNaN())
    return constant;
  return FloatAttr::get(value.getType(), llvm::APFloat::getQNaN(
                                             value.getValue().getSemantics()));
}
