//===- Rewrite.h - rewriting graphs by patterns -----------------*- C++ -*-===//
//
// The one driver of rewrite rules: ordinary MLIR patterns, applied bottom-up to
// a fixed point while the graph is rebuilt through the UniquingBuilder.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_GRAPH_REWRITE_H
#define UOP_GRAPH_REWRITE_H

#include "Uop/Graph/Bounds.h"
#include "Uop/Graph/RuleIndex.h"
#include "Uop/Graph/Walk.h"
#include "llvm/ADT/DenseSet.h"
#include <functional>
#include <map>

namespace uop {

struct RewriteOptions {
  /// Rules may fire this many times in all, plus `stepsPerNode` times for every
  /// node of the program that has been visited; then it is an error.
  int64_t maxSteps = 10000;
  int64_t stepsPerNode = 64;
  /// What `GraphRewriter::isThrifty` says. Only the copy of a CALL's body under
  /// other PARAMs can make the program larger then, and is refused as below.
  bool thrifty = false;
  /// Leave the program as it was, and say so in the stats, rather than make it
  /// larger (constants not counted).
  bool refuseGrowth = false;
  /// When set, called for every rewrite with the rule, the node that it matched
  /// and what takes its place: new nodes are not unique yet and hold final
  /// ones. A node that was changed in place is passed twice.
  std::function<void(const mlir::Pattern &rule, mlir::Operation *before,
                     mlir::Value after)>
      onRewrite;
  /// When set, asked before the program takes its new form: false leaves it as
  /// it was, and rewriting fails, for a reason that has been reported.
  std::function<bool()> isAcceptable;
};

struct RewriteStats {
  /// Nodes that the root reaches.
  int64_t nodesBefore = 0;
  int64_t nodesAfter = 0;
  /// The same without constants.
  int64_t costBefore = 0;
  int64_t costAfter = 0;
  /// Whether another run may do more: a rule did not fire because of a node
  /// that was shared and is less so now, or for want of one that there is now;
  /// it did with one that is shared now and was not; or a CALL lost arguments,
  /// so that PARAMs in its body have other slots.
  bool isPartial = false;
  /// Whether the program held nodes that its root does not reach: they counted
  /// as users, and are gone.
  bool hadUnreached = false;
  /// Whether the program was left as it was by `refuseGrowth`.
  bool refused = false;
  /// How often rules led back to a node that was being rewritten, which then
  /// stayed as it was.
  int64_t ledBack = 0;
  /// How often a rule fired, by the debug name of its pattern.
  std::map<std::string, int64_t> fired;

  int64_t getSteps() const {
    int64_t steps = 0;
    for (const auto &[rule, count] : fired)
      steps += count;
    return steps;
  }
};

/// What graphRewrite gives to patterns. It notes what they create and what they
/// replace their root by, and lets them touch nothing else. To patterns that
/// ask for it (`from`), it offers the graph's own unique nodes and bounds.
class GraphRewriter final : public mlir::PatternRewriter,
                            public mlir::RewriterBase::Listener {
public:
  /// `rewriter` if it is a GraphRewriter; null under other drivers.
  static GraphRewriter *from(mlir::PatternRewriter &rewriter) {
    return dynamic_cast<GraphRewriter *>(&rewriter);
  }

  /// The node of this structure: the one that exists, or a new one, rewritten
  /// in turn if the pattern succeeds. Null, with an error, when it is
  /// malformed.
  mlir::Value get(OpCode code, mlir::ValueRange sources, const Arg &arg = {});
  /// The node of this structure if it exists already; else null.
  mlir::Value lookup(OpCode code, mlir::ValueRange sources,
                     const Arg &arg = {}) const;

  /// Bounds of the nodes of this graph, remembered over the whole run.
  Bounds &getBounds() { return bounds; }

  /// The node of the program before rewriting that led to the one that is
  /// matched; null when a rule created it.
  mlir::Operation *getOriginal() const { return original; }
  /// How many operands of the program before rewriting stand for `value`.
  unsigned getUses(mlir::Value value) const {
    auto it = uses.find(getDefiningOp(value));
    return it == uses.end() ? 1 : it->second;
  }
  /// Whether more than one does, so that it may stay whatever becomes of the
  /// matched node.
  bool isShared(mlir::Value value) const { return getUses(value) > 1; }
  /// Whether a rule that takes nodes apart matches a node like this.
  using IsOuterFn = bool (*)(mlir::Operation *);
  /// Leaves the matched node to a rule that will match its only user, which is
  /// outer. When it turns out to have others, or one that is not, it is offered
  /// again.
  void defer(IsOuterFn isOuter) { deferredTo = isOuter; }
  /// Notes that a rule might fire if `shared` were used less.
  void holdBack(mlir::Operation *shared) {
    unsigned &uses = held[shared];
    uses = std::max(uses, getUses(shared->getResult(0)));
  }
  /// Notes that a rule might fire if there had been `made`, which it has
  /// created over nodes that there are.
  void miss(mlir::Operation *made);

  /// Whether a rule may create one node at most, so that the graph can't grow
  /// whatever is shared.
  bool isThrifty() const { return thrifty; }
  /// What the pattern has created through `get` and otherwise.
  llvm::ArrayRef<mlir::Operation *> getCreated() const { return created; }

  /// Takes back what was created and `by` does not need.
  void discardUnused(mlir::Value by);

  /// What the rules of one run remember together; made at the first call. Ops
  /// of the graph keep their address until the end of the run.
  template <typename T, typename MakeFn> T &getMemo(MakeFn make) {
    auto &memo = memos[&MemoKey<T>::key];
    if (!memo)
      memo = make();
    return *static_cast<T *>(memo.get());
  }

  /// Rewrites in PDL may fail half way; MLIR aborts unless this is true. All
  /// that the match made is taken back.
  bool canRecoverFromRewriteFailure() const override { return true; }

  // What MLIR calls when a pattern changes something.
  void notifyOperationInserted(mlir::Operation *op,
                               InsertPoint previous) override;
  void replaceOp(mlir::Operation *op, mlir::ValueRange values) override;
  void replaceOp(mlir::Operation *op, mlir::Operation *by) override;
  void replaceAllUsesWith(mlir::Value from, mlir::Value to) override;
  void eraseOp(mlir::Operation *op) override;
  void startOpModification(mlir::Operation *op) override;
  void cancelOpModification(mlir::Operation *op) override;

private:
  friend class RewriteDriver;
  template <typename T> struct MemoKey {
    static inline char key = 0;
  };

  explicit GraphRewriter(UniquingBuilder &builder);
  void start(mlir::Operation *op);
  void rollBack();
  void setReplacement(mlir::ValueRange values);
  bool owns(mlir::Operation *op);
  /// Gives the nodes that patterns have changed in place what they had.
  void restoreModified();
  /// What has become of a node that was replaced.
  mlir::Value getFinal(mlir::Value value) const;
  /// Whether what has held a rule back is used less in the graph `order`, or
  /// what a rule missed is there.
  bool isReleased(llvm::ArrayRef<mlir::Operation *> order) const;
  /// Whether a sum or a product of the graph `order`, which is all that there
  /// is, has more uses than rules knew: they take apart what has one.
  bool isSharedMore(llvm::ArrayRef<mlir::Operation *> order) const;

  UniquingBuilder &builder;
  Bounds bounds;
  llvm::DenseMap<const void *, std::shared_ptr<void>> memos;
  mlir::Operation *root = nullptr;
  mlir::Operation *original = nullptr;
  /// What the pattern made, in order of creation.
  llvm::SmallVector<mlir::Operation *> created;
  /// Those of them that a rule made which is not through yet.
  llvm::SmallPtrSet<mlir::Operation *, 4> found;
  mlir::Value replacement;
  /// Whether root was changed in place; the builder has forgotten it then.
  bool modified = false;
  /// What the nodes that were changed in place had, over the whole run.
  struct Saved {
    mlir::Operation *op;
    llvm::SmallVector<mlir::Value> operands;
    mlir::DictionaryAttr attributes;
  };
  llvm::SmallVector<Saved, 0> saved;
  IsOuterFn deferredTo = nullptr;
  /// Nodes that held a rule back, with the most uses that they had then.
  llvm::DenseMap<mlir::Operation *, unsigned> held;
  /// What a rule missed.
  struct Missed {
    OpCode code;
    llvm::SmallVector<mlir::Value, 2> sources;
    Arg arg;
  };
  std::vector<Missed> missed;
  bool thrifty = false;
  /// Whether rules match constants; if not, one that is made is final at once.
  bool constantsMatch = true;
  /// What the pattern did that it must not.
  const char *violation = nullptr;
  llvm::DenseMap<mlir::Operation *, unsigned> uses;
  /// Known to the builder, but not offered to the rules yet.
  llvm::SmallDenseSet<mlir::Operation *, 8> raw;
  llvm::DenseMap<mlir::Operation *, mlir::Value> superseded;
};

/// Rewrites `program` with `patterns` (C++, DRR or PDL) until none matches.
///
/// Nodes are visited once each, sources before users, so a pattern sees a node
/// over sources that are final, in a block of unique nodes that is not yet
/// complete: it must not look at uses. A node over sources that stay as they
/// are is not copied. It replaces the node that it matched (or
/// changes it in place, which comes to the same) and touches no other; the
/// replacement is not built on that node. What it creates is made unique and
/// rewritten in turn. Emits an error, and leaves the program as it was, when a
/// rule changes a node's type (naming the rule and both types), breaks the
/// above, or when rules undo each other or reach the limit (naming them). Where
/// `RulePattern`s alone undo each other (and no PDL is among the patterns), the
/// node that they lead back to stays as it is instead.
///
/// Source: innermost rewriting of maximally shared terms, as in van den Brand,
/// Heering, Klint and Olivier, "Compiling language definitions: the ASF+SDF
/// compiler" (2002).
mlir::FailureOr<RewriteStats>
graphRewrite(ProgramOp program, const RuleIndex &rules,
             const RewriteOptions &options = {});
/// The same for a single run.
mlir::FailureOr<RewriteStats>
graphRewrite(ProgramOp program, const mlir::FrozenRewritePatternSet &patterns,
             const RewriteOptions &options = {});

} // namespace uop

#endif // UOP_GRAPH_REWRITE_H
