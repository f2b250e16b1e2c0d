//===- Profile.cpp - a trace of this run ----------------------------------===//

#include "Profile.h"
#include "Files.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/TimeProfiler.h"

using namespace uop::runtime;

/// Puts a file that holds `text` at `path`, or only tries whether it could.
static int writeFile(llvm::StringRef path, llvm::StringRef text, bool commit) {
  llvm::Expected<StagedFile> file = StagedFile::write(
      path, [&](llvm::raw_ostream &os) { os << text; });
  if (!file)
    return fail(file.takeError());
  if (llvm::Error error = commit ? file->commit() : llvm::Error::success())
    return fail(std::move(error));
  return 0;
}

int Profile::start() {
  if (path.empty())
    return 0;
  llvm::timeTraceProfilerInitialize(/*TimeTraceGranularity=*/0, "uop-run");
  return writeFile(path, "", /*commit=*/false);
}

Profile::~Profile() {
  if (llvm::timeTraceProfilerEnabled())
    llvm::timeTraceProfilerCleanup();
}

int Profile::write() {
  if (path.empty())
    return 0;
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream os(text);
  llvm::timeTraceProfilerWrite(os);
  return writeFile(path, text, /*commit=*/true);
}
