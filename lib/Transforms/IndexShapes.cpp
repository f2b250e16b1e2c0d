//===- IndexShapes.cpp - the index map of RESHAPE -------------------------===//
//
// Offsets of indices into shapes, and the axes that two shapes have in common.
//
//===----------------------------------------------------------------------===//

#include "IndexMath.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace uop;

Value IndexMath::ravel(llvm::ArrayRef<Value> index,
                       llvm::ArrayRef<int64_t> shape) {
  Value offset = constant(0);
  int64_t stride = 1;
  for (size_t axis = shape.size(); axis-- > 0;) {
    // An axis of size 1 has index 0, whatever its stride.
    if (shape[axis] == 1)
      continue;
    offset = add(offset, mul(index[axis], stride));
    if (!offset || llvm::MulOverflow(stride, shape[axis], stride))
      return {};
  }
  return offset;
}

/// One group: both shapes have the same number of elements and no axis of
/// size 1. Every stride of either shape is a boundary; when they form a chain
/// of divisors, the pieces between them are axes that both shapes are made of.
bool IndexMath::reshapeGroup(llvm::ArrayRef<Value> index,
                             llvm::ArrayRef<int64_t> shape,
                             llvm::ArrayRef<int64_t> source,
                             llvm::MutableArrayRef<Value> result) {
  auto getStrides = [](llvm::ArrayRef<int64_t> sizes) {
    llvm::SmallVector<int64_t> strides(sizes.size() + 1, 1);
    for (size_t i = sizes.size(); i-- > 0;)
      strides[i] = strides[i + 1] * sizes[i];
    return strides; // strides[i+1] is the stride of axis i, strides[0] the
                    // count
  };
  llvm::SmallVector<int64_t> from = getStrides(shape), to = getStrides(source);
  llvm::SmallVector<int64_t> cuts(from);
  llvm::append_range(cuts, to);
  llvm::sort(cuts);
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  bool refines = true;
  for (size_t i = 0; i + 1 < cuts.size(); ++i)
    refines &= cuts[i + 1] % cuts[i] == 0;
  if (!refines) {
    Value offset = ravel(index, shape);
    for (size_t axis = 0; axis < source.size(); ++axis) {
      Value digit = floorDiv(offset, to[axis + 1]);
      result[axis] = axis == 0 ? digit : floorMod(digit, source[axis]);
      if (!result[axis])
        return false;
    }
    return true;
  }
  for (Value &digit : result)
    digit = constant(0);
  size_t axis = shape.size() - 1, target = source.size() - 1;
  for (size_t i = 0; i + 1 < cuts.size(); ++i) {
    while (cuts[i] >= from[axis])
      --axis;
    while (cuts[i] >= to[target])
      --target;
    int64_t below = cuts[i] / from[axis + 1];
    Value piece = floorDiv(index[axis], below);
    if (cuts[i + 1] != from[axis])
      piece = floorMod(piece, cuts[i + 1] / cuts[i]);
    result[target] = add(result[target], mul(piece, cuts[i] / to[target + 1]));
    if (!result[target])
      return false;
  }
  return true;
}

llvm::SmallVector<Value> IndexMath::reshape(llvm::ArrayRef<Value> index,
                                            llvm::ArrayRef<int64_t> shape,
                                            llvm::ArrayRef<int64_t> source) {
  llvm::SmallVector<Value> result(source.size(), constant(0));
  // Axes of size 1 are index 0 and no part of any group.
  llvm::SmallVector<size_t> axes, sourceAxes;
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] != 1)
      axes.push_back(i);
  for (size_t i = 0; i < source.size(); ++i)
    if (source[i] != 1)
      sourceAxes.push_back(i);
  // From the right, the shortest runs of axes with equal products.
  while (!axes.empty()) {
    llvm::SmallVector<int64_t> groupShape, groupSource;
    llvm::SmallVector<Value> groupIndex;
    llvm::SmallVector<size_t> places;
    // The products may pass 64 bits on the way: compare in 128.
    __int128 left = 1, right = 1;
    do {
      if (left <= right) {
        size_t axis = axes.pop_back_val();
        groupShape.insert(groupShape.begin(), shape[axis]);
        groupIndex.insert(groupIndex.begin(), index[axis]);
        left *= shape[axis];
      } else {
        size_t axis = sourceAxes.pop_back_val();
        groupSource.insert(groupSource.begin(), source[axis]);
        places.insert(places.begin(), axis);
        right *= source[axis];
      }
    } while (left != right);
    llvm::SmallVector<Value> digits(places.size());
    if (!reshapeGroup(groupIndex, groupShape, groupSource, digits))
      return {};
    for (auto [place, digit] : llvm::zip(places, digits))
      result[place] = digit;
  }
  return result;
}

llvm::SmallVector<Value> IndexMath::getRanges(llvm::ArrayRef<Value> index) {
  llvm::SmallVector<Value> ranges;
  llvm::SmallVector<Value> stack(index);
  llvm::DenseSet<Value> seen;
  while (!stack.empty()) {
    Value value = stack.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!seen.insert(value).second)
      continue;
    if (isa<RangeOp>(op))
      ranges.push_back(value);
    else if (isAlu(*::uop::getOpCode(op)))
      llvm::append_range(stack, op->getOperands());
  }
  llvm::sort(ranges, [](Value a, Value b) {
    return a.getDefiningOp<RangeOp>().getIdx() <
           b.getDefiningOp<RangeOp>().getIdx();
  });
  return ranges;
}
