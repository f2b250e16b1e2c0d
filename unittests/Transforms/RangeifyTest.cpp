//===- RangeifyTest.cpp - lowering against brute force --------------------===//
//
// Lowered programs run by the linear interpreter, expected values from plain
// loops over plain arrays.
//
//===----------------------------------------------------------------------===//

#include "Uop/Graph/Composite.h"
#include "Uop/Graph/Interpreter.h"
#include "Uop/Transforms/Linearize.h"
#include "Uop/Transforms/Rangeify.h"
#include "gtest/gtest.h"
#include <cmath>
#include <random>

using namespace mlir;
using namespace uop;

namespace {

struct Rangeify : testing::Test {
  Rangeify() {
    context.loadDialect<UopDialect>();
    OpBuilder opBuilder(&context);
    program = createProgram(opBuilder, UnknownLoc::get(&context), "p");
    b.emplace(&program->getBodyBlock());
  }

  Value input(llvm::ArrayRef<int64_t> shape) {
    int64_t size = *getNumElements(shape);
    Array array{DType::F32, {size}, {}};
    for (int64_t i = 0; i < size; ++i)
      array.data.push_back(fromFloat(static_cast<float>(i + 1)));
    int64_t slot = buffers.size();
    buffers[slot] = array;
    return b->reshape(b->buffer(slot, DType::F32, size), shape);
  }

  /// The lowered program's output.
  std::vector<float> run(Value root) {
    llvm::ArrayRef<int64_t> shape = getShape(root.getType());
    Array out{DType::F32, {*getNumElements(shape)}, {}};
    out.data.resize(out.shape[0]);
    int64_t slot = getOutputSlot(root);
    finishProgram(*program, root);
    EXPECT_TRUE(succeeded(rangeify(*program)));
    EXPECT_TRUE(succeeded(linearize(*program)));
    std::vector<Operation *> schedule;
    for (Operation &op : program->getBodyBlock().without_terminator())
      schedule.push_back(&op);
    buffers[slot] = out;
    EXPECT_TRUE(succeeded(evaluateLinear(schedule, buffers)));
    std::vector<float> values;
    for (Word word : buffers[slot].data)
      values.push_back(toFloat(word));
    return values;
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ProgramOp> program;
  std::optional<UniquingBuilder> b;
  ArrayMap buffers;
};

/// One program of several in a test.
struct Case : Rangeify {
  void TestBody() override {}
};

TEST_F(Rangeify, PadPutsZerosAroundAndComputesNothingThere) {
  // 1/x of a padded x would be inf; a padded 1/x is 0.
  Value x = input({2, 3});
  Value padded = pad(*b, b->get(OpCode::Recip, x), {1, 0, 2, 5});
  ASSERT_TRUE(padded);
  EXPECT_EQ(getShape(padded.getType()), llvm::ArrayRef<int64_t>({3, 10}));
  std::vector<float> have = run(padded);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 10; ++j) {
      bool inside = i >= 1 && j >= 2 && j < 5;
      float want = inside ? 1.0f / ((i - 1) * 3 + (j - 2) + 1) : 0.0f;
      EXPECT_EQ(have[i * 10 + j], want) << i << ", " << j;
    }
}

TEST_F(Rangeify, PadOfOneElementByMany) {
  std::vector<float> have = run(pad(*b, input({1}), {1000, 37}));
  ASSERT_EQ(have.size(), 1038u);
  for (int i = 0; i < 1038; ++i)
    EXPECT_EQ(have[i], i == 1000 ? 1.0f : 0.0f) << i;
}

TEST_F(Rangeify, PadOfNothingIsZeros) {
  Value nothing = b->shrink(input({2, 3}), {0, 2, 1, 1});
  std::vector<float> have = run(pad(*b, nothing, {0, 0, 1, 1}));
  EXPECT_EQ(have, std::vector<float>(4, 0.0f));
}

TEST_F(Rangeify, PadRefusesNegativeNumbers) {
  ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) {});
  EXPECT_FALSE(pad(*b, input({3}), {-1, 0}));
  EXPECT_FALSE(pad(*b, input({3}), {1}));
  EXPECT_FALSE(flip(*b, input({3}), 1));
}

TEST_F(Rangeify, FlipReversesAnyAxis) {
  for (int64_t n : {1, 2, 3, 4, 6, 7, 12, 30}) {
    for (int axis : {0, 1}) {
      Case fresh;
      int64_t rows = axis == 0 ? n : 3, columns = axis == 0 ? 3 : n;
      std::vector<float> have =
          fresh.run(flip(*fresh.b, fresh.input({rows, columns}), axis));
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j) {
          int64_t from = axis == 0 ? (rows - 1 - i) * columns + j
                                   : i * columns + columns - 1 - j;
          ASSERT_EQ(have[i * columns + j], from + 1) << n << " axis " << axis;
        }
    }
  }
}

/// Random chains of reshapes, permutations, shrinks and expansions, each step
/// done to a plain array as well.
TEST_F(Rangeify, MovementChainsMatchBruteForce) {
  std::mt19937 random(7);
  auto pick = [&](int n) { return static_cast<int>(random() % n); };
  for (int round = 0; round < 300; ++round) {
    Case fresh;
    UniquingBuilder &g = *fresh.b;
    llvm::SmallVector<int64_t> shape{4, 6, 5};
    Value value = fresh.input(shape);
    std::vector<float> want(120);
    for (int i = 0; i < 120; ++i)
      want[i] = i + 1;
    for (int step = 0; step < 6; ++step) {
      int64_t count = *getNumElements(shape);
      switch (pick(4)) {
      case 0: { // reshape: a random ordered factorisation
        llvm::SmallVector<int64_t> target;
        int64_t rest = count;
        while (rest > 1) {
          llvm::SmallVector<int64_t> divisors;
          for (int64_t d = 2; d <= rest; ++d)
            if (rest % d == 0)
              divisors.push_back(d);
          int64_t d = divisors[pick(divisors.size())];
          target.push_back(d);
          rest /= d;
          if (pick(4) == 0)
            target.push_back(1);
        }
        value = g.reshape(value, target);
        shape = target;
        break;
      }
      case 1: { // permute
        llvm::SmallVector<int64_t> perm(shape.size());
        for (size_t i = 0; i < perm.size(); ++i)
          perm[i] = i;
        for (size_t i = perm.size(); i > 1; --i)
          std::swap(perm[i - 1], perm[pick(i)]);
        llvm::SmallVector<int64_t> target;
        for (int64_t axis : perm)
          target.push_back(shape[axis]);
        std::vector<float> moved(count);
        for (int64_t flat = 0; flat < count; ++flat) {
          int64_t rest = flat;
          llvm::SmallVector<int64_t> from(shape.size());
          for (size_t k = target.size(); k-- > 0; rest /= target[k])
            from[perm[k]] = rest % target[k];
          int64_t offset = 0;
          for (size_t k = 0; k < shape.size(); ++k)
            offset = offset * shape[k] + from[k];
          moved[flat] = want[offset];
        }
        value = g.permute(value, perm);
        want = moved;
        shape = target;
        break;
      }
      case 2: { // shrink one axis
        if (shape.empty())
          break;
        int axis = pick(shape.size());
        int64_t begin = pick(shape[axis]);
        int64_t end = begin + 1 + pick(shape[axis] - begin);
        llvm::SmallVector<int64_t> bounds;
        for (int64_t size : shape)
          bounds.append({0, size});
        bounds[2 * axis] = begin;
        bounds[2 * axis + 1] = end;
        int64_t inner = 1;
        for (size_t k = axis + 1; k < shape.size(); ++k)
          inner *= shape[k];
        std::vector<float> kept;
        for (int64_t flat = 0; flat < count; ++flat) {
          int64_t i = flat / inner % shape[axis];
          if (begin <= i && i < end)
            kept.push_back(want[flat]);
        }
        value = g.shrink(value, bounds);
        want = kept;
        shape[axis] = end - begin;
        break;
      }
      case 3: { // a new leading axis of copies
        if (count > 200)
          break;
        llvm::SmallVector<int64_t> target{1};
        target.append(shape.begin(), shape.end());
        value = g.reshape(value, target);
        target[0] = 2;
        value = g.expand(value, target);
        std::vector<float> twice(want);
        twice.insert(twice.end(), want.begin(), want.end());
        want = twice;
        shape = target;
        break;
      }
      }
      ASSERT_TRUE(value);
    }
    ASSERT_EQ(fresh.run(value), want) << "round " << round;
  }
}

TEST_F(Rangeify, SumOfMinusZeroIsZero) {
  buffers[0] = Array{DType::F32, {1}, {fromFloat(-0.0f)}};
  Value x = b->reshape(b->buffer(0, DType::F32, 1), {1, 1});
  std::vector<float> have = run(b->reduce(x, ReduceKind::Add, 1));
  EXPECT_FALSE(std::signbit(have[0]));
}

} // namespace
