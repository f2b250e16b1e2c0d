//===- InterpreterTest.cpp - both interpreters against hand-made values ---===//
//
// Every op of the shaped interpreter, loops and memory of the linear one, and
// the errors of both.
//
//===----------------------------------------------------------------------===//

#include "Uop/Graph/Interpreter.h"
#include "Uop/Graph/UniquingBuilder.h"
#include "Uop/Graph/Walk.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace mlir;
using namespace uop;

namespace {

constexpr int32_t intMin = std::numeric_limits<int32_t>::min();
constexpr float inf = std::numeric_limits<float>::infinity();

Array ints(std::vector<int32_t> values) {
  Array array{DType::I32, {static_cast<int64_t>(values.size())}, {}};
  array.data.assign(values.begin(), values.end());
  return array;
}

Array floats(std::vector<float> values, DType dtype = DType::F32) {
  Array array{dtype, {static_cast<int64_t>(values.size())}, {}};
  for (float value : values)
    array.data.push_back(fromFloat(value));
  return array;
}

std::vector<int32_t> asInts(const Array &array) {
  return {array.data.begin(), array.data.end()};
}

std::vector<float> asFloats(const Array &array) {
  std::vector<float> values;
  for (Word word : array.data)
    values.push_back(toFloat(word));
  return values;
}

std::vector<float> iota(int count, float first = 0) {
  std::vector<float> values;
  for (int i = 0; i < count; ++i)
    values.push_back(first + i);
  return values;
}

/// A program under construction, its buffers, and the last error.
class InterpreterTest : public testing::Test {
protected:
  InterpreterTest()
      : handler(&context, [this](Diagnostic &d) { message = d.str(); }) {
    context.loadDialect<UopDialect>();
    OpBuilder ops(&context);
    Location loc = UnknownLoc::get(&context);
    module = ModuleOp::create(loc);
    ops.setInsertionPointToEnd(module->getBody());
    program = createProgram(ops, loc, "test");
    builder = std::make_unique<UniquingBuilder>(&program.getBodyBlock());
  }

  Value get(OpCode code, ValueRange sources, const Arg &arg = {}) {
    return builder->get(code, sources, arg);
  }
  Value view(int64_t slot, DType dtype, llvm::ArrayRef<int64_t> shape) {
    return builder->reshape(
        builder->buffer(slot, dtype, *getNumElements(shape)), shape);
  }
  Value fill(Value scalar, llvm::ArrayRef<int64_t> shape) {
    llvm::SmallVector<int64_t> ones(shape.size(), 1);
    return builder->expand(builder->reshape(scalar, ones), shape);
  }
  Array shaped(Value root) {
    FailureOr<Array> result = evaluateShaped(root, buffers);
    EXPECT_TRUE(succeeded(result)) << message;
    return succeeded(result) ? *result : Array();
  }
  /// The error that evaluation of `root` ends with.
  std::string shapedError(Value root) {
    message.clear();
    EXPECT_TRUE(failed(evaluateShaped(root, buffers)));
    return message;
  }
  /// Runs every op so far in the order in which it was built.
  LogicalResult linear() {
    message.clear();
    std::vector<Operation *> schedule;
    for (Operation &op : program.getBodyBlock())
      schedule.push_back(&op);
    return evaluateLinear(schedule, buffers);
  }

  MLIRContext context;
  std::string message;
  ScopedDiagnosticHandler handler;
  OwningOpRef<ModuleOp> module;
  ProgramOp program;
  std::unique_ptr<UniquingBuilder> builder;
  ArrayMap buffers;
};

TEST_F(InterpreterTest, Elementwise) {
  buffers[0] = floats({1, -2, 0.5f, -0.0f});
  buffers[1] = floats({4, 4, NAN, 0.0f});
  Value a = view(0, DType::F32, {2, 2}), b = view(1, DType::F32, {2, 2});
  Array sum = shaped(builder->add(a, b));
  EXPECT_EQ(sum.shape, (llvm::SmallVector<int64_t>{2, 2}));
  EXPECT_EQ(toFloat(sum.data[0]), 5);
  EXPECT_EQ(toFloat(sum.data[1]), 2);
  EXPECT_TRUE(std::isnan(toFloat(sum.data[2])));
  // max(0.5, nan) is nan, max(-0.0, 0.0) the second.
  Array max = shaped(get(OpCode::Max, {a, b}));
  EXPECT_EQ(toFloat(max.data[1]), 4);
  EXPECT_TRUE(std::isnan(toFloat(max.data[2])));
  EXPECT_FALSE(std::signbit(toFloat(max.data[3])));
  Array max2 = shaped(get(OpCode::Max, {b, a}));
  EXPECT_EQ(toFloat(max2.data[2]), 0.5f);
  EXPECT_TRUE(std::signbit(toFloat(max2.data[3])));
  EXPECT_EQ(shaped(get(OpCode::CmpLt, {a, b})).data,
            (std::vector<Word>{1, 1, 0, 0}));
  EXPECT_EQ(shaped(get(OpCode::CmpNe, {a, b})).data,
            (std::vector<Word>{1, 1, 1, 0}));
  Value condition = get(OpCode::CmpLt, {a, b});
  EXPECT_EQ(asFloats(shaped(
                builder->where(condition, a, fill(builder->f32(9), {2, 2})))),
            (std::vector<float>{1, -2, 9, 9}));
  EXPECT_EQ(asFloats(shaped(get(OpCode::Recip, a))),
            (std::vector<float>{1, -0.5f, 2, -inf}));
}

TEST_F(InterpreterTest, Integers) {
  buffers[0] = ints({-7, 7, intMin, 5, intMin});
  buffers[1] = ints({2, -2, -1, 0, intMin});
  Value a = view(0, DType::I32, {5}), b = view(1, DType::I32, {5});
  EXPECT_EQ(asInts(shaped(get(OpCode::FloorDiv, {a, b}))),
            (std::vector<int32_t>{-4, -4, intMin, 0, 1}));
  EXPECT_EQ(asInts(shaped(get(OpCode::FloorMod, {a, b}))),
            (std::vector<int32_t>{1, -1, 0, 0, 0}));
  EXPECT_EQ(asInts(shaped(builder->add(a, b))),
            (std::vector<int32_t>{-5, 5, 2147483647, 5, 0}));
}

TEST_F(InterpreterTest, HalfRounds) {
  buffers[0] = floats({2048, 65504, 1}, DType::F16);
  Value a = view(0, DType::F16, {3});
  Value one = builder->constant(DType::F16, fromFloat(1));
  EXPECT_EQ(asFloats(shaped(builder->add(a, fill(one, {3})))),
            (std::vector<float>{2048, 65504, 2}));
  EXPECT_EQ(asFloats(shaped(builder->mul(a, a))),
            (std::vector<float>{inf, inf, 1}));
  Value wide =
      builder->mul(builder->cast(a, DType::F32), builder->cast(a, DType::F32));
  EXPECT_EQ(toFloat(shaped(wide).data[0]), 4194304);
}

TEST_F(InterpreterTest, MovementAgainstLoops) {
  buffers[0] = floats(iota(60));
  Value a = view(0, DType::F32, {3, 4, 5});
  Value moved = builder->permute(a, {2, 0, 1});       // 5 3 4
  moved = builder->shrink(moved, {1, 4, 0, 2, 2, 4}); // 3 2 2
  moved = builder->reshape(moved, {3, 1, 4});         // 3 1 4
  moved = builder->expand(moved, {3, 2, 4});
  Array result = shaped(moved);
  ASSERT_EQ(result.data.size(), 24u);
  unsigned at = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 2; ++j)
      for (int k = 0; k < 4; ++k) {
        int axis0 = k / 2, axis1 = k % 2 + 2, axis2 = i + 1;
        EXPECT_EQ(toFloat(result.data[at++]), axis0 * 20 + axis1 * 5 + axis2);
      }
}

TEST_F(InterpreterTest, MatrixProduct) {
  constexpr int m = 3, n = 4, k = 5;
  buffers[0] = floats(iota(m * k, -3));
  buffers[1] = floats(iota(k * n, 1));
  Value a = builder->expand(view(0, DType::F32, {m, 1, k}), {m, n, k});
  Value b = builder->permute(view(1, DType::F32, {k, n}), {1, 0});
  b = builder->expand(builder->reshape(b, {1, n, k}), {m, n, k});
  Array result =
      shaped(builder->reduce(builder->mul(a, b), ReduceKind::Add, 1));
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int l = 0; l < k; ++l)
        sum += (i * k + l - 3) * float(l * n + j + 1);
      EXPECT_EQ(toFloat(result.data[i * n + j]), sum);
    }
}

TEST_F(InterpreterTest, Reduce) {
  buffers[0] = floats({1e8f, 1, -1e8f, 1, NAN, 3});
  Value a = view(0, DType::F32, {1, 2, 3});
  EXPECT_EQ(shaped(builder->reduce(a, ReduceKind::Add, 0)).data,
            buffers[0].data);
  // Left to right: (1e8 + 1) - 1e8 is 0 in f32.
  EXPECT_EQ(toFloat(shaped(builder->reduce(a, ReduceKind::Add, 1)).data[0]), 0);
  Array max = shaped(builder->reduce(a, ReduceKind::Max, 2));
  EXPECT_EQ(max.shape, (llvm::SmallVector<int64_t>{1}));
  EXPECT_EQ(asFloats(max), (std::vector<float>{3})); // nan > 3 ? nan : 3
  buffers[1] = Array{DType::Bool, {4}, {0, 1, 0, 0}};
  Value bools = view(1, DType::Bool, {2, 2});
  EXPECT_EQ(shaped(builder->reduce(bools, ReduceKind::Add, 1)).data,
            (std::vector<Word>{1, 0}));
}

TEST_F(InterpreterTest, Nothing) {
  buffers[0] = ints({});
  Value a = view(0, DType::I32, {2, 0});
  EXPECT_TRUE(shaped(builder->add(a, a)).data.empty());
  EXPECT_EQ(asInts(shaped(builder->reduce(a, ReduceKind::Max, 1))),
            (std::vector<int32_t>{intMin, intMin}));
  EXPECT_EQ(asInts(shaped(builder->reduce(a, ReduceKind::Add, 2))),
            (std::vector<int32_t>{0}));
  Value narrow = builder->expand(fill(builder->i32(1), {1, 3}), {0, 3});
  EXPECT_TRUE(shaped(narrow).data.empty());
  Value huge = builder->reshape(a, {int64_t(1) << 40, 0, int64_t(1) << 40});
  EXPECT_TRUE(shaped(builder->permute(huge, {2, 1, 0})).data.empty());
}

TEST_F(InterpreterTest, StackAndIndex) {
  buffers[0] = ints({1, 2, 3, 4, 5, 6});
  Value a = view(0, DType::I32, {2, 3});
  Value stack = get(OpCode::Stack, {a, builder->add(a, a)});
  Array result = shaped(stack);
  EXPECT_EQ(result.shape, (llvm::SmallVector<int64_t>{2, 2, 3}));
  EXPECT_EQ(asInts(result),
            (std::vector<int32_t>{1, 2, 3, 4, 5, 6, 2, 4, 6, 8, 10, 12}));
  Value one = builder->i32(1);
  EXPECT_EQ(asInts(shaped(builder->index(stack, {one, one}))),
            (std::vector<int32_t>{8, 10, 12}));
  // An index read from memory: a[a[0][0]][a[0][1]].
  Value dynamic =
      builder->index(a, {builder->index(a, {builder->i32(0), builder->i32(0)}),
                         builder->index(a, {builder->i32(0), one})});
  EXPECT_EQ(asInts(shaped(dynamic)), (std::vector<int32_t>{6}));
  EXPECT_EQ(asInts(shaped(get(OpCode::Stage, stack))), asInts(result));
}

TEST_F(InterpreterTest, GatedLoad) {
  buffers[0] = ints({10, 20, 30});
  buffers[1] = Array{DType::Bool, {3}, {1, 0, 1}};
  Value a = view(0, DType::I32, {3});
  EXPECT_EQ(asInts(shaped(get(OpCode::Load, {a, view(1, DType::Bool, {3}),
                                             fill(builder->i32(-1), {3})}))),
            (std::vector<int32_t>{10, -1, 30}));
  // An address outside is no error while the gate is false.
  Value outside = builder->index(a, {builder->i32(3)});
  Value alternative = builder->i32(7);
  EXPECT_EQ(asInts(shaped(get(OpCode::Load, {outside, builder->boolean(false),
                                             alternative}))),
            (std::vector<int32_t>{7}));
  EXPECT_EQ(shapedError(get(OpCode::Load,
                            {outside, builder->boolean(true), alternative})),
            "LOAD reads out of bounds: index 3 of axis 0 of shape (3,)");
  EXPECT_EQ(shapedError(builder->add(outside, alternative)),
            "ADD reads out of bounds: index 3 of axis 0 of shape (3,)");
  EXPECT_EQ(shapedError(outside),
            "INDEX reads out of bounds: index 3 of axis 0 of shape (3,)");
}

TEST_F(InterpreterTest, Calls) {
  Type i32 = getScalarType(&context, DType::I32);
  Value p0 = builder->param(0, i32);
  Arg name;
  name.attr = StringAttr::get(&context, "f");
  Value square = builder->mul(p0, p0);
  // The inner body's PARAM 0 is its own.
  Value inner =
      get(OpCode::Call, {square, builder->add(p0, builder->i32(1))}, name);
  Value outer =
      get(OpCode::Call, {builder->add(inner, p0), builder->i32(6)}, name);
  EXPECT_EQ(asInts(shaped(outer)), (std::vector<int32_t>{55}));
  EXPECT_EQ(shapedError(square), "PARAM 0 outside a CALL");
}

TEST_F(InterpreterTest, ShapedErrors) {
  Value a = view(0, DType::F32, {2, 2});
  EXPECT_EQ(shapedError(a), "BUFFER 0 is missing");
  buffers[0] = floats({1, 2, 3});
  EXPECT_EQ(shapedError(a), "BUFFER 0 is f32(4,), got f32(3,)");
  buffers[0] = ints({1, 2, 3, 4});
  EXPECT_EQ(shapedError(a), "BUFFER 0 is f32(4,), got i32(4,)");
  buffers[0] = floats({1, 2, 3, 4});
  EXPECT_EQ(shapedError(
                builder->index(get(OpCode::Stack, {a, a}), {builder->i32(-1)})),
            "INDEX out of bounds: index -1 of axis 0 of shape (2, 2, 2)");
  EXPECT_EQ(shapedError(fill(builder->f32(1), {1 << 20, 1 << 9})),
            "EXPAND of shape (1048576, 512) has too many elements to evaluate");
  Value range = builder->range(builder->i32(3), 0);
  EXPECT_EQ(shapedError(range), "RANGE has no value in a shaped program");
  Value alloc = builder->alloc(0, DType::F32, 1);
  EXPECT_EQ(shapedError(alloc), "ALLOC has no value in a shaped program");
  EXPECT_EQ(shapedError(builder->sink({})),
            "SINK has no value in a shaped program");
}

TEST_F(InterpreterTest, DeepChain) {
  Value value = builder->i32(0);
  Value one = builder->i32(1);
  for (int i = 0; i < 200000; ++i)
    value = builder->add(value, one);
  EXPECT_EQ(asInts(shaped(value)), (std::vector<int32_t>{200000}));
}

/// A row sum written as loops: out[i] = sum over j of in[i*4+j].
TEST_F(InterpreterTest, LinearRowSum) {
  buffers[0] = floats(iota(12));
  buffers[1] = floats({0, 0, 0});
  Value in = builder->buffer(0, DType::F32, 12);
  Value out = builder->buffer(1, DType::F32, 3);
  Value i = builder->range(builder->i32(3), 0);
  Value acc = builder->alloc(0, DType::F32, 1);
  Value zero = builder->i32(0);
  Value init = builder->store(builder->index(builder->after(acc, {i}), {zero}),
                              builder->f32(0));
  Value j = builder->range(builder->i32(4), 1, AxisKind::Reduce);
  Value now = builder->index(builder->after(acc, {init, j}), {zero});
  Value at = builder->add(builder->mul(i, builder->i32(4)), j);
  Value sum =
      builder->add(builder->load(now), builder->load(builder->index(in, {at})));
  Value done = builder->end(builder->store(now, sum), {j});
  Value last =
      builder->load(builder->index(builder->after(acc, {done}), {zero}));
  Value end = builder->end(builder->store(builder->index(out, {i}), last), {i});
  builder->sink({end});
  ASSERT_TRUE(succeeded(linear())) << message;
  EXPECT_EQ(asFloats(buffers[1]), (std::vector<float>{6, 22, 38}));
}

TEST_F(InterpreterTest, LinearMemory) {
  buffers[0] = ints({2, 0, 1});
  buffers[1] = ints({0, 0, 0});
  Value in = builder->buffer(0, DType::I32, 3);
  Value out = builder->buffer(1, DType::I32, 3);
  Value i = builder->range(builder->i32(3), 0);
  Value j = builder->range(builder->i32(0), 1); // runs no times
  Value never =
      builder->end(builder->store(builder->index(out, {builder->add(i, j)}),
                                  builder->i32(100)),
                   {j});
  // An implicit read as an index and as an operand; a gate that keeps out.
  Value element = builder->index(in, {builder->index(in, {i})});
  Value next = builder->add(i, builder->i32(1));
  Value gate = get(OpCode::CmpLt, {next, builder->i32(3)});
  Value loaded =
      get(OpCode::Load, {builder->index(in, {next}), gate, builder->i32(-5)});
  Value value = builder->add(builder->mul(element, builder->i32(10)), loaded);
  Value store = builder->store(builder->index(out, {i}), value);
  builder->sink({never, builder->end(store, {i})});
  ASSERT_TRUE(succeeded(linear())) << message;
  EXPECT_EQ(asInts(buffers[1]), (std::vector<int32_t>{10, 21, -5}));
}

TEST_F(InterpreterTest, LinearUninitialisedMemoryShows) {
  buffers[0] = floats({0});
  Value out = builder->buffer(0, DType::F32, 1);
  Value zero = builder->i32(0);
  Value acc = builder->alloc(0, DType::F32, 2);
  builder->store(builder->index(out, {zero}),
                 builder->load(builder->index(acc, {zero})));
  ASSERT_TRUE(succeeded(linear())) << message;
  EXPECT_TRUE(std::isnan(toFloat(buffers[0].data[0])));
}

TEST_F(InterpreterTest, LinearOutOfBounds) {
  buffers[3] = ints({1, 2, 3, 4});
  Value in = builder->buffer(3, DType::I32, 4);
  Value i = builder->range(builder->i32(5), 0);
  Value alloc = builder->alloc(7, DType::I32, 8);
  Value store = builder->store(builder->index(alloc, {i}),
                               builder->load(builder->index(in, {i})));
  builder->end(store, {i});
  EXPECT_TRUE(failed(linear()));
  EXPECT_EQ(message,
            "LOAD reads BUFFER 3 out of bounds: index 4 of 4 elements");
}

TEST_F(InterpreterTest, LinearNegativeStore) {
  Value alloc = builder->alloc(7, DType::I32, 8);
  builder->store(builder->index(alloc, {builder->i32(-1)}), builder->i32(0));
  EXPECT_TRUE(failed(linear()));
  EXPECT_EQ(message,
            "STORE writes ALLOC 7 out of bounds: index -1 of 8 elements");
}

TEST_F(InterpreterTest, LinearOpenLoop) {
  builder->range(builder->i32(3), 4);
  EXPECT_TRUE(failed(linear()));
  EXPECT_EQ(message, "RANGE 4 is never closed");
}

TEST_F(InterpreterTest, LinearCrossedLoops) {
  Value alloc = builder->alloc(0, DType::I32, 1);
  Value i = builder->range(builder->i32(3), 0);
  Value store = builder->store(builder->index(alloc, {builder->i32(0)}), i);
  builder->range(builder->i32(3), 1);
  builder->end(store, {i});
  EXPECT_TRUE(failed(linear()));
  EXPECT_EQ(message, "END does not nest: loop 1 is open inside");
}

TEST_F(InterpreterTest, LinearRefusesShapes) {
  buffers[0] = floats({1, 2});
  Value a = builder->buffer(0, DType::F32, 2);
  builder->add(a, a);
  EXPECT_TRUE(failed(linear()));
  EXPECT_EQ(message, "ADD of shape (2,) in a linear program (rangeify it)");
}

TEST_F(InterpreterTest, LinearRefusesBarrier) {
  Value alloc = builder->alloc(0, DType::I32, 1);
  get(OpCode::Barrier, builder->store(builder->index(alloc, {builder->i32(0)}),
                                      builder->i32(0)));
  EXPECT_TRUE(failed(linear()));
  EXPECT_EQ(message, "BARRIER has no meaning in a linear program");
}

TEST_F(InterpreterTest, ManyTurns) {
  constexpr int count = 2000000;
  buffers[0] = ints({0});
  Value acc = builder->buffer(0, DType::I32, 1);
  Value pointer = builder->index(acc, {builder->i32(0)});
  Value i = builder->range(builder->i32(count), 0);
  Value value = builder->load(pointer);
  for (int k = 0; k < 8; ++k)
    value = builder->add(value, k % 2 ? i : builder->i32(k));
  builder->end(builder->store(pointer, value), {i});
  ASSERT_TRUE(succeeded(linear())) << message;
  uint32_t want = 0;
  for (int n = 0; n < count; ++n)
    want += 12 + 4 * uint32_t(n);
  EXPECT_EQ(buffers[0].data[0], want);
}

} // namespace
