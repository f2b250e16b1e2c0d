//===- graph.cpp - speed of building, parsing and printing graphs ---------===//
//
// Prints one line per figure: name, value, unit, wanted bound (a leading `>` for
// "at least"), separated by tabs; `run.py` makes a table of them.
//
//===----------------------------------------------------------------------===//

#include "Uop/Graph/Walk.h"
#include "Uop/Target/Uir.h"
#include "llvm/Support/Format.h"
#include <chrono>

using namespace uop;

namespace {

/// The least milliseconds of `runs` calls.
template <typename Fn> double measure(int runs, Fn fn) {
  double best = 1e30;
  for (int i = 0; i < runs; ++i) {
    auto start = std::chrono::steady_clock::now();
    fn();
    std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - start;
    best = std::min(best, taken.count());
  }
  return best;
}

void report(llvm::StringRef name, double value, llvm::StringRef unit,
            llvm::StringRef bound) {
  llvm::outs() << name << "\t" << llvm::format("%.3f", value) << "\t" << unit
               << "\t" << bound << "\n";
}

/// Milliseconds for `count` requests for scalar nodes, every second one for a node
/// that exists.
double buildScalars(mlir::MLIRContext *context, int count) {
  mlir::OpBuilder builder(context);
  auto loc = mlir::UnknownLoc::get(context);
  mlir::OwningOpRef<ProgramOp> program = createProgram(builder, loc, "scalars");
  UniquingBuilder graph(&program->getBodyBlock());
  mlir::Type i32 = getScalarType(context, DType::I32);
  mlir::Value x = graph.param(0, i32), y = graph.param(1, i32);
  return measure(1, [&] {
    mlir::Value value = x;
    for (int i = 0; i < count / 2; ++i) {
      mlir::Value next = i % 2 ? graph.add(value, y) : graph.mul(value, x);
      if ((i % 2 ? graph.add(value, y) : graph.mul(value, x)) != next)
        abort();
      value = next;
    }
  });
}

/// A chain of statements of different ops over two buffers.
std::string makeText(int statements) {
  std::string text = "%0 = buffer 16 : dtype=f32 slot=0\n"
                     "%1 = buffer 16 : dtype=f32 slot=1\n"
                     "%2 = add %0, %1\n";
  for (int i = 3; i < statements; ++i) {
    static const char *const ops[] = {"add", "mul", "max"};
    text += "%" + std::to_string(i) + " = " + ops[i % 3] + " %" +
            std::to_string(i - 1) + ", %" + std::to_string(i - 2) + "\n";
  }
  return text;
}

} // namespace

int main() {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<UopDialect>();

  for (int count : {100000, 1000000}) {
    double ms = 1e30;
    for (int run = 0; run < 5; ++run)
      ms = std::min(ms, buildScalars(&context, count));
    report("build " + std::to_string(count) + " scalar nodes, half of them hits",
           count / ms * 1e-3, "M/s", ">5");
  }

  std::string text = makeText(100000);
  mlir::OwningOpRef<mlir::ModuleOp> module;
  double parse = measure(5, [&] {
    module = {};
    llvm::SourceMgr sources;
    sources.AddNewSourceBuffer(
        llvm::MemoryBuffer::getMemBuffer(text, "chain.uir"), llvm::SMLoc());
    module = parseUir(sources, &context);
  });
  if (!module)
    return 1;
  report("parse 100000 statements of .uir", parse, "ms", "150");
  ProgramOp program = *module->getOps<ProgramOp>().begin();
  double print = measure(5, [&] {
    std::string out;
    llvm::raw_string_ostream os(out);
    printUir(program, os);
    if (out != text)
      abort();
  });
  report("print 100000 statements of .uir", print, "ms", "100");
  return 0;
}
