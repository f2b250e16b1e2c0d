//===- MemoryOrder.cpp - loads and stores without an order ----------------===//
//
// Elements of memory by number, and a bounded search for paths between the
// loads and the stores of each.
//
//===----------------------------------------------------------------------===//

#include "MemoryOrder.h"

using namespace mlir;
using namespace uop;

namespace {

class MemoryOrder {
public:
  explicit MemoryOrder(const NumberedGraph &graph)
      : graph(graph), budget(64 + 8 * static_cast<uint64_t>(graph.size())) {}

  LogicalResult run();

private:
  static constexpr uint32_t none = ~0u;

  void nameElements();
  bool mayReach(uint32_t from, uint32_t to);
  LogicalResult compare(uint32_t first, uint32_t second);
  uint32_t getElement(uint32_t access) const {
    return elements[graph.getSources(access)[0]];
  }

  const NumberedGraph &graph;
  uint64_t budget;
  /// Of every view of memory: BUFFER or ALLOC and the indices, as one number.
  std::vector<uint32_t> elements;
  /// The last search that saw an op.
  std::vector<uint32_t> seen;
  uint32_t searches = 0;
};

} // namespace

void MemoryOrder::nameElements() {
  llvm::DenseMap<std::pair<uint32_t, uint32_t>, uint32_t> indexed;
  elements.assign(graph.size(), none);
  uint32_t next = 0;
  for (uint32_t number = 0; number < graph.size(); ++number) {
    llvm::ArrayRef<uint32_t> sources = graph.getSources(number);
    switch (graph.codes[number]) {
    case OpCode::Buffer:
    case OpCode::Alloc:
      elements[number] = next++;
      break;
    case OpCode::After:
      elements[number] = elements[sources[0]];
      break;
    case OpCode::Index: {
      uint32_t element = elements[sources[0]];
      if (element == none)
        break;
      for (uint32_t index : sources.drop_front()) {
        auto [it, inserted] = indexed.try_emplace({element, index}, next);
        next += inserted;
        element = it->second;
      }
      elements[number] = element;
      break;
    }
    default:
      break;
    }
  }
}

/// Whether `to` depends on `from`, or that could not be found out.
bool MemoryOrder::mayReach(uint32_t from, uint32_t to) {
  if (seen.empty())
    seen.assign(graph.size(), 0);
  ++searches;
  llvm::SmallVector<uint32_t> stack{to};
  while (!stack.empty()) {
    for (uint32_t source : graph.getSources(stack.pop_back_val())) {
      if (source == from || budget == 0)
        return true;
      --budget;
      // Sources come before users: nothing below `from` depends on it.
      if (source > from && seen[source] != searches) {
        seen[source] = searches;
        stack.push_back(source);
      }
    }
  }
  return false;
}

LogicalResult MemoryOrder::compare(uint32_t first, uint32_t second) {
  if (mayReach(first, second))
    return success();
  bool loadFirst = graph.codes[first] == OpCode::Load;
  Operation *load = graph.ops[loadFirst ? first : second];
  Operation *store = graph.ops[loadFirst ? second : first];
  uint32_t memory = graph.getSources(first)[0];
  while (graph.codes[memory] == OpCode::Index ||
         graph.codes[memory] == OpCode::After)
    memory = graph.getSources(memory)[0];
  return emitError(load->getLoc())
         << "LOAD and STORE of one element of " << getName(graph.codes[memory])
         << " " << getArg(graph.codes[memory], graph.ops[memory]).number
         << " with no AFTER between them: " << describeOp(load) << ", "
         << describeOp(store);
}

LogicalResult MemoryOrder::run() {
  nameElements();
  std::vector<std::pair<uint32_t, uint32_t>> accesses;
  llvm::DenseSet<uint32_t> loaded;
  for (uint32_t number = 0; number < graph.size(); ++number)
    if (graph.codes[number] == OpCode::Load && getElement(number) != none)
      loaded.insert(getElement(number));
  for (uint32_t number = 0; number < graph.size(); ++number)
    if (graph.codes[number] == OpCode::Store &&
        loaded.contains(getElement(number)))
      accesses.push_back({getElement(number), number});
  llvm::DenseSet<uint32_t> stored;
  for (auto [element, store] : accesses)
    stored.insert(element);
  for (uint32_t number = 0; number < graph.size(); ++number)
    if (graph.codes[number] == OpCode::Load &&
        stored.contains(getElement(number)))
      accesses.push_back({getElement(number), number});
  llvm::sort(accesses);

  // Each load against the store before it and the one after it.
  auto check = [&](auto begin, auto end) {
    std::pair<uint32_t, uint32_t> store{none, none};
    for (auto it = begin; it != end; ++it) {
      if (graph.codes[it->second] == OpCode::Store) {
        store = *it;
      } else if (store.first == it->first) {
        auto [first, second] = std::minmax(store.second, it->second);
        if (failed(compare(first, second)))
          return failure();
      }
    }
    return success();
  };
  return success(succeeded(check(accesses.begin(), accesses.end())) &&
                 succeeded(check(accesses.rbegin(), accesses.rend())));
}

LogicalResult uop::checkMemoryOrder(const NumberedGraph &graph) {
  return MemoryOrder(graph).run();
}
