//===- UirStatement.h - one statement of .uir -------------------*- C++ -*-===//
//
// Taking a statement apart into name, op, operands and attributes, before it is
// given a meaning. Private to the `.uir` parser.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_LIB_TARGET_UIRSTATEMENT_H
#define UOP_LIB_TARGET_UIRSTATEMENT_H

#include "Literal.h"

namespace uop {

/// `text` fit for one line of a message: bytes that do not print as `\XX`, long
/// text cut off after `limit` bytes with `...`.
std::string quoteForMessage(llvm::StringRef text, size_t limit = 60);

/// What is wrong with a statement, and where in its text.
struct StatementError {
  const char *where = nullptr;
  std::string message;

  /// Keeps the error and returns false.
  bool set(const char *position, const llvm::Twine &text) {
    where = position;
    message = text.str();
    return false;
  }
};

/// The keys that attributes may have, as bits of a set.
enum AttributeKey : unsigned {
  KeyDType = 1 << 0,
  KeySlot = 1 << 1,
  KeyShape = 1 << 2,
  KeyOp = 1 << 3,
  KeyPop = 1 << 4,
  KeyIdx = 1 << 5,
  KeyKind = 1 << 6,
  KeySpace = 1 << 7,
  KeyName = 1 << 8,
};

/// The attributes of a statement, with their defaults.
struct Attributes {
  unsigned present = 0; // of AttributeKey
  DType dtype = DType::F32;
  int64_t slot = 0;
  int64_t pop = 1;
  int64_t idx = 0;
  llvm::SmallVector<int64_t, 4> shape;
  /// The op code of `op=`; Add, Max, or one that a REDUCE refuses.
  OpCode op = OpCode::Add;
  AxisKind kind = AxisKind::Loop;
  AddrSpace space = AddrSpace::Local;
  std::string name = "f";

  bool has(AttributeKey key) const { return present & key; }
};

/// `%name = op operands : attributes`.
struct Statement {
  llvm::StringRef text; // trimmed, without comment
  llvm::StringRef name; // without the %
  OpCode code;
  /// Operands as written, trimmed: `%name`, a literal or a tuple.
  llvm::SmallVector<llvm::StringRef, 8> operands;
  Attributes attributes;

  /// Takes `text` apart. Names of operands end at a comma or a colon, unless
  /// `isName` (which may be null) knows a longer one of at most `maxName`
  /// bytes.
  bool parse(llvm::StringRef text,
             llvm::function_ref<bool(llvm::StringRef)> isName, size_t maxName,
             StatementError &error);

private:
  bool parseOperands(const char *&p,
                     llvm::function_ref<bool(llvm::StringRef)> isName,
                     size_t maxName, StatementError &error);
  bool parseAttributes(const char *p, StatementError &error);
  bool setAttribute(llvm::StringRef key, llvm::StringRef value,
                    StatementError &error);
};

/// An integer in `.uir` syntax that int64_t holds.
std::optional<int64_t> parseInteger(llvm::StringRef text);

/// `(2, 3)`, `(4,)`, `()`, into `values`; false if `text` is anything else.
bool parseIntegers(llvm::StringRef text,
                   llvm::SmallVectorImpl<int64_t> &values);

/// `((0, 2), (1, 3))` into `values`, flat; false if `text` is anything else.
bool parseIntegerPairs(llvm::StringRef text,
                       llvm::SmallVectorImpl<int64_t> &values);

} // namespace uop

#endif // UOP_LIB_TARGET_UIRSTATEMENT_H
