//===- UniquingBuilder.cpp - building hash consed graphs ------------------===//
//
// A table of the block's nodes, keyed by structure and looked up before creation.
//
//===----------------------------------------------------------------------===//

#include "Uop/Graph/UniquingBuilder.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace uop;

namespace {

uint64_t mix(uint64_t h, uint64_t v) {
  // A multiplication carries upwards only, the shift brings it down again.
  h = (h ^ v) * 0x9e3779b97f4a7c15ull;
  return h ^ (h >> 32);
}

uint64_t mix(uint64_t h, const void *p) {
  return mix(h, static_cast<uint64_t>(reinterpret_cast<uintptr_t>(p)));
}

uint64_t hashNode(OpCode code, llvm::ArrayRef<Value> sources, const Arg &arg) {
  uint64_t h = mix(static_cast<uint64_t>(code) + 1, sources.size());
  for (Value source : sources)
    h = mix(h, source.getAsOpaquePointer());
  if (isAlu(code) && code != OpCode::Cast)
    return h; // has no arg
  h = mix(h, arg.attr.getAsOpaquePointer());
  h = mix(h, arg.type.getAsOpaquePointer());
  return mix(h, static_cast<uint64_t>(arg.number) * 8 +
                    static_cast<uint64_t>(arg.kind));
}

/// Sources in a row: a ValueRange finds out what it holds at every element.
class Row {
public:
  explicit Row(ValueRange range) {
    if (auto *first = dyn_cast_if_present<const Value *>(range.getBase())) {
      values = {first, range.size()};
    } else {
      copy.assign(range.begin(), range.end());
      values = copy;
    }
  }
  explicit Row(Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      copy.push_back(operand.get());
    values = copy;
  }
  Row(const Row &) = delete;
  operator llvm::ArrayRef<Value>() const { return values; }

private:
  llvm::SmallVector<Value, 4> copy;
  llvm::ArrayRef<Value> values;
};

/// `arg` as getArg gives it for an existing op: one NaN per dtype.
Arg makeUnique(OpCode code, const Arg &arg) {
  Arg result = arg;
  if (code == OpCode::Const)
    if (auto constant = dyn_cast_or_null<FloatAttr>(arg.attr))
      result.attr = getUniqueConstant(constant);
  return result;
}

/// Creates op ConcreteOp with these native properties.
template <typename ConcreteOp>
Operation *createOp(Location loc, OperationName name, Type type,
                    ValueRange sources,
                    const typename ConcreteOp::Properties &properties) {
  auto *storage = const_cast<typename ConcreteOp::Properties *>(&properties);
  return Operation::create(loc, name, type, sources,
                           DictionaryAttr::get(loc.getContext()),
                           OpaqueProperties(storage), BlockRange(),
                           /*numRegions=*/0);
}

template <typename ConcreteOp, typename AttrT>
Operation *createWithAttr(Location loc, OperationName name, Type type,
                          ValueRange sources,
                          AttrT ConcreteOp::Properties::*member,
                          Attribute attr) {
  typename ConcreteOp::Properties properties;
  properties.*member = llvm::cast<AttrT>(attr);
  return createOp<ConcreteOp>(loc, name, type, sources, properties);
}

Operation *createNode(OperationName name, Location loc, OpCode code, Type type,
                      ValueRange sources, const Arg &arg) {
  switch (code) {
  case OpCode::Const:
    return createWithAttr<ConstOp>(loc, name, type, sources,
                                   &ConstOp::Properties::value, arg.attr);
  case OpCode::Call:
    return createWithAttr<CallOp>(loc, name, type, sources,
                                  &CallOp::Properties::name, arg.attr);
  case OpCode::Reshape:
    return createWithAttr<ReshapeOp>(loc, name, type, sources,
                                     &ReshapeOp::Properties::shape, arg.attr);
  case OpCode::Expand:
    return createWithAttr<ExpandOp>(loc, name, type, sources,
                                    &ExpandOp::Properties::shape, arg.attr);
  case OpCode::Permute:
    return createWithAttr<PermuteOp>(loc, name, type, sources,
                                     &PermuteOp::Properties::permutation,
                                     arg.attr);
  case OpCode::Shrink:
    return createWithAttr<ShrinkOp>(loc, name, type, sources,
                                    &ShrinkOp::Properties::bounds, arg.attr);
  case OpCode::Reduce: {
    ReduceOp::Properties properties;
    properties.kind = llvm::cast<ReduceKindAttr>(arg.attr);
    properties.pop = arg.number;
    return createOp<ReduceOp>(loc, name, type, sources, properties);
  }
  case OpCode::Param:
    return createOp<ParamOp>(loc, name, type, sources, {arg.number});
  case OpCode::Buffer:
    return createOp<BufferOp>(loc, name, type, sources, {arg.number});
  case OpCode::Alloc:
    return createOp<AllocOp>(loc, name, type, sources, {arg.number});
  case OpCode::Range:
    return createOp<RangeOp>(loc, name, type, sources, {arg.number, arg.kind});
  case OpCode::Stage: {
    StageOp::Properties properties;
    properties.detach = arg.number != 0;
    return createOp<StageOp>(loc, name, type, sources, properties);
  }
  default:
    return Operation::create(loc, name, type, sources,
                             DictionaryAttr::get(loc.getContext()),
                             OpaqueProperties(nullptr), BlockRange(),
                             /*numRegions=*/0);
  }
}

} // namespace

UniquingBuilder::UniquingBuilder(Block *block)
    : context(block->getParent()->getContext()),
      dialect(context->getOrLoadDialect<UopDialect>()), block(block),
      insertionPoint(block->mightHaveTerminator() ? std::prev(block->end())
                                                  : block->end()),
      loc(UnknownLoc::get(context)), table(64) {
  for (Operation &op : *block)
    if (::uop::getOpCode(&op))
      adopt(&op);
}

Operation *UniquingBuilder::find(uint64_t hash, OpCode code,
                                 llvm::ArrayRef<Value> sources,
                                 const Arg &arg) const {
  size_t mask = table.size() - 1;
  for (size_t i = hash & mask; table[i].op; i = (i + 1) & mask) {
    if (table[i].hash != hash)
      continue;
    Operation *op = table[i].op;
    if (op->getName() == dialect->getOpName(code) &&
        op->getNumOperands() == sources.size() &&
        llvm::equal(op->getOperands(), sources) && getArg(code, op) == arg)
      return op;
  }
  return nullptr;
}

void UniquingBuilder::resizeTable(size_t places) {
  std::vector<Entry> old(places);
  old.swap(table);
  size_t mask = places - 1;
  for (const Entry &entry : old) {
    if (!entry.op)
      continue;
    size_t i = entry.hash & mask;
    while (table[i].op)
      i = (i + 1) & mask;
    table[i] = entry;
  }
}

void UniquingBuilder::reserve(size_t nodes) {
  size_t places = llvm::PowerOf2Ceil(2 * nodes + 2);
  if (places > table.size())
    resizeTable(places);
}

void UniquingBuilder::insert(uint64_t hash, Operation *op) {
  if (++used * 2 > table.size())
    resizeTable(table.size() * 2);
  size_t mask = table.size() - 1;
  size_t i = hash & mask;
  while (table[i].op)
    i = (i + 1) & mask;
  table[i] = {hash, op};
}

Value UniquingBuilder::create(OpCode code, ValueRange sources, const Arg &arg,
                              Type type) {
  Operation *op =
      createNode(dialect->getOpName(code), loc, code, type, sources, arg);
  block->getOperations().insert(insertionPoint, op);
  return op->getResult(0);
}

Value UniquingBuilder::get(OpCode code, ValueRange sources, const Arg &given,
                           ErrorFn error) {
  Row row(sources);
  Arg arg = makeUnique(code, given);
  uint64_t hash = hashNode(code, row, arg);
  if (Operation *op = find(hash, code, row, arg))
    return op->getResult(0);
  Type type = inferType(context, code, sources, arg, error);
  if (!type)
    return {};
  Value value = create(code, sources, arg, type);
  insert(hash, getDefiningOp(value));
  return value;
}

Value UniquingBuilder::get(OpCode code, ValueRange sources, const Arg &arg) {
  return get(code, sources, arg,
             [&](const llvm::Twine &message) { emitError(loc) << message; });
}

Value UniquingBuilder::getFolded(OpCode code, ValueRange sources,
                                 const Arg &arg) {
  bool foldable = code == OpCode::Where || code == OpCode::Cast ||
                  (isAlu(code) && llvm::all_of(sources, [](Value v) {
                     return isa_and_nonnull<ConstOp>(getDefiningOp(v));
                   }));
  if (!foldable)
    return get(code, sources, arg);
  if (Value known = lookup(code, sources, arg))
    return known;
  Value value = get(code, sources, arg);
  if (!value)
    return {};
  Operation *op = getDefiningOp(value);
  llvm::SmallVector<OpFoldResult, 1> folded;
  if (failed(op->fold(folded)) || folded.empty())
    return value;
  Value replacement =
      isa<Attribute>(folded[0])
          ? constant(getDType(value.getType()),
                     getWord(llvm::cast<Attribute>(folded[0])))
          : llvm::cast<Value>(folded[0]);
  forget(op);
  op->erase();
  return replacement;
}

Value UniquingBuilder::rebuild(Operation *op, ValueRange sources) {
  OpCode code = *::uop::getOpCode(op);
  Location saved = loc;
  loc = op->getLoc();
  Value value = get(code, sources, getArg(code, op));
  loc = saved;
  return value;
}

Value UniquingBuilder::lookup(OpCode code, ValueRange sources,
                              const Arg &given) const {
  Row row(sources);
  Arg arg = makeUnique(code, given);
  Operation *op = find(hashNode(code, row, arg), code, row, arg);
  return op ? op->getResult(0) : Value();
}

Value UniquingBuilder::adopt(Operation *op) {
  OpCode code = *::uop::getOpCode(op);
  Arg arg = getArg(code, op);
  Row sources(op);
  uint64_t hash = hashNode(code, sources, arg);
  if (Operation *known = find(hash, code, sources, arg))
    return known->getResult(0);
  insert(hash, op);
  return op->getResult(0);
}

void UniquingBuilder::forget(Operation *op) {
  OpCode code = *::uop::getOpCode(op);
  size_t mask = table.size() - 1;
  Row sources(op);
  size_t i = hashNode(code, sources, getArg(code, op)) & mask;
  for (; table[i].op != op; i = (i + 1) & mask)
    if (!table[i].op)
      return;
  // Close the gap: later entries of the probe sequence move up.
  for (size_t j = (i + 1) & mask; table[j].op; j = (j + 1) & mask) {
    size_t home = table[j].hash & mask;
    if (((j - home) & mask) >= ((j - i) & mask)) {
      table[i] = table[j];
      i = j;
    }
  }
  table[i].op = nullptr;
  --used;
}

//===----------------------------------------------------------------------===//
// Nodes by name
//===----------------------------------------------------------------------===//

Value UniquingBuilder::constant(DType dtype, Word word) {
  TypedAttr value = dtype == DType::I32
                        ? TypedAttr(dialect->getI32Attr(int32_t(word)))
                        : getConstantAttr(context, dtype, word);
  return get(OpCode::Const, {}, {value, {}, 0});
}

Value UniquingBuilder::cast(Value a, DType dtype) {
  if (getDType(a.getType()) == dtype && !isMemory(a.getType()))
    return a;
  return get(OpCode::Cast, a, {{}, getScalarType(context, dtype), 0});
}

Value UniquingBuilder::param(int64_t slot, Type type) {
  return get(OpCode::Param, {}, {{}, type, slot});
}

Value UniquingBuilder::buffer(int64_t slot, DType dtype, int64_t size) {
  return get(OpCode::Buffer, {},
             {{},
              MemType::get(context, size, getScalarType(context, dtype),
                           AddrSpace::Global),
              slot});
}

Value UniquingBuilder::alloc(int64_t slot, DType dtype, int64_t size,
                             AddrSpace space) {
  return get(
      OpCode::Alloc, {},
      {{}, MemType::get(context, size, getScalarType(context, dtype), space),
       slot});
}

Value UniquingBuilder::index(Value source, ValueRange indices) {
  llvm::SmallVector<Value, 4> sources{source};
  llvm::append_range(sources, indices);
  return get(OpCode::Index, sources);
}

Value UniquingBuilder::after(Value source, ValueRange deps) {
  if (deps.empty())
    return source;
  llvm::SmallVector<Value, 4> sources{source};
  llvm::append_range(sources, deps);
  return get(OpCode::After, sources);
}

Value UniquingBuilder::end(Value source, ValueRange ranges) {
  if (ranges.empty())
    return source;
  llvm::SmallVector<Value, 4> sources{source};
  llvm::append_range(sources, ranges);
  return get(OpCode::End, sources);
}

Value UniquingBuilder::range(Value end, int64_t idx, AxisKind kind) {
  return get(OpCode::Range, end, {{}, {}, idx, kind});
}

Value UniquingBuilder::reshape(Value source, llvm::ArrayRef<int64_t> shape) {
  return get(OpCode::Reshape, source,
             {DenseI64ArrayAttr::get(context, shape), {}, 0});
}

Value UniquingBuilder::expand(Value source, llvm::ArrayRef<int64_t> shape) {
  return get(OpCode::Expand, source,
             {DenseI64ArrayAttr::get(context, shape), {}, 0});
}

Value UniquingBuilder::permute(Value source,
                               llvm::ArrayRef<int64_t> permutation) {
  return get(OpCode::Permute, source,
             {DenseI64ArrayAttr::get(context, permutation), {}, 0});
}

Value UniquingBuilder::shrink(Value source, llvm::ArrayRef<int64_t> bounds) {
  return get(OpCode::Shrink, source,
             {DenseI64ArrayAttr::get(context, bounds), {}, 0});
}

Value UniquingBuilder::reduce(Value source, ReduceKind kind, int64_t pop) {
  return get(OpCode::Reduce, source,
             {ReduceKindAttr::get(context, kind), {}, pop});
}

ProgramOp uop::createProgram(OpBuilder &builder, Location loc,
                             llvm::StringRef name) {
  return ProgramOp::create(builder, loc, name);
}

void uop::finishProgram(ProgramOp program, Value root) {
  OpBuilder builder = OpBuilder::atBlockEnd(&program.getBodyBlock());
  YieldOp::create(builder, root.getLoc(), root);
}
