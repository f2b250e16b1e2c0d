//===- Literal.h - literals of .uir -----------------------------*- C++ -*-===//
//
// Reading one scalar literal and giving it a dtype. Private to the `.uir`
// parser and printer.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_LIB_TARGET_LITERAL_H
#define UOP_LIB_TARGET_LITERAL_H

#include "Uop/Dialect/Scalar.h"

namespace uop {

/// A scalar literal as written: `true`, `-3`, `0x1f`, `1_000`, `2.5`, `.5e3`,
/// `inf`, `-inf`, `nan`. Numbers have Python's syntax.
struct Literal {
  enum class Kind : uint8_t { Bool, Int, Float };

  Kind kind;
  /// An integer that int64_t does not hold; `integer` is then meaningless.
  bool huge = false;
  /// The value of a Bool or an Int.
  int64_t integer = 0;
  /// All of the literal.
  llvm::StringRef text;

  /// The literal `text` is; nullopt if it is none.
  static std::optional<Literal> parse(llvm::StringRef text);

  /// The dtype of the literal where no neighbour gives it one.
  DType getNaturalDType() const;
  /// The element of this dtype, rounded once from what is written; nullopt when
  /// the dtype cannot hold it.
  std::optional<Word> convert(DType dtype) const;
};

/// The dtype that an element of `dtype`, printed as a literal, has by itself.
inline DType getNaturalDType(DType dtype) {
  return dtype == DType::F16 ? DType::F32 : dtype;
}

} // namespace uop

#endif // UOP_LIB_TARGET_LITERAL_H
