//===- IntRangeTest.cpp - intervals against brute force -------------------===//
//
// Every interval that an op reports holds every value that the op can take, and
// no wider one is reported where a single op is concerned.
//
//===----------------------------------------------------------------------===//

#include "Graph.h"
#include "Uop/Graph/Bounds.h"
#include <random>

using namespace mlir;
using namespace uop;
using uop::test::Graph;

namespace {

struct Interval {
  int64_t low, high;
  bool operator==(const Interval &o) const {
    return low == o.low && high == o.high;
  }
};

std::ostream &operator<<(std::ostream &os, const Interval &i) {
  return os << '[' << i.low << ", " << i.high << ']';
}

constexpr int64_t intMin = -2147483648LL, intMax = 2147483647LL;

ConstantIntRanges toRange(Interval i, bool isBool) {
  return isBool ? ConstantIntRanges::fromUnsigned(llvm::APInt(1, i.low),
                                                  llvm::APInt(1, i.high))
                : ConstantIntRanges::fromSigned(
                      llvm::APInt(32, i.low, /*isSigned=*/true),
                      llvm::APInt(32, i.high, /*isSigned=*/true));
}

/// What the op that defines `value` reports for operands within `sources`.
Interval infer(Value value, llvm::ArrayRef<Interval> sources) {
  Operation *op = value.getDefiningOp();
  llvm::SmallVector<ConstantIntRanges> ranges;
  for (auto [i, source] : llvm::enumerate(sources))
    ranges.push_back(toRange(source, op->getOperand(i).getType().isInteger(1)));
  Interval result{intMin, intMax};
  cast<InferIntRangeInterface>(op).inferResultRanges(
      ranges, [&](Value, const ConstantIntRanges &range) {
        if (range.umin().getBitWidth() == 1)
          result = {int64_t(range.umin().getZExtValue()),
                    int64_t(range.umax().getZExtValue())};
        else
          result = {range.smin().getSExtValue(), range.smax().getSExtValue()};
      });
  return result;
}

/// The hull of a binary op's values over two intervals.
Interval getHull(OpCode code, DType dtype, Interval a, Interval b) {
  DType target =
      code == OpCode::CmpLt || code == OpCode::CmpNe ? DType::Bool : dtype;
  Interval hull{intMax, intMin};
  for (int64_t x = a.low; x <= a.high; ++x)
    for (int64_t y = b.low; y <= b.high; ++y) {
      int64_t v = int32_t(evalAlu(code, dtype, target, Word(x), Word(y)));
      hull = {std::min(hull.low, v), std::max(hull.high, v)};
    }
  return hull;
}

std::vector<Interval> getIntervals(int64_t from, int64_t to) {
  std::vector<Interval> all;
  for (int64_t low = from; low <= to; ++low)
    for (int64_t high = low; high <= to; ++high)
      all.push_back({low, high});
  return all;
}

const OpCode binaryCodes[] = {OpCode::Add,     OpCode::Mul,   OpCode::Max,
                              OpCode::CmpLt,   OpCode::CmpNe, OpCode::FloorDiv,
                              OpCode::FloorMod};

TEST(IntRange, BinaryOpsAreExact) {
  Graph g;
  Value x = g->param(0, g.type(DType::I32)),
        y = g->param(1, g.type(DType::I32));
  std::vector<Interval> intervals = getIntervals(-6, 6);
  for (OpCode code : binaryCodes) {
    Value op = g->get(code, {x, y});
    for (Interval a : intervals)
      for (Interval b : intervals) {
        ASSERT_EQ(infer(op, {a, b}), getHull(code, DType::I32, a, b))
            << getName(code).str() << a << b;
      }
  }
}

/// Ranges of numbers and of divisors far from each other, and from zero.
TEST(IntRange, DivisionsByRangesAreExact) {
  Graph g;
  Value x = g->param(0, g.type(DType::I32)),
        y = g->param(1, g.type(DType::I32));
  std::mt19937 random(1);
  auto pick = [&](int64_t bound, int64_t width) {
    int64_t low = int64_t(random() % (2 * bound)) - bound;
    return Interval{low, low + int64_t(random() % width)};
  };
  for (OpCode code : {OpCode::FloorDiv, OpCode::FloorMod}) {
    Value op = g->get(code, {x, y});
    for (int round = 0; round < 20000; ++round) {
      int64_t bound = int64_t(10) << random() % 12;
      Interval a = pick(bound, 40), b = pick(round % 2 ? bound : 50, 20);
      ASSERT_EQ(infer(op, {a, b}), getHull(code, DType::I32, a, b))
          << getName(code).str() << a << b;
    }
  }
}

/// Many divisors and one number: only the first quotients are told apart.
TEST(IntRange, RemaindersOfManyDivisors) {
  Graph g;
  Value op = g->get(OpCode::FloorMod, {g->param(0, g.type(DType::I32)),
                                       g->param(1, g.type(DType::I32))});
  EXPECT_EQ(infer(op, {Interval{1000, 1000}, Interval{1, intMax}}),
            (Interval{0, 1000}));
  EXPECT_EQ(infer(op, {Interval{intMin, intMax}, Interval{intMin, intMax}}),
            (Interval{intMin + 1, intMax - 1}));
  Interval number{intMax, intMax}, divisors{2, 46340};
  Interval have = infer(op, {number, divisors}),
           want = getHull(OpCode::FloorMod, DType::I32, number, divisors);
  EXPECT_LE(have.low, want.low);
  EXPECT_GE(have.high, want.high);
  EXPECT_LE(have.high, divisors.high - 1);
}

/// Where nothing wraps the interval stays exact; where something does it only
/// has to hold every value.
TEST(IntRange, BinaryOpsAtTheEdges) {
  Graph g;
  Value x = g->param(0, g.type(DType::I32)),
        y = g->param(1, g.type(DType::I32));
  std::vector<Interval> intervals = getIntervals(-2, 2);
  for (Interval i : getIntervals(0, 3)) {
    intervals.push_back({intMin + i.low, intMin + i.high});
    intervals.push_back({intMax - i.high, intMax - i.low});
  }
  for (OpCode code : binaryCodes) {
    Value op = g->get(code, {x, y});
    for (Interval a : intervals)
      for (Interval b : intervals) {
        Interval have = infer(op, {a, b}),
                 want = getHull(code, DType::I32, a, b);
        ASSERT_LE(have.low, want.low) << getName(code).str() << a << b;
        ASSERT_GE(have.high, want.high) << getName(code).str() << a << b;
        if (have.low != intMin && have.high != intMax)
          ASSERT_EQ(have, want) << getName(code).str() << a << b;
      }
  }
}

TEST(IntRange, Booleans) {
  Graph g;
  Value x = g->param(0, g.type(DType::Bool)),
        y = g->param(1, g.type(DType::Bool));
  std::vector<Interval> intervals = getIntervals(0, 1);
  for (OpCode code :
       {OpCode::Add, OpCode::Mul, OpCode::Max, OpCode::CmpLt, OpCode::CmpNe}) {
    Value op = g->get(code, {x, y});
    for (Interval a : intervals)
      for (Interval b : intervals)
        ASSERT_EQ(infer(op, {a, b}), getHull(code, DType::Bool, a, b))
            << getName(code).str() << a << b;
  }
}

TEST(IntRange, CastsAndChoices) {
  Graph g;
  Value x = g->param(0, g.type(DType::I32)),
        c = g->param(1, g.type(DType::Bool));
  Value toBool = g->cast(x, DType::Bool), toInt = g->cast(c, DType::I32);
  Value where = g->where(c, x, x);
  for (Interval a : getIntervals(-3, 3)) {
    Interval want{1, 0};
    for (int64_t v = a.low; v <= a.high; ++v)
      want = {std::min<int64_t>(want.low, v != 0),
              std::max<int64_t>(want.high, v != 0)};
    ASSERT_EQ(infer(toBool, a), want) << a;
    for (Interval b : getIntervals(-3, 3)) {
      EXPECT_EQ(infer(where, {Interval{1, 1}, a, b}), a);
      EXPECT_EQ(infer(where, {Interval{0, 0}, a, b}), b);
      EXPECT_EQ(infer(where, {Interval{0, 1}, a, b}),
                (Interval{std::min(a.low, b.low), std::max(a.high, b.high)}));
    }
  }
  for (Interval b : getIntervals(0, 1))
    EXPECT_EQ(infer(toInt, b), b);
}

TEST(IntRange, Counters) {
  Graph g;
  Value n = g->param(0, g.type(DType::I32));
  Value r = g->range(n, 0);
  EXPECT_EQ(infer(r, Interval{8, 8}), (Interval{0, 7}));
  EXPECT_EQ(infer(r, Interval{1, 5}), (Interval{0, 4}));
  EXPECT_EQ(infer(r, Interval{intMin, intMax}), (Interval{0, intMax - 1}));
  EXPECT_EQ(infer(r, Interval{0, 0}), (Interval{0, 0}));
  EXPECT_EQ(infer(r, Interval{intMin, -1}), (Interval{0, 0}));
}

/// Bounds walks the graph once, however deep and however often it is shared.
TEST(IntRange, BoundsOfGraphs) {
  Graph g;
  Value r = g->range(g->i32(4), 0), s = g->range(g->i32(8), 1);
  Value index = g->add(g->mul(r, g->i32(8)), s);
  Bounds bounds;
  EXPECT_EQ(bounds.vmin(index), 0);
  EXPECT_EQ(bounds.vmax(index), 31);
  EXPECT_EQ(bounds.vmax(g->get(OpCode::FloorDiv, {index, g->i32(8)})), 3);
  EXPECT_EQ(bounds.vmax(g->get(OpCode::FloorMod, {index, g->i32(8)})), 7);
  EXPECT_EQ(bounds.vmin(g->get(OpCode::CmpLt, {index, g->i32(32)})), 1);
  EXPECT_EQ(bounds.vmin(g->f32(1)), intMin);
  EXPECT_EQ(bounds.vmin(g->boolean(true)), 1);

  Value deep = s, shared = r;
  for (int i = 0; i < 200000; ++i)
    deep = g->get(OpCode::Max, {deep, g->i32(i % 7)});
  for (int i = 0; i < 60; ++i)
    shared = g->get(OpCode::Max, {shared, shared});
  EXPECT_EQ(bounds.vmax(deep), 7);
  EXPECT_EQ(bounds.vmin(deep), 6);
  EXPECT_EQ(bounds.vmax(shared), 3);
}

} // namespace
