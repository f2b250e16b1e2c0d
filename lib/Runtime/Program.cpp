//===- Program.cpp - a compiled kernel ------------------------------------===//
//
// Wraps the printed function in one that takes an array of pointers, compiles
// both and checks buffers before each run.
//
//===----------------------------------------------------------------------===//

#include "Uop/Runtime/Program.h"
#include "Uop/Dialect/Scalar.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/FormatVariadic.h"

using namespace uop;
using namespace uop::runtime;

/// The slot of the BUFFER that a pointer leads to; nullopt for ALLOCs.
static std::optional<int64_t> getBase(mlir::Value pointer) {
  while (mlir::Operation *op = pointer.getDefiningOp()) {
    if (auto buffer = llvm::dyn_cast<BufferOp>(op))
      return buffer.getSlot();
    if (op->getNumOperands() == 0)
      break;
    pointer = op->getOperand(0);
  }
  return std::nullopt;
}

static llvm::Error makeError(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

void uop::runtime::collectAccesses(ProgramOp program,
                                   llvm::DenseSet<int64_t> &written,
                                   llvm::DenseSet<int64_t> &read) {
  for (mlir::Operation &op : program.getBodyBlock().without_terminator())
    for (auto [i, operand] : llvm::enumerate(op.getOperands())) {
      // What takes memory and gives memory is a view; others read or store.
      if (!isMemory(operand.getType()) ||
          isMemory(op.getResult(0).getType()))
        continue;
      if (std::optional<int64_t> slot = getBase(operand))
        (llvm::isa<StoreOp>(op) && i == 0 ? written : read).insert(*slot);
    }
}

static bool isFloatArithmetic(mlir::Operation &op) {
  std::optional<OpCode> code = getOpCode(&op);
  return code && isAlu(*code) && *code != OpCode::Where &&
         *code != OpCode::Cast && isFloat(getDType(op.getOperand(0).getType()));
}

/// Floating point operations of a scheduled program.
static double countOperations(ProgramOp linear) {
  double total = 0;
  llvm::SmallVector<double> trips{1};
  for (mlir::Operation &op : linear.getBodyBlock()) {
    if (auto range = llvm::dyn_cast<RangeOp>(op)) {
      auto end = range.getEnd().getDefiningOp<ConstOp>();
      double count = end ? int32_t(getWord(end.getValueAttr())) : 1;
      trips.push_back(trips.back() * std::max(count, 0.0));
    } else if (auto end = llvm::dyn_cast<EndOp>(op)) {
      trips.pop_back_n(end.getRanges().size());
    } else if (isFloatArithmetic(op)) {
      total += trips.back();
    }
  }
  return total;
}

/// Prints the function; what is wrong with the program is the error.
static llvm::Error printBody(ProgramOp linear, llvm::raw_ostream &os,
                             const COptions &options) {
  std::string problem;
  mlir::ScopedDiagnosticHandler handler(
      linear.getContext(), [&](mlir::Diagnostic &diagnostic) {
        if (auto loc = diagnostic.getLocation()
                           ->findInstanceOf<mlir::FileLineColLoc>())
          problem += llvm::formatv("{0}:{1}:{2}: ", loc.getFilename().strref(),
                                   loc.getLine(), loc.getColumn());
        problem += diagnostic.str();
      });
  if (mlir::failed(printC(linear, os, options)))
    return makeError(problem);
  return llvm::Error::success();
}

llvm::Expected<Program> Program::compile(ProgramOp linear,
                                         const ProgramOptions &options) {
  Program program;
  program.parameters = getKernelParams(linear);
  llvm::DenseSet<int64_t> written, read;
  collectAccesses(linear, written, read);
  for (const KernelParam &param : program.parameters) {
    program.written.push_back(written.contains(param.slot));
    program.read.push_back(read.contains(param.slot));
  }
  bool usesThreads = false;
  for (auto range : linear.getBodyBlock().getOps<RangeOp>())
    usesThreads |= range.getKind() == AxisKind::Thread;

  llvm::raw_string_ostream os(program.text);
  COptions cOptions;
  cOptions.name = makeCIdentifier(options.name);
  printCPrelude(os);
  size_t prelude = program.text.size();
  if (llvm::Error error = printBody(linear, os, cOptions))
    return std::move(error);
  // Compiled under one private name: a kernel that is called like a function of
  // the C library (`abs`, `exit`) would be taken for it by compiler or loader.
  llvm::StringRef text(program.text);
  llvm::StringRef body = text.drop_front(prelude);
  body = body.drop_front(body.find('(')); // behind `void NAME`
  std::string wrapped;
  llvm::raw_string_ostream wrapper(wrapped);
  wrapper << text.take_front(prelude)
          << "static __attribute__((noinline)) void uop_kernel" << body;
  // One signature for every kernel.
  wrapper << "void uop_entry(void **buffers) {\n  uop_kernel(";
  for (size_t i = 0; i < program.parameters.size(); ++i)
    wrapper << (i ? ", " : "") << "buffers[" << i << "]";
  wrapper << ");\n}\n";
  llvm::Expected<Kernel> kernel = runtime::compile(
      {std::move(wrapped), "uop_entry", options.strict, usesThreads});
  if (!kernel)
    return kernel.takeError();
  program.code = std::move(*kernel);
  program.operations = countOperations(linear);
  return program;
}

llvm::Error Program::run(llvm::ArrayRef<Buffer *> buffers) const {
  if (buffers.size() != parameters.size())
    return makeError("the kernel takes " + llvm::Twine(parameters.size()) +
                     " buffers, got " + llvm::Twine(buffers.size()));
  llvm::SmallVector<void *> pointers;
  llvm::SmallVector<SlotMemory> slots;
  for (auto [i, buffer] : llvm::enumerate(buffers)) {
    const KernelParam &param = parameters[i];
    uint64_t bytes = uint64_t(param.size) * getByteWidth(param.dtype);
    if (buffer->size() != bytes)
      return makeError("slot " + llvm::Twine(param.slot) + " takes " +
                       llvm::Twine(bytes) + " bytes, got " +
                       llvm::Twine(buffer->size()));
    pointers.push_back(buffer->data());
    slots.push_back({param.slot, buffer->data(), bytes, written[i]});
  }
  if (llvm::Error error = checkDisjoint(slots))
    return error;
  code.as<void(void **)>()(pointers.data());
  return llvm::Error::success();
}
