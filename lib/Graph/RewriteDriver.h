//===- RewriteDriver.h - rewriting a graph to its fixed point ---*- C++ -*-===//
//
// One run of rewriting, as graphRewrite makes it.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_LIB_GRAPH_REWRITEDRIVER_H
#define UOP_LIB_GRAPH_REWRITEDRIVER_H

#include "Uop/Graph/Rewrite.h"
#include "mlir/Rewrite/PatternApplicator.h"

namespace uop {

/// Rebuilds a program node by node in a fresh block: a node whose sources stay
/// as they are moves there. One that is new there is offered to the patterns;
/// what a pattern creates is uniqued and offered in turn, by an explicit stack.
class RewriteDriver {
public:
  RewriteDriver(UniquingBuilder &builder, const RuleIndex &rules,
                const RewriteOptions &options, RewriteStats &stats)
      : builder(builder), rewriter(builder), rules(rules),
        stepsLeft(options.maxSteps), stepsPerNode(options.stepsPerNode),
        stats(stats), onRewrite(options.onRewrite),
        superseded(rewriter.superseded) {
    rewriter.thrifty = options.thrifty;
    // The applicator sorts every pattern before the first match: only for PDL.
    if (rules.getPatterns().getPDLByteCode()) {
      applicator.emplace(rules.getPatterns());
      applicator->applyDefaultCostModel();
    }
    rewriter.constantsMatch = applicator || rules.hasAny(OpCode::Const);
  }

  /// The value that takes the place of `root`, which reaches up to `size`
  /// nodes; null after an error.
  mlir::Value run(mlir::Value root, size_t size);
  /// Gives the nodes of the program the sources that they had.
  void restore();
  /// Whether another run over the graph `order` may do more.
  bool isPartial(llvm::ArrayRef<mlir::Operation *> order) const {
    return hasMovedParams || rewriter.isReleased(order);
  }
  /// The same, once there is nothing else.
  bool isSharedMore(llvm::ArrayRef<mlir::Operation *> order) const {
    return rewriter.isSharedMore(order);
  }
  /// Whether the body of a CALL was copied, so that a thrifty run may grow.
  bool hasCopiedBody() const { return hasCopied; }

private:
  /// A node that a rule has matched, waiting for what the rule created to be
  /// final.
  struct Frame {
    mlir::Operation *op = nullptr;
    const mlir::Pattern *rule = nullptr;
    llvm::SmallVector<mlir::Operation *, 4> created;
    size_t next = 0;
    /// The node that `created[next]` became and that is not final yet.
    mlir::Operation *pending = nullptr;
    mlir::Value replacement;
    /// Whether the pattern changed `op` in place.
    bool modified = false;
  };

  /// What the node of the program `op` becomes over `sources`, before any rule:
  /// itself if it can; and whether that is new.
  mlir::Value take(mlir::Operation *op, mlir::ValueRange sources, bool &isNew);
  /// Gives an ALU op other sources of the same types.
  bool changeSources(mlir::Operation *op, mlir::ValueRange sources);
  /// The node of `op`'s structure over `sources`, and whether it is new.
  mlir::Value build(mlir::Operation *op, mlir::ValueRange sources, bool &isNew);
  /// Takes from a CALL the arguments of PARAMs that its body has lost. With
  /// `offer`, no frames may be open, and what is new in the body is rewritten.
  bool dropArguments(llvm::SmallVectorImpl<mlir::Value> &sources, bool offer);
  /// Rewrites a new node to its fixed point; false after an error.
  bool rewrite(mlir::Operation *op, mlir::Operation *original);
  /// Offers `op` to the patterns: pushes a frame on a match.
  bool match(mlir::Operation *op, mlir::Operation *original);
  /// Makes `frame.created[frame.next]` unique.
  bool unique(Frame &frame);
  void finish(Frame &frame);
  bool checkLimit(mlir::Operation *op);
  /// Rewriting `op` has led back to it: takes that back, or reports it.
  bool leadBack(mlir::Operation *op);
  bool reportCycle(mlir::Operation *op);
  bool reportViolation(mlir::Operation *op, const mlir::Pattern *pattern,
                       const char *what);

  /// What has become of a node of the fresh block that was replaced.
  mlir::Value getFinal(mlir::Value value) const {
    return rewriter.getFinal(value);
  }
  /// The deferred node is for the rules after all.
  void pull(mlir::Operation *op);
  /// Notes that `by` takes the place of `op`.
  void supersede(mlir::Operation *op, mlir::Value by) {
    // No way leads on from what is final, so none comes back to `op`.
    if (mlir::Value last = getFinal(by); getDefiningOp(last) != op)
      superseded[op] = last;
  }

  UniquingBuilder &builder;
  GraphRewriter rewriter;
  const RuleIndex &rules;
  std::optional<mlir::PatternApplicator> applicator;
  int64_t stepsLeft;
  int64_t stepsPerNode;
  RewriteStats &stats;
  const decltype(RewriteOptions::onRewrite) &onRewrite;

  /// What nodes of the program had before they got other sources.
  struct Former {
    mlir::Operation *op;
    mlir::Value sources[3];
  };
  std::vector<Former> former;

  std::vector<Frame> frames;
  /// The nodes of `frames`.
  llvm::SmallDenseSet<mlir::Operation *, 8> active;
  llvm::DenseMap<mlir::Operation *, mlir::Value> &superseded;
  /// Nodes that are left to their user, and those whose user is gone: these
  /// wait as what rules create does, but the program may have made them.
  llvm::DenseMap<mlir::Operation *, GraphRewriter::IsOuterFn> deferred, pulled;
  /// What patterns created on their own and the builder does not know yet.
  llvm::SmallDenseSet<mlir::Operation *, 8> drafts;
  llvm::SmallVector<mlir::Value> sources;
  /// Whether bodies of CALLs have other PARAMs, which rules have not seen.
  bool hasMovedParams = false;
  bool hasCopied = false;
  /// By rule, how often it fired; and the last ones, in a ring.
  llvm::SmallDenseMap<const mlir::Pattern *, int64_t, 8> fired;
  const mlir::Pattern *recent[32] = {};
  size_t steps = 0;
};

} // namespace uop

#endif // UOP_LIB_GRAPH_REWRITEDRIVER_H
