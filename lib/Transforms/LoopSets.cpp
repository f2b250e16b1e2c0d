//===- LoopSets.cpp - hash consed sets of loops ---------------------------===//
//
// Patricia trees over loop numbers. No function recurses deeper than the 32
// bits of a number.
//
//===----------------------------------------------------------------------===//

#include "LoopTree.h"
#include "llvm/ADT/bit.h"

using namespace uop;

uint32_t LoopSets::getBranchBit(Set set) const {
  return llvm::bit_floor(nodes[set].min ^ nodes[set].max);
}

LoopSets::Set LoopSets::single(uint32_t member) {
  auto [it, inserted] = leaves.try_emplace(member, nodes.size());
  if (inserted)
    nodes.push_back({0, 0, member, member});
  return it->second;
}

LoopSets::Set LoopSets::join(Set left, Set right) {
  if (!left || !right)
    return left | right;
  auto [it, inserted] = joins.try_emplace({left, right}, nodes.size());
  if (inserted)
    nodes.push_back({left, right, nodes[left].min, nodes[right].max});
  return it->second;
}

LoopSets::Set LoopSets::unite(Set a, Set b) {
  if (a == b || !b)
    return a;
  if (!a)
    return b;
  if (a > b)
    std::swap(a, b);
  if (auto it = unions.find({a, b}); it != unions.end())
    return it->second;
  // The bit that splits the union: the highest in which any two members differ.
  uint32_t low = std::min(nodes[a].min, nodes[b].min);
  uint32_t high = std::max(nodes[a].max, nodes[b].max);
  Set result;
  if (low == high) {
    result = a;
  } else {
    uint32_t bit = llvm::bit_floor(low ^ high);
    auto split = [&](Set set) -> std::pair<Set, Set> {
      if (!isLeaf(set) && getBranchBit(set) == bit)
        return {nodes[set].left, nodes[set].right};
      return nodes[set].min & bit ? std::pair<Set, Set>(empty, set)
                                  : std::pair<Set, Set>(set, empty);
    };
    auto [aLeft, aRight] = split(a);
    auto [bLeft, bRight] = split(b);
    Set left = unite(aLeft, bLeft);
    result = join(left, unite(aRight, bRight));
  }
  unions[{a, b}] = result;
  return result;
}

LoopSets::Set LoopSets::remove(Set set, uint32_t member) {
  if (!contains(set, member))
    return set;
  if (isLeaf(set))
    return empty;
  if (auto it = removals.find({set, member}); it != removals.end())
    return it->second;
  Node node = nodes[set];
  Set result = member & getBranchBit(set)
                   ? join(node.left, remove(node.right, member))
                   : join(remove(node.left, member), node.right);
  removals[{set, member}] = result;
  return result;
}

bool LoopSets::contains(Set set, uint32_t member) const {
  if (!set)
    return false;
  while (!isLeaf(set))
    set = member & getBranchBit(set) ? nodes[set].right : nodes[set].left;
  return nodes[set].min == member;
}

std::optional<uint32_t> LoopSets::findCommon(Set a, Set b) const {
  if (!a || !b || nodes[a].max < nodes[b].min || nodes[b].max < nodes[a].min)
    return std::nullopt;
  if (a == b)
    return nodes[a].min;
  if (isLeaf(a))
    return contains(b, nodes[a].min) ? std::optional(nodes[a].min)
                                     : std::nullopt;
  // Halve the set that spans more, so that the other is met whole.
  if (isLeaf(b) || getBranchBit(a) < getBranchBit(b))
    return findCommon(b, a);
  if (auto common = findCommon(nodes[a].left, b))
    return common;
  return findCommon(nodes[a].right, b);
}

void LoopSets::visitNewNeighbours(
    Set set, llvm::function_ref<void(uint32_t, uint32_t)> pair) {
  visited.resize(nodes.size());
  llvm::SmallVector<Set> stack{set};
  while (!stack.empty()) {
    Set next = stack.pop_back_val();
    if (!next || visited[next] || isLeaf(next))
      continue;
    visited[next] = true;
    const Node &node = nodes[next];
    pair(nodes[node.left].max, nodes[node.right].min);
    stack.append({node.left, node.right});
  }
}
