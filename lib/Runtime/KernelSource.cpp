//===- KernelSource.cpp - kernels as C ------------------------------------===//
//
// Lowers and prints kernels, counts what they do, and wraps each printed function
// in one that takes an array of pointers.
//
//===----------------------------------------------------------------------===//

#include "Uop/Runtime/KernelSource.h"
#include "Diagnostics.h"
#include "Uop/Dialect/Scalar.h"
#include "Uop/Graph/Results.h"
#include "Uop/Runtime/Cache.h"
#include "Uop/Transforms/CheckBounds.h"
#include "Uop/Transforms/Linearize.h"
#include "Uop/Transforms/Rangeify.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/TimeProfiler.h"

using namespace uop;
using namespace uop::runtime;

/// Calls `visit(op, slot, isStore, trips)` for every op of a program of loops
/// that stores to or reads from the BUFFER of a slot, and `visit(op, nullopt,
/// ...)` for every other. `trips` is how often the op runs; loops of unknown
/// length count once.
static void visitAccesses(
    ProgramOp program,
    llvm::function_ref<void(mlir::Operation &, std::optional<int64_t>, bool,
                            double)>
        visit) {
  /// The BUFFER that a pointer leads to.
  llvm::DenseMap<mlir::Value, int64_t> bases;
  llvm::SmallVector<double> trips{1};
  for (mlir::Operation &op : program.getBodyBlock().without_terminator()) {
    if (auto range = llvm::dyn_cast<RangeOp>(op)) {
      auto end = range.getEnd().getDefiningOp<ConstOp>();
      double count = end ? int32_t(getWord(end.getValueAttr())) : 1;
      trips.push_back(trips.back() * std::max(count, 0.0));
    } else if (auto end = llvm::dyn_cast<EndOp>(op)) {
      size_t ranges = end.getRanges().size();
      trips.pop_back_n(std::min(ranges, trips.size() - 1));
    }
    if (auto buffer = llvm::dyn_cast<BufferOp>(op))
      bases[buffer.getResult()] = buffer.getSlot();
    bool isView = op.getNumResults() == 1 &&
                  isMemory(op.getResult(0).getType());
    visit(op, std::nullopt, false, trips.back());
    for (auto [i, operand] : llvm::enumerate(op.getOperands())) {
      auto base = bases.find(operand);
      if (base == bases.end())
        continue;
      // What takes memory and gives memory is a view; others read or store.
      int64_t slot = base->second;
      if (!isView)
        visit(op, slot, llvm::isa<StoreOp>(op) && i == 0, trips.back());
      else if (i == 0)
        bases[op.getResult(0)] = slot;
    }
  }
}

void uop::runtime::collectAccesses(ProgramOp program,
                                   llvm::DenseSet<int64_t> &written,
                                   llvm::DenseSet<int64_t> &read) {
  visitAccesses(program, [&](mlir::Operation &, std::optional<int64_t> slot,
                             bool isStore, double) {
    if (slot)
      (isStore ? written : read).insert(*slot);
  });
}

KernelSignature uop::runtime::getSignature(ProgramOp linear) {
  KernelSignature signature;
  signature.params = getKernelParams(linear);
  llvm::DenseSet<int64_t> written, read;
  collectAccesses(linear, written, read);
  for (const KernelParam &param : signature.params) {
    signature.written.push_back(written.contains(param.slot));
    signature.read.push_back(read.contains(param.slot));
  }
  return signature;
}

static bool isFloatArithmetic(mlir::Operation &op) {
  std::optional<OpCode> code = getOpCode(&op);
  return code && isAlu(*code) && *code != OpCode::Where &&
         *code != OpCode::Cast && isFloat(getDType(op.getOperand(0).getType()));
}

/// Adds up what `linear` does in one run.
static void countWork(ProgramOp linear, KernelSource &source) {
  llvm::DenseMap<int64_t, double> stores, loads;
  visitAccesses(linear, [&](mlir::Operation &op, std::optional<int64_t> slot,
                            bool isStore, double trips) {
    bool counts = slot || isFloatArithmetic(op);
    if (counts)
      source.steps += trips;
    if (slot)
      (isStore ? stores : loads)[*slot] += trips;
    else if (counts)
      source.flops += trips;
  });
  for (const KernelParam &param : source.params) {
    double size = param.size;
    source.bytes += getByteWidth(param.dtype) *
                    (std::min(size, stores.lookup(param.slot)) +
                     std::min(size, loads.lookup(param.slot)));
  }
}

/// Lowers in place. The indices of a program of loops are whoever wrote it's.
static mlir::LogicalResult lower(ProgramOp program) {
  // What can't be proved in a moment is left to run.
  CheckBoundsOptions quick;
  quick.budget = 1000000;
  quick.warn = false;
  bool isLoops = !isShaped(program);
  if (failed(rangeify(program)) ||
      (isLoops && failed(checkBounds(program, quick))))
    return mlir::failure();
  return linearize(program);
}

llvm::Expected<mlir::OwningOpRef<ProgramOp>>
uop::runtime::lowerKernel(ProgramOp program) {
  llvm::TimeTraceScope scope("lower", program.getSymName());
  mlir::OwningOpRef<ProgramOp> copy(
      llvm::cast<ProgramOp>(program->clone()));
  if (llvm::Error error = collectErrors(program.getContext(),
                                        [&] { return lower(*copy); }))
    return std::move(error);
  return std::move(copy);
}

llvm::Expected<KernelSource>
uop::runtime::printKernel(ProgramOp linear, const COptions &options) {
  llvm::TimeTraceScope scope("print", options.name);
  KernelSource source;
  source.name = options.name;
  COptions cOptions = options;
  cOptions.name = makeCIdentifier(options.name);
  llvm::raw_string_ostream os(source.text);
  if (llvm::Error error = collectErrors(linear.getContext(), [&] {
        return printC(linear, os, cOptions);
      }))
    return std::move(error);
  static_cast<KernelSignature &>(source) = getSignature(linear);
  for (auto range : linear.getBodyBlock().getOps<RangeOp>())
    source.usesThreads |= range.getKind() == AxisKind::Thread;
  countWork(linear, source);
  return source;
}

std::string
uop::runtime::printTranslationUnit(llvm::ArrayRef<KernelSource> sources) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printCPrelude(os);
  for (const KernelSource &source : sources)
    os << source.text;
  return text;
}

/// Up to this many steps a kernel is brief: row sums of so many take a microsecond,
/// with their loops unrolled or not.
static constexpr double briefSteps = 1 << 15;

/// The definition of `symbol`, which takes an array of pointers, for any kernel.
/// The kernel gets a private name: one that is called like a function of the C
/// library (`abs`, `exit`) would be taken for it by compiler or loader.
static std::string wrap(const KernelSource &source, llvm::StringRef symbol) {
  llvm::StringRef body = source.text;
  body = body.drop_front(body.find('(')); // behind `void NAME`
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "static __attribute__((noinline)) void " << symbol << "_kernel" << body
     << "void " << symbol << "(void **buffers) {\n  " << symbol << "_kernel(";
  for (size_t i = 0; i < source.params.size(); ++i)
    os << (i ? ", " : "") << "buffers[" << i << "]";
  os << ");\n}\n";
  return text;
}

llvm::Expected<std::vector<Kernel>>
uop::runtime::compileKernels(llvm::ArrayRef<KernelSource> sources,
                             const CompileOptions &options) {
  BatchRequest request;
  request.prelude = printTranslationUnit({});
  request.strict = options.strict;
  request.progress = options.progress;
  for (const KernelSource &source : sources) {
    // Equal kernels of any name have one symbol.
    std::string digest = Cache::digest({wrap(source, "uop")});
    std::string symbol = "uop_" + digest.substr(0, 32);
    request.functions.push_back({source.name, symbol, wrap(source, symbol),
                                 source.usesThreads,
                                 source.steps <= briefSteps});
  }
  return runtime::compile(request);
}
