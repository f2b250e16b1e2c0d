//===- CPrelude.cpp - what stands in front of a C kernel ------------------===//
//
// The includes and the total division helpers.
//
//===----------------------------------------------------------------------===//

#include "Uop/Target/C.h"

using namespace mlir;
using namespace uop;

// C's `/` and `%` truncate, trap on a zero divisor and on INT_MIN by -1. The
// helpers round down and define what traps: x by 0 gives 0, and negation goes
// through unsigned arithmetic, which wraps.
static constexpr llvm::StringLiteral prelude =
    R"(#include <math.h>
#include <stdbool.h>
static inline int floordiv_i32(int a, int b) {
  if (b == 0) return 0;
  if (b == -1) return (int)(0u - (unsigned)a);
  int q = a / b;
  return (q * b != a && ((a < 0) != (b < 0))) ? q - 1 : q;
}
static inline int floormod_i32(int a, int b) {
  if (b == 0 || b == -1) return 0;
  int r = a % b;
  return (r != 0 && ((r < 0) != (b < 0))) ? r + b : r;
}
)";

void uop::printCPrelude(llvm::raw_ostream &os) { os << prelude; }
