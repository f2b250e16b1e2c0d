//===- Walk.cpp - walks over graphs ---------------------------------------===//
//
// Depth first order with an explicit stack, and rebuilding in that order.
//
//===----------------------------------------------------------------------===//

#include "Uop/Graph/Walk.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace uop;

std::vector<Operation *> uop::toposort(Value root, size_t size) {
  std::vector<Operation *> order;
  llvm::DenseSet<Operation *> seen(size);
  order.reserve(size);
  // An op with the number of its sources that have been entered.
  llvm::SmallVector<std::pair<Operation *, unsigned>> stack;
  auto enter = [&](Value value) {
    Operation *op = getDefiningOp(value);
    if (op && seen.insert(op).second)
      stack.push_back({op, 0});
  };
  enter(root);
  while (!stack.empty()) {
    auto &[op, next] = stack.back();
    if (next < op->getNumOperands()) {
      enter(op->getOperand(next++));
      continue;
    }
    order.push_back(op);
    stack.pop_back();
  }
  return order;
}

std::vector<Operation *> uop::nearest(Value root, size_t limit) {
  llvm::SetVector<Operation *> chosen;
  chosen.insert(getDefiningOp(root));
  size_t withSources = 1;
  for (size_t i = 0; i < chosen.size(); ++i)
    for (Value source : chosen[i]->getOperands()) {
      Operation *op = getDefiningOp(source);
      if (op->getNumOperands() == 0 || withSources < limit)
        withSources += chosen.insert(op) && op->getNumOperands() != 0;
    }
  std::vector<Operation *> order;
  llvm::DenseSet<Operation *> seen;
  std::vector<std::pair<Operation *, unsigned>> stack;
  seen.insert(chosen[0]);
  stack.push_back({chosen[0], 0});
  while (!stack.empty()) {
    auto &[op, next] = stack.back();
    if (next < op->getNumOperands()) {
      Operation *source = getDefiningOp(op->getOperand(next++));
      if (chosen.contains(source) && seen.insert(source).second)
        stack.push_back({source, 0});
      continue;
    }
    order.push_back(op);
    stack.pop_back();
  }
  return order;
}

Value uop::substitute(UniquingBuilder &builder, Value root,
                      const llvm::DenseMap<Value, Value> &mapping) {
  std::vector<Operation *> order = toposort(root);
  llvm::DenseMap<Value, Value> rebuilt(order.size());
  builder.reserve(order.size());
  llvm::SmallVector<Value> sources;
  for (Operation *op : order) {
    Value value = op->getResult(0);
    if (auto it = mapping.find(value); it != mapping.end()) {
      rebuilt[value] = it->second;
      continue;
    }
    sources.clear();
    bool same = op->getBlock() == builder.getBlock();
    for (Value source : op->getOperands()) {
      sources.push_back(rebuilt.lookup(source));
      same &= sources.back() == source;
    }
    Value result = same ? value : builder.rebuild(op, sources);
    if (!result)
      return {};
    rebuilt[value] = result;
  }
  return rebuilt.lookup(root);
}

Value uop::copyInto(UniquingBuilder &builder, Value root) {
  return substitute(builder, root, llvm::DenseMap<Value, Value>());
}

Value uop::copyReplacing(Value root,
                         llvm::function_ref<Value(Operation *)> find,
                         CopyFn copy) {
  // Null while a node waits for its sources.
  llvm::DenseMap<Value, Value> known;
  std::vector<std::pair<Operation *, unsigned>> stack;
  auto enter = [&](Value value) {
    if (known.try_emplace(value).second)
      stack.push_back({getDefiningOp(value), 0});
  };
  enter(root);
  llvm::SmallVector<Value> sources;
  while (!stack.empty()) {
    auto &[op, next] = stack.back();
    bool isCall = isa<CallOp>(op);
    if (next == 0) {
      if (Value value = find(op)) {
        known[op->getResult(0)] = value;
        stack.pop_back();
        continue;
      }
      next = isCall; // past the body
    }
    if (next < op->getNumOperands()) {
      enter(op->getOperand(next++));
      continue;
    }
    sources.clear();
    bool same = true;
    for (auto [i, source] : llvm::enumerate(op->getOperands())) {
      sources.push_back(isCall && i == 0 ? source : known.lookup(source));
      same &= sources.back() == source;
    }
    Value value = same ? op->getResult(0) : copy(op, sources);
    if (!value)
      return {};
    known[op->getResult(0)] = value;
    stack.pop_back();
  }
  return known.lookup(root);
}

LogicalResult uop::rebuildProgram(
    ProgramOp program, llvm::function_ref<Value(UniquingBuilder &)> build) {
  Region &region = program.getBodyRegion();
  Block *old = &region.front();
  Block *fresh = new Block;
  region.push_back(fresh);
  Value root;
  {
    UniquingBuilder builder(fresh);
    builder.setLoc(program.getLoc());
    root = build(builder);
  }
  if (!root) {
    fresh->erase();
    return failure();
  }
  OpBuilder builder = OpBuilder::atBlockEnd(fresh);
  YieldOp::create(builder, old->getTerminator()->getLoc(), root);
  // Users before sources, one by one: nothing is left with a use of its own.
  while (!old->empty())
    old->back().erase();
  old->erase();
  return success();
}

//===----------------------------------------------------------------------===//
// CALL inlining
//===----------------------------------------------------------------------===//

namespace {

/// Bodies under bindings of their PARAMs. A binding is the list of values of the
/// slots; equal lists are one, so that a body under equal arguments is built once.
class Inliner {
public:
  explicit Inliner(UniquingBuilder &builder) : builder(builder) {}

  Value run(Value root) {
    bindings.push_back({}); // the outermost scope binds nothing
    push(root, 0);
    while (!stack.empty())
      if (!step())
        return {};
    return done.lookup({root, 0});
  }

private:
  using Key = std::pair<Value, unsigned>;
  struct Frame {
    Value value;
    unsigned binding;
    unsigned bodyBinding = 0; // of a CALL whose body is being built
  };

  void push(Value value, unsigned binding) {
    if (!done.contains({value, binding}))
      stack.push_back({value, binding});
  }

  /// Pushes what `frame` still waits for; true when there is nothing.
  bool sourcesDone(const Frame &frame, ValueRange sources) {
    unsigned before = stack.size();
    Frame copy = frame; // pushing may move the stack
    for (Value source : llvm::reverse(sources))
      push(source, copy.binding);
    return stack.size() == before;
  }

  bool step() {
    Frame frame = stack.back();
    Key key{frame.value, frame.binding};
    if (done.contains(key)) {
      stack.pop_back();
      return true;
    }
    Operation *op = getDefiningOp(frame.value);
    Value result;
    if (auto param = dyn_cast<ParamOp>(op)) {
      size_t slot = param.getSlot();
      if (slot < bindings[frame.binding].size())
        result = bindings[frame.binding][slot];
      else
        result = builder.rebuild(op, {});
    } else if (auto call = dyn_cast<CallOp>(op)) {
      if (frame.bodyBinding == 0) {
        if (!sourcesDone(frame, call.getArgs()))
          return true;
        llvm::SmallVector<Value> args;
        for (Value arg : call.getArgs())
          args.push_back(done.lookup({arg, frame.binding}));
        stack.back().bodyBinding = intern(args);
        push(call.getBody(), stack.back().bodyBinding);
        return true;
      }
      result = done.lookup({call.getBody(), frame.bodyBinding});
    } else {
      if (!sourcesDone(frame, op->getOperands()))
        return true;
      llvm::SmallVector<Value> sources;
      for (Value source : op->getOperands())
        sources.push_back(done.lookup({source, frame.binding}));
      result = builder.rebuild(op, sources);
    }
    if (!result)
      return false;
    done[key] = result;
    stack.pop_back();
    return true;
  }

  unsigned intern(llvm::ArrayRef<Value> args) {
    // A CALL without arguments binds nothing but is a scope all the same.
    llvm::hash_code hash = llvm::hash_value(args.size());
    for (Value arg : args)
      hash = llvm::hash_combine(hash, arg.getAsOpaquePointer());
    auto &bucket = byHash[static_cast<size_t>(hash)];
    for (unsigned id : bucket)
      if (llvm::ArrayRef<Value>(bindings[id]) == args)
        return id;
    bucket.push_back(bindings.size());
    bindings.emplace_back(args);
    return bindings.size() - 1;
  }

  UniquingBuilder &builder;
  std::vector<Frame> stack;
  llvm::DenseMap<Key, Value> done;
  std::vector<llvm::SmallVector<Value>> bindings;
  llvm::DenseMap<size_t, llvm::SmallVector<unsigned, 1>> byHash;
};

} // namespace

Value uop::inlineCalls(UniquingBuilder &builder, Value root) {
  return Inliner(builder).run(root);
}
