//===- Rewrite.cpp - rewriting programs by patterns -----------------------===//
//
// A program's way from its block to a fresh one and, if that comes to nothing,
// back.
//
//===----------------------------------------------------------------------===//

#include "RewriteDriver.h"

using namespace mlir;
using namespace uop;

namespace {

/// The blocks of a program that is rewritten: the old one, whose nodes move to
/// a fresh one, and back if that comes to nothing.
class Transition {
public:
  explicit Transition(ProgramOp program)
      : old(&program.getBodyBlock()), fresh(new Block) {
    program.getBodyRegion().push_back(fresh);
    for (Operation &op : *old)
      originals.push_back(&op);
  }

  Block *getFresh() { return fresh; }
  /// Nodes of the program, its yield not counted.
  size_t size() const { return originals.size() - 1; }

  /// Leaves `order`, what `root` needs.
  void commit(Value root, llvm::ArrayRef<Operation *> order) {
    Operation *yield = originals.back();
    yield->setOperand(0, root);
    yield->remove();
    // Users before sources, one by one: nothing is left with a use of its own.
    while (!old->empty())
      old->back().erase();
    old->erase();
    for (Operation *op : order)
      op->moveBefore(fresh, fresh->end());
    auto dead = llvm::make_range(fresh->begin(), order.front()->getIterator());
    for (Operation &op : dead)
      op.dropAllReferences();
    for (Operation &op : llvm::make_early_inc_range(dead))
      op.erase();
    fresh->push_back(yield);
  }

  /// Leaves the program as it was.
  void rollBack() {
    for (Operation *op : originals)
      op->moveBefore(old, old->end());
    fresh->dropAllReferences();
    fresh->erase();
  }

private:
  Block *old, *fresh;
  llvm::SmallVector<Operation *> originals;
};

} // namespace

FailureOr<RewriteStats> uop::graphRewrite(ProgramOp program,
                                          const RuleIndex &rules,
                                          const RewriteOptions &options) {
  RewriteStats stats;
  Transition transition(program);
  UniquingBuilder builder(transition.getFresh());
  builder.setLoc(program.getLoc());
  builder.reserve(transition.size());
  RewriteDriver driver(builder, rules, options, stats);
  Value root = driver.run(program.getRoot(), transition.size());
  std::vector<Operation *> order;
  if (root)
    // It follows from the graph alone, whatever led to it.
    order = toposort(root, transition.size());
  stats.nodesAfter = order.size();
  stats.costAfter =
      llvm::count_if(order, [](Operation *op) { return !isa<ConstOp>(op); });
  stats.isPartial = driver.isPartial(order);
  bool refuse =
      options.refuseGrowth || (options.thrifty && driver.hasCopiedBody());
  stats.refused = refuse && stats.costAfter > stats.costBefore;
  stats.hadUnreached =
      static_cast<int64_t>(transition.size()) > stats.nodesBefore;
  bool failed = !root || (options.isAcceptable && !options.isAcceptable());
  if (failed || stats.refused) {
    driver.restore();
    transition.rollBack();
    if (failed)
      return failure();
    return stats;
  }
  transition.commit(root, order);
  stats.isPartial |= driver.isSharedMore(order);
  return stats;
}

FailureOr<RewriteStats>
uop::graphRewrite(ProgramOp program, const FrozenRewritePatternSet &patterns,
                  const RewriteOptions &options) {
  return graphRewrite(program, RuleIndex(patterns), options);
}
