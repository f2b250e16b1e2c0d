//===- VerifySchedule.cpp - whether an order is a schedule ----------------===//
//
// Replays a block op by op: loops open and close like a stack, and what was
// computed inside a loop is used inside it or behind its END.
//
//===----------------------------------------------------------------------===//

#include "LoopTree.h"
#include "Uop/Transforms/Linearize.h"

using namespace mlir;
using namespace uop;

namespace {

class Replay {
public:
  LogicalResult run(Block &block);

private:
  LogicalResult checkSources(Operation *op);
  LogicalResult open(RangeOp range);
  LogicalResult close(EndOp end);
  std::string formatOpen(size_t from = 0) const;

  llvm::SmallVector<RangeOp> stack;
  /// The loops that are open or were, by their RANGE.
  llvm::DenseMap<Operation *, bool> isOpen;
  llvm::DenseMap<int64_t, Operation *> byIdx;
  /// Where an op ran: the innermost loop then, null for none.
  llvm::DenseMap<Operation *, Operation *> ranIn;
};

} // namespace

std::string Replay::formatOpen(size_t from) const {
  llvm::SmallVector<int64_t> indices;
  for (RangeOp range : llvm::ArrayRef<RangeOp>(stack).drop_front(from))
    indices.push_back(range.getIdx());
  return formatIndices(indices);
}

LogicalResult Replay::checkSources(Operation *op) {
  for (Value source : op->getOperands()) {
    Operation *def = source.getDefiningOp();
    auto it = ranIn.find(def);
    if (it == ranIn.end())
      return emitError(op->getLoc())
             << getName(*getOpCode(op)) << " runs before its source "
             << describeOp(def);
    if (Operation *loop = it->second; loop && !isOpen.lookup(loop))
      return emitError(op->getLoc())
             << getName(*getOpCode(op)) << " is outside loop "
             << cast<RangeOp>(loop).getIdx() << ", where its source "
             << describeOp(def) << " is";
  }
  return success();
}

LogicalResult Replay::open(RangeOp range) {
  int64_t idx = range.getIdx();
  if (!byIdx.try_emplace(idx, range).second)
    return emitError(range.getLoc()) << "loop " << idx << " opens twice";
  if (!stack.empty() && stack.back().getIdx() > idx)
    return emitError(range.getLoc())
           << "loop " << idx << " opens inside loop " << stack.back().getIdx()
           << ": loops nest in increasing idx";
  stack.push_back(range);
  isOpen[range] = true;
  return success();
}

LogicalResult Replay::close(EndOp end) {
  size_t count = end.getRanges().size();
  llvm::SmallVector<int64_t> wanted;
  bool innermost = count <= stack.size();
  for (Value source : end.getRanges()) {
    auto range = source.getDefiningOp<RangeOp>();
    wanted.push_back(range.getIdx());
    innermost &= isOpen.lookup(range);
  }
  llvm::sort(wanted);
  // Open loops have increasing idx, so equal lists are equal sets.
  for (size_t i = 0; innermost && i < count; ++i)
    innermost = stack[stack.size() - count + i].getIdx() == wanted[i];
  if (!innermost)
    return emitError(end.getLoc())
           << "END closes loops " << formatIndices(wanted)
           << ", which are not the innermost of the open loops "
           << formatOpen();
  for (; count; --count)
    isOpen[stack.pop_back_val()] = false;
  return success();
}

LogicalResult Replay::run(Block &block) {
  for (Operation &op : block.without_terminator()) {
    if (failed(checkSources(&op)))
      return failure();
    if (auto range = dyn_cast<RangeOp>(op); range && failed(open(range)))
      return failure();
    if (auto end = dyn_cast<EndOp>(op); end && failed(close(end)))
      return failure();
    ranIn[&op] = stack.empty() ? nullptr : stack.back().getOperation();
  }
  if (!stack.empty())
    return emitError(stack.back().getLoc())
           << "RANGE without END: loops " << formatOpen()
           << " are never closed";
  return success();
}

/// A STORE or BARRIER deeper than its loops would happen too often: every other
/// op may.
static LogicalResult checkEffectsShallow(ProgramOp program) {
  NumberedGraph graph(program.getRoot());
  FailureOr<LoopTree> tree = LoopTree::build(graph);
  if (failed(tree))
    return failure();
  llvm::DenseMap<Operation *, uint32_t> numbers;
  for (uint32_t number = 0; number < graph.size(); ++number)
    numbers[graph.ops[number]] = number;
  LoopTree::Node current = LoopTree::root;
  for (Operation &op : program.getBodyBlock().without_terminator()) {
    auto it = numbers.find(&op);
    if (it == numbers.end())
      continue;
    LoopTree::Node target = tree->getTarget(it->second);
    switch (graph.codes[it->second]) {
    case OpCode::Range:
      if (target != current)
        return emitError(op.getLoc())
               << "RANGE opens in loops " << tree->formatPath(current)
               << " but nests in " << tree->formatPath(target);
      current = tree->getLoop(it->second);
      break;
    case OpCode::End:
      current = target;
      break;
    case OpCode::Store:
    case OpCode::Barrier:
      if (target != current)
        return emitError(op.getLoc())
               << getName(graph.codes[it->second]) << " runs in loops "
               << tree->formatPath(current) << " but belongs in "
               << tree->formatPath(target);
      break;
    default:
      break;
    }
  }
  return success();
}

LogicalResult uop::verifySchedule(ProgramOp program) {
  if (failed(Replay().run(program.getBodyBlock())))
    return failure();
  return checkEffectsShallow(program);
}
