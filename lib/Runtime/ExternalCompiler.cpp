//===- ExternalCompiler.cpp - the compiler that CC names ------------------===//
//
// Runs the program on files in a temporary folder. What gcc and clang spell
// differently is here.
//
//===----------------------------------------------------------------------===//

#include "ExternalCompiler.h"
#include "ScratchFolder.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>

using namespace llvm;

namespace uop::runtime {

namespace {

using Flags = std::vector<std::string>;

constexpr const char *gccHalfFlag = "-fexcess-precision=16";

/// What one run of a program said.
struct Outcome {
  int status = 0;
  std::string output, problem;
};

/// The program at work in one temporary folder.
struct Runner {
  const std::string &program;
  const Flags &words;
  const ScratchFolder &folder;

  Outcome run(Flags arguments) const;
  Flags addDialect(bool usesThreads, Flags flags) const;
};

Outcome Runner::run(Flags arguments) const {
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
Flags Runner::addDialect(bool usesThreads, Flags flags) const {
  if (!StringRef(run({"--version"}).output).contains("clang")) {
    std::string empty = folder.pathOf("empty.c");
    std::error_code ec;
    raw_fd_ostream(empty, ec).close();
    if (run({gccHalfFlag, "-fsyntax-only", empty}).status == 0)
      flags.push_back(gccHalfFlag);
    return flags;
  }
  flags.insert(flags.end(), std::begin(clangHalfFlags),
               std::end(clangHalfFlags));
  if (!usesThreads)
    return flags;
  // Without a run path the loader may find the OpenMP runtime of another LLVM.
  std::string runtime = run({"-print-file-name=libomp.so"}).output;
  StringRef libraries = sys::path::is_absolute(runtime)
                            ? sys::path::parent_path(runtime)
                            : StringRef(UOP_LLVM_LIBDIR);
  flags.push_back(("-L" + libraries).str());
  flags.push_back(("-Wl,-rpath," + libraries).str());
  return flags;
}

} // namespace

Flags splitOnSpace(StringRef text) {
  SmallVector<StringRef> words;
  SplitString(text, words);
  return Flags(words.begin(), words.end());
}

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

Expected<std::unique_ptr<MemoryBuffer>>
ExternalCompiler::build(StringRef source, bool usesThreads,
                        Flags flags) const {
  Expected<ScratchFolder> folder = ScratchFolder::create();
  if (!folder)
    return folder.takeError();

  std::string text = folder->pathOf("kernel.c");
  std::string library = folder->pathOf("kernel.so");
  std::error_code ec;
  {
    raw_fd_ostream out(text, ec);
    out << source;
    out.close();
    if (!ec)
      ec = out.error();
    out.clear_error();
  }
  if (ec)
    return createStringError("C compiler: '" + text + "': " + ec.message());

  Runner runner{program, words, *folder};
  Flags arguments = runner.addDialect(usesThreads, std::move(flags));
  for (const std::string &last : {std::string("-shared"), std::string("-o"),
                                  library, text, std::string("-lm")})
    arguments.push_back(last);
  Outcome outcome = runner.run(std::move(arguments));
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

} // namespace uop::runtime
