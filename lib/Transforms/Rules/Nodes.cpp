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
