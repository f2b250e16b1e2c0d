//===- PlanCacheTest.cpp - plans by the structure of their graph ----------===//

#include "Uop/Runtime/PlanCache.h"

#include "Sandbox.h"
#include "Uop/Graph/UniquingBuilder.h"
#include "Uop/Transforms/Kernelize.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Program.h"

#include <atomic>
#include <set>
#include <thread>

using namespace uop;
using namespace uop::runtime;
using mlir::Value;

namespace {

/// A context with a module that takes programs.
struct World {
  World() {
    context.loadDialect<UopDialect>();
    module = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  }
  ProgramOp add(llvm::function_ref<Value(UniquingBuilder &)> build,
                llvm::StringRef name = "p") {
    mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(module->getBody());
    ProgramOp program = createProgram(builder, module->getLoc(), name);
    UniquingBuilder graph(&program.getBodyBlock());
    finishProgram(program, build(graph));
    return program;
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

class PlanCacheTest : public Sandbox {
protected:
  PlanCacheTest()
      : cache([this](ProgramOp program, const CompileOptions &) {
          ++planned;
          return kernelize(program);
        }) {}

  std::shared_ptr<const Plan> get(ProgramOp program, bool strict = false) {
    CompileOptions options;
    options.strict = strict;
    options.progress = [this](size_t, size_t) { ++compiled; };
    return llvm::cantFail(cache.get(program, options));
  }
  static std::vector<float> run(const Plan &plan, std::vector<float> in) {
    std::vector<float> out(plan.params()[1].size);
    EXPECT_EQ(message(plan.run({{Role::Input, 0, in.data(), DType::F32,
                                 int64_t(in.size())},
                                {Role::Output, 0, out.data(), DType::F32,
                                 int64_t(out.size())}})),
              "");
    return out;
  }

  std::atomic<int> planned{0};
  int compiled = 0;
  PlanCache cache;
};

/// The sums of the rows of a matrix, times `factor`.
Value buildRowSums(UniquingBuilder &g, int64_t rows, int64_t columns,
                   float factor = 2) {
  Value x = g.reshape(g.buffer(0, DType::F32, rows * columns),
                      {rows, columns});
  Value f = g.expand(g.reshape(g.f32(factor), {1}), {rows});
  return g.mul(g.reduce(x, ReduceKind::Add, 1), f);
}

TEST_F(PlanCacheTest, TheSecondRunPlansAndCompilesNothing) {
  std::shared_ptr<const Plan> first;
  {
    World world;
    ProgramOp program =
        world.add([](UniquingBuilder &g) { return buildRowSums(g, 2, 3); });
    std::string before, after;
    llvm::raw_string_ostream(before) << *world.module;
    first = get(program);
    llvm::raw_string_ostream(after) << *world.module;
    EXPECT_EQ(before, after);
    EXPECT_EQ(get(program), first);
  }
  EXPECT_EQ(planned, 1);
  EXPECT_EQ(compiled, 1);
  // A graph of another context, in another order, with more in the block and
  // another name.
  World other;
  ProgramOp program = other.add(
      [](UniquingBuilder &g) {
        g.expand(g.reshape(g.f32(2), {1}), {2});
        g.buffer(7, DType::I32, 9);
        return buildRowSums(g, 2, 3);
      },
      "q");
  EXPECT_EQ(get(program), first);
  EXPECT_EQ(planned, 1);
  EXPECT_EQ(compiled, 1);
  EXPECT_EQ(cache.size(), 1u);
  EXPECT_EQ(run(*first, {1, 2, 3, 4, 5, 6}), std::vector<float>({12, 30}));
  cache.clear();
  EXPECT_EQ(cache.size(), 0u);
  EXPECT_EQ(run(*first, {1, 2, 3, 4, 5, 6}), std::vector<float>({12, 30}));
}

TEST_F(PlanCacheTest, WhatDiffersGetsAPlanOfItsOwn) {
  World world;
  auto leaf = [](UniquingBuilder &g) { return g.buffer(0, DType::F32, 6); };
  std::vector<std::function<Value(UniquingBuilder &)>> builds = {
      [](UniquingBuilder &g) { return buildRowSums(g, 2, 3); },
      [](UniquingBuilder &g) { return buildRowSums(g, 3, 2); },
      [](UniquingBuilder &g) { return buildRowSums(g, 2, 3, -2); },
      [&](UniquingBuilder &g) { return g.add(leaf(g), leaf(g)); },
      [&](UniquingBuilder &g) { return g.mul(leaf(g), leaf(g)); },
      [](UniquingBuilder &g) { return g.reduce(g.buffer(0, DType::F32, 6), ReduceKind::Add, 1); },
      [](UniquingBuilder &g) { return g.reduce(g.buffer(0, DType::F32, 6), ReduceKind::Max, 1); },
      [](UniquingBuilder &g) { return g.reduce(g.buffer(1, DType::F32, 6), ReduceKind::Max, 1); },
      [](UniquingBuilder &g) { return g.reduce(g.buffer(1, DType::F16, 6), ReduceKind::Max, 1); },
      [](UniquingBuilder &g) { return g.reduce(g.buffer(1, DType::F32, 7), ReduceKind::Max, 1); },
      [](UniquingBuilder &g) { return g.cast(g.buffer(1, DType::F32, 7), DType::F16); },
      [](UniquingBuilder &g) { return g.cast(g.buffer(1, DType::F32, 7), DType::I32); },
      // a-b and b-a: the same ops, other sources.
      [](UniquingBuilder &g) {
        return g.get(OpCode::CmpLt, {g.buffer(0, DType::F32, 6), g.buffer(1, DType::F32, 6)});
      },
      [](UniquingBuilder &g) {
        return g.get(OpCode::CmpLt, {g.buffer(1, DType::F32, 6), g.buffer(0, DType::F32, 6)});
      },
      [](UniquingBuilder &g) {
        Value a = g.buffer(0, DType::F32, 6), b = g.buffer(1, DType::F32, 6);
        return g.sink({g.add(a, b), g.mul(a, b)});
      },
      [](UniquingBuilder &g) {
        Value a = g.buffer(0, DType::F32, 6), b = g.buffer(1, DType::F32, 6);
        return g.sink({g.mul(a, b), g.add(a, b)});
      },
  };
  std::set<const Plan *> plans;
  std::vector<std::shared_ptr<const Plan>> kept;
  for (auto &build : builds) {
    kept.push_back(get(world.add(build)));
    EXPECT_TRUE(plans.insert(kept.back().get()).second);
  }
  EXPECT_EQ(size_t(planned), builds.size());
  EXPECT_EQ(run(*kept[2], {1, 2, 3, 4, 5, 6}), std::vector<float>({-12, -30}));
}

TEST_F(PlanCacheTest, OptionsAndEnvironmentCount) {
  World world;
  ProgramOp program =
      world.add([](UniquingBuilder &g) { return buildRowSums(g, 2, 3); });
  std::set<std::shared_ptr<const Plan>> plans = {get(program)};
  EXPECT_TRUE(plans.insert(get(program, /*strict=*/true)).second);
  set("CFLAGS", "-O1");
  EXPECT_TRUE(plans.insert(get(program)).second);
  set("UOPC_CACHE", path("other").c_str());
  EXPECT_TRUE(plans.insert(get(program)).second);
  set("CC", "gcc");
  if (llvm::sys::findProgramByName("gcc")) {
    EXPECT_TRUE(plans.insert(get(program)).second);
  }
  set("CC", nullptr);
  set("CFLAGS", nullptr);
  set("UOPC_CACHE", path("cache").c_str());
  EXPECT_FALSE(plans.insert(get(program)).second);
}

TEST_F(PlanCacheTest, OfManyThreadsOnePlans) {
  World world;
  ProgramOp program =
      world.add([](UniquingBuilder &g) { return buildRowSums(g, 2, 3); });
  ProgramOp another =
      world.add([](UniquingBuilder &g) { return buildRowSums(g, 5, 3); });
  std::vector<std::thread> threads;
  std::vector<const Plan *> plans(8);
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      for (int round = 0; round < 100; ++round)
        plans[i] = llvm::cantFail(cache.get(i % 2 ? program : another)).get();
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(planned, 2);
  for (int i = 2; i < 8; ++i)
    EXPECT_EQ(plans[i], plans[i % 2]);
  EXPECT_NE(plans[0], plans[1]);
}

TEST_F(PlanCacheTest, ErrorsAreNotKept) {
  World world;
  ProgramOp program =
      world.add([](UniquingBuilder &g) { return buildRowSums(g, 2, 3); });
  bool refuse = true;
  PlanCache moody([&](ProgramOp copy, const CompileOptions &)
                      -> mlir::FailureOr<PlanOp> {
    if (refuse)
      return copy.emitError("not today");
    return kernelize(copy);
  });
  EXPECT_EQ(message(moody.get(program)), "not today");
  EXPECT_EQ(moody.size(), 0u);
  set("UOPC_CACHE", "/dev/null");
  refuse = false;
  expectContains(message(moody.get(program)), "isn't a folder");
  set("UOPC_CACHE", path("cache").c_str());
  EXPECT_EQ(message(moody.get(program)), "");
  EXPECT_EQ(moody.size(), 1u);
}

} // namespace
