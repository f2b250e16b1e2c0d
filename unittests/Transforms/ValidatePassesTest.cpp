//===- ValidatePassesTest.cpp - tests of the pass validator ---------------===//
//
// Wrong passes are caught, with the smallest input; right ones are not.
//
//===----------------------------------------------------------------------===//

#include "Uop/Transforms/ValidatePasses.h"
#include "Uop/Target/Uir.h"
#include "Uop/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace uop;

namespace {

/// Swaps the operands of every op of this kind, or replaces it by the first.
template <typename OpT> struct Wrong : PassWrapper<Wrong<OpT>, OperationPass<ProgramOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Wrong)
  Wrong(bool swaps) : swaps(swaps) {}
  llvm::StringRef getArgument() const override { return "planted"; }

  void runOnOperation() override {
    this->getOperation().walk([&](OpT op) {
      Value a = op->getOperand(0), b = op->getOperand(1);
      if (swaps)
        op->setOperands({b, a});
      else
        op.getResult().replaceAllUsesWith(a);
    });
  }

  bool swaps;
};

class ValidatePassesTest : public testing::Test {
protected:
  ValidatePassesTest() { context.loadDialect<UopDialect>(); }

  /// What the validator says about these passes over a `.uir` program.
  std::string run(llvm::StringRef text,
                  llvm::function_ref<void(OpPassManager &)> addPasses,
                  bool verbose = false) {
    llvm::SourceMgr sources;
    sources.AddNewSourceBuffer(
        llvm::MemoryBuffer::getMemBuffer(text, "test.uir"), llvm::SMLoc());
    OwningOpRef<ModuleOp> module = parseUir(sources, &context);
    EXPECT_TRUE(module);
    std::string said;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      said += diagnostic.str() + "\n";
      for (Diagnostic &note : diagnostic.getNotes())
        said += note.str() + "\n";
      return success();
    });
    PassManager pm(&context);
    std::atomic<bool> found = false;
    ValidateOptions options;
    options.verbose = verbose;
    pm.addInstrumentation(createPassValidator(found, options));
    addPasses(pm.nest<ProgramOp>());
    EXPECT_TRUE(succeeded(pm.run(*module)));
    EXPECT_EQ(found, llvm::StringRef(said).contains("changes what program"));
    return said;
  }

  MLIRContext context;
};

constexpr const char *difference = R"(%0 = buffer 6 : dtype=i32 slot=0
%1 = buffer 6 : dtype=i32 slot=1
%2 = floormod %0, %1
%3 = reshape %2, (2, 3)
)";

bool contains(const std::string &text, llvm::StringRef part) {
  return llvm::StringRef(text).contains(part);
}

TEST_F(ValidatePassesTest, NamesPassElementAndInput) {
  std::string said = run(difference, [](OpPassManager &pm) {
    pm.addPass(std::make_unique<Wrong<FloorModOp>>(/*swaps=*/true));
  });
  EXPECT_TRUE(contains(said, "pass 'planted' changes what program 'test' "
                             "computes: element ("))
      << said;
  EXPECT_TRUE(contains(said, ") of the output is ")) << said;
  EXPECT_TRUE(contains(said, "smallest input found: BUFFER ")) << said;
  EXPECT_TRUE(contains(said, "all else 0")) << said;
  // One number that is not 0 is enough: x % 0 is 0 and 0 % x too, so two.
  size_t numbers = std::count(said.begin(), said.end(), '=');
  EXPECT_LE(numbers, 2u) << said;
}

TEST_F(ValidatePassesTest, ShapedToLinear) {
  std::string said = run(difference, [](OpPassManager &pm) {
    pm.addPass(createUopRangeify());
    pm.addPass(createUopSimplify());
    pm.addPass(createUopLinearize());
  });
  EXPECT_EQ(said, "");
}

TEST_F(ValidatePassesTest, WrongLoops) {
  std::string said = run(difference, [](OpPassManager &pm) {
    pm.addPass(createUopRangeify());
    pm.addPass(std::make_unique<Wrong<FloorModOp>>(/*swaps=*/false));
    pm.addPass(createUopLinearize());
  });
  EXPECT_TRUE(contains(said, "of BUFFER 2 is ")) << said;
  EXPECT_TRUE(contains(said, "computed by this uop.store")) << said;
}

TEST_F(ValidatePassesTest, SeveralResults) {
  constexpr const char *results = R"(%0 = buffer 6 : dtype=i32 slot=0
%1 = buffer 6 : dtype=i32 slot=1
%2 = add %0, %1
%3 = store %0, %2
%4 = floormod %0, %1
%5 = sink %3, %1, %4
)";
  EXPECT_EQ(run(results,
                [](OpPassManager &pm) {
                  pm.addPass(createUopRangeify());
                  pm.addPass(createUopSimplify());
                  pm.addPass(createUopLinearize());
                }),
            "");
  std::string said = run(results, [](OpPassManager &pm) {
    pm.addPass(std::make_unique<Wrong<FloorModOp>>(/*swaps=*/true));
  });
  EXPECT_TRUE(contains(said, ") of output 1 is ")) << said;
  EXPECT_FALSE(contains(said, "BUFFER 2")) << said;
  constexpr const char *inPlace = R"(%0 = buffer 6 : dtype=i32 slot=0
%1 = buffer 6 : dtype=i32 slot=1
%2 = floormod %0, %1
%3 = store %0, %2
%4 = sink %3, %0
)";
  said = run(inPlace, [](OpPassManager &pm) {
    pm.addPass(std::make_unique<Wrong<FloorModOp>>(/*swaps=*/true));
  });
  EXPECT_TRUE(contains(said, ") of BUFFER 0 is ")) << said;
}

TEST_F(ValidatePassesTest, SignedZerosAndNaNs) {
  // max(a, b) of floats is no commutative op: (a > b) ? a : b.
  std::string said = run("%0 = buffer 64 : dtype=f32 slot=0\n"
                         "%1 = buffer 64 : dtype=f32 slot=1\n"
                         "%2 = max %0, %1\n",
                         [](OpPassManager &pm) {
                           pm.addPass(std::make_unique<Wrong<MaxOp>>(true));
                         });
  EXPECT_TRUE(contains(said, "changes what program")) << said;
}

TEST_F(ValidatePassesTest, ExpressionsOverLoopCounters) {
  std::string said = run("%0 = range 4 : idx=0\n"
                         "%1 = range 5 : idx=1\n"
                         "%2 = floordiv %0, %1\n",
                         [](OpPassManager &pm) {
                           pm.addPass(std::make_unique<Wrong<FloorDivOp>>(false));
                         });
  EXPECT_TRUE(contains(said, "element (1, 0) of the output is 1, was 0"))
      << said;
}

TEST_F(ValidatePassesTest, WhatCannotBeRunIsSkipped) {
  constexpr const char *large = "%0 = buffer 100000000 : dtype=f32 slot=0\n"
                                "%1 = add %0, %0\n";
  auto rangeify = [](OpPassManager &pm) { pm.addPass(createUopRangeify()); };
  EXPECT_EQ(run(large, rangeify), "");
  EXPECT_TRUE(contains(run(large, rangeify, /*verbose=*/true),
                       "is not validated: it is too large"));
}

} // namespace
