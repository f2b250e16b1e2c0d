//===- plan.cpp - how long plans take -------------------------------------===//
//
// Prints one line per figure, as graph.cpp does. With the argument `cold` only the
// first softmax of this process, which should find an empty kernel cache.
//
//===----------------------------------------------------------------------===//

#include "Uop/Graph/UniquingBuilder.h"
#include "Uop/Runtime/PlanCache.h"
#include "Uop/Runtime/Stopwatch.h"
#include "Uop/Transforms/Kernelize.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace uop;
using namespace uop::runtime;

namespace {

void print(llvm::StringRef name, double value, llvm::StringRef unit,
           llvm::StringRef bound) {
  llvm::outs() << name << "\t" << llvm::format("%.3f", value) << "\t" << unit
               << "\t" << bound << "\n";
}

/// Softmax over the last axis, by its STAGEs in three kernels.
Value buildSoftmax(UniquingBuilder &g, int64_t slot, int64_t rows,
                   int64_t columns) {
  Value x = g.reshape(g.buffer(slot, DType::F32, rows * columns),
                      {rows, columns});
  auto spread = [&](Value row) {
    return g.expand(g.reshape(g.get(OpCode::Stage, row), {rows, 1}),
                    {rows, columns});
  };
  auto number = [&](float value) {
    return g.expand(g.reshape(g.f32(value), {1, 1}), {rows, columns});
  };
  Value maximum = g.reduce(x, ReduceKind::Max, 1);
  Value shifted = g.add(x, g.mul(spread(maximum), number(-1)));
  Value e = g.get(OpCode::Exp2, g.mul(shifted, number(1.442695f)));
  Value sum = g.reduce(e, ReduceKind::Add, 1);
  return g.mul(e, g.get(OpCode::Recip, spread(sum)));
}

/// Row sums, elementwise steps and softmaxes of matrices of different sizes, until
/// there are `kernels` kernels; each has loops and a buffer of its own.
Value buildMany(UniquingBuilder &g, int64_t kernels) {
  llvm::SmallVector<Value> results;
  for (int64_t i = 0, made = 0; made < kernels; ++i) {
    int64_t rows = 3 + i, columns = 4 + i % 50;
    Value x = g.reshape(g.buffer(i, DType::F32, rows * columns),
                        {rows, columns});
    if (i % 3 == 0 && made + 3 <= kernels) {
      results.push_back(buildSoftmax(g, i, rows, columns));
      made += 3;
    } else if (i % 3 == 1) {
      results.push_back(g.reduce(x, ReduceKind::Add, 1));
      ++made;
    } else {
      results.push_back(g.mul(g.get(OpCode::Sin, x), x));
      ++made;
    }
  }
  return g.sink(results);
}

/// A module of one program.
OwningOpRef<ModuleOp> makeModule(MLIRContext &context,
                                 llvm::function_ref<Value(UniquingBuilder &)>
                                     build) {
  context.loadDialect<UopDialect>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  ProgramOp program = createProgram(builder, module->getLoc(), "bench");
  UniquingBuilder graph(&program.getBodyBlock());
  finishProgram(program, build(graph));
  return module;
}

ProgramOp getProgram(OwningOpRef<ModuleOp> &module) {
  return *module->getOps<ProgramOp>().begin();
}

/// Memory for the params of a plan.
std::vector<Buffer> makeBuffers(const Plan &plan) {
  std::vector<Buffer> buffers;
  for (const PlanParam &param : plan.params())
    buffers.push_back(llvm::cantFail(
        Buffer::allocate(param.getByteSize(), Buffer::Fill::Zero)));
  return buffers;
}

void run(const Plan &plan, std::vector<Buffer> &buffers) {
  llvm::SmallVector<Buffer *> pointers;
  for (Buffer &buffer : buffers)
    pointers.push_back(&buffer);
  llvm::cantFail(plan.run(pointers));
}

void benchSoftmax(bool coldOnly) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  OwningOpRef<ModuleOp> module =
      makeModule(context, [](UniquingBuilder &g) {
        return buildSoftmax(g, 0, 3, 4);
      });
  ProgramOp program = getProgram(module);
  PlanCache cache;
  Stopwatch first;
  std::shared_ptr<const Plan> plan = llvm::cantFail(cache.get(program));
  std::vector<Buffer> buffers = makeBuffers(*plan);
  run(*plan, buffers);
  double cold = first.getMilliseconds();
  if (coldOnly) {
    std::string name = "softmax of " + std::to_string(plan->kernels().size()) +
                       " kernels, graph to result, cold";
    return print(name, cold, "ms", "60");
  }
  constexpr int hits = 1000;
  Stopwatch again;
  for (int i = 0; i < hits; ++i)
    llvm::cantFail(cache.get(program));
  print("softmax of 15 nodes, scheduled again",
        again.getMilliseconds() * 1e3 / hits, "us", "20");
  constexpr int runs = 100000;
  Stopwatch running;
  for (int i = 0; i < runs; ++i)
    run(*plan, buffers);
  print("softmax of 12 elements, run", running.getMilliseconds() * 1e3 / runs,
        "us", "");
}

void benchMany() {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  OwningOpRef<ModuleOp> module = makeModule(
      context, [](UniquingBuilder &g) { return buildMany(g, 500); });
  Stopwatch planning;
  FailureOr<PlanOp> op = kernelize(getProgram(module));
  double planned = planning.getMilliseconds();
  if (failed(op))
    return;
  Stopwatch compiling;
  Plan plan = llvm::cantFail(Plan::compile(*op));
  double compiled = compiling.getMilliseconds();
  std::string kernels = std::to_string(plan.kernels().size()) + " kernels ";
  print(kernels + "planned", planned, "ms", "50");
  print(kernels + "compiled, cold", compiled, "ms", "4000");
}

} // namespace

int main(int argc, char **argv) {
  bool coldOnly = argc > 1 && llvm::StringRef(argv[1]) == "cold";
  benchSoftmax(coldOnly);
  if (!coldOnly)
    benchMany();
  return 0;
}
