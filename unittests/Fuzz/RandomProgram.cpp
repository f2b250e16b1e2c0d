//===- RandomProgram.cpp - random well-typed shaped programs --------------===//
//
// Grows a pool of values: every step picks some, brings them to one shape and
// dtype where the op asks for it, and adds what it made.
//
//===----------------------------------------------------------------------===//

#include "Facts.h"
#include "RandomValues.h"
#include "Uop/Graph/UniquingBuilder.h"

using namespace mlir;
using namespace uop;
using namespace uop::fuzz;

namespace {

// Small enough for thousands of programs a minute, compiled ones included.
constexpr int64_t maxElements = 128;
constexpr double maxCost = 20000;
constexpr double maxCode = 250;
constexpr size_t maxBuffers = 6;

struct Node {
  Value value;
  Facts facts;

  DType dtype() const { return getDType(value.getType()); }
  llvm::ArrayRef<int64_t> shape() const { return getShape(value.getType()); }
  int64_t size() const { return *getNumElements(shape()); }
  bool isMemory() const { return uop::isMemory(value.getType()); }
};

/// Nothing when a random choice turned out to be of no use.
using Maybe = std::optional<Node>;

class Generator {
public:
  Generator(UniquingBuilder &builder, ArrayMap &inputs, uint64_t seed,
            Mode mode)
      : random(seed), builder(builder), inputs(inputs), mode(mode) {}

  /// The root.
  Node run();
  Value getOther() { return pick().value; }

private:
  bool isTame() const { return mode == Mode::Tame; }
  Maybe build(OpCode code, llvm::ArrayRef<Node> sources, const Arg &arg = {},
              double count = 1);
  Maybe move(OpCode code, Maybe source, llvm::ArrayRef<int64_t> numbers);
  Maybe reduce(Maybe source, ReduceKind kind, int64_t pop);

  // Where sources come from.
  const Node &pick();
  Maybe pickMemory();
  Node constant(DType dtype, Word word);
  Node constant(DType dtype);
  Maybe fill(Maybe scalar, llvm::ArrayRef<int64_t> shape);
  Maybe buffer(DType dtype, llvm::ArrayRef<int64_t> shape);
  Maybe leaf(DType dtype, llvm::ArrayRef<int64_t> shape);
  Maybe match(DType dtype, llvm::ArrayRef<int64_t> shape);
  Maybe castTo(Maybe source, DType dtype);
  Maybe asFloat(Maybe source);
  Maybe combine(Maybe into, Maybe other);

  // Steps.
  Maybe makeUnary();
  Maybe makeBinary();
  Maybe makeDivision();
  Maybe makeWhere();
  Maybe makeCast();
  Maybe reshape(const Node &source);
  Maybe expand(const Node &narrow);
  Maybe permute(const Node &source);
  Maybe shrink(const Node &source);
  Maybe makeMovements();
  Maybe makeReduce();
  Maybe makeTwinReduce();
  Maybe makeStack();
  Maybe makeIndex();
  Maybe makeLoad();
  Maybe makeGatedLoad();
  Maybe makePaddedLoad();
  Maybe makeStage();
  Maybe makeCall();
  Maybe makeLeaf();
  bool step();

  Random random;
  UniquingBuilder &builder;
  ArrayMap &inputs;
  Mode mode;
  std::vector<Node> pool; // of the scope at hand
  std::vector<Node> buffers;
  unsigned depth = 0; // of CALL bodies
};

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

Maybe Generator::makeUnary() {
  static constexpr OpCode codes[] = {OpCode::Recip, OpCode::Exp2, OpCode::Log2,
                                     OpCode::Sqrt, OpCode::Sin};
  Maybe source = asFloat(pick());
  return source ? build(random.oneOf(codes), *source) : std::nullopt;
}

Maybe Generator::makeBinary() {
  static constexpr OpCode codes[] = {OpCode::Add,  OpCode::Add, OpCode::Mul,
                                     OpCode::Mul,  OpCode::Max, OpCode::CmpLt,
                                     OpCode::CmpNe};
  Node a = pick();
  Maybe b = match(a.dtype(), a.shape());
  if (!b)
    return std::nullopt;
  if (random.percent(50))
    std::swap(a, *b);
  return build(random.oneOf(codes), {a, *b});
}

Maybe Generator::makeDivision() {
  Maybe a = castTo(pick(), DType::I32);
  if (!a)
    return std::nullopt;
  Maybe b;
  if (isTame() || random.percent(50)) {
    int32_t divisor = random.between(1, 9);
    b = fill(constant(DType::I32, random.percent(30) ? -divisor : divisor),
             a->shape());
  } else {
    b = match(DType::I32, a->shape());
  }
  if (!b)
    return std::nullopt;
  return build(random.percent(50) ? OpCode::FloorDiv : OpCode::FloorMod,
               {*a, *b});
}

Maybe Generator::makeWhere() {
  Node a = pick();
  Maybe condition = match(DType::Bool, a.shape());
  Maybe b = match(a.dtype(), a.shape());
  if (!condition || !b)
    return std::nullopt;
  return build(OpCode::Where, {*condition, a, *b});
}

Maybe Generator::makeCast() { return castTo(pick(), random.dtype()); }

Maybe Generator::reshape(const Node &source) {
  return move(OpCode::Reshape, source, random.factors(source.size()));
}

Maybe Generator::expand(const Node &narrow) {
  Maybe source = narrow;
  Shape shape(source->shape());
  if (!llvm::is_contained(shape, 1)) {
    shape.insert(shape.begin() + random.below(shape.size() + 1), 1);
    source = move(OpCode::Reshape, source, shape);
  }
  for (int64_t &size : shape)
    if (size == 1 && random.percent(70))
      size = random.axis();
  return move(OpCode::Expand, source, shape);
}

Maybe Generator::permute(const Node &source) {
  Shape permutation;
  for (int64_t i = 0, e = source.shape().size(); i < e; ++i)
    permutation.insert(permutation.begin() + random.below(i + 1), i);
  return move(OpCode::Permute, source, permutation);
}

Maybe Generator::shrink(const Node &source) {
  Shape bounds;
  for (int64_t size : source.shape()) {
    int64_t begin = 0, end = size;
    if (random.percent(60)) {
      begin = random.below(size + 1);
      end = random.between(begin, size);
      if (begin == end && size > 0 && !random.percent(5)) // rarely nothing
        begin = std::min(begin, size - 1), end = begin + 1;
    }
    bounds.push_back(begin);
    bounds.push_back(end);
  }
  return move(OpCode::Shrink, source, bounds);
}

/// One view of a value, or views of views.
Maybe Generator::makeMovements() {
  static constexpr Maybe (Generator::*moves[])(const Node &) = {
      &Generator::reshape, &Generator::reshape, &Generator::expand,
      &Generator::expand,  &Generator::permute, &Generator::shrink};
  Maybe node = pick();
  for (int64_t i = random.percent(60) ? 1 : random.between(2, 6); i > 0; --i)
    if (Maybe next = (this->*random.oneOf(moves))(*node))
      node = next;
  return node;
}

Maybe Generator::makeReduce() {
  Node source = pick();
  int64_t rank = source.shape().size();
  int64_t pop = random.percent(5) ? 0 : rank - random.below(rank + 1);
  return reduce(source, random.percent(50) ? ReduceKind::Add : ReduceKind::Max,
                pop);
}

/// Two reductions of one value of which the second needs the first, as softmax.
Maybe Generator::makeTwinReduce() {
  Node source = pick();
  int64_t rank = source.shape().size();
  if (rank == 0)
    return std::nullopt;
  int64_t pop = random.between(1, rank);
  Maybe first = reduce(
      source, random.percent(50) ? ReduceKind::Max : ReduceKind::Add, pop);
  Shape ones(source.shape());
  std::fill(ones.end() - pop, ones.end(), 1);
  first =
      move(OpCode::Expand, move(OpCode::Reshape, first, ones), source.shape());
  if (!first)
    return std::nullopt;
  Maybe both =
      build(random.percent(50) ? OpCode::Add : OpCode::Mul, {source, *first});
  return reduce(both, random.percent(50) ? ReduceKind::Max : ReduceKind::Add,
                pop);
}

Maybe Generator::makeStack() {
  Node first = pick();
  llvm::SmallVector<Node> sources{first};
  for (int64_t i = 0, e = random.below(4); i < e; ++i) {
    Maybe next = match(first.dtype(), first.shape());
    if (!next)
      return std::nullopt;
    sources.push_back(*next);
  }
  return build(OpCode::Stack, sources);
}

Maybe Generator::makeIndex() {
  Node source = pick();
  llvm::SmallVector<Node> sources{source};
  int64_t rank = source.shape().size();
  int64_t count = random.percent(3) ? 0 : rank - random.below(rank + 1);
  for (int64_t size : source.shape().take_front(count)) {
    if (size == 0)
      return std::nullopt;
    if (random.percent(50)) {
      sources.push_back(constant(DType::I32, random.below(size)));
      continue;
    }
    Maybe any = match(DType::I32, {});
    if (!any)
      return std::nullopt;
    Maybe index = build(OpCode::FloorMod, {*any, constant(DType::I32, size)});
    if (!index)
      return std::nullopt;
    sources.push_back(*index);
  }
  return build(OpCode::Index, sources);
}

Maybe Generator::makeLoad() {
  Maybe source = pickMemory();
  return source ? build(OpCode::Load, *source) : std::nullopt;
}

Maybe Generator::makeGatedLoad() {
  Maybe source = pickMemory();
  if (!source)
    return std::nullopt;
  Maybe gate = match(DType::Bool, source->shape());
  Maybe alternative = match(source->dtype(), source->shape());
  if (!gate || !alternative)
    return std::nullopt;
  return build(OpCode::Load, {*source, *gate, *alternative});
}

/// An element of memory behind a gate that is false where the index is outside.
Maybe Generator::makePaddedLoad() {
  Maybe source = pickMemory();
  if (!source || source->shape().empty() || source->shape()[0] == 0)
    return std::nullopt;
  // Read from memory, so that nobody can tell that it is outside.
  int64_t size = source->shape()[0];
  Maybe any = depth == 0 ? buffer(DType::I32, {}) : std::nullopt;
  if (any)
    any = build(OpCode::FloorMod, {*any, constant(DType::I32, size + 2)});
  if (any)
    any = build(OpCode::Add, {*any, constant(DType::I32, -1)});
  if (!any)
    return std::nullopt;
  Maybe low = build(OpCode::CmpLt, {constant(DType::I32, -1), *any});
  Maybe high = build(OpCode::CmpLt, {*any, constant(DType::I32, size)});
  Maybe pointer = build(OpCode::Index, {*source, *any});
  if (!low || !high || !pointer)
    return std::nullopt;
  Maybe inside = build(OpCode::Mul, {*low, *high});
  Maybe gate = fill(inside, pointer->shape());
  Maybe alternative = match(source->dtype(), pointer->shape());
  if (!gate || !alternative)
    return std::nullopt;
  return build(OpCode::Load, {*pointer, *gate, *alternative});
}

Maybe Generator::makeStage() {
  Arg arg;
  arg.number = random.percent(30);
  return build(OpCode::Stage, pick(), arg);
}

Maybe Generator::makeCall() {
  if (depth == 2)
    return std::nullopt;
  llvm::SmallVector<Node> sources{pick()}; // the body's place
  llvm::SmallVector<Node> args{pick()};
  for (int64_t i = 0, e = random.below(3); i < e; ++i)
    if (Maybe next = match(random.dtype(), args[0].shape()))
      args.push_back(*next);
  std::vector<Node> scope;
  for (auto [slot, arg] : llvm::enumerate(args))
    scope.push_back(
        {builder.param(slot, getReadType(arg.value.getType())), arg.facts});
  std::vector<Node> params = scope;
  std::swap(pool, scope);
  ++depth;
  for (int64_t i = random.between(1, 6); i > 0; --i)
    step();
  Maybe body = pool.back();
  for (const Node &param : params)
    if (body && !llvm::is_contained(getParams(body->value),
                                    param.value.getDefiningOp()))
      body = combine(body, param);
  --depth;
  std::swap(pool, scope);
  if (!body)
    return std::nullopt;
  sources[0] = *body;
  llvm::append_range(sources, args);
  Arg arg;
  static constexpr const char *names[] = {"f", "square", "g2", "_h"};
  arg.attr = StringAttr::get(builder.getContext(), random.oneOf(names));
  return build(OpCode::Call, sources, arg);
}

Maybe Generator::makeLeaf() {
  return leaf(random.dtype(), random.shape(3, 60));
}

/// Adds one value to the pool; false if this try came to nothing.
bool Generator::step() {
  struct Choice {
    Maybe (Generator::*make)();
    int weight;
  };
  static constexpr Choice choices[] = {
      {&Generator::makeUnary, 10},   {&Generator::makeBinary, 24},
      {&Generator::makeDivision, 6}, {&Generator::makeWhere, 8},
      {&Generator::makeCast, 8},     {&Generator::makeMovements, 26},
      {&Generator::makeReduce, 10},  {&Generator::makePaddedLoad, 3},
      {&Generator::makeStack, 6},    {&Generator::makeIndex, 6},
      {&Generator::makeLoad, 4},     {&Generator::makeGatedLoad, 6},
      {&Generator::makeStage, 4},    {&Generator::makeCall, 6},
      {&Generator::makeLeaf, 6},     {&Generator::makeTwinReduce, 4}};
  int total = 0;
  for (const Choice &choice : choices)
    total += choice.weight;
  int64_t at = random.below(total);
  const Choice *choice = choices;
  while (at >= choice->weight)
    at -= choice++->weight;
  Maybe made = (this->*choice->make)();
  if (made)
    pool.push_back(*made);
  return made.has_value();
}

Node Generator::run() {
  pool.push_back(constant(random.dtype()));
  if (Maybe first = makeLeaf())
    pool.push_back(*first);
  int64_t steps = random.between(1, 18);
  for (int tries = 0; steps > 0 && tries < 60; ++tries)
    steps -= step();
  Node root = pool.back();
  for (int i = 0; i < 2 && random.percent(30); ++i)
    if (Maybe both = combine(root, pick()))
      root = *both;
  return root;
}

} // namespace

RandomProgram uop::fuzz::makeRandomProgram(MLIRContext *context, uint64_t seed,
                                           Mode mode) {
  RandomProgram result;
  Location loc = UnknownLoc::get(context);
  result.module = ModuleOp::create(loc);
  OpBuilder ops(context);
  ops.setInsertionPointToEnd(result.module->getBody());
  result.program = createProgram(ops, loc, "fuzz");
  UniquingBuilder builder(&result.program.getBodyBlock());
  builder.setLoc(loc);
  Generator generator(builder, result.inputs, seed, mode);
  Node root = generator.run();
  for (int i = 0; i < 3; ++i)
    result.others.push_back(generator.getOther());
  result.tolerance = 2 * root.facts.error;
  finishProgram(result.program, root.value);
  return result;
}
