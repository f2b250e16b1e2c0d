//===- Compiler.cpp - C text to callable code -----------------------------===//
//
// Chooses flags and compiler, asks the kernel cache, and loads: objects of the
// compiler inside this process through ORC, shared objects of an external one
// through dlopen.
//
//===----------------------------------------------------------------------===//

#include "Uop/Runtime/Compiler.h"

#include "ClangCompiler.h"
#include "ScratchFolder.h"
#include "Uop/Runtime/Cache.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h"
#include "llvm/ExecutionEngine/Orc/TaskDispatch.h"
#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"

#include <cfenv>
#include <chrono>
#include <cstdlib>
#include <dlfcn.h>
#include <mutex>
#include <optional>

using namespace llvm;

namespace uop::runtime {

namespace {

using Flags = std::vector<std::string>;

//===----------------------------------------------------------------------===//
// Flags
//===----------------------------------------------------------------------===//

constexpr const char *defaultTuning[] = {"-O2",
                                         "-march=native",
                                         "-mprefer-vector-width=512",
                                         "-ffp-contract=fast",
                                         "-fassociative-math",
                                         "-fno-signed-zeros",
                                         "-fno-trapping-math"};

/// Takes back every freedom with the values of floating-point arithmetic.
/// -fno-fast-math comes first, for it has a say in what the others set. Traps
/// stay out of it: they change no value, and clang vectorizes nothing that
/// might trap. -frounding-math keeps comparisons and selections as written:
/// without it clang 22 drops the outer maximum of max(max(c, x), c), which is
/// wrong for a NaN and for zeros of two signs.
constexpr const char *strictFlags[] = {
    "-fno-fast-math",       "-ffp-contract=off", "-fno-associative-math",
    "-fno-reciprocal-math", "-fsigned-zeros",    "-fno-trapping-math",
    "-frounding-math"};

/// What C means here, whatever the tuning: wrapping integers, no errno, and
/// libm's own exp2f, log2f and sinf even where the argument is a constant.
constexpr const char *semanticFlags[] = {"-std=c11",
                                         "-fwrapv",
                                         "-fno-math-errno",
                                         "-fno-builtin-exp2f",
                                         "-fno-builtin-log2f",
                                         "-fno-builtin-sinf",
                                         "-fPIC",
                                         "-fno-unwind-tables",
                                         "-fno-asynchronous-unwind-tables",
                                         "-fvisibility=default",
                                         "-w"};

/// Every operation on _Float16 rounds, in the two spellings.
constexpr const char *clangHalfFlags[] = {"-Xclang",
                                          "-ffloat16-excess-precision=none"};
constexpr const char *gccHalfFlag = "-fexcess-precision=16";

StringRef environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? StringRef(value).trim() : StringRef();
}

Flags splitOnSpace(StringRef text) {
  SmallVector<StringRef> words;
  SplitString(text, words);
  return Flags(words.begin(), words.end());
}

/// The flags that every compiler gets, in the order in which they count.
Flags flagsFor(const CompileRequest &request) {
  Flags flags(std::begin(defaultTuning), std::end(defaultTuning));
  if (StringRef tuning = environment("CFLAGS"); !tuning.empty())
    flags = splitOnSpace(tuning);
  // clang lets it win over a later -fwrapv.
  llvm::erase(flags, "-ftrapv");
  if (request.strict)
    flags.insert(flags.end(), std::begin(strictFlags), std::end(strictFlags));
  flags.insert(flags.end(), std::begin(semanticFlags), std::end(semanticFlags));
  flags.push_back(request.usesThreads ? "-fopenmp" : "-fno-openmp");
  return flags;
}

/// The processor's name and features: code made for one may not run on
/// another that shares the cache through a network.
std::string describeHost() {
  std::vector<std::string> features;
  for (const auto &feature : sys::getHostCPUFeatures())
    if (feature.second)
      features.push_back(feature.first().str());
  llvm::sort(features);
  return (sys::getHostCPUName() + " " + join(features, ",")).str();
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

Error missingSymbol(StringRef symbol) {
  return createStringError("C compiler: the text defines no function '" +
                           symbol + "'");
}

/// LLVM's OpenMP runtime, loaded once; null with the loader's `message` where
/// there is none.
void *openMP(std::string &message) {
  static std::string problem;
  static void *handle = [] {
    SmallString<128> path(UOP_LLVM_LIBDIR);
    sys::path::append(path, "libomp.so.5");
    // By name too: the folder may be elsewhere on the machine that runs this.
    for (const char *name : {path.c_str(), "libomp.so.5"}) {
      if (void *opened = dlopen(name, RTLD_NOW | RTLD_LOCAL))
        return opened;
      problem += std::string(problem.empty() ? "" : "; ") + dlerror();
    }
    return static_cast<void *>(nullptr);
  }();
  message = problem;
  return handle;
}

/// Links objects into this process. There is one for the life of the process:
/// kernels may outlive every static object.
class Linker {
public:
  static Expected<Linker *> get();

  /// Links `object` and sets `kernel`'s address; what is returned keeps the
  /// code loaded.
  Expected<std::shared_ptr<void>> load(std::unique_ptr<MemoryBuffer> object,
                                       const CompileRequest &request,
                                       void *&address);

private:
  Linker(std::unique_ptr<orc::ExecutorProcessControl> control)
      : session(std::move(control)), layer(session) {}
  Error initialize();
  Error provideOpenMP();
  void unload(orc::JITDylib &library);

  orc::ExecutionSession session;
  orc::ObjectLinkingLayer layer;
  /// Functions of this process, and of the OpenMP runtime once needed.
  orc::JITDylib *process = nullptr;
  orc::JITDylib *threads = nullptr;
  /// Guards what follows, and makes the messages belong to one load.
  std::mutex mutex;
  std::string messages;
  uint64_t count = 0;
};

Expected<Linker *> Linker::get() {
  static std::mutex creation;
  static Linker *linker = nullptr;
  std::lock_guard<std::mutex> lock(creation);
  if (linker)
    return linker;
  auto control = orc::SelfExecutorProcessControl::Create(
      nullptr, std::make_unique<orc::InPlaceTaskDispatcher>());
  if (!control)
    return control.takeError();
  auto *created = new Linker(std::move(*control));
  if (Error error = created->initialize()) {
    cantFail(created->session.endSession());
    delete created;
    return std::move(error);
  }
  return linker = created;
}

Error Linker::initialize() {
  session.setErrorReporter([this](Error error) {
    messages += (messages.empty() ? "" : "; ") + toString(std::move(error));
  });
  process = &session.createBareJITDylib("process");
  auto own = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess('\0');
  if (!own)
    return own.takeError();
  process->addGenerator(std::move(*own));
  // A host program that doesn't use libm itself may lack it.
  if (void *libm = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL))
    process->addGenerator(std::make_unique<orc::DynamicLibrarySearchGenerator>(
        sys::DynamicLibrary(libm), '\0'));
  return Error::success();
}

Error Linker::provideOpenMP() {
  if (threads)
    return Error::success();
  std::string message;
  void *handle = openMP(message);
  if (!handle)
    return createStringError("the OpenMP runtime can't be loaded: " + message);
  threads = &session.createBareJITDylib("openmp");
  threads->addGenerator(std::make_unique<orc::DynamicLibrarySearchGenerator>(
      sys::DynamicLibrary(handle), '\0'));
  return Error::success();
}

Expected<std::shared_ptr<void>>
Linker::load(std::unique_ptr<MemoryBuffer> object,
             const CompileRequest &request, void *&address) {
  std::lock_guard<std::mutex> lock(mutex);
  if (request.usesThreads)
    if (Error error = provideOpenMP())
      return std::move(error);
  messages.clear();
  orc::JITDylib &library =
      session.createBareJITDylib("kernel." + std::to_string(count++));
  if (request.usesThreads)
    library.addToLinkOrder(*threads);
  library.addToLinkOrder(*process);
  Error added = layer.add(library, std::move(object));
  Expected<orc::ExecutorSymbolDef> found =
      added ? Expected<orc::ExecutorSymbolDef>(std::move(added))
            : session.lookup({&library}, request.symbol);
  if (!found) {
    Error error = found.takeError();
    bool missing = error.isA<orc::SymbolsNotFound>();
    std::string text = toString(std::move(error));
    unload(library);
    if (missing)
      return missingSymbol(request.symbol);
    return createStringError("compiled code can't be linked: " +
                             (messages.empty() ? text : messages));
  }
  address = found->getAddress().toPtr<void *>();
  return std::shared_ptr<void>(&library, [this](void *library) {
    std::lock_guard<std::mutex> lock(mutex);
    unload(*static_cast<orc::JITDylib *>(library));
  });
}

void Linker::unload(orc::JITDylib &library) {
  consumeError(session.removeJITDylib(library));
  session.getSymbolStringPool()->clearDeadEntries();
}

/// Keeps the OpenMP runtime that `library` brought along in this process: its
/// threads outlive the library and would run code that is gone.
void keepOpenMP(void *library) {
  Dl_info info;
  void *function = dlsym(library, "omp_get_max_threads");
  if (function && dladdr(function, &info) && info.dli_fname)
    (void)dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}

/// Opens a shared object; what is returned keeps it open.
Expected<std::shared_ptr<void>> loadShared(const std::string &path,
                                           const CompileRequest &request,
                                           void *&address) {
  // A library linked with -ffast-math switches this thread to flushing
  // denormals while it is loaded.
  std::fenv_t floatingPoint;
  std::fegetenv(&floatingPoint);
  void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  std::fesetenv(&floatingPoint);
  if (!handle)
    return createStringError("compiled code can't be loaded: " +
                             Twine(dlerror()));
  std::shared_ptr<void> library(handle, [](void *open) { dlclose(open); });
  if (request.usesThreads)
    keepOpenMP(handle);
  address = dlsym(handle, request.symbol.c_str());
  if (!address)
    return missingSymbol(request.symbol);
  return library;
}

//===----------------------------------------------------------------------===//
// The compiler that CC names
//===----------------------------------------------------------------------===//

/// What one run of a program said.
struct Outcome {
  int status = 0;
  std::string output, problem;
};

/// A temporary folder, its files, and a program that runs there.
class ExternalCompiler {
public:
  /// Finds the program; no compiler runs yet.
  static Expected<ExternalCompiler> find(StringRef command);

  /// What tells this compiler from another and from a later version.
  std::string identity() const;

  /// Builds a shared object from `request.source` and returns its bytes.
  Expected<std::unique_ptr<MemoryBuffer>> build(const CompileRequest &request,
                                                Flags flags) const;

private:
  Outcome run(const ScratchFolder &folder, Flags arguments) const;
  Flags addDialect(const ScratchFolder &folder, const CompileRequest &request,
                   Flags flags) const;

  std::string program;
  Flags words;
};

Expected<ExternalCompiler> ExternalCompiler::find(StringRef command) {
  ExternalCompiler compiler;
  compiler.words = splitOnSpace(command);
  ErrorOr<std::string> program = sys::findProgramByName(compiler.words[0]);
  if (!program)
    return createStringError(
        "C compiler '" + compiler.words[0] +
        "' (from CC) not found: " + program.getError().message());
  compiler.program = *program;
  return compiler;
}

std::string ExternalCompiler::identity() const {
  SmallString<128> real;
  if (sys::fs::real_path(program, real))
    real = program;
  sys::fs::file_status status;
  std::string text = join(words, " ") + "\n" + real.str().str();
  if (!sys::fs::status(real, status))
    text += " " + std::to_string(status.getSize()) + " " +
            std::to_string(
                status.getLastModificationTime().time_since_epoch().count());
  return text;
}

Outcome ExternalCompiler::run(const ScratchFolder &folder,
                              Flags arguments) const {
  SmallVector<StringRef> args(words.begin(), words.end());
  args.append(arguments.begin(), arguments.end());
  std::string output = folder.pathOf("output");
  std::optional<StringRef> redirects[] = {StringRef(), StringRef(output),
                                          StringRef(output)};
  Outcome outcome;
  outcome.status = sys::ExecuteAndWait(program, args, std::nullopt, redirects,
                                       0, 0, &outcome.problem);
  constexpr size_t limit = 64 * 1024;
  if (auto file = MemoryBuffer::getFile(output))
    outcome.output = (*file)->getBuffer().take_front(limit).rtrim().str();
  return outcome;
}

/// Adds what clang and gcc spell differently, or only one of them has.
Flags ExternalCompiler::addDialect(const ScratchFolder &folder,
                                   const CompileRequest &request,
                                   Flags flags) const {
  if (!StringRef(run(folder, {"--version"}).output).contains("clang")) {
    std::string empty = folder.pathOf("empty.c");
    std::error_code ec;
    raw_fd_ostream(empty, ec).close();
    if (run(folder, {gccHalfFlag, "-fsyntax-only", empty}).status == 0)
      flags.push_back(gccHalfFlag);
    return flags;
  }
  flags.insert(flags.end(), std::begin(clangHalfFlags),
               std::end(clangHalfFlags));
  if (!request.usesThreads)
    return flags;
  // Without a run path the loader may find the OpenMP runtime of another LLVM.
  std::string runtime = run(folder, {"-print-file-name=libomp.so"}).output;
  StringRef libraries = sys::path::is_absolute(runtime)
                            ? sys::path::parent_path(runtime)
                            : StringRef(UOP_LLVM_LIBDIR);
  flags.push_back(("-L" + libraries).str());
  flags.push_back(("-Wl,-rpath," + libraries).str());
  return flags;
}

Expected<std::unique_ptr<MemoryBuffer>>
ExternalCompiler::build(const CompileRequest &request, Flags flags) const {
  Expected<ScratchFolder> folder = ScratchFolder::create();
  if (!folder)
    return folder.takeError();

  std::string source = folder->pathOf("kernel.c");
  std::string library = folder->pathOf("kernel.so");
  std::error_code ec;
  {
    raw_fd_ostream out(source, ec);
    out << request.source;
    out.close();
    if (!ec)
      ec = out.error();
    out.clear_error();
  }
  if (ec)
    return createStringError("C compiler: '" + source + "': " + ec.message());

  Flags arguments = addDialect(*folder, request, std::move(flags));
  for (const std::string &last : {std::string("-shared"), std::string("-o"),
                                  library, source, std::string("-lm")})
    arguments.push_back(last);
  Outcome outcome = run(*folder, std::move(arguments));
  auto failed = [&](const Twine &how) {
    return createStringError("C compiler '" + join(words, " ") + "' " + how +
                             (outcome.output.empty() ? "" : ":\n") +
                             outcome.output);
  };
  if (outcome.status < 0)
    return failed("died" + Twine(outcome.problem.empty() ? "" : ": ") +
                  outcome.problem);
  if (outcome.status > 0)
    return failed("failed with status " + Twine(outcome.status));
  auto file = MemoryBuffer::getFile(library, /*IsText=*/false,
                                    /*RequiresNullTerminator=*/false,
                                    /*IsVolatile=*/true);
  if (!file || !(*file)->getBuffer().starts_with("\x7f"
                                                 "ELF"))
    return failed("left no shared object");
  return std::move(*file);
}

//===----------------------------------------------------------------------===//
// Putting it together
//===----------------------------------------------------------------------===//

using Code = std::shared_ptr<void>;

/// Loads the object that the cache holds, or that clang in this process makes.
Expected<Code> loadOwn(const CompileRequest &request, const Cache &cache,
                       const std::string &name, Flags flags, Kernel &kernel) {
  std::unique_ptr<MemoryBuffer> object = cache.read(name);
  kernel.fromCache = object != nullptr;
  if (!object) {
    flags.insert(flags.end(), std::begin(clangHalfFlags),
                 std::end(clangHalfFlags));
    Expected<SmallVector<char, 0>> made =
        compileWithClang(request.source, flags);
    if (!made)
      return made.takeError();
    StringRef bytes(made->data(), made->size());
    if (Error error = cache.write(name, bytes))
      return std::move(error);
    object = MemoryBuffer::getMemBufferCopy(bytes, name);
  }
  Expected<Linker *> linker = Linker::get();
  if (!linker)
    return linker.takeError();
  return (*linker)->load(std::move(object), request, kernel.address);
}

/// Loads the shared object that the cache holds, or that `compiler` makes.
Expected<Code> loadExternal(const CompileRequest &request, const Cache &cache,
                            const std::string &name, Flags flags,
                            const ExternalCompiler &compiler, Kernel &kernel) {
  kernel.fromCache = cache.read(name) != nullptr;
  if (!kernel.fromCache) {
    auto library = compiler.build(request, std::move(flags));
    if (!library)
      return library.takeError();
    if (Error error = cache.write(name, (*library)->getBuffer()))
      return std::move(error);
  }
  return loadShared(cache.pathOf(name), request, kernel.address);
}

} // namespace

Expected<Kernel> compile(const CompileRequest &request) {
  auto start = std::chrono::steady_clock::now();
  static const std::string host = describeHost();
  Expected<Cache> cache = Cache::open();
  if (!cache)
    return cache.takeError();

  std::optional<ExternalCompiler> external;
  if (StringRef command = environment("CC"); !command.empty()) {
    Expected<ExternalCompiler> found = ExternalCompiler::find(command);
    if (!found)
      return found.takeError();
    external = std::move(*found);
  }
  Flags flags = flagsFor(request);
  std::string compiler = external ? external->identity() : clangIdentity();
  std::string flagText = join(flags, "\n");
  std::string name = Cache::digest({request.source, compiler, flagText, host}) +
                     (external ? ".so" : ".o");

  Kernel kernel;
  Expected<Code> code =
      external ? loadExternal(request, *cache, name, std::move(flags),
                              *external, kernel)
               : loadOwn(request, *cache, name, std::move(flags), kernel);
  if (!code)
    return code.takeError();
  kernel.code = std::move(*code);
  kernel.milliseconds = std::chrono::duration<double, std::milli>(
                            std::chrono::steady_clock::now() - start)
                            .count();
  return kernel;
}

} // namespace uop::runtime
