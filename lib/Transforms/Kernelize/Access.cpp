//===- Access.cpp - where and how often nodes are computed ----------------===//
//
// Index expressions by number, pushed through movement ops.
//
//===----------------------------------------------------------------------===//

#include "Access.h"

using namespace mlir;
using namespace uop;
using namespace uop::planning;

namespace {

/// What the first word of a key says.
enum KeyKind : int64_t { ShrinkKey, ReshapeKey, ScalarKey };

} // namespace

Accesses::Accesses() : loops(1), axes(1) {}

Axis Accesses::intern(llvm::ArrayRef<int64_t> key, unsigned loop) {
  if (auto it = known.find(key); it != known.end())
    return it->second;
  axes.push_back({loop, {}});
  known[key.copy(allocator)] = axes.size() - 1;
  return axes.size() - 1;
}

unsigned Accesses::getInnermost(llvm::ArrayRef<Axis> index) const {
  unsigned innermost = 0;
  for (Axis axis : index)
    if (loops[axes[axis].loop].depth > loops[innermost].depth)
      innermost = axes[axis].loop;
  return innermost;
}

double Accesses::getEvaluations(const Index &index) const {
  return loops[getInnermost(index)].turns;
}

bool Accesses::isInReduction(const Index &index) const {
  return loops[getInnermost(index)].reduce;
}

void Accesses::openLoops(Index &index, llvm::ArrayRef<int64_t> sizes,
                         bool reduce) {
  Loop around = loops[getInnermost(index)];
  for (int64_t size : sizes) {
    if (size == 1) {
      index.push_back(zeroAxis);
      continue;
    }
    around = {around.depth + 1, around.turns * size, reduce};
    loops.push_back(around);
    axes.push_back({static_cast<unsigned>(loops.size() - 1), {}});
    index.push_back(axes.size() - 1);
  }
}

/// Axes of `sizes` out of the run of axes `from`, which has as many elements.
void Accesses::reshapeGroup(llvm::ArrayRef<std::pair<int64_t, Axis>> from,
                            llvm::ArrayRef<int64_t> sizes,
                            llvm::SmallVectorImpl<Axis> &result) {
  if (from.size() == 1 && sizes.size() == 1) {
    result.push_back(from[0].second);
    return;
  }
  llvm::SmallVector<Axis> used;
  llvm::SmallVector<int64_t> key{ReshapeKey};
  for (auto [size, axis] : from) {
    used.push_back(axis);
    key.append({size, axis});
  }
  key.push_back(-1);
  llvm::append_range(key, sizes);
  key.push_back(0);
  for (size_t i = 0; i < sizes.size(); ++i) {
    key.back() = i;
    result.push_back(intern(key, getInnermost(used)));
  }
  if (sizes.size() == 1)
    axes[result.back()].parts.assign(from.begin(), from.end());
}

Index Accesses::reshape(const Index &index, llvm::ArrayRef<int64_t> shape,
                        llvm::ArrayRef<int64_t> source) {
  // What was made one earlier is taken apart first, if nothing of it was cut
  // off.
  llvm::SmallVector<std::pair<int64_t, Axis>> from;
  for (auto [size, axis] : llvm::zip_equal(shape, index)) {
    if (size == 1)
      continue;
    int64_t whole = 1;
    for (auto [partSize, part] : axes[axis].parts)
      whole *= partSize;
    if (whole == size)
      llvm::append_range(from, axes[axis].parts);
    else
      from.push_back({size, axis});
  }
  llvm::SmallVector<int64_t> sizes;
  for (int64_t size : source)
    if (size != 1)
      sizes.push_back(size);
  // The shortest runs of axes with equal numbers of elements on both sides.
  llvm::SmallVector<Axis> packed;
  size_t f = 0, s = 0;
  while (f < from.size() && s < sizes.size()) {
    size_t firstFrom = f, firstSize = s;
    int64_t have = from[f++].first, want = sizes[s++];
    while (have != want)
      if (have < want)
        have *= from[f++].first;
      else
        want *= sizes[s++];
    reshapeGroup(llvm::ArrayRef(from).slice(firstFrom, f - firstFrom),
                 llvm::ArrayRef(sizes).slice(firstSize, s - firstSize), packed);
  }
  Index result;
  const Axis *next = packed.begin();
  for (int64_t size : source)
    result.push_back(size == 1 ? zeroAxis : *next++);
  return result;
}

Index Accesses::getSourceIndex(Operation *op, unsigned i, const Index &index,
                               llvm::function_ref<unsigned(Value)> number) {
  Index inner(index);
  llvm::ArrayRef<int64_t> shape = getShape(op->getOperand(i).getType());
  if (auto reshapeOp = dyn_cast<ReshapeOp>(op))
    return reshape(index, reshapeOp.getShape(), shape);
  if (isa<ExpandOp>(op)) {
    for (size_t axis = 0; axis < shape.size(); ++axis)
      if (shape[axis] == 1)
        inner[axis] = zeroAxis;
  } else if (auto permute = dyn_cast<PermuteOp>(op)) {
    for (auto [axis, from] : llvm::enumerate(permute.getPermutation()))
      inner[from] = index[axis];
  } else if (auto shrink = dyn_cast<ShrinkOp>(op)) {
    for (size_t axis = 0; axis < inner.size(); ++axis)
      if (int64_t begin = shrink.getBounds()[2 * axis])
        inner[axis] =
            intern({ShrinkKey, begin, index[axis]}, axes[index[axis]].loop);
  } else if (isa<StackOp>(op)) {
    inner.erase(inner.begin());
  } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
    openLoops(inner, shape.take_back(reduce.getPop()), /*reduce=*/true);
  } else if (auto indexOp = dyn_cast<IndexOp>(op)) {
    if (i > 0)
      return {};
    inner.clear();
    for (auto [axis, scalar] : llvm::enumerate(indexOp.getIndices()))
      inner.push_back(shape[axis] == 1 && scalar.getDefiningOp<ConstOp>()
                          ? zeroAxis
                          : intern({ScalarKey, number(scalar)}, 0));
    llvm::append_range(inner, index);
  }
  return inner;
}
