//===- Translations.cpp - .uir, MLIR and C --------------------------------===//
//
// The translations that `uop-translate` offers. Each reads `.uir` and MLIR
// alike.
//
//===----------------------------------------------------------------------===//

#include "Uop/Target/C.h"
#include "Uop/Target/Uir.h"
#include "Uop/Transforms/Linearize.h"
#include "Uop/Transforms/Rangeify.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace uop;

namespace {

using SourceMgrRef = const std::shared_ptr<llvm::SourceMgr> &;

OwningOpRef<ModuleOp> parseInput(SourceMgrRef sources, MLIRContext *context) {
  context->getOrLoadDialect<UopDialect>();
  const llvm::MemoryBuffer *buffer =
      sources->getMemoryBuffer(sources->getMainFileID());
  if (isUir(buffer->getBufferIdentifier(), buffer->getBuffer()))
    return parseUir(*sources, context);
  return parseSourceFile<ModuleOp>(sources, ParserConfig(context));
}

LogicalResult translateToMlir(SourceMgrRef sources, llvm::raw_ostream &os,
                              MLIRContext *context) {
  OwningOpRef<ModuleOp> module = parseInput(sources, context);
  if (!module)
    return failure();
  module->print(os);
  os << '\n';
  return success();
}

LogicalResult translateToUir(SourceMgrRef sources, llvm::raw_ostream &os,
                             MLIRContext *context) {
  OwningOpRef<ModuleOp> module = parseInput(sources, context);
  if (!module)
    return failure();
  auto programs = llvm::to_vector(module->getOps<ProgramOp>());
  if (programs.size() != 1)
    return module->emitError()
           << "a .uir file is one program, the module has " << programs.size();
  printUir(programs.front(), os);
  return success();
}

LogicalResult translateToC(SourceMgrRef sources, llvm::raw_ostream &os,
                           MLIRContext *context) {
  OwningOpRef<ModuleOp> module = parseInput(sources, context);
  if (!module)
    return failure();
  std::string text;
  llvm::raw_string_ostream functions(text);
  for (ProgramOp program : module->getOps<ProgramOp>()) {
    COptions options;
    options.name = makeCIdentifier(program.getSymName());
    if (failed(rangeify(program)) || failed(linearize(program)) ||
        failed(printC(program, functions, options)))
      return failure();
  }
  printCPrelude(os);
  os << text;
  return success();
}

} // namespace

void uop::registerUopTranslations() {
  TranslateRegistration toMlir("uir-to-mlir", "a .uir program as MLIR",
                               translateToMlir);
  TranslateRegistration toUir("mlir-to-uir", "a uop.program as .uir",
                              translateToUir);
  TranslateRegistration toC("mlir-to-c", "every uop.program as a C function",
                            translateToC);
}
