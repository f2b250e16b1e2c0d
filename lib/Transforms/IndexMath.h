//===- IndexMath.h - integer arithmetic in canonical form -------*- C++ -*-===//
//
// Sums of scaled atoms (ranges, quotients, remainders) in one canonical form,
// and what division and comparison make of them. Rangeify builds indices with
// it, so that ravelling an index and unravelling it again leaves nothing
// behind, and the rules on integers simplify any graph with it.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_LIB_TRANSFORMS_INDEXMATH_H
#define UOP_LIB_TRANSFORMS_INDEXMATH_H

#include "Uop/Graph/Bounds.h"
#include "Uop/Graph/UniquingBuilder.h"
#include "llvm/ADT/DenseSet.h"
#include <functional>
#include <tuple>

namespace uop {

/// The i32 expression constant + factor * atom + ...
struct Sum {
  struct Term {
    mlir::Value atom;
    int64_t factor;
  };
  llvm::SmallVector<Term, 4> terms;
  int64_t constant = 0;
};

/// Builds i32 expressions. Every expression is a sum of atoms times constants,
/// by descending stride, then by loop, the constant last.
///
/// Over a UniquingBuilder, no expression that it returns can wrap: one whose
/// bounds leave i32 is null, and so is everything made of a null; what it did
/// not build is an atom. Over the graph of a rule, sums and products are taken
/// apart wherever they are found, and wrap; terms of one factor are gathered
/// under one product. Quotients and remainders are split by congruence (terms
/// that the divisor divides leave), by bounds and by common factors, where the
/// bounds prove that nothing wraps; `e//c*c + e%c` is `e` again.
class IndexMath {
public:
  using GetFn =
      std::function<mlir::Value(OpCode, mlir::ValueRange, const Arg &)>;
  using SharedFn = std::function<bool(mlir::Value)>;

  /// Over indices that this object builds.
  explicit IndexMath(UniquingBuilder &builder);
  /// Over a graph of any origin, whose nodes `get` finds or makes. What
  /// `isShared` says of a value decides whether a sum is taken apart.
  IndexMath(mlir::MLIRContext *context, GetFn get, Bounds &bounds,
            SharedFn isShared);

  IndexMath(const IndexMath &) = delete;

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

  //===--------------------------------------------------------------------===//
  // For rules: null and nullopt mean that there is nothing to gain.
  //===--------------------------------------------------------------------===//

  struct Gathered {
    mlir::Value value;
    /// Sums and products in it that stayed whole because they are shared.
    llvm::SmallVector<mlir::Value, 2> shared;
    /// What has been set canonical.
    llvm::SmallVector<mlir::Value, 0> marked;
    /// Sums and products that were taken apart, and all nodes that were put
    /// together, those among them that there were.
    size_t taken = 0, made = 0;
  };
  /// A sum or a product with a constant in canonical form; null if it has more
  /// than `maxTerms` terms. Takes apart what is not shared, or with `deep` all
  /// of it.
  Gathered gather(mlir::Value value, size_t maxTerms, bool deep);
  /// Whether a sum is as `gather` would have it.
  bool isCanonical(mlir::Value value) const {
    return canonical.contains(value);
  }
  /// Has `gather` look at what it has marked again.
  void clearCanonical(mlir::Value value) { canonical.erase(value); }
  /// `a // b`, `a % b` of i32 scalars.
  mlir::Value divide(mlir::Value a, mlir::Value b);
  mlir::Value modulo(mlir::Value a, mlir::Value b);
  /// `a < b`, `a != b` of i32 scalars.
  mlir::Value less(mlir::Value a, mlir::Value b);
  mlir::Value notEqual(mlir::Value a, mlir::Value b);
  /// Whether `a < b`; nullopt where the bounds do not tell.
  std::optional<bool> isLess(mlir::Value a, mlir::Value b);
  /// Whether the operands of a commutative op stand in order: a constant on the
  /// right, else by loop and structure.
  bool inOrder(mlir::Value a, mlir::Value b);

private:
  // Sums.
  Sum decompose(mlir::Value value);
  /// Like decompose, but no part of the sum wraps; else `value` is an atom.
  Sum decomposeExact(mlir::Value value);
  /// False for a sum of more terms.
  bool flatten(mlir::Value value, Sum &sum, size_t maxTerms, bool stopAtShared,
               Gathered *gathered = nullptr);
  /// Brings factors and constant into i32.
  static void wrapSum(Sum &sum);
  mlir::Value compose(Sum sum, bool mayWrap = false);
  mlir::Value composeTerms(Sum &sum);
  /// Sets a value canonical that `compose` has made.
  void mark(mlir::Value value);
  Bounds::Interval bounds(const Sum &sum);
  bool fits(const Sum &sum);
  void addTerm(Sum &sum, mlir::Value atom, int64_t factor);
  void addScaled(Sum &sum, const Sum &other, int64_t factor);
  /// Joins one quotient with its remainder; false when there is no such pair.
  bool recombine(Sum &sum);
  bool joinDigits(Sum &sum);
  bool isQuotient(mlir::Value value, mlir::Value e, int64_t c);
  void sortTerms(Sum &sum);

  // Division. `sum` does not wrap, and neither does the result.
  bool divideInto(Sum sum, int64_t divisor, Sum &total, int depth = 0);
  bool moduloInto(Sum sum, int64_t divisor, int64_t scale, Sum &total,
                  int depth = 0);
  int64_t splitDigits(const Sum &sum, int64_t divisor, Sum &high, Sum &low);
  bool replaceRemainders(Sum &sum, int64_t divisor);
  /// Residues of the factors that put the whole sum between two multiples of
  /// the divisor.
  std::optional<Sum> findResidues(const Sum &sum, int64_t divisor);
  bool dropDigits(Sum &sum, int64_t &limit);
  mlir::Value boolean(bool value);
  mlir::Value divideBySymbol(mlir::Value a, mlir::Value b, bool remainder);

  // Order of terms.
  struct Order {
    int64_t loop;
    uint64_t tie;
    /// What is added to it: x stands before x + 1, and both on one side of y.
    int64_t constant = 0;
    bool operator<(const Order &o) const {
      return std::tie(loop, tie, constant) <
             std::tie(o.loop, o.tie, o.constant);
    }
  };
  Order getOrder(mlir::Value atom);
  Order getStructure(mlir::Value atom);

  mlir::Value get(OpCode code, mlir::ValueRange sources, const Arg &arg = {}) {
    made += code != OpCode::Const;
    return getNode(code, sources, arg);
  }
  bool reshapeGroup(llvm::ArrayRef<mlir::Value> index,
                    llvm::ArrayRef<int64_t> shape,
                    llvm::ArrayRef<int64_t> source,
                    llvm::MutableArrayRef<mlir::Value> result);

  bool isI32(mlir::Value value) const { return value.getType() == i32; }

  GetFn getNode;
  /// Null for what this object builds by itself.
  SharedFn isShared;
  bool given;
  Bounds ownBounds;
  Bounds &knownBounds;
  UopDialect *dialect;
  mlir::Type i32;
  llvm::DenseMap<mlir::Value, Sum> sums;
  /// The first loop of each atom and its place in the order of creation, or in
  /// a given graph a hash of its structure.
  llvm::DenseMap<mlir::Value, Order> orders;
  /// Sums and products in canonical form, in a given graph.
  llvm::DenseSet<mlir::Value> canonical;
  /// What `gather` is composing: it knows what is shared.
  Gathered *gathering = nullptr;
  /// Nodes asked for, constants not counted.
  size_t made = 0;
};

/// a / b, rounded down.
inline int64_t divideDown(int64_t a, int64_t b) {
  int64_t q = a / b;
  return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
}

} // namespace uop

#endif // UOP_LIB_TRANSFORMS_INDEXMATH_H
