//===- PlanFuzzTest.cpp - random programs through the planner -------------===//
//
// Random programs of several results are cut into kernels; the plan, evaluated
// launch by launch over bytes, must give what the shaped interpreter gives.
//
// UOP_FUZZ_CASES programs, from seed UOP_FUZZ_SEED on.
//
//===----------------------------------------------------------------------===//

#include "RandomProgram.h"
#include "RandomValues.h"
#include "Uop/Graph/UniquingBuilder.h"
#include "Uop/Transforms/EvaluatePlan.h"
#include "Uop/Transforms/Kernelize.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace mlir;
using namespace uop;
using namespace uop::fuzz;

namespace {

uint64_t getVariable(const char *name, uint64_t otherwise) {
  const char *text = std::getenv(name);
  uint64_t value;
  return text && llvm::to_integer(text, value, 10) ? value : otherwise;
}

bool agree(DType dtype, Word got, Word want) {
  return got == want || (isFloat(dtype) && std::isnan(toFloat(got)) &&
                         std::isnan(toFloat(want)));
}

/// What differs between the values of a plan and those expected; empty if nothing.
std::string compare(llvm::ArrayRef<Array> got, llvm::ArrayRef<Array> want) {
  if (got.size() != want.size())
    return "the number of outputs differs";
  for (size_t i = 0; i < got.size(); ++i) {
    if (got[i].dtype != want[i].dtype || got[i].shape != want[i].shape)
      return "output " + std::to_string(i) + " has another type";
    for (size_t k = 0; k < want[i].data.size(); ++k)
      if (!agree(want[i].dtype, got[i].data[k], want[i].data[k]))
        return "output " + std::to_string(i) + " element " + std::to_string(k) +
               " is " + std::to_string(got[i].data[k]) + ", not " +
               std::to_string(want[i].data[k]);
  }
  return "";
}

TEST(PlanFuzzTest, PlansGiveWhatTheGraphGives) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<UopDialect>();
  std::string diagnostics;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    diagnostics += diagnostic.str() + "\n";
  });
  uint64_t first = getVariable("UOP_FUZZ_SEED", 0);
  uint64_t cases = getVariable("UOP_FUZZ_CASES", 1500);
  uint64_t refused = 0, launches = 0;
  for (uint64_t seed = first; seed < first + cases; ++seed) {
    diagnostics.clear();
    RandomProgram made = makeRandomProgram(&context, seed, Mode::Wild);
    Random random(seed ^ 0x9e3779b97f4a7c15ull);
    // The root and some of the other values, in any order, also twice.
    llvm::SmallVector<Value> results{made.program.getRoot()};
    for (uint64_t i = random.below(4); i > 0 && !made.others.empty(); --i)
      results.push_back(made.others[random.below(made.others.size())]);
    std::swap(results[random.below(results.size())], results.back());
    std::vector<Array> want;
    for (Value result : results) {
      FailureOr<Array> value = evaluateShaped(result, made.inputs);
      ASSERT_TRUE(succeeded(value)) << diagnostics << "seed " << seed;
      want.push_back(std::move(*value));
    }
    Block &block = made.program.getBodyBlock();
    block.getTerminator()->erase();
    Value sink = UniquingBuilder(&block).sink(results);
    finishProgram(made.program, sink);
    std::string before;
    llvm::raw_string_ostream(before) << *made.module;
    KernelizeOptions options;
    if (random.below(4) == 0)
      options.maxParameters = 3 + random.below(4);
    FailureOr<PlanOp> plan = kernelize(made.program, options);
    if (failed(plan) && options.maxParameters < 64 &&
        llvm::StringRef(diagnostics).contains("alone needs")) {
      ++refused;
      continue;
    }
    ASSERT_TRUE(succeeded(plan)) << diagnostics << "seed " << seed << before;
    ASSERT_TRUE(succeeded(verify(*made.module)))
        << diagnostics << "seed " << seed << before;
    FailureOr<std::vector<Array>> got = evaluatePlan(*plan, made.inputs);
    std::string after;
    llvm::raw_string_ostream(after) << *made.module;
    ASSERT_TRUE(succeeded(got))
        << diagnostics << "seed " << seed << before << after;
    ASSERT_EQ(compare(*got, want), "") << "seed " << seed << before << after;
    for (auto launch : plan->getBodyBlock().getOps<LaunchOp>()) {
      ASSERT_LE(launch.getMemory().size(), size_t(options.maxParameters))
          << "seed " << seed << before << after;
      ++launches;
    }
  }
  EXPECT_GT(launches, cases);
  EXPECT_LT(refused, cases / 8);
}

} // namespace
