//===- uop-opt.cpp - passes over .uir and MLIR ----------------------------===//
//
// mlir-opt with the uop dialect and its passes, and with `.uir` as input: that
// is parsed first and handed on as bytecode, which keeps its locations. The
// output is written only when everything has succeeded.
//
//===----------------------------------------------------------------------===//

#include "Uop/Target/Output.h"
#include "Uop/Target/Uir.h"
#include "Uop/Transforms/Passes.h"
#include "Uop/Transforms/RuleReport.h"
#include "Uop/Transforms/ValidatePasses.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/AsmState.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/InitLLVM.h"

using namespace mlir;

namespace {

using Buffer = std::unique_ptr<llvm::MemoryBuffer>;

llvm::cl::opt<bool> validatePasses(
    "uop-validate-passes",
    llvm::cl::desc("Run every program before and after every pass on generated "
                   "inputs, and stop at the first difference"));
llvm::cl::opt<bool> validateVerbose(
    "uop-validate-verbose",
    llvm::cl::desc("With --uop-validate-passes, say which programs could not be "
                   "run, and why"));
/// Whether a pass was found to change what a program computes.
std::atomic<bool> foundDifference = false;

llvm::cl::opt<bool> ruleStats(
    "uop-rule-stats",
    llvm::cl::desc("Say of every pass which rules fired, how often and where"));
llvm::cl::opt<bool> traceRules(
    "uop-trace-rules",
    llvm::cl::desc("Print every rewrite as .uir, before and after"));

/// Has what passes report of their rules written as `.uir`.
void setUpRuleReports() {
  uop::RuleReportDefaults &reports = uop::getRuleReportDefaults();
  reports.stats = ruleStats;
  reports.trace = traceRules;
  reports.printExcerpt = [](Value root, llvm::raw_ostream &os) {
    uop::printUirExcerpt(root, uop::RuleReportDefaults::maxExcerpt, os);
  };
}

/// Runs the pipeline over a `.uir` buffer whose comments say what diagnostics
/// parser and passes are to give. What stock code checks is the text that it
/// parsed itself, so that this has to be done here.
LogicalResult verifyDiagnostics(Buffer buffer, DialectRegistry &registry,
                                const MlirOptMainConfig &config) {
  MLIRContext context(registry);
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  SourceMgrDiagnosticVerifierHandler handler(sources, &context,
                                             config.verifyDiagnosticsLevel());
  if (OwningOpRef<ModuleOp> module = uop::parseUir(sources, &context)) {
    PassManager pm(&context);
    pm.enableVerifier(config.shouldVerifyPasses());
    if (failed(applyPassManagerCLOptions(pm)) ||
        failed(config.setupPassPipeline(pm)))
      return failure();
    // Whether it fails is part of what the expected diagnostics say.
    (void)pm.run(*module);
  }
  return handler.verify();
}

/// The program of a `.uir` buffer as bytecode; null after an error.
Buffer convertToBytecode(Buffer buffer) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  std::string name = buffer->getBufferIdentifier().str();
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  SourceMgrDiagnosticHandler handler(sources, &context);
  OwningOpRef<ModuleOp> module = uop::parseUir(sources, &context);
  if (!module)
    return nullptr;
  std::string bytecode;
  llvm::raw_string_ostream os(bytecode);
  if (failed(writeBytecodeToFile(*module, os)))
    return nullptr;
  // Under its own name diagnostics would quote lines of bytecode.
  return llvm::MemoryBuffer::getMemBufferCopy(bytecode, name + " (bytecode)");
}

/// Processes one `.uir` program: a file, or a part of one.
LogicalResult processUir(Buffer buffer, llvm::raw_ostream &os,
                         DialectRegistry &registry, MlirOptMainConfig config) {
  if (config.shouldVerifyDiagnostics())
    return verifyDiagnostics(std::move(buffer), registry, config);
  Buffer bytecode = convertToBytecode(std::move(buffer));
  return success(bytecode && succeeded(MlirOptMain(os, std::move(bytecode),
                                                   registry, config)));
}

LogicalResult process(Buffer buffer, llvm::raw_ostream &os,
                      DialectRegistry &registry, MlirOptMainConfig config) {
  if (!uop::isUir(buffer->getBufferIdentifier(), buffer->getBuffer()))
    return MlirOptMain(os, std::move(buffer), registry, config);
  // `//` begins no comment in `.uir`.
  std::string marker = config.inputSplitMarker().str();
  if (marker == kDefaultSplitMarker)
    marker = "# -----";
  std::string outputMarker = std::as_const(config).outputSplitMarker().str();
  config.splitInputFile("").outputSplitMarker("");
  return splitAndProcessBuffer(
      std::move(buffer),
      [&](Buffer part, llvm::raw_ostream &out) {
        return processUir(std::move(part), out, registry, config);
      },
      os, marker, outputMarker);
}

} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registry.insert<uop::UopDialect>();
  registerAllPasses();
  uop::registerUopPasses();
  uop::registerUopPipelines();
  auto [input, output] = registerAndParseCLIOptions(
      argc, argv, "Passes over .uir and MLIR, with the uop dialect\n",
      registry);
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects()) {
    llvm::outs() << "Available Dialects: ";
    llvm::interleave(registry.getDialectNames(), llvm::outs(), ",");
    llvm::outs() << "\n";
    return 0;
  }
  if (config.shouldListPasses()) {
    printRegisteredPasses();
    return 0;
  }

  if (validatePasses)
    config.setPassPipelineSetupFn([inner = config](PassManager &pm) {
      uop::ValidateOptions options;
      options.verbose = validateVerbose;
      pm.addInstrumentation(
          uop::createPassValidator(foundDifference, options));
      return inner.setupPassPipeline(pm);
    });

  setUpRuleReports();
  std::string error;
  Buffer buffer = openInputFile(input, &error);
  if (!buffer) {
    llvm::errs() << "error: " << error << "\n";
    return 1;
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  if (failed(process(std::move(buffer), os, registry, config)) ||
      foundDifference)
    return 1;
  return failed(uop::writeOutput(output, text));
}
