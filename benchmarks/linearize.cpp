//===- linearize.cpp - how long scheduling takes --------------------------===//
//
// Prints one line per program, as graph.cpp does: the median of several runs of
// `linearize` alone.
//
//===----------------------------------------------------------------------===//

#include "Uop/Transforms/Linearize.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

using namespace mlir;
using namespace uop;

namespace {

using Build = llvm::function_ref<Value(UniquingBuilder &)>;

/// `row[i]` of buffer `slot`.
Value loadAt(UniquingBuilder &g, int64_t slot, Value index) {
  return g.load(g.index(g.buffer(slot, DType::F32, 1 << 20), index));
}

/// Three loops in each other, and `steps` elementwise steps of three ops
/// inside.
Value buildNest(UniquingBuilder &g, int steps) {
  Value i = g.range(g.i32(8), 0), j = g.range(g.i32(8), 1),
        k = g.range(g.i32(8), 2);
  Value at = g.add(g.mul(g.add(g.mul(i, g.i32(8)), j), g.i32(8)), k);
  Value x = loadAt(g, 0, at);
  for (int n = 0; n < steps; ++n)
    x = g.add(x, loadAt(g, 0, g.add(at, g.i32(n))));
  Value out = g.index(g.buffer(1, DType::F32, 1 << 20), at);
  return g.sink(g.end(g.store(out, x), {i, j, k}));
}

/// `count` sums, each in a loop of its own inside one loop over rows, added up.
Value buildSums(UniquingBuilder &g, int count) {
  Value i = g.range(g.i32(64), 0), zero = g.i32(0);
  Value total = g.f32(0);
  for (int n = 0; n < count; ++n) {
    Value k = g.range(g.i32(64), n + 1);
    Value acc = g.after(g.alloc(n, DType::F32, 1), i);
    Value init = g.store(g.index(acc, zero), g.f32(0));
    Value inner = g.after(acc, {init, k});
    Value at = g.index(inner, zero);
    Value term = loadAt(g, n + 1, g.add(g.mul(i, g.i32(64)), k));
    Value update = g.store(at, g.add(g.load(at), g.mul(term, term)));
    Value result = g.after(acc, g.end(update, k));
    total = g.add(total, g.load(g.index(result, zero)));
    for (int more = 0; more < 4; ++more)
      total = g.mul(total, g.f32(1.0f + n + more));
  }
  Value out = g.index(g.buffer(0, DType::F32, 64), i);
  return g.sink(g.end(g.store(out, total), i));
}

void measure(llvm::StringRef name, int runs, llvm::StringRef bound,
             Build build) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<UopDialect>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  ProgramOp program = createProgram(builder, module->getLoc(), "bench");
  UniquingBuilder graph(&program.getBodyBlock());
  Value sink = build(graph);
  std::vector<double> times;
  size_t size = 0;
  for (int run = 0; run < runs; ++run) {
    auto start = std::chrono::steady_clock::now();
    auto schedule = linearize(sink);
    std::chrono::duration<double, std::milli> took =
        std::chrono::steady_clock::now() - start;
    if (failed(schedule))
      return;
    size = schedule->size();
    times.push_back(took.count());
  }
  std::sort(times.begin(), times.end());
  llvm::outs() << "linearize " << size << " ops, " << name << "\t"
               << llvm::format("%.3f", times[times.size() / 2]) << "\tms\t"
               << bound << "\n";
}

} // namespace

int main() {
  measure("3 loops deep", 11, "10",
          [](UniquingBuilder &g) { return buildNest(g, 3997); });
  measure("400 sums in loops of their own", 11, "10",
          [](UniquingBuilder &g) { return buildSums(g, 400); });
  measure("3 loops deep", 3, "",
          [](UniquingBuilder &g) { return buildNest(g, 19997); });
  measure("3 loops deep", 3, "",
          [](UniquingBuilder &g) { return buildNest(g, 199997); });
  return 0;
}
