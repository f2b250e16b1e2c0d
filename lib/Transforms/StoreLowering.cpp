//===- StoreLowering.cpp - loops over what is stored ----------------------===//
//
// One nest of loops for each group of stores, and the order between them.
//
//===----------------------------------------------------------------------===//

#include "ShapeLowering.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace uop;

/// Evaluates the INDEX scalars of a target's view: they stand in no loop.
bool ShapeLowering::lowerIndices(const StoreTarget &target) {
  Value view = target.view;
  while (view && !view.getDefiningOp<BufferOp>()) {
    Operation *op = view.getDefiningOp();
    if (auto index = dyn_cast<IndexOp>(op))
      for (Value scalar : index.getIndices())
        if (!evaluate(scalar.getDefiningOp(), {}))
          return false;
    view = op->getOperand(0);
  }
  return true;
}

/// The read of the element of the target's view at `index`.
LoadOp ShapeLowering::locate(const StoreTarget &target,
                             llvm::ArrayRef<Value> index) {
  // What an earlier group may have stored to is nothing to be read any more.
  llvm::SaveAndRestore locating(isLocating, true);
  llvm::SaveAndRestore readers(currentGroup,
                               target.after.empty() ? currentGroup : noGroup);
  Operation *view = target.view.getDefiningOp();
  Value read = evaluate(view, index);
  if (!read)
    return {};
  inPlaceReads[{view, tuples.intern(index)}] = {target.slot, currentGroup};
  return read.getDefiningOp<LoadOp>();
}

FailureOr<Bounds::Interval>
ShapeLowering::getExtent(const StoreTarget &target) {
  // Loops that no program has.
  int64_t idx = maxMemoryElements;
  builder.setLoc(target.loc);
  llvm::SmallVector<Value> index;
  for (int64_t size : getShape(target.view.getType()))
    index.push_back(size == 1 ? math.constant(0)
                              : builder.range(math.constant(size), idx--));
  LoadOp element = lowerIndices(target) ? locate(target, index) : LoadOp();
  if (!element)
    return failure();
  return math.bounds(
      element.getSource().getDefiningOp<IndexOp>().getIndices()[0]);
}

/// Where the value goes in a buffer of its own.
Value ShapeLowering::getPointer(const StoreTarget &target,
                                llvm::ArrayRef<Value> index) {
  llvm::ArrayRef<int64_t> shape = getShape(target.value.getType());
  Value memory = builder.buffer(target.slot, getDType(target.value.getType()),
                                *getNumElements(shape));
  return memory ? builder.index(memory, math.ravel(index, shape)) : Value();
}

/// The element of the target's view, behind the stores that come before it and
/// behind its own read.
Value ShapeLowering::getPointer(const StoreTarget &target, LoadOp element,
                                bool isRead, llvm::ArrayRef<Value> finished) {
  auto pointer = element.getSource().getDefiningOp<IndexOp>();
  llvm::SmallVector<Value> before;
  for (unsigned group : target.after)
    before.push_back(finished[group]);
  if (isRead)
    before.push_back(element);
  return builder.index(builder.after(pointer.getSource(), before),
                       pointer.getIndices());
}

/// Stores the targets of one group in loops over their shape.
Value ShapeLowering::lowerGroup(llvm::ArrayRef<StoreTarget> targets,
                                const StoreGroup &group,
                                llvm::ArrayRef<Value> finished) {
  builder.setLoc(targets[group.members[0]].loc);
  llvm::SmallVector<Value> index, ranges, values, stores;
  for (int64_t size : group.shape) {
    index.push_back(size == 1 ? math.constant(0)
                              : makeRange(size, AxisKind::Loop));
    if (!index.back())
      return {};
    if (size != 1)
      ranges.push_back(index.back());
  }
  readable.clear();
  llvm::SmallVector<LoadOp> elements(group.members.size());
  for (unsigned number : group.members)
    if (!lowerIndices(targets[number]))
      return {};
  for (auto [number, element] : llvm::zip_equal(group.members, elements)) {
    const StoreTarget &target = targets[number];
    if (!target.view)
      continue;
    element = locate(target, index);
    if (!element)
      return {};
    if (target.after.empty())
      readable.insert(
          {target.slot,
           element.getSource().getDefiningOp<IndexOp>().getIndices()[0]});
  }
  for (unsigned number : group.members) {
    values.push_back(evaluate(targets[number].value.getDefiningOp(), index));
    if (!values.back())
      return {};
  }
  llvm::DenseSet<Value> stored(values.begin(), values.end());
  for (auto [number, element, value] :
       llvm::zip_equal(group.members, elements, values)) {
    const StoreTarget &target = targets[number];
    builder.setLoc(target.loc);
    bool isRead =
        element && (!element->use_empty() || stored.contains(element));
    Value pointer = element ? getPointer(target, element, isRead, finished)
                            : getPointer(target, index);
    if (!pointer)
      return {};
    stores.push_back(builder.store(pointer, value));
  }
  Value body = stores.size() == 1 ? stores[0] : builder.sink(stores);
  return builder.end(body, ranges);
}

Value ShapeLowering::lower(llvm::MutableArrayRef<StoreTarget> targets) {
  for (const StoreTarget &target : targets)
    if (target.view && !llvm::is_contained(getShape(target.view.getType()), 0))
      inPlaceSlots.insert(target.slot);
  FailureOr<std::vector<StoreGroup>> groups = groupStores(
      targets, [&](const StoreTarget &target) { return getExtent(target); });
  if (failed(groups))
    return {};
  llvm::SmallVector<Value> effects;
  for (const StoreGroup &group : *groups) {
    currentGroup = effects.size();
    effects.push_back(lowerGroup(targets, group, effects));
    if (!effects.back())
      return {};
  }
  return builder.sink(effects);
}
