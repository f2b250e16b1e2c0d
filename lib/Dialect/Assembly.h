//===- Assembly.h - shared pieces of the ops' assembly ----------*- C++ -*-===//
//
// The custom directives that the op families' assembly formats name.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_LIB_DIALECT_ASSEMBLY_H
#define UOP_LIB_DIALECT_ASSEMBLY_H

#include "Uop/Dialect/Typing.h"
#include "mlir/IR/DialectImplementation.h"

namespace uop {

/// Two operand types, written once when they are the same.
mlir::ParseResult parsePairTypes(mlir::OpAsmParser &parser, mlir::Type &lhs,
                                 mlir::Type &rhs);
void printPairTypes(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                    mlir::Type lhs, mlir::Type rhs);

/// The bare keyword of a REDUCE's kind.
mlir::ParseResult parseReduceKind(mlir::OpAsmParser &parser,
                                  ReduceKindAttr &kind);
void printReduceKind(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                     ReduceKindAttr kind);

/// The types of all sources, written once when they are the same.
mlir::ParseResult parseSourceTypes(
    mlir::OpAsmParser &parser,
    llvm::ArrayRef<mlir::OpAsmParser::UnresolvedOperand> sources,
    llvm::SmallVectorImpl<mlir::Type> &types);
void printSourceTypes(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                      mlir::OperandRange sources, mlir::TypeRange types);

/// InferTypeOpInterface of every UOp, by the rule of its op code.
mlir::LogicalResult inferReturnTypesOf(
    mlir::MLIRContext *context, OpCode code,
    std::optional<mlir::Location> location, mlir::ValueRange operands,
    const Arg &arg, llvm::SmallVectorImpl<mlir::Type> &types);

/// The verifier of every UOp: the rule holds, and the result is what it says.
mlir::LogicalResult verifyUop(OpCode code, mlir::Operation *op);

/// The folder of every ALU op.
mlir::OpFoldResult foldAlu(OpCode code, mlir::Operation *op,
                           llvm::ArrayRef<mlir::Attribute> operands);

} // namespace uop

/// Defines the verifier of code##Op.
#define UOP_DEFINE_VERIFIER(code)                                              \
  mlir::LogicalResult code##Op::verify() {                                     \
    return verifyUop(OpCode::code, getOperation());                            \
  }

/// Defines verifier and type inference of code##Op; ARG makes the Arg of a
/// `const code##Op::Properties &p`.
#define UOP_DEFINE_TYPED(code, ARG)                                            \
  UOP_DEFINE_VERIFIER(code)                                                    \
  mlir::LogicalResult code##Op::inferReturnTypes(                              \
      mlir::MLIRContext *context, std::optional<mlir::Location> location,      \
      mlir::ValueRange operands, mlir::DictionaryAttr,                         \
      mlir::OpaqueProperties properties, mlir::RegionRange,                    \
      llvm::SmallVectorImpl<mlir::Type> &types) {                              \
    /* A parser that saw no property has made none. */                         \
    const code##Op::Properties none{};                                         \
    [[maybe_unused]] const auto &p =                                           \
        properties ? *properties.as<code##Op::Properties *>() : none;          \
    return inferReturnTypesOf(context, OpCode::code, location, operands, ARG,  \
                              types);                                          \
  }

/// Defines the folder of ALU op code##Op.
#define UOP_DEFINE_FOLDER(code)                                                \
  mlir::OpFoldResult code##Op::fold(FoldAdaptor adaptor) {                     \
    return foldAlu(OpCode::code, getOperation(), adaptor.getOperands());       \
  }

#endif // UOP_LIB_DIALECT_ASSEMBLY_H
