//===- RandomSteps.cpp - one more value of a random program ---------------===//
//
// Every step picks some values, brings them to one shape and dtype where the op
// asks for it, and adds what it made.
//
//===----------------------------------------------------------------------===//

#include "Generator.h"

using namespace mlir;
using namespace uop;
using namespace uop::fuzz;

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
  Maybe source = pick();
  int64_t rank = source->shape().size();
  int64_t pop = random.percent(5) ? 0 : rank - random.below(rank + 1);
  if (random.percent(15)) {
    // Over one element: -0.0 must become 0.0 in a sum.
    Shape shape(source->shape());
    shape.push_back(1);
    source = move(OpCode::Reshape, source, shape);
    pop = 1;
  }
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

Maybe Generator::makeIndex() { return index(pick()); }

Maybe Generator::index(const Node &from) {
  Node source = from; // making an index moves the pool
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
  DType dtype = random.dtype();
  return leaf(dtype, random.shape(3, 60));
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

/// The last of some steps, with something of others in it.
Node Generator::grow() {
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
