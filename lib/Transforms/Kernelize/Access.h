//===- Access.h - where and how often nodes are computed --------*- C++ -*-===//
//
// The loops that a kernel will have, and the index at which each node of it is
// computed, without building either. Leans on the dialect only.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_LIB_TRANSFORMS_KERNELIZE_ACCESS_H
#define UOP_LIB_TRANSFORMS_KERNELIZE_ACCESS_H

#include "Uop/Dialect/Uop.h"
#include "llvm/ADT/DenseMap.h"

namespace uop::planning {

/// The index expression of one axis, by number: equal ones are one. `zeroAxis`
/// is the index of an axis of one element.
using Axis = unsigned;
inline constexpr Axis zeroAxis = 0;
using Index = llvm::SmallVector<Axis, 4>;

/// Index expressions as rangeify will form them, told apart by structure alone:
/// two that are one number are the same expression.
class Accesses {
public:
  Accesses();

  /// Appends the counters of fresh loops over `sizes` to `index`, inside the
  /// loops that it depends on. An axis of one element has no loop.
  void openLoops(Index &index, llvm::ArrayRef<int64_t> sizes, bool reduce);

  /// The index of source `i` that an op of shapes needs for its value at
  /// `index`. `number` tells the scalars that an INDEX takes apart. The index
  /// of a REDUCE's source has fresh loops.
  Index getSourceIndex(mlir::Operation *op, unsigned i, const Index &index,
                       llvm::function_ref<unsigned(mlir::Value)> number);

  /// How often a value at `index` is computed: once in each turn of the
  /// innermost loop that it depends on, and so of all around that.
  double getEvaluations(const Index &index) const;
  /// Whether the innermost loop that `index` depends on belongs to a REDUCE.
  bool isInReduction(const Index &index) const;

private:
  struct Loop {
    int depth = -1;
    /// Turns in all, of the loops around it included.
    double turns = 1;
    bool reduce = false;
  };
  struct AxisInfo {
    /// The innermost loop, 0 for none.
    unsigned loop = 0;
    /// What a RESHAPE made one of, with their sizes.
    llvm::SmallVector<std::pair<int64_t, Axis>, 0> parts;
  };

  Axis intern(llvm::ArrayRef<int64_t> key, unsigned loop);
  unsigned getInnermost(llvm::ArrayRef<Axis> index) const;
  Index reshape(const Index &index, llvm::ArrayRef<int64_t> shape,
                llvm::ArrayRef<int64_t> source);
  void reshapeGroup(llvm::ArrayRef<std::pair<int64_t, Axis>> from,
                    llvm::ArrayRef<int64_t> sizes,
                    llvm::SmallVectorImpl<Axis> &result);

  std::vector<Loop> loops;
  std::vector<AxisInfo> axes;
  llvm::BumpPtrAllocator allocator;
  llvm::DenseMap<llvm::ArrayRef<int64_t>, Axis> known;
};

} // namespace uop::planning

#endif // UOP_LIB_TRANSFORMS_KERNELIZE_ACCESS_H
