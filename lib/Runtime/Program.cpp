//===- Program.cpp - a compiled kernel ------------------------------------===//
//
// Compiles one kernel and checks buffers before each run.
//
//===----------------------------------------------------------------------===//

#include "Uop/Runtime/Program.h"
#include "llvm/Support/TimeProfiler.h"

using namespace uop;
using namespace uop::runtime;

static llvm::Error makeError(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

llvm::Expected<Program> Program::compile(ProgramOp linear,
                                         const ProgramOptions &options) {
  Program program;
  COptions cOptions;
  cOptions.name = options.name;
  llvm::Expected<KernelSource> source = printKernel(linear, cOptions);
  if (!source)
    return source.takeError();
  program.printed = std::move(*source);
  program.text = printTranslationUnit(program.printed);
  CompileOptions compileOptions;
  compileOptions.strict = options.strict;
  llvm::Expected<std::vector<Kernel>> kernels =
      compileKernels(program.printed, compileOptions);
  if (!kernels)
    return kernels.takeError();
  program.code = std::move(kernels->front());
  return program;
}

llvm::Error Program::run(llvm::ArrayRef<Buffer *> buffers) const {
  llvm::ArrayRef<KernelParam> parameters = params();
  if (buffers.size() != parameters.size())
    return makeError("the kernel takes " + llvm::Twine(parameters.size()) +
                     " buffers, got " + llvm::Twine(buffers.size()));
  llvm::SmallVector<void *> pointers;
  llvm::SmallVector<NamedMemory> slots;
  for (auto [i, buffer] : llvm::enumerate(buffers)) {
    const KernelParam &param = parameters[i];
    uint64_t bytes = uint64_t(param.size) * getByteWidth(param.dtype);
    if (buffer->size() != bytes)
      return makeError("slot " + llvm::Twine(param.slot) + " takes " +
                       llvm::Twine(bytes) + " bytes, got " +
                       llvm::Twine(buffer->size()));
    pointers.push_back(buffer->data());
    slots.push_back({"slot", param.slot, buffer->data(), bytes, isWritten(i)});
  }
  if (llvm::Error error = checkDisjoint(slots))
    return error;
  llvm::TimeTraceScope scope("launch", printed.name);
  code.as<KernelEntry>()(pointers.data());
  return llvm::Error::success();
}
