//===- Literal.cpp - literals of .uir -------------------------------------===//
//
// Reading numbers in Python's syntax, rounding them to a dtype, and the
// shortest text that reads back the same.
//
//===----------------------------------------------------------------------===//

#include "Literal.h"
#include "Uop/Target/Uir.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Error.h"
#include <charconv>
#include <cmath>

using namespace uop;
using llvm::APFloat;
using llvm::StringRef;

namespace {

/// No number of interest is longer; longer ones are refused before any
/// arithmetic that is not linear in their length sees them.
constexpr size_t maxLength = 1000;

bool isDigitOf(char c, unsigned radix) {
  unsigned value = llvm::hexDigitValue(c);
  return value < radix;
}

/// Moves `p` past `digit (["_"] digit)*`; false if there is none.
bool skipDigits(const char *&p, const char *end, unsigned radix = 10) {
  if (p == end || !isDigitOf(*p, radix))
    return false;
  for (++p; p != end; ++p) {
    if (isDigitOf(*p, radix))
      continue;
    if (*p != '_' || p + 1 == end || !isDigitOf(p[1], radix))
      break;
  }
  return true;
}

/// The text of a number without underscores and without a plus in front.
StringRef cleaned(StringRef text, llvm::SmallVectorImpl<char> &storage) {
  text.consume_front("+");
  if (!text.contains('_'))
    return text;
  for (char c : text)
    if (c != '_')
      storage.push_back(c);
  return StringRef(storage.data(), storage.size());
}

unsigned getRadix(StringRef digits) {
  if (digits.size() < 2 || digits[0] != '0')
    return 10;
  switch (digits[1] | 0x20) {
  case 'x':
    return 16;
  case 'o':
    return 8;
  case 'b':
    return 2;
  default:
    return 10;
  }
}

/// The magnitude in uint64_t; nullopt when it holds less.
std::optional<uint64_t> accumulate(StringRef digits, unsigned radix) {
  uint64_t value = 0;
  for (char c : digits) {
    if (c == '_')
      continue;
    uint64_t next;
    if (__builtin_mul_overflow(value, static_cast<uint64_t>(radix), &next) ||
        __builtin_add_overflow(
            next, static_cast<uint64_t>(llvm::hexDigitValue(c)), &next))
      return std::nullopt;
    value = next;
  }
  return value;
}

std::optional<Literal> parseInteger(StringRef text, StringRef digits,
                                    bool negative, unsigned radix) {
  Literal literal{Literal::Kind::Int, false, 0, text};
  const uint64_t limit = static_cast<uint64_t>(1) << 63;
  std::optional<uint64_t> magnitude = accumulate(digits, radix);
  if (!magnitude || *magnitude > limit || (*magnitude == limit && !negative))
    literal.huge = true;
  else
    literal.integer =
        static_cast<int64_t>(negative ? 0 - *magnitude : *magnitude);
  return literal;
}

/// `value` (of any semantics) as an element; nullopt after an overflow.
std::optional<Word> toWord(APFloat value, APFloat::opStatus status) {
  if (status & APFloat::opOverflow)
    return std::nullopt;
  bool lost;
  value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &lost);
  return fromFloat(value.convertToFloat());
}

/// The decimal number `text`, rounded once.
std::optional<Word> roundDecimal(StringRef text, DType dtype) {
  llvm::SmallString<64> storage;
  text = cleaned(text, storage);
  if (dtype == DType::F32) {
    float value;
    auto [rest, error] = std::from_chars(text.begin(), text.end(), value);
    if (error == std::errc())
      return fromFloat(value);
    // Out of range: either too large or, which is zero, too small.
  }
  APFloat value(dtype == DType::F32 ? APFloat::IEEEsingle()
                                    : APFloat::IEEEhalf());
  llvm::Expected<APFloat::opStatus> status =
      value.convertFromString(text, APFloat::rmNearestTiesToEven);
  if (!status) {
    llvm::consumeError(status.takeError());
    return std::nullopt;
  }
  return toWord(value, *status);
}

/// An integer beyond int64_t as an f32, rounded once; no f16 is as large.
std::optional<Word> roundHuge(StringRef text) {
  StringRef digits = text.trim("+-");
  unsigned radix = getRadix(digits);
  if (radix == 10)
    return roundDecimal(text, DType::F32);
  llvm::SmallString<64> storage;
  digits = cleaned(digits.drop_front(2), storage);
  llvm::APInt magnitude(4 * digits.size() + 1, digits, radix);
  APFloat value(APFloat::IEEEsingle());
  APFloat::opStatus status = value.convertFromAPInt(
      magnitude, /*IsSigned=*/false, APFloat::rmNearestTiesToEven);
  if (text.starts_with("-"))
    value.changeSign();
  return toWord(value, status);
}

std::optional<Word> floatToInteger(StringRef text) {
  llvm::SmallString<64> storage;
  text = cleaned(text, storage);
  double value;
  auto [rest, error] = std::from_chars(text.begin(), text.end(), value);
  if (error != std::errc() || value != std::trunc(value) ||
      value < -2147483648.0 || value > 2147483647.0)
    return std::nullopt;
  return static_cast<Word>(static_cast<int32_t>(value));
}

} // namespace

std::optional<Literal> Literal::parse(StringRef text) {
  if (text.empty() || text.size() > maxLength)
    return std::nullopt;
  if (text == "true" || text == "false")
    return Literal{Kind::Bool, false, text == "true", text};
  if (text == "inf" || text == "-inf" || text == "nan")
    return Literal{Kind::Float, false, 0, text};
  const char *p = text.begin(), *end = text.end();
  bool negative = *p == '-';
  if (negative || *p == '+')
    ++p;
  StringRef digits(p, end - p);
  if (unsigned radix = getRadix(digits); radix != 10) {
    p += 2;
    if (p != end && *p == '_')
      ++p;
    const char *first = p;
    if (!skipDigits(p, end, radix) || p != end)
      return std::nullopt;
    return parseInteger(text, StringRef(first, end - first), negative, radix);
  }
  bool whole = skipDigits(p, end);
  if (whole && p == end) {
    if (digits[0] == '0' && digits.find_first_not_of("0_") != StringRef::npos)
      return std::nullopt; // a leading zero, as in 010
    return parseInteger(text, digits, negative, 10);
  }
  if (p != end && *p == '.') {
    ++p;
    if (!skipDigits(p, end) && !whole)
      return std::nullopt;
  } else if (!whole) {
    return std::nullopt;
  }
  if (p != end && (*p | 0x20) == 'e') {
    ++p;
    if (p != end && (*p == '-' || *p == '+'))
      ++p;
    if (!skipDigits(p, end))
      return std::nullopt;
  }
  if (p != end)
    return std::nullopt;
  return Literal{Kind::Float, false, 0, text};
}

DType Literal::getNaturalDType() const {
  switch (kind) {
  case Kind::Bool:
    return DType::Bool;
  case Kind::Int:
    return DType::I32;
  case Kind::Float:
    return DType::F32;
  }
  llvm_unreachable("a kind");
}

std::optional<Word> Literal::convert(DType dtype) const {
  if (dtype == DType::Void)
    return std::nullopt;
  if (kind == Kind::Float) {
    if (text == "inf" || text == "-inf" || text == "nan") {
      if (!isFloat(dtype))
        return std::nullopt;
      float inf = std::numeric_limits<float>::infinity();
      return text == "nan" ? Word(0x7fc00000)
                           : fromFloat(text == "inf" ? inf : -inf);
    }
    if (isFloat(dtype))
      return roundDecimal(text, dtype);
    std::optional<Word> word = floatToInteger(text);
    if (dtype == DType::Bool && word && *word > 1)
      return std::nullopt;
    return word;
  }
  if (huge)
    return dtype == DType::F32 ? roundHuge(text) : std::nullopt;
  switch (dtype) {
  case DType::Bool:
    if (integer != 0 && integer != 1)
      return std::nullopt;
    return static_cast<Word>(integer);
  case DType::I32:
    if (integer != static_cast<int32_t>(integer))
      return std::nullopt;
    return static_cast<Word>(integer);
  case DType::F32:
    return fromFloat(static_cast<float>(integer));
  case DType::F16: {
    float half = roundToHalf(static_cast<float>(integer));
    if (std::isinf(half))
      return std::nullopt;
    return fromFloat(half);
  }
  case DType::Void:
    break;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

namespace {

/// `scientific` ("-1.25e-07", as C prints it) in Python's layout: fixed from
/// 1e-4 up to 1e16, always with a point or an exponent.
std::string layOut(StringRef scientific) {
  std::string text;
  if (scientific.consume_front("-"))
    text = "-";
  auto [mantissa, exponentText] = scientific.split('e');
  std::string digits;
  for (char c : mantissa)
    if (c != '.')
      digits += c;
  int exponent = 0;
  exponentText.consume_front("+");
  exponentText.getAsInteger(10, exponent);
  int count = digits.size();
  if (exponent < -4 || exponent >= 16) {
    text += digits[0];
    if (count > 1)
      text += "." + digits.substr(1);
    int magnitude = std::abs(exponent);
    return text + (exponent < 0 ? "e-" : "e+") + (magnitude < 10 ? "0" : "") +
           std::to_string(magnitude);
  }
  if (exponent < 0)
    return text + "0." + std::string(-exponent - 1, '0') + digits;
  if (exponent + 1 >= count)
    return text + digits + std::string(exponent + 1 - count, '0') + ".0";
  return text + digits.substr(0, exponent + 1) + "." +
         digits.substr(exponent + 1);
}

std::string formatHalf(float value) {
  char buffer[32];
  // Five significant digits tell all f16 apart.
  for (int precision = 0; precision < 5; ++precision) {
    int size = snprintf(buffer, sizeof(buffer), "%.*e", precision, value);
    std::string text = layOut(StringRef(buffer, size));
    if (precision == 4 || roundDecimal(text, DType::F16) == fromFloat(value))
      return text;
  }
  llvm_unreachable("five digits are enough");
}

} // namespace

std::string uop::formatLiteral(DType dtype, Word word) {
  if (dtype == DType::Bool)
    return word ? "true" : "false";
  if (dtype == DType::I32)
    return std::to_string(static_cast<int32_t>(word));
  float value = toFloat(word);
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  if (dtype == DType::F16)
    return formatHalf(value);
  char buffer[32];
  auto [end, error] = std::to_chars(std::begin(buffer), std::end(buffer), value,
                                    std::chars_format::scientific);
  return layOut(StringRef(buffer, end - buffer));
}
