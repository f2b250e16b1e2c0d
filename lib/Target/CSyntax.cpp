//===- CSyntax.cpp - how C spells types, constants and names --------------===//
//
// Leans on Literal for the digits of floats.
//
//===----------------------------------------------------------------------===//

#include "CSyntax.h"
#include "Uop/Target/C.h"
#include "Uop/Target/Uir.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include <cmath>

using namespace mlir;
using namespace uop;

const char *uop::getCType(DType dtype) {
  switch (dtype) {
  case DType::Void:
    return "void";
  case DType::Bool:
    return "_Bool";
  case DType::I32:
    return "int";
  case DType::F32:
    return "float";
  case DType::F16:
    return "_Float16";
  }
  llvm_unreachable("a dtype");
}

std::string uop::formatCConstant(DType dtype, Word word) {
  if (dtype == DType::Bool)
    return word ? "1" : "0";
  if (dtype == DType::I32) {
    int32_t value = static_cast<int32_t>(word);
    return value == INT32_MIN ? "(-2147483647-1)" : std::to_string(value);
  }
  float value = toFloat(word);
  std::string text;
  if (std::isnan(value))
    text = "NAN";
  else if (std::isinf(value))
    text = value > 0 ? "INFINITY" : "-INFINITY";
  else
    text = formatLiteral(DType::F32, word) + "f";
  // Without the cast the whole expression around it would be a float's.
  return dtype == DType::F16 ? "((_Float16)" + text + ")" : text;
}

std::string uop::formatLocation(Location loc) {
  auto file = loc->findInstanceOf<FileLineColLoc>();
  if (!file)
    return {};
  std::string text = " // ";
  // A line break, or a backslash before one, would end the comment elsewhere.
  for (char c : file.getFilename().getValue())
    text += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
  return text + ":" + std::to_string(file.getLine());
}

//===----------------------------------------------------------------------===//
// Identifiers
//===----------------------------------------------------------------------===//

static llvm::StringSet<> splitWords(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> words;
  text.split(words, ' ');
  llvm::StringSet<> set;
  set.insert_range(words);
  return set;
}

/// Whether a function of this name would not compile behind the prelude, or not
/// be called: keywords, predefined macros, `main`, what <math.h> and <stdbool.h>
/// declare, functions that never return.
static bool isTaken(llvm::StringRef name) {
  static const llvm::StringSet<> words = splitWords(
      "auto break case char const continue default do double else enum "
      "extern float for goto if inline int long register restrict return "
      "short signed sizeof static struct switch typedef union unsigned "
      "void volatile while "
      "asm typeof alignas alignof constexpr nullptr "
      "thread_local static_assert typeof_unqual bool true false linux "
      "unix main signgam NAN INFINITY math_errhandling float_t double_t "
      "floordiv_i32 floormod_i32 abort exit longjmp quick_exit");
  static const llvm::StringSet<> functions = splitWords(
      "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos "
      "cosh drem erf erfc exp exp10 exp2 expm1 fabs fdim finite floor "
      "fma fmax fmin fmod fpclassify frexp gamma hypot ilogb isfinite "
      "isgreater isgreaterequal isinf isless islessequal islessgreater "
      "isnan isnormal isunordered j0 j1 jn ldexp lgamma llrint llround "
      "log log10 log1p log2 logb lrint lround modf nan nearbyint "
      "nextafter nexttoward pow pow10 remainder remquo rint round scalb "
      "scalbln scalbn signbit significand sin sincos sinh sqrt tan tanh "
      "tgamma trunc y0 y1 yn");
  if (words.contains(name) || functions.contains(name))
    return true;
  if (name.starts_with("M_") || name.starts_with("FP_") ||
      name.starts_with("MATH_") || name.starts_with("HUGE_VAL"))
    return true;
  // The float, long double and reentrant twins of a function.
  llvm::StringRef stem = name;
  stem.consume_back("_r");
  return functions.contains(stem) ||
         (!stem.empty() && (stem.back() == 'f' || stem.back() == 'l') &&
          functions.contains(stem.drop_back()));
}

std::string uop::makeCIdentifier(llvm::StringRef name) {
  std::string result;
  if (name.empty() || llvm::isDigit(name.front()))
    result = "_";
  for (char c : name)
    result += llvm::isAlnum(c) ? c : '_';
  // Keywords and macros of every compiler and library begin like this.
  if (result.size() > 1 && result[0] == '_' &&
      (result[1] == '_' || llvm::isUpper(result[1])))
    return "k" + result;
  if (isTaken(result))
    result += '_';
  return result;
}
