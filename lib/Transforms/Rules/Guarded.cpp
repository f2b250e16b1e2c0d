//===- Guarded.cpp - rules: values under the condition that guards them ---===//
//
// In where(c, x, y), x is only seen where c holds and y where it does not, and
// a LOAD only follows its pointer where its gate is true. Bounds that follow
// from the condition decide comparisons, quotients and remainders inside.
//
//===----------------------------------------------------------------------===//

#include "../Guards.h"
#include "Table.h"
#include "Uop/Transforms/RuleSets.h"

using namespace mlir;
using namespace uop;

namespace {

/// What is simplified under a condition has at most this many nodes.
constexpr size_t maxNodes = 64;

/// Whether bounds may change what becomes of this op.
bool asksBounds(Operation *op) {
  return isa<CmpLtOp, CmpNeOp, FloorDivOp, FloorModOp, MaxOp, WhereOp>(op);
}

/// The ALU ops of `root`, and itself if it is the pointer of a gated LOAD,
/// sources before users; empty where there are too many or where bounds change
/// nothing. Of floats only WHEREs and CASTs, which integers may stand under.
/// Never what reads: a WHERE computes both branches, so that a read in one is
/// held inside its array by its own gate and index alone.
llvm::SmallVector<Operation *> collect(Value root, bool isPointer) {
  llvm::SmallVector<Operation *> order;
  llvm::SmallDenseSet<Operation *, 16> seen;
  llvm::SmallVector<std::pair<Operation *, unsigned>> stack;
  bool found = false;
  auto enter = [&](Value value) {
    Operation *op = value.getDefiningOp();
    bool open = (isAlu(*::uop::getOpCode(op)) &&
                 (isInteger(value) || isa<WhereOp, CastOp>(op))) ||
                (isPointer && value == root && isa<IndexOp>(op));
    if (open && seen.insert(op).second)
      stack.push_back({op, 0});
  };
  enter(root);
  while (!stack.empty()) {
    auto &[op, next] = stack.back();
    if (seen.size() > maxNodes)
      return {};
    if (next < op->getNumOperands()) {
      enter(op->getOperand(next++));
      continue;
    }
    found |= asksBounds(op);
    order.push_back(op);
    stack.pop_back();
  }
  if (!found)
    order.clear();
  return order;
}

/// `op` over other sources, by the arithmetic of the guarded region.
Value simplifyUnder(Operation *op, ValueRange sources, IndexMath &math,
                    Bounds &bounds, RuleGraph &graph) {
  Value a = sources[0], b = sources.size() > 1 ? sources[1] : Value();
  bool ofIntegers = b && isI32(a) && isI32(b);
  if (isBool(op->getResult(0)) && isAlu(*::uop::getOpCode(op))) {
    Bounds::Interval interval = bounds.get(op->getResult(0));
    if (interval.min == interval.max)
      return graph.boolean(interval.min != 0);
  }
  if (isa<WhereOp>(op) && isBool(a)) {
    Bounds::Interval interval = bounds.get(a);
    if (interval.min == interval.max)
      return sources[interval.min ? 1 : 2];
  }
  if (ofIntegers && !isa<ConstOp>(a.getDefiningOp())) {
    if (isa<FloorDivOp>(op))
      return math.divide(a, b);
    if (isa<FloorModOp>(op))
      return math.modulo(a, b);
  }
  if (ofIntegers && isa<CmpLtOp>(op))
    if (auto less = math.isLess(a, b))
      return graph.boolean(*less);
  if (ofIntegers && isa<MaxOp>(op)) {
    if (math.isLess(a, b) == true)
      return b;
    if (math.isLess(a, b) == false || math.isLess(b, a) == true)
      return a;
  }
  return {};
}

/// `root` where `condition` is `outcome`; itself where that changes nothing.
Value simplifyGuarded(Value root, Value condition, bool outcome,
                      RuleGraph &graph, bool isPointer = false) {
  if (!isBool(condition) || isa<ConstOp>(condition.getDefiningOp()))
    return root;
  llvm::SmallVector<Operation *> order = collect(root, isPointer);
  if (order.empty())
    return root;
  Bounds bounds;
  assumeOutcome(bounds, graph.bounds(), condition, outcome);
  IndexMath math = graph.makeMath(bounds);
  llvm::SmallDenseMap<Value, Value> mapped;
  llvm::SmallVector<Value> sources;
  for (Operation *op : order) {
    Value value = op->getResult(0);
    sources.clear();
    bool changed = false;
    for (Value source : op->getOperands()) {
      auto it = mapped.find(source);
      sources.push_back(it == mapped.end() ? source : it->second);
      changed |= sources.back() != source;
    }
    Value result = simplifyUnder(op, sources, math, bounds, graph);
    if (!result && changed)
      result = graph.get(*::uop::getOpCode(op), sources,
                         getArg(*::uop::getOpCode(op), op));
    if (result && result != value && result.getType() == value.getType())
      mapped[value] = result;
  }
  auto it = mapped.find(root);
  return it == mapped.end() ? root : it->second;
}

const RuleRow rows[] = {
    {"guarded/where", OpCode::Where,
     [](Operation *op, RuleGraph &graph) {
       Value condition = op->getOperand(0);
       Value yes = simplifyGuarded(op->getOperand(1), condition, true, graph);
       Value no = simplifyGuarded(op->getOperand(2), condition, false, graph);
       return graph.get(OpCode::Where, {condition, yes, no});
     }},
    {"guarded/load", OpCode::Load,
     [](Operation *op, RuleGraph &graph) {
       if (op->getNumOperands() != 3)
         return Value();
       Value pointer =
           simplifyGuarded(op->getOperand(0), op->getOperand(1), true, graph,
                           /*isPointer=*/true);
       Value otherwise =
           simplifyGuarded(op->getOperand(2), op->getOperand(1), false, graph);
       return graph.get(OpCode::Load, {pointer, op->getOperand(1), otherwise});
     }},
};

} // namespace

void uop::populateGuardedRules(RewritePatternSet &patterns) {
  addRules(patterns, rows);
}
