//===- UopPlugin.cpp - the dialect and its passes as a plugin -------------===//
//
// What `mlir-opt --load-dialect-plugin=libUopPlugin.so` asks for: registers the
// dialect, and beside it every pass and pipeline.
//
//===----------------------------------------------------------------------===//

#include "Uop/Transforms/Passes.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"

extern "C" LLVM_ATTRIBUTE_WEAK mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Uop", "0.1",
          [](mlir::DialectRegistry *registry) {
            registry->insert<uop::UopDialect>();
            uop::registerUopPasses();
            uop::registerUopPipelines();
          }};
}
