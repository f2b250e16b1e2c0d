//===- PlanTest.cpp - compiled plans of kernels ---------------------------===//
//
// Plans written by hand, against numbers that the tests compute themselves.
//
//===----------------------------------------------------------------------===//

#include "Uop/Runtime/Plan.h"

#include "Sandbox.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/Program.h"

#include <cmath>
#include <numeric>
#include <thread>

using namespace uop;
using namespace uop::runtime;

namespace {

/// The softmax of a (3, 4) matrix in slot 2.
constexpr const char *softmax = R"(
uop.program @r_3 {
  %0 = uop.buffer 0 : !uop.mem<12xf32, global>
  %1 = uop.reshape %0 [3, 4] : !uop.mem<12xf32, global>
  %2 = uop.reduce max 1 %1 : !uop.mem<3x4xf32, global>
  uop.yield %2 : tensor<3xf32>
}
uop.program @r_3n1 {
  %0 = uop.buffer 0 : !uop.mem<12xf32, global>
  %1 = uop.reshape %0 [3, 4] : !uop.mem<12xf32, global>
  %2 = uop.buffer 1 : !uop.mem<3xf32, global>
  %3 = uop.reshape %2 [3, 1] : !uop.mem<3xf32, global>
  %4 = uop.expand %3 [3, 4] : !uop.mem<3x1xf32, global>
  %5 = uop.const -1.0 : f32
  %6 = uop.reshape %5 [1, 1] : f32
  %7 = uop.expand %6 [3, 4] : tensor<1x1xf32>
  %8 = uop.mul %4, %7 : !uop.mem<3x4xf32, global>, tensor<3x4xf32>
  %9 = uop.add %1, %8 : !uop.mem<3x4xf32, global>, tensor<3x4xf32>
  %10 = uop.exp2 %9 : tensor<3x4xf32>
  %11 = uop.reduce add 1 %10 : tensor<3x4xf32>
  uop.yield %11 : tensor<3xf32>
}
uop.program @e_3_4 {
  %0 = uop.buffer 0 : !uop.mem<12xf32, global>
  %1 = uop.reshape %0 [3, 4] : !uop.mem<12xf32, global>
  %2 = uop.buffer 1 : !uop.mem<3xf32, global>
  %3 = uop.reshape %2 [3, 1] : !uop.mem<3xf32, global>
  %4 = uop.expand %3 [3, 4] : !uop.mem<3x1xf32, global>
  %5 = uop.const -1.0 : f32
  %6 = uop.reshape %5 [1, 1] : f32
  %7 = uop.expand %6 [3, 4] : tensor<1x1xf32>
  %8 = uop.mul %4, %7 : !uop.mem<3x4xf32, global>, tensor<3x4xf32>
  %9 = uop.add %1, %8 : !uop.mem<3x4xf32, global>, tensor<3x4xf32>
  %10 = uop.exp2 %9 : tensor<3x4xf32>
  %11 = uop.buffer 2 : !uop.mem<3xf32, global>
  %12 = uop.reshape %11 [3, 1] : !uop.mem<3xf32, global>
  %13 = uop.expand %12 [3, 4] : !uop.mem<3x1xf32, global>
  %14 = uop.recip %13 : !uop.mem<3x4xf32, global>
  %15 = uop.mul %10, %14 : tensor<3x4xf32>, tensor<3x4xf32>
  uop.yield %15 : tensor<3x4xf32>
}
uop.plan @softmax arena 76 {
  %in2 = uop.input 2 : !uop.mem<12xf32, global>
  %tmp0 = uop.temp 0 at 0 : !uop.mem<3xf32, global>
  %tmp1 = uop.temp 1 at 64 : !uop.mem<3xf32, global>
  %out0 = uop.output 0 : !uop.mem<3x4xf32, global>
  uop.launch @r_3(%in2, %tmp0)
      : !uop.mem<12xf32, global>, !uop.mem<3xf32, global>
  uop.launch @r_3n1(%in2, %tmp0, %tmp1)
      : !uop.mem<12xf32, global>, !uop.mem<3xf32, global>,
        !uop.mem<3xf32, global>
  uop.launch @e_3_4(%in2, %tmp0, %tmp1, %out0)
      : !uop.mem<12xf32, global>, !uop.mem<3xf32, global>,
        !uop.mem<3xf32, global>, !uop.mem<3x4xf32, global>
}
)";

void expectSoftmax(const float *in, const float *out) {
  for (int row = 0; row < 3; ++row) {
    double sum = 0;
    for (int i = 0; i < 4; ++i)
      sum += std::exp2(double(in[row * 4 + i]));
    for (int i = 0; i < 4; ++i)
      EXPECT_NEAR(out[row * 4 + i], std::exp2(double(in[row * 4 + i])) / sum,
                  1e-6);
  }
}

class PlanTest : public Sandbox {
protected:
  PlanTest() { context.loadDialect<UopDialect>(); }

  PlanOp parse(llvm::StringRef text) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    auto plans = module->getOps<PlanOp>();
    return plans.empty() ? PlanOp() : *plans.begin();
  }
  Plan compiled(PlanOp plan, const CompileOptions &options = {}) {
    return llvm::cantFail(Plan::compile(plan, options));
  }
  static std::string interpret(PlanOp plan,
                               llvm::ArrayRef<Argument> arguments) {
    auto lowered = InterpretedPlan::get(plan);
    return message(lowered ? lowered->run(arguments) : lowered.takeError());
  }
  static Argument input(int64_t slot, std::vector<float> &data) {
    return {Role::Input, slot, data.data(), DType::F32, int64_t(data.size())};
  }
  static Argument output(int64_t number, std::vector<float> &data) {
    return {Role::Output, number, data.data(), DType::F32,
            int64_t(data.size())};
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

TEST_F(PlanTest, RunsOnTheCallersMemory) {
  PlanOp op = parse(softmax);
  std::string before, after;
  llvm::raw_string_ostream(before) << *module;
  Plan plan = compiled(op);
  llvm::raw_string_ostream(after) << *module;
  EXPECT_EQ(before, after);
  module = nullptr; // the plan needs it no more

  std::vector<float> in(12), out(12);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 12; ++i)
      in[i] = float(i * (round + 1) % 7);
    EXPECT_EQ(message(plan.run({output(0, out), input(2, in)})), "");
    expectSoftmax(in.data(), out.data());
  }
}

TEST_F(PlanTest, SaysWhatItTakesAndDoes) {
  Plan plan = compiled(parse(softmax));
  ASSERT_EQ(plan.params().size(), 2u);
  EXPECT_EQ(plan.params()[0].getName(), "input 2");
  EXPECT_FALSE(plan.params()[0].written);
  EXPECT_EQ(plan.params()[1].getName(), "output 0");
  EXPECT_EQ(plan.params()[1].shape, llvm::SmallVector<int64_t>({3, 4}));
  EXPECT_EQ(plan.getArenaSize(), 76u);
  EXPECT_EQ(plan.launches(), llvm::ArrayRef<unsigned>({0, 1, 2}));
  ASSERT_EQ(plan.kernels().size(), 3u);
  const KernelSource &sum = plan.kernels()[1].source;
  EXPECT_EQ(sum.name, "r_3n1");
  EXPECT_EQ(sum.flops, 3 + 3 * 12); // a mul per row, then add, exp2, add
  EXPECT_EQ(sum.bytes, 4 * (12 + 3 + 3));
  EXPECT_EQ(sum.steps, 39 + 12 + 3 + 3);
  expectContains(sum.text, "void r_3n1(float* restrict data0");
}

TEST_F(PlanTest, WrongArgumentsAreErrorsBeforeAnythingRuns) {
  Plan plan = compiled(parse(softmax));
  std::vector<float> in(12, 1), out(12, -7), more(13, -7);
  auto fails = [&](std::vector<Argument> arguments, const char *expected) {
    EXPECT_EQ(message(plan.run(arguments)), expected);
    EXPECT_EQ(out, std::vector<float>(12, -7));
    EXPECT_EQ(in, std::vector<float>(12, 1));
  };
  Argument good = input(2, in), result = output(0, out), bad;
  fails({good}, "plan 'softmax' takes 2 arguments, got 1");
  fails({good, result, result}, "plan 'softmax' takes 2 arguments, got 3");
  fails({good, good}, "input 2 is given twice");
  fails({input(1, in), result}, "plan 'softmax' takes no input 1");
  fails({result, output(7, out)}, "plan 'softmax' takes no output 7");
  fails({good, output(0, more)}, "output 0 takes f32 (12,), got f32 (13,)");
  bad = good;
  bad.dtype = DType::I32;
  fails({bad, result}, "input 2 takes f32 (12,), got i32 (12,)");
  bad = result;
  bad.data = nullptr;
  fails({good, bad}, "output 0 is null");
  bad.data = reinterpret_cast<char *>(more.data()) + 2;
  fails({good, bad},
        "output 0 is misaligned: its address is no multiple of 4");
  bad = result;
  bad.data = in.data();
  fails({good, bad}, "the buffers of input 2 and output 0 overlap, and output 0 "
                     "is written: give each its own memory");
}

TEST_F(PlanTest, TakesBuffers) {
  Plan plan = compiled(parse(softmax));
  Buffer in = llvm::cantFail(Buffer::allocate(48));
  Buffer out = llvm::cantFail(Buffer::allocate(48));
  Buffer tooLarge = llvm::cantFail(Buffer::allocate(49));
  float *values = static_cast<float *>(in.data());
  std::iota(values, values + 12, 0.0f);
  EXPECT_EQ(message(plan.run({&in, &out})), "");
  expectSoftmax(values, static_cast<float *>(out.data()));
  EXPECT_EQ(message(plan.run({&in})), "the plan takes 2 buffers, got 1");
  EXPECT_EQ(message(plan.run({&tooLarge, &out})),
            "input 2 takes 48 bytes, got 49");
}

TEST_F(PlanTest, RunsFromSeveralThreadsAtOnce) {
  Plan plan = compiled(parse(softmax));
  auto work = [&](int seed) {
    std::vector<float> in(12), out(12);
    for (int round = 0; round < 2000; ++round) {
      for (int i = 0; i < 12; ++i)
        in[i] = float((i * seed + round) % 11);
      ASSERT_EQ(message(plan.run({input(2, in), output(0, out)})), "");
      expectSoftmax(in.data(), out.data());
    }
  };
  std::vector<std::thread> threads;
  for (int seed = 1; seed <= 4; ++seed)
    threads.emplace_back(work, seed);
  for (std::thread &thread : threads)
    thread.join();
}

/// Adds 1 to slot 0 in place, then stores it doubled.
constexpr const char *inPlace = R"(
uop.program @bump {
  %b = uop.buffer 0 : !uop.mem<8xi32, global>
  %n = uop.const 8 : i32
  %i = uop.range 0 loop %n : i32
  %p = uop.index %b, %i : !uop.mem<8xi32, global>, i32
  %v = uop.load %p : !uop.mem<i32, global>
  %one = uop.const 1 : i32
  %w = uop.add %v, %one : i32
  %s = uop.store %p, %w : !uop.mem<i32, global>, i32
  %e = uop.end %s, %i : !uop.void, i32
  %k = uop.sink %e : !uop.void
  uop.yield %k : !uop.void
}
uop.program @twice {
  %b = uop.buffer 0 : !uop.mem<8xi32, global>
  %v = uop.add %b, %b : !uop.mem<8xi32, global>
  uop.yield %v : tensor<8xi32>
}
uop.plan @step arena 0 {
  %x = uop.input 0 : !uop.mem<8xi32, global>
  %y = uop.input 1 : !uop.mem<8xi32, global>
  %o = uop.output 0 : !uop.mem<2x8xi32, global>
  %o0 = uop.slice %o from 0 : !uop.mem<2x8xi32, global> to !uop.mem<8xi32, global>
  %o1 = uop.slice %o from 8 : !uop.mem<2x8xi32, global> to !uop.mem<8xi32, global>
  uop.launch @bump(%x) : !uop.mem<8xi32, global>
  uop.launch @twice(%x, %o0) : !uop.mem<8xi32, global>, !uop.mem<8xi32, global>
  uop.launch @twice(%y, %o1) : !uop.mem<8xi32, global>, !uop.mem<8xi32, global>
}
)";

TEST_F(PlanTest, ChangesInputsInPlaceAndFillsSlices) {
  PlanOp op = parse(inPlace);
  Plan plan = compiled(op);
  EXPECT_TRUE(plan.params()[0].written);
  EXPECT_FALSE(plan.params()[1].written);
  EXPECT_EQ(plan.kernels().size(), 2u);
  EXPECT_EQ(plan.launches(), llvm::ArrayRef<unsigned>({0, 1, 1}));
  for (bool compiledPlan : {true, false}) {
    std::vector<int32_t> x = {0, 1, 2, 3, 4, 5, 6, 7}, y(8, 21), out(16);
    Argument arguments[] = {{Role::Input, 0, x.data(), DType::I32, 8},
                            {Role::Input, 1, y.data(), DType::I32, 8},
                            {Role::Output, 0, out.data(), DType::I32, 16}};
    EXPECT_EQ(compiledPlan ? message(plan.run(arguments))
                           : interpret(op, arguments),
              "");
    for (int i = 0; i < 8; ++i) {
      EXPECT_EQ(x[i], i + 1);
      EXPECT_EQ(y[i], 21);
      EXPECT_EQ(out[i], 2 * (i + 1));
      EXPECT_EQ(out[8 + i], 42);
    }
    // An input that changes may not be another input at the same time.
    arguments[1].data = x.data() + 7;
    std::vector<int32_t> saved = x;
    EXPECT_EQ(compiledPlan ? message(plan.run(arguments))
                           : interpret(op, arguments),
              "the buffers of input 0 and input 1 overlap, and input 0 is "
              "written: give each its own memory");
    EXPECT_EQ(x, saved);
  }
}

TEST_F(PlanTest, MeasuresAWarmRunOfWhatCanRunTwice) {
  Plan plan = compiled(parse(inPlace));
  std::vector<int32_t> x(8), y(8), out(16);
  Argument arguments[] = {{Role::Input, 0, x.data(), DType::I32, 8},
                          {Role::Input, 1, y.data(), DType::I32, 8},
                          {Role::Output, 0, out.data(), DType::I32, 16}};
  std::vector<LaunchTime> times =
      llvm::cantFail(plan.measure(arguments, /*again=*/true));
  ASSERT_EQ(times.size(), 3u);
  EXPECT_FALSE(times[0].again);
  EXPECT_TRUE(times[1].again && times[2].again);
  EXPECT_EQ(x[0], 1);
  times = llvm::cantFail(plan.measure(arguments, /*again=*/false));
  EXPECT_FALSE(times[1].again);
}

/// The same kernel under two names, two launches of one of them.
TEST_F(PlanTest, CompilesEqualKernelsOnceAndNothingTheSecondTime) {
  std::string text = R"(
uop.program @a {
  %b = uop.buffer 0 : !uop.mem<8xi32, global>
  %v = uop.add %b, %b : !uop.mem<8xi32, global>
  uop.yield %v : tensor<8xi32>
}
uop.program @b {
  %b = uop.buffer 0 : !uop.mem<8xi32, global>
  %v = uop.add %b, %b : !uop.mem<8xi32, global>
  uop.yield %v : tensor<8xi32>
}
uop.plan @twice arena 32 {
  %x = uop.input 0 : !uop.mem<8xi32, global>
  %t = uop.temp 0 at 0 : !uop.mem<8xi32, global>
  %o = uop.output 0 : !uop.mem<8xi32, global>
  uop.launch @a(%x, %o) : !uop.mem<8xi32, global>, !uop.mem<8xi32, global>
  uop.launch @b(%o, %t) : !uop.mem<8xi32, global>, !uop.mem<8xi32, global>
  uop.launch @a(%t, %o) : !uop.mem<8xi32, global>, !uop.mem<8xi32, global>
}
)";
  PlanOp op = parse(text);
  std::vector<std::pair<size_t, size_t>> steps;
  CompileOptions options;
  options.progress = [&](size_t done, size_t total) {
    steps.push_back({done, total});
  };
  Plan plan = compiled(op, options);
  EXPECT_EQ(plan.kernels().size(), 2u);
  EXPECT_EQ(plan.kernels()[0].code.address, plan.kernels()[1].code.address);
  EXPECT_FALSE(plan.kernels()[0].code.fromCache);
  EXPECT_EQ(steps, (std::vector<std::pair<size_t, size_t>>{{1, 1}}));
  EXPECT_EQ(list(path("cache")).size(), 1u);
  Plan again = compiled(op, options);
  EXPECT_TRUE(again.kernels()[0].code.fromCache);
  EXPECT_EQ(steps.size(), 1u);
  std::vector<int32_t> x = {1, 2, 3, 4, 5, 6, 7, 8}, out(8);
  EXPECT_EQ(message(again.run({{Role::Input, 0, x.data(), DType::I32, 8},
                               {Role::Output, 0, out.data(), DType::I32, 8}})),
            "");
  EXPECT_EQ(out, std::vector<int32_t>({8, 16, 24, 32, 40, 48, 56, 64}));
}

/// Whichever entry of the cache is gone, a reference or a unit of several kernels.
TEST_F(PlanTest, CompilesWhatTheCacheLacks) {
  PlanOp op = parse(softmax);
  size_t compilations = 0;
  CompileOptions options;
  options.progress = [&](size_t, size_t) { ++compilations; };
  for (size_t i = 0, count = 1; i < count; ++i) {
    std::string folder = path("cache" + std::to_string(i));
    set("UOPC_CACHE", folder.c_str());
    compiled(op, options);
    std::vector<std::string> files = list(folder);
    count = files.size();
    EXPECT_GE(count, 3u);
    (void)llvm::sys::fs::remove(files[i]);
    compilations = 0;
    Plan plan = compiled(op, options);
    EXPECT_GT(compilations, 0u);
    std::vector<float> in(12, 1), out(12);
    EXPECT_EQ(message(plan.run({input(2, in), output(0, out)})), "");
    expectSoftmax(in.data(), out.data());
    compilations = 0;
    compiled(op, options);
    EXPECT_EQ(compilations, 0u);
  }
}

TEST_F(PlanTest, TempsShareOneArena) {
  // The second temp lies where the first one was.
  std::string text = R"(
uop.program @twice {
  %b = uop.buffer 0 : !uop.mem<8xi32, global>
  %v = uop.add %b, %b : !uop.mem<8xi32, global>
  uop.yield %v : tensor<8xi32>
}
uop.plan @chain arena 64 {
  %x = uop.input 0 : !uop.mem<8xi32, global>
  %a = uop.temp 0 at 0 : !uop.mem<8xi32, global>
  %b = uop.temp 1 at 32 : !uop.mem<8xi32, global>
  %c = uop.temp 2 at 0 : !uop.mem<8xi32, global>
  %o = uop.output 0 : !uop.mem<8xi32, global>
  uop.launch @twice(%x, %a) : !uop.mem<8xi32, global>, !uop.mem<8xi32, global>
  uop.launch @twice(%a, %b) : !uop.mem<8xi32, global>, !uop.mem<8xi32, global>
  uop.launch @twice(%b, %c) : !uop.mem<8xi32, global>, !uop.mem<8xi32, global>
  uop.launch @twice(%c, %o) : !uop.mem<8xi32, global>, !uop.mem<8xi32, global>
}
)";
  std::vector<int32_t> x = {1, 2, 3, 4, 5, 6, 7, 8}, out(8);
  Argument arguments[] = {{Role::Input, 0, x.data(), DType::I32, 8},
                          {Role::Output, 0, out.data(), DType::I32, 8}};
  PlanOp op = parse(text);
  Plan plan = compiled(op);
  EXPECT_EQ(plan.getArenaSize(), 64u);
  std::vector<int32_t> wanted = {16, 32, 48, 64, 80, 96, 112, 128};
  EXPECT_EQ(message(plan.run(arguments)), "");
  EXPECT_EQ(out, wanted);
  std::fill(out.begin(), out.end(), 0);
  EXPECT_EQ(interpret(op, arguments), "");
  EXPECT_EQ(out, wanted);

  // A wrong memory plan shows in both: the kernel would read what it writes.
  size_t at = text.find("1 at 32");
  std::string overlapping = text;
  overlapping.replace(at, 7, "1 at 16");
  op = parse(overlapping);
  const char *problem =
      "kernel 'twice': the buffers of argument 0 and argument 1 overlap, and "
      "argument 1 is written: give each its own memory";
  EXPECT_EQ(message(Plan::compile(op)), problem);
  EXPECT_EQ(interpret(op, arguments), problem);
  // So does one that overwrites a temp that is still needed.
  std::string clobbering = text;
  clobbering.replace(clobbering.find("launch @twice(%b, %c)"), 21,
                     "launch @twice(%x, %c)");
  clobbering.replace(clobbering.find("launch @twice(%c, %o)"), 21,
                     "launch @twice(%a, %o)");
  op = parse(clobbering);
  EXPECT_EQ(interpret(op, arguments), "");
  EXPECT_EQ(out, std::vector<int32_t>({4, 8, 12, 16, 20, 24, 28, 32}));
}

TEST_F(PlanTest, OutOfMemoryIsAnError) {
  std::string text = softmax;
  text.replace(text.find("arena 76"), 8, "arena 4611686018427387904");
  Plan plan = compiled(parse(text));
  std::vector<float> in(12, 1), out(12, -7);
  expectContains(message(plan.run({input(2, in), output(0, out)})),
                 "out of memory");
  EXPECT_EQ(out, std::vector<float>(12, -7));
}

TEST_F(PlanTest, WrongPlansAreErrors) {
  std::string text = softmax;
  // The implicit output of a kernel is a buffer that its launch must give.
  text.replace(text.find("@r_3(%in2, %tmp0)\n      : !uop.mem<12xf32, global>, "
                         "!uop.mem<3xf32, global>"),
               std::string("@r_3(%in2, %tmp0)\n      : !uop.mem<12xf32, "
                           "global>, !uop.mem<3xf32, global>")
                   .size(),
               "@r_3(%in2) : !uop.mem<12xf32, global>");
  EXPECT_EQ(message(Plan::compile(parse(text))),
            "kernel 'r_3' has a buffer of slot 1, its launch gives 1 "
            "arguments");
  set("UOPC_CACHE", "/dev/null");
  expectContains(message(Plan::compile(parse(softmax))), "isn't a folder");
}

TEST_F(PlanTest, WorksWithAnExternalCompiler) {
  set("CC", "gcc");
  if (!llvm::sys::findProgramByName("gcc"))
    GTEST_SKIP() << "there is no gcc";
  PlanOp op = parse(softmax);
  for (bool cached : {false, true}) {
    Plan plan = compiled(op);
    std::vector<float> in = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, out(12);
    EXPECT_EQ(message(plan.run({input(2, in), output(0, out)})), "");
    expectSoftmax(in.data(), out.data());
    for (const PlanKernel &kernel : plan.kernels())
      EXPECT_EQ(kernel.code.fromCache, cached);
  }
}

} // namespace
