//===- FuzzTest.cpp - random programs through every stage -----------------===//
//
// Random programs, of one result and of several, are printed and parsed, and
// run by the shaped interpreter, by the linear interpreter after lowering, and
// as compiled C; all must agree.
//
// UOP_FUZZ_CASES programs for each test, from seed UOP_FUZZ_SEED on. With
// UOP_FUZZ_PRINT=1 every program is printed before it is used.
//
//===----------------------------------------------------------------------===//

#include "../Runtime/Sandbox.h"
#include "Comparison.h"
#include "CompiledBatch.h"
#include "RandomProgram.h"
#include "Uop/Graph/Results.h"
#include "Uop/Graph/Walk.h"
#include "Uop/Target/Uir.h"
#include "Uop/Transforms/Linearize.h"
#include "Uop/Transforms/Passes.h"
#include "Uop/Transforms/Rangeify.h"
#include "mlir/Pass/PassManager.h"
#include <cmath>
#include <gtest/gtest.h>
#include <set>

using namespace mlir;
using namespace uop;
using namespace uop::fuzz;

namespace {

std::string toUir(ProgramOp program) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printUir(program, os);
  return text;
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

  /// Called with a program and its results, for every seed.
  void
  forEachProgram(Mode mode, Root root, uint64_t count,
                 llvm::function_ref<void(RandomProgram &, const ShapedResults &,
                                         std::string uir)>
                     check) {
    for (uint64_t i = 0; i < count && !HasFailure(); ++i) {
      seed = first + i;
      diagnostics.clear();
      RandomProgram made = makeRandomProgram(&context, seed, mode, root);
      std::string uir = toUir(made.program);
      if (mustPrint)
        llvm::errs() << "# seed " << seed << "\n" << uir;
      FailureOr<ShapedResults> results =
          evaluateShapedProgram(made.program, made.inputs);
      ASSERT_TRUE(succeeded(results)) << explain(uir);
      check(made, *results, uir);
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

  /// The buffers after a run of the lowered program.
  void expectResults(ArrayMap &got, int64_t outputSlot,
                     const RandomProgram &made, const ShapedResults &want,
                     std::optional<double> tolerance, const std::string &uir) {
    for (auto [i, output] : llvm::enumerate(want.outputs))
      expectSame(got[outputSlot + i], output, tolerance, uir);
    for (const auto &[slot, input] : made.inputs) {
      if (slot >= outputSlot) // a buffer that the program has no use for
        break;
      auto stored = want.buffers.find(slot);
      bool isStored = stored != want.buffers.end();
      expectSame(got[slot], isStored ? stored->second : input,
                 isStored ? tolerance : std::nullopt, uir);
    }
  }

  /// Lowers in place to a schedule; null for what takes several kernels.
  bool lower(RandomProgram &made, const std::string &uir) {
    if (failed(rangeify(made.program))) {
      EXPECT_TRUE(llvm::StringRef(diagnostics).contains("--uop-kernelize"))
          << explain(uir);
      return false;
    }
    EXPECT_TRUE(succeeded(linearize(made.program)) &&
                succeeded(verifySchedule(made.program)))
        << explain(uir);
    return true;
  }

  void runLinear(Mode mode, Root root, uint64_t count);
  void runCompiled(Mode mode, Root root, bool strict, uint64_t count);

  MLIRContext context;
  std::string diagnostics;
  ScopedDiagnosticHandler handler;
  uint64_t first, seed = 0;
  bool mustPrint;
};

/// The inputs, and outputs of contents that no kernel should leave in them.
ArrayMap makeBuffers(const RandomProgram &made, int64_t outputSlot,
                     const ShapedResults &results) {
  ArrayMap buffers = made.inputs;
  for (Array output : results.outputs) {
    for (Word &word : output.data)
      word = output.dtype == DType::Bool ? 1
             : isFloat(output.dtype)     ? fromFloat(12345.0f)
                                         : 0xDEADBEEF;
    buffers[outputSlot++] = output;
  }
  return buffers;
}

TEST_F(FuzzTest, GeneratorCoversEveryOpAndDType) {
  std::set<OpCode> seen;
  std::set<std::pair<OpCode, DType>> reductions;
  std::set<DType> results;
  unsigned empty = 0, ranks[8] = {};
  auto note = [&](RandomProgram &made, const ShapedResults &all, std::string) {
    const Array &value = all.outputs[0];
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
  forEachProgram(Mode::Wild, Root::Value, 500, note);
  forEachProgram(Mode::Tame, Root::Value, 500, note);
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

/// What a plan has to keep in order is there, each of it often.
TEST_F(FuzzTest, StoresCoverReadersWritersAndViews) {
  std::map<std::string, unsigned> counts;
  auto note = [&](RandomProgram &made, const ShapedResults &all, std::string) {
    std::set<std::string> seen;
    std::set<int64_t> storedBefore;
    for (Operation *op : toposort(made.program.getRoot())) {
      if (isa<AfterOp>(op)) {
        seen.insert("AFTER");
        if (op->getOperand(0).getDefiningOp<AfterOp>())
          seen.insert("AFTER of AFTER");
        if (isMovement(getOpCode(op->getOperand(0))))
          seen.insert("AFTER of a view");
      }
      // Who reads memory without storing to it or viewing it.
      bool reads = !isMemory(op->getResult(0).getType()) && !isa<StoreOp>(op);
      for (Value source : op->getOperands()) {
        if (!isMemory(source.getType()) || !reads)
          continue;
        Operation *view = source.getDefiningOp();
        while (!isa<BufferOp, AfterOp>(view))
          view = view->getOperand(0).getDefiningOp();
        auto buffer = dyn_cast<BufferOp>(view);
        seen.insert(!buffer ? "read after"
                    : all.buffers.count(buffer.getSlot())
                        ? "read of what was before"
                        : "read");
      }
      auto store = dyn_cast<StoreOp>(op);
      if (!store)
        continue;
      Operation *view = store.getPointer().getDefiningOp();
      for (; !isa<BufferOp>(view); view = view->getOperand(0).getDefiningOp())
        seen.insert(("STORE through " + getName(*getOpCode(view))).str());
      if (!storedBefore.insert(cast<BufferOp>(view).getSlot()).second)
        seen.insert("two STOREs to one BUFFER");
      if (getNumElements(getShape(store.getPointer().getType())) == 0)
        seen.insert("STORE of nothing");
    }
    if (all.buffers.size() > 1)
      seen.insert("several buffers");
    if (all.outputs.empty())
      seen.insert("no value");
    if (all.outputs.size() > 1 && !all.buffers.empty())
      seen.insert("values and STOREs");
    for (const std::string &what : seen)
      ++counts[what];
  };
  forEachProgram(Mode::Wild, Root::Stores, 500, note);
  forEachProgram(Mode::Tame, Root::Stores, 500, note);
  for (const char *what :
       {"AFTER", "AFTER of AFTER", "AFTER of a view", "read",
        "read of what was before", "read after", "STORE through RESHAPE",
        "STORE through PERMUTE", "STORE through SHRINK", "STORE through INDEX",
        "STORE through AFTER", "two STOREs to one BUFFER", "STORE of nothing",
        "several buffers", "no value", "values and STOREs"})
    EXPECT_GE(counts[what], 20u) << what;
}

TEST_F(FuzzTest, GeneratorFollowsFromTheSeed) {
  MLIRContext other;
  other.loadDialect<UopDialect>();
  for (Root root : {Root::Value, Root::Values, Root::Stores})
    forEachProgram(
        Mode::Wild, root, 100,
        [&](RandomProgram &made, const ShapedResults &, std::string uir) {
          RandomProgram again =
              makeRandomProgram(&other, seed, Mode::Wild, root);
          EXPECT_EQ(toUir(again.program), uir);
          EXPECT_EQ(again.inputs.size(), made.inputs.size());
          for (auto &[slot, array] : again.inputs)
            EXPECT_EQ(array.data, made.inputs[slot].data);
        });
}

TEST_F(FuzzTest, UirRoundTrip) {
  for (Root root : {Root::Value, Root::Stores})
    forEachProgram(
        Mode::Wild, root, cases(3000),
        [&](RandomProgram &made, const ShapedResults &, std::string uir) {
          llvm::SourceMgr sources;
          sources.AddNewSourceBuffer(
              llvm::MemoryBuffer::getMemBuffer(uir, "fuzz.uir"), llvm::SMLoc());
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

void FuzzTest::runLinear(Mode mode, Root root, uint64_t count) {
  uint64_t lowered = 0;
  forEachProgram(
      mode, root, count,
      [&](RandomProgram &made, const ShapedResults &want, std::string uir) {
        int64_t slot = getOutputSlot(made.program.getRoot());
        ASSERT_TRUE(isShaped(made.program) || root == Root::Stores);
        if (!lower(made, uir))
          return;
        ++lowered;
        std::vector<Operation *> schedule;
        for (Operation &op : made.program.getBodyBlock().without_terminator())
          schedule.push_back(&op);
        ArrayMap arrays = makeBuffers(made, slot, want);
        ASSERT_TRUE(succeeded(evaluateLinear(schedule, arrays)))
            << explain(uir);
        expectResults(arrays, slot, made, want, std::nullopt, uir);
      });
  if (root == Root::Stores)
    EXPECT_GE(lowered, count / 10);
  else if (!HasFailure())
    EXPECT_EQ(lowered, count);
}

TEST_F(FuzzTest, LinearInterpreterAgrees) {
  for (Mode mode : {Mode::Wild, Mode::Tame})
    runLinear(mode, Root::Value, cases(5000));
}

TEST_F(FuzzTest, LinearInterpreterAgreesOnSeveralResults) {
  runLinear(Mode::Wild, Root::Values, cases(2000));
  runLinear(Mode::Tame, Root::Values, cases(1000));
}

/// Of programs that store in place, those that one kernel can do.
TEST_F(FuzzTest, LinearInterpreterAgreesOnStores) {
  runLinear(Mode::Wild, Root::Stores, cases(8000));
}

/// Whether the order of STOREs says nothing: a rule may make two of them one,
/// or one independent of another that it depended on.
bool isOrderFree(ProgramOp program) {
  std::set<int64_t> slots;
  for (Operation *op : toposort(program.getRoot())) {
    auto store = dyn_cast<StoreOp>(op);
    if (isa<AfterOp>(op) ||
        (store && !slots.insert(getStoredBuffer(store).getSlot()).second))
      return false;
  }
  return true;
}

TEST_F(FuzzTest, SimplifyKeepsStores) {
  uint64_t compared = 0;
  PassManager pm(&context);
  pm.nest<ProgramOp>().addPass(createUopInlineCalls());
  pm.nest<ProgramOp>().addPass(createUopSimplify());
  forEachProgram(
      Mode::Wild, Root::Stores, cases(2000),
      [&](RandomProgram &made, const ShapedResults &want, std::string uir) {
        if (!isOrderFree(made.program))
          return;
        ++compared;
        ASSERT_TRUE(succeeded(pm.run(*made.module))) << explain(uir);
        FailureOr<ShapedResults> got =
            evaluateShapedProgram(made.program, made.inputs);
        ASSERT_TRUE(succeeded(got)) << explain(uir);
        ASSERT_EQ(got->outputs.size(), want.outputs.size()) << explain(uir);
        for (auto [a, b] : llvm::zip_equal(got->outputs, want.outputs))
          expectSame(a, b, std::nullopt, uir);
        for (const auto &[slot, array] : want.buffers)
          expectSame(got->buffers[slot], array, std::nullopt, uir);
      });
  EXPECT_GE(compared, cases(2000) / 10);
}

void FuzzTest::runCompiled(Mode mode, Root root, bool strict, uint64_t count) {
  constexpr size_t batchSize = 40;
  struct Case {
    uint64_t seed;
    std::string uir;
    int64_t slot;
    RandomProgram made;
    ShapedResults want;
  };
  std::vector<Case> waiting;
  CompiledBatch batch;
  auto flush = [&] {
    std::string error;
    ASSERT_TRUE(batch.compile(strict, error))
        << error << "\nin a batch from seed " << waiting.front().seed << " on\n"
        << batch.source();
    for (size_t i = 0; i < waiting.size() && !HasFailure(); ++i) {
      Case &it = waiting[i];
      seed = it.seed;
      ArrayMap got = batch.run(i);
      expectResults(got, it.slot, it.made, it.want,
                    strict ? std::nullopt : std::optional(it.made.tolerance),
                    it.uir);
    }
    waiting.clear();
    batch = CompiledBatch();
  };
  forEachProgram(
      mode, root, count,
      [&](RandomProgram &made, const ShapedResults &want, std::string uir) {
        int64_t slot = getOutputSlot(made.program.getRoot());
        if (!lower(made, uir))
          return;
        ASSERT_TRUE(batch.add(made.program, makeBuffers(made, slot, want)))
            << explain(uir);
        waiting.push_back({seed, uir, slot, std::move(made), want});
        if (waiting.size() == batchSize)
          flush();
      });
  if (!waiting.empty() && !HasFailure())
    flush();
}

TEST_F(FuzzTest, StrictCIsExact) {
  runCompiled(Mode::Wild, Root::Value, /*strict=*/true, cases(1800));
  runCompiled(Mode::Wild, Root::Values, /*strict=*/true, cases(400));
}

TEST_F(FuzzTest, StrictCIsExactOnStores) {
  runCompiled(Mode::Wild, Root::Stores, /*strict=*/true, cases(1500));
}

TEST_F(FuzzTest, DefaultCIsWithinTolerance) {
  runCompiled(Mode::Tame, Root::Value, /*strict=*/false, cases(1200));
  runCompiled(Mode::Tame, Root::Values, /*strict=*/false, cases(400));
}

} // namespace
