//===- LinearizeTest.cpp - tests of the scheduler -------------------------===//
//
// The scheduler against a slow one written from the rules alone, on programs made
// at random; hand-written kernels; what it says when there is no schedule; and
// how long large programs take.
//
//===----------------------------------------------------------------------===//

#include "Uop/Transforms/Linearize.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <chrono>
#include <random>
#include <set>

using namespace mlir;
using namespace uop;

namespace {

/// A program under construction, and the errors that were reported.
class Kernel {
public:
  Kernel()
      : handler(&context,
                [this](Diagnostic &d) { errors.push_back(d.str()); }) {
    context.loadDialect<UopDialect>();
    module = ModuleOp::create(UnknownLoc::get(&context));
    OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
    program = createProgram(builder, UnknownLoc::get(&context), "kernel");
    graph.emplace(&program.getBodyBlock());
  }

  Value load(Value memory, Value index) {
    return graph->load(graph->index(memory, index));
  }
  Value store(Value memory, Value index, Value value) {
    return graph->store(graph->index(memory, index), value);
  }
  Value buffer(int64_t slot) { return graph->buffer(slot, DType::F32, 64); }
  Value range(int64_t size, int64_t idx) {
    return graph->range(graph->i32(size), idx);
  }

  /// A sum over `k` of `term`, inside the loops of `around`.
  Value sum(int64_t slot, Value k, Value term, ValueRange around) {
    Value acc = graph->after(graph->alloc(slot, DType::F32, 1), around);
    Value zero = graph->i32(0);
    Value init = store(acc, zero, graph->f32(0));
    Value inner = graph->after(acc, {init, k});
    Value update =
        store(inner, zero, graph->add(load(inner, zero), term));
    return load(graph->after(acc, graph->end(update, k)), zero);
  }

  MLIRContext context;
  std::vector<std::string> errors;
  ScopedDiagnosticHandler handler;
  OwningOpRef<ModuleOp> module;
  ProgramOp program;
  std::optional<UniquingBuilder> graph;
};

//===----------------------------------------------------------------------===//
// A slow scheduler from the rules alone
//===----------------------------------------------------------------------===//

using LoopSet = std::set<std::pair<int64_t, Operation *>>;

/// Scopes as sets, closed under "encloses"; every step looks at every op.
class SlowScheduler {
public:
  explicit SlowScheduler(Value sink) : topo(toposort(sink)) {
    for (size_t i = 0; i < topo.size(); ++i)
      position[topo[i]] = i;
    findTargets();
  }

  /// The schedule; empty when there is none.
  std::vector<Operation *> run() {
    std::set<size_t> pending;
    for (size_t i = 0; i < topo.size(); ++i)
      pending.insert(i);
    std::vector<Operation *> out;
    std::set<Operation *> done;
    LoopSet open;
    auto ready = [&](Operation *op) {
      return llvm::all_of(op->getOperands(), [&](Value source) {
        return done.count(source.getDefiningOp());
      });
    };
    auto emit = [&](Operation *op) {
      out.push_back(op);
      done.insert(op);
      pending.erase(position[op]);
    };
    while (!pending.empty()) {
      Operation *chosen = nullptr;
      for (size_t i : pending)
        if (!isa<RangeOp, EndOp>(topo[i]) && target[topo[i]] == open &&
            ready(topo[i])) {
          chosen = topo[i];
          break;
        }
      if (chosen) {
        emit(chosen);
        continue;
      }
      if (Operation *range = pickLoop(pending, open, ready)) {
        emit(range);
        open.insert(entry(range));
        continue;
      }
      for (size_t i : pending) {
        auto end = dyn_cast<EndOp>(topo[i]);
        if (end && ready(end) && closesInnermost(end, open)) {
          chosen = end;
          break;
        }
      }
      if (!chosen)
        return {};
      emit(chosen);
      for (Value range : cast<EndOp>(chosen).getRanges())
        open.erase(entry(range.getDefiningOp()));
    }
    return open.empty() ? out : std::vector<Operation *>();
  }

private:
  static std::pair<int64_t, Operation *> entry(Operation *range) {
    return {cast<RangeOp>(range).getIdx(), range};
  }

  /// The loop on `place`, a longer path than `open`, that is next inside `open`.
  static Operation *nextLoop(const LoopSet &place, const LoopSet &open) {
    if (place.size() <= open.size() ||
        !std::equal(open.begin(), open.end(), place.begin()))
      return nullptr;
    return std::next(place.begin(), open.size())->second;
  }

  void findTargets() {
    std::map<Operation *, LoopSet> scope, around;
    for (Operation *op : topo) {
      LoopSet &s = scope[op];
      for (Value source : op->getOperands()) {
        const LoopSet &from = scope[source.getDefiningOp()];
        s.insert(from.begin(), from.end());
      }
      if (isa<RangeOp>(op))
        s.insert(entry(op));
      if (auto end = dyn_cast<EndOp>(op))
        for (Value range : end.getRanges())
          s.erase(entry(range.getDefiningOp()));
    }
    for (auto &[op, s] : scope)
      for (auto it = s.begin(); it != s.end(); ++it)
        around[it->second].insert(s.begin(), it);
    auto close = [&](LoopSet s) {
      for (size_t before = 0; before != s.size();) {
        before = s.size();
        for (auto [idx, range] : LoopSet(s))
          s.insert(around[range].begin(), around[range].end());
      }
      return s;
    };
    for (Operation *op : topo) {
      LoopSet s = scope[op];
      if (isa<RangeOp>(op)) {
        s.erase(entry(op));
        s.insert(around[op].begin(), around[op].end());
      }
      target[op] = close(s);
    }
    std::map<Operation *, LoopSet> shared;
    for (Operation *op : topo)
      for (Value source : op->getOperands())
        if (auto alloc = source.getDefiningOp<AllocOp>()) {
          auto [it, first] = shared.try_emplace(alloc, target[op]);
          LoopSet common;
          for (auto a = it->second.begin(), b = target[op].begin();
               a != it->second.end() && b != target[op].end() && *a == *b;
               ++a, ++b)
            common.insert(*a);
          it->second = common;
        }
    for (auto &[alloc, place] : shared)
      target[alloc] =
          getSpace(alloc->getResult(0).getType()) == AddrSpace::Shared
              ? LoopSet()
              : place;
  }

  Operation *pickLoop(const std::set<size_t> &pending, const LoopSet &open,
                      llvm::function_ref<bool(Operation *)> ready) {
    LoopSet candidates;
    for (size_t i : pending) {
      Operation *range =
          isa<RangeOp>(topo[i]) ? nullptr : nextLoop(target[topo[i]], open);
      if (range && pending.count(position[range]) && ready(range) &&
          target[range] == open)
        candidates.insert(entry(range));
    }
    std::set<Operation *> blocked;
    std::map<Operation *, LoopSet> ended;
    for (size_t i : pending) {
      LoopSet &e = ended[topo[i]];
      if (auto end = dyn_cast<EndOp>(topo[i]))
        for (Value range : end.getRanges())
          if (candidates.count(entry(range.getDefiningOp())))
            e.insert(entry(range.getDefiningOp()));
      for (Value source : topo[i]->getOperands())
        if (pending.count(position[source.getDefiningOp()])) {
          const LoopSet &from = ended[source.getDefiningOp()];
          e.insert(from.begin(), from.end());
        }
      Operation *need =
          isa<RangeOp>(topo[i]) ? nullptr : nextLoop(target[topo[i]], open);
      if (need && llvm::any_of(e, [&](auto &x) { return x.second != need; }))
        blocked.insert(need);
    }
    for (auto [idx, range] : candidates)
      if (!blocked.count(range))
        return range;
    return candidates.empty() ? nullptr : candidates.begin()->second;
  }

  bool closesInnermost(EndOp end, const LoopSet &open) {
    LoopSet left = open;
    for (Value range : end.getRanges())
      if (!left.erase(entry(range.getDefiningOp())))
        return false;
    return left == target[end] &&
           std::equal(left.begin(), left.end(), open.begin());
  }

  std::vector<Operation *> topo;
  std::map<Operation *, size_t> position;
  std::map<Operation *, LoopSet> target;
};

//===----------------------------------------------------------------------===//
// Programs at random
//===----------------------------------------------------------------------===//

/// Nests of loops with stores, sums in loops of their own, values that go from
/// one loop to its siblings, and now and then an END or an edge that is wrong.
class RandomKernel {
public:
  RandomKernel(Kernel &kernel, uint32_t seed, bool sane)
      : k(kernel), random(seed), sane(sane) {
    // Loop numbers in any order: data alone decides between siblings.
    for (int64_t i = 0; i < 40; ++i)
      indices.push_back(i);
  }

  Value run() {
    llvm::SmallVector<Value> effects;
    for (int i = 0, n = 1 + pick(3); i < n; ++i)
      effects.push_back(nest({}, pick(3)));
    return k.graph->sink(effects);
  }

private:
  int pick(int n) { return std::uniform_int_distribution<>(0, n - 1)(random); }

  /// A number above those of `around`, never taken before if there is one.
  Value newLoop(ValueRange around) {
    int64_t above = -1;
    for (Value loop : around)
      above = std::max(above, loop.getDefiningOp<RangeOp>().getIdx());
    llvm::SmallVector<int64_t> free;
    for (int64_t i : indices)
      if (i > above && i < above + 12)
        free.push_back(i);
    int64_t idx = free.empty() ? 40 + used++ : free[pick(free.size())];
    llvm::erase(indices, idx);
    Value end = k.graph->i32(2 + pick(3));
    if (!around.empty() && pick(6) == 0)
      end = k.graph->add(around[pick(around.size())], end);
    AxisKind kind = pick(5) ? AxisKind::Loop : AxisKind::Thread;
    return k.graph->range(end, idx, kind);
  }

  Value indexOver(ValueRange loops) {
    Value index = k.graph->i32(pick(4));
    for (Value loop : loops)
      if (pick(3))
        index = k.graph->add(k.graph->mul(loop, k.graph->i32(1 + pick(3))),
                             index);
    return index;
  }

  Value term(ValueRange loops) {
    Value value = k.load(k.buffer(pick(3)), indexOver(loops));
    for (auto &[made, where] : values)
      if (pick(3) == 0 && llvm::all_of(where, [&](Value loop) {
            return llvm::is_contained(loops, loop);
          }))
        value = k.graph->add(made, value);
    if (!sane && !values.empty() && pick(12) == 0)
      value = k.graph->add(values[pick(values.size())].first, value);
    return value;
  }

  /// The effect of some work inside `around`, closed as far as `around`.
  Value nest(llvm::SmallVector<Value> around, int depth) {
    for (int i = 0, n = pick(3); i < n; ++i) {
      Value loop = newLoop(around);
      llvm::SmallVector<Value> inside(around);
      inside.push_back(loop);
      Value acc = k.sum(used++, loop, term(inside), around);
      values.push_back({acc, around});
    }
    if (depth == 0) {
      Value loop = newLoop(around);
      llvm::SmallVector<Value> inside(around), closed{loop};
      inside.push_back(loop);
      if (pick(2)) {
        closed.push_back(newLoop(inside));
        inside.push_back(closed.back());
      }
      // A place that uses every loop, so that they nest.
      Value place = k.graph->i32(used++);
      for (Value l : inside)
        place = k.graph->add(place, l);
      Value effect = k.store(k.buffer(5), place, term(inside));
      if (pick(2))
        std::reverse(closed.begin(), closed.end());
      if (!sane && pick(8) == 0)
        closed.pop_back();
      if (!sane && pick(8) == 0 && !around.empty())
        closed.push_back(around.back());
      return k.graph->end(effect, closed);
    }
    Value loop = newLoop(around);
    llvm::SmallVector<Value> inside(around);
    inside.push_back(loop);
    llvm::SmallVector<Value> effects;
    for (int i = 0, n = 1 + pick(2); i < n; ++i)
      effects.push_back(nest(inside, depth - 1));
    Value place = k.graph->i32(used++);
    for (Value l : inside)
      place = k.graph->add(place, l);
    effects.push_back(k.store(k.buffer(5), place, term(inside)));
    return k.graph->end(k.graph->sink(effects), loop);
  }

  Kernel &k;
  std::mt19937 random;
  bool sane;
  std::vector<int64_t> indices;
  int64_t used = 0;
  std::vector<std::pair<Value, llvm::SmallVector<Value>>> values;
};

TEST(Linearize, AgreesWithTheSlowSchedulerOnPrograms) {
  size_t scheduled = 0;
  for (uint32_t seed = 0; seed < 1500; ++seed) {
    Kernel kernel;
    Value sink = RandomKernel(kernel, seed, /*sane=*/true).run();
    auto fast = linearize(sink);
    auto slow = SlowScheduler(sink).run();
    ASSERT_TRUE(succeeded(fast))
        << seed << ": " << kernel.errors[0] << " slow: " << slow.size();
    ASSERT_EQ(*fast, slow) << seed;
    finishProgram(kernel.program, sink);
    ASSERT_TRUE(succeeded(linearize(kernel.program))) << seed;
    ASSERT_TRUE(succeeded(verifySchedule(kernel.program))) << seed;
    scheduled += fast->size();
  }
  EXPECT_GT(scheduled, 50000u);
}

TEST(Linearize, RefusesWhatTheSlowSchedulerRefuses) {
  size_t refused = 0;
  for (uint32_t seed = 0; seed < 2500; ++seed) {
    Kernel kernel;
    Value sink = RandomKernel(kernel, seed, /*sane=*/false).run();
    auto fast = linearize(sink);
    auto slow = SlowScheduler(sink).run();
    ASSERT_EQ(succeeded(fast), !slow.empty())
        << seed << (kernel.errors.empty() ? "" : kernel.errors[0]);
    if (succeeded(fast)) {
      ASSERT_EQ(*fast, slow) << seed;
      continue;
    }
    ASSERT_EQ(kernel.errors.size(), 1u) << seed;
    ++refused;
  }
  EXPECT_GT(refused, 200u);
}

//===----------------------------------------------------------------------===//
// Kernels by hand
//===----------------------------------------------------------------------===//

/// The names of the scheduled ops but constants, RANGEs with their idx.
std::string listing(const std::vector<Operation *> &schedule) {
  std::string text;
  for (Operation *op : schedule) {
    if (isa<ConstOp>(op))
      continue;
    text += text.empty() ? "" : " ";
    text += getMnemonic(*getOpCode(op)).str();
    if (auto range = dyn_cast<RangeOp>(op))
      text += std::to_string(range.getIdx());
  }
  return text;
}

TEST(Linearize, MatrixProduct) {
  Kernel k;
  UniquingBuilder &g = *k.graph;
  Value i = k.range(4, 0), j = k.range(3, 1), r = k.range(5, 2);
  Value a = k.load(k.buffer(0), g.add(g.mul(i, g.i32(5)), r));
  Value b = k.load(k.buffer(1), g.add(g.mul(r, g.i32(3)), j));
  Value c = g.index(k.buffer(2), g.add(g.mul(i, g.i32(3)), j));
  Value total = k.sum(0, r, g.mul(a, b), {i, j});
  auto schedule = linearize(g.sink(g.end(g.store(c, total), {i, j})));
  ASSERT_TRUE(succeeded(schedule));
  EXPECT_EQ(listing(*schedule),
            "buffer buffer buffer range0 mul mul range1 add index alloc after "
            "index store range2 after index load add index load mul add index "
            "load mul add store end after index load store end sink");
}

TEST(Linearize, ReadingResultsOrdersSiblings) {
  // The loop over outputs has the smaller idx and still runs second.
  Kernel k;
  UniquingBuilder &g = *k.graph;
  Value i = k.range(3, 0), j = k.range(4, 1), r = k.range(4, 2);
  Value row = g.mul(i, g.i32(4));
  Value out = g.index(k.buffer(1), g.add(row, j));
  Value x = k.load(k.buffer(0), g.add(row, j));
  Value total = k.sum(0, r, k.load(k.buffer(0), g.add(row, r)), i);
  auto schedule =
      linearize(g.sink(g.end(g.store(out, g.add(x, total)), {i, j})));
  ASSERT_TRUE(succeeded(schedule));
  EXPECT_EQ(listing(*schedule),
            "buffer buffer range0 mul alloc after index store range2 after "
            "index load add index load add store end after index load range1 "
            "add index index load add store end sink");
}

TEST(Linearize, WhatNeedsNoInnerLoopIsHoisted) {
  Kernel k;
  UniquingBuilder &g = *k.graph;
  Value i = k.range(8, 0), j = k.range(8, 1);
  Value head = k.load(k.buffer(0), g.mul(i, g.i32(8)));
  Value at = g.add(g.mul(i, g.i32(8)), j);
  Value out = g.index(k.buffer(1), at);
  Value sum = g.add(head, k.load(k.buffer(0), at));
  auto schedule = linearize(g.sink(g.end(g.store(out, sum), {i, j})));
  ASSERT_TRUE(succeeded(schedule));
  EXPECT_EQ(listing(*schedule),
            "buffer buffer range0 mul index load range1 add index index load "
            "add store end sink");
}

TEST(Linearize, AnAllocStandsWhereAllUsersAre) {
  for (bool shared : {false, true}) {
    Kernel k;
    UniquingBuilder &g = *k.graph;
    Value i = k.range(4, 0), j = k.range(4, 1);
    Value memory = g.alloc(0, DType::F32, 1,
                           shared ? AddrSpace::Shared : AddrSpace::Local);
    Value zero = g.i32(0);
    Value init = k.store(g.after(memory, i), zero, g.f32(0));
    Value got = k.load(g.after(memory, {init, j}), zero);
    Value sink = g.sink(
        g.end(k.store(k.buffer(0), g.add(i, j), got), {i, j}));
    auto schedule = linearize(sink);
    ASSERT_TRUE(succeeded(schedule));
    auto at = [&](Value value) {
      return llvm::find(*schedule, value.getDefiningOp()) - schedule->begin();
    };
    EXPECT_EQ(at(memory) > at(i), !shared);
    EXPECT_LT(at(memory), at(j));
  }
}

TEST(Linearize, EffectsWithoutASinkAndLoopsOfNoTrips) {
  Kernel k;
  UniquingBuilder &g = *k.graph;
  Value bare = k.store(k.buffer(0), g.i32(0), g.f32(1));
  EXPECT_TRUE(succeeded(linearize(bare)));
  Value none = k.range(0, 0);
  EXPECT_TRUE(succeeded(
      linearize(g.end(k.store(k.buffer(0), none, g.f32(1)), none))));
  EXPECT_TRUE(k.errors.empty());
}

TEST(Linearize, TheBlockHoldsTheScheduleOnly) {
  Kernel k;
  UniquingBuilder &g = *k.graph;
  Value i = k.range(4, 0);
  Value unused = g.add(g.mul(i, g.i32(3)), g.i32(9));
  Value sink = g.sink(g.end(k.store(k.buffer(0), i, g.f32(1)), i));
  g.add(unused, unused);
  finishProgram(k.program, sink);
  auto schedule = linearize(sink);
  ASSERT_TRUE(succeeded(schedule));
  ASSERT_TRUE(succeeded(linearize(k.program)));
  std::vector<Operation *> block;
  for (Operation &op : k.program.getBodyBlock().without_terminator())
    block.push_back(&op);
  EXPECT_EQ(block, *schedule);
  EXPECT_TRUE(succeeded(verifySchedule(k.program)));
}

//===----------------------------------------------------------------------===//
// No schedule
//===----------------------------------------------------------------------===//

TEST(Linearize, ALoopNeverClosed) {
  Kernel k;
  Value i = k.range(4, 0);
  Value store = k.store(k.buffer(0), i, k.graph->f32(1));
  EXPECT_TRUE(failed(linearize(k.graph->sink(store))));
  ASSERT_EQ(k.errors.size(), 1u);
  EXPECT_EQ(k.errors[0], "RANGE without END: loops [0] are never closed; "
                         "inside: STORE, INDEX");
}

TEST(Linearize, OneLoopClosedTwice) {
  Kernel k;
  UniquingBuilder &g = *k.graph;
  Value i = k.range(4, 0);
  Value a = g.end(k.store(k.buffer(0), i, g.f32(1)), i);
  Value b = g.end(k.store(k.buffer(1), i, g.f32(1)), i);
  EXPECT_TRUE(failed(linearize(g.sink({a, b}))));
  ASSERT_EQ(k.errors.size(), 1u);
  EXPECT_EQ(k.errors[0],
            "loop 0 is closed by two ENDs: give each loop its own idx, or use "
            "one END over a SINK; they close over STORE and STORE");
}

TEST(Linearize, OneOfTwoLoopsClosedTwice) {
  Kernel k;
  UniquingBuilder &g = *k.graph;
  Value i = k.range(4, 0), j = k.range(4, 1);
  Value a = g.end(k.store(k.buffer(0), i, g.f32(1)), i);
  Value b = g.end(k.store(k.buffer(1), g.add(i, j), g.f32(1)), {i, j});
  EXPECT_TRUE(failed(linearize(g.sink({a, b}))));
  ASSERT_EQ(k.errors.size(), 1u);
  EXPECT_EQ(k.errors[0],
            "loop 0 is closed by two ENDs: give each loop its own idx; they "
            "close over STORE and STORE");
}

TEST(Linearize, AnEndOfSomeLoops) {
  Kernel k;
  UniquingBuilder &g = *k.graph;
  Value i = k.range(4, 0), j = k.range(4, 1);
  Value store = k.store(k.buffer(0), g.add(i, j), g.f32(1));
  EXPECT_TRUE(failed(linearize(g.sink(g.end(store, i)))));
  ASSERT_EQ(k.errors.size(), 1u);
  EXPECT_EQ(k.errors[0],
            "can't schedule; open loops [0, 1], stuck at [(END, [0, 1]), "
            "(SINK, [0, 1])]: END closes loops [0] but not [1], where STORE "
            "is");
}

TEST(Linearize, AnEndOfALoopThatNothingIsIn) {
  Kernel k;
  UniquingBuilder &g = *k.graph;
  Value store = k.store(k.buffer(0), g.i32(0), g.f32(1));
  EXPECT_TRUE(failed(linearize(g.sink(g.end(store, k.range(4, 0))))));
  ASSERT_EQ(k.errors.size(), 1u);
  EXPECT_EQ(k.errors[0],
            "can't schedule; open loops [], stuck at [(RANGE, []), (END, []), "
            "(SINK, [])]: no op is inside loop 0, RANGE");
}

TEST(Linearize, AnOpInsideALoopAndAfterIt) {
  Kernel k;
  UniquingBuilder &g = *k.graph;
  Value i = k.range(4, 0), zero = g.i32(0);
  Value first = k.store(k.buffer(0), i, g.f32(1));
  Value later = g.after(k.buffer(0), g.end(first, i));
  Value second = k.store(k.buffer(1), i, k.load(later, zero));
  EXPECT_TRUE(failed(linearize(g.sink(second))));
  ASSERT_EQ(k.errors.size(), 1u);
  EXPECT_NE(k.errors[0].find("can't schedule; open loops []"),
            std::string::npos);
  EXPECT_NE(k.errors[0].find("STORE is inside loop 0 and after the END that "
                             "closes it"),
            std::string::npos)
      << k.errors[0];
}

TEST(Linearize, OneIdxForTwoLoops) {
  for (bool kinds : {false, true}) {
    Kernel k;
    UniquingBuilder &g = *k.graph;
    Value i = k.range(4, 0);
    Value j = kinds ? g.range(g.i32(4), 0, AxisKind::Reduce) : k.range(8, 0);
    Value a = g.end(k.store(k.buffer(0), i, g.f32(1)), i);
    Value b = g.end(k.store(k.buffer(1), j, g.f32(1)), j);
    EXPECT_TRUE(failed(linearize(g.sink({a, b}))));
    ASSERT_EQ(k.errors.size(), 1u);
    EXPECT_EQ(k.errors[0],
              std::string("loop 0 is two loops, loop of 4 at RANGE and ") +
                  (kinds ? "reduce of 4" : "loop of 8") +
                  " at RANGE: give each loop its own idx");
  }
}

TEST(Linearize, ALoopBelowItsEnclosingLoop) {
  Kernel k;
  UniquingBuilder &g = *k.graph;
  Value outer = k.range(4, 1);
  Value inner = g.range(outer, 0);
  Value store = k.store(k.buffer(0), inner, g.f32(1));
  EXPECT_TRUE(failed(linearize(g.sink(g.end(store, {inner, outer})))));
  ASSERT_EQ(k.errors.size(), 1u);
  EXPECT_EQ(k.errors[0],
            "loop 0 is inside loop 1, which its end RANGE uses, but has the "
            "smaller idx: loops nest in increasing idx");
}

TEST(Linearize, ALoopInTwoNests) {
  Kernel k;
  UniquingBuilder &g = *k.graph;
  Value i = k.range(4, 0), j = k.range(4, 1), r = k.range(4, 2);
  Value a = g.end(k.store(k.buffer(0), g.add(i, r), g.f32(1)), {i, r});
  Value b = g.end(k.store(k.buffer(1), g.add(j, r), g.f32(1)), j);
  EXPECT_TRUE(failed(linearize(g.sink({a, b}))));
  ASSERT_EQ(k.errors.size(), 1u);
  EXPECT_EQ(k.errors[0],
            "can't schedule; loop 2 is inside loop 0 and inside loop 1, which "
            "do not nest: see ADD, ADD");
}

TEST(Linearize, ALoadAndAStoreWithoutAnOrder) {
  Kernel k;
  UniquingBuilder &g = *k.graph;
  Value i = k.range(4, 0);
  Value store = k.store(k.buffer(0), i, g.f32(1));
  Value copy = k.store(k.buffer(1), i, k.load(k.buffer(0), i));
  EXPECT_TRUE(failed(linearize(g.sink(g.end(g.sink({store, copy}), i)))));
  ASSERT_EQ(k.errors.size(), 1u);
  EXPECT_EQ(k.errors[0], "LOAD and STORE of one element of BUFFER 0 with no "
                         "AFTER between them: LOAD, STORE");
}

TEST(Linearize, ALoadAndAStoreInOrder) {
  Kernel k;
  UniquingBuilder &g = *k.graph;
  Value i = k.range(4, 0);
  // In place, then read back, and another element read without any order.
  Value old = k.load(k.buffer(0), i);
  Value store = k.store(k.buffer(0), i, g.add(old, g.f32(1)));
  Value fresh = k.load(g.after(k.buffer(0), store), i);
  Value other = k.load(k.buffer(0), g.add(i, g.i32(8)));
  Value copy = k.store(k.buffer(1), i, g.add(fresh, other));
  EXPECT_TRUE(succeeded(linearize(g.sink(g.end(copy, i)))));
  EXPECT_TRUE(k.errors.empty());
}

TEST(Linearize, AValueIsNoProgram) {
  Kernel k;
  finishProgram(k.program, k.graph->f32(1));
  EXPECT_TRUE(failed(linearize(k.program)));
  ASSERT_EQ(k.errors.size(), 1u);
  EXPECT_EQ(k.errors[0], "linearize needs a SINK root (run rangeify first)");
}

//===----------------------------------------------------------------------===//
// Size
//===----------------------------------------------------------------------===//

double milliseconds(llvm::function_ref<void()> work) {
  auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now() - start)
      .count();
}

/// Schedules and checks; bounds are loose, what is quadratic takes minutes.
void expectFast(Kernel &k, Value sink, double limit) {
  size_t size = 0;
  double took = milliseconds([&] {
    auto schedule = linearize(sink);
    ASSERT_TRUE(succeeded(schedule)) << k.errors[0];
    size = schedule->size();
  });
  EXPECT_LT(took, limit) << size << " ops";
  finishProgram(k.program, sink);
  EXPECT_LT(milliseconds([&] {
              ASSERT_TRUE(succeeded(linearize(k.program)));
              ASSERT_TRUE(succeeded(verifySchedule(k.program)));
            }),
            4 * limit);
}

TEST(LinearizeSize, AMillionOpsInAChain) {
  Kernel k;
  Value i = k.range(4, 0);
  Value x = k.load(k.buffer(0), i), y = x;
  for (int n = 0; n < 1000000; ++n)
    x = k.graph->add(x, y);
  expectFast(k, k.graph->sink(k.graph->end(k.store(k.buffer(1), i, x), i)),
             10000);
}

TEST(LinearizeSize, AHundredThousandStores) {
  Kernel k;
  llvm::SmallVector<Value> stores;
  Value memory = k.graph->buffer(0, DType::F32, 100000);
  for (int n = 0; n < 100000; ++n)
    stores.push_back(k.store(memory, k.graph->i32(n), k.graph->f32(n)));
  expectFast(k, k.graph->sink(stores), 5000);
}

TEST(LinearizeSize, AHundredThousandSiblingLoops) {
  Kernel k;
  llvm::SmallVector<Value> effects;
  for (int n = 0; n < 100000; ++n) {
    Value i = k.range(4, n);
    effects.push_back(
        k.graph->end(k.store(k.buffer(0), i, k.graph->f32(1)), i));
  }
  expectFast(k, k.graph->sink(effects), 5000);
}

TEST(LinearizeSize, SumsThatReadEachOther) {
  // Each loop waits for the one before it, whose idx is larger.
  Kernel k;
  UniquingBuilder &g = *k.graph;
  int count = 20000;
  Value total = g.f32(0);
  for (int n = 0; n < count; ++n) {
    Value i = k.range(4, count - n);
    total = k.sum(n, i, g.add(k.load(k.buffer(0), i), total), {});
  }
  expectFast(k, g.sink(k.store(k.buffer(1), g.i32(0), total)), 5000);
}

TEST(LinearizeSize, AnElementUpdatedManyTimes) {
  Kernel k;
  UniquingBuilder &g = *k.graph;
  Value memory = k.buffer(0), zero = g.i32(0), last;
  for (int n = 0; n < 100000; ++n) {
    Value now = last ? g.after(memory, last) : memory;
    last = k.store(now, zero, g.add(k.load(now, zero), g.f32(n)));
  }
  expectFast(k, g.sink(last), 5000);
}

TEST(LinearizeSize, ADeepNest) {
  Kernel k;
  UniquingBuilder &g = *k.graph;
  int count = 20000;
  Value x = g.i32(0);
  llvm::SmallVector<Value> loops;
  for (int n = 0; n < count; ++n) {
    loops.push_back(k.range(1, n));
    x = g.add(x, loops.back());
  }
  Value effect = k.store(k.buffer(0), x, g.f32(1));
  for (Value loop : llvm::reverse(loops))
    effect = g.end(effect, loop);
  expectFast(k, g.sink(effect), 5000);
}

TEST(LinearizeSize, MessagesOfLargePrograms) {
  // A deep nest that nothing closes, and one of its loops closed from outside.
  Kernel k;
  UniquingBuilder &g = *k.graph;
  int count = 20000;
  Value x = g.i32(0);
  llvm::SmallVector<Value> loops;
  for (int n = 0; n < count; ++n) {
    loops.push_back(k.range(1, n));
    x = g.add(x, loops.back());
  }
  Value store = k.store(k.buffer(0), x, g.f32(1));
  EXPECT_LT(milliseconds([&] { EXPECT_TRUE(failed(linearize(store))); }), 5000);
  EXPECT_LT(milliseconds([&] {
              EXPECT_TRUE(failed(linearize(g.end(store, loops[0]))));
            }),
            5000);
  ASSERT_EQ(k.errors.size(), 2u);
  for (const std::string &error : k.errors)
    EXPECT_LT(error.size(), 1000u) << error;
}

} // namespace
