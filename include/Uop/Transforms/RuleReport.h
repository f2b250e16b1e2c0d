//===- RuleReport.h - which rules fired, and where --------------*- C++ -*-===//
//
// What passes that rewrite by rules say about it on standard error when asked.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_TRANSFORMS_RULEREPORT_H
#define UOP_TRANSFORMS_RULEREPORT_H

#include "Uop/Graph/Rewrite.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

namespace uop {

/// What every such pass of a process reports, whatever its own options say, and
/// how. A tool sets this before it runs passes.
struct RuleReportDefaults {
  /// How many nodes with sources an excerpt shows.
  static constexpr size_t maxExcerpt = 16;

  bool stats = false;
  bool trace = false;
  /// Prints the nearest nodes of a value's graph, one a line. Unless it is set,
  /// they are printed as MLIR.
  void (*printExcerpt)(mlir::Value root, llvm::raw_ostream &os) = nullptr;
};
RuleReportDefaults &getRuleReportDefaults();

/// The report of one run of a pass over one program.
///
///     RuleReport report(ruleStats, traceRules);
///     report.observe(options);
///     ... graphRewrite(program, patterns, options) ...
///     report.print(program, stats);
///
/// With `stats`, `print` writes node counts before and after and a line for
/// each rule: how often it fired, and at which locations (the five most
/// frequent). With `trace`, every rewrite is written as it happens: rule,
/// location, and the node's graph before and after. Both go to standard error,
/// whole blocks at a time when programs are processed side by side.
class RuleReport {
public:
  RuleReport(bool stats, bool trace);

  /// Has `options` call this report, which must outlive their use.
  void observe(RewriteOptions &options);
  void print(ProgramOp program, const RewriteStats &stats) const;

private:
  void note(const mlir::Pattern &rule, mlir::Operation *before,
            mlir::Value after);

  bool stats;
  bool trace;
  /// By rule and location, how often, in the order in which they came.
  std::map<std::string,
           llvm::MapVector<std::string, int64_t, llvm::StringMap<unsigned>>>
      places;
};

} // namespace uop

#endif // UOP_TRANSFORMS_RULEREPORT_H
