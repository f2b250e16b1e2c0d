//===- BufferHistory.cpp - contents of buffers behind stores --------------===//
//
// Sets as hash consed lists, and the last version of each buffer.
//
//===----------------------------------------------------------------------===//

#include "BufferHistory.h"

using namespace uop;

BufferHistory::Set BufferHistory::insert(unsigned store, Set others) {
  auto [it, inserted] = known.try_emplace({store, others}, sets.size());
  if (inserted)
    sets.push_back({store, others});
  return it->second;
}

BufferHistory::Set BufferHistory::add(int64_t slot, Elements places,
                                      Elements values, Set before) {
  stores.push_back({slot, std::move(places), std::move(values)});
  versions.try_emplace(slot);
  return insert(stores.size() - 1, before);
}

BufferHistory::Set BufferHistory::unite(Set a, Set b) {
  llvm::SmallVector<unsigned> taken;
  while (a != b && a != none && b != none) {
    unsigned latest = std::max(sets[a].latest, sets[b].latest);
    taken.push_back(latest);
    for (Set *set : {&a, &b})
      if (*set != none && sets[*set].latest == latest)
        *set = sets[*set].others;
  }
  Set result = a == none ? b : a;
  for (unsigned store : llvm::reverse(taken))
    result = insert(store, result);
  return result;
}

Elements BufferHistory::getContents(int64_t slot, Set set) {
  Version &version = versions[slot];
  llvm::SmallVector<unsigned> missing;
  Set base = set;
  for (; base != none && base != version.set; base = sets[base].others)
    if (stores[sets[base].latest].slot == slot)
      missing.push_back(sets[base].latest);
  const std::vector<Word> &before = initial.at(slot).data;
  if (base == none) {
    version = {};
    if (missing.empty())
      return Elements(Elements(), &before);
  }
  version.set = set;
  if (!version.contents)
    version.contents = std::make_shared<std::vector<Word>>(before);
  else if (!missing.empty() && version.contents.use_count() > 1)
    version.contents = std::make_shared<std::vector<Word>>(*version.contents);
  for (unsigned number : llvm::reverse(missing)) {
    const Store &store = stores[number];
    for (auto [place, value] : llvm::zip_equal(*store.places, *store.values))
      (*version.contents)[place] = value;
  }
  return version.contents;
}

llvm::SmallVector<int64_t> BufferHistory::getSlots() const {
  llvm::SmallVector<int64_t> slots;
  for (const auto &entry : versions)
    slots.push_back(entry.first);
  return slots;
}
