//===- CheckIndices.cpp - accesses that are out of bounds for sure --------===//
//
// Bounds of the index against the size of the memory.
//
//===----------------------------------------------------------------------===//

#include "Uop/Transforms/CheckIndices.h"
#include "Uop/Graph/Bounds.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace uop;

/// Whether `index` takes both ends of its interval in some iteration: a sum of
/// constants and loop counters times constants, no counter twice, every loop with
/// at least one iteration.
static bool reachesItsBounds(Value index, Bounds &bounds) {
  llvm::SmallVector<Value> stack{index};
  llvm::DenseSet<Value> seen;
  while (!stack.empty()) {
    Value value = stack.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (isa<ConstOp>(op))
      continue;
    if (!seen.insert(value).second)
      return false;
    if (auto range = dyn_cast<RangeOp>(op)) {
      auto end = range.getEnd().getDefiningOp<ConstOp>();
      if (!end || bounds.vmin(range.getEnd()) < 1)
        return false;
    } else if (isa<AddOp>(op)) {
      llvm::append_range(stack, op->getOperands());
    } else if (isa<MulOp>(op) && (op->getOperand(0).getDefiningOp<ConstOp>() ||
                                  op->getOperand(1).getDefiningOp<ConstOp>())) {
      llvm::append_range(stack, op->getOperands());
    } else {
      return false;
    }
  }
  return true;
}

static bool isAccessed(IndexOp op) {
  return llvm::any_of(op->getUses(), [](OpOperand &use) {
    auto load = dyn_cast<LoadOp>(use.getOwner());
    return !load || load.getGate().empty() || use.getOperandNumber() != 0;
  });
}

LogicalResult uop::checkIndices(ProgramOp program) {
  Bounds bounds;
  // A loop without iterations anywhere may keep an access from happening.
  bool allRun = true;
  for (Operation &op : program.getBodyBlock())
    if (auto range = dyn_cast<RangeOp>(op))
      allRun &= bounds.vmin(range.getEnd()) >= 1;
  for (Operation &op : program.getBodyBlock()) {
    auto index = dyn_cast<IndexOp>(op);
    if (!index || !isMemory(index.getSource().getType()) ||
        index.getIndices().size() != 1 || !isAccessed(index))
      continue;
    int64_t size = getShape(index.getSource().getType())[0];
    Bounds::Interval have = bounds.get(index.getIndices()[0]);
    bool outside = have.min >= size || have.max < 0;
    bool partly = have.min < 0 || have.max >= size;
    if (!allRun ||
        !(outside ||
          (partly && reachesItsBounds(index.getIndices()[0], bounds))))
      continue;
    std::string span = std::to_string(have.min);
    if (have.max != have.min)
      span += ".." + std::to_string(have.max);
    return op.emitError() << "INDEX " << span << " is out of bounds for "
                          << size << " elements";
  }
  return success();
}
