//===- RewriteDriver.cpp - rewriting a graph to its fixed point -----------===//
//
// Takes nodes over, offers them to the patterns, and follows up what these
// make. Leans on the UniquingBuilder for all sharing.
//
//===----------------------------------------------------------------------===//

#include "RewriteDriver.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace uop;

static std::string getRuleName(const Pattern *pattern) {
  llvm::StringRef name = pattern->getDebugName();
  return "'" + (name.empty() ? "unnamed rule" : name.str()) + "'";
}

/// Whether the node that `op` of the program has become is left to its user.
static bool isLeft(Operation *op, GraphRewriter::IsOuterFn isOuter) {
  return op->hasOneUse() && isOuter(*op->user_begin());
}

Value RewriteDriver::run(Value root, size_t size) {
  // The walk of `toposort`, with the results in place of its marks: null while
  // a node waits for its sources. To call it first takes a tenth longer.
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
    if (isNew && !rewrite(node, op))
      return {};
    value = getFinal(value);
    // A node that has been left to another, or to the user of another.
    if (!deferred.empty() && (!isNew || getDefiningOp(value) != node)) {
      auto it = deferred.find(getDefiningOp(value));
      if (it != deferred.end() && (!isNew || !isLeft(op, it->second))) {
        deferred.erase(it);
        if (!rewrite(getDefiningOp(value), nullptr))
          return {};
        value = getFinal(value);
      }
    }
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
  if (isa<CallOp>(op)) {
    // Its body may have changed in place.
    llvm::SmallVector<Value> kept(values);
    if (!dropArguments(kept, /*offer=*/true))
      return {};
    if (kept.size() != values.size())
      return build(op, kept, isNew);
  }
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
  Former &before = former.emplace_back();
  before.op = op;
  for (auto [i, value] : llvm::enumerate(values)) {
    before.sources[i] = op->getOperand(i);
    op->setOperand(i, value);
  }
  return true;
}

void RewriteDriver::restore() {
  rewriter.restoreModified();
  for (const Former &before : former)
    for (OpOperand &operand : before.op->getOpOperands())
      operand.set(before.sources[operand.getOperandNumber()]);
}

Value RewriteDriver::build(Operation *op, ValueRange values, bool &isNew) {
  llvm::SmallVector<Value> kept;
  if (isa<CallOp>(op)) {
    kept.assign(values.begin(), values.end());
    if (!dropArguments(kept, /*offer=*/false))
      return {};
    values = kept;
  }
  Block *block = builder.getBlock();
  Operation *last = block->empty() ? nullptr : &block->back();
  Value value = builder.rebuild(op, values);
  isNew = value && !block->empty() && &block->back() != last;
  // What a rule that is not through has made counts as new.
  if (value && !isNew && !rewriter.raw.empty())
    isNew = rewriter.raw.erase(getDefiningOp(value));
  return value;
}

bool RewriteDriver::dropArguments(llvm::SmallVectorImpl<Value> &sources,
                                  bool offer) {
  llvm::SmallVector<bool> isUsed(sources.size() - 1);
  for (Operation *op : getParams(sources[0])) {
    auto param = dyn_cast<ParamOp>(op);
    if (!param || param.getSlot() >= static_cast<int64_t>(isUsed.size()))
      return true; // malformed, as the builder will say
    isUsed[param.getSlot()] = true;
  }
  if (llvm::all_of(isUsed, [](bool used) { return used; }))
    return true;
  // The PARAMs after a gap move up.
  llvm::SmallVector<int64_t> slots;
  llvm::SmallVector<Value> kept{Value()};
  for (auto [used, argument] : llvm::zip(isUsed, llvm::drop_begin(sources))) {
    slots.push_back(kept.size() - 1);
    if (used)
      kept.push_back(argument);
  }
  auto move = [&](Operation *op) {
    auto param = dyn_cast<ParamOp>(op);
    return param ? builder.param(slots[param.getSlot()], param.getType())
                 : Value();
  };
  auto copy = [&](Operation *op, ValueRange over) {
    bool isNew;
    Value value = build(op, over, isNew);
    if (value && offer && isNew && !rewrite(getDefiningOp(value), nullptr))
      return Value();
    return value ? getFinal(value) : Value();
  };
  kept[0] = copyReplacing(sources[0], move, copy);
  if (!kept[0])
    return false;
  sources = kept;
  hasMovedParams |= !offer;
  hasCopied = true;
  // Other orders of operands may let rules take more.
  return !offer || dropArguments(sources, offer);
}

void RewriteDriver::pull(Operation *op) {
  auto it = deferred.find(op);
  pulled.insert(*it);
  rewriter.raw.insert(op);
  deferred.erase(it);
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
    if (rewriter.deferredTo)
      deferred[op] = rewriter.deferredTo;
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
  // The node that it was left to is gone; where the user of the original may
  // do, `run` sees to it.
  if (Operation *by = getDefiningOp(frame.replacement);
      !original && deferred.contains(by)) {
    pull(by);
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
  Operation *last = frame.next ? frame.created[frame.next - 1] : nullptr;
  for (Value source : op->getOperands()) {
    Operation *of = getDefiningOp(source);
    if (of == last) { // as in most sums: it is through
      sources.push_back(getFinal(source));
      changed |= sources.back() != source;
      continue;
    }
    if (op != frame.op && active.contains(of))
      return leadBack(of);
    if (!deferred.empty())
      if (auto it = deferred.find(of); it != deferred.end() && !it->second(op))
        pull(of);
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
  if (node != op && (isRaw || isDraft) && !pulled.contains(op))
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
      if (auto it = pulled.find(made); it != pulled.end()) {
        deferred.insert(*it);
        continue;
      }
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
