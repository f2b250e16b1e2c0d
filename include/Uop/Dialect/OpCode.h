//===- OpCode.h - the op codes of UOps --------------------------*- C++ -*-===//
//
// The closed set of op codes, their names in messages and in `.uir`, and the
// groups that passes ask about. Leans on nothing of MLIR.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_DIALECT_OPCODE_H
#define UOP_DIALECT_OPCODE_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <initializer_list>
#include <optional>

/// X(code, mnemonic) for every op code; the op class is code##Op.
#define UOP_FOR_EACH_OPCODE(X)                                                 \
  X(Const, "const")                                                            \
  X(Param, "param")                                                            \
  X(Call, "call")                                                              \
  X(Stack, "stack")                                                            \
  X(Index, "index")                                                            \
  X(Cast, "cast")                                                              \
  X(Recip, "recip")                                                            \
  X(Exp2, "exp2")                                                              \
  X(Log2, "log2")                                                              \
  X(Sqrt, "sqrt")                                                              \
  X(Sin, "sin")                                                                \
  X(Add, "add")                                                                \
  X(Mul, "mul")                                                                \
  X(Max, "max")                                                                \
  X(CmpLt, "cmplt")                                                            \
  X(CmpNe, "cmpne")                                                            \
  X(FloorDiv, "floordiv")                                                      \
  X(FloorMod, "floormod")                                                      \
  X(Where, "where")                                                            \
  X(Buffer, "buffer")                                                          \
  X(Alloc, "alloc")                                                            \
  X(Load, "load")                                                              \
  X(Store, "store")                                                            \
  X(After, "after")                                                            \
  X(Sink, "sink")                                                              \
  X(Range, "range")                                                            \
  X(End, "end")                                                                \
  X(Reshape, "reshape")                                                        \
  X(Expand, "expand")                                                          \
  X(Permute, "permute")                                                        \
  X(Shrink, "shrink")                                                          \
  X(Reduce, "reduce")                                                          \
  X(Stage, "stage")                                                            \
  X(Barrier, "barrier")                                                        \
  X(Wmma, "wmma")

namespace uop {

enum class OpCode : uint8_t {
#define UOP_CODE(code, mnemonic) code,
  UOP_FOR_EACH_OPCODE(UOP_CODE)
#undef UOP_CODE
};

inline constexpr unsigned numOpCodes = static_cast<unsigned>(OpCode::Wmma) + 1;

/// The name in `.uir` and in MLIR: `floordiv`.
llvm::StringRef getMnemonic(OpCode code);
/// The name in messages: `FLOORDIV`.
llvm::StringRef getName(OpCode code);
/// The op code of a mnemonic in any case; nullopt if there is none.
std::optional<OpCode> parseOpCode(llvm::StringRef mnemonic);

inline bool isUnary(OpCode c) { return OpCode::Cast <= c && c <= OpCode::Sin; }
inline bool isBinary(OpCode c) {
  return OpCode::Add <= c && c <= OpCode::FloorMod;
}
/// CAST to WHERE: elementwise on shaped values, scalar in a lowered program.
inline bool isAlu(OpCode c) { return OpCode::Cast <= c && c <= OpCode::Where; }
inline bool isMovement(OpCode c) {
  return OpCode::Reshape <= c && c <= OpCode::Shrink;
}

/// A set of op codes.
class OpCodeSet {
public:
  constexpr OpCodeSet() = default;
  constexpr OpCodeSet(OpCode code) : bits(getBit(code)) {}
  constexpr OpCodeSet(std::initializer_list<OpCode> codes) {
    for (OpCode code : codes)
      insert(code);
  }

  constexpr bool empty() const { return bits == 0; }
  constexpr void insert(OpCode code) { bits |= getBit(code); }
  constexpr bool intersects(OpCodeSet other) const {
    return (bits & other.bits) != 0;
  }
  constexpr bool isSubsetOf(OpCodeSet other) const {
    return (bits & ~other.bits) == 0;
  }

private:
  static_assert(numOpCodes <= 64);
  static constexpr uint64_t getBit(OpCode code) {
    return uint64_t(1) << static_cast<unsigned>(code);
  }
  uint64_t bits = 0;
};

} // namespace uop

#endif // UOP_DIALECT_OPCODE_H
