//===- uop-translate.cpp - .uir to MLIR, MLIR to .uir and C ---------------===//
//
// Like mlir-translate, but the output is written only when the translation has
// succeeded: a failing one leaves an existing file as it was.
//
//===----------------------------------------------------------------------===//

#include "Uop/Target/Output.h"
#include "Uop/Target/Uir.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Support/ToolUtilities.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"

using namespace mlir;
namespace cl = llvm::cl;

namespace {

LogicalResult translate(const Translation &translation,
                        std::unique_ptr<llvm::MemoryBuffer> buffer,
                        bool verifyDiagnostics, llvm::raw_ostream &os) {
  MLIRContext context;
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  if (!verifyDiagnostics) {
    SourceMgrDiagnosticHandler handler(*sources, &context);
    return translation(sources, os, &context);
  }
  context.printOpOnDiagnostic(false);
  SourceMgrDiagnosticVerifierHandler handler(*sources, &context);
  // Whether it fails is part of what the expected diagnostics say.
  (void)translation(sources, os, &context);
  return handler.verify();
}

} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  uop::registerUopTranslations();
  registerAsmPrinterCLOptions();
  registerMLIRContextCLOptions();

  cl::OptionCategory category("uop-translate options");
  cl::opt<const Translation *, false, TranslationParser> translation(
      "", cl::desc("Translation to perform:"), cl::Required);
  cl::opt<std::string> input(cl::Positional, cl::init("-"),
                             cl::desc("<input file>"), cl::cat(category));
  cl::opt<std::string> output("o", cl::init("-"), cl::value_desc("filename"),
                              cl::desc("Output file"), cl::cat(category));
  cl::opt<bool> split("split-input-file",
                      cl::desc("Translate each part between `// -----` lines\n"
                               "(`# -----` in .uir)"),
                      cl::cat(category));
  cl::opt<bool> verify("verify-diagnostics",
                       cl::desc("Check diagnostics against `expected-*` lines"),
                       cl::cat(category));
  cl::ParseCommandLineOptions(argc, argv,
                              "Translates between .uir, MLIR and C\n");

  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> buffer = openInputFile(input, &error);
  if (!buffer) {
    llvm::errs() << "error: " << error << "\n";
    return 1;
  }
  // `//` begins no comment in `.uir`.
  llvm::StringRef marker =
      uop::isUir(buffer->getBufferIdentifier(), buffer->getBuffer())
          ? "# -----"
          : kDefaultSplitMarker;
  std::string text;
  llvm::raw_string_ostream os(text);
  LogicalResult result = splitAndProcessBuffer(
      std::move(buffer),
      [&](std::unique_ptr<llvm::MemoryBuffer> chunk, llvm::raw_ostream &out) {
        return translate(*translation.getValue(), std::move(chunk), verify,
                         out);
      },
      os, split ? marker : "", kDefaultSplitMarker);
  if (failed(result))
    return 1;
  return failed(uop::writeOutput(output, text));
}
