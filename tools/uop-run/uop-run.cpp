//===- uop-run.cpp - compile and run a program ----------------------------===//
//
// The command line around the runtime: reads a program and its inputs, runs it on
// the CPU or through an interpreter, prints or writes what comes out.
//
//===----------------------------------------------------------------------===//

#include "PlanSession.h"
#include "Profile.h"
#include "Session.h"
#include "Uop/Target/Uir.h"
#include "mlir/IR/AsmState.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/InitLLVM.h"

using namespace uop;

namespace {

mlir::OwningOpRef<mlir::ModuleOp> parse(llvm::SourceMgr &sourceMgr,
                                        llvm::StringRef name,
                                        mlir::MLIRContext *context) {
  const llvm::MemoryBuffer *buffer =
      sourceMgr.getMemoryBuffer(sourceMgr.getMainFileID());
  if (isUir(name, buffer->getBuffer()))
    return parseUir(sourceMgr, context);
  return mlir::parseSourceFile<mlir::ModuleOp>(sourceMgr, context);
}

/// The op that is to run, a program or a plan; null after an error. A module with
/// a plan is run by that.
mlir::Operation *choose(mlir::ModuleOp module, const Options &options) {
  auto find = [&](auto ops) {
    llvm::SmallVector<mlir::Operation *> found;
    for (auto op : ops)
      if (options.program.empty() || op.getSymName() == options.program)
        found.push_back(op);
    return found;
  };
  llvm::SmallVector<mlir::Operation *> found = find(module.getOps<PlanOp>());
  bool isPlan = !found.empty();
  if (!isPlan)
    found = find(module.getOps<ProgramOp>());
  if (found.size() == 1)
    return found[0];
  if (found.empty())
    fail(options.file + ": " +
         (options.program.empty() ? "no program in it" : "no such program"));
  else
    fail(options.file + ": several " + (isPlan ? "plans" : "programs") +
         ": choose one with --program=NAME");
  return nullptr;
}

int run(mlir::ModuleOp module, const Options &options) {
  mlir::Operation *op = choose(module, options);
  if (!op)
    return 1;
  if (options.threads)
    setenv("OMP_NUM_THREADS", std::to_string(options.threads).c_str(), 1);
  if (auto plan = mlir::dyn_cast<PlanOp>(op))
    return PlanSession::run(plan, options);
  auto program = mlir::cast<ProgramOp>(op);
  return options.kernelize ? PlanSession::run(program, options)
                           : Session::run(program, options);
}

} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  llvm::Expected<std::optional<Options>> parsed = parseOptions(argc, argv);
  if (!parsed)
    return fail(parsed.takeError());
  if (!*parsed)
    return 0;
  const Options &options = **parsed;
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> file =
      mlir::openInputFile(options.file, &message);
  if (!file)
    return fail(message);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  context.loadDialect<UopDialect>();
  llvm::SourceMgr sourceMgr;
  sourceMgr.AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  mlir::SourceMgrDiagnosticHandler handler(sourceMgr, &context);
  mlir::OwningOpRef<mlir::ModuleOp> module =
      parse(sourceMgr, options.file, &context);
  if (!module)
    return 1;
  Profile profile(options.profile);
  if (profile.start() || run(*module, options))
    return 1;
  return profile.write();
}
