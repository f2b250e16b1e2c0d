//===- Typing.h - one typing rule per op ------------------------*- C++ -*-===//
//
// What type a UOp has, and what is wrong with a UOp that has none. Inference,
// the verifiers and every front end report from here.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_DIALECT_TYPING_H
#define UOP_DIALECT_TYPING_H

#include "Uop/Dialect/Uop.h"

namespace uop {

/// What a UOp holds besides op and sources. Which fields count depends on the op:
///
/// | op                              | attr                  | number | other |
/// |---------------------------------|-----------------------|--------|-------|
/// | CONST                           | Float/IntegerAttr     |        |       |
/// | CALL                            | StringAttr (name)     |        |       |
/// | RESHAPE EXPAND PERMUTE SHRINK   | DenseI64ArrayAttr     |        |       |
/// | REDUCE                          | ReduceKindAttr        | pop    |       |
/// | PARAM BUFFER ALLOC              |                       | slot   | type  |
/// | CAST                            |                       |        | type: scalar dtype |
/// | RANGE                           |                       | idx    | kind  |
/// | STAGE                           |                       | 1 for detach |  |
struct Arg {
  mlir::Attribute attr;
  mlir::Type type;
  int64_t number = 0;
  AxisKind kind = AxisKind::Loop;

  bool operator==(const Arg &o) const {
    return attr == o.attr && type == o.type && number == o.number &&
           kind == o.kind;
  }
};

/// The arg of an existing UOp.
Arg getArg(OpCode code, mlir::Operation *op);

/// Called with the message when a UOp has no type.
using ErrorFn = llvm::function_ref<void(const llvm::Twine &)>;

/// The type of UOp (code, sources, arg); a null Type, with the reason given to
/// `error`, when it is malformed. `sources` need not be unique nodes.
mlir::Type inferType(mlir::MLIRContext *context, OpCode code,
                     mlir::ValueRange sources, const Arg &arg, ErrorFn error);

/// The PARAMs that belong to a CALL body, each once: nested CALLs are entered
/// through their arguments only. Linear in the size of the body.
llvm::SmallVector<mlir::Operation *> getParams(mlir::Value body);

/// What a REDUCE of this kind, named for messages, says when it is malformed.
std::string getReduceError(llvm::StringRef kind, int64_t pop, mlir::Type source);

} // namespace uop

#endif // UOP_DIALECT_TYPING_H
