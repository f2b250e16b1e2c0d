//===- LinearizeTest.cpp - tests of the scheduler -------------------------===//
//
// The scheduler against a slow one written from the rules alone, on programs
// made at random; hand-written kernels; what it says when there is no schedule;
// and how long large programs take.
//
//===----------------------------------------------------------------------===//

#include "Uop/Transforms/Linearize.h"
#include "ScheduleOracle.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace uop;

namespace {

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
    Value sink = g.sink(g.end(k.store(k.buffer(0), g.add(i, j), got), {i, j}));
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
  EXPECT_TRUE(
      succeeded(linearize(g.end(k.store(k.buffer(0), none, g.f32(1)), none))));
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
  EXPECT_EQ(k.errors[0], "linearize needs a program of loops (run rangeify first)");
}

//===----------------------------------------------------------------------===//
// Size
//===----------------------------------------------------------------------===//

/// Schedules and checks. What is quadratic runs into the limit of the test.
void expectLinear(Kernel &k, Value sink) {
  auto schedule = linearize(sink);
  ASSERT_TRUE(succeeded(schedule)) << k.errors[0];
  finishProgram(k.program, sink);
  ASSERT_TRUE(succeeded(linearize(k.program)));
  ASSERT_TRUE(succeeded(verifySchedule(k.program)));
}

TEST(LinearizeSize, AMillionOpsInAChain) {
  Kernel k;
  Value i = k.range(4, 0);
  Value x = k.load(k.buffer(0), i), y = x;
  for (int n = 0; n < 1000000; ++n)
    x = k.graph->add(x, y);
  expectLinear(k, k.graph->sink(k.graph->end(k.store(k.buffer(1), i, x), i)));
}

TEST(LinearizeSize, AHundredThousandStores) {
  Kernel k;
  llvm::SmallVector<Value> stores;
  Value memory = k.graph->buffer(0, DType::F32, 100000);
  for (int n = 0; n < 100000; ++n)
    stores.push_back(k.store(memory, k.graph->i32(n), k.graph->f32(n)));
  expectLinear(k, k.graph->sink(stores));
}

TEST(LinearizeSize, AHundredThousandSiblingLoops) {
  Kernel k;
  llvm::SmallVector<Value> effects;
  for (int n = 0; n < 100000; ++n) {
    Value i = k.range(4, n);
    effects.push_back(
        k.graph->end(k.store(k.buffer(0), i, k.graph->f32(1)), i));
  }
  expectLinear(k, k.graph->sink(effects));
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
  expectLinear(k, g.sink(k.store(k.buffer(1), g.i32(0), total)));
}

TEST(LinearizeSize, AnElementUpdatedManyTimes) {
  Kernel k;
  UniquingBuilder &g = *k.graph;
  Value memory = k.buffer(0), zero = g.i32(0), last;
  for (int n = 0; n < 100000; ++n) {
    Value now = last ? g.after(memory, last) : memory;
    last = k.store(now, zero, g.add(k.load(now, zero), g.f32(n)));
  }
  expectLinear(k, g.sink(last));
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
  expectLinear(k, g.sink(effect));
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
  EXPECT_TRUE(failed(linearize(store)));
  EXPECT_TRUE(failed(linearize(g.end(store, loops[0]))));
  ASSERT_EQ(k.errors.size(), 2u);
  for (const std::string &error : k.errors)
    EXPECT_LT(error.size(), 1000u) << error;
}

} // namespace
