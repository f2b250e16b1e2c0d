//===- Uop.h - the uop dialect ----------------------------------*- C++ -*-===//
//
// The dialect, its types, attributes and op classes, and what every room asks
// of a type: dtype, shape, address space.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_DIALECT_UOP_H
#define UOP_DIALECT_UOP_H

#include "Uop/Dialect/OpCode.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "Uop/Dialect/UopEnums.h.inc"

#include "Uop/Dialect/UopDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "Uop/Dialect/UopAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "Uop/Dialect/UopTypes.h.inc"

#define GET_OP_CLASSES
#include "Uop/Dialect/UopValueOps.h.inc"

#define GET_OP_CLASSES
#include "Uop/Dialect/UopMemoryOps.h.inc"

#define GET_OP_CLASSES
#include "Uop/Dialect/UopLoopOps.h.inc"

#define GET_OP_CLASSES
#include "Uop/Dialect/UopMovementOps.h.inc"

#define GET_OP_CLASSES
#include "Uop/Dialect/UopKernelOps.h.inc"

namespace uop {

enum class DType : uint8_t { Void, Bool, I32, F32, F16 };

/// `void`, `bool`, `i32`, `f32`, `f16`.
llvm::StringRef getName(DType dtype);
/// The dtype of a name; nullopt if there is none.
std::optional<DType> parseDType(llvm::StringRef name);
inline bool isFloat(DType d) { return d == DType::F32 || d == DType::F16; }
/// Bytes of one element; 0 for void.
unsigned getByteWidth(DType dtype);

/// The builtin scalar type of a dtype (`!uop.void` for void).
mlir::Type getScalarType(mlir::MLIRContext *context, DType dtype);
/// The type of a register value: a scalar, or a tensor for any other shape.
mlir::Type getValueType(mlir::MLIRContext *context, DType dtype,
                        llvm::ArrayRef<int64_t> shape);

/// The dtype of a UOp's type; nullopt for a type that no UOp has.
std::optional<DType> getDTypeOrNone(mlir::Type type);
/// The dtype of a UOp's type. The type must be one that UOps have.
DType getDType(mlir::Type type);
/// The shape of a UOp's type; empty for scalars, pointers and void.
llvm::ArrayRef<int64_t> getShape(mlir::Type type);
/// Where a value of this type lives; Alu for values in registers and void.
AddrSpace getSpace(mlir::Type type);
/// A type like `type` (dtype, address space), of another shape.
mlir::Type withShape(mlir::Type type, llvm::ArrayRef<int64_t> shape);
/// The register type of what `type` holds: memory becomes the value read.
mlir::Type getReadType(mlir::Type type);
inline bool isMemory(mlir::Type type) { return mlir::isa<MemType>(type); }

/// The number of elements of a shape; nullopt when it exceeds int64_t.
std::optional<int64_t> getNumElements(llvm::ArrayRef<int64_t> shape);

/// The largest number of elements memory may have: 2^31-1.
inline constexpr int64_t maxMemoryElements = 2147483647;

/// "(2, 3)", "(4,)", "()".
std::string formatShape(llvm::ArrayRef<int64_t> shape);

/// `value.getDefiningOp()`, without a call for the first result of an op: MLIR
/// keeps that right in front of the op (Operation::getInlineOpResult).
inline mlir::Operation *getDefiningOp(mlir::Value value) {
  using namespace mlir::detail;
  if (value.getImpl()->getKind() != ValueImpl::Kind::InlineOpResult)
    return value.getDefiningOp();
  auto *result = static_cast<InlineOpResult *>(value.getImpl());
  return reinterpret_cast<mlir::Operation *>(result + 1);
}

/// The op code of an op; nullopt for ops that are no UOps.
inline std::optional<OpCode> getOpCode(mlir::Operation *op) {
  auto *dialect = llvm::dyn_cast_or_null<UopDialect>(op->getDialect());
  return dialect ? dialect->getOpCode(op->getName()) : std::nullopt;
}
/// The op code of the op that defines `value`, a UOp.
inline OpCode getOpCode(mlir::Value value) {
  return *getOpCode(getDefiningOp(value));
}

} // namespace uop

#endif // UOP_DIALECT_UOP_H
