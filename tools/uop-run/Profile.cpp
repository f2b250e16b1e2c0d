//===- Profile.cpp - a trace of this run ----------------------------------===//

#include "Profile.h"
#include "Files.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/TimeProfiler.h"

using namespace uop::runtime;

Profile::Profile(llvm::StringRef path) : path(path) {
  if (!path.empty())
    llvm::timeTraceProfilerInitialize(/*TimeTraceGranularity=*/0, "uop-run");
}

Profile::~Profile() {
  if (!path.empty())
    llvm::timeTraceProfilerCleanup();
}

int Profile::write() {
  if (path.empty())
    return 0;
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream os(text);
  llvm::timeTraceProfilerWrite(os);
  llvm::Expected<StagedFile> file = StagedFile::write(
      path, [&](llvm::raw_ostream &out) { out << text; });
  if (!file)
    return fail(file.takeError());
  if (llvm::Error error = file->commit())
    return fail(std::move(error));
  return 0;
}
