//===- Rewrite.h - rewriting graphs by patterns -----------------*- C++ -*-===//
//
// The one driver of rewrite rules: ordinary MLIR patterns, applied bottom-up to
// a fixed point while the graph is rebuilt through the UniquingBuilder.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_GRAPH_REWRITE_H
#define UOP_GRAPH_REWRITE_H

#include "Uop/Graph/Walk.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"
#include <map>

namespace uop {

struct RewriteOptions {
  /// Rules may fire this many times in all, plus `stepsPerNode` times for every
  /// node of the program that has been visited; then it is an error.
  int64_t maxSteps = 10000;
  int64_t stepsPerNode = 64;
};

struct RewriteStats {
  /// Nodes that the root reaches.
  int64_t nodesBefore = 0;
  int64_t nodesAfter = 0;
  /// How often a rule fired, by the debug name of its pattern.
  std::map<std::string, int64_t> fired;

  int64_t getSteps() const {
    int64_t steps = 0;
    for (const auto &[rule, count] : fired)
      steps += count;
    return steps;
  }
};

/// Rewrites `program` with `patterns` (C++, DRR or PDL) until none matches.
///
/// Nodes are visited once each, sources before users, so a pattern sees a node
/// over sources that are final, in a block of unique nodes that is not yet
/// complete: it must not look at uses. It replaces the node that it matched (or
/// changes it in place, which comes to the same) and touches no other; the
/// replacement is not built on that node. What it creates is made unique and
/// rewritten in turn. Emits an error, and leaves the program as it was, when a
/// rule changes a node's type (naming the rule and both types), breaks the
/// above, or when rules undo each other or reach the limit (naming them).
///
/// Source: innermost rewriting of maximally shared terms, as in van den Brand,
/// Heering, Klint and Olivier, "Compiling language definitions: the ASF+SDF
/// compiler" (2002).
mlir::FailureOr<RewriteStats>
graphRewrite(ProgramOp program, const mlir::FrozenRewritePatternSet &patterns,
             const RewriteOptions &options = {});

} // namespace uop

#endif // UOP_GRAPH_REWRITE_H
