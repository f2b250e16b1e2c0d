//===- StoreGroups.cpp - which stores share loops -------------------------===//
//
// First fit by shape, behind the groups that have stored to the same elements.
// What has been stored to is kept as disjoint runs of each buffer.
//
//===----------------------------------------------------------------------===//

#include "StoreGroups.h"
#include <map>

using namespace mlir;
using namespace uop;

namespace {

class Grouping {
public:
  explicit Grouping(llvm::MutableArrayRef<StoreTarget> targets);

  using ExtentFn =
      llvm::function_ref<FailureOr<Bounds::Interval>(const StoreTarget &)>;
  FailureOr<std::vector<StoreGroup>> run(ExtentFn getExtent);

private:
  /// Elements from the key to `last`, stored to by groups up to `group`.
  struct Run {
    int64_t last;
    unsigned group;
  };
  using Runs = std::map<int64_t, Run>;

  bool isOverwritten(unsigned number) const;
  Bounds::Interval takeOverlaps(StoreTarget &target, Bounds::Interval extent);
  unsigned place(unsigned number, unsigned lowest);

  llvm::MutableArrayRef<StoreTarget> targets;
  /// The last target of each view, and how many each slot has.
  llvm::DenseMap<Value, unsigned> last;
  llvm::DenseMap<int64_t, unsigned> count;
  llvm::DenseMap<int64_t, Runs> stored;
  std::vector<StoreGroup> groups;
  llvm::DenseMap<llvm::ArrayRef<int64_t>, llvm::SmallVector<unsigned, 1>>
      groupsOf;
};

} // namespace

Grouping::Grouping(llvm::MutableArrayRef<StoreTarget> targets)
    : targets(targets) {
  for (auto [number, target] : llvm::enumerate(targets))
    if (target.view)
      last[target.view] = number;
  for (auto [number, target] : llvm::enumerate(targets))
    count[target.slot] += target.view && !isOverwritten(number);
}

bool Grouping::isOverwritten(unsigned number) const {
  Value view = targets[number].view;
  return view && last.lookup(view) != number;
}

/// Takes out the runs that overlap `extent`: their groups come before the
/// target. Returns what all of them span.
Bounds::Interval Grouping::takeOverlaps(StoreTarget &target,
                                        Bounds::Interval extent) {
  Runs &runs = stored[target.slot];
  auto it = runs.upper_bound(extent.min);
  if (it != runs.begin() && std::prev(it)->second.last >= extent.min)
    --it;
  while (it != runs.end() && it->first <= extent.max) {
    target.after.push_back(it->second.group);
    extent.min = std::min(extent.min, it->first);
    extent.max = std::max(extent.max, it->second.last);
    it = runs.erase(it);
  }
  return extent;
}

/// Adds a target to the first group of its shape from `lowest` on.
unsigned Grouping::place(unsigned number, unsigned lowest) {
  llvm::ArrayRef<int64_t> shape = getShape(targets[number].value.getType());
  llvm::SmallVector<unsigned, 1> &known = groupsOf[shape];
  auto it = llvm::lower_bound(known, lowest);
  unsigned group = it == known.end() ? groups.size() : *it;
  if (group == groups.size()) {
    known.push_back(group);
    groups.push_back({shape, {}});
  }
  groups[group].members.push_back(number);
  return group;
}

FailureOr<std::vector<StoreGroup>> Grouping::run(ExtentFn getExtent) {
  for (auto [number, target] : llvm::enumerate(targets)) {
    if (llvm::is_contained(getShape(target.value.getType()), 0) ||
        isOverwritten(number))
      continue;
    if (!target.view || count.lookup(target.slot) == 1) {
      place(number, 0);
      continue;
    }
    FailureOr<Bounds::Interval> extent = getExtent(target);
    if (failed(extent))
      return failure();
    Bounds::Interval span = takeOverlaps(target, *extent);
    unsigned lowest = 0;
    for (unsigned group : target.after)
      lowest = std::max(lowest, group + 1);
    stored[target.slot][span.min] = {span.max, place(number, lowest)};
  }
  return std::move(groups);
}

FailureOr<std::vector<StoreGroup>> uop::groupStores(
    llvm::MutableArrayRef<StoreTarget> targets,
    llvm::function_ref<FailureOr<Bounds::Interval>(const StoreTarget &)>
        getExtent) {
  return Grouping(targets).run(getExtent);
}
