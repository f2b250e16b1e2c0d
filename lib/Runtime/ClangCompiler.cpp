//===- ClangCompiler.cpp - clang as a library -----------------------------===//
//
// The clang driver turns flags into the arguments of cc1 as the program would;
// the frontend then runs on text and headers in memory, and code generation
// writes the object into memory.
//
//===----------------------------------------------------------------------===//

#include "ClangCompiler.h"
#include "ScratchFolder.h"

#include "clang/Basic/DiagnosticIDs.h"
#include "clang/Basic/DiagnosticOptions.h"
#include "clang/Basic/Version.h"
#include "clang/CodeGen/CodeGenAction.h"
#include "clang/Driver/Compilation.h"
#include "clang/Driver/Driver.h"
#include "clang/Driver/Job.h"
#include "clang/Driver/Tool.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/CompilerInvocation.h"
#include "clang/Frontend/TextDiagnosticPrinter.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/VirtualFileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <pthread.h>
#include <shared_mutex>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

namespace uop::runtime {

namespace {

using Object = SmallVector<char, 0>;

constexpr StringLiteral sourceName = "kernel.c";

/// Where the built-in headers seem to be.
constexpr StringLiteral headerFolder = "/uop-builtin-headers";

/// The part of <math.h> that kernels use. The system's costs more to parse
/// than most kernels cost to compile.
constexpr StringLiteral mathHeader = R"(#pragma once
#define INFINITY (__builtin_inff())
#define NAN (__builtin_nanf(""))
#define HUGE_VALF (__builtin_huge_valf())
float exp2f(float), log2f(float), sqrtf(float), sinf(float);
float cosf(float), tanf(float), tanhf(float), expf(float), logf(float);
float powf(float, float), fmodf(float, float), fmaf(float, float, float);
float fabsf(float), floorf(float), ceilf(float), truncf(float);
float rintf(float), roundf(float), copysignf(float, float);
float fminf(float, float), fmaxf(float, float);
double exp2(double), log2(double), sqrt(double), sin(double), cos(double);
double exp(double), log(double), pow(double, double), fabs(double);
double floor(double), ceil(double), trunc(double), fma(double, double, double);
#define isnan(x) __builtin_isnan(x)
#define isinf(x) __builtin_isinf(x)
#define isfinite(x) __builtin_isfinite(x)
#define signbit(x) __builtin_signbit(x)
)";

constexpr StringLiteral boolHeader = R"(#pragma once
#define bool _Bool
#define true 1
#define false 0
#define __bool_true_false_are_defined 1
)";

/// Stack for clang, whose parser and code generator recurse over expressions:
/// enough for the deepest text of `inProcessLimit` bytes. Only what is used
/// takes memory.
constexpr size_t stackSize = size_t(1) << 30;

/// Processor time that a child may take.
constexpr rlim_t childSeconds = 900;

/// Held shared while clang works and alone at a fork: a child must not inherit
/// a lock that another thread holds inside LLVM.
std::shared_mutex &forkMutex() {
  static std::shared_mutex mutex;
  return mutex;
}

/// The path of the clang program of the LLVM this is built with: the driver
/// derives the folder of clang's own headers from it. Invocations keep the
/// pointer.
const std::string &clangProgram() {
  static const std::string program = [] {
    SmallString<128> path(UOP_LLVM_LIBDIR);
    sys::path::append(path, "..", "bin", "clang");
    sys::path::remove_dots(path, /*remove_dot_dot=*/true);
    return path.str().str();
  }();
  return program;
}

/// Runs `work` on a stack of `stackSize` bytes, or on less where the system
/// won't give a thread that much.
void runOnLargeStack(function_ref<void()> work) {
  auto entry = [](void *argument) -> void * {
    (*static_cast<function_ref<void()> *>(argument))();
    return nullptr;
  };
  for (size_t bytes : {stackSize, stackSize / 8}) {
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
      break;
    pthread_t thread;
    bool started = pthread_attr_setstacksize(&attributes, bytes) == 0 &&
                   pthread_create(&thread, &attributes, entry, &work) == 0;
    pthread_attr_destroy(&attributes);
    if (started) {
      pthread_join(thread, nullptr);
      return;
    }
  }
  work();
}

/// The file system that clang sees: the real one under the text and the
/// built-in headers.
IntrusiveRefCntPtr<vfs::FileSystem> makeFileSystem(StringRef source) {
  auto overlay =
      makeIntrusiveRefCnt<vfs::OverlayFileSystem>(vfs::getRealFileSystem());
  auto memory = makeIntrusiveRefCnt<vfs::InMemoryFileSystem>();
  overlay->pushOverlay(memory);
  auto add = [&](const Twine &path, StringRef text) {
    memory->addFile(path, 0, MemoryBuffer::getMemBuffer(text, "", false));
  };
  add(sourceName, source);
  add(headerFolder + "/math.h", mathHeader);
  add(headerFolder + "/stdbool.h", boolHeader);
  return overlay;
}

Error clangError(StringRef messages) {
  messages = messages.rtrim();
  return createStringError("C compiler: " +
                           (messages.empty() ? "failed" : messages));
}

Error notOneObject() {
  return createStringError("C compiler: CFLAGS asks for something other than "
                           "one object file");
}

/// Lets the driver turn `flags` into an invocation of cc1 on the text.
Error makeInvocation(ArrayRef<std::string> flags,
                     IntrusiveRefCntPtr<vfs::FileSystem> files,
                     clang::DiagnosticsEngine &diagnostics,
                     const std::string &messages,
                     clang::CompilerInvocation &invocation) {
  const std::string &program = clangProgram();
  std::string headers = ("-isystem" + headerFolder).str();
  std::vector<const char *> arguments = {program.c_str(), "--no-default-config",
                                         headers.c_str()};
  for (const std::string &flag : flags)
    arguments.push_back(flag.c_str());
  for (const char *last : {"-c", "-o", "kernel.o", "-x", "c"})
    arguments.push_back(last);
  arguments.push_back(sourceName.data());

  std::string hostTriple = sys::getDefaultTargetTriple();
  clang::driver::Driver driver(program, hostTriple, diagnostics, "clang",
                               files);
  driver.setProbePrecompiled(false);
  std::unique_ptr<clang::driver::Compilation> compilation(
      driver.BuildCompilation(arguments));
  if (!compilation || compilation->containsError() ||
      diagnostics.hasErrorOccurred())
    return clangError(messages);

  auto isCc1 = [](const clang::driver::Command &job) {
    return StringRef(job.getCreator().getName()) == "clang";
  };
  const clang::driver::JobList &jobs = compilation->getJobs();
  if (jobs.size() != 1 || !isCc1(*jobs.begin()))
    return notOneObject();
  if (!clang::CompilerInvocation::CreateFromArgs(
          invocation, jobs.begin()->getArguments(), diagnostics,
          program.c_str()) ||
      diagnostics.hasErrorOccurred())
    return clangError(messages);

  const clang::FrontendOptions &frontend = invocation.getFrontendOpts();
  if (frontend.ProgramAction != clang::frontend::EmitObj ||
      frontend.Inputs.size() != 1 || frontend.Inputs[0].getFile() != sourceName)
    return notOneObject();
  Triple target(invocation.getTargetOpts().Triple), host(hostTriple);
  if (target.getArch() != host.getArch() || target.getOS() != host.getOS() ||
      target.getEnvironment() != host.getEnvironment())
    return createStringError("C compiler: CFLAGS asks for code for '" +
                             target.str() + "', which can't run here");
  // These would change the state of this whole process.
  if (!frontend.LLVMArgs.empty() || !frontend.Plugins.empty())
    return createStringError("C compiler: -mllvm and plugins work with an "
                             "external compiler only: set CC");
  return Error::success();
}

/// Makes an invocation fit for a library: no reports, no files on the side,
/// and memory goes back, as a process may compile thousands of kernels.
void tame(clang::CompilerInvocation &invocation) {
  invocation.getFrontendOpts().DisableFree = false;
  invocation.getFrontendOpts().ShowStats = false;
  invocation.getFrontendOpts().StatsFile.clear();
  invocation.getFrontendOpts().TimeTracePath.clear();
  invocation.getCodeGenOpts().DisableFree = false;
  invocation.getCodeGenOpts().TimePasses = false;
  invocation.getCodeGenOpts().OptRecordFile.clear();
  invocation.getCodeGenOpts().CoverageNotesFile.clear();
  invocation.getCodeGenOpts().CoverageDataFile.clear();
  invocation.getDependencyOutputOpts() = clang::DependencyOutputOptions();
  invocation.getDiagnosticOpts().DiagnosticLogFile.clear();
  invocation.getDiagnosticOpts().DiagnosticSerializationFile.clear();
  invocation.getDiagnosticOpts().ShowCarets = false;
}

Expected<Object> compileOnThisStack(StringRef source,
                                    ArrayRef<std::string> flags) {
  static std::once_flag once;
  std::call_once(once, [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
    InitializeNativeTargetAsmParser();
  });

  std::string messages;
  raw_string_ostream messageStream(messages);
  clang::DiagnosticOptions options;
  options.ShowCarets = false;
  clang::TextDiagnosticPrinter printer(messageStream, options);
  clang::DiagnosticsEngine diagnostics(clang::DiagnosticIDs::create(), options,
                                       &printer, /*ShouldOwnClient=*/false);

  IntrusiveRefCntPtr<vfs::FileSystem> files = makeFileSystem(source);
  auto invocation = std::make_shared<clang::CompilerInvocation>();
  if (Error error =
          makeInvocation(flags, files, diagnostics, messages, *invocation))
    return std::move(error);
  tame(*invocation);

  Object object;
  clang::CompilerInstance compiler(invocation);
  compiler.setVirtualFileSystem(files);
  compiler.createDiagnostics(&printer, /*ShouldOwnClient=*/false);
  compiler.setVerboseOutputStream(nulls());
  compiler.setOutputStream(std::make_unique<raw_svector_ostream>(object));
  clang::EmitObjAction action;
  if (!compiler.ExecuteAction(action) ||
      compiler.getDiagnostics().hasErrorOccurred() || object.empty())
    return clangError(messages);
  return std::move(object);
}

Expected<Object> compileInProcess(StringRef source,
                                  ArrayRef<std::string> flags) {
  std::optional<Expected<Object>> result;
  runOnLargeStack([&] { result.emplace(compileOnThisStack(source, flags)); });
  return std::move(*result);
}

/// Limits what a compiler gone wild can take: half of the machine's memory on
/// top of what this process maps already, and some minutes.
void limitChild() {
  rlim_t page = sysconf(_SC_PAGESIZE);
  rlim_t physical = page * rlim_t(sysconf(_SC_PHYS_PAGES));
  unsigned long long pages = 0;
  if (FILE *file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%llu", &pages) != 1)
      pages = 0;
    std::fclose(file);
  }
  auto lower = [](int resource, rlim_t value) {
    rlimit limit;
    if (getrlimit(resource, &limit) != 0)
      return;
    limit.rlim_cur = std::min(limit.rlim_cur, value);
    setrlimit(resource, &limit);
  };
  lower(RLIMIT_AS, pages * page + stackSize +
                       std::max<rlim_t>(physical / 2, rlim_t(2) << 30));
  lower(RLIMIT_CPU, childSeconds);
  lower(RLIMIT_CORE, 0);
}

/// The child's whole life. Its standard error is the file of messages.
[[noreturn]] void runChild(StringRef source, ArrayRef<std::string> flags,
                           const std::string &objectPath, int messagesFd) {
  // Handlers that the parent installed would print stack traces.
  for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS,
                     SIGXCPU, SIGTERM, SIGINT, SIGHUP})
    std::signal(signal, SIG_DFL);
  dup2(messagesFd, STDERR_FILENO);
  limitChild();
  Expected<Object> object = compileInProcess(source, flags);
  std::string message;
  if (object) {
    std::error_code ec;
    raw_fd_ostream out(objectPath, ec);
    out << StringRef(object->data(), object->size());
    out.close();
    if (!ec)
      ec = out.error();
    out.clear_error();
    if (!ec)
      _exit(0);
    message = "C compiler: '" + objectPath + "': " + ec.message();
  } else {
    message = toString(object.takeError());
  }
  for (StringRef rest = message; !rest.empty();) {
    ssize_t written = write(STDERR_FILENO, rest.data(), rest.size());
    if (written <= 0)
      break;
    rest = rest.drop_front(written);
  }
  _exit(1);
}

std::string contents(const std::string &path, size_t limit) {
  auto file = MemoryBuffer::getFile(path);
  return file ? (*file)->getBuffer().take_front(limit).rtrim().str() : "";
}

Expected<Object> compileInChild(StringRef source, ArrayRef<std::string> flags) {
  Expected<ScratchFolder> folder = ScratchFolder::create();
  if (!folder)
    return folder.takeError();
  std::string objectPath = folder->pathOf("kernel.o");
  std::string messagesPath = folder->pathOf("messages");
  int messagesFd = -1;
  if (std::error_code ec = sys::fs::openFileForWrite(messagesPath, messagesFd))
    return createStringError("C compiler: '" + messagesPath +
                             "': " + ec.message());

  pid_t child;
  {
    std::unique_lock<std::shared_mutex> alone(forkMutex());
    child = fork();
    if (child == 0)
      runChild(source, flags, objectPath, messagesFd);
  }
  int forkErrno = errno;
  close(messagesFd);
  if (child < 0)
    return createStringError("C compiler: can't start a process: " +
                             sys::StrError(forkErrno));
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return createStringError("C compiler: lost sight of its process: " +
                               sys::StrError());

  std::string messages = contents(messagesPath, 64 * 1024);
  if (WIFSIGNALED(status)) {
    int signal = WTERMSIG(status);
    const char *why = signal == SIGXCPU ? "out of processor time"
                      : signal == SIGABRT || signal == SIGKILL
                          ? "out of memory, perhaps"
                          : strsignal(signal);
    return createStringError(
        "C compiler died (signal " + Twine(signal) + ", " + why + ") on " +
        Twine(source.size()) + " bytes of C" +
        (messages.empty() ? "" : ": " + messages.substr(0, 1000)));
  }
  if (WEXITSTATUS(status) != 0)
    return createStringError(
        "%s", messages.empty()
                  ? "C compiler: its process ended without a message"
                  : messages.c_str());
  auto file = MemoryBuffer::getFile(objectPath, /*IsText=*/false,
                                    /*RequiresNullTerminator=*/false);
  if (!file)
    return createStringError("C compiler: '" + objectPath +
                             "': " + file.getError().message());
  StringRef bytes = (*file)->getBuffer();
  return Object(bytes.begin(), bytes.end());
}

} // namespace

std::string clangIdentity() {
  return (clang::getClangFullVersion() + "\n" + mathHeader + boolHeader).str();
}

Expected<SmallVector<char, 0>> compileWithClang(StringRef source,
                                                ArrayRef<std::string> flags) {
  if (source.size() > inProcessLimit)
    return compileInChild(source, flags);
  std::shared_lock<std::shared_mutex> shared(forkMutex());
  return compileInProcess(source, flags);
}

} // namespace uop::runtime
