//===- GraphRewriter.cpp - what a pattern builds and changes --------------===//
//
// The rewriter that graphRewrite hands to patterns. It notes what they create
// and what they replace their root by, and lets them touch nothing else.
//
//===----------------------------------------------------------------------===//

#include "Uop/Graph/Rewrite.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace uop;

GraphRewriter::GraphRewriter(UniquingBuilder &builder)
    : PatternRewriter(builder.getContext(), this), builder(builder) {}

/// Forgets the last match; the next one is of `op`.
void GraphRewriter::start(Operation *op) {
  root = op;
  created.clear();
  found.clear();
  replacement = {};
  modified = false;
  deferredTo = nullptr;
  violation = nullptr;
}

/// Takes back what a match without success has left. Nothing is freed during a
/// run, so that what is remembered by address stays true.
void GraphRewriter::rollBack() {
  while (!created.empty()) {
    Operation *op = created.pop_back_val();
    if (found.contains(op))
      continue;
    if (raw.erase(op))
      builder.forget(op);
    op->dropAllReferences();
  }
  found.clear();
  replacement = {};
}

Value GraphRewriter::get(OpCode code, ValueRange sources, const Arg &arg) {
  Block *block = builder.getBlock();
  Operation *last = &block->back();
  builder.setLoc(root->getLoc());
  Value value = builder.get(code, sources, arg);
  if (!value)
    return {};
  Operation *op = getDefiningOp(value);
  if (&block->back() != last) {
    if (code == OpCode::Const && !constantsMatch)
      return value;
    raw.insert(op);
    created.push_back(op);
    return value;
  }
  if (Value known = getFinal(value); known != value)
    return known;
  // A rule that is not through yet has made it.
  if (!raw.empty() && raw.contains(op) && !llvm::is_contained(created, op)) {
    created.push_back(op);
    found.insert(op);
  }
  return value;
}

void GraphRewriter::discardUnused(Value by) {
  // What is new stands behind its sources, and only what is new uses it.
  bool any = false;
  for (Operation *&op : llvm::reverse(created)) {
    if (!op->use_empty() || op == getDefiningOp(by) || found.contains(op) ||
        !raw.erase(op))
      continue;
    builder.forget(op);
    op->dropAllReferences();
    op = nullptr;
    any = true;
  }
  if (any)
    llvm::erase(created, nullptr);
}

Value GraphRewriter::lookup(OpCode code, ValueRange sources,
                            const Arg &arg) const {
  Value value = builder.lookup(code, sources, arg);
  return value ? getFinal(value) : Value();
}

Value GraphRewriter::getFinal(Value value) const {
  // More than one step where a deferred node was replaced later.
  while (!superseded.empty()) {
    auto it = superseded.find(getDefiningOp(value));
    if (it == superseded.end())
      break;
    value = it->second;
  }
  return value;
}

void GraphRewriter::miss(Operation *made) {
  OpCode code = *::uop::getOpCode(made);
  missed.push_back(
      {code, llvm::to_vector<2>(made->getOperands()), getArg(code, made)});
}

bool GraphRewriter::isReleased(llvm::ArrayRef<Operation *> order) const {
  llvm::DenseSet<Operation *> there;
  for (const Missed &m : missed) {
    llvm::SmallVector<Value> sources;
    for (Value source : m.sources)
      sources.push_back(getFinal(source));
    if (Value value = builder.lookup(m.code, sources, m.arg))
      there.insert(getDefiningOp(getFinal(value)));
  }
  if (held.empty() && there.empty())
    return false;
  llvm::DenseMap<Operation *, unsigned> now;
  for (Operation *op : order) {
    if (there.contains(op))
      return true;
    for (Value source : op->getOperands())
      if (held.contains(getDefiningOp(source)))
        ++now[getDefiningOp(source)];
  }
  return llvm::any_of(
      now, [&](auto &pair) { return pair.second < held.lookup(pair.first); });
}

bool GraphRewriter::isSharedMore(llvm::ArrayRef<Operation *> order) const {
  return llvm::any_of(order, [&](Operation *op) {
    return isa<AddOp, MulOp>(op) && !op->use_empty() && !op->hasOneUse() &&
           !isShared(op->getResult(0));
  });
}

void GraphRewriter::notifyOperationInserted(Operation *op,
                                            InsertPoint previous) {
  if (!previous.isSet())
    created.push_back(op);
}

void GraphRewriter::replaceOp(Operation *op, ValueRange values) {
  if (op == root)
    setReplacement(values);
  else if (owns(op))
    PatternRewriter::replaceOp(op, values);
}

void GraphRewriter::replaceOp(Operation *op, Operation *by) {
  replaceOp(op, by->getResults());
}

void GraphRewriter::replaceAllUsesWith(Value from, Value to) {
  if (from == root->getResult(0))
    setReplacement(to);
  else if (owns(getDefiningOp(from)))
    from.replaceAllUsesWith(to);
}

void GraphRewriter::eraseOp(Operation *op) {
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
  if (raw.erase(op))
    builder.forget(op);
  op->dropAllReferences();
}

void GraphRewriter::startOpModification(Operation *op) {
  saved.push_back(
      {op, llvm::to_vector(op->getOperands()), op->getAttrDictionary()});
  if (op == root && !modified) {
    builder.forget(op);
    modified = true;
  } else if (op != root) {
    owns(op);
  }
}

void GraphRewriter::cancelOpModification(Operation *op) {
  saved.pop_back();
  if (op == root && modified) {
    builder.adopt(op);
    modified = false;
  }
}

void GraphRewriter::restoreModified() {
  for (const Saved &s : llvm::reverse(saved)) {
    s.op->setOperands(s.operands);
    s.op->setAttrs(s.attributes);
  }
  saved.clear();
}

void GraphRewriter::setReplacement(ValueRange values) {
  if (values.size() == 1 && values[0])
    replacement = values[0];
  else
    violation = "replaces a node by none or by several";
}

bool GraphRewriter::owns(Operation *op) {
  // A node that others may have found is not for the rule to change.
  if (op && !raw.contains(op) && llvm::is_contained(llvm::reverse(created), op))
    return true;
  violation = "changes a node that it did not match";
  return false;
}
