//===- EvaluatePlan.cpp - the interpreter of plans ------------------------===//
//
// Memory as bytes, and each launch through the interpreter of schedules.
//
//===----------------------------------------------------------------------===//

#include "Uop/Transforms/EvaluatePlan.h"
#include "Uop/Transforms/Linearize.h"
#include "Uop/Transforms/Rangeify.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TimeProfiler.h"

using namespace mlir;
using namespace uop;

namespace {

/// A kernel as a schedule, and the slots that it stores to.
struct Schedule {
  OwningOpRef<ProgramOp> program;
  std::vector<Operation *> ops;
  llvm::DenseSet<int64_t> written;
};

class Evaluator {
public:
  Evaluator(PlanOp plan, ArrayMap &inputs) : plan(plan), inputs(inputs) {}
  FailureOr<std::vector<Array>> run();

private:
  LogicalResult addBlock(Operation *op, uint64_t size);
  LogicalResult addMemory(Operation &op);
  LogicalResult launch(LaunchOp op);
  FailureOr<Schedule *> getSchedule(LaunchOp op);
  Array read(Value memory);
  void write(Value memory, const Array &array);

  /// The bytes that a value of the plan names.
  llvm::MutableArrayRef<uint8_t> getBytes(Value value) {
    return memory.lookup(value);
  }
  static llvm::MutableArrayRef<uint8_t>
  getBytes(llvm::WritableMemoryBuffer &block) {
    return {reinterpret_cast<uint8_t *>(block.getBufferStart()),
            block.getBufferSize()};
  }

  PlanOp plan;
  ArrayMap &inputs;
  /// The arena, then inputs and outputs.
  std::vector<std::unique_ptr<llvm::WritableMemoryBuffer>> blocks;
  llvm::DenseMap<Value, llvm::MutableArrayRef<uint8_t>> memory;
  llvm::DenseMap<Operation *, Schedule> schedules;
};

Array Evaluator::read(Value value) {
  auto type = cast<MemType>(value.getType());
  Array array{getDType(type), {*getNumElements(type.getShape())}, {}};
  const uint8_t *byte = getBytes(value).data();
  unsigned width = getByteWidth(array.dtype);
  array.data.resize(array.shape[0]);
  for (Word &word : array.data) {
    std::memcpy(&word, byte, width);
    byte += width;
    if (array.dtype == DType::F16)
      word = fromFloat(fromHalfBits(word));
  }
  return array;
}

void Evaluator::write(Value value, const Array &array) {
  uint8_t *byte = getBytes(value).data();
  unsigned width = getByteWidth(array.dtype);
  for (Word word : array.data) {
    if (array.dtype == DType::F16)
      word = toHalfBits(toFloat(word));
    std::memcpy(byte, &word, width);
    byte += width;
  }
}

/// Memory that nothing was stored to yet.
LogicalResult Evaluator::addBlock(Operation *op, uint64_t size) {
  blocks.push_back(llvm::WritableMemoryBuffer::getNewUninitMemBuffer(size));
  if (!blocks.back())
    return op->emitError() << "out of memory: can't allocate " << size
                           << " bytes";
  std::memset(blocks.back()->getBufferStart(), 0xCD, size);
  return success();
}

LogicalResult Evaluator::addMemory(Operation &op) {
  Value value = op.getResult(0);
  auto type = cast<MemType>(value.getType());
  if (auto slice = dyn_cast<SliceOp>(op)) {
    memory[value] = getBytes(slice.getSource())
                        .slice(slice.getBegin() * getByteWidth(getDType(type)),
                               getByteSize(type));
    return success();
  }
  if (auto temp = dyn_cast<TempOp>(op)) {
    memory[value] =
        getBytes(*blocks[0]).slice(temp.getOffset(), getByteSize(type));
    return success();
  }
  if (failed(addBlock(&op, getByteSize(type))))
    return failure();
  memory[value] = getBytes(*blocks.back());
  auto input = dyn_cast<InputOp>(op);
  if (!input)
    return success();
  auto array = inputs.find(input.getSlot());
  if (array == inputs.end() || array->second.dtype != getDType(type) ||
      static_cast<int64_t>(array->second.data.size()) !=
          *getNumElements(type.getShape()))
    return op.emitError() << "input " << input.getSlot()
                          << " has no contents of its dtype and size";
  write(value, array->second);
  return success();
}

FailureOr<Schedule *> Evaluator::getSchedule(LaunchOp op) {
  auto kernel =
      SymbolTable::lookupNearestSymbolFrom<ProgramOp>(op, op.getKernelAttr());
  auto [it, isNew] = schedules.try_emplace(kernel);
  Schedule &schedule = it->second;
  if (!isNew)
    return &schedule;
  schedule.program = cast<ProgramOp>(kernel->clone());
  if (failed(rangeify(*schedule.program)) ||
      failed(linearize(*schedule.program)))
    return failure();
  for (Operation &step :
       schedule.program->getBodyBlock().without_terminator()) {
    schedule.ops.push_back(&step);
    auto store = dyn_cast<StoreOp>(step);
    if (!store)
      continue;
    Operation *base = store.getPointer().getDefiningOp();
    while (base->getNumOperands() != 0)
      base = base->getOperand(0).getDefiningOp();
    if (auto buffer = dyn_cast<BufferOp>(base))
      schedule.written.insert(buffer.getSlot());
  }
  return &schedule;
}

LogicalResult Evaluator::launch(LaunchOp op) {
  FailureOr<Schedule *> schedule = getSchedule(op);
  if (failed(schedule))
    return failure();
  llvm::TimeTraceScope scope("launch", op.getKernel());
  ArrayMap arrays;
  for (auto [slot, argument] : llvm::enumerate(op.getMemory())) {
    arrays[slot] = read(argument);
    llvm::ArrayRef<uint8_t> bytes = getBytes(argument);
    for (auto [other, before] :
         llvm::enumerate(op.getMemory().take_front(slot))) {
      llvm::ArrayRef<uint8_t> others = getBytes(before);
      if (bytes.begin() < others.end() && others.begin() < bytes.end() &&
          ((*schedule)->written.contains(slot) ||
           (*schedule)->written.contains(other)))
        return op.emitError() << "arguments " << other << " and " << slot
                              << " overlap, and one of them is stored to";
    }
  }
  if (failed(evaluateLinear((*schedule)->ops, arrays)))
    return failure();
  for (auto [slot, argument] : llvm::enumerate(op.getMemory()))
    if ((*schedule)->written.contains(slot))
      write(argument, arrays[slot]);
  return success();
}

FailureOr<std::vector<Array>> Evaluator::run() {
  if (failed(addBlock(plan, plan.getArenaSize())))
    return failure();
  for (Operation &op : plan.getBodyBlock())
    if (failed(isa<LaunchOp>(op) ? launch(cast<LaunchOp>(op)) : addMemory(op)))
      return failure();
  std::vector<Array> outputs;
  for (Operation &op : plan.getBodyBlock())
    if (auto output = dyn_cast<OutputOp>(op)) {
      outputs.push_back(read(output.getResult()));
      outputs.back().shape.assign(output.getType().getShape().begin(),
                                  output.getType().getShape().end());
    } else if (auto input = dyn_cast<InputOp>(op)) {
      Array &array = inputs[input.getSlot()];
      array.data = read(input.getResult()).data;
    }
  return outputs;
}

} // namespace

FailureOr<std::vector<Array>> uop::evaluatePlan(PlanOp plan, ArrayMap &inputs) {
  return Evaluator(plan, inputs).run();
}
