//===- Rewrite.cpp - rewriting graphs by patterns -------------------------===//
//
// Rebuilds a program node by node in a fresh block: a node whose sources stay
// as they are moves there. One that is new there is offered to the patterns;
// what a pattern creates is uniqued and offered in turn, by an explicit stack.
// Leans on the UniquingBuilder for all sharing.
//
//===----------------------------------------------------------------------===//

#include "Uop/Graph/Rewrite.h"
#include "mlir/Rewrite/PatternApplicator.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace uop;

//===----------------------------------------------------------------------===//
// The driver
//===----------------------------------------------------------------------===//

namespace {

std::string getRuleName(const Pattern *pattern) {
  llvm::StringRef name = pattern->getDebugName();
  return "'" + (name.empty() ? "unnamed rule" : name.str()) + "'";
}

/// A node that a rule has matched, waiting for what the rule created to be
/// final.
struct Frame {
  Operation *op = nullptr;
  const Pattern *rule = nullptr;
  llvm::SmallVector<Operation *, 4> created;
  size_t next = 0;
  /// The node that `created[next]` became and that is not final yet.
  Operation *pending = nullptr;
  Value replacement;
  /// Whether the pattern changed `op` in place.
  bool modified = false;
};

} // namespace

namespace uop {

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
  Value run(Value root, size_t size);
  /// Gives the nodes of the program the sources that they had.
  void restore();
  /// Whether another run over the graph `order` may do more.
  bool isReleased(llvm::ArrayRef<Operation *> order) const {
    return rewriter.isReleased(order);
  }

private:
  /// What the node of the program `op` becomes over `sources`, before any rule:
  /// itself if it can; and whether that is new.
  Value take(Operation *op, ValueRange sources, bool &isNew);
  /// Gives an ALU op other sources of the same types.
  bool changeSources(Operation *op, ValueRange sources);
  /// The node of `op`'s structure over `sources`, and whether it is new.
  Value build(Operation *op, ValueRange sources, bool &isNew);
  /// Rewrites a new node to its fixed point; false after an error.
  bool rewrite(Operation *op, Operation *original);
  /// Offers `op` to the patterns: pushes a frame on a match.
  bool match(Operation *op, Operation *original);
  /// Makes `frame.created[frame.next]` unique.
  bool unique(Frame &frame);
  void finish(Frame &frame);
  bool checkLimit(Operation *op);
  /// Rewriting `op` has led back to it: takes that back, or reports it.
  bool leadBack(Operation *op);
  bool reportCycle(Operation *op);
  bool reportViolation(Operation *op, const Pattern *pattern, const char *what);

  /// What has become of a node of the fresh block that was replaced.
  Value getFinal(Value value) const { return rewriter.getFinal(value); }
  /// Notes that `by` takes the place of `op`.
  void supersede(Operation *op, Value by) {
    // No way leads on from what is final, so none comes back to `op`.
    if (Value last = getFinal(by); getDefiningOp(last) != op)
      superseded[op] = last;
  }

  UniquingBuilder &builder;
  GraphRewriter rewriter;
  const RuleIndex &rules;
  std::optional<PatternApplicator> applicator;
  int64_t stepsLeft;
  int64_t stepsPerNode;
  RewriteStats &stats;
  const decltype(RewriteOptions::onRewrite) &onRewrite;

  /// What nodes of the program had before they got other sources.
  struct Changed {
    Operation *op;
    Value sources[3];
  };
  std::vector<Changed> changed;

  std::vector<Frame> frames;
  /// The nodes of `frames`.
  llvm::SmallDenseSet<Operation *, 8> active;
  llvm::DenseMap<Operation *, Value> &superseded;
  llvm::DenseSet<Operation *> deferred;
  /// What patterns created on their own and the builder does not know yet.
  llvm::SmallDenseSet<Operation *, 8> drafts;
  llvm::SmallVector<Value> sources;
  /// By rule, how often it fired; and the last ones, in a ring.
  llvm::SmallDenseMap<const Pattern *, int64_t, 8> fired;
  const Pattern *recent[32] = {};
  size_t steps = 0;
};

} // namespace uop

Value RewriteDriver::run(Value root, size_t size) {
  // The walk of `toposort`, with the results in place of its marks: null while
  // a node waits for its sources.
  llvm::DenseMap<Operation *, Value> mapped(size);
  llvm::SmallVector<std::pair<Operation *, unsigned>> stack;
  llvm::SmallVector<Value> mappedSources;
  auto enter = [&](Value value) {
    Operation *op = getDefiningOp(value);
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
      mappedSources.push_back(mapped.find(getDefiningOp(source))->second);
    bool isNew;
    Value value = take(op, mappedSources, isNew);
    stepsLeft += stepsPerNode;
    if (!value)
      return {};
    Operation *node = getDefiningOp(value);
    bool again = !isNew && !deferred.empty() && deferred.erase(node);
    if ((isNew || again) && !rewrite(node, op))
      return {};
    if (!superseded.empty())
      value = getFinal(value);
    if (!op->getResult(0).hasOneUse() || !isNew) {
      auto range = op->getResult(0).getUses();
      auto [it, first] = rewriter.uses.try_emplace(getDefiningOp(value), 0);
      if (first && !isNew)
        it->second = 1; // at least: what came first
      it->second += std::distance(range.begin(), range.end());
    }
    mapped.find(op)->second = value;
    stats.costBefore += !isa<ConstOp>(op);
    stack.pop_back();
  }
  stats.nodesBefore = mapped.size();
  for (auto &[pattern, count] : fired)
    stats.fired[pattern->getDebugName().str()] += count;
  return mapped.find(getDefiningOp(root))->second;
}

Value RewriteDriver::take(Operation *op, ValueRange values, bool &isNew) {
  // NaNs are of one kind in what is built.
  if (!llvm::equal(op->getOperands(), values)
          ? !changeSources(op, values)
          : isa<ConstOp>(op) && isa<FloatAttr>(getArg(OpCode::Const, op).attr))
    return build(op, values, isNew);
  Value value = builder.adopt(op);
  isNew = getDefiningOp(value) == op;
  if (isNew)
    op->moveBefore(builder.getBlock(), builder.getBlock()->end());
  else if (!rewriter.raw.empty())
    isNew = rewriter.raw.erase(getDefiningOp(value));
  return value;
}

bool RewriteDriver::changeSources(Operation *op, ValueRange values) {
  if (!isAlu(*::uop::getOpCode(op)) ||
      !llvm::equal(op->getOperandTypes(), values.getTypes()))
    return false;
  Changed &before = changed.emplace_back();
  before.op = op;
  for (auto [i, value] : llvm::enumerate(values)) {
    before.sources[i] = op->getOperand(i);
    op->setOperand(i, value);
  }
  return true;
}

void RewriteDriver::restore() {
  rewriter.restoreModified();
  for (const Changed &before : changed)
    for (OpOperand &operand : before.op->getOpOperands())
      operand.set(before.sources[operand.getOperandNumber()]);
}

Value RewriteDriver::build(Operation *op, ValueRange values, bool &isNew) {
  Block *block = builder.getBlock();
  Operation *last = block->empty() ? nullptr : &block->back();
  Value value = builder.rebuild(op, values);
  isNew = value && !block->empty() && &block->back() != last;
  // What a rule that is not through has made counts as new.
  if (value && !isNew && !rewriter.raw.empty())
    isNew = rewriter.raw.erase(getDefiningOp(value));
  return value;
}

bool RewriteDriver::rewrite(Operation *op, Operation *original) {
  if (!match(op, original))
    return false;
  while (!frames.empty()) {
    Frame &frame = frames.back();
    if (frame.pending) {
      supersede(frame.created[frame.next++], frame.pending->getResult(0));
      frame.pending = nullptr;
    }
    if (frame.next == frame.created.size())
      finish(frame);
    else if (!unique(frame)) // may push and move the frames
      return false;
  }
  return true;
}

bool RewriteDriver::match(Operation *op, Operation *original) {
  llvm::ArrayRef<RuleIndex::Candidate> candidates;
  OpCodeSet sourceCodes;
  if (!applicator) {
    candidates = rules.get(*::uop::getOpCode(op), op);
    if (candidates.empty())
      return true;
    sourceCodes = getSourceCodes(op);
    while (!candidates.front().root.fits(sourceCodes)) {
      candidates = candidates.drop_front();
      if (candidates.empty())
        return true;
    }
  }
  Type type = op->getResult(0).getType();
  rewriter.start(op);
  rewriter.original = original;
  const Pattern *rule = nullptr;
  const Pattern *culprit = nullptr;
  auto onFailure = [&](const Pattern &pattern) {
    // What it made may be in use where it must not be; all of it goes at once.
    if (rewriter.violation || rewriter.modified)
      culprit = culprit ? culprit : &pattern;
    else if (!rewriter.created.empty() || rewriter.replacement)
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
  LogicalResult result = failure();
  if (applicator)
    result =
        applicator->matchAndRewrite(op, rewriter, {}, onFailure, onSuccess);
  for (const auto &[pattern, asked] : candidates) {
    if (!asked.fits(sourceCodes))
      continue;
    rewriter.setInsertionPoint(op);
    result = pattern->matchAndRewrite(op, rewriter);
    if (succeeded(result))
      result = onSuccess(*pattern);
    if (succeeded(result))
      break;
    onFailure(*pattern);
    if (culprit)
      break;
  }
  if (culprit)
    return reportViolation(op, culprit,
                           rewriter.violation
                               ? rewriter.violation
                               : "fails after changing the node");
  if (failed(result)) {
    rewriter.rollBack();
    if (rewriter.deferred)
      deferred.insert(op);
    return true;
  }
  if (rewriter.violation)
    return reportViolation(op, rule, rewriter.violation);
  for (Operation *made : rewriter.created)
    if (!getOpCode(made)) {
      emitError(op->getLoc()) << "rule " << getRuleName(rule) << " creates '"
                              << made->getName() << "', which is no op of uop";
      return false;
    }
  active.insert(op);
  Frame &frame = frames.emplace_back();
  frame.op = op;
  frame.rule = rule;
  frame.created.assign(rewriter.created.begin(), rewriter.created.end());
  frame.replacement = rewriter.replacement;
  frame.modified = rewriter.modified;
  if (!frame.replacement) {
    // Changed in place: the node is a draft of the one that it becomes.
    frame.replacement = op->getResult(0);
    frame.created.push_back(op);
  }
  if (Operation *by = getDefiningOp(frame.replacement);
      !deferred.empty() && deferred.erase(by)) {
    // The node that it was left to is gone.
    rewriter.raw.insert(by);
    frame.created.push_back(by);
  }
  Type now = frame.replacement.getType();
  if (now != type) {
    emitError(op->getLoc())
        << "rule " << getRuleName(rule) << " changes the type of "
        << getName(*getOpCode(op)) << " from " << type << " to " << now;
    return false;
  }
  for (Operation *made : frame.created)
    if (made != op && !rewriter.raw.contains(made))
      drafts.insert(made);
  if (onRewrite)
    onRewrite(*rule, op, frame.replacement);
  ++fired[rule];
  recent[steps++ % std::size(recent)] = rule;
  if (!checkLimit(op))
    return false;
  Operation *by = getDefiningOp(frame.replacement);
  return by == op || !active.contains(by) || leadBack(by);
}

bool RewriteDriver::unique(Frame &frame) {
  Operation *op = frame.created[frame.next];
  bool changed = op == frame.op;
  sources.clear();
  for (Value source : op->getOperands()) {
    if (op != frame.op && active.contains(getDefiningOp(source)))
      return leadBack(getDefiningOp(source));
    Operation *of = getDefiningOp(source);
    if (!deferred.empty() && deferred.erase(of))
      rewriter.raw.insert(of);
    if (rewriter.raw.contains(of)) {
      // Made by a rule that is not through yet and found inside another node.
      frame.created.insert(frame.created.begin() + frame.next, of);
      return true;
    }
    if (!drafts.empty() && drafts.contains(of))
      return reportViolation(frame.op, frame.rule,
                             "creates users before sources");
    sources.push_back(getFinal(source));
    changed |= sources.back() != source;
  }
  Value value;
  bool isNew;
  bool isRaw = rewriter.raw.erase(op), isDraft = drafts.erase(op);
  if (changed) {
    if (isRaw)
      builder.forget(op);
    value = build(op, sources, isNew);
    if (!value)
      return false;
    if (value.getType() != op->getResult(0).getType())
      return reportViolation(frame.op, frame.rule,
                             "creates a node of a wrong type");
  } else if (isDraft) {
    // It may stand above a source.
    op->moveBefore(builder.getBlock(), builder.getBlock()->end());
    value = builder.adopt(op);
    isNew =
        getDefiningOp(value) == op || rewriter.raw.erase(getDefiningOp(value));
  } else {
    value = op->getResult(0);
    isNew = isRaw;
  }
  Operation *node = getDefiningOp(value);
  if (node != op && (isRaw || isDraft))
    op->dropAllReferences();
  if (active.contains(node))
    return leadBack(node);
  frame.pending = node;
  return !isNew || match(node, nullptr);
}

void RewriteDriver::finish(Frame &frame) {
  supersede(frame.op, frame.replacement);
  // A root that was changed may use drafts. It stays a key until the end.
  if (frame.modified)
    frame.op->dropAllReferences();
  active.erase(frame.op);
  frames.pop_back();
}

bool RewriteDriver::leadBack(Operation *op) {
  auto first =
      llvm::find_if(frames, [&](const Frame &frame) { return frame.op == op; });
  // Without an applicator there are native patterns only.
  bool ofRules = !applicator;
  for (auto frame = first; ofRules && frame != frames.end(); ++frame)
    ofRules = dynamic_cast<const RulePattern *>(
        static_cast<const RewritePattern *>(frame->rule));
  if (!ofRules)
    return reportCycle(op);
  // What they made goes unless it is final, or found and made by others.
  llvm::SmallPtrSet<Operation *, 16> kept;
  for (auto frame = frames.begin(); frame != first; ++frame)
    kept.insert(frame->created.begin(), frame->created.end());
  for (auto frame = first; frame != frames.end(); ++frame) {
    active.erase(frame->op);
    for (Operation *made : frame->created) {
      if (kept.contains(made))
        continue;
      drafts.erase(made);
      if (!rewriter.raw.erase(made))
        continue;
      builder.forget(made);
      made->dropAllReferences();
    }
  }
  frames.erase(first, frames.end());
  ++stats.ledBack;
  return true;
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

static std::string joinRules(llvm::ArrayRef<const Pattern *> rules) {
  llvm::SetVector<const Pattern *> unique(rules.begin(), rules.end());
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(unique, os,
                        [&](const Pattern *rule) { os << getRuleName(rule); });
  return text;
}

bool RewriteDriver::checkLimit(Operation *op) {
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

bool RewriteDriver::reportCycle(Operation *op) {
  llvm::SmallVector<const Pattern *> rules;
  for (const Frame &frame : frames)
    if (!rules.empty() || frame.op == op)
      rules.push_back(frame.rule);
  emitError(op->getLoc()) << "rewriting " << getName(*getOpCode(op))
                          << " leads back to it; these rules alternate: "
                          << joinRules(rules);
  return false;
}

bool RewriteDriver::reportViolation(Operation *op, const Pattern *pattern,
                                    const char *what) {
  emitError(op->getLoc()) << "rule " << getRuleName(pattern) << " " << what;
  return false;
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

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
  stats.heldBack = driver.isReleased(order);
  stats.refused = options.refuseGrowth && stats.costAfter > stats.costBefore;
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
  return stats;
}

FailureOr<RewriteStats>
uop::graphRewrite(ProgramOp program, const FrozenRewritePatternSet &patterns,
                  const RewriteOptions &options) {
  return graphRewrite(program, RuleIndex(patterns), options);
}
