//===- BufferHistory.h - contents of buffers behind stores ------*- C++ -*-===//
//
// What buffers hold once some of a program's STOREs have happened: the versions
// that an interpreter of whole arrays reads.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_LIB_GRAPH_BUFFERHISTORY_H
#define UOP_LIB_GRAPH_BUFFERHISTORY_H

#include "Uop/Graph/Interpreter.h"
#include "llvm/ADT/DenseMap.h"
#include <memory>

namespace uop {

/// Elements that several nodes may share.
using Elements = std::shared_ptr<const std::vector<Word>>;

/// STOREs by number, in the order in which they are added, and sets of them. A
/// set is its latest member and the set of the others; equal sets are one.
class BufferHistory {
public:
  using Set = unsigned;
  static constexpr Set none = 0;

  /// `initial` outlives the history.
  explicit BufferHistory(const ArrayMap &initial) : initial(initial), sets(1) {}

  /// Adds a STORE of `values` to the elements `places` of a buffer. Returns
  /// `before` and the STORE.
  Set add(int64_t slot, Elements places, Elements values, Set before);
  /// Costs as many steps as there are members until what the two have in common
  /// in the end.
  Set unite(Set a, Set b);
  /// The buffer with the stores of `set` done in order. Costs little when the
  /// set is that of the last call for this slot and some later stores.
  Elements getContents(int64_t slot, Set set);

  /// The slots that some STORE is to.
  llvm::SmallVector<int64_t> getSlots() const;

private:
  struct Store {
    int64_t slot;
    Elements places, values;
  };
  struct Members {
    unsigned latest = 0;
    Set others = none;
  };
  struct Version {
    Set set = none;
    std::shared_ptr<std::vector<Word>> contents;
  };
  Set insert(unsigned store, Set others);

  const ArrayMap &initial;
  std::vector<Store> stores;
  std::vector<Members> sets;
  llvm::DenseMap<std::pair<unsigned, Set>, Set> known;
  std::map<int64_t, Version> versions;
};

} // namespace uop

#endif // UOP_LIB_GRAPH_BUFFERHISTORY_H
