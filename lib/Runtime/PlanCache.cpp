//===- PlanCache.cpp - plans by the structure of their graph --------------===//
//
// Looks graphs up by their encoding.
//
//===----------------------------------------------------------------------===//

#include "Uop/Runtime/PlanCache.h"
#include "Diagnostics.h"
#include "Uop/Graph/Encoding.h"
#include "Uop/Transforms/Kernelize.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/TimeProfiler.h"
#include <cstdlib>
#include <mutex>

using namespace uop;
using namespace uop::runtime;

struct PlanCache::Entry {
  /// Held while the plan is made.
  std::mutex mutex;
  std::shared_ptr<const Plan> plan;
};

PlanCache::PlanCache()
    : PlanCache([](ProgramOp program, const CompileOptions &options) {
        KernelizeOptions kernelizeOptions;
        kernelizeOptions.reassociate = !options.strict;
        return kernelize(program, kernelizeOptions);
      }) {}

/// What decides a plan. Nothing where `program` is no graph of UOps.
static std::optional<std::string> makeKey(ProgramOp program,
                                          const CompileOptions &options) {
  std::string key;
  key.reserve(1024);
  key.push_back(options.strict);
  for (const char *name : {"CC", "CFLAGS", "UOPC_CACHE"}) {
    const char *value = std::getenv(name);
    encodeText(value ? value : "", key);
  }
  if (!encodeGraph(program.getRoot(), key))
    return std::nullopt;
  return key;
}

/// The entry of this key, a new one if there is none.
std::shared_ptr<PlanCache::Entry> PlanCache::find(const std::string &key) {
  {
    std::shared_lock<std::shared_mutex> lock(mutex);
    auto it = entries.find(key);
    if (it != entries.end())
      return it->second;
  }
  std::unique_lock<std::shared_mutex> lock(mutex);
  std::shared_ptr<Entry> &entry = entries[key];
  if (!entry)
    entry = std::make_shared<Entry>();
  return entry;
}

void PlanCache::forget(const std::string &key, const std::shared_ptr<Entry> &entry) {
  std::unique_lock<std::shared_mutex> lock(mutex);
  auto it = entries.find(key);
  if (it != entries.end() && it->second == entry)
    entries.erase(it);
}

llvm::Expected<std::shared_ptr<const Plan>>
PlanCache::build(ProgramOp program, const CompileOptions &options) const {
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(program.getLoc());
  auto copy = llvm::cast<ProgramOp>(program->clone());
  module->push_back(copy);
  mlir::FailureOr<PlanOp> planned = mlir::failure();
  {
    llvm::TimeTraceScope scope("plan", program.getSymName());
    if (llvm::Error error = collectErrors(program.getContext(), [&] {
          planned = plan(copy, options);
          return planned;
        }))
      return std::move(error);
  }
  llvm::Expected<Plan> compiled = Plan::compile(*planned, options);
  if (!compiled)
    return compiled.takeError();
  return std::make_shared<const Plan>(std::move(*compiled));
}

llvm::Expected<std::shared_ptr<const Plan>>
PlanCache::get(ProgramOp program, const CompileOptions &options) {
  std::optional<std::string> key = makeKey(program, options);
  if (!key)
    return llvm::createStringError("program '" + program.getSymName() +
                                   "' holds an op that is none of uop");
  std::shared_ptr<Entry> entry = find(*key);
  std::lock_guard<std::mutex> lock(entry->mutex);
  if (entry->plan)
    return entry->plan;
  llvm::Expected<std::shared_ptr<const Plan>> built = build(program, options);
  if (!built) {
    forget(*key, entry);
    return built.takeError();
  }
  return entry->plan = *built;
}

size_t PlanCache::size() const {
  std::shared_lock<std::shared_mutex> lock(mutex);
  return entries.size();
}

void PlanCache::clear() {
  std::unique_lock<std::shared_mutex> lock(mutex);
  entries.clear();
}
