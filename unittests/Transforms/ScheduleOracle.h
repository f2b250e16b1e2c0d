//===- ScheduleOracle.h - schedules by the rules, programs at random -*- C++
//-*-===//
//
// What the scheduler's tests compare it with: a slow scheduler written from the
// rules alone, and a generator of loop programs.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_UNITTESTS_TRANSFORMS_SCHEDULEORACLE_H
#define UOP_UNITTESTS_TRANSFORMS_SCHEDULEORACLE_H

#include "Uop/Graph/Walk.h"
#include "mlir/IR/BuiltinOps.h"
#include <map>
#include <random>
#include <set>

namespace uop {

using mlir::Operation;
using mlir::Value;
using mlir::ValueRange;

/// A program under construction, and the errors that were reported.
class Kernel {
public:
  Kernel()
      : handler(&context,
                [this](mlir::Diagnostic &d) { errors.push_back(d.str()); }) {
    context.loadDialect<UopDialect>();
    module = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
    auto builder = mlir::OpBuilder::atBlockEnd(module->getBody());
    program = createProgram(builder, mlir::UnknownLoc::get(&context), "kernel");
    graph.emplace(&program.getBodyBlock());
  }

  Value load(Value memory, Value index) {
    return graph->load(graph->index(memory, index));
  }
  Value store(Value memory, Value index, Value value) {
    return graph->store(graph->index(memory, index), value);
  }
  Value buffer(int64_t slot) { return graph->buffer(slot, DType::F32, 64); }
  Value range(int64_t size, int64_t idx) {
    return graph->range(graph->i32(size), idx);
  }

  /// A sum over `k` of `term`, inside the loops of `around`.
  Value sum(int64_t slot, Value k, Value term, ValueRange around) {
    Value acc = graph->after(graph->alloc(slot, DType::F32, 1), around);
    Value zero = graph->i32(0);
    Value init = store(acc, zero, graph->f32(0));
    Value inner = graph->after(acc, {init, k});
    Value update = store(inner, zero, graph->add(load(inner, zero), term));
    return load(graph->after(acc, graph->end(update, k)), zero);
  }

  mlir::MLIRContext context;
  std::vector<std::string> errors;
  mlir::ScopedDiagnosticHandler handler;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  ProgramOp program;
  std::optional<UniquingBuilder> graph;
};

//===----------------------------------------------------------------------===//
// A slow scheduler from the rules alone
//===----------------------------------------------------------------------===//

using LoopSet = std::set<std::pair<int64_t, Operation *>>;

/// Scopes as sets, closed under "encloses"; every step looks at every op.
class SlowScheduler {
public:
  explicit SlowScheduler(Value sink) : topo(toposort(sink)) {
    for (size_t i = 0; i < topo.size(); ++i)
      position[topo[i]] = i;
    findTargets();
  }

  /// The schedule; empty when there is none.
  std::vector<Operation *> run() {
    std::set<size_t> pending;
    for (size_t i = 0; i < topo.size(); ++i)
      pending.insert(i);
    std::vector<Operation *> out;
    std::set<Operation *> done;
    LoopSet open;
    auto ready = [&](Operation *op) {
      return llvm::all_of(op->getOperands(), [&](Value source) {
        return done.count(source.getDefiningOp());
      });
    };
    auto emit = [&](Operation *op) {
      out.push_back(op);
      done.insert(op);
      pending.erase(position[op]);
    };
    while (!pending.empty()) {
      Operation *chosen = nullptr;
      for (size_t i : pending)
        if (!mlir::isa<RangeOp, EndOp>(topo[i]) && target[topo[i]] == open &&
            ready(topo[i])) {
          chosen = topo[i];
          break;
        }
      if (chosen) {
        emit(chosen);
        continue;
      }
      if (Operation *range = pickLoop(pending, open, ready)) {
        emit(range);
        open.insert(entry(range));
        continue;
      }
      for (size_t i : pending) {
        auto end = mlir::dyn_cast<EndOp>(topo[i]);
        if (end && ready(end) && closesInnermost(end, open)) {
          chosen = end;
          break;
        }
      }
      if (!chosen)
        return {};
      emit(chosen);
      for (Value range : mlir::cast<EndOp>(chosen).getRanges())
        open.erase(entry(range.getDefiningOp()));
    }
    return open.empty() ? out : std::vector<Operation *>();
  }

private:
  static std::pair<int64_t, Operation *> entry(Operation *range) {
    return {mlir::cast<RangeOp>(range).getIdx(), range};
  }

  /// The loop on `place`, a longer path than `open`, that is next inside
  /// `open`.
  static Operation *nextLoop(const LoopSet &place, const LoopSet &open) {
    if (place.size() <= open.size() ||
        !std::equal(open.begin(), open.end(), place.begin()))
      return nullptr;
    return std::next(place.begin(), open.size())->second;
  }

  void findTargets() {
    std::map<Operation *, LoopSet> scope, around;
    for (Operation *op : topo) {
      LoopSet &s = scope[op];
      for (Value source : op->getOperands()) {
        const LoopSet &from = scope[source.getDefiningOp()];
        s.insert(from.begin(), from.end());
      }
      if (mlir::isa<RangeOp>(op))
        s.insert(entry(op));
      if (auto end = mlir::dyn_cast<EndOp>(op))
        for (Value range : end.getRanges())
          s.erase(entry(range.getDefiningOp()));
    }
    for (auto &[op, s] : scope)
      for (auto it = s.begin(); it != s.end(); ++it)
        around[it->second].insert(s.begin(), it);
    auto close = [&](LoopSet s) {
      for (size_t before = 0; before != s.size();) {
        before = s.size();
        for (auto [idx, range] : LoopSet(s))
          s.insert(around[range].begin(), around[range].end());
      }
      return s;
    };
    for (Operation *op : topo) {
      LoopSet s = scope[op];
      if (mlir::isa<RangeOp>(op)) {
        s.erase(entry(op));
        s.insert(around[op].begin(), around[op].end());
      }
      target[op] = close(s);
    }
    std::map<Operation *, LoopSet> shared;
    for (Operation *op : topo)
      for (Value source : op->getOperands())
        if (auto alloc = source.getDefiningOp<AllocOp>()) {
          auto [it, first] = shared.try_emplace(alloc, target[op]);
          LoopSet common;
          for (auto a = it->second.begin(), b = target[op].begin();
               a != it->second.end() && b != target[op].end() && *a == *b;
               ++a, ++b)
            common.insert(*a);
          it->second = common;
        }
    for (auto &[alloc, place] : shared)
      target[alloc] =
          getSpace(alloc->getResult(0).getType()) == AddrSpace::Shared
              ? LoopSet()
              : place;
  }

  Operation *pickLoop(const std::set<size_t> &pending, const LoopSet &open,
                      llvm::function_ref<bool(Operation *)> ready) {
    LoopSet candidates;
    for (size_t i : pending) {
      Operation *range = mlir::isa<RangeOp>(topo[i])
                             ? nullptr
                             : nextLoop(target[topo[i]], open);
      if (range && pending.count(position[range]) && ready(range) &&
          target[range] == open)
        candidates.insert(entry(range));
    }
    std::set<Operation *> blocked;
    std::map<Operation *, LoopSet> ended;
    for (size_t i : pending) {
      LoopSet &e = ended[topo[i]];
      if (auto end = mlir::dyn_cast<EndOp>(topo[i]))
        for (Value range : end.getRanges())
          if (candidates.count(entry(range.getDefiningOp())))
            e.insert(entry(range.getDefiningOp()));
      for (Value source : topo[i]->getOperands())
        if (pending.count(position[source.getDefiningOp()])) {
          const LoopSet &from = ended[source.getDefiningOp()];
          e.insert(from.begin(), from.end());
        }
      Operation *need = mlir::isa<RangeOp>(topo[i])
                            ? nullptr
                            : nextLoop(target[topo[i]], open);
      if (need && llvm::any_of(e, [&](auto &x) { return x.second != need; }))
        blocked.insert(need);
    }
    for (auto [idx, range] : candidates)
      if (!blocked.count(range))
        return range;
    return candidates.empty() ? nullptr : candidates.begin()->second;
  }

  bool closesInnermost(EndOp end, const LoopSet &open) {
    LoopSet left = open;
    for (Value range : end.getRanges())
      if (!left.erase(entry(range.getDefiningOp())))
        return false;
    return left == target[end] &&
           std::equal(left.begin(), left.end(), open.begin());
  }

  std::vector<Operation *> topo;
  std::map<Operation *, size_t> position;
  std::map<Operation *, LoopSet> target;
};

//===----------------------------------------------------------------------===//
// Programs at random
//===----------------------------------------------------------------------===//

/// Nests of loops with stores, sums in loops of their own, values that go from
/// one loop to its siblings, and now and then an END or an edge that is wrong.
class RandomKernel {
public:
  RandomKernel(Kernel &kernel, uint32_t seed, bool sane)
      : k(kernel), random(seed), sane(sane) {
    // Loop numbers in any order: data alone decides between siblings.
    for (int64_t i = 0; i < 40; ++i)
      indices.push_back(i);
  }

  Value run() {
    llvm::SmallVector<Value> effects;
    for (int i = 0, n = 1 + pick(3); i < n; ++i)
      effects.push_back(nest({}, pick(3)));
    return k.graph->sink(effects);
  }

private:
  int pick(int n) { return std::uniform_int_distribution<>(0, n - 1)(random); }

  /// A number above those of `around`, never taken before if there is one.
  Value newLoop(ValueRange around) {
    int64_t above = -1;
    for (Value loop : around)
      above = std::max(above, loop.getDefiningOp<RangeOp>().getIdx());
    llvm::SmallVector<int64_t> free;
    for (int64_t i : indices)
      if (i > above && i < above + 12)
        free.push_back(i);
    int64_t idx = free.empty() ? 40 + used++ : free[pick(free.size())];
    llvm::erase(indices, idx);
    Value end = k.graph->i32(2 + pick(3));
    if (!around.empty() && pick(6) == 0)
      end = k.graph->add(around[pick(around.size())], end);
    AxisKind kind = pick(5) ? AxisKind::Loop : AxisKind::Thread;
    return k.graph->range(end, idx, kind);
  }

  Value indexOver(ValueRange loops) {
    Value index = k.graph->i32(pick(4));
    for (Value loop : loops)
      if (pick(3))
        index =
            k.graph->add(k.graph->mul(loop, k.graph->i32(1 + pick(3))), index);
    return index;
  }

  Value term(ValueRange loops) {
    Value value = k.load(k.buffer(pick(3)), indexOver(loops));
    for (auto &[made, where] : values)
      if (pick(3) == 0 && llvm::all_of(where, [&](Value loop) {
            return llvm::is_contained(loops, loop);
          }))
        value = k.graph->add(made, value);
    if (!sane && !values.empty() && pick(12) == 0)
      value = k.graph->add(values[pick(values.size())].first, value);
    return value;
  }

  /// The effect of some work inside `around`, closed as far as `around`.
  Value nest(llvm::SmallVector<Value> around, int depth) {
    for (int i = 0, n = pick(3); i < n; ++i) {
      Value loop = newLoop(around);
      llvm::SmallVector<Value> inside(around);
      inside.push_back(loop);
      Value acc = k.sum(used++, loop, term(inside), around);
      values.push_back({acc, around});
    }
    if (depth == 0) {
      Value loop = newLoop(around);
      llvm::SmallVector<Value> inside(around), closed{loop};
      inside.push_back(loop);
      if (pick(2)) {
        closed.push_back(newLoop(inside));
        inside.push_back(closed.back());
      }
      // A place that uses every loop, so that they nest.
      Value place = k.graph->i32(used++);
      for (Value l : inside)
        place = k.graph->add(place, l);
      Value effect = k.store(k.buffer(5), place, term(inside));
      if (pick(2))
        std::reverse(closed.begin(), closed.end());
      if (!sane && pick(8) == 0)
        closed.pop_back();
      if (!sane && pick(8) == 0 && !around.empty())
        closed.push_back(around.back());
      return k.graph->end(effect, closed);
    }
    Value loop = newLoop(around);
    llvm::SmallVector<Value> inside(around);
    inside.push_back(loop);
    llvm::SmallVector<Value> effects;
    for (int i = 0, n = 1 + pick(2); i < n; ++i)
      effects.push_back(nest(inside, depth - 1));
    Value place = k.graph->i32(used++);
    for (Value l : inside)
      place = k.graph->add(place, l);
    effects.push_back(k.store(k.buffer(5), place, term(inside)));
    return k.graph->end(k.graph->sink(effects), loop);
  }

  Kernel &k;
  std::mt19937 random;
  bool sane;
  std::vector<int64_t> indices;
  int64_t used = 0;
  std::vector<std::pair<Value, llvm::SmallVector<Value>>> values;
};

} // namespace uop

#endif // UOP_UNITTESTS_TRANSFORMS_SCHEDULEORACLE_H
