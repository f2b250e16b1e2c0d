//===- Rewrite.cpp - rewriting graphs by patterns -------------------------===//
//
// Rebuilds a program node by node in a fresh block. A node that is new there is
// offered to the patterns; what a pattern creates is uniqued and offered in
// turn, by an explicit stack. Leans on the UniquingBuilder for all sharing.
//
//===----------------------------------------------------------------------===//

#include "Uop/Graph/Rewrite.h"
#include "mlir/Rewrite/PatternApplicator.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace uop;

namespace {

//===----------------------------------------------------------------------===//
// What a pattern does
//===----------------------------------------------------------------------===//

/// The rewriter that patterns get. It notes what they create and what they
/// replace their root by, and lets them touch nothing else.
class RecordingRewriter : public PatternRewriter,
                          public RewriterBase::Listener {
public:
  explicit RecordingRewriter(UniquingBuilder &builder)
      : PatternRewriter(builder.getContext(), this), builder(builder) {}

  /// Forgets the last match; the next one is of `op`.
  void start(Operation *op) {
    root = op;
    created.clear();
    replacement = {};
    modified = false;
    violation = nullptr;
  }

  /// Takes back what a match without success has left.
  void rollBack() {
    while (!created.empty())
      created.pop_back_val()->erase();
    replacement = {};
  }

  Operation *root = nullptr;
  /// What is new and not known to the builder, in order of creation.
  llvm::SmallVector<Operation *> created;
  Value replacement;
  /// Whether root was changed in place; the builder has forgotten it then.
  bool modified = false;
  /// What the pattern did that it must not.
  const char *violation = nullptr;

  // What MLIR calls when a pattern changes something.
  void notifyOperationInserted(Operation *op, InsertPoint previous) override {
    if (!previous.isSet())
      created.push_back(op);
  }
  void replaceOp(Operation *op, ValueRange values) override {
    if (op == root)
      setReplacement(values);
    else if (owns(op))
      PatternRewriter::replaceOp(op, values);
  }
  void replaceOp(Operation *op, Operation *by) override {
    replaceOp(op, by->getResults());
  }
  void replaceAllUsesWith(Value from, Value to) override {
    if (from == root->getResult(0))
      setReplacement(to);
    else if (owns(from.getDefiningOp()))
      from.replaceAllUsesWith(to);
  }
  void eraseOp(Operation *op) override {
    // A root that has its replacement goes by itself.
    if (op == root) {
      if (!replacement)
        violation = "erases the node that it matched";
      return;
    }
    if (!owns(op))
      return;
    if (!op->use_empty()) {
      violation = "erases a node that is used";
      return;
    }
    created.erase(llvm::find(created, op));
    op->erase();
  }
  void cancelOpModification(Operation *op) override {
    if (op == root && modified) {
      builder.adopt(op);
      modified = false;
    }
  }
  void startOpModification(Operation *op) override {
    if (op == root && !modified) {
      builder.forget(op);
      modified = true;
    } else if (op != root) {
      owns(op);
    }
  }

private:
  void setReplacement(ValueRange values) {
    if (values.size() == 1 && values[0])
      replacement = values[0];
    else
      violation = "replaces a node by none or by several";
  }

  bool owns(Operation *op) {
    if (op && llvm::is_contained(llvm::reverse(created), op))
      return true;
    violation = "changes a node that it did not match";
    return false;
  }

  UniquingBuilder &builder;
};

//===----------------------------------------------------------------------===//
// The driver
//===----------------------------------------------------------------------===//

std::string getRuleName(const Pattern *pattern) {
  llvm::StringRef name = pattern->getDebugName();
  return "'" + (name.empty() ? "unnamed rule" : name.str()) + "'";
}

/// A node that is being rewritten: matched, and waiting for what the pattern
/// created to be final.
struct Frame {
  Operation *op = nullptr;
  const Pattern *rule = nullptr; // null until a pattern has matched
  llvm::SmallVector<Operation *, 4> created;
  size_t next = 0;
  /// The node that `created[next]` became and that is not final yet.
  Operation *pending = nullptr;
  Value replacement;
  /// What of `created` has another node for its structure.
  llvm::SmallVector<Operation *, 4> drafts;
  /// Whether the pattern changed `op` in place.
  bool modified = false;
};

class Driver {
public:
  Driver(UniquingBuilder &builder, const FrozenRewritePatternSet &patterns,
         const RewriteOptions &options, RewriteStats &stats)
      : builder(builder), rewriter(builder), applicator(patterns),
        stepsLeft(options.maxSteps), stepsPerNode(options.stepsPerNode),
        stats(stats) {
    applicator.applyDefaultCostModel();
  }

  Value run(Value root);

private:
  /// The node of `op`'s structure over `sources`, and whether it is new.
  Value build(Operation *op, ValueRange sources, bool &isNew);
  /// Rewrites a new node to its fixed point; false after an error.
  bool rewrite(Operation *op);
  void push(Operation *op) {
    active.insert(op);
    frames.emplace_back().op = op;
  }
  /// Offers the top frame's node to the patterns: fills the frame on a match.
  bool match(Frame &frame);
  /// Makes `frame.created[frame.next]` unique.
  bool unique(Frame &frame);
  void finish(Frame &frame);
  bool checkLimit(Operation *op);
  bool reportCycle(Operation *op);
  bool reportViolation(const Pattern *pattern, const char *what);

  /// What has become of a node of the fresh block that was replaced.
  Value getFinal(Value value) const {
    auto it = superseded.find(value.getDefiningOp());
    return it == superseded.end() ? value : it->second;
  }
  /// Null for what a pattern created and is not unique yet.
  Value mapCreated(Value value) const {
    auto it = finals.find(value.getDefiningOp());
    return it == finals.end() ? getFinal(value) : it->second;
  }

  UniquingBuilder &builder;
  RecordingRewriter rewriter;
  PatternApplicator applicator;
  int64_t stepsLeft;
  int64_t stepsPerNode;
  RewriteStats &stats;

  std::vector<Frame> frames;
  /// The nodes of `frames`.
  llvm::DenseSet<Operation *> active;
  llvm::DenseMap<Operation *, Value> superseded;
  /// The unique values of what patterns created, while their frames live.
  llvm::DenseMap<Operation *, Value> finals;
  llvm::SmallVector<Value> sources;
  /// By rule, how often it fired; and the last ones, in a ring.
  llvm::DenseMap<const Pattern *, int64_t> fired;
  const Pattern *recent[32] = {};
  size_t steps = 0;
};

Value Driver::run(Value root) {
  // The walk of `toposort`, with the results in place of its marks: null while
  // a node waits for its sources.
  llvm::DenseMap<Operation *, Value> mapped;
  std::vector<std::pair<Operation *, unsigned>> stack;
  llvm::SmallVector<Value> mappedSources;
  auto enter = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (mapped.try_emplace(op).second)
      stack.push_back({op, 0});
  };
  enter(root);
  while (!stack.empty()) {
    auto &[op, next] = stack.back();
    if (next < op->getNumOperands()) {
      enter(op->getOperand(next++));
      continue;
    }
    mappedSources.clear();
    for (Value source : op->getOperands())
      mappedSources.push_back(mapped.find(source.getDefiningOp())->second);
    bool isNew;
    Value value = build(op, mappedSources, isNew);
    stepsLeft += stepsPerNode;
    if (!value || (isNew && !rewrite(value.getDefiningOp())))
      return {};
    mapped.find(op)->second = superseded.empty() ? value : getFinal(value);
    stack.pop_back();
  }
  stats.nodesBefore = mapped.size();
  for (auto &[pattern, count] : fired)
    stats.fired[pattern->getDebugName().str()] += count;
  Value result = mapped.find(root.getDefiningOp())->second;
  // Sources stand above their users, so one sweep upwards finds all that is
  // dead.
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(*builder.getBlock())))
    if (&op == result.getDefiningOp() || !op.use_empty())
      ++stats.nodesAfter;
    else
      op.erase();
  return result;
}

Value Driver::build(Operation *op, ValueRange values, bool &isNew) {
  Block *block = builder.getBlock();
  Operation *last = block->empty() ? nullptr : &block->back();
  Value value = builder.rebuild(op, values);
  isNew = value && !block->empty() && &block->back() != last;
  return value;
}

bool Driver::rewrite(Operation *op) {
  push(op);
  while (!frames.empty()) {
    Frame &frame = frames.back();
    if (!frame.rule) {
      if (!match(frame))
        return false;
      if (!frame.rule) {
        finish(frame);
        continue;
      }
    }
    if (frame.pending) {
      finals[frame.created[frame.next++]] =
          getFinal(frame.pending->getResult(0));
      frame.pending = nullptr;
    }
    if (frame.next == frame.created.size())
      finish(frame);
    else if (!unique(frame)) // may push and move the frames
      return false;
  }
  return true;
}

bool Driver::match(Frame &frame) {
  Operation *op = frame.op;
  Type type = op->getResult(0).getType();
  rewriter.start(op);
  const Pattern *rule = nullptr;
  const Pattern *culprit = nullptr;
  auto onFailure = [&](const Pattern &pattern) {
    // What it made may be in use where it must not be; all of it goes at once.
    if (rewriter.violation || rewriter.modified)
      culprit = culprit ? culprit : &pattern;
    else
      rewriter.rollBack();
  };
  auto onSuccess = [&](const Pattern &pattern) {
    // A pattern that only looked leaves the node to the others.
    if (rewriter.replacement == op->getResult(0))
      rewriter.replacement = {};
    if (!rewriter.replacement && !rewriter.modified && !rewriter.violation)
      return failure();
    rule = &pattern;
    return success();
  };
  LogicalResult result =
      applicator.matchAndRewrite(op, rewriter, {}, onFailure, onSuccess);
  if (culprit)
    return reportViolation(culprit, rewriter.violation
                                        ? rewriter.violation
                                        : "fails after changing the node");
  if (failed(result)) {
    rewriter.rollBack();
    return true;
  }
  if (rewriter.violation)
    return reportViolation(rule, rewriter.violation);
  for (Operation *made : rewriter.created)
    if (!getOpCode(made)) {
      emitError(op->getLoc()) << "rule " << getRuleName(rule) << " creates '"
                              << made->getName() << "', which is no op of uop";
      return false;
    }
  frame.rule = rule;
  frame.created.assign(rewriter.created.begin(), rewriter.created.end());
  frame.replacement = rewriter.replacement;
  frame.modified = rewriter.modified;
  if (!frame.replacement) {
    // Changed in place: the node is a draft of the one that it becomes.
    frame.replacement = op->getResult(0);
    frame.created.push_back(op);
  }
  Type now = frame.replacement.getType();
  if (now != type) {
    emitError(op->getLoc())
        << "rule " << getRuleName(rule) << " changes the type of "
        << getName(*getOpCode(op)) << " from " << type << " to " << now;
    return false;
  }
  for (Operation *made : frame.created)
    finals[made] = {};
  ++fired[rule];
  recent[steps++ % std::size(recent)] = rule;
  return checkLimit(op);
}

bool Driver::unique(Frame &frame) {
  Operation *op = frame.created[frame.next];
  bool changed = op == frame.op;
  sources.clear();
  for (Value source : op->getOperands()) {
    if (source == frame.op->getResult(0) && op != frame.op)
      return reportCycle(frame.op);
    sources.push_back(mapCreated(source));
    if (!sources.back())
      return reportViolation(frame.rule, "creates users before sources");
    changed |= sources.back() != source;
  }
  Value value;
  bool isNew;
  if (changed) {
    value = build(op, sources, isNew);
    if (!value)
      return false;
    if (value.getType() != op->getResult(0).getType())
      return reportViolation(frame.rule, "creates a node of a wrong type");
  } else {
    value = builder.adopt(op);
    isNew = value.getDefiningOp() == op;
  }
  Operation *node = value.getDefiningOp();
  if (node != op && op != frame.op)
    frame.drafts.push_back(op);
  if (active.contains(node))
    return reportCycle(node);
  frame.pending = node;
  if (isNew)
    push(node);
  return true;
}

void Driver::finish(Frame &frame) {
  if (frame.rule) {
    superseded[frame.op] = mapCreated(frame.replacement);
    for (Operation *made : frame.created)
      finals.erase(made);
    // A root that was changed may use drafts. It stays a key until the end.
    if (frame.modified)
      frame.op->dropAllReferences();
    for (Operation *draft : llvm::reverse(frame.drafts))
      draft->erase();
  }
  active.erase(frame.op);
  frames.pop_back();
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

std::string joinRules(llvm::ArrayRef<const Pattern *> rules) {
  llvm::SetVector<const Pattern *> unique(rules.begin(), rules.end());
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(unique, os,
                        [&](const Pattern *rule) { os << getRuleName(rule); });
  return text;
}

bool Driver::checkLimit(Operation *op) {
  if (--stepsLeft >= 0)
    return true;
  llvm::SmallVector<const Pattern *> rules;
  for (size_t i = steps > std::size(recent) ? steps - std::size(recent) : 0;
       i < steps; ++i)
    rules.push_back(recent[i % std::size(recent)]);
  emitError(op->getLoc()) << "no fixed point after " << steps
                          << " rewrites; these rules alternate: "
                          << joinRules(rules);
  return false;
}

bool Driver::reportCycle(Operation *op) {
  llvm::SmallVector<const Pattern *> rules;
  for (const Frame &frame : frames)
    if (!rules.empty() || frame.op == op)
      rules.push_back(frame.rule);
  emitError(op->getLoc()) << "rewriting " << getName(*getOpCode(op))
                          << " leads back to it; these rules alternate: "
                          << joinRules(rules);
  return false;
}

bool Driver::reportViolation(const Pattern *pattern, const char *what) {
  emitError(frames.back().op->getLoc())
      << "rule " << getRuleName(pattern) << " " << what;
  return false;
}

} // namespace

FailureOr<RewriteStats>
uop::graphRewrite(ProgramOp program, const FrozenRewritePatternSet &patterns,
                  const RewriteOptions &options) {
  RewriteStats stats;
  if (failed(rebuildProgram(program, [&](UniquingBuilder &builder) {
        return Driver(builder, patterns, options, stats).run(program.getRoot());
      })))
    return failure();
  return stats;
}
