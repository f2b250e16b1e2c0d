//===- PlanFuzzTest.cpp - random programs through the planner -------------===//
//
// Random programs of several results are cut into kernels; the plan, evaluated
// launch by launch over bytes, must give what the shaped interpreter gives, and
// take no more than `workBound` times the operations of the graph.
//
// UOP_FUZZ_CASES programs, from seed UOP_FUZZ_SEED on.
//
//===----------------------------------------------------------------------===//

#include "Comparison.h"
#include "RandomProgram.h"
#include "RandomValues.h"
#include "Uop/Graph/Walk.h"
#include "Uop/Transforms/EvaluatePlan.h"
#include "Uop/Transforms/Kernelize.h"
#include "Uop/Transforms/Linearize.h"
#include "Uop/Transforms/Rangeify.h"
#include "mlir/IR/Verifier.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace mlir;
using namespace uop;
using namespace uop::fuzz;

namespace {

/// What differs between an array and the one expected; empty if nothing.
std::string compare(const Array &got, const Array &want) {
  if (got.dtype != want.dtype || got.data.size() != want.data.size())
    return "another type";
  for (size_t i = 0; i < want.data.size(); ++i)
    if (!agree(want.dtype, got.data[i], want.data[i]))
      return "element " + std::to_string(i) + " is " +
             std::to_string(got.data[i]) + ", not " +
             std::to_string(want.data[i]);
  return "";
}

std::string compare(llvm::ArrayRef<Array> got, llvm::ArrayRef<Array> want) {
  if (got.size() != want.size())
    return "the number of outputs differs";
  for (size_t i = 0; i < got.size(); ++i) {
    if (got[i].shape != want[i].shape)
      return "output " + std::to_string(i) + " has another shape";
    if (std::string what = compare(got[i], want[i]); !what.empty())
      return "output " + std::to_string(i) + ": " + what;
  }
  return "";
}

/// Whether an op computes a float or a bool out of such: not index arithmetic.
bool isCounted(Operation *op) {
  std::optional<OpCode> code = uop::getOpCode(op);
  return code && isAlu(*code) &&
         llvm::none_of(op->getOperandTypes(),
                       [](Type type) { return getDType(type) == DType::I32; });
}

/// Operations of a graph that is computed node by node; a STACK chooses between
/// its sources.
double countGraph(ProgramOp program) {
  double count = 0;
  for (Operation *op : toposort(program.getRoot())) {
    Type type = op->getResult(0).getType();
    if (auto reduce = dyn_cast<ReduceOp>(op))
      count += *getNumElements(getShape(reduce.getSource().getType()));
    else if (isa<StackOp>(op))
      count += (op->getNumOperands() - 1.0) * *getNumElements(getShape(type));
    else if (isCounted(op) || (isa<LoadOp>(op) && op->getNumOperands() > 1))
      count += *getNumElements(getShape(type));
  }
  return count;
}

/// Those of a kernel once it is lowered: of each op, in all turns of the loops
/// around it.
double countKernel(ProgramOp kernel) {
  OwningOpRef<ProgramOp> lowered = cast<ProgramOp>(kernel->clone());
  if (failed(rangeify(*lowered)) || failed(linearize(*lowered)))
    return HUGE_VAL;
  double count = 0;
  llvm::SmallVector<double> turns{1};
  for (Operation &op : lowered->getBodyBlock())
    if (auto range = dyn_cast<RangeOp>(op))
      turns.push_back(turns.back() *
                      static_cast<int32_t>(getWord(
                          range.getEnd().getDefiningOp<ConstOp>().getValue())));
    else if (auto end = dyn_cast<EndOp>(op))
      turns.pop_back_n(end.getRanges().size());
    else if (isCounted(&op))
      count += turns.back();
  return count;
}

class PlanFuzzTest : public testing::Test {
protected:
  PlanFuzzTest()
      : handler(&context, [this](Diagnostic &diagnostic) {
          diagnostics += diagnostic.str() + "\n";
        }) {
    context.loadDialect<UopDialect>();
  }

  /// Plans random programs with roots of this kind. Refusals may be as many as
  /// one in `mayRefuse`, and say `refusal`.
  void run(Root root, uint64_t cases, uint64_t mayRefuse,
           llvm::StringRef refusal);
  std::string check(uint64_t seed, Root root, llvm::StringRef refusal);

  MLIRContext context{MLIRContext::Threading::DISABLED};
  std::string diagnostics;
  ScopedDiagnosticHandler handler;
  uint64_t refused = 0, launches = 0;
  /// Operations of all programs, node by node and as planned.
  double graphWork = 0, planWork = 0;
};

/// What is wrong with the plan of a seed's program; empty if nothing.
std::string PlanFuzzTest::check(uint64_t seed, Root root,
                                llvm::StringRef refusal) {
  diagnostics.clear();
  RandomProgram made = makeRandomProgram(&context, seed, Mode::Wild, root);
  FailureOr<ShapedResults> want =
      evaluateShapedProgram(made.program, made.inputs);
  std::string text;
  llvm::raw_string_ostream os(text);
  auto fail = [&](const llvm::Twine &what) {
    os << *made.module;
    return (diagnostics + what + "\n" + text).str();
  };
  if (failed(want))
    return fail("the interpreter fails");
  os << *made.module;
  // The work of the graph with its CALLs inlined.
  double work = HUGE_VAL;
  OwningOpRef<ProgramOp> inlined = cast<ProgramOp>(made.program->clone());
  if (succeeded(rebuildProgram(*inlined, [&](UniquingBuilder &builder) {
        return inlineCalls(builder, inlined->getRoot());
      })))
    work = countGraph(*inlined);
  Random random(seed ^ 0x9e3779b97f4a7c15ull);
  KernelizeOptions options;
  bool isTight = random.below(4) == 0;
  if (isTight)
    options.maxParameters = 3 + random.below(4);
  FailureOr<PlanOp> plan = kernelize(made.program, options);
  if (failed(plan)) {
    llvm::StringRef why(diagnostics);
    if (!(isTight && why.contains("alone needs")) &&
        (refusal.empty() || !why.contains(refusal)))
      return fail("not planned");
    ++refused;
    return "";
  }
  if (failed(verify(*made.module)))
    return fail("the plan is malformed");
  ArrayMap buffers = made.inputs;
  FailureOr<std::vector<Array>> got = evaluatePlan(*plan, buffers);
  if (failed(got))
    return fail("the plan does not run");
  if (std::string what = compare(*got, want->outputs); !what.empty())
    return fail(what);
  for (const auto &[slot, array] : made.inputs) {
    auto changed = want->buffers.find(slot);
    const Array &expected =
        changed == want->buffers.end() ? array : changed->second;
    if (std::string what = compare(buffers[slot], expected); !what.empty())
      return fail("BUFFER slot " + llvm::Twine(slot) + ": " + what);
  }
  double planned = 0;
  for (auto launch : plan->getBodyBlock().getOps<LaunchOp>()) {
    planned += countKernel(SymbolTable::lookupNearestSymbolFrom<ProgramOp>(
        launch, launch.getKernelAttr()));
    if (launch.getMemory().size() > size_t(options.maxParameters))
      return fail("a launch has too many buffers");
    ++launches;
  }
  if (planned > workBound * work)
    return fail("the plan takes " + std::to_string(planned) +
                " operations, the graph " + std::to_string(work));
  graphWork += work;
  planWork += planned;
  return "";
}

void PlanFuzzTest::run(Root root, uint64_t cases, uint64_t mayRefuse,
                       llvm::StringRef refusal) {
  uint64_t first = getVariable("UOP_FUZZ_SEED", 0);
  cases = getVariable("UOP_FUZZ_CASES", cases);
  for (uint64_t seed = first; seed < first + cases; ++seed)
    ASSERT_EQ(check(seed, root, refusal), "") << "seed " << seed;
  EXPECT_GE(launches, cases / 2);
  EXPECT_LE(refused, cases / mayRefuse + 1);
  EXPECT_LE(planWork, graphWork);
}

TEST_F(PlanFuzzTest, PlansOfValues) { run(Root::Values, 1500, 8, ""); }

TEST_F(PlanFuzzTest, PlansOfStores) {
  run(Root::Stores, 1500, 3, "a cycle through BUFFER slot");
}

} // namespace
