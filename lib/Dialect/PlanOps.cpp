//===- PlanOps.cpp - plans of kernels -------------------------------------===//
//
// The verifiers of a plan: what is launched exists and gets the memory it
// takes.
//
//===----------------------------------------------------------------------===//

#include "Uop/Dialect/Plan.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace uop;

#define GET_OP_CLASSES
#include "Uop/Dialect/UopPlanOps.cpp.inc"

int64_t uop::getByteSize(MemType type) {
  return *getNumElements(type.getShape()) * getByteWidth(getDType(type));
}

void PlanOp::build(OpBuilder &builder, OperationState &state,
                   llvm::StringRef name, int64_t arenaSize) {
  auto &properties = state.getOrAddProperties<Properties>();
  properties.sym_name = builder.getStringAttr(name);
  properties.arenaSize = arenaSize;
  state.addRegion()->emplaceBlock();
}

/// Inputs, outputs and temps are known by their numbers.
LogicalResult PlanOp::verifyRegions() {
  llvm::DenseSet<std::pair<int64_t, int64_t>> seen;
  int64_t outputs = 0;
  if (getArenaSize() < 0)
    return emitError() << "the size of the arena must not be negative, got "
                       << getArenaSize();
  for (Operation &op : getBodyBlock()) {
    std::pair<int64_t, int64_t> key;
    if (auto input = dyn_cast<InputOp>(op)) {
      key = {0, input.getSlot()};
    } else if (auto output = dyn_cast<OutputOp>(op)) {
      key = {1, output.getNumber()};
      if (output.getNumber() != outputs++)
        return op.emitError() << "outputs are numbered in order: this one is "
                              << outputs - 1 << ", not " << output.getNumber();
    } else if (auto temp = dyn_cast<TempOp>(op)) {
      key = {2, temp.getNumber()};
      int64_t bytes = getByteSize(temp.getType());
      if (temp.getOffset() > getArenaSize() - bytes)
        return op.emitError() << "temp " << temp.getNumber() << " ends at byte "
                              << static_cast<uint64_t>(temp.getOffset()) + bytes
                              << " of an arena of " << getArenaSize();
    } else if (isa<SliceOp, LaunchOp>(op)) {
      continue;
    } else {
      return op.emitError() << "a plan holds memory and launches, not '"
                            << op.getName() << "'";
    }
    if (!seen.insert(key).second)
      return op.emitError() << op.getName().stripDialect() << " " << key.second
                            << " stands in the plan twice";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static LogicalResult verifyMemory(Operation *op, MemType type, int64_t number) {
  if (number < 0)
    return op->emitError() << "the number must not be negative, got " << number;
  if (type.getSpace() != AddrSpace::Global)
    return op->emitError() << "a plan's memory is global";
  std::optional<int64_t> count = getNumElements(type.getShape());
  if (!count || *count > maxMemoryElements)
    return op->emitError() << "memory holds at most " << maxMemoryElements
                           << " elements";
  return success();
}

static std::string nameOf(llvm::StringRef prefix, int64_t number) {
  return (prefix + llvm::Twine(number)).str();
}

LogicalResult InputOp::verify() {
  return verifyMemory(*this, getType(), getSlot());
}

void InputOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), nameOf("in", getSlot()));
}

LogicalResult OutputOp::verify() {
  return verifyMemory(*this, getType(), getNumber());
}

void OutputOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), nameOf("out", getNumber()));
}

LogicalResult TempOp::verify() {
  if (getOffset() < 0)
    return emitError() << "the offset must not be negative, got "
                       << getOffset();
  if (getOffset() % std::max(1u, getByteWidth(getDType(getType()))))
    return emitError() << "offset " << getOffset() << " is not aligned to "
                       << ::uop::getName(getDType(getType()));
  return verifyMemory(*this, getType(), getNumber());
}

void TempOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), nameOf("tmp", getNumber()));
}

LogicalResult SliceOp::verify() {
  MemType source = getSource().getType();
  if (failed(verifyMemory(*this, getType(), getBegin())))
    return failure();
  if (getDType(source) != getDType(getType()))
    return emitError() << "a slice of " << ::uop::getName(getDType(source))
                       << " is not " << ::uop::getName(getDType(getType()));
  int64_t count = *getNumElements(getType().getShape());
  if (getBegin() > *getNumElements(source.getShape()) - count)
    return emitError() << "elements " << getBegin() << " to "
                       << static_cast<uint64_t>(getBegin()) + count
                       << " are not all in " << formatShape(source.getShape());
  return success();
}

//===----------------------------------------------------------------------===//
// LaunchOp
//===----------------------------------------------------------------------===//

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto kernel = symbolTable.lookupNearestSymbolFrom<ProgramOp>(getOperation(),
                                                               getKernelAttr());
  if (!kernel)
    return emitError() << "there is no program " << getKernelAttr()
                       << " to launch";
  int64_t count = getMemory().size(), wanted = 0;
  for (auto buffer : kernel.getBodyBlock().getOps<BufferOp>()) {
    int64_t slot = buffer.getSlot();
    wanted = std::max(wanted, slot + 1);
    if (slot >= count)
      continue;
    auto have = cast<MemType>(getMemory()[slot].getType());
    auto want = cast<MemType>(buffer.getResult().getType());
    if (getDType(have) != getDType(want) ||
        getNumElements(have.getShape()) != getNumElements(want.getShape()))
      return emitError() << getKernelAttr() << " argument " << slot << " is "
                         << ::uop::getName(getDType(have))
                         << formatShape(have.getShape())
                         << ", the kernel takes "
                         << ::uop::getName(getDType(want))
                         << formatShape(want.getShape());
  }
  if (wanted > count)
    return emitError() << getKernelAttr() << " takes " << wanted
                       << " buffers, got " << count;
  return success();
}
