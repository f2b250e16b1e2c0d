//===- FuzzTest.cpp - random programs through every stage -----------------===//
//
// Random programs are printed and parsed, and run by the shaped interpreter, by
// the linear interpreter after lowering, and as compiled C; all must agree.
//
// UOP_FUZZ_CASES programs for each test, from seed UOP_FUZZ_SEED on. With
// UOP_FUZZ_PRINT=1 every program is printed before it is used.
//
//===----------------------------------------------------------------------===//

#include "../Runtime/Sandbox.h"
#include "CompiledBatch.h"
#include "RandomProgram.h"
#include "Uop/Graph/Walk.h"
#include "Uop/Target/Uir.h"
#include "Uop/Transforms/Linearize.h"
#include "Uop/Transforms/Rangeify.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <gtest/gtest.h>
#include <set>

using namespace mlir;
using namespace uop;
using namespace uop::fuzz;

namespace {

uint64_t getVariable(const char *name, uint64_t otherwise) {
  const char *text = std::getenv(name);
  uint64_t value;
  return text && llvm::to_integer(text, value, 10) ? value : otherwise;
}

std::string toUir(ProgramOp program) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printUir(program, os);
  return text;
}

/// Whether an element is right: the same value, any NaN for a NaN, exactly or
/// within a tolerance.
bool agree(DType dtype, Word got, Word want, std::optional<double> tolerance) {
  if (got == want)
    return true;
  if (!isFloat(dtype))
    return false;
  float a = toFloat(got), b = toFloat(want);
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) && std::isnan(b);
  return tolerance && std::abs(double(a) - b) <= *tolerance;
}

/// Compiles into a kernel cache of its own.
class FuzzTest : public Sandbox {
protected:
  FuzzTest()
      : handler(&context,
                [this](Diagnostic &d) { diagnostics += d.str() + "\n"; }),
        first(getVariable("UOP_FUZZ_SEED", 0)),
        mustPrint(getVariable("UOP_FUZZ_PRINT", 0)) {
    context.loadDialect<UopDialect>();
    context.disableMultithreading();
  }

  /// How many programs this test makes, when the environment doesn't say.
  uint64_t cases(uint64_t otherwise) const {
    return getVariable("UOP_FUZZ_CASES", otherwise);
  }

  /// Called with a program and its value, for every seed.
  void forEachProgram(
      Mode mode, uint64_t count,
      llvm::function_ref<void(RandomProgram &, const Array &, std::string uir)>
          check) {
    for (uint64_t i = 0; i < count && !HasFailure(); ++i) {
      seed = first + i;
      diagnostics.clear();
      RandomProgram made = makeRandomProgram(&context, seed, mode);
      std::string uir = toUir(made.program);
      if (mustPrint)
        llvm::errs() << "# seed " << seed << "\n" << uir;
      FailureOr<Array> value =
          evaluateShaped(made.program.getRoot(), made.inputs);
      ASSERT_TRUE(succeeded(value)) << explain(uir);
      check(made, *value, uir);
    }
  }

  std::string explain(const std::string &uir) const {
    return "seed " + std::to_string(seed) + "\n" + diagnostics + uir;
  }

  /// Fails at the first element that differs.
  void expectSame(const Array &got, const Array &want,
                  std::optional<double> tolerance, const std::string &uir) {
    ASSERT_EQ(got.data.size(), want.data.size()) << explain(uir);
    for (size_t i = 0; i < got.data.size(); ++i)
      ASSERT_TRUE(agree(want.dtype, got.data[i], want.data[i], tolerance))
          << "element " << i << " is " << formatLiteral(want.dtype, got.data[i])
          << ", want " << formatLiteral(want.dtype, want.data[i]) << "\n"
          << explain(uir);
  }

  /// Lowers in place to a schedule.
  bool lower(RandomProgram &made) {
    return succeeded(rangeify(made.program)) &&
           succeeded(linearize(made.program)) &&
           succeeded(verifySchedule(made.program));
  }

  void runCompiled(Mode mode, bool strict, uint64_t count);

  MLIRContext context;
  std::string diagnostics;
  ScopedDiagnosticHandler handler;
  uint64_t first, seed = 0;
  bool mustPrint;
};

/// Contents that no kernel should leave in its output.
Array makeOutput(const Array &like) {
  Array output = like;
  for (Word &word : output.data)
    word = like.dtype == DType::Bool ? 1
           : isFloat(like.dtype)     ? fromFloat(12345.0f)
                                     : 0xDEADBEEF;
  return output;
}

TEST_F(FuzzTest, GeneratorCoversEveryOpAndDType) {
  std::set<OpCode> seen;
  std::set<std::pair<OpCode, DType>> reductions;
  std::set<DType> results;
  unsigned empty = 0, ranks[8] = {};
  auto note = [&](RandomProgram &made, const Array &value, std::string) {
    for (Operation *op : toposort(made.program.getRoot())) {
      seen.insert(*getOpCode(op));
      if (isa<ReduceOp>(op))
        reductions.insert(
            {OpCode::Reduce, getDType(op->getResult(0).getType())});
    }
    results.insert(value.dtype);
    empty += value.data.empty();
    ++ranks[std::min<size_t>(value.shape.size(), 7)];
  };
  forEachProgram(Mode::Wild, 500, note);
  forEachProgram(Mode::Tame, 500, note);
  for (unsigned i = 0; i < numOpCodes; ++i) {
    OpCode code = static_cast<OpCode>(i);
    static constexpr OpCode linearOnly[] = {
        OpCode::Alloc, OpCode::Store, OpCode::After,   OpCode::Sink,
        OpCode::Range, OpCode::End,   OpCode::Barrier, OpCode::Wmma};
    EXPECT_EQ(seen.count(code), !llvm::is_contained(linearOnly, code))
        << getName(code).str();
  }
  EXPECT_EQ(results.size(), 4u);
  EXPECT_EQ(reductions.size(), 4u);
  EXPECT_GT(empty, 0u);
  for (unsigned rank = 0; rank < 4; ++rank)
    EXPECT_GT(ranks[rank], 0u) << rank;
}

TEST_F(FuzzTest, GeneratorFollowsFromTheSeed) {
  MLIRContext other;
  other.loadDialect<UopDialect>();
  forEachProgram(Mode::Wild, 100,
                 [&](RandomProgram &made, const Array &, std::string uir) {
                   RandomProgram again =
                       makeRandomProgram(&other, seed, Mode::Wild);
                   EXPECT_EQ(toUir(again.program), uir);
                   EXPECT_EQ(again.inputs.size(), made.inputs.size());
                   for (auto &[slot, array] : again.inputs)
                     EXPECT_EQ(array.data, made.inputs[slot].data);
                 });
}

TEST_F(FuzzTest, UirRoundTrip) {
  forEachProgram(Mode::Wild, cases(6000),
                 [&](RandomProgram &made, const Array &value, std::string uir) {
                   llvm::SourceMgr sources;
                   sources.AddNewSourceBuffer(
                       llvm::MemoryBuffer::getMemBuffer(uir, "fuzz.uir"),
                       llvm::SMLoc());
                   OwningOpRef<ModuleOp> module = parseUir(sources, &context);
                   ASSERT_TRUE(module) << explain(uir);
                   auto program = *module->getOps<ProgramOp>().begin();
                   ASSERT_EQ(toUir(program), uir) << "seed " << seed;
                   // The same node: over one builder the two graphs are one.
                   UniquingBuilder builder(&made.program.getBodyBlock());
                   Value copy = copyInto(builder, program.getRoot());
                   ASSERT_EQ(copy, made.program.getRoot()) << explain(uir);
                 });
}

TEST_F(FuzzTest, LinearInterpreterAgrees) {
  for (Mode mode : {Mode::Wild, Mode::Tame})
    forEachProgram(
        mode, cases(6000),
        [&](RandomProgram &made, const Array &value, std::string uir) {
          int64_t slot = getOutputSlot(made.program.getRoot());
          ASSERT_TRUE(lower(made)) << explain(uir);
          std::vector<Operation *> schedule;
          for (Operation &op : made.program.getBodyBlock().without_terminator())
            schedule.push_back(&op);
          ArrayMap arrays = made.inputs;
          arrays[slot] = makeOutput(value);
          ASSERT_TRUE(succeeded(evaluateLinear(schedule, arrays)))
              << explain(uir);
          expectSame(arrays[slot], value, std::nullopt, uir);
        });
}

TEST_F(FuzzTest, SeveralOutputsAgree) {
  forEachProgram(Mode::Wild, cases(2000),
                 [&](RandomProgram &made, const Array &first, std::string uir) {
                   llvm::SmallVector<Value> roots{made.program.getRoot()};
                   llvm::append_range(roots, made.others);
                   OpBuilder ops(&context);
                   OwningOpRef<ProgramOp> lowered =
                       createProgram(ops, made.program.getLoc(), "several");
                   UniquingBuilder builder(&lowered->getBodyBlock());
                   llvm::SmallVector<Value> values;
                   llvm::SmallVector<int64_t> slots;
                   ArrayMap arrays = made.inputs, want;
                   for (Value root : roots) {
                     int64_t slot = 100 + slots.size();
                     slots.push_back(slot);
                     values.push_back(inlineCalls(builder, root));
                     FailureOr<Array> value = evaluateShaped(root, made.inputs);
                     ASSERT_TRUE(succeeded(value)) << explain(uir);
                     arrays[slot] = makeOutput(*value);
                     want[slot] = *value;
                   }
                   Value sink = lowerToLoops(builder, values, slots);
                   ASSERT_TRUE(sink) << explain(uir);
                   auto schedule = linearize(sink);
                   ASSERT_TRUE(succeeded(schedule)) << explain(uir);
                   ASSERT_TRUE(succeeded(evaluateLinear(*schedule, arrays)))
                       << explain(uir);
                   for (auto &[slot, value] : want)
                     expectSame(arrays[slot], value, std::nullopt, uir);
                 });
}

void FuzzTest::runCompiled(Mode mode, bool strict, uint64_t count) {
  constexpr size_t batchSize = 40;
  struct Case {
    uint64_t seed;
    std::string uir;
    Array want;
    std::optional<double> tolerance;
  };
  std::vector<Case> waiting;
  CompiledBatch batch;
  auto flush = [&] {
    std::string error;
    ASSERT_TRUE(batch.compile(strict, error))
        << error << "\nin a batch from seed " << waiting.front().seed << " on\n"
        << batch.source();
    for (size_t i = 0; i < waiting.size() && !HasFailure(); ++i) {
      seed = waiting[i].seed;
      Array got = batch.run(i);
      expectSame(got, waiting[i].want, waiting[i].tolerance, waiting[i].uir);
    }
    waiting.clear();
    batch = CompiledBatch();
  };
  forEachProgram(mode, count,
                 [&](RandomProgram &made, const Array &value, std::string uir) {
                   int64_t slot = getOutputSlot(made.program.getRoot());
                   ASSERT_TRUE(lower(made)) << explain(uir);
                   ASSERT_TRUE(batch.add(made.program, made.inputs, slot,
                                         makeOutput(value)))
                       << explain(uir);
                   waiting.push_back(
                       {seed, uir, value,
                        strict ? std::nullopt : std::optional(made.tolerance)});
                   if (waiting.size() == batchSize)
                     flush();
                 });
  if (!waiting.empty() && !HasFailure())
    flush();
}

TEST_F(FuzzTest, StrictCIsExact) {
  runCompiled(Mode::Wild, /*strict=*/true, cases(2400));
}

TEST_F(FuzzTest, DefaultCIsWithinTolerance) {
  runCompiled(Mode::Tame, /*strict=*/false, cases(1600));
}

} // namespace
