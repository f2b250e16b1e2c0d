//===- Table.cpp - rules as rows of a table -------------------------------===//
//
// The pattern that a row is, the graph it gets, and the account of nodes that
// keeps shared graphs from growing.
//
//===----------------------------------------------------------------------===//

#include "Table.h"

using namespace mlir;
using namespace uop;

//===----------------------------------------------------------------------===//
// The graph
//===----------------------------------------------------------------------===//

/// Whether `op` is (code, sources, arg), constants compared by value.
static bool isNode(Operation *op, OpCode code, ValueRange sources,
                   const Arg &arg) {
  if (::uop::getOpCode(op) != code || op->getNumOperands() != sources.size() ||
      !(getArg(code, op) == arg))
    return false;
  for (auto [have, want] : llvm::zip(op->getOperands(), sources)) {
    auto a = dyn_cast_or_null<ConstOp>(getDefiningOp(have)),
         b = dyn_cast_or_null<ConstOp>(getDefiningOp(want));
    if (have != want && !(a && b && a.getValueAttr() == b.getValueAttr()))
      return false;
  }
  return true;
}

Value RuleGraph::get(OpCode code, ValueRange sources, const Arg &arg) {
  if (graph)
    return graph->get(code, sources, arg);
  // Another driver: the match itself, a node beside it, or a new one.
  if (isNode(root, code, sources, arg))
    return root->getResult(0);
  if (code == OpCode::Const)
    return ConstOp::create(rewriter, root->getLoc(),
                           cast<TypedAttr>(arg.attr).getType(),
                           cast<TypedAttr>(arg.attr));
  int left = 16;
  for (Operation *user : sources[0].getUsers()) {
    if (left-- == 0)
      break;
    if (user->getBlock() == root->getBlock() && user->isBeforeInBlock(root) &&
        ::uop::getOpCode(user) && isNode(user, code, sources, arg))
      return user->getResult(0);
  }
  Type type =
      inferType(root->getContext(), code, sources, arg, [](const Twine &) {});
  if (!type)
    return {};
  auto *dialect = root->getContext()->getLoadedDialect<UopDialect>();
  OperationState state(root->getLoc(), dialect->getOpName(code), sources,
                       {type}, {});
  return rewriter.create(state)->getResult(0);
}

Value RuleGraph::constant(DType dtype, Word word) {
  return get(OpCode::Const, {},
             {getConstantAttr(root->getContext(), dtype, word), {}, 0});
}

Bounds &RuleGraph::bounds() {
  if (graph)
    return graph->getBounds();
  if (!ownBounds)
    ownBounds.emplace();
  return *ownBounds;
}

IndexMath RuleGraph::makeMath(Bounds &bounds) {
  return IndexMath(
      root->getContext(),
      [this](OpCode code, ValueRange sources, const Arg &arg) {
        return get(code, sources, arg);
      },
      bounds, [this](Value value) { return isShared(value); });
}

IndexMath &RuleGraph::math() {
  if (graph) {
    GraphRewriter *g = graph;
    // Outlives this object: it must hold the rewriter only.
    return g->getMemo<IndexMath>([g] {
      return std::make_shared<IndexMath>(
          g->getContext(),
          [g](OpCode code, ValueRange sources, const Arg &arg) {
            return g->get(code, sources, arg);
          },
          g->getBounds(), [g](Value value) { return g->isShared(value); });
    });
  }
  if (!ownMath)
    ownMath.reset(new IndexMath(makeMath(bounds())));
  return *ownMath;
}

bool RuleGraph::defer(GraphRewriter::IsOuterFn isOuter) {
  Operation *original = graph ? graph->getOriginal() : nullptr;
  if (!original || graph->isThrifty())
    return false;
  Value value = original->getResult(0);
  if (!value.hasOneUse() || !isOuter(*value.user_begin()))
    return false;
  graph->defer(isOuter);
  return true;
}

bool RuleGraph::isAffordable(Value by) {
  if (!graph)
    return true;
  llvm::ArrayRef<Operation *> created = graph->getCreated();
  if (created.empty() || (knownAffordable && !graph->isThrifty()))
    return true;
  // New nodes stand behind their sources: one sweep finds those that `by`
  // needs.
  llvm::SmallDenseSet<Operation *, 16> needed(2 * created.size());
  needed.insert(getDefiningOp(by));
  int64_t more = 0;
  for (Operation *op : llvm::reverse(created)) {
    if (!needed.contains(op) || isa<ConstOp>(op))
      continue;
    ++more;
    for (Value source : op->getOperands())
      needed.insert(getDefiningOp(source));
  }
  if (more <= 1)
    return true;
  if (graph->isThrifty())
    return false;
  // What falls with the root: it, and what only it or such nodes use.
  int64_t fewer = 1;
  llvm::SmallDenseMap<Operation *, unsigned, 16> left;
  llvm::SmallVector<Operation *, 16> stack{root};
  while (!stack.empty() && fewer < more) {
    Operation *op = stack.pop_back_val();
    for (Value source : op->getOperands()) {
      Operation *of = getDefiningOp(source);
      if (isa<ConstOp>(of) || needed.contains(of))
        continue;
      auto [it, isNew] = left.try_emplace(of, 0);
      if (isNew)
        it->second = graph->getUses(source);
      if (it->second == 0 || --it->second != 0)
        continue;
      ++fewer;
      stack.push_back(of);
    }
  }
  if (fewer >= more)
    return true;
  for (auto [of, uses] : left)
    if (uses > 0)
      graph->holdBack(of);
  llvm::SmallDenseSet<Operation *, 16> made(created.begin(), created.end());
  for (Operation *op : created)
    if (needed.contains(op) && !isa<ConstOp>(op) &&
        llvm::none_of(op->getOperands(), [&](Value source) {
          return made.contains(getDefiningOp(source));
        }))
      graph->miss(op);
  return false;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

namespace {

class RowPattern final : public RulePattern {
public:
  RowPattern(MLIRContext *context, const RuleRow &row)
      : RulePattern(row.root, context), apply(row.apply) {
    setDebugName(row.name);
  }

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    RuleGraph graph(rewriter, op);
    Value value = apply(op, graph);
    if (!value || value == op->getResult(0) ||
        value.getType() != op->getResult(0).getType() ||
        !graph.isAffordable(value))
      return failure();
    graph.discardUnused(value);
    rewriter.replaceOp(op, value);
    return success();
  }

private:
  RuleFn apply;
};

} // namespace

void uop::addRules(RewritePatternSet &patterns, llvm::ArrayRef<RuleRow> rows) {
  for (const RuleRow &row : rows)
    patterns.add<RowPattern>(patterns.getContext(), row);
}

bool uop::isInteger(Value value) {
  auto dtype = getDTypeOrNone(value.getType());
  return dtype == DType::I32 || dtype == DType::Bool;
}

std::optional<Word> uop::getSplat(Value value) {
  for (int left = 8; left > 0; --left) {
    Operation *op = getDefiningOp(value);
    if (auto constant = dyn_cast<ConstOp>(op))
      return getWord(constant.getProperties().value);
    if (op->getNumOperands() != 1 || !isMovement(*::uop::getOpCode(op)))
      return std::nullopt;
    value = op->getOperand(0);
  }
  return std::nullopt;
}

Value uop::getNegated(Value value) {
  Operation *op = match(value, OpCode::CmpNe);
  return op && isBool(lhs(op)) && isConst(rhs(op), 1) ? lhs(op) : Value();
}
