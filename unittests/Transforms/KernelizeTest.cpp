//===- KernelizeTest.cpp - plans of well-known programs -------------------===//
//
// How many kernels and bytes the programs that everybody runs come to, what is
// computed twice, and what is stored where. Values by the shaped interpreter.
//
//===----------------------------------------------------------------------===//

#include "Uop/Transforms/Kernelize.h"
#include "Uop/Graph/Composite.h"
#include "Uop/Graph/Interpreter.h"
#include "Uop/Transforms/EvaluatePlan.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace mlir;
using namespace uop;

namespace {

class Kernelize : public testing::Test {
protected:
  Kernelize()
      : handler(&context, [this](Diagnostic &diagnostic) {
          diagnostics += diagnostic.str();
        }) {
    context.loadDialect<UopDialect>();
    module = ModuleOp::create(UnknownLoc::get(&context));
    OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
    program = createProgram(builder, module->getLoc(), "p");
    b.emplace(&program.getBodyBlock());
  }

  /// A view of a new BUFFER, of elements that repeat with period 13.
  Value input(llvm::ArrayRef<int64_t> shape) {
    int64_t size = *getNumElements(shape), slot = inputs.size();
    Array array{DType::F32, {size}, {}};
    for (int64_t i = 0; i < size; ++i)
      array.data.push_back(fromFloat(float((i * 7 + slot) % 13) * 0.25f - 1));
    inputs[slot] = array;
    return b->reshape(b->buffer(slot, DType::F32, size), shape);
  }

  Value scalar(float value, Value like) {
    return full(*b, DType::F32, fromFloat(value), getShape(like.getType()));
  }
  Value sub(Value x, Value y) { return b->add(x, b->mul(y, scalar(-1, y))); }
  Value exp(Value x) {
    return b->get(OpCode::Exp2, b->mul(x, scalar(1.442695f, x)));
  }
  Value recip(Value x) { return b->get(OpCode::Recip, x); }
  /// A reduction over the last axis, repeated along it.
  Value along(Value x, ReduceKind kind) {
    llvm::SmallVector<int64_t> shape(getShape(x.getType())), narrow(shape);
    narrow.back() = 1;
    return b->expand(b->reshape(b->reduce(x, kind, 1), narrow), shape);
  }
  Value softmax(Value x) {
    Value e = exp(sub(x, along(x, ReduceKind::Max)));
    return b->mul(e, recip(along(e, ReduceKind::Add)));
  }

  /// Plans the program of these results and checks what the plan computes.
  PlanOp plan(llvm::ArrayRef<Value> results,
              const KernelizeOptions &options = {}) {
    Value root = results.size() == 1 ? results[0] : b->sink(results);
    finishProgram(program, root);
    FailureOr<ShapedResults> want = evaluateShapedProgram(program, inputs);
    EXPECT_TRUE(succeeded(want)) << diagnostics;
    FailureOr<PlanOp> plan = kernelize(program, options);
    EXPECT_TRUE(succeeded(plan)) << diagnostics;
    if (failed(plan) || failed(want))
      return {};
    EXPECT_TRUE(succeeded(verify(*module))) << diagnostics;
    ArrayMap buffers = inputs;
    FailureOr<std::vector<Array>> got = evaluatePlan(*plan, buffers);
    EXPECT_TRUE(succeeded(got)) << diagnostics;
    if (failed(got))
      return {};
    outputs = std::move(*got);
    EXPECT_EQ(outputs.size(), want->outputs.size());
    for (size_t i = 0; i < outputs.size(); ++i)
      expectNear(outputs[i], want->outputs[i]);
    for (const auto &[slot, array] : want->buffers)
      expectNear(buffers[slot], array);
    return *plan;
  }

  static void expectNear(const Array &got, const Array &want) {
    ASSERT_EQ(got.data.size(), want.data.size());
    for (size_t i = 0; i < want.data.size(); ++i)
      EXPECT_NEAR(toFloat(got.data[i]), toFloat(want.data[i]), 1e-3) << i;
  }

  static int64_t countLaunches(PlanOp plan) {
    return llvm::range_size(plan.getBodyBlock().getOps<LaunchOp>());
  }
  int64_t countKernels() {
    return llvm::range_size(module->getOps<ProgramOp>());
  }
  /// Bytes of all arguments of all launches.
  static int64_t countBytes(PlanOp plan) {
    int64_t bytes = 0;
    for (auto launch : plan.getBodyBlock().getOps<LaunchOp>())
      for (Value memory : launch.getMemory())
        bytes += getByteSize(cast<MemType>(memory.getType()));
    return bytes;
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  std::string diagnostics;
  ScopedDiagnosticHandler handler;
  OwningOpRef<ModuleOp> module;
  ProgramOp program;
  std::optional<UniquingBuilder> b;
  ArrayMap inputs;
  std::vector<Array> outputs;
};

// What tinygrad makes of these: softmax and layer norm are three kernels each,
// and the rows' sums go through memory.
constexpr int64_t rows = 16, columns = 32, matrix = 4 * rows * columns;

TEST_F(Kernelize, SoftmaxIsOneKernel) {
  PlanOp made = plan(softmax(input({rows, columns})));
  EXPECT_EQ(countLaunches(made), 1);
  EXPECT_EQ(countBytes(made), 2 * matrix);
}

TEST_F(Kernelize, LogSoftmaxIsOneKernel) {
  Value x = input({rows, columns});
  Value shifted = sub(x, along(x, ReduceKind::Max));
  Value sum = along(exp(shifted), ReduceKind::Add);
  Value log = b->mul(b->get(OpCode::Log2, sum), scalar(0.6931472f, sum));
  PlanOp made = plan(sub(shifted, log));
  EXPECT_EQ(countLaunches(made), 1);
  EXPECT_EQ(countBytes(made), 2 * matrix);
}

TEST_F(Kernelize, LayerNormIsOneKernel) {
  Value x = input({rows, columns});
  Value ninth = scalar(1.0f / columns, x);
  Value centred = sub(x, b->mul(along(x, ReduceKind::Add), ninth));
  Value variance =
      b->mul(along(b->mul(centred, centred), ReduceKind::Add), ninth);
  Value scale =
      recip(b->get(OpCode::Sqrt, b->add(variance, scalar(1e-5f, variance))));
  Value weight = b->expand(input({1, columns}), {rows, columns});
  Value bias = b->expand(input({1, columns}), {rows, columns});
  PlanOp made = plan(b->add(b->mul(b->mul(centred, scale), weight), bias));
  EXPECT_EQ(countLaunches(made), 1);
  EXPECT_EQ(countBytes(made), 2 * matrix + 2 * 4 * columns);
}

TEST_F(Kernelize, MeanAndVarianceAreOneKernel) {
  Value x = input({rows, columns});
  Value mean = b->reduce(x, ReduceKind::Add, 1);
  mean = b->mul(mean, scalar(1.0f / columns, mean));
  Value centred =
      sub(x, b->expand(b->reshape(mean, {rows, 1}), {rows, columns}));
  Value variance = b->reduce(b->mul(centred, centred), ReduceKind::Add, 1);
  variance = b->mul(variance, scalar(1.0f / columns, variance));
  PlanOp made = plan({mean, variance});
  EXPECT_EQ(countLaunches(made), 1);
  EXPECT_EQ(countBytes(made), matrix + 2 * 4 * rows);
}

TEST_F(Kernelize, AttentionIsThreeKernels) {
  constexpr int64_t heads = 2, length = 8, width = 16;
  Value q = input({heads, length, 1, width}),
        k = input({heads, 1, length, width});
  llvm::SmallVector<int64_t> all{heads, length, length, width};
  Value scores = b->reduce(b->mul(b->expand(q, all), b->expand(k, all)),
                           ReduceKind::Add, 1);
  Value p = softmax(b->mul(scores, scalar(0.25f, scores)));
  Value v = b->permute(input({heads, length, width}), {0, 2, 1});
  llvm::SmallVector<int64_t> wide{heads, length, width, length};
  Value weighted =
      b->mul(b->expand(b->reshape(p, {heads, length, 1, length}), wide),
             b->expand(b->reshape(v, {heads, 1, width, length}), wide));
  PlanOp made = plan(b->reduce(weighted, ReduceKind::Add, 1));
  EXPECT_EQ(countLaunches(made), 3);
  // q, k, v, the result; the scores and the softmax once out and once in.
  EXPECT_EQ(countBytes(made),
            4 * (4 * heads * length * width + 4 * heads * length * length));
}

//===----------------------------------------------------------------------===//
// Cuts
//===----------------------------------------------------------------------===//

TEST_F(Kernelize, ASumOfRowSumsIsNotComputedAgainForEveryRow) {
  Value sums = b->reduce(input({3, 256}), ReduceKind::Add, 1);
  Value total = b->reduce(sums, ReduceKind::Add, 1);
  PlanOp made = plan(b->add(sums, b->expand(b->reshape(total, {1}), {3})));
  EXPECT_EQ(countLaunches(made), 2);
}

TEST_F(Kernelize, AProductIsNotComputedAgain) {
  // Two consumers of a product that disagree about its loops.
  Value a = b->expand(input({8, 1, 64}), {8, 8, 64});
  Value c = b->expand(input({1, 8, 64}), {8, 8, 64});
  Value product = b->reduce(b->mul(a, c), ReduceKind::Add, 1);
  Value rowSums = b->reduce(product, ReduceKind::Add, 1);
  Value columnSums = b->reduce(b->permute(product, {1, 0}), ReduceKind::Add, 1);
  PlanOp made = plan({rowSums, columnSums});
  EXPECT_EQ(countLaunches(made), 2);
}

TEST_F(Kernelize, ALongSumIsTwoKernels) {
  PlanOp made = plan(b->reduce(input({512, 512}), ReduceKind::Add, 2));
  EXPECT_EQ(countLaunches(made), 2);
}

TEST_F(Kernelize, ALongSumInOrderIsOneKernel) {
  KernelizeOptions options;
  options.reassociate = false;
  PlanOp made = plan(b->reduce(input({512, 512}), ReduceKind::Add, 2), options);
  EXPECT_EQ(countLaunches(made), 1);
}

TEST_F(Kernelize, ALongFloatMaximumKeepsItsOrder) {
  PlanOp made = plan(b->reduce(input({512, 512}), ReduceKind::Max, 2));
  EXPECT_EQ(countLaunches(made), 1);
}

TEST_F(Kernelize, DetachVanishesAndStageCuts) {
  Value x = b->get(OpCode::Exp2, input({8}));
  Value detached = b->get(OpCode::Stage, x, {{}, {}, 1});
  EXPECT_EQ(countLaunches(plan(b->add(detached, x))), 1);
}

TEST_F(Kernelize, StageCuts) {
  Value x = b->get(OpCode::Exp2, input({8}));
  EXPECT_EQ(countLaunches(plan(b->add(b->get(OpCode::Stage, x), x))), 2);
}

TEST_F(Kernelize, ResultsWithTheSameLoopsShareAKernel) {
  Value x = input({4, 5}), y = input({4, 5});
  Value e = b->get(OpCode::Exp2, x);
  PlanOp made = plan({e, b->add(e, y), b->mul(y, y), x, e});
  EXPECT_EQ(countLaunches(made), 1);
}

TEST_F(Kernelize, EqualKernelsAreOne) {
  llvm::SmallVector<Value> results;
  for (int i = 0; i < 4; ++i) {
    // Stages keep them apart: each is two launches.
    Value x = b->get(OpCode::Stage, b->get(OpCode::Exp2, input({8})));
    results.push_back(b->get(OpCode::Stage, b->mul(x, x)));
  }
  KernelizeOptions options;
  options.maxParameters = 3;
  PlanOp made = plan(results, options);
  EXPECT_EQ(countLaunches(made), 8);
  EXPECT_EQ(countKernels(), 2);
}

TEST_F(Kernelize, AConstantThatManyKernelsUseIsNotStored) {
  Value x = input({8});
  Value two = scalar(2, x);
  for (int i = 0; i < 100; ++i)
    x = b->get(OpCode::Stage, b->mul(x, two));
  PlanOp made = plan(x);
  EXPECT_EQ(countLaunches(made), 100);
  for (auto launch : made.getBodyBlock().getOps<LaunchOp>())
    EXPECT_EQ(launch.getMemory().size(), 2u);
}

TEST_F(Kernelize, AConstantThatIsAResultIsNotReadBack) {
  Value x = input({2});
  Value one = b->get(OpCode::Stack, b->f32(3));
  Value both = b->expand(one, {2});
  EXPECT_EQ(countLaunches(plan({one, b->mul(x, both)})), 2);
}

TEST_F(Kernelize, AStoreBehindAReductionOfNothingHappens) {
  // What comes after it is computed from no element at all.
  Value x = input({4});
  Value store = b->store(x, b->add(x, scalar(1, x)));
  Value none = b->shrink(b->after(x, store), {1, 1});
  Value nothing = b->reduce(none, ReduceKind::Add, 1);
  PlanOp made = plan({nothing, b->after(x, nothing)});
  EXPECT_EQ(countLaunches(made), 3);
}

TEST_F(Kernelize, AKernelOfTooManyBuffersIsSplit) {
  Value sum = input({16});
  for (int i = 0; i < 99; ++i)
    sum = b->add(sum, input({16}));
  KernelizeOptions options;
  options.maxParameters = 8;
  PlanOp made = plan(sum, options);
  for (auto launch : made.getBodyBlock().getOps<LaunchOp>())
    EXPECT_LE(launch.getMemory().size(), 8u);
  // Seven new buffers in the first, six in each that follows.
  EXPECT_EQ(countLaunches(made), 17);
}

TEST_F(Kernelize, AStackOfManyIsStoredSourceBySource) {
  llvm::SmallVector<Value> sources;
  for (int i = 0; i < 100; ++i)
    sources.push_back(
        b->mul(input({2, 3}),
               scalar(float(i), sources.empty() ? input({2, 3}) : sources[0])));
  Value stack = b->get(OpCode::Stack, sources);
  PlanOp made = plan(stack);
  EXPECT_LE(countLaunches(made), 10);
}

TEST_F(Kernelize, AChainIsCutWhereItGetsTooLongToCompile) {
  Value x = input({16});
  for (int i = 0; i < 5000; ++i)
    x = i % 2 ? b->mul(x, scalar(0.5f, x)) : b->add(x, scalar(1, x));
  PlanOp made = plan(x);
  EXPECT_EQ(countLaunches(made), 13);
  EXPECT_LE(countKernels(), 2);
}

//===----------------------------------------------------------------------===//
// Named values
//===----------------------------------------------------------------------===//

TEST_F(Kernelize, PadsOfOneBufferWithDifferentMasks) {
  Value x = input({4, 3});
  Value one = b->reduce(pad(*b, x, {1, 1, 0, 0}), ReduceKind::Add, 1);
  Value other = b->reduce(b->shrink(pad(*b, x, {1, 2, 0, 0}), {0, 6, 0, 3}),
                          ReduceKind::Add, 1);
  plan({b->add(one, other), one});
  for (size_t i = 0; i < 6; ++i)
    EXPECT_EQ(toFloat(outputs[0].data[i]), 2 * toFloat(outputs[1].data[i]));
}

/// Windows of `size` at every `stride` along `axis`, as a new last axis.
Value windows(UniquingBuilder &b, Value x, int64_t axis, int64_t size,
              int64_t stride) {
  llvm::SmallVector<int64_t> shape(getShape(x.getType()));
  int64_t count = (shape[axis] - size) / stride + 1;
  llvm::SmallVector<Value> slices;
  for (int64_t i = 0; i < count; ++i) {
    llvm::SmallVector<int64_t> bounds;
    for (int64_t extent : shape)
      bounds.append({0, extent});
    bounds[2 * axis] = i * stride;
    bounds[2 * axis + 1] = i * stride + size;
    slices.push_back(b.shrink(x, bounds));
  }
  // (count, ..., size, ...) to (..., count, ..., size)
  Value stack = b.get(OpCode::Stack, slices);
  llvm::SmallVector<int64_t> permutation;
  for (int64_t i = 0; i < static_cast<int64_t>(shape.size()); ++i)
    permutation.push_back(i == axis ? 0 : i + 1);
  permutation.push_back(axis + 1);
  return b.permute(stack, permutation);
}

TEST_F(Kernelize, AveragesOfPaddedOnesAreOnes) {
  // Windows of 8 by 8 at a stride of 5 over (16, 16) padded by 2; what is
  // padded is not counted.
  Value ones = full(*b, DType::F32, fromFloat(1), {16, 16, 16});
  Value x = b->mul(input({16, 16, 16}), full(*b, DType::F32, 0, {16, 16, 16}));
  x = b->add(x, ones);
  auto sums = [&](Value value) {
    Value padded = pad(*b, value, {0, 0, 2, 2, 2, 2});
    Value first = windows(*b, padded, 1, 8, 5);
    Value second = windows(*b, first, 2, 8, 5);
    return b->reduce(second, ReduceKind::Add, 2);
  };
  Value average = b->mul(sums(x), recip(sums(ones)));
  plan(average);
  ASSERT_EQ(outputs[0].data.size(), 16u * 3 * 3);
  for (Word word : outputs[0].data)
    EXPECT_NEAR(toFloat(word), 1, 1e-6);
}

//===----------------------------------------------------------------------===//
// STOREs into inputs
//===----------------------------------------------------------------------===//

TEST_F(Kernelize, AStoreOfWhatItChangesIsDoneInPlace) {
  Value x = input({8});
  PlanOp made = plan(b->sink(b->store(x, b->mul(x, scalar(2, x)))));
  EXPECT_EQ(countLaunches(made), 1);
  EXPECT_EQ(made.getArenaSize(), 0);
}

TEST_F(Kernelize, AStoreOfWhatItChangesElsewhereIsCopiedFirst) {
  Value x = input({8});
  PlanOp made = plan(b->sink(b->store(x, flip(*b, x, 0))));
  EXPECT_EQ(countLaunches(made), 2);
}

TEST_F(Kernelize, ReadersBeforeAndAfterAStoreInAnyOrder) {
  for (int order = 0; order < 6; ++order) {
    SCOPED_TRACE(order);
    module = ModuleOp::create(UnknownLoc::get(&context));
    OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
    program = createProgram(builder, module->getLoc(), "p");
    b.emplace(&program.getBodyBlock());
    inputs.clear();
    Value x = input({8}), y = input({8});
    Value before = b->mul(x, scalar(3, x));
    Value store = b->store(x, b->add(x, y));
    Value after = b->mul(b->after(x, store), scalar(5, x));
    Value third[] = {before, store, after};
    static constexpr int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                         {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    llvm::SmallVector<Value> results;
    for (int i : orders[order])
      results.push_back(third[i]);
    plan(results);
  }
}

TEST_F(Kernelize, OldAndNewContentsInOneValue) {
  Value x = input({8});
  Value store = b->store(x, b->add(x, scalar(1, x)));
  Value after = b->after(x, store);
  PlanOp made = plan(b->add(b->mul(x, scalar(10, x)), after));
  EXPECT_LE(countLaunches(made), 3);
}

TEST_F(Kernelize, StoresInTurnAndPartsOfABuffer) {
  Value x = input({4, 6});
  Value left = b->shrink(x, {0, 4, 0, 3});
  Value first = b->store(left, b->mul(left, scalar(2, left)));
  Value then = b->after(x, first);
  Value right = b->shrink(then, {0, 4, 3, 6});
  Value second =
      b->store(right, b->add(b->shrink(then, {0, 4, 0, 3}), scalar(1, right)));
  Value last = b->after(x, second);
  plan({b->reduce(last, ReduceKind::Add, 1), b->permute(then, {1, 0}), x});
}

TEST_F(Kernelize, ACycleThroughABufferIsAnError) {
  Value x = input({8});
  Value first = b->store(x, scalar(1, x)), second = b->store(x, scalar(2, x));
  Value root = b->sink({first, b->get(OpCode::Exp2, b->after(x, second))});
  finishProgram(program, root);
  EXPECT_TRUE(failed(kernelize(program)));
  EXPECT_NE(diagnostics.find("a cycle through BUFFER slot 0"),
            std::string::npos)
      << diagnostics;
}

} // namespace
