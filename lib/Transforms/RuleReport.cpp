//===- RuleReport.cpp - which rules fired, and where ----------------------===//
//
// Counts rewrites by rule and location and prints them, or each as it happens.
//
//===----------------------------------------------------------------------===//

#include "Uop/Transforms/RuleReport.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <mutex>

using namespace mlir;
using namespace uop;

RuleReportDefaults &uop::getRuleReportDefaults() {
  static RuleReportDefaults defaults;
  return defaults;
}

namespace {

constexpr size_t maxPlaces = 5;

void writeBlock(llvm::StringRef text) {
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  llvm::errs() << text;
}

/// `FILE:LINE:COLUMN`, of the first place for what has several.
std::string formatLocation(Location loc) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (auto place = loc->findInstanceOf<FileLineColLoc>())
    os << place.getFilename().getValue() << ':' << place.getLine() << ':'
       << place.getColumn();
  else
    os << "an unknown place";
  return text;
}

void printAsMlir(Value root, llvm::raw_ostream &os) {
  for (Operation *op : nearest(root, RuleReportDefaults::maxExcerpt)) {
    op->print(os, OpPrintingFlags().useLocalScope().assumeVerified());
    os << '\n';
  }
}

} // namespace

RuleReport::RuleReport(bool stats, bool trace)
    : stats(stats || getRuleReportDefaults().stats),
      trace(trace || getRuleReportDefaults().trace) {}

void RuleReport::observe(RewriteOptions &options) {
  if (stats || trace)
    options.onRewrite = [this](const Pattern &rule, Operation *before,
                               Value after) { note(rule, before, after); };
}

void RuleReport::note(const Pattern &rule, Operation *before, Value after) {
  std::string place = formatLocation(before->getLoc());
  if (stats)
    ++places[rule.getDebugName().str()][place];
  if (!trace)
    return;
  auto *print = getRuleReportDefaults().printExcerpt;
  if (!print)
    print = printAsMlir;
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "# " << rule.getDebugName() << " at " << place << '\n';
  if (after.getDefiningOp() != before) {
    os << "# before\n";
    print(before->getResult(0), os);
  }
  os << "# after\n";
  print(after, os);
  os << '\n';
  writeBlock(text);
}

void RuleReport::print(ProgramOp program, const RewriteStats &run) const {
  if (!stats)
    return;
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "rules in " << program.getSymName() << ": " << run.nodesBefore
     << " nodes before, " << run.nodesAfter << " after, " << run.getSteps()
     << (run.getSteps() == 1 ? " rewrite\n" : " rewrites\n");
  std::vector<std::pair<int64_t, llvm::StringRef>> rules;
  for (const auto &[rule, count] : run.fired)
    rules.push_back({-count, rule});
  llvm::sort(rules);
  for (auto [negative, rule] : rules) {
    os << llvm::format("%8lld  ", static_cast<long long>(-negative)) << rule;
    auto it = places.find(rule.str());
    if (it != places.end()) {
      // The busiest places first; among equals, the one that came first.
      std::vector<std::pair<int64_t, size_t>> sorted;
      for (const auto &[number, entry] : llvm::enumerate(it->second))
        sorted.push_back({-entry.second, number});
      llvm::sort(sorted);
      llvm::StringRef separator = "  at ";
      for (auto [times, number] :
           llvm::ArrayRef(sorted).take_front(maxPlaces)) {
        os << separator << std::next(it->second.begin(), number)->first;
        if (times < -1)
          os << " (" << -times << ")";
        separator = ", ";
      }
      if (sorted.size() > maxPlaces)
        os << " and " << sorted.size() - maxPlaces << " more places";
    }
    os << '\n';
  }
  writeBlock(text);
}
