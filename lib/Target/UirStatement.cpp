//===- UirStatement.cpp - one statement of .uir ---------------------------===//
//
// The grammar of a line: where names, operands and attributes begin and end.
// All of it is linear in the length of the line.
//
//===----------------------------------------------------------------------===//

#include "UirStatement.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace uop;
using llvm::StringRef;
using llvm::Twine;

namespace {

bool isSpace(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

StringRef trim(const char *begin, const char *end) {
  while (begin != end && isSpace(*begin))
    ++begin;
  while (begin != end && isSpace(end[-1]))
    --end;
  return StringRef(begin, end - begin);
}

void skipSpace(const char *&p, const char *end) {
  while (p != end && isSpace(*p))
    ++p;
}

/// The position behind the parenthesis that closes the one at `p`; null if
/// there is none.
const char *findClose(const char *p, const char *end) {
  int depth = 0;
  for (; p != end; ++p) {
    if (*p == '(')
      ++depth;
    else if (*p == ')' && --depth == 0)
      return p + 1;
  }
  return nullptr;
}

/// Calls `each` with the elements of the tuple `text`; false if it is no tuple
/// or `each` says so.
bool forEachElement(StringRef text, llvm::function_ref<bool(StringRef)> each) {
  if (text.size() < 2 || text.front() != '(' || text.back() != ')')
    return false;
  const char *p = text.begin() + 1, *end = text.end() - 1;
  skipSpace(p, end);
  while (p != end) {
    const char *stop = p;
    if (*p == '(') {
      stop = findClose(p, end);
      if (!stop)
        return false;
    }
    while (stop != end && *stop != ',')
      ++stop;
    if (!each(trim(p, stop)))
      return false;
    p = stop == end ? end : stop + 1;
    skipSpace(p, end);
  }
  return true;
}

unsigned getAllowed(OpCode code) {
  switch (code) {
  case OpCode::Buffer:
    return KeyDType | KeySlot;
  case OpCode::Alloc:
    return KeyDType | KeySlot | KeySpace;
  case OpCode::Param:
    return KeyDType | KeySlot | KeyShape;
  case OpCode::Const:
  case OpCode::Cast:
    return KeyDType;
  case OpCode::Call:
    return KeyName;
  case OpCode::Range:
    return KeyIdx | KeyKind;
  case OpCode::Reduce:
    return KeyOp | KeyPop;
  case OpCode::Stage:
    return KeyKind;
  default:
    return 0;
  }
}

AttributeKey parseKey(StringRef key) {
  return llvm::StringSwitch<AttributeKey>(key)
      .Case("dtype", KeyDType)
      .Case("slot", KeySlot)
      .Case("shape", KeyShape)
      .Case("op", KeyOp)
      .Case("pop", KeyPop)
      .Case("idx", KeyIdx)
      .Case("kind", KeyKind)
      .Case("space", KeySpace)
      .Case("name", KeyName)
      .Default(AttributeKey(0));
}

/// The text of `"..."` with its `\XX` resolved; false if it is malformed.
bool unquote(StringRef text, std::string &out) {
  out.clear();
  for (size_t i = 1; i + 1 < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    if (i + 3 >= text.size() || !llvm::isHexDigit(text[i + 1]) ||
        !llvm::isHexDigit(text[i + 2]))
      return false;
    out += llvm::hexFromNibbles(text[i + 1], text[i + 2]);
    i += 2;
  }
  return true;
}

} // namespace

std::string uop::quoteForMessage(StringRef text, size_t limit) {
  std::string out;
  for (char c : text.take_front(limit)) {
    if (llvm::isPrint(c)) {
      out += c;
      continue;
    }
    out += '\\';
    out += llvm::hexdigit(static_cast<uint8_t>(c) >> 4);
    out += llvm::hexdigit(c & 15);
  }
  if (text.size() > limit)
    out += "...";
  return out;
}

std::optional<int64_t> uop::parseInteger(StringRef text) {
  std::optional<Literal> literal = Literal::parse(text);
  if (!literal || literal->kind != Literal::Kind::Int || literal->huge)
    return std::nullopt;
  return literal->integer;
}

bool uop::parseIntegers(StringRef text,
                        llvm::SmallVectorImpl<int64_t> &values) {
  return forEachElement(text, [&](StringRef element) {
    std::optional<int64_t> value = parseInteger(element);
    if (value)
      values.push_back(*value);
    return value.has_value();
  });
}

bool uop::parseIntegerPairs(StringRef text,
                            llvm::SmallVectorImpl<int64_t> &values) {
  return forEachElement(text, [&](StringRef element) {
    size_t before = values.size();
    return parseIntegers(element, values) && values.size() == before + 2;
  });
}

bool Statement::parse(StringRef line,
                      llvm::function_ref<bool(StringRef)> isName,
                      size_t maxName, StatementError &error) {
  text = line;
  const char *end = text.end();
  const void *found = memchr(text.begin(), '=', text.size());
  if (!found || text.front() != '%')
    return error.set(text.begin(), "statement must start with %name =");
  const char *p = static_cast<const char *>(found);
  name = trim(text.begin() + 1, p);
  ++p;
  skipSpace(p, end);
  const char *opBegin = p;
  while (p != end && !isSpace(*p) && *p != ':')
    ++p;
  StringRef op(opBegin, p - opBegin);
  if (op.empty())
    return error.set(opBegin, "an op must follow %name =");
  std::optional<OpCode> parsed = parseOpCode(op);
  if (!parsed)
    return error.set(opBegin, "unknown op " +
                                  quoteForMessage(op.take_front(100).upper()));
  code = *parsed;
  operands.clear();
  attributes.present = 0;
  if (!parseOperands(p, isName, maxName, error))
    return false;
  if (p == end) // no colon
    return true;
  attributes = Attributes();
  return parseAttributes(p + 1, error);
}

/// Leaves `p` at the colon or at the end.
bool Statement::parseOperands(const char *&p,
                              llvm::function_ref<bool(StringRef)> isName,
                              size_t maxName, StatementError &error) {
  const char *end = text.end();
  skipSpace(p, end);
  if (p == end || *p == ':')
    return true;
  while (true) {
    skipSpace(p, end);
    const char *begin = p;
    if (p != end && *p == '(') {
      p = findClose(p, end);
      if (!p)
        return error.set(begin, "'(' is never closed");
    }
    while (p != end && *p != ',' && *p != ':')
      ++p;
    StringRef operand = trim(begin, p);
    if (operand.empty())
      return error.set(begin, "expected %name or a literal");
    // A name may hold commas and colons: the shortest that is one counts.
    if (operand.front() == '%' && isName && !isName(operand.drop_front())) {
      const char *longer = p;
      while (longer != end && static_cast<size_t>(longer - begin) <= maxName) {
        do
          ++longer;
        while (longer != end && *longer != ',' && *longer != ':');
        if (isName(trim(begin + 1, longer))) {
          operand = trim(begin, longer);
          p = longer;
          break;
        }
      }
    }
    operands.push_back(operand);
    if (p == end || *p == ':')
      return true;
    ++p;
  }
}

bool Statement::parseAttributes(const char *p, StatementError &error) {
  const char *end = text.end();
  while (true) {
    skipSpace(p, end);
    if (p == end)
      return true;
    const char *begin = p;
    while (p != end && !isSpace(*p) && *p != '=')
      ++p;
    StringRef key(begin, p - begin);
    const char *valueBegin = p == end ? end : p + 1;
    if (p == end || *p != '=' || valueBegin == end || isSpace(*valueBegin)) {
      while (p != end && !isSpace(*p))
        ++p;
      return error.set(begin, "expected key=value, got '" +
                                  quoteForMessage(StringRef(begin, p - begin)) +
                                  "'");
    }
    p = valueBegin;
    if (*p == '(') {
      p = findClose(p, end);
      if (!p)
        return error.set(valueBegin, "'(' is never closed");
    } else if (*p == '"') {
      p = static_cast<const char *>(memchr(p + 1, '"', end - p - 1));
      if (!p)
        return error.set(valueBegin, "'\"' is never closed");
      ++p;
    }
    while (p != end && !isSpace(*p))
      ++p;
    if (!setAttribute(key, StringRef(valueBegin, p - valueBegin), error))
      return false;
  }
}

bool Statement::setAttribute(StringRef key, StringRef value,
                             StatementError &error) {
  AttributeKey parsed = parseKey(key);
  if (!(parsed & getAllowed(code)))
    return error.set(key.begin(), getName(code) + " has no attribute '" +
                                      quoteForMessage(key) + "'");
  if (attributes.present & parsed)
    return error.set(key.begin(), "attribute '" + key + "' is given twice");
  attributes.present |= parsed;
  auto unknown = [&](const Twine &what) {
    return error.set(value.begin(),
                     "unknown " + what + " '" + quoteForMessage(value) + "'");
  };
  auto integer = [&](int64_t &out) {
    std::optional<int64_t> number = parseInteger(value);
    if (number)
      out = *number;
    return number ||
           error.set(value.begin(), key + " must be an integer, got '" +
                                        quoteForMessage(value) + "'");
  };
  switch (parsed) {
  case KeyDType: {
    std::optional<DType> dtype = parseDType(value);
    attributes.dtype = dtype.value_or(DType::Void);
    return dtype || unknown("dtype");
  }
  case KeySlot:
    return integer(attributes.slot);
  case KeyPop:
    return integer(attributes.pop);
  case KeyIdx:
    return integer(attributes.idx);
  case KeyShape:
    return parseIntegers(value, attributes.shape) ||
           error.set(value.begin(), "shape must be a tuple of integers, got '" +
                                        quoteForMessage(value) + "'");
  case KeyOp: {
    std::optional<OpCode> op = parseOpCode(value);
    attributes.op = op.value_or(OpCode::Add);
    return op || error.set(value.begin(),
                           "unknown op " +
                               quoteForMessage(value.take_front(100).upper()));
  }
  case KeyKind: {
    if (code == OpCode::Stage)
      return value.equals_insensitive("detach") || unknown("kind");
    std::optional<AxisKind> kind = symbolizeAxisKind(value.lower());
    attributes.kind = kind.value_or(AxisKind::Loop);
    return kind || unknown("kind");
  }
  case KeySpace: {
    std::optional<AddrSpace> space = symbolizeAddrSpace(value.lower());
    attributes.space = space.value_or(AddrSpace::Local);
    return space || unknown("space");
  }
  case KeyName:
    if (value.front() == '"') {
      if (value.find('"', 1) == value.size() - 1 &&
          unquote(value, attributes.name))
        return true;
    } else if (llvm::all_of(value, [](char c) {
                 return llvm::isAlnum(c) || StringRef("_.$-").contains(c) ||
                        static_cast<uint8_t>(c) >= 0x80;
               })) {
      attributes.name = value.str();
      return true;
    }
    return error.set(value.begin(), "name must be an identifier, got '" +
                                        quoteForMessage(value) + "'");
  }
  llvm_unreachable("a key");
}
