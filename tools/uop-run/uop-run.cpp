//===- uop-run.cpp - compile and run a program ----------------------------===//
//
// The command line around the runtime: reads a program and its inputs, runs it on
// the CPU or through an interpreter, prints or writes what comes out.
//
//===----------------------------------------------------------------------===//

#include "Uop/Graph/Walk.h"
#include "Uop/Runtime/HostArray.h"
#include "Uop/Runtime/Npy.h"
#include "Uop/Runtime/Program.h"
#include "Uop/Target/Uir.h"
#include "Uop/Transforms/CheckIndices.h"
#include "Uop/Transforms/Linearize.h"
#include "Uop/Transforms/Rangeify.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/ToolOutputFile.h"
#include <chrono>

using namespace uop;
using namespace uop::runtime;
namespace cl = llvm::cl;

namespace {

cl::OptionCategory category("uop-run options");
cl::opt<std::string> inputFile(cl::Positional, cl::desc("FILE"), cl::Required,
                               cl::cat(category));
cl::list<std::string> inputs(
    "input", cl::desc("contents of a buffer: SLOT=FILE.npy"),
    cl::value_desc("SLOT=FILE.npy"), cl::cat(category));
cl::list<std::string> outputs(
    "output", cl::desc("write the value, or a slot's buffer, to a file"),
    cl::value_desc("[SLOT=]FILE.npy"), cl::cat(category));
cl::opt<std::string> fillWith(
    "fill", cl::desc("what other buffers hold: iota, ones, random:SEED"),
    cl::value_desc("HOW"), cl::cat(category));
cl::opt<std::string> printWhat(
    "print", cl::desc("print type, uir, mlir or c and run nothing"),
    cl::value_desc("WHAT"), cl::cat(category));
cl::opt<std::string> programName(
    "program", cl::desc("which program of a module of several"),
    cl::value_desc("NAME"), cl::cat(category));
cl::opt<std::string> backend("backend", cl::desc("c (default) or interpreter"),
                             cl::init("c"), cl::cat(category));
cl::opt<bool> showTime("time", cl::desc("say how long the kernel takes"),
                       cl::cat(category));
cl::opt<unsigned> threads("threads", cl::desc("threads of parallel loops"),
                          cl::value_desc("N"), cl::cat(category));
cl::opt<bool> strict("strict",
                     cl::desc("exact floats: no contraction, no reassociation"),
                     cl::cat(category));
cl::opt<bool> locations("locations",
                        cl::desc("source lines as comments in --print=c"),
                        cl::cat(category));

int fail(const llvm::Twine &message) {
  llvm::errs() << "uop-run: " << message << "\n";
  return 1;
}

int fail(llvm::Error error) { return fail(llvm::toString(std::move(error))); }

/// Splits `SLOT=FILE`; false when SLOT is no number.
bool splitSlot(llvm::StringRef text, int64_t &slot, llvm::StringRef &file) {
  auto [left, right] = text.split('=');
  file = right;
  return !right.empty() && !left.getAsInteger(10, slot) && slot >= 0;
}

int getDebugLevel() {
  int level = 0;
  if (const char *text = std::getenv("DEBUG"))
    llvm::StringRef(text).getAsInteger(10, level);
  return level;
}

/// One program, its inputs and where its results go.
class Session {
public:
  explicit Session(ProgramOp program) : program(program) {}
  int run();
  int print();

private:
  int parseOptions();
  int evaluate();
  int interpret();
  int execute();
  int lower();
  /// The contents of a parameter before the run.
  llvm::Expected<Buffer> makeBuffer(const KernelParam &param, bool isRead);
  int finish(const std::map<int64_t, Array> &results);
  int write(llvm::StringRef file, const void *data, DType dtype,
            llvm::ArrayRef<int64_t> shape, uint64_t bytes);
  int report(int64_t slot, const void *data, DType dtype,
             llvm::ArrayRef<int64_t> shape, uint64_t bytes);

  ProgramOp program;
  bool isLoops = false;
  mlir::Type rootType;
  int64_t outputSlot = 0;
  std::map<int64_t, std::string> inputOf, outputOf;
  std::string valueFile;
  std::optional<Fill> how;
};

int Session::parseOptions() {
  isLoops = mlir::isa<VoidType>(program.getRoot().getType());
  rootType = program.getRoot().getType();
  outputSlot = getOutputSlot(program.getRoot());
  for (const std::string &text : inputs) {
    int64_t slot;
    llvm::StringRef file;
    if (!splitSlot(text, slot, file))
      return fail("--input takes SLOT=FILE.npy, got '" + text + "'");
    if (!inputOf.try_emplace(slot, file).second)
      return fail("--input gives slot " + llvm::Twine(slot) + " twice");
  }
  for (const std::string &text : outputs) {
    int64_t slot;
    llvm::StringRef file;
    if (splitSlot(text, slot, file))
      outputOf[slot] = file.str();
    else if (isLoops)
      return fail("--output takes SLOT=FILE.npy for a program of loops, got '" +
                  text + "'");
    else
      outputOf[outputSlot] = text;
  }
  if (!fillWith.empty()) {
    llvm::Expected<Fill> parsed = parseFill(fillWith);
    if (!parsed)
      return fail(parsed.takeError());
    how = *parsed;
  }
  if (backend != "c" && backend != "interpreter")
    return fail("--backend is c or interpreter, got '" + backend + "'");
  if (threads.getNumOccurrences()) {
    if (threads == 0)
      return fail("--threads takes a number from 1");
    setenv("OMP_NUM_THREADS", std::to_string(threads).c_str(), 1);
  }
  return 0;
}

llvm::Expected<Buffer> Session::makeBuffer(const KernelParam &param,
                                           bool isRead) {
  auto file = inputOf.find(param.slot);
  if (file != inputOf.end())
    return readBuffer(file->second, param);
  if (isRead && !how)
    return llvm::createStringError(
        llvm::inconvertibleErrorCode(),
        "slot " + llvm::Twine(param.slot) + " (" + getName(param.dtype) +
            formatShape(param.size) + ") has no contents: give --input " +
            llvm::Twine(param.slot) + "=FILE.npy or --fill");
  llvm::Expected<Buffer> buffer = Buffer::allocate(
      uint64_t(param.size) * getByteWidth(param.dtype), Buffer::Fill::Zero);
  if (buffer && isRead)
    fill(*buffer, param, *how);
  return buffer;
}

int Session::write(llvm::StringRef file, const void *data, DType dtype,
                   llvm::ArrayRef<int64_t> shape, uint64_t bytes) {
  if (llvm::Error error =
          writeNpy(file, dtype, shape,
                   {static_cast<const uint8_t *>(data), size_t(bytes)}))
    return fail(std::move(error));
  return 0;
}

/// A result goes to the file that its slot was given, else to the terminal.
int Session::report(int64_t slot, const void *data, DType dtype,
                    llvm::ArrayRef<int64_t> shape, uint64_t bytes) {
  auto file = outputOf.find(slot);
  if (file != outputOf.end())
    return write(file->second, data, dtype, shape, bytes);
  if (isLoops)
    llvm::outs() << "slot " << slot << ": ";
  printNested(llvm::outs(), data, dtype, shape);
  llvm::outs() << "\n";
  return 0;
}

int Session::finish(const std::map<int64_t, Array> &results) {
  for (const auto &[slot, array] : results) {
    llvm::Expected<Buffer> buffer = toBuffer(array);
    if (!buffer)
      return fail(buffer.takeError());
    if (int status = report(slot, buffer->data(), array.dtype, array.shape,
                            buffer->size()))
      return status;
  }
  return 0;
}

int Session::lower() {
  if (failed(rangeify(program)) || failed(checkIndices(program)) ||
      failed(linearize(program)))
    return 1;
  return 0;
}

/// The shaped graph, or the program of loops, without compiling anything.
int Session::interpret() {
  ArrayMap arrays;
  llvm::SmallVector<KernelParam> params = getKernelParams(program);
  for (const auto &input : inputOf)
    if (llvm::none_of(params, [&](auto &p) { return p.slot == input.first; }))
      return fail("the program has no buffer of slot " +
                  llvm::Twine(input.first));
  if (isLoops && lower())
    return 1;
  llvm::DenseSet<int64_t> written, read;
  collectAccesses(program, written, read);
  for (const KernelParam &param : params) {
    llvm::Expected<Buffer> buffer =
        makeBuffer(param, !isLoops || read.contains(param.slot));
    if (!buffer)
      return fail(buffer.takeError());
    arrays[param.slot] = toArray(*buffer, param.dtype, param.size);
  }
  if (!isLoops) {
    mlir::FailureOr<Array> value = evaluateShaped(program.getRoot(), arrays);
    if (failed(value))
      return 1;
    return finish({{outputSlot, std::move(*value)}});
  }
  std::vector<mlir::Operation *> schedule;
  for (mlir::Operation &op : program.getBodyBlock().without_terminator())
    schedule.push_back(&op);
  if (failed(evaluateLinear(schedule, arrays)))
    return 1;
  std::map<int64_t, Array> results;
  for (auto &[slot, array] : arrays)
    if (written.contains(slot))
      results[slot] = std::move(array);
  return finish(results);
}

int Session::execute() {
  std::string name = program.getSymName().str();
  if (lower())
    return 1;
  llvm::Expected<Program> compiled =
      Program::compile(program, {name, strict.getValue()});
  if (!compiled)
    return fail(compiled.takeError());
  int debug = getDebugLevel();
  if (debug >= 4)
    llvm::errs() << compiled->source();

  std::vector<Buffer> buffers;
  std::vector<Buffer *> pointers;
  llvm::ArrayRef<KernelParam> params = compiled->params();
  for (const auto &input : inputOf)
    if (llvm::none_of(params, [&](auto &p) { return p.slot == input.first; }))
      return fail("the program has no buffer of slot " +
                  llvm::Twine(input.first));
  for (auto [i, param] : llvm::enumerate(params)) {
    llvm::Expected<Buffer> buffer = makeBuffer(param, compiled->isRead(i));
    if (!buffer)
      return fail(buffer.takeError());
    buffers.push_back(std::move(*buffer));
  }
  for (Buffer &buffer : buffers)
    pointers.push_back(&buffer);

  // A program that changes what it reads runs once; others may warm up.
  bool repeatable = true;
  for (size_t i = 0; i < params.size(); ++i)
    repeatable &= !(compiled->isRead(i) && compiled->isWritten(i));
  double best = 0;
  int runs = showTime && repeatable ? 5 : 1;
  for (int run = 0; run < runs; ++run) {
    auto start = std::chrono::steady_clock::now();
    if (llvm::Error error = compiled->run(pointers))
      return fail(std::move(error));
    std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - start;
    best = run == 0 ? taken.count() : std::min(best, taken.count());
  }
  if (showTime || debug >= 2)
    llvm::errs() << llvm::format("  %-32s %8.3f ms %8.2f GFLOP/s  (%s %.1f ms)\n",
                                 name.c_str(), best,
                                 best > 0 ? compiled->flops() / best * 1e-6 : 0,
                                 compiled->kernel().fromCache ? "cached"
                                                              : "compiled",
                                 compiled->kernel().milliseconds);
  bool any = false;
  for (auto [i, param] : llvm::enumerate(params)) {
    if (!compiled->isWritten(i))
      continue;
    any = true;
    llvm::SmallVector<int64_t> shape{param.size};
    if (!isLoops)
      shape = llvm::SmallVector<int64_t>(getShape(rootType));
    if (int status = report(param.slot, buffers[i].data(), param.dtype, shape,
                            buffers[i].size()))
      return status;
  }
  // No element, no store: the value is all brackets.
  if (!any && !isLoops)
    return report(outputSlot, nullptr, getDType(rootType), getShape(rootType),
                  0);
  return 0;
}

int Session::print() {
  if (printWhat == "type") {
    mlir::Type type = program.getRoot().getType();
    llvm::outs() << "dtype=" << getName(getDType(type))
                 << " shape=" << formatShape(getShape(type)) << " addrspace="
                 << stringifyAddrSpace(getSpace(type)).upper() << "\n";
  } else if (printWhat == "uir") {
    printUir(program, llvm::outs());
  } else if (printWhat == "mlir") {
    program->getParentOp()->print(llvm::outs());
    llvm::outs() << "\n";
  } else if (printWhat == "c") {
    std::string text, name = program.getSymName().str();
    llvm::raw_string_ostream os(text);
    COptions options;
    options.name = makeCIdentifier(name);
    options.locations = locations;
    printCPrelude(os);
    if (lower() || failed(printC(program, os, options)))
      return 1;
    llvm::outs() << text;
  } else {
    return fail("--print is type, uir, mlir or c, got '" + printWhat + "'");
  }
  return 0;
}

int Session::run() {
  if (int status = parseOptions())
    return status;
  if (!printWhat.empty())
    return print();
  // Without buffers there is nothing to compile for.
  bool evaluated = !isLoops && getKernelParams(program).empty();
  return evaluated || backend == "interpreter" ? interpret() : execute();
}

mlir::OwningOpRef<mlir::ModuleOp> parse(llvm::SourceMgr &sourceMgr,
                                        mlir::MLIRContext *context) {
  const llvm::MemoryBuffer *buffer =
      sourceMgr.getMemoryBuffer(sourceMgr.getMainFileID());
  if (isUir(inputFile, buffer->getBuffer()))
    return parseUir(sourceMgr, context);
  return mlir::parseSourceFile<mlir::ModuleOp>(sourceMgr, context);
}

} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv,
                              "compile and run a program of UOps\n");
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> file =
      mlir::openInputFile(inputFile, &message);
  if (!file)
    return fail(message);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<UopDialect>();
  llvm::SourceMgr sourceMgr;
  sourceMgr.AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  mlir::SourceMgrDiagnosticHandler handler(sourceMgr, &context);
  mlir::OwningOpRef<mlir::ModuleOp> module = parse(sourceMgr, &context);
  if (!module)
    return 1;
  llvm::SmallVector<ProgramOp> programs(module->getOps<ProgramOp>());
  if (!programName.empty())
    llvm::erase_if(programs, [](ProgramOp p) {
      return p.getSymName() != programName;
    });
  if (programs.size() != 1)
    return fail(inputFile + ": " +
                (programs.empty() ? "no such program"
                                  : "several programs: choose one with "
                                    "--program=NAME"));
  return Session(programs[0]).run();
}
