//===- LinearInterpreter.cpp - running a scheduled program ----------------===//
//
// Translates a schedule to a flat list of small instructions over numbered
// registers, then runs them. Loops are jumps, an address is an array and the
// register of its offset.
//
//===----------------------------------------------------------------------===//

#include "Uop/Graph/Interpreter.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace uop;

namespace {

constexpr int64_t maxElements = int64_t(1) << 28;

/// What an instruction does with registers d, a, b, c; `array` is a memory.
enum class Do : uint8_t {
  Alu,       // d = code(a, b, c)
  AddI32,    // d = a + b
  MulI32,    // d = a * b
  AddF32,    // d = a + b
  MulF32,    // d = a * b
  Where,     // d = a ? b : c
  Read,      // d = array[a]
  GatedRead, // d = b ? array[a] : c
  Write,     // array[a] = b
  Fresh,     // array's contents are undefined
  Enter,     // d = 0; go to target unless 0 < a
  Leave,     // go to target if ++d < a
};

struct Instruction {
  Do what;
  OpCode code = OpCode::Const;
  DType source = DType::Void, result = DType::Void;
  uint32_t d = 0, a = 0, b = 0, c = 0;
  uint32_t array = 0;
  uint32_t target = 0;
};

struct Memory {
  Word *data;
  int64_t size;
  DType dtype;
  int64_t slot;
  bool isBuffer;
};

/// Where a value is: in a register, or in memory at the offset in a register.
/// `array` is -1 for the former; an address without an offset is whole memory.
struct Place {
  static constexpr uint32_t none = ~0u;
  uint32_t reg = none;
  uint32_t array = none;
};

/// Contents that no program should read: a NaN, an unlikely integer, true.
Word getUndefined(DType dtype) {
  if (dtype == DType::Bool)
    return 1;
  return dtype == DType::I32 ? 0xDEADBEEF : 0x7FC00000;
}

class Machine {
public:
  explicit Machine(ArrayMap &buffers) : buffers(buffers) {}

  LogicalResult translate(llvm::ArrayRef<Operation *> schedule);
  LogicalResult run();

private:
  InFlightDiagnostic error(Operation *op) {
    auto diagnostic = emitError(op->getLoc());
    diagnostic << getName(*getOpCode(op)) << ' ';
    return diagnostic;
  }
  LogicalResult translate(Operation *op, OpCode code);
  LogicalResult translateMemory(Operation *op, OpCode code);
  LogicalResult translateIndex(Operation *op);
  LogicalResult translateAccess(Operation *op, OpCode code);
  LogicalResult translateAlu(Operation *op, OpCode code);
  LogicalResult translateRange(RangeOp op);
  LogicalResult translateEnd(EndOp op);
  /// The place of a source; fails if the schedule doesn't have it yet.
  FailureOr<Place> locate(Operation *op, unsigned source);
  /// The register of a source, read from memory first if it is there.
  FailureOr<uint32_t> read(Operation *op, unsigned source);
  /// The address of a source.
  FailureOr<Place> locateElement(Operation *op, unsigned source);

  uint32_t newRegister(Word initial = 0) {
    registers.push_back(initial);
    return registers.size() - 1;
  }
  void emit(Operation *op, const Instruction &instruction) {
    program.push_back(instruction);
    origins.push_back(op);
  }
  LogicalResult reportOutside(const Instruction &at);

  ArrayMap &buffers;
  std::vector<Instruction> program;
  std::vector<Operation *> origins; // of each instruction, for errors
  std::vector<Word> registers;
  std::vector<Memory> memories;
  std::vector<std::vector<Word>> scratch; // behind ALLOCs
  int64_t scratchSize = 0;
  llvm::DenseMap<Value, Place> places;
  struct Loop {
    RangeOp range;
    uint32_t enter, end; // instruction, register
  };
  std::vector<Loop> loops; // open ones, outermost first
};

FailureOr<Place> Machine::locate(Operation *op, unsigned source) {
  auto it = places.find(op->getOperand(source));
  if (it == places.end())
    return error(op) << "uses source " << source
                     << " before the schedule computes it";
  return it->second;
}

FailureOr<Place> Machine::locateElement(Operation *op, unsigned source) {
  FailureOr<Place> place = locate(op, source);
  if (succeeded(place) && place->reg == Place::none)
    return error(op) << "needs one element, source " << source
                     << " is not one (INDEX it)";
  return place;
}

FailureOr<uint32_t> Machine::read(Operation *op, unsigned source) {
  FailureOr<Place> place = locateElement(op, source);
  if (failed(place))
    return failure();
  if (place->array == Place::none)
    return place->reg;
  Instruction instruction{Do::Read};
  instruction.d = newRegister();
  instruction.a = place->reg;
  instruction.array = place->array;
  emit(op, instruction);
  return instruction.d;
}

LogicalResult Machine::translateMemory(Operation *op, OpCode code) {
  Type type = op->getResult(0).getType();
  Memory memory{nullptr, getShape(type)[0], getDType(type), 0,
                code == OpCode::Buffer};
  if (auto buffer = dyn_cast<BufferOp>(op)) {
    memory.slot = buffer.getSlot();
    auto it = buffers.find(memory.slot);
    if (it == buffers.end())
      return error(op) << memory.slot << " is missing";
    Array &array = it->second;
    int64_t size = array.data.size();
    if (array.dtype != memory.dtype || size != memory.size)
      return error(op) << memory.slot << " is " << getName(memory.dtype)
                       << formatShape({memory.size}) << ", got "
                       << getName(array.dtype) << formatShape({size});
    memory.data = array.data.data();
  } else {
    memory.slot = cast<AllocOp>(op).getSlot();
    scratchSize += memory.size;
    if (memory.size > maxElements || scratchSize > maxElements)
      return error(op) << memory.slot << " of " << memory.size
                       << " elements: too many to evaluate";
    scratch.emplace_back(memory.size);
    memory.data = scratch.back().data();
    Instruction fresh{Do::Fresh};
    fresh.array = memories.size();
    emit(op, fresh);
  }
  places[op->getResult(0)] = {Place::none, uint32_t(memories.size())};
  memories.push_back(memory);
  return success();
}

LogicalResult Machine::translateIndex(Operation *op) {
  FailureOr<Place> base = locate(op, 0);
  if (failed(base))
    return failure();
  if (op->getNumOperands() > 1) {
    // Memory is flat, so what can be indexed takes one index.
    FailureOr<uint32_t> offset = read(op, 1);
    if (failed(offset))
      return failure();
    base->reg = *offset;
  }
  places[op->getResult(0)] = *base;
  return success();
}

LogicalResult Machine::translateAccess(Operation *op, OpCode code) {
  FailureOr<Place> pointer = locateElement(op, 0);
  if (failed(pointer))
    return failure();
  Instruction instruction{code == OpCode::Store ? Do::Write : Do::Read};
  instruction.a = pointer->reg;
  instruction.array = pointer->array;
  if (op->getNumOperands() > 1) {
    FailureOr<uint32_t> second = read(op, 1);
    if (failed(second))
      return failure();
    instruction.b = *second;
  }
  if (op->getNumOperands() > 2) {
    FailureOr<uint32_t> third = read(op, 2);
    if (failed(third))
      return failure();
    instruction.what = Do::GatedRead;
    instruction.c = *third;
  }
  if (code == OpCode::Load) {
    instruction.d = newRegister();
    places[op->getResult(0)] = {instruction.d, Place::none};
  }
  emit(op, instruction);
  return success();
}

LogicalResult Machine::translateAlu(Operation *op, OpCode code) {
  uint32_t sources[3] = {};
  for (unsigned i = 0, e = op->getNumOperands(); i < e; ++i) {
    FailureOr<uint32_t> source = read(op, i);
    if (failed(source))
      return failure();
    sources[i] = *source;
  }
  Instruction instruction{Do::Alu, code};
  instruction.source =
      getDType(op->getOperand(code == OpCode::Where ? 1 : 0).getType());
  instruction.result = getDType(op->getResult(0).getType());
  instruction.a = sources[0];
  instruction.b = sources[1];
  instruction.c = sources[2];
  instruction.d = newRegister();
  if (code == OpCode::Where)
    instruction.what = Do::Where;
  else if (instruction.source == DType::I32 && code == OpCode::Add)
    instruction.what = Do::AddI32;
  else if (instruction.source == DType::I32 && code == OpCode::Mul)
    instruction.what = Do::MulI32;
  else if (instruction.source == DType::F32 && code == OpCode::Add)
    instruction.what = Do::AddF32;
  else if (instruction.source == DType::F32 && code == OpCode::Mul)
    instruction.what = Do::MulF32;
  places[op->getResult(0)] = {instruction.d, Place::none};
  emit(op, instruction);
  return success();
}

LogicalResult Machine::translateRange(RangeOp op) {
  FailureOr<uint32_t> end = read(op, 0);
  if (failed(end))
    return failure();
  Instruction enter{Do::Enter};
  enter.d = newRegister();
  enter.a = *end;
  places[op.getResult()] = {enter.d, Place::none};
  loops.push_back({op, uint32_t(program.size()), *end});
  emit(op, enter);
  return success();
}

LogicalResult Machine::translateEnd(EndOp op) {
  for (unsigned left = op.getRanges().size(); left > 0; --left) {
    if (loops.empty() ||
        !llvm::is_contained(op.getRanges(), loops.back().range.getResult())) {
      std::string open = loops.empty()
                             ? "no loop is open"
                             : "loop " +
                                   std::to_string(loops.back().range.getIdx()) +
                                   " is open inside";
      return error(op) << "does not nest: " << open;
    }
    Loop loop = loops.back();
    loops.pop_back();
    Instruction leave{Do::Leave};
    leave.d = program[loop.enter].d;
    leave.a = loop.end;
    leave.target = loop.enter + 1;
    emit(op, leave);
    program[loop.enter].target = program.size();
  }
  return success();
}

LogicalResult Machine::translate(Operation *op, OpCode code) {
  Type type = op->getResult(0).getType();
  if (!isMemory(type) && !getShape(type).empty())
    return error(op) << "of shape " << formatShape(getShape(type))
                     << " in a linear program (rangeify it)";
  if (isAlu(code))
    return translateAlu(op, code);
  switch (code) {
  case OpCode::Const:
    places[op->getResult(0)] = {
        newRegister(getWord(cast<ConstOp>(op).getValue())), Place::none};
    return success();
  case OpCode::Buffer:
  case OpCode::Alloc:
    return translateMemory(op, code);
  case OpCode::Index:
    return translateIndex(op);
  case OpCode::Load:
  case OpCode::Store:
    return translateAccess(op, code);
  case OpCode::After: {
    FailureOr<Place> place = locate(op, 0);
    if (failed(place))
      return failure();
    places[op->getResult(0)] = *place;
    return success();
  }
  case OpCode::Range:
    return translateRange(cast<RangeOp>(op));
  case OpCode::End:
    return translateEnd(cast<EndOp>(op));
  case OpCode::Sink:
    return success();
  case OpCode::Param:
    return error(op) << cast<ParamOp>(op).getSlot()
                     << " has no value in a linear program";
  default:
    return error(op) << "has no meaning in a linear program";
  }
}

LogicalResult Machine::translate(llvm::ArrayRef<Operation *> schedule) {
  for (Operation *op : schedule) {
    std::optional<OpCode> code = getOpCode(op);
    if (!code)
      return emitError(op->getLoc()) << op->getName() << " is no UOp";
    if (failed(translate(op, *code)))
      return failure();
  }
  if (!loops.empty())
    return error(loops.back().range)
           << loops.back().range.getIdx() << " is never closed";
  return success();
}

LogicalResult Machine::reportOutside(const Instruction &at) {
  const Memory &memory = memories[at.array];
  return error(origins[&at - program.data()])
         << (at.what == Do::Write ? "writes " : "reads ")
         << (memory.isBuffer ? "BUFFER " : "ALLOC ") << memory.slot
         << " out of bounds: index " << static_cast<int32_t>(registers[at.a])
         << " of " << memory.size << " elements";
}

LogicalResult Machine::run() {
  Word *r = registers.data();
  const Instruction *begin = program.data();
  const Instruction *end = begin + program.size();
  auto isInside = [&](const Instruction *at) {
    // A negative index is huge as an unsigned number, and sizes are below 2^31.
    return r[at->a] < static_cast<uint64_t>(memories[at->array].size);
  };
  for (const Instruction *at = begin; at != end; ++at) {
    switch (at->what) {
    case Do::Alu:
      r[at->d] = evalAlu(at->code, at->source, at->result, r[at->a], r[at->b],
                         r[at->c]);
      break;
    case Do::AddI32:
      r[at->d] = r[at->a] + r[at->b];
      break;
    case Do::MulI32:
      r[at->d] = r[at->a] * r[at->b];
      break;
    case Do::AddF32:
      r[at->d] = fromFloat(toFloat(r[at->a]) + toFloat(r[at->b]));
      break;
    case Do::MulF32:
      r[at->d] = fromFloat(toFloat(r[at->a]) * toFloat(r[at->b]));
      break;
    case Do::Where:
      r[at->d] = r[at->a] ? r[at->b] : r[at->c];
      break;
    case Do::GatedRead:
      if (!r[at->b]) {
        r[at->d] = r[at->c];
        break;
      }
      [[fallthrough]];
    case Do::Read:
      if (!isInside(at))
        return reportOutside(*at);
      r[at->d] = memories[at->array].data[r[at->a]];
      break;
    case Do::Write:
      if (!isInside(at))
        return reportOutside(*at);
      memories[at->array].data[r[at->a]] = r[at->b];
      break;
    case Do::Fresh: {
      const Memory &memory = memories[at->array];
      std::fill_n(memory.data, memory.size, getUndefined(memory.dtype));
      break;
    }
    case Do::Enter:
      r[at->d] = 0;
      if (static_cast<int32_t>(r[at->a]) <= 0)
        at = begin + at->target - 1;
      break;
    case Do::Leave:
      if (static_cast<int32_t>(++r[at->d]) < static_cast<int32_t>(r[at->a]))
        at = begin + at->target - 1;
      break;
    }
  }
  return success();
}

} // namespace

LogicalResult uop::evaluateLinear(llvm::ArrayRef<Operation *> schedule,
                                  ArrayMap &buffers) {
  Machine machine(buffers);
  if (failed(machine.translate(schedule)))
    return failure();
  return machine.run();
}
