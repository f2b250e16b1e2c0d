//===- RandomProgram.cpp - random well-typed shaped programs --------------===//
//
// Where the sources of a step come from: values of the pool brought to the
// shape and dtype that the op asks for, or new buffers and constants.
//
//===----------------------------------------------------------------------===//

#include "Generator.h"

using namespace mlir;
using namespace uop;
using namespace uop::fuzz;

namespace {

// Small enough for thousands of programs a minute, compiled ones included.
constexpr int64_t maxElements = 128;
constexpr double maxCost = 20000;
constexpr double maxCode = 250;
constexpr size_t maxBuffers = 6;

} // namespace

Maybe Generator::build(OpCode code, llvm::ArrayRef<Node> sources,
                       const Arg &arg, double count) {
  llvm::SmallVector<Value> values;
  llvm::SmallVector<Facts> known;
  for (const Node &source : sources) {
    values.push_back(source.value);
    known.push_back(source.facts);
  }
  Type type = inferType(builder.getContext(), code, values, arg,
                        [](const llvm::Twine &) {});
  if (!type)
    return std::nullopt;
  Facts facts;
  if (isTame()) {
    ReduceKind kind = code == OpCode::Reduce
                          ? cast<ReduceKindAttr>(arg.attr).getValue()
                          : ReduceKind::Add;
    std::optional<Facts> tame =
        propagate(code, sources[code == OpCode::Where].dtype(), getDType(type),
                  kind, count, known);
    if (!tame)
      return std::nullopt;
    facts = *tame;
  }
  facts.cost = facts.code = 1;
  // Of a CALL, the costs of the arguments are in the body.
  for (const Facts &source : llvm::ArrayRef(known).take_front(
           code == OpCode::Call ? 1 : ~size_t(0))) {
    facts.cost += std::max(count, 1.0) * source.cost;
    facts.code += source.code;
  }
  int64_t size = *getNumElements(getShape(type));
  if (size > maxElements || facts.cost * size > maxCost || facts.code > maxCode)
    return std::nullopt;
  Value value = builder.get(code, values, arg);
  return Node{value, facts};
}

Maybe Generator::move(OpCode code, Maybe source,
                      llvm::ArrayRef<int64_t> numbers) {
  if (!source)
    return std::nullopt;
  Arg arg;
  arg.attr = DenseI64ArrayAttr::get(builder.getContext(), numbers);
  return build(code, *source, arg);
}

Maybe Generator::reduce(Maybe source, ReduceKind kind, int64_t pop) {
  if (!source)
    return std::nullopt;
  Arg arg;
  arg.attr = ReduceKindAttr::get(builder.getContext(), kind);
  arg.number = pop;
  double count = 1;
  for (int64_t size : source->shape().take_back(pop))
    count *= size;
  return build(OpCode::Reduce, *source, arg, count);
}

/// Recent values are likelier, so that graphs get deep.
const Node &Generator::pick() {
  int64_t size = pool.size();
  return pool[size - 1 - std::min(random.below(size), random.below(size))];
}

Maybe Generator::pickMemory() {
  for (int i = 0; i < 8; ++i)
    if (const Node &node = pick(); node.isMemory())
      return node;
  return std::nullopt;
}

Node Generator::constant(DType dtype, Word word) {
  Facts facts;
  if (isTame())
    facts.low = facts.high =
        isFloat(dtype) ? toFloat(word) : static_cast<int32_t>(word);
  return {builder.constant(dtype, word), facts};
}

Node Generator::constant(DType dtype) {
  return constant(dtype, isTame() ? random.tameWord(dtype, -4, 4)
                                  : random.wildWord(dtype));
}

Maybe Generator::fill(Maybe scalar, llvm::ArrayRef<int64_t> shape) {
  if (!scalar || shape.empty())
    return scalar;
  return move(OpCode::Expand,
              move(OpCode::Reshape, scalar, Shape(shape.size(), 1)), shape);
}

Maybe Generator::buffer(DType dtype, llvm::ArrayRef<int64_t> shape) {
  int64_t size = *getNumElements(shape);
  Maybe found;
  for (const Node &node : buffers)
    if (node.dtype() == dtype && node.size() == size && random.percent(60))
      found = node;
  if (!found) {
    if (buffers.size() >= maxBuffers)
      return std::nullopt;
    int64_t slot = inputs.empty() ? 0 : inputs.rbegin()->first + 1;
    if (random.percent(10))
      slot += random.below(3);
    Array &array = inputs[slot];
    array.dtype = dtype;
    array.shape = {size};
    Facts facts;
    facts.low = dtype == DType::Bool ? 0 : random.percent(50) ? 1 : -4;
    facts.high = dtype == DType::Bool ? 1 : 4;
    for (int64_t i = 0; i < size; ++i)
      array.data.push_back(isTame()
                               ? random.tameWord(dtype, facts.low, facts.high)
                               : random.wildWord(dtype));
    found = Node{builder.buffer(slot, dtype, size), facts};
    buffers.push_back(*found);
  }
  if (shape == found->shape())
    return found;
  return move(OpCode::Reshape, found, shape);
}

Maybe Generator::leaf(DType dtype, llvm::ArrayRef<int64_t> shape) {
  if (depth > 0 || random.percent(30))
    return fill(constant(dtype), shape);
  Shape narrow(shape);
  if (random.percent(30))
    for (int64_t &size : narrow)
      if (random.percent(50))
        size = 1;
  Maybe result = buffer(dtype, narrow);
  if (!result)
    return fill(constant(dtype), shape);
  return shape == llvm::ArrayRef(narrow) ? result
                                         : move(OpCode::Expand, result, shape);
}

/// A value of this dtype and shape, old or new.
Maybe Generator::match(DType dtype, llvm::ArrayRef<int64_t> shape) {
  bool mayCast = random.percent(30), mayReshape = random.percent(30);
  int64_t size = *getNumElements(shape);
  for (int i = 0; i < 6 && random.percent(90); ++i) {
    const Node &node = pick();
    if (node.size() != size || (node.shape() != shape && !mayReshape) ||
        (node.dtype() != dtype && !mayCast))
      continue;
    Maybe result = castTo(node, dtype);
    if (result && result->shape() != shape)
      result = move(OpCode::Reshape, result, shape);
    if (result)
      return result;
  }
  return leaf(dtype, shape);
}

/// A conversion whose result is specified: floats are brought into i32 first.
Maybe Generator::castTo(Maybe source, DType dtype) {
  if (!source || source->dtype() == dtype)
    return source;
  DType from = source->dtype();
  if (!isTame() && isFloat(from) && dtype == DType::I32) {
    Maybe high = fill(constant(from, fromFloat(2000)), source->shape());
    Maybe low = fill(constant(from, fromFloat(-2000)), source->shape());
    if (!high || !low)
      return std::nullopt;
    // A NaN is not below anything and so becomes the bound.
    Maybe below = build(OpCode::CmpLt, {*source, *high});
    if (below)
      below = build(OpCode::Where, {*below, *source, *high});
    if (below)
      below = build(OpCode::Max, {*below, *low});
    source = below;
  }
  if (!source)
    return std::nullopt;
  Arg arg;
  arg.type = getScalarType(builder.getContext(), dtype);
  return build(OpCode::Cast, *source, arg);
}

Maybe Generator::asFloat(Maybe source) {
  if (!source || isFloat(source->dtype()))
    return source;
  return castTo(source, random.percent(30) ? DType::F16 : DType::F32);
}

/// `into` with something of `other` in it.
Maybe Generator::combine(Maybe into, Maybe other) {
  other = castTo(other, into->dtype());
  if (!other)
    return std::nullopt;
  if (other->shape() != into->shape())
    other = fill(reduce(other, ReduceKind::Add, other->shape().size()),
                 into->shape());
  if (!other)
    return std::nullopt;
  return build(random.percent(50) ? OpCode::Add : OpCode::Max, {*into, *other});
}

RandomProgram uop::fuzz::makeRandomProgram(MLIRContext *context, uint64_t seed,
                                           Mode mode, Root root) {
  RandomProgram result;
  Location loc = UnknownLoc::get(context);
  result.module = ModuleOp::create(loc);
  OpBuilder ops(context);
  ops.setInsertionPointToEnd(result.module->getBody());
  result.program = createProgram(ops, loc, "fuzz");
  UniquingBuilder builder(&result.program.getBodyBlock());
  builder.setLoc(loc);
  Generator generator(builder, result.inputs, seed, mode);
  Node made = generator.run(root);
  result.tolerance = 2 * made.facts.error;
  finishProgram(result.program, made.value);
  return result;
}
