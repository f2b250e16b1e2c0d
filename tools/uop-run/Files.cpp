//===- Files.cpp - what goes in and what comes out ------------------------===//
//
// Output files stand beside their places until all of them are written.
//
//===----------------------------------------------------------------------===//

#include "Files.h"
#include "Uop/Graph/Results.h"
#include "Uop/Transforms/Rangeify.h"

using namespace uop;
using namespace uop::runtime;

int fail(const llvm::Twine &message) {
  llvm::errs() << "uop-run: " << message << "\n";
  return 1;
}

int fail(llvm::Error error) { return fail(llvm::toString(std::move(error))); }

mlir::FailureOr<Interface> Interface::get(ProgramOp program) {
  Interface interface;
  interface.isLoops = !isShaped(program);
  interface.isNumbered = mlir::isa<VoidType>(program.getRoot().getType());
  interface.params = getKernelParams(program);
  interface.outputSlot = ::getOutputSlot(program.getRoot());
  if (interface.isLoops)
    return interface;
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> results =
      getResults(program.getRoot());
  if (failed(results))
    return mlir::failure();
  for (mlir::Value result : *results)
    if (!mlir::isa<VoidType>(result.getType()))
      interface.outputs.push_back(result.getType());
  return interface;
}

Interface Interface::get(PlanOp plan) {
  Interface interface;
  for (mlir::Operation &op : plan.getBodyBlock()) {
    if (auto input = mlir::dyn_cast<InputOp>(op)) {
      MemType type = input.getType();
      int64_t slot = input.getSlot();
      interface.params.push_back(
          {slot, getDType(type), *getNumElements(type.getShape())});
      interface.outputSlot = std::max(interface.outputSlot, slot + 1);
    } else if (auto output = mlir::dyn_cast<OutputOp>(op)) {
      interface.outputs.push_back(output.getType());
    }
  }
  llvm::sort(interface.params, [](const KernelParam &a, const KernelParam &b) {
    return a.slot < b.slot;
  });
  interface.isNumbered = interface.outputs.size() != 1;
  return interface;
}

int Files::load(const KernelParam &param, bool isRead) {
  auto file = options.inputs.find(param.slot);
  bool hasFile = file != options.inputs.end();
  if (!hasFile && isRead && !options.fill)
    return fail("slot " + llvm::Twine(param.slot) + " (" +
                getName(param.dtype) + formatShape(param.size) +
                ") has no contents: give --input " + llvm::Twine(param.slot) +
                "=FILE.npy or --fill");
  llvm::Expected<Buffer> buffer =
      hasFile ? readBuffer(file->second, param)
              : Buffer::allocate(uint64_t(param.size) *
                                     getByteWidth(param.dtype),
                                 Buffer::Fill::Zero);
  if (!buffer)
    return fail(buffer.takeError());
  if (!hasFile && isRead)
    fill(*buffer, param, *options.fill);
  buffers.insert_or_assign(param.slot, std::move(*buffer));
  return 0;
}

int Files::checkOutputs(const llvm::DenseSet<int64_t> &written) const {
  for (const auto &output : options.outputs)
    if (!written.contains(output.first) &&
        (interface.isLoops || output.first < interface.outputSlot))
      return fail("the program does not store to slot " +
                  llvm::Twine(output.first));
  return 0;
}

/// A result goes to the file that its slot was given, else to the terminal.
int Files::report(int64_t slot, DType dtype, llvm::ArrayRef<int64_t> shape) {
  // No element, no store, and no memory: the value is all brackets.
  auto buffer = buffers.find(slot);
  const void *data = nullptr;
  size_t bytes = 0;
  if (buffer != buffers.end()) {
    data = buffer->second.data();
    bytes = buffer->second.size();
  }
  auto file = options.outputs.find(slot);
  if (file != options.outputs.end()) {
    llvm::Expected<StagedFile> written =
        stageNpy(file->second, dtype, shape,
                         {static_cast<const uint8_t *>(data), bytes});
    if (!written)
      return fail(written.takeError());
    staged.push_back(std::move(*written));
    return 0;
  }
  if (interface.isLoops || slot < interface.outputSlot)
    llvm::outs() << "slot " << slot << ": ";
  else if (interface.isNumbered)
    llvm::outs() << "out " << slot - interface.outputSlot << ": ";
  printNested(llvm::outs(), data, dtype, shape);
  llvm::outs() << "\n";
  return 0;
}

int Files::finish(const llvm::DenseSet<int64_t> &written) {
  for (auto [number, type] : llvm::enumerate(interface.outputs))
    if (int status = report(interface.getOutputSlot(number), getDType(type),
                            getShape(type)))
      return status;
  for (const KernelParam &param : interface.params) {
    if (!written.contains(param.slot))
      continue;
    if (int status = report(param.slot, param.dtype, param.size))
      return status;
  }
  // Now that all are written, into their places.
  for (StagedFile &file : staged)
    if (llvm::Error error = file.commit())
      return fail(std::move(error));
  return 0;
}

int Files::resolve() {
  llvm::DenseSet<int64_t> slots;
  for (const KernelParam &param : interface.params)
    slots.insert(param.slot);
  for (const auto &input : options.inputs)
    if (!slots.contains(input.first))
      return fail("the program has no buffer of slot " +
                  llvm::Twine(input.first));
  size_t count = interface.outputs.size();
  for (size_t number = 0; number < count; ++number)
    slots.insert(interface.getOutputSlot(number));
  for (const auto &output : options.outputs)
    if (!slots.contains(output.first))
      return fail("the program has no buffer of slot " +
                  llvm::Twine(output.first));
  if (!options.valueOutput.empty()) {
    if (count == 0)
      return fail((interface.isLoops ? "a program of loops" : "this program") +
                  llvm::Twine(" has no value: --output takes SLOT=FILE.npy, "
                              "got '") +
                  options.valueOutput + "'");
    if (count > 1)
      return fail("the program has " + llvm::Twine(count) +
                  " outputs: --output takes outN=FILE.npy, got '" +
                  options.valueOutput + "'");
    options.numberedOutputs.emplace(0, options.valueOutput);
  }
  for (const auto &[number, file] : options.numberedOutputs) {
    if (number >= static_cast<int64_t>(count))
      return fail("the program has no output " + llvm::Twine(number));
    int64_t slot = interface.getOutputSlot(number);
    auto [it, fresh] = options.outputs.try_emplace(slot, file);
    if (!fresh)
      return fail("--output gives slot " + llvm::Twine(slot) + " twice: '" +
                  it->second + "' and '" + file + "'");
  }
  return 0;
}
