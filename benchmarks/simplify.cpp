//===- simplify.cpp - speed of the rule sets ------------------------------===//
//
// Time of uop-simplify alone, its input built before the clock starts. Prints
// one line per figure: name, value, unit, wanted bound (a leading `>` for "at
// least"), separated by tabs; `run.py` makes a table of them.
//
//===----------------------------------------------------------------------===//

#include "Uop/Transforms/RuleSets.h"
#include "llvm/Support/Format.h"
#include <chrono>
#include <random>

using namespace uop;

namespace {

void report(llvm::StringRef name, double value, llvm::StringRef unit,
            llvm::StringRef bound) {
  llvm::outs() << name << "\t" << llvm::format("%.3f", value) << "\t" << unit
               << "\t" << bound << "\n";
}

/// Programs under the default rules, and what simplifying them takes.
class Bench {
public:
  Bench()
      : context(mlir::MLIRContext::Threading::DISABLED), opBuilder(&context) {
    context.loadDialect<UopDialect>();
    rules.emplace(*getRulePatterns(&context, {}, [](const llvm::Twine &) {}));
  }

  /// A program whose root `build` makes.
  mlir::OwningOpRef<ProgramOp>
  make(llvm::function_ref<mlir::Value(UniquingBuilder &)> build) {
    mlir::OwningOpRef<ProgramOp> program =
        createProgram(opBuilder, mlir::UnknownLoc::get(&context), "expression");
    mlir::Value root;
    {
      UniquingBuilder builder(&program->getBodyBlock());
      root = build(builder);
    }
    finishProgram(*program, root);
    return program;
  }

  /// Milliseconds; adds to `nodes`.
  double run(ProgramOp program) {
    auto start = std::chrono::steady_clock::now();
    auto stats = simplify(program, *rules);
    std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - start;
    if (failed(stats))
      exit(1);
    nodes += stats->nodesBefore;
    return taken.count();
  }

  mlir::MLIRContext context;
  mlir::OpBuilder opBuilder;
  std::optional<RuleIndex> rules;
  int64_t nodes = 0;
};

/// An index expression of `size` nodes: sums, products with constants,
/// quotients and remainders of a few loop counters.
mlir::Value makeIndex(UniquingBuilder &b, std::mt19937 &random, size_t size) {
  auto pick = [&](int n) { return static_cast<int>(random() % n); };
  std::vector<mlir::Value> trees;
  for (int64_t i = 0; i < 4; ++i)
    trees.push_back(b.range(b.i32(2 + pick(30)), i));
  mlir::Value value = trees[0];
  while (b.getBlock()->getOperations().size() < size) {
    mlir::Value other = trees[pick(4)];
    switch (pick(6)) {
    case 0:
      value = b.add(value, b.i32(pick(20)));
      break;
    case 1:
    case 2:
      value = b.add(b.mul(value, b.i32(1 + pick(8))), other);
      break;
    case 3:
      value = b.add(value, b.mul(other, b.i32(1 + pick(8))));
      break;
    case 4:
      value = b.get(OpCode::FloorDiv, {value, b.i32(1 + pick(8))});
      break;
    case 5:
      value = b.get(OpCode::FloorMod, {value, b.i32(2 + pick(40))});
      break;
    }
  }
  return value;
}

void benchIndices() {
  double best = 0;
  for (int run = 0; run < 7; ++run) {
    Bench bench;
    std::mt19937 random(1);
    std::vector<mlir::OwningOpRef<ProgramOp>> programs;
    for (int i = 0; i < 300; ++i)
      programs.push_back(bench.make([&](UniquingBuilder &b) {
        return makeIndex(b, random, 20 + random() % 21);
      }));
    double ms = 0;
    for (auto &program : programs)
      ms += bench.run(*program);
    best = std::max(best, bench.nodes / ms * 1e-3);
  }
  report("simplify 300 index expressions of 20 to 40 nodes", best, "M/s", ">1");
}

/// i + j*3 + ... over loops in random order; half of the terms come up twice.
mlir::Value makeSum(UniquingBuilder &b, int terms) {
  std::mt19937 random(2);
  std::vector<int> order;
  for (int i = 0; i < terms; ++i)
    order.push_back(i / 2 + (i % 2 ? terms : 0) * (i % 4 == 3));
  std::shuffle(order.begin(), order.end(), random);
  mlir::Value end = b.i32(10), sum;
  for (int i : order) {
    mlir::Value term = b.range(end, i);
    sum = sum ? b.add(sum, term) : term;
  }
  return sum;
}

void benchSum() {
  double best = 1e30;
  for (int run = 0; run < 7; ++run) {
    Bench bench;
    auto program =
        bench.make([](UniquingBuilder &b) { return makeSum(b, 10000); });
    best = std::min(best, bench.run(*program));
  }
  report("simplify a sum of 10000 terms", best, "ms", "10");
}

/// Ops of every kind over two arrays and a loop, most of them as they should
/// be.
mlir::Value makeLarge(UniquingBuilder &b, size_t size) {
  mlir::Value i = b.range(b.i32(1000), 0), x = b.buffer(0, DType::F32, 4000);
  mlir::Value sum = b.f32(0.0f);
  size_t n = 0;
  // Nine nodes a turn; the constants among them come up again.
  while (n * 9 < size) {
    mlir::Value index =
        b.add(b.mul(i, b.i32(4)), b.i32(static_cast<int32_t>(n % 4)));
    mlir::Value loaded =
        b.load(b.index(x, b.get(OpCode::FloorDiv, {index, b.i32(4)})));
    mlir::Value scaled =
        b.mul(loaded, b.f32(static_cast<float>(n % 1000) + 0.5f));
    mlir::Value mask =
        b.get(OpCode::CmpLt, {i, b.i32(static_cast<int32_t>(n % 500))});
    sum = b.add(sum, b.where(mask, scaled, sum));
    ++n;
  }
  return sum;
}

void benchLarge() {
  for (size_t size : {1100000, 4500000}) {
    Bench bench;
    auto program =
        bench.make([&](UniquingBuilder &b) { return makeLarge(b, size); });
    double ms = bench.run(*program);
    report("simplify a graph of " + std::to_string(bench.nodes) + " nodes",
           ms * 1e-3, "s", size > 2000000 ? "2" : "");
  }
}

} // namespace

/// With an argument, only that benchmark, for profilers.
int main(int argc, char **argv) {
  llvm::StringRef only = argc > 1 ? argv[1] : "";
  if (only.empty() || only == "indices")
    benchIndices();
  if (only.empty() || only == "sum")
    benchSum();
  if (only.empty() || only == "large")
    benchLarge();
  return 0;
}
