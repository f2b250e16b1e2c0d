//===- PlanCache.h - plans by the structure of their graph ------*- C++ -*-===//
//
// The second time that a graph is seen, nothing is planned and nothing compiled.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_RUNTIME_PLANCACHE_H
#define UOP_RUNTIME_PLANCACHE_H

#include "Uop/Runtime/Plan.h"

#include <shared_mutex>
#include <unordered_map>

namespace uop::runtime {

/// Thread safe. One cache serves graphs of any number of contexts; its users in one
/// context need a context that allows threads.
class PlanCache {
public:
  /// Replaces a program in its module by a plan, or reports an error and fails.
  using PlanFn = std::function<mlir::FailureOr<PlanOp>(
      ProgramOp, const CompileOptions &)>;

  /// Plans with `kernelize`, which may reassociate sums unless they are strict.
  PlanCache();
  explicit PlanCache(PlanFn plan) : plan(std::move(plan)) {}

  /// The compiled plan of a graph of this structure: that of an earlier call with
  /// an equal graph, equal options and the same CC, CFLAGS and UOPC_CACHE, else a
  /// new one. Graphs are equal when their ops, args and sources are, whatever the
  /// order in the block, locations and names. `program` stays as it is. Of calls
  /// for one graph at the same time one plans and the others wait. Errors are not
  /// kept.
  llvm::Expected<std::shared_ptr<const Plan>>
  get(ProgramOp program, const CompileOptions &options = {});

  size_t size() const;
  void clear();

private:
  struct Entry;

  std::shared_ptr<Entry> find(const std::string &key);
  void forget(const std::string &key, const std::shared_ptr<Entry> &entry);
  llvm::Expected<std::shared_ptr<const Plan>>
  build(ProgramOp program, const CompileOptions &options) const;

  PlanFn plan;
  mutable std::shared_mutex mutex;
  std::unordered_map<std::string, std::shared_ptr<Entry>> entries;
};

} // namespace uop::runtime

#endif // UOP_RUNTIME_PLANCACHE_H
