//===- ProofTest.cpp - every rule, proved ---------------------------------===//
//
// Runs one rule at a time on templates and on random expressions, and asks Z3
// whether what it made can differ. What Z3 doesn't know in time, and floats, are
// evaluated. UOP_PROVE=1 proves more instances with longer limits.
//
//===----------------------------------------------------------------------===//

#include "Expression.h"
#include "Points.h"
#include "RandomExpression.h"
#include "Smt.h"
#include "Templates.h"
#include "Uop/Graph/Bounds.h"
#include "Uop/Target/Uir.h"
#include "Uop/Transforms/Difference.h"
#include "Uop/Transforms/RuleSets.h"
#include "gtest/gtest.h"
#include <iostream>
#include <numeric>
#include <random>

using namespace mlir;
using namespace uop;
using namespace uop::proofs;

namespace {

bool isThorough() { return std::getenv("UOP_PROVE") != nullptr; }

/// Nodes of a program as `.uir`, for messages.
std::string print(ProgramOp program) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printUir(program, os);
  return text;
}

/// Before and after one rule.
struct Instance {
  OwningOpRef<ProgramOp> before, after;
};

/// Everything that is to be shown of one rule.
class Proof {
public:
  Proof(MLIRContext &context, llvm::StringRef name,
        const FrozenRewritePatternSet &rule)
      : context(context), name(name), rule(rule) {}

  void addTemplates();
  void addRandom(unsigned count, bool floats);
  void addPrograms();
  /// Whether nothing was found that is wrong.
  bool check();

  /// Graphs on which the rule fired, and how each was judged.
  unsigned fired = 0, proved = 0, asVectors = 0, timedOut = 0, evaluated = 0, compared = 0;
  int64_t points = 0;
  std::string failure;
  /// Whether every graph is evaluated before Z3 sees some of them.
  bool looksAtPoints = true;
  /// Whether rounding may differ.
  bool isExempt = false;

private:
  void apply(OwningOpRef<ProgramOp> program);
  void fail(Instance &instance, const std::string &how) {
    if (failure.empty())
      failure = name + ": " + how + "\nbefore:\n" + print(*instance.before) +
                "after:\n" + print(*instance.after);
  }
  bool prove(Theory theory, std::vector<unsigned> &open, unsigned limit);

  MLIRContext &context;
  std::string name;
  const FrozenRewritePatternSet &rule;
  std::vector<Instance> instances; // those that go to Z3
  size_t maxProofs = isThorough() ? 400 : 48;
  /// From templates, from random expressions.
  unsigned maxFired = isThorough() ? 20000 : 1000;
  std::mt19937 random;
  unsigned offered = 0;
};

void Proof::apply(OwningOpRef<ProgramOp> program) {
  if (!program)
    return;
  Instance instance;
  instance.before = cast<ProgramOp>(program->clone());
  RewriteOptions options;
  FailureOr<RewriteStats> stats = graphRewrite(*program, rule, options);
  instance.after = std::move(program);
  if (failed(stats)) {
    fail(instance, "the rewrite fails");
    return;
  }
  if (stats->getSteps() == 0)
    return;
  ++fired;
  PointsResult result =
      comparePoints(instance.before->getRoot(), instance.after->getRoot(),
                    looksAtPoints ? 256 : 0, isExempt);
  points += result.points;
  if (!result.isSame) {
    fail(instance, "refuted at " + result.counterexample);
    return;
  }
  if (isExempt)
    return;
  // As good a mixture of all of them as there is (reservoir sampling).
  ++offered;
  size_t place = instances.size() < maxProofs ? instances.size()
                                              : random() % offered;
  if (place == instances.size())
    instances.push_back(std::move(instance));
  else if (place < maxProofs)
    instances[place] = std::move(instance);
}

void Proof::addTemplates() {
  unsigned limit = fired + maxFired;
  const int32_t values[] = {2,  3,  -2, -3, 4, 12,        0,        1,
                            -1, 28, -6, 5,  7, INT32_MIN, INT32_MAX};
  const size_t n = std::size(values);
  for (const Template &entry : getTemplates()) {
    llvm::StringRef text = entry.expression;
    Unknowns unknowns = parseUnknowns(entry.unknowns);
    size_t letters = 0, cases = 1;
    while (text.contains(static_cast<char>('C' + letters))) {
      ++letters;
      cases *= n;
    }
    // Of three constants, a third of the cases.
    size_t stride = letters > 2 ? 7 : 1;
    for (size_t at = 0; at < cases && failure.empty() && fired < limit; at += stride) {
      std::map<char, int32_t> constants;
      size_t left = at;
      for (size_t i = 0; i < letters; ++i, left /= n)
        constants['C' + i] = values[left % n];
      auto program = makeProgram(&context, [&](UniquingBuilder &builder) {
        return parseExpression(builder, text, unknowns, constants);
      });
      ASSERT_TRUE(program) << text.str();
      apply(std::move(program));
    }
  }
}

void Proof::addRandom(unsigned count, bool floats) {
  unsigned limit = fired + maxFired;
  for (unsigned seed = 0;
       seed < count && failure.empty() && fired < limit; ++seed)
    apply(makeProgram(&context, [&](UniquingBuilder &builder) {
      return makeRandomExpression(builder, seed, floats);
    }));
}

void Proof::addPrograms() {
  for (const char *text : getProgramTemplates()) {
    llvm::SourceMgr sources;
    sources.AddNewSourceBuffer(
        llvm::MemoryBuffer::getMemBuffer(text, "template.uir"),
        llvm::SMLoc());
    OwningOpRef<ModuleOp> module = parseUir(sources, &context);
    ASSERT_TRUE(module) << text;
    ProgramOp program = *module->getOps<ProgramOp>().begin();
    Instance instance;
    instance.before = cast<ProgramOp>(program->clone());
    FailureOr<RewriteStats> stats = graphRewrite(program, rule);
    instance.after = cast<ProgramOp>(program->clone());
    if (failed(stats))
      return fail(instance, "the rewrite fails");
    if (stats->getSteps() == 0)
      continue;
    ++fired;
    Comparison comparison = compare(*instance.before, *instance.after);
    if (comparison.outcome == Comparison::Different)
      return fail(instance, comparison.message + " for " +
                                formatInputs(comparison.inputs));
    EXPECT_EQ(comparison.outcome, Comparison::Same)
        << name << ": " << comparison.message << "\n"
        << text;
    ++compared;
  }
}

/// Asks about the instances in `open`, and leaves those that are undecided.
bool Proof::prove(Theory theory, std::vector<unsigned> &open, unsigned limit) {
  std::vector<std::string> queries;
  std::vector<unsigned> asked, left;
  for (unsigned i : open) {
    std::optional<std::string> query = makeQuery(
        instances[i].before->getRoot(), instances[i].after->getRoot(), theory);
    if (query) {
      queries.push_back(std::move(*query));
      asked.push_back(i);
    } else {
      left.push_back(i);
    }
  }
  if (queries.empty())
    return true;
  std::string error;
  std::vector<Answer> answers = askZ3(queries, limit, error);
  if (answers.empty()) {
    failure = name + ": " + error;
    return false;
  }
  for (size_t k = 0; k < answers.size(); ++k) {
    Instance &instance = instances[asked[k]];
    if (answers[k] == Answer::Proved)
      ++proved;
    else if (answers[k] == Answer::TimedOut)
      left.push_back(asked[k]);
    else
      fail(instance, "refuted by Z3: " + getModel(queries[k], 4 * limit));
  }
  llvm::sort(left);
  open = left;
  return failure.empty();
}

bool Proof::check() {
  std::vector<unsigned> open(instances.size());
  std::iota(open.begin(), open.end(), 0);
  // Most are decided as vectors at once; division is what integers are for.
  if (!failure.empty() ||
      !prove(Theory::BitVectors, open, isThorough() ? 5000 : 100))
    return false;
  asVectors = proved;
  if (!prove(Theory::Integers, open, isThorough() ? 20000 : 1000))
    return false;
  for (unsigned i : open) {
    Instance &instance = instances[i];
    bool isInteger = makeQuery(instance.before->getRoot(),
                               instance.after->getRoot(), Theory::BitVectors)
                         .has_value();
    ++(isInteger ? timedOut : evaluated);
    PointsResult result =
        comparePoints(instance.before->getRoot(), instance.after->getRoot(),
                      isThorough() ? 1 << 20 : 1 << 14);
    points += result.points;
    if (!result.isSame)
      fail(instance, "refuted at " + result.counterexample);
  }
  return failure.empty();
}

//===----------------------------------------------------------------------===//
// The rules
//===----------------------------------------------------------------------===//

/// Every rule by name, in the order of the sets.
std::vector<std::string> getRules() {
  MLIRContext context;
  context.loadDialect<UopDialect>();
  std::vector<std::string> names;
  for (const RuleSet &set : getRuleSets()) {
    RewritePatternSet patterns(&context);
    set.populate(patterns);
    for (const auto &pattern : patterns.getNativePatterns()) {
      std::string name = pattern->getDebugName().str();
      if (!llvm::is_contained(names, name))
        names.push_back(name);
    }
  }
  return names;
}

/// The patterns of one rule.
FrozenRewritePatternSet getRule(MLIRContext &context, llvm::StringRef name) {
  RewritePatternSet rule(&context);
  for (const RuleSet &set : getRuleSets()) {
    RewritePatternSet patterns(&context);
    set.populate(patterns);
    for (auto &pattern : patterns.getNativePatterns())
      if (pattern->getDebugName() == name)
        rule.add(std::move(pattern));
  }
  return rule;
}

class RuleProof : public testing::TestWithParam<std::string> {};

TEST_P(RuleProof, Holds) {
  std::string name = GetParam();
  MLIRContext context;
  context.loadDialect<UopDialect>();
  FrozenRewritePatternSet rule = getRule(context, name);
  Proof proof(context, name, rule);
  for (const Exemption &exemption : getExemptions()) {
    llvm::StringRef rule = exemption.rule;
    proof.isExempt |= name == rule || (rule.ends_with("/") &&
                                       llvm::StringRef(name).starts_with(rule));
  }
  proof.addPrograms();
  proof.addTemplates();
  if (!proof.isExempt) {
    proof.addRandom(isThorough() ? 100000 : 4000, /*floats=*/false);
    proof.addRandom(isThorough() ? 50000 : 2000, /*floats=*/true);
  }
  EXPECT_TRUE(proof.check()) << proof.failure;
  std::cout << name << ": fired on " << proof.fired << " graphs; "
               << proof.proved << " proved (" << proof.asVectors
               << " as vectors), " << proof.timedOut
               << " timed out and evaluated, " << proof.evaluated
               << " no integers and evaluated, " << proof.compared
               << " programs compared, " << proof.points << " points\n";
  EXPECT_GT(proof.fired, 0u) << name << " fires on no template (Templates.cpp)";
}

std::string getTestName(const testing::TestParamInfo<std::string> &info) {
  std::string name = info.param;
  for (char &c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)))
      c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Rules, RuleProof, testing::ValuesIn(getRules()),
                         getTestName);

//===----------------------------------------------------------------------===//
// That a wrong rule is found
//===----------------------------------------------------------------------===//

/// (a // -2) // -3 -> (a + shift) // 6, right for a shift of 1 where a + 1 does
/// not wrap.
struct NestedDivision : OpRewritePattern<FloorDivOp> {
  NestedDivision(MLIRContext *context, int32_t shift, bool checksWrapping)
      : OpRewritePattern(context), shift(shift),
        checksWrapping(checksWrapping) {
    setDebugName("planted/nested-division");
  }

  static bool isConstant(Value value, int32_t wanted) {
    auto constant = value.getDefiningOp<ConstOp>();
    return constant &&
           static_cast<int32_t>(getWord(constant.getValue())) == wanted;
  }

  LogicalResult matchAndRewrite(FloorDivOp op,
                                PatternRewriter &rewriter) const override {
    auto inner = op->getOperand(0).getDefiningOp<FloorDivOp>();
    if (!inner || !isConstant(inner->getOperand(1), -2) ||
        !isConstant(op->getOperand(1), -3))
      return failure();
    Value a = inner->getOperand(0);
    if (checksWrapping && Bounds().vmax(a) > INT32_MAX - 2)
      return failure();
    auto make = [&](int32_t value) -> Value {
      return ConstOp::create(rewriter, op.getLoc(), rewriter.getI32Type(),
                             rewriter.getI32IntegerAttr(value));
    };
    Value sum = shift == 0 ? a
                           : AddOp::create(rewriter, op.getLoc(), a, make(shift))
                                 .getResult();
    rewriter.replaceOpWithNewOp<FloorDivOp>(op, sum, make(6));
    return success();
  }

  int32_t shift;
  bool checksWrapping;
};

std::string proveNestedDivision(int32_t shift, bool checksWrapping,
                                bool points = true) {
  MLIRContext context;
  context.loadDialect<UopDialect>();
  RewritePatternSet patterns(&context);
  patterns.add<NestedDivision>(&context, shift, checksWrapping);
  FrozenRewritePatternSet rule(std::move(patterns));
  Proof proof(context, "planted", rule);
  proof.looksAtPoints = points;
  proof.addTemplates();
  EXPECT_GT(proof.fired, 0u);
  proof.check();
  return proof.failure;
}

TEST(PlantedRule, IsRefutedUnlessRight) {
  EXPECT_EQ(proveNestedDivision(1, true), "");
  EXPECT_NE(proveNestedDivision(1, false), "");
  for (int32_t shift : {-1, 0, 2})
    EXPECT_NE(proveNestedDivision(shift, true), "");
}

TEST(PlantedRule, IsRefutedBySolverAlone) {
  EXPECT_EQ(proveNestedDivision(1, true, /*points=*/false), "");
  for (auto [shift, checks] : {std::pair(1, false), std::pair(0, true)}) {
    std::string failure = proveNestedDivision(shift, checks, false);
    EXPECT_TRUE(llvm::StringRef(failure).contains("refuted by Z3")) << failure;
  }
}

/// Z3 itself, not only the points, finds a difference and a proof.
TEST(Solver, Answers) {
  MLIRContext context;
  context.loadDialect<UopDialect>();
  auto parse = [&](llvm::StringRef text) {
    return makeProgram(&context, [&](UniquingBuilder &builder) {
      return parseExpression(builder, text, parseUnknowns("b in -50..60"));
    });
  };
  struct {
    const char *before, *after;
    Answer answer;
  } cases[] = {
      {"a // 2 // 3", "a // 6", Answer::Proved},
      {"(a // -2) // -3", "(a + 1) // 6", Answer::Refuted},
      {"(a // 3) * 3 + a % 3", "a", Answer::Proved},
      {"(b * 3) // 3", "b", Answer::Proved},
      {"(a * 3) // 3", "a", Answer::Refuted}, // wraps
      {"a // 0 + a % 0", "0", Answer::Proved},
      {"-2147483648 // -1", "-2147483648", Answer::Proved},
      {"max(a, b)", "where(a < b, b, a)", Answer::Proved},
  };
  // Each in one of the theories at least, and never wrongly in the other.
  for (auto &[before, after, answer] : cases) {
    auto a = parse(before), b = parse(after);
    ASSERT_TRUE(a && b);
    unsigned decided = 0;
    for (Theory theory : {Theory::BitVectors, Theory::Integers}) {
      auto query = makeQuery(a->getRoot(), b->getRoot(), theory);
      ASSERT_TRUE(query);
      std::string error;
      std::vector<Answer> answers = askZ3(*query, 2000, error);
      ASSERT_EQ(answers.size(), 1u) << error;
      if (answers[0] == Answer::TimedOut)
        continue;
      ++decided;
      EXPECT_EQ(answers[0], answer) << before << " and " << after << "\n"
                                    << *query;
    }
    EXPECT_GT(decided, 0u) << before;
  }
}

} // namespace
