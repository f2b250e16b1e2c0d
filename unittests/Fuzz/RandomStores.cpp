//===- RandomStores.cpp - random programs of several results --------------===//
//
// STOREs to views of buffers, AFTERs that look at what they left, and SINKs.
//
//===----------------------------------------------------------------------===//

#include "Generator.h"

using namespace mlir;
using namespace uop;
using namespace uop::fuzz;

namespace {

/// What holds of elements of either.
Facts join(const Facts &a, const Facts &b) {
  Facts both = a;
  both.low = std::min(a.low, b.low);
  both.high = std::max(a.high, b.high);
  both.error = std::max(a.error, b.error);
  return both;
}

int64_t getSlot(Value view) {
  while (!view.getDefiningOp<BufferOp>())
    view = view.getDefiningOp()->getOperand(0);
  return view.getDefiningOp<BufferOp>().getSlot();
}

} // namespace

/// A view that has no element twice.
Maybe Generator::makeTarget() {
  static constexpr Maybe (Generator::*moves[])(const Node &) = {
      &Generator::reshape, &Generator::reshape, &Generator::permute,
      &Generator::shrink, &Generator::index};
  if (buffers.empty())
    return std::nullopt;
  bool isVersion = !versions.empty() && random.percent(60);
  Maybe view = random.oneOf(isVersion ? versions : buffers);
  for (int64_t i = random.below(4); i > 0; --i)
    if (Maybe next = (this->*random.oneOf(moves))(*view))
      view = next;
  return view;
}

/// A value into a view, often one made of what is there.
bool Generator::makeStore() {
  Maybe view = makeTarget();
  Maybe value = view ? match(view->dtype(), view->shape()) : std::nullopt;
  if (value && random.percent(40))
    value = build(random.percent(50) ? OpCode::Add : OpCode::Max,
                  {*view, *value});
  if (!value)
    return false;
  stores.push_back(builder.store(view->value, value->value));
  int64_t slot = getSlot(view->value);
  auto [it, isNew] = contents.try_emplace(slot, value->facts);
  if (!isNew)
    it->second = join(it->second, value->facts);
  return true;
}

/// A buffer, or any view of memory, behind some stores or values.
bool Generator::makeAfter() {
  if (stores.empty())
    return false;
  bool isWhole = random.percent(60);
  Maybe memory = isWhole ? random.oneOf(versions.empty() || random.percent(50)
                                            ? buffers
                                            : versions)
                         : pickMemory();
  if (!memory)
    return false;
  llvm::SmallVector<Value> deps;
  for (int64_t i = random.between(1, 3); i > 0; --i) {
    Value dep = random.percent(75) ? random.oneOf(stores) : pick().value;
    deps.push_back(random.percent(20)
                       ? builder.sink({dep, random.oneOf(stores)})
                       : dep);
  }
  Node after{builder.after(memory->value, deps), memory->facts};
  auto it = contents.find(getSlot(after.value));
  if (it != contents.end())
    after.facts = join(after.facts, it->second);
  after.facts.cost = after.facts.code = 1;
  pool.push_back(after);
  if (isWhole)
    versions.push_back(after);
  return true;
}

/// A SINK of some values and stores, in any order, nested here and there.
Node Generator::collect(bool needsValue) {
  llvm::SmallVector<Value> sources;
  Facts facts;
  for (int64_t i = random.between(needsValue, 4); i > 0; --i) {
    Node value = pick();
    sources.push_back(value.value);
    facts = join(facts, value.facts);
  }
  for (Value store : stores)
    if (random.percent(60))
      sources.push_back(store);
  // Of a store, what may be in its buffer.
  for (const auto &[slot, known] : contents)
    facts = join(facts, known);
  for (size_t i = sources.size(); i > 1; --i)
    std::swap(sources[i - 1], sources[random.below(i)]);
  while (sources.size() > 1 && random.percent(30)) {
    Value last = sources.pop_back_val();
    sources.back() = builder.sink({sources.back(), last});
  }
  return {builder.sink(sources), facts};
}

Node Generator::run(Root root) {
  Node value = grow();
  if (root == Root::Value)
    return value;
  bool mayAfter = random.percent(50);
  int64_t steps = root == Root::Stores ? random.between(2, 16) : 0;
  for (int tries = 0; steps > 0 && tries < 60; ++tries) {
    int64_t choice = random.below(mayAfter ? 10 : 7);
    steps -= choice < 3 ? step() : choice < 7 ? makeStore() : makeAfter();
  }
  return collect(root == Root::Values || stores.empty());
}
