//===- Templates.cpp - graphs on which rules fire -------------------------===//
//
// Tables only.
//
//===----------------------------------------------------------------------===//

#include "Templates.h"

using namespace uop::proofs;

llvm::ArrayRef<Template> uop::proofs::getTemplates() {
  static const Template templates[] = {
      {"C + D", ""},
      {"C * D", ""},
      {"C // D", ""},
      {"C % D", ""},
      {"max(C, D)", ""},
      {"C < D", ""},
      {"C != D", ""},
      {"where(C < D, a, b)", ""},
      {"where(p, a, a)", "p: bool"},
      {"int(bool(C))", ""},
      {"(a // C) // D", ""},
      {"(a // C) // D", "a in -100..100"},
      {"(a // C) % D", "a in -100..100"},
      {"(a % C) % D", ""},
      {"(a % C) // D", "a in -100..100"},
      {"(a // C) * C + a % C", ""},
      {"a % C + (a // C) * C", "a in -100..100"},
      {"(a // C) % D * C + a % C", "a in -100..100"},
      {"(5 * a % 12) % 5", "a in 0..31"},
      {"(a + -29 + 28 * b) % 28", "a in 0..10, b in 0..10"},
      {"(a + -29 + 28 * b) % 28", "a in 0..10"},
      {"(a // -3) % -2 + (a // 6) * -2", "a in -100..100"},
      {"(9 + 9 * x + 9 * y) % 10", "x in 0..3, y in 0..3"},
      {"(256 + a * -1) // 2", "a in 0..255"},
      {"(i * C + j) // C", "i in 0..31, j in 0..3"},
      {"(i * C + j) % C", "i in 0..31, j in 0..3"},
      {"(i * C + j * D) // E", "i in 0..31, j in 0..3"},
      {"(i * C + j * D) % E", "i in 0..31, j in 0..3"},
      {"(a * C + b * D) // E", ""},
      {"(a * C + b) % C", ""},
      {"(a + C) // D", "a in 0..100"},
      {"(a + C) % D", "a in 0..100"},
      {"(a * b) // b", "a in 1..30, b in 1..30"},
      {"(a * b) % b", "a in 0..30, b in 0..30"},
      {"(a * b + c) // b", "a in 0..30, b in 1..30, c in 0..0"},
      {"a * C < D", "a in 0..100"},
      {"a * C < b * C", "a in 0..100, b in 0..100"},
      {"D < a * C", "a in -100..100"},
      {"a + C < D", "a in 0..100"},
      {"a // C < D", "a in -100..100"},
      {"a // C < D", ""},
      {"a % C < D", ""},
      {"a * C + b < D", "a in 0..100, b in 0..3"},
      {"a * C + b * C < D", "a in 0..100, b in 0..100"},
      {"(a < C) * (a < D)", ""},
      {"(a < C) + (a < D)", ""},
      {"((a < C) != true) * (a < D)", ""},
      {"(a < C) != true", ""},
      {"a + C != D", ""},
      {"a * C != D", "a in 0..100"},
      {"a * C != b * C", "a in 0..100, b in 0..100"},
      {"a + b != b", ""},
      {"where(a < C, where(a < D, a, b), c)", ""},
      {"where(p, where(p, a, b), c)", "p: bool"},
      {"where(p, a, where(p, b, c))", "p: bool"},
      {"where(p, where(q, a, b), b)", "p: bool, q: bool"},
      {"where(p, a, where(q, a, b))", "p: bool, q: bool"},
      {"where(p != true, a, b)", "p: bool"},
      {"where(p, C, D) + E", "p: bool"},
      {"where(p, C, D) * E", "p: bool"},
      {"where(p, C, D) // E", "p: bool"},
      {"where(p, C, D) < E", "p: bool"},
      {"where(p, C, D) != E", "p: bool"},
      {"where(p, a, b) + where(p, c, d)", "p: bool"},
      {"where(p, a, C) * where(p, b, D)", "p: bool"},
      {"where(p, true, q)", "p: bool, q: bool"},
      {"where(p, q, false)", "p: bool, q: bool"},
      {"where(a < C, max(a, D), b)", ""},
      {"max(a, max(a, b))", ""},
      {"max(max(a, C), D)", ""},
      {"max(a + C, a + D)", "a in 0..100"},
      {"max(a * C, b * C)", "a in 0..100, b in 0..100"},
      {"max(a, C) + D", "a in 0..100"},
      {"max(a, C) < D", ""},
      {"int(p) * C", "p: bool"},
      {"int(p) < C", "p: bool"},
      {"int(p) != C", "p: bool"},
      {"bool(int(p))", "p: bool"},
      {"bool(int(p) * C)", "p: bool"},
      {"int(p) * int(q)", "p: bool, q: bool"},
      {"int(float(a))", "a in 0..100"},
      {"int(int(a))", ""},
      {"float(half(x))", "x: f32"},
      {"float(int(x))", "x: f32"},
      {"bool(float(p))", "p: bool"},
      {"where(true, a, b)", ""},
      {"where(C < D, a, b)", ""},
      {"(p != true) + (q != true)", "p: bool, q: bool"},
      {"(p != true) * (q != true)", "p: bool, q: bool"},
      {"((a < C) != true) * ((b < D) != true)", ""},
      {"((a < C) != true) + ((b < D) != true)", ""},
      {"recip(where(p, 2.0, -0.0))", "p: bool"},
      {"exp2(where(p, 2.0, -inf))", "p: bool"},
      {"log2(where(p, 2.0, 0.0))", "p: bool"},
      {"sqrt(where(p, 2.0, -1.0))", "p: bool"},
      {"sin(where(p, 2.0, 0.0))", "p: bool"},
      {"x + 0.0", "x: f32"},
      {"x + -0.0", "x: f32"},
      {"x * 1.0", "x: f32"},
      {"x * 0.0", "x: f32"},
      {"x * -1.0 * -1.0", "x: f32"},
      {"x * 2.0 * 0.5", "x: f32"},
      {"2.0 * x", "x: f32"},
      {"2.0 + x", "x: f32"},
      {"max(2.0, x)", "x: f32"},
      {"max(x, x)", "x: f32"},
      {"recip(recip(x))", "x: f32"},
      {"x * recip(x)", "x: f32"},
      {"x != x", "x: f32"},
      {"x < x", "x: f32"},
      {"x + x * -1.0", "x: f32"},
      {"(x + 2.0) + 3.0", "x: f32"},
      {"(x * 2.0) * 3.0", "x: f32"},
      {"(x + 2.0) + (y + 3.0)", "x: f32, y: f32"},
      {"where(p, x, 0.0) * y", "p: bool, x: f32, y: f32"},
      {"where(p, m[i if p else 0.0], 0.0)", "p: bool, m: f32[32], i in 0..31"},
      {"m[a // 4 * 4 + a % 4]", "m: f32[32], a in 0..31"},
      {"m[i * 4 + j + -4 if 0 < i else 0.0]",
       "m: f32[32], i in 0..8, j in 0..3"},
      {"m[(i + -1) % 8 if 0 < i else 0.0]", "m: f32[8], i in 0..8"},
      {"m[(i + -1) // 2 if (i < 1) != true else 0.0]",
       "m: f32[8], i in 0..16"},
      {"m[i if i < 32 else 0.0]", "m: f32[32], i in 0..31"},
      {"m[i if 40 < i else 1.0]", "m: f32[32], i in 0..31"},
      {"m[where(i < 8, i, 0) if i < 8 else 0.0]", "m: f32[8], i in 0..16"},
      {"m[i * 4 + j + -4 if 0 < i else 0]", "m: i32[32], i in 0..8, j in 0..3"},
      {"m[(i + -1) % 8 if 0 < i else 7]", "m: i32[8], i in 0..8"},
      {"m[(i + -1) // 2 if (i < 1) != true else C]", "m: i32[8], i in 0..16"},
      {"m[where(i < 8, i, 0) if i < 8 else 0]", "m: i32[8], i in 0..16"},
      {"m[max(i + -2, 0) if 1 < i else 0]", "m: i32[8], i in 0..9"},
      {"m[i if i < 40 else 5]", "m: i32[32], i in 0..31"},
      {"m[(i + 3) % 12 if i < 9 else 5]", "m: i32[12], i in 0..20"},
  };
  return templates;
}

/// out[i] = acc over j of `value` (statements that end with %value), i < 8, j < 5.
#define UOP_LOOPS(dtype, zero, combine, value)                                 \
  "%out = buffer 8 : dtype=" dtype " slot=0\n"                                 \
  "%x = buffer 5 : dtype=" dtype " slot=1\n"                                   \
  "%picks = buffer 8 : dtype=i32 slot=2\n"                                     \
  "%i = range 8 : idx=0\n"                                                     \
  "%j = range 5 : idx=1\n"                                                     \
  "%acc = alloc 1 : dtype=" dtype " slot=0\n"                                  \
  "%acc_i = after %acc, %i\n"                                                  \
  "%reset_at = index %acc_i, 0\n"                                              \
  "%reset = store %reset_at, " zero "\n"                                       \
  "%acc_j = after %acc_i, %reset, %j\n"                                        \
  "%at = index %acc_j, 0\n"                                                    \
  "%so_far = load %at\n" value                                                 \
  "%sum = " combine " %so_far, %value\n"                                       \
  "%step = store %at, %sum\n"                                                  \
  "%done = end %step, %j\n"                                                    \
  "%acc_done = after %acc_i, %done\n"                                          \
  "%total_at = index %acc_done, 0\n"                                           \
  "%total = load %total_at\n"                                                  \
  "%out_at = index %out, %i\n"                                                 \
  "%result = store %out_at, %total\n"                                          \
  "%i_done = end %result, %i\n"                                                \
  "%program = sink %i_done\n"
#define UOP_PICK                                                               \
  "%pick_at = index %picks, %i\n%pick = load %pick_at\n"                       \
  "%x_at = index %x, %j\n%x_j = load %x_at\n"

llvm::ArrayRef<const char *> uop::proofs::getProgramTemplates() {
  static const char *const templates[] = {
      // Selections from what is in registers.
      "%0 = stack 10, 20, 30\n%1 = index %0, 2\n",
      "%0 = stack 1, 2\n%1 = stack %0, %0\n%2 = index %1, 1\n%3 = index %2, 0\n",
      "%0 = stack 1.0, -0.0\n%1 = stack %0, %0\n%2 = stack 3.0, nan\n"
      "%3 = stack %2, %0\n%4 = add %1, %3\n",
      "%0 = buffer 4 : dtype=i32 slot=0\n%1 = load %0\n"
      "%2 = floormod %1, %1\n%3 = index %2, 3\n",
      "%0 = buffer 6 : dtype=f32 slot=0\n%1 = load %0\n"
      "%2 = reshape %1, (2, 3)\n%3 = index %2, 1, 2\n",
      "%0 = buffer 6 : dtype=f32 slot=0\n%1 = load %0\n"
      "%2 = reshape %1, (2, 3)\n%3 = permute %2, (1, 0)\n%4 = index %3, 2, 1\n",
      "%0 = buffer 6 : dtype=f32 slot=0\n%1 = load %0\n"
      "%2 = reshape %1, (3, 2)\n%3 = reduce %2 : op=max pop=1\n"
      "%4 = index %3, 1\n",
      // Movement and reductions of constants.
      "%0 = stack 1, 2, 3, 4, 5, 6\n%1 = reshape %0, (2, 3)\n",
      "%0 = stack 1, 2, 3\n%1 = stack %0, %0\n%2 = permute %1, (1, 0)\n",
      "%0 = stack 1, 2, 3\n%1 = reshape %0, (3, 1)\n%2 = expand %1, (3, 2)\n",
      "%0 = stack 1, 2147483647, 3\n%1 = reduce %0 : op=add pop=1\n",
      "%0 = stack nan, 1.0, -0.0\n%1 = reduce %0 : op=max pop=1\n",
      "%0 = stack 1.0, 2.0\n%1 = stage %0\n",
      // Calls, one of them in another's body.
      "%0 = param : slot=0 dtype=i32\n%1 = mul %0, %0\n"
      "%2 = call %1, 7 : name=sq\n",
      "%0 = param : slot=0 dtype=i32\n%1 = mul %0, %0\n%2 = add %0, 1\n"
      "%3 = call %1, %2 : name=sq\n%4 = call %3, 7 : name=g\n",
      // Reductions whose elements are equal.
      "%0 = buffer 6 : dtype=f32 slot=0\n%1 = reduce %0 : op=add pop=0\n",
      "%0 = buffer 6 : dtype=f32 slot=0\n%1 = reshape %0, (6, 1)\n"
      "%2 = shrink %1, ((0, 6), (0, 0))\n%3 = reduce %2 : op=max pop=1\n",
      "%0 = reshape 3, (1, 1)\n%1 = expand %0, (4, 5)\n"
      "%2 = reduce %1 : op=add pop=2\n",
      "%0 = reshape 0.1, (1, 1)\n%1 = expand %0, (4, 5)\n"
      "%2 = reduce %1 : op=add pop=1\n",
      "%0 = reshape -0.0, (1, 1)\n%1 = expand %0, (4, 5)\n"
      "%2 = reduce %1 : op=max pop=1\n",
      "%0 = buffer 3 : dtype=i32 slot=0\n%1 = reshape %0, (3, 1)\n"
      "%2 = expand %1, (3, 100)\n%3 = reduce %2 : op=add pop=1\n",
      "%0 = buffer 6 : dtype=f32 slot=0\n%1 = reshape %0, (1, 6)\n"
      "%2 = expand %1, (3, 6)\n%3 = reduce %2 : op=max pop=2\n",
      "%0 = buffer 3 : dtype=f32 slot=0\n%1 = reshape %0, (3, 1)\n"
      "%2 = expand %1, (3, 3)\n%3 = reduce %2 : op=add pop=1\n",
      // Accumulators.
      UOP_LOOPS("i32", "0", "add", "%value = mul %i, 7\n"),
      UOP_LOOPS("i32", "5", "add", UOP_PICK "%value = add %pick, 1\n"),
      UOP_LOOPS("i32", "-2147483648", "max", UOP_PICK "%value = add %pick, 1\n"),
      UOP_LOOPS("f32", "-inf", "max", UOP_PICK "%value = cast %pick : dtype=f32\n"),
      UOP_LOOPS("f32", "0.0", "add", UOP_PICK "%value = cast %pick : dtype=f32\n"),
      UOP_LOOPS("i32", "0", "add",
                "%limit = add %i, -2\n%c = cmplt %j, %limit\n"
                "%value = where %c, 1, 0\n"),
      UOP_LOOPS("i32", "0", "add",
                UOP_PICK "%c = cmplt %j, %pick\n%value = where %c, %pick, 0\n"),
      UOP_LOOPS("i32", "0", "add",
                UOP_PICK "%c = cmplt %pick, %j\n%value = where %c, 0, 3\n"),
      UOP_LOOPS("f32", "0.0", "add",
                UOP_PICK "%c = cmpne %j, %pick\n%value = where %c, 0.0, %x_j\n"),
      UOP_LOOPS("i32", "0", "add",
                UOP_PICK "%c = cmpne %j, %pick\n%value = where %c, 0, %x_j\n"),
      UOP_LOOPS("i32", "0", "add",
                UOP_PICK "%m = mul %i, 3\n%n = floormod %m, 7\n"
                         "%c = cmpne %j, %n\n%value = where %c, 0, %x_j\n"),
      // A value that is stored and read again.
      "%out = buffer 8 : dtype=f32 slot=0\n%x = buffer 8 : dtype=f32 slot=1\n"
      "%i = range 8 : idx=0\n%a = alloc 1 : dtype=f32 slot=0\n"
      "%a_i = after %a, %i\n%p = index %a_i, 0\n%x_at = index %x, %i\n"
      "%v = load %x_at\n%s = store %p, %v\n%a_s = after %a_i, %s\n"
      "%q = index %a_s, 0\n%w = load %q\n%out_at = index %out, %i\n"
      "%t = store %out_at, %w\n%e = end %t, %i\n%program = sink %e\n",
  };
  return templates;
}

llvm::ArrayRef<Exemption> uop::proofs::getExemptions() {
  static const Exemption exemptions[] = {
      {"fast-math/", "changes bits: only looked at on ordinary numbers"},
  };
  return exemptions;
}
