//===- IndexMath.h - index arithmetic, simplified as it is built *- C++ -*-===//
//
// Sums of scaled atoms (ranges, quotients, remainders) in one canonical form, so
// that ravelling an index and unravelling it again leaves nothing behind.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_LIB_TRANSFORMS_INDEXMATH_H
#define UOP_LIB_TRANSFORMS_INDEXMATH_H

#include "Uop/Graph/Bounds.h"
#include "Uop/Graph/UniquingBuilder.h"

namespace uop {

/// Builds i32 index expressions through a UniquingBuilder. Every expression is a
/// sum of atoms times constants, printed by descending stride, then by loop, the
/// constant last. No expression that it returns can wrap: one whose bounds leave
/// i32 is null, and so is everything made of a null.
///
/// Quotients and remainders are split by congruence (terms that the divisor
/// divides leave), by bounds and by common factors; `e//c*c + e%c` is `e` again.
class IndexMath {
public:
  explicit IndexMath(UniquingBuilder &builder) : builder(builder) {}

  mlir::Value constant(int64_t value);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, int64_t factor);
  /// Floor division and remainder by a positive constant.
  mlir::Value floorDiv(mlir::Value a, int64_t divisor);
  mlir::Value floorMod(mlir::Value a, int64_t divisor);
  /// `a < limit` as a bool, a constant where the bounds decide.
  mlir::Value lessThan(mlir::Value a, int64_t limit);

  Bounds::Interval bounds(mlir::Value value);
  /// The constant's value; nullopt for any other expression.
  static std::optional<int64_t> getConstant(mlir::Value value);

  /// The row major offset of an index into a shape.
  mlir::Value ravel(llvm::ArrayRef<mlir::Value> index,
                    llvm::ArrayRef<int64_t> shape);

  /// Where the element at `index` of `shape` stands in `source`, a shape of as
  /// many elements (at least one). Where the axes of the two have a common
  /// refinement, no offset is formed, so that shapes of more than 2^31 elements
  /// do not wrap. Empty when an index cannot be had without wrapping.
  llvm::SmallVector<mlir::Value> reshape(llvm::ArrayRef<mlir::Value> index,
                                         llvm::ArrayRef<int64_t> shape,
                                         llvm::ArrayRef<int64_t> source);

  /// The RANGEs that an index expression is made of, by loop.
  llvm::SmallVector<mlir::Value> getRanges(llvm::ArrayRef<mlir::Value> index);

private:
  struct Term {
    mlir::Value atom;
    int64_t factor;
  };
  struct Sum {
    llvm::SmallVector<Term, 4> terms;
    int64_t constant = 0;
  };

  Sum decompose(mlir::Value value);
  mlir::Value compose(Sum sum);
  Bounds::Interval bounds(const Sum &sum);
  void addTerm(Sum &sum, mlir::Value atom, int64_t factor);
  void addScaled(Sum &sum, const Sum &other, int64_t factor);
  /// Joins one quotient with its remainder; false when there is no such pair.
  bool recombine(Sum &sum);
  bool joinDigits(Sum &sum);
  /// Splits off what `divisor` divides: sum = divisor * quotient + rest, the
  /// rest's constant in [0, divisor).
  std::pair<Sum, Sum> split(const Sum &sum, int64_t divisor);
  mlir::Value atomDiv(Sum rest, int64_t divisor);
  mlir::Value atomMod(Sum rest, int64_t divisor);
  int64_t getLoop(mlir::Value atom);
  bool reshapeGroup(llvm::ArrayRef<mlir::Value> index,
                    llvm::ArrayRef<int64_t> shape,
                    llvm::ArrayRef<int64_t> source,
                    llvm::MutableArrayRef<mlir::Value> result);

  UniquingBuilder &builder;
  Bounds knownBounds;
  llvm::DenseMap<mlir::Value, Sum> sums;
  /// The first loop of each atom and its place in the order of creation.
  llvm::DenseMap<mlir::Value, std::pair<int64_t, unsigned>> atomOrder;
};

} // namespace uop

#endif // UOP_LIB_TRANSFORMS_INDEXMATH_H
