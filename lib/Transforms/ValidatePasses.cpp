//===- ValidatePasses.cpp - the interpreter around every pass -------------===//
//
// Keeps a copy of each program while a pass runs on it, and compares.
//
//===----------------------------------------------------------------------===//

#include "Uop/Transforms/ValidatePasses.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace uop;

namespace {

class PassValidator : public PassInstrumentation {
public:
  PassValidator(std::atomic<bool> &found, const ValidateOptions &options)
      : found(found), options(options) {}

  // Calls come one at a time, but passes run on several programs at once.
  void runBeforePass(Pass *pass, Operation *op) override;
  void runAfterPass(Pass *pass, Operation *op) override;
  void runAfterPassFailed(Pass *pass, Operation *op) override {
    copies.erase({pass, op});
  }

private:
  /// Passes that only run the passes nested in them.
  static bool isAdaptor(Pass *pass) {
    return pass->getName().ends_with("OpToOpPassAdaptor");
  }
  void check(Pass *pass, ProgramOp before, ProgramOp after);
  void report(Pass *pass, Operation *after, llvm::StringRef program,
              const Comparison &comparison);

  std::atomic<bool> &found;
  ValidateOptions options;
  std::map<std::pair<Pass *, Operation *>, OwningOpRef<Operation *>> copies;
};

} // namespace

void PassValidator::runBeforePass(Pass *pass, Operation *op) {
  if (found || isAdaptor(pass))
    return;
  bool hasPrograms = isa<ProgramOp>(op);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      hasPrograms |= !block.getOps<ProgramOp>().empty();
  if (hasPrograms)
    copies[{pass, op}] = op->clone();
}

void PassValidator::runAfterPass(Pass *pass, Operation *op) {
  auto it = copies.find({pass, op});
  if (it == copies.end())
    return;
  OwningOpRef<Operation *> copy = std::move(it->second);
  copies.erase(it);
  if (found)
    return;
  if (auto program = dyn_cast<ProgramOp>(op)) {
    check(pass, cast<ProgramOp>(*copy), program);
    return;
  }
  // Programs of a module, those that are still there under their name.
  llvm::StringMap<ProgramOp> before;
  copy->walk<WalkOrder::PreOrder>([&](ProgramOp program) {
    before[program.getSymName()] = program;
    return WalkResult::skip();
  });
  op->walk<WalkOrder::PreOrder>([&](ProgramOp program) {
    if (ProgramOp old = before.lookup(program.getSymName()))
      check(pass, old, program);
    return found ? WalkResult::interrupt() : WalkResult::skip();
  });
  // And those that became plans.
  op->walk([&](PlanOp plan) {
    if (ProgramOp old = before.lookup(plan.getSymName()))
      report(pass, plan, plan.getSymName(),
             compare(old, plan, options.compare));
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
}

void PassValidator::check(Pass *pass, ProgramOp before, ProgramOp after) {
  if (!OperationEquivalence::isEquivalentTo(
          before, after, OperationEquivalence::IgnoreLocations))
    report(pass, after, after.getSymName(),
           compare(before, after, options.compare));
}

void PassValidator::report(Pass *pass, Operation *after,
                           llvm::StringRef program,
                           const Comparison &comparison) {
  llvm::StringRef name = pass->getArgument();
  if (name.empty())
    name = pass->getName();
  if (comparison.outcome == Comparison::Skipped && options.verbose)
    emitRemark(after->getLoc())
        << "pass '" << name << "' is not validated: " << comparison.message;
  if (comparison.outcome != Comparison::Different)
    return;
  found = true;
  InFlightDiagnostic error = emitError(after->getLoc());
  error << "pass '" << name << "' changes what program '" << program
        << "' computes: " << comparison.message;
  if (comparison.op)
    error.attachNote(comparison.op->getLoc())
        << "computed by this " << comparison.op->getName();
  error.attachNote() << "smallest input found: "
                     << formatInputs(comparison.inputs);
}

std::unique_ptr<PassInstrumentation>
uop::createPassValidator(std::atomic<bool> &found,
                         const ValidateOptions &options) {
  return std::make_unique<PassValidator>(found, options);
}
