//===- Results.cpp - what programs of shapes compute ----------------------===//
//
// One look at every op, and flat lists out of nested SINKs.
//
//===----------------------------------------------------------------------===//

#include "Uop/Graph/Results.h"
#include "Uop/Graph/Walk.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace uop;

/// Whether no program of loops holds `op`.
static bool isOnlyOfShapes(Operation *op) {
  std::optional<OpCode> code = getOpCode(op);
  if (!code)
    return false;
  if (isa<RankedTensorType>(op->getResult(0).getType()) || isMovement(*code) ||
      *code == OpCode::Reduce || *code == OpCode::Stage)
    return true;
  if (auto store = dyn_cast<StoreOp>(op))
    return !getShape(store.getPointer().getType()).empty();
  return *code == OpCode::Sink &&
         llvm::any_of(op->getOperandTypes(),
                      [](Type type) { return !isa<VoidType>(type); });
}

bool uop::isShaped(ProgramOp program) {
  Value root = program.getRoot();
  if (!isa<VoidType>(root.getType()))
    return true;
  auto isMark = [](Operation &op) { return isOnlyOfShapes(&op); };
  if (llvm::none_of(program.getBodyBlock().without_terminator(), isMark))
    return false;
  // What the root does not reach says nothing.
  return llvm::any_of(toposort(root), isOnlyOfShapes);
}

FailureOr<llvm::SmallVector<Value>> uop::getResults(Value root) {
  llvm::SmallVector<Value> results, stack{root};
  llvm::DenseSet<Value> effects;
  while (!stack.empty()) {
    Value value = stack.pop_back_val();
    bool isEffect = isa<VoidType>(value.getType());
    if (isEffect && !effects.insert(value).second)
      continue;
    Operation *op = value.getDefiningOp();
    if (isa_and_nonnull<SinkOp>(op)) {
      llvm::append_range(stack, llvm::reverse(op->getOperands()));
      continue;
    }
    if (isEffect && !isa_and_nonnull<StoreOp>(op))
      return emitError(value.getLoc())
             << (op ? getName(*getOpCode(op)) : llvm::StringRef("this"))
             << " is no result of a program of shapes: those are values and "
                "STOREs";
    results.push_back(value);
  }
  return results;
}

BufferOp uop::getStoredBuffer(StoreOp store) {
  Operation *op = store.getPointer().getDefiningOp();
  while (isa_and_nonnull<ReshapeOp, PermuteOp, ShrinkOp, IndexOp, AfterOp>(op))
    op = op->getOperand(0).getDefiningOp();
  auto buffer = dyn_cast_or_null<BufferOp>(op);
  if (!buffer) {
    InFlightDiagnostic error = emitError(store.getLoc()) << "STORE into ";
    if (isa_and_nonnull<ExpandOp>(op))
      error << "an EXPAND: one element would be stored to more than once";
    else
      error << (op ? getName(*getOpCode(op)) : llvm::StringRef("nothing"))
            << ": a program of shapes stores to BUFFERs";
  }
  return buffer;
}
