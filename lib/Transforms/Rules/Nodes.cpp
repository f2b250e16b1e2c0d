//===- Nodes.cpp - what rules make nodes with -----------------------------===//
//
// Walks keep their own stacks, so that what a rule copies may be any number
// deep.
//
//===----------------------------------------------------------------------===//

#include "Nodes.h"
#include "Uop/Graph/Rewrite.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace uop;

std::optional<Word> uop::getConstWord(Value value) {
  if (auto constant = value.getDefiningOp<ConstOp>())
    return getWord(constant.getProperties().value);
  return std::nullopt;
}

Value uop::makeConst(PatternRewriter &rewriter, Location loc, DType dtype,
                     Word word) {
  TypedAttr attr = getConstantAttr(rewriter.getContext(), dtype, word);
  return ConstOp::create(rewriter, loc, attr.getType(), attr);
}

Value uop::copyOver(PatternRewriter &rewriter, Operation *op,
                    ValueRange sources) {
  OpCode code = *::uop::getOpCode(op);
  Type type = inferType(op->getContext(), code, sources, getArg(code, op),
                        [](const Twine &) {});
  if (!type)
    return {};
  Operation *copy = Operation::create(
      op->getLoc(), op->getName(), type, sources, NamedAttrList(),
      op->getPropertiesStorage(), BlockRange(), /*numRegions=*/0);
  return rewriter.insert(copy)->getResult(0);
}

Value uop::copyReplacing(Value root,
                         llvm::function_ref<Value(Operation *)> find,
                         CopyFn copy) {
  // Null while a node waits for its sources.
  llvm::DenseMap<Value, Value> known;
  std::vector<std::pair<Operation *, unsigned>> stack;
  auto enter = [&](Value value) {
    if (known.try_emplace(value).second)
      stack.push_back({value.getDefiningOp(), 0});
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

bool uop::dependsOn(Value value, Value source, unsigned &budget) {
  llvm::SmallVector<Value> stack{value};
  llvm::DenseSet<Value> seen{value};
  while (!stack.empty()) {
    Value next = stack.pop_back_val();
    if (next == source || budget == 0)
      return true;
    --budget;
    for (Value operand : next.getDefiningOp()->getOperands())
      if (seen.insert(operand).second)
        stack.push_back(operand);
  }
  return false;
}

bool uop::exceedsThrift(PatternRewriter &rewriter) {
  GraphRewriter *graph = GraphRewriter::from(rewriter);
  return graph && graph->isThrifty() &&
         llvm::count_if(graph->getCreated(),
                        [](Operation *op) { return !isa<ConstOp>(op); }) > 1;
}
