//===- Pdll.cpp - from PDLL to PDL ----------------------------------------===//
//
// Finds mlir-pdll and the .td files, runs it, reads the module it prints and
// turns what it says on standard error into diagnostics.
//
//===----------------------------------------------------------------------===//

#include "Pdll.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Regex.h"
#include <dlfcn.h>

using namespace mlir;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace {

const char *const dialectFile = "Uop/Dialect/UopOps.td";

/// The mlir-pdll of the MLIR that this was built with, or one of the PATH;
/// empty if there is none.
std::string findMlirPdll() {
  for (const char *name : {UOP_MLIR_PDLL, "mlir-pdll-22", "mlir-pdll"})
    if (llvm::ErrorOr<std::string> found = llvm::sys::findProgramByName(name)) {
      llvm::SmallString<128> real;
      return fs::real_path(*found, real) ? *found : real.str().str();
    }
  return {};
}

/// `BIN/../include` of a file in BIN (or LIB) if it holds the ops of uop.
bool addInclude(std::vector<std::string> &dirs, llvm::StringRef file) {
  llvm::SmallString<128> real;
  if (file.empty() || fs::real_path(file, real))
    return false;
  path::remove_filename(real);
  path::append(real, "..", "include");
  llvm::SmallString<128> ops = real;
  path::append(ops, dialectFile);
  if (!fs::exists(ops))
    return false;
  dirs.push_back(real.str().str());
  return true;
}

/// Where the .td files of uop are: beside the installed program or plugin that
/// this is part of, else where they were when it was built.
void addUopInclude(std::vector<std::string> &dirs) {
  void *self = reinterpret_cast<void *>(&addUopInclude);
  if (addInclude(dirs, fs::getMainExecutable(nullptr, self)))
    return;
  Dl_info info;
  if (dladdr(self, &info) && info.dli_fname && addInclude(dirs, info.dli_fname))
    return;
  dirs.push_back(UOP_SOURCE_INCLUDE_DIR);
}

/// A file that goes when this goes.
struct TemporaryFile {
  explicit TemporaryFile(llvm::StringRef suffix) {
    if (fs::createTemporaryFile("uop-rules", suffix, name))
      name.clear();
  }
  ~TemporaryFile() {
    if (!name.empty())
      fs::remove(name);
  }
  std::string read() const {
    auto buffer = llvm::MemoryBuffer::getFile(name);
    return buffer ? (*buffer)->getBuffer().str() : std::string();
  }
  llvm::SmallString<128> name;
};

/// The place in file `path` of a literal that mlir-pdll could not parse: it
/// names the literal's text and a column in that. The first literal of this
/// text is meant; others are as wrong.
Location findLiteral(llvm::StringRef file, llvm::StringRef text,
                     unsigned column, MLIRContext *context) {
  auto buffer = llvm::MemoryBuffer::getFile(file);
  if (buffer) {
    llvm::StringRef all = (*buffer)->getBuffer();
    std::string quoted = ("\"" + text + "\"").str();
    if (size_t at = all.find(quoted); at != llvm::StringRef::npos) {
      llvm::StringRef before = all.take_front(at + 1);
      size_t lineStart = before.rfind('\n');
      lineStart = lineStart == llvm::StringRef::npos ? 0 : lineStart + 1;
      return FileLineColLoc::get(context, file, before.count('\n') + 1,
                                 before.size() - lineStart + column);
    }
  }
  return FileLineColLoc::get(context, file, 1, 1);
}

/// Emits what mlir-pdll said of `file`; false if there is no error in it.
bool emitMessages(llvm::StringRef messages, llvm::StringRef file,
                  MLIRContext *context) {
  static const llvm::Regex plain(
      "^(.+):([0-9]+):([0-9]+): (error|warning|note): (.*)$");
  static const llvm::Regex literal(
      "^loc\\(\"(.*)\":([0-9]+):([0-9]+)\\): (error|warning): (.*)$");
  bool hasError = false;
  std::optional<InFlightDiagnostic> diagnostic;
  llvm::SmallVector<llvm::StringRef> lines;
  messages.split(lines, '\n');
  for (llvm::StringRef line : lines) {
    llvm::SmallVector<llvm::StringRef, 6> part;
    bool isLiteral = literal.match(line, &part);
    if (!isLiteral && !plain.match(line, &part))
      continue;
    unsigned row = 1, column = 1;
    part[2].getAsInteger(10, row);
    part[3].getAsInteger(10, column);
    Location loc = isLiteral
                       ? findLiteral(file, part[1], column, context)
                       : FileLineColLoc::get(context, part[1], row, column);
    if (part[4] == "note") {
      if (diagnostic)
        diagnostic->attachNote(loc) << part[5];
      continue;
    }
    diagnostic.reset();
    if (part[4] == "warning") {
      diagnostic.emplace(emitWarning(loc));
    } else {
      diagnostic.emplace(emitError(loc));
      hasError = true;
    }
    *diagnostic << part[5];
  }
  return hasError;
}

} // namespace

OwningOpRef<ModuleOp> uop::compilePdll(llvm::StringRef file,
                                       llvm::ArrayRef<std::string> includeDirs,
                                       MLIRContext *context) {
  Location loc = FileLineColLoc::get(context, file, 1, 1);
  std::string program = findMlirPdll();
  if (program.empty()) {
    emitError(loc) << "rules in PDLL need the program mlir-pdll, which is not "
                      "found";
    return nullptr;
  }
  std::vector<std::string> dirs(includeDirs.begin(), includeDirs.end());
  llvm::StringRef folder = path::parent_path(file);
  dirs.push_back(folder.empty() ? "." : folder.str());
  addUopInclude(dirs);
  llvm::SmallString<128> mlirInclude(path::parent_path(program));
  path::append(mlirInclude, "..", "include");
  dirs.push_back(mlirInclude.str().str());

  TemporaryFile output("mlir"), messages("txt");
  std::vector<llvm::StringRef> arguments{program, "-x=mlir", "--color=false",
                                         file};
  for (llvm::StringRef dir : dirs) {
    arguments.push_back("-I");
    arguments.push_back(dir);
  }
  std::string why;
  int status = llvm::sys::ExecuteAndWait(
      program, arguments, /*Env=*/std::nullopt,
      {llvm::StringRef(""), output.name.str(), messages.name.str()},
      /*SecondsToWait=*/60, /*MemoryLimit=*/0, &why);
  std::string text = messages.read();
  if (emitMessages(text, file, context))
    return nullptr;
  if (status != 0) {
    llvm::StringRef said = llvm::StringRef(text).trim();
    emitError(loc) << "mlir-pdll fails on this file"
                   << (said.empty() && why.empty() ? "" : ": ")
                   << (said.empty() ? llvm::StringRef(why)
                                    : said.split('\n').first);
    return nullptr;
  }
  return parseSourceString<ModuleOp>(output.read(), context, file);
}
