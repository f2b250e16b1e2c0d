//===- count-uops.cpp - counts the UOps of each program -------------------===//
//
// A tool of an outside project: runs a pass of its own and one of Uop's over
// the programs of a .mlir file, and prints how many UOps each has before and
// after.
//
//===----------------------------------------------------------------------===//

#include "Uop/Graph/Walk.h"
#include "Uop/Transforms/Passes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"

namespace {

/// Prints the name of a program and the number of its UOps.
struct CountUops
    : mlir::PassWrapper<CountUops, mlir::OperationPass<uop::ProgramOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CountUops)

  void runOnOperation() override {
    uop::ProgramOp program = getOperation();
    size_t inBlock = 0;
    for (mlir::Operation &op : program.getBodyBlock())
      inBlock += uop::getOpCode(&op).has_value();
    llvm::outs() << program.getSymName() << ": " << inBlock << " UOps, "
                 << uop::toposort(program.getRoot()).size() << " reached\n";
    markAllAnalysesPreserved();
  }
};

} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    llvm::errs() << "usage: count-uops FILE.mlir\n";
    return 2;
  }
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<uop::UopDialect>();
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(argv[1], &context);
  if (!module)
    return 1;
  mlir::PassManager passes(&context);
  passes.addNestedPass<uop::ProgramOp>(std::make_unique<CountUops>());
  passes.addNestedPass<uop::ProgramOp>(uop::createUopRangeify());
  passes.addNestedPass<uop::ProgramOp>(std::make_unique<CountUops>());
  return mlir::failed(passes.run(*module));
}
