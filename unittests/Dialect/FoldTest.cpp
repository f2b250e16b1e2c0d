//===- FoldTest.cpp - folding against plain arithmetic --------------------===//
//
// evalAlu and getFolded over special and random elements, compared with what
// wider arithmetic says: 64-bit integers for i32, doubles rounded by APFloat
// for f16.
//
//===----------------------------------------------------------------------===//

#include "Graph.h"
#include <cmath>
#include <limits>
#include <random>

using namespace mlir;
using namespace uop;
using uop::test::Graph;

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();

const std::vector<int32_t> ints{0,
                                1,
                                -1,
                                2,
                                -2,
                                3,
                                -3,
                                7,
                                -7,
                                2147483647,
                                -2147483647 - 1,
                                65536,
                                -65536,
                                46341,
                                16777217};
const std::vector<float> floats{
    0.0f,     -0.0f, 1.0f,   -1.0f,
    0.5f,     2.5f,  -3.75f, 65504.0f,
    65520.0f, 1e-8f, 6e-8f,  3e38f,
    1e-45f,   inf,   -inf,   std::numeric_limits<float>::quiet_NaN()};

/// Equal bits, any NaN equal to any other.
bool isSame(float a, float b) {
  return fromFloat(a) == fromFloat(b) || (std::isnan(a) && std::isnan(b));
}

/// The half nearest to a double, through APFloat.
float toHalf(double d) {
  llvm::APFloat value(d);
  bool lost;
  value.convert(llvm::APFloat::IEEEhalf(), llvm::APFloat::rmNearestTiesToEven,
                &lost);
  value.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven,
                &lost);
  return value.convertToFloat();
}

Word evalInt(OpCode code, int32_t a, int32_t b) {
  return evalAlu(code, DType::I32,
                 code == OpCode::CmpLt || code == OpCode::CmpNe ? DType::Bool
                                                                : DType::I32,
                 a, b);
}

TEST(Scalar, IntegersAreWrappedWideIntegers) {
  std::mt19937 random(1);
  auto check = [](int64_t a, int64_t b) {
    SCOPED_TRACE(testing::Message() << a << " and " << b);
    EXPECT_EQ(evalInt(OpCode::Add, a, b), Word(a + b));
    EXPECT_EQ(evalInt(OpCode::Mul, a, b), Word(a * b));
    EXPECT_EQ(evalInt(OpCode::Max, a, b), Word(std::max(a, b)));
    EXPECT_EQ(evalInt(OpCode::CmpLt, a, b), Word(a < b));
    EXPECT_EQ(evalInt(OpCode::CmpNe, a, b), Word(a != b));
    int64_t quotient =
        b == 0 ? 0 : int64_t(std::floor((long double)a / (long double)b));
    EXPECT_EQ(evalInt(OpCode::FloorDiv, a, b), Word(quotient));
    EXPECT_EQ(evalInt(OpCode::FloorMod, a, b),
              Word(b == 0 ? 0 : a - quotient * b));
  };
  for (int32_t a : ints)
    for (int32_t b : ints)
      check(a, b);
  for (int i = 0; i < 20000; ++i)
    check(int32_t(random()), int32_t(random()) >> (random() % 32));
}

TEST(Scalar, BooleansAreOrAndAnd) {
  for (Word a : {0, 1})
    for (Word b : {0, 1}) {
      auto eval = [&](OpCode code) {
        return evalAlu(code, DType::Bool, DType::Bool, a, b);
      };
      EXPECT_EQ(eval(OpCode::Add), a | b);
      EXPECT_EQ(eval(OpCode::Mul), a & b);
      EXPECT_EQ(eval(OpCode::Max), a | b);
      EXPECT_EQ(eval(OpCode::CmpLt), Word(!a && b));
      EXPECT_EQ(eval(OpCode::CmpNe), a ^ b);
    }
}

TEST(Scalar, FloatsAreThisMachines) {
  for (float a : floats)
    for (float b : floats) {
      SCOPED_TRACE(testing::Message() << a << " and " << b);
      auto eval = [&](OpCode code) {
        return toFloat(
            evalAlu(code, DType::F32, DType::F32, fromFloat(a), fromFloat(b)));
      };
      EXPECT_TRUE(isSame(eval(OpCode::Add), a + b));
      EXPECT_TRUE(isSame(eval(OpCode::Mul), a * b));
      EXPECT_TRUE(isSame(eval(OpCode::Max), a > b ? a : b));
      EXPECT_TRUE(isSame(eval(OpCode::Recip), 1.0f / a));
      EXPECT_TRUE(isSame(eval(OpCode::Sqrt), std::sqrt(a)));
      EXPECT_TRUE(isSame(eval(OpCode::Exp2), std::exp2(a)));
      EXPECT_EQ(evalAlu(OpCode::CmpLt, DType::F32, DType::Bool, fromFloat(a),
                        fromFloat(b)),
                Word(a < b));
      EXPECT_EQ(evalAlu(OpCode::CmpNe, DType::F32, DType::Bool, fromFloat(a),
                        fromFloat(b)),
                Word(a != b));
    }
}

TEST(Scalar, HalvesRoundAfterEveryOp) {
  std::mt19937 random(2);
  auto check = [](float a, float b) {
    SCOPED_TRACE(testing::Message() << a << " and " << b);
    auto eval = [&](OpCode code) {
      return toFloat(
          evalAlu(code, DType::F16, DType::F16, fromFloat(a), fromFloat(b)));
    };
    EXPECT_TRUE(isSame(eval(OpCode::Add), toHalf(double(a) + double(b))));
    EXPECT_TRUE(isSame(eval(OpCode::Mul), toHalf(double(a) * double(b))));
    EXPECT_TRUE(isSame(eval(OpCode::Recip), toHalf(1.0 / double(a))));
    EXPECT_TRUE(isSame(eval(OpCode::Sqrt), toHalf(std::sqrt(double(a)))));
    EXPECT_TRUE(isSame(eval(OpCode::Max), a > b ? a : b));
  };
  for (int i = 0; i < 50000; ++i)
    check(fromHalfBits(random()), fromHalfBits(random()));
}

TEST(Scalar, HalfBits) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    float f = fromHalfBits(bits);
    if (!std::isnan(f))
      EXPECT_EQ(toHalfBits(f), bits);
    llvm::APFloat want(llvm::APFloat::IEEEhalf(), llvm::APInt(16, bits));
    bool lost;
    want.convert(llvm::APFloat::IEEEsingle(),
                 llvm::APFloat::rmNearestTiesToEven, &lost);
    EXPECT_TRUE(isSame(f, want.convertToFloat()));
  }
  std::mt19937 random(3);
  for (int i = 0; i < 50000; ++i) {
    float f = toFloat(random());
    EXPECT_TRUE(isSame(roundToHalf(f), toHalf(f))) << f;
  }
}

TEST(Scalar, Casts) {
  auto cast = [](DType from, DType to, Word w) {
    return evalAlu(OpCode::Cast, from, to, w);
  };
  for (float f : floats) {
    EXPECT_EQ(cast(DType::F32, DType::Bool, fromFloat(f)), Word(f != 0));
    EXPECT_TRUE(
        isSame(toFloat(cast(DType::F32, DType::F16, fromFloat(f))), toHalf(f)));
    if (f > -2147483904.0f && f < 2147483648.0f)
      EXPECT_EQ(cast(DType::F32, DType::I32, fromFloat(f)), Word(int64_t(f)));
  }
  for (int32_t i : ints) {
    EXPECT_EQ(toFloat(cast(DType::I32, DType::F32, i)), float(double(i)));
    EXPECT_TRUE(isSame(toFloat(cast(DType::I32, DType::F16, i)),
                       toHalf(double(float(i)))));
    EXPECT_EQ(cast(DType::I32, DType::Bool, i), Word(i != 0));
  }
  EXPECT_EQ(cast(DType::Bool, DType::I32, 1), 1u);
  EXPECT_EQ(toFloat(cast(DType::Bool, DType::F32, 1)), 1.0f);
}

TEST(Scalar, Reductions) {
  EXPECT_EQ(getIdentity(ReduceKind::Add, DType::F32), 0u);
  EXPECT_EQ(toFloat(getIdentity(ReduceKind::Max, DType::F16)), -inf);
  EXPECT_EQ(getIdentity(ReduceKind::Max, DType::I32), 0x80000000u);
  EXPECT_EQ(getIdentity(ReduceKind::Max, DType::Bool), 0u);
  EXPECT_EQ(evalReduce(ReduceKind::Add, DType::Bool, 1, 1), 1u);
  EXPECT_EQ(evalReduce(ReduceKind::Max, DType::I32, Word(-5), Word(-3)),
            Word(-3));
}

TEST(Scalar, ConstantAttributes) {
  Graph g;
  for (float f : floats) {
    auto attr = getConstantAttr(&g.context, DType::F32, fromFloat(f));
    EXPECT_TRUE(isSame(toFloat(getWord(attr)), f));
  }
  for (int32_t i : ints)
    EXPECT_EQ(getWord(getConstantAttr(&g.context, DType::I32, i)), Word(i));
  EXPECT_EQ(getWord(getConstantAttr(&g.context, DType::Bool, 1)), 1u);
  EXPECT_EQ(getWord(getConstantAttr(&g.context, DType::F16, fromFloat(65504))),
            fromFloat(65504));
}

/// The builder's folding gives evalAlu's word, but leaves open what C does.
TEST(Fold, BuilderFoldsConstants) {
  Graph g;
  for (int32_t a : ints)
    for (int32_t b : ints)
      for (OpCode code : {OpCode::Add, OpCode::Mul, OpCode::Max, OpCode::CmpLt,
                          OpCode::CmpNe, OpCode::FloorDiv, OpCode::FloorMod}) {
        Value value = g->getFolded(code, {g->i32(a), g->i32(b)});
        bool division = code == OpCode::FloorDiv || code == OpCode::FloorMod;
        bool open = division && (b == 0 || (b == -1 && a == ints[10]));
        auto constant = value.getDefiningOp<ConstOp>();
        ASSERT_EQ(!constant, open) << getName(code).str() << a << " " << b;
        if (constant)
          EXPECT_EQ(getWord(constant.getValueAttr()), evalInt(code, a, b));
      }
  for (float f : floats) {
    Value value =
        g->getFolded(OpCode::Cast, g->f32(f), {{}, g.type(DType::I32), 0});
    bool open = !(f > -2147483904.0f && f < 2147483648.0f);
    EXPECT_EQ(!value.getDefiningOp<ConstOp>(), open) << f;
  }
  EXPECT_TRUE(succeeded(verify(*g.module)));
}

TEST(Fold, BuilderFoldsChoices) {
  Graph g;
  Value x = g->param(0, g.type(DType::F32)),
        y = g->param(1, g.type(DType::F32));
  Value c = g->param(2, g.type(DType::Bool));
  size_t before = g.size();
  EXPECT_EQ(g->getFolded(OpCode::Where, {c, x, x}), x);
  EXPECT_EQ(g->getFolded(OpCode::Cast, x, {{}, g.type(DType::F32), 0}), x);
  EXPECT_EQ(g.size(), before) << "what is folded away must not stay";
  EXPECT_EQ(g->getFolded(OpCode::Where, {g->boolean(true), x, y}), x);
  EXPECT_EQ(g->getFolded(OpCode::Where, {g->boolean(false), x, y}), y);
  EXPECT_EQ(g->getFolded(OpCode::Add, {x, y}), g->add(x, y));
  EXPECT_EQ(g->getFolded(OpCode::Reshape, x,
                         {DenseI64ArrayAttr::get(&g.context, {1}), {}, 0}),
            g->reshape(x, {1}));
  EXPECT_TRUE(succeeded(verify(*g.module)));
}

} // namespace
