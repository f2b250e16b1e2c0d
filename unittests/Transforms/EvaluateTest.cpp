//===- EvaluateTest.cpp - programs of constants, and reductions -----------===//
//
// The sets `evaluate` and `reductions` on thousands of random programs, judged
// by the interpreters; sharing, scoping, and what has no value.
//
//===----------------------------------------------------------------------===//

#include "../Dialect/Graph.h"
#include "Uop/Graph/Interpreter.h"
#include "Uop/Graph/Walk.h"
#include "Uop/Transforms/Linearize.h"
#include "Uop/Transforms/RuleSets.h"
#include <cmath>
#include <numeric>
#include <random>

using namespace mlir;
using namespace uop;

namespace {

/// A program that is being built.
struct Program {
  Program() {
    context.loadDialect<UopDialect>();
    OpBuilder at(&context);
    program = createProgram(at, UnknownLoc::get(&context), "p");
    builder.emplace(&program->getBodyBlock());
  }
  UniquingBuilder *operator->() { return &*builder; }
  void finish(Value root) {
    builder.reset();
    finishProgram(*program, root);
  }
  RewriteStats simplify(llvm::SmallVector<std::string> sets) {
    SimplifyOptions options;
    options.sets = std::move(sets);
    FailureOr<RewriteStats> stats = uop::simplify(*program, options);
    EXPECT_TRUE(succeeded(stats));
    EXPECT_TRUE(succeeded(verify(*program)));
    return succeeded(stats) ? *stats : RewriteStats();
  }
  Value root() { return program->getRoot(); }

  MLIRContext context;
  OwningOpRef<ProgramOp> program;
  std::optional<UniquingBuilder> builder;
};

bool isSame(DType dtype, Word a, Word b) {
  return a == b ||
         (isFloat(dtype) && std::isnan(toFloat(a)) && std::isnan(toFloat(b)));
}

bool isSame(const Array &a, const Array &b) {
  if (a.dtype != b.dtype || a.shape != b.shape)
    return false;
  for (size_t i = 0; i < a.data.size(); ++i)
    if (!isSame(a.dtype, a.data[i], b.data[i]))
      return false;
  return true;
}

/// Whether nothing but constants and STACKs of them is left.
bool isValue(Value root) {
  return llvm::all_of(toposort(root), llvm::IsaPred<ConstOp, StackOp>);
}

//===----------------------------------------------------------------------===//
// Random programs of constants
//===----------------------------------------------------------------------===//

class Generator {
public:
  Generator(Program &p, uint32_t seed) : p(p), random(seed) {}

  /// Whether it used something without a value that everyone agrees on.
  bool isOpen = false;

  Value make(int steps) {
    for (int i = 0; i < 3; ++i)
      add(leaf(pickDType(), pickShape()));
    for (int i = 0; i < steps; ++i)
      if (Value value = step())
        add(value);
    return values.back();
  }

private:
  int64_t below(int64_t n) { return static_cast<int64_t>(random() % n); }
  DType pickDType() {
    DType all[] = {DType::Bool, DType::I32, DType::I32, DType::F32, DType::F16};
    return all[below(5)];
  }
  llvm::SmallVector<int64_t> pickShape() {
    llvm::SmallVector<int64_t> shape;
    for (int64_t rank = below(4); rank > 0; --rank)
      shape.push_back(1 + below(3));
    return shape;
  }
  Word pickWord(DType dtype) {
    float floats[] = {0.0f,  -0.0f,    1.0f,      -1.0f, 0.5f,    3.0f,
                      -2.5f, INFINITY, -INFINITY, NAN,   1000.0f, 0.1f};
    Word ints[] = {0, 1, 2, 3, 7, ~0u, ~1u, 0x80000000u, 0x7fffffffu, 100};
    switch (dtype) {
    case DType::Bool:
      return below(2);
    case DType::I32:
      return ints[below(std::size(ints))];
    case DType::F16:
      return fromFloat(roundToHalf(floats[below(std::size(floats))]));
    default:
      return fromFloat(floats[below(std::size(floats))]);
    }
  }
  Value leaf(DType dtype, llvm::ArrayRef<int64_t> shape) {
    if (shape.empty())
      return p->constant(dtype, pickWord(dtype));
    llvm::SmallVector<Value> sources;
    for (int64_t i = 0; i < shape.front(); ++i)
      sources.push_back(leaf(dtype, shape.drop_front()));
    return p->get(OpCode::Stack, sources);
  }
  void add(Value value) { values.push_back(value); }
  Value any() {
    return values[values.size() - 1 -
                  below(std::min<int64_t>(values.size(), 6))];
  }
  /// A value like `like`: one that there is, or a new one.
  Value other(DType dtype, llvm::ArrayRef<int64_t> shape) {
    for (int i = 0; i < 4; ++i)
      if (Value v = any();
          getDType(v.getType()) == dtype && getShape(v.getType()) == shape)
        return v;
    return leaf(dtype, shape);
  }

  Value step() {
    Value x = any();
    DType dtype = getDType(x.getType());
    llvm::ArrayRef<int64_t> shape = getShape(x.getType());
    int64_t rank = shape.size();
    std::optional<int64_t> count = getNumElements(shape);
    switch (below(12)) {
    case 0: {
      llvm::SmallVector<int64_t> to;
      if (*count != 1 || below(2))
        to = {*count};
      if (below(2))
        to.push_back(1);
      return p->reshape(x, to.empty() && *count != 1
                               ? llvm::ArrayRef<int64_t>(*count)
                               : llvm::ArrayRef<int64_t>(to));
    }
    case 1: {
      llvm::SmallVector<int64_t> to(shape);
      for (int64_t &size : to)
        if (size == 1)
          size = 1 + below(3);
      return p->expand(x, to);
    }
    case 2: {
      llvm::SmallVector<int64_t> permutation(rank);
      std::iota(permutation.begin(), permutation.end(), 0);
      std::shuffle(permutation.begin(), permutation.end(), random);
      return p->permute(x, permutation);
    }
    case 3: {
      llvm::SmallVector<int64_t> bounds;
      for (int64_t size : shape) {
        int64_t begin = below(size + (below(8) == 0));
        int64_t end = begin == size ? size : begin + 1 + below(size - begin);
        bounds.append({begin, end});
      }
      Value cut = p->shrink(x, bounds);
      if (llvm::is_contained(getShape(cut.getType()), 0))
        return p->reduce(cut, ReduceKind::Add, rank);
      return cut;
    }
    case 4:
      return p->reduce(x, below(2) ? ReduceKind::Add : ReduceKind::Max,
                       below(rank + 1));
    case 5: {
      llvm::SmallVector<Value> indices;
      for (int64_t i = 0, n = below(rank + 1); i < n; ++i)
        indices.push_back(p->i32(below(shape[i])));
      return p->index(x, indices);
    }
    case 6:
      if (*count * 2 > 200)
        return {};
      return p->get(OpCode::Stack, {x, other(dtype, shape)});
    case 7:
      return p->where(other(DType::Bool, shape), x, other(dtype, shape));
    case 8: {
      DType to = pickDType();
      if (isFloat(dtype) && to == DType::I32)
        return {};
      return p->cast(x, to);
    }
    case 9:
      return below(2) ? call(x) : p->get(OpCode::Stage, x);
    case 10: {
      OpCode codes[] = {OpCode::Recip, OpCode::Sqrt, OpCode::Exp2, OpCode::Log2,
                        OpCode::Sin};
      return isFloat(dtype) ? p->get(codes[below(5)], x) : Value();
    }
    default: {
      OpCode codes[] = {OpCode::Add,     OpCode::Mul,   OpCode::Max,
                        OpCode::CmpLt,   OpCode::CmpNe, OpCode::FloorDiv,
                        OpCode::FloorMod};
      OpCode code = codes[below(dtype == DType::I32 ? 7 : 5)];
      isOpen |= code == OpCode::FloorDiv || code == OpCode::FloorMod;
      return p->get(code, {x, other(dtype, shape)});
    }
    }
  }

  /// A body that calls another, whose PARAM 0 is not its own.
  Value call(Value x) {
    Type type = x.getType();
    Value p0 = p->param(0, type), p1 = p->param(1, type);
    Value inner = p->get(OpCode::Add, {p0, p0});
    Attribute name = StringAttr::get(&p.context, "f");
    Value nested = p->get(OpCode::Call, {inner, p->get(OpCode::Mul, {p0, p1})},
                          {name, {}, 0});
    Value body = p->get(OpCode::Max, {nested, p0});
    return p->get(OpCode::Call,
                  {body, x, other(getDType(type), getShape(type))},
                  {name, {}, 0});
  }

  Program &p;
  std::mt19937 random;
  std::vector<Value> values;
};

TEST(Evaluate, RandomProgramsOfConstants) {
  int reduced = 0;
  for (uint32_t seed = 0; seed < 4000; ++seed) {
    SCOPED_TRACE(seed);
    Program p;
    Generator generator(p, seed);
    p.finish(generator.make(4 + seed % 20));
    FailureOr<Array> want = evaluateShaped(p.root(), {});
    ASSERT_TRUE(succeeded(want));
    p.simplify({"evaluate"});
    FailureOr<Array> got = evaluateShaped(p.root(), {});
    ASSERT_TRUE(succeeded(got));
    ASSERT_TRUE(isSame(*want, *got));
    // Only divisions without a value may be left.
    bool value = isValue(p.root());
    ASSERT_TRUE(value || generator.isOpen);
    reduced += value;
    // And there is nothing more to do.
    EXPECT_EQ(p.simplify({"evaluate"}).getSteps(), 0);
  }
  EXPECT_GT(reduced, 3000);
}

//===----------------------------------------------------------------------===//
// Sharing, scopes, what has no value
//===----------------------------------------------------------------------===//

TEST(Evaluate, SharedNestsAreVisitedOnce) {
  for (bool deep : {false, true}) {
    Program p;
    Value x = p->i32(3);
    for (int i = 0; i < 24; ++i) {
      x = p->get(OpCode::Stack, {x, x});
      if (!deep)
        x = p->index(x, p->i32(0));
    }
    if (deep) {
      llvm::SmallVector<Value> indices(24, p->i32(1));
      x = p->index(p->get(OpCode::Add, {x, p->get(OpCode::Mul, {x, x})}),
                   indices);
    }
    p.finish(x);
    RewriteStats stats = p.simplify({"evaluate"});
    EXPECT_LT(stats.getSteps(), 100);
    auto value = p.root().getDefiningOp<ConstOp>();
    ASSERT_TRUE(value);
    EXPECT_EQ(getWord(value.getValueAttr()), deep ? 12u : 3u);
  }
}

/// f_n(x) = f_(n-1)(x + 1) + 1, n deep: each body is copied once.
TEST(Evaluate, NestedCallsTakeLinearTime) {
  Program p;
  Attribute name = StringAttr::get(&p.context, "f");
  Value x = p->param(0, IntegerType::get(&p.context, 32));
  Value body = p->add(x, p->i32(1));
  for (int i = 1; i < 20000; ++i)
    body = p->add(
        p->get(OpCode::Call, {body, p->add(x, p->i32(1))}, {name, {}, 0}),
        p->i32(i % 7));
  p.finish(p->get(OpCode::Call, {body, p->i32(5)}, {name, {}, 0}));
  FailureOr<Array> want = evaluateShaped(p.root(), {});
  ASSERT_TRUE(succeeded(want));
  p.simplify({"evaluate"});
  auto value = p.root().getDefiningOp<ConstOp>();
  ASSERT_TRUE(value);
  EXPECT_EQ(getWord(value.getValueAttr()), want->data[0]);
}

TEST(Evaluate, DivisionsWithoutValueStay) {
  for (auto [a, b] :
       {std::pair(7, 0), std::pair(0, 0), std::pair(-2147483647 - 1, -1)})
    for (OpCode code : {OpCode::FloorDiv, OpCode::FloorMod}) {
      Program p;
      Value open = p->get(code, {p->i32(a), p->i32(b)});
      Value stack = p->get(OpCode::Stack, {open, p->i32(2)});
      Value sum =
          p->reduce(p->get(OpCode::Mul, {stack, stack}), ReduceKind::Add, 1);
      p.finish(p->get(code, {sum, p->i32(b)}));
      FailureOr<Array> want = evaluateShaped(p.root(), {});
      p.simplify({"evaluate"});
      EXPECT_EQ(getOpCode(p.root()), code);
      EXPECT_TRUE(isSame(*evaluateShaped(p.root(), {}), *want));
    }
}

//===----------------------------------------------------------------------===//
// Reductions of shaped programs
//===----------------------------------------------------------------------===//

/// 0 + x + ... + x, n times, is x * n + 0 for every f16, and for every mantissa
/// of an f32, up to 5 times.
TEST(Reductions, FiveEqualFloatsAreAProduct) {
  auto check = [](DType dtype, Word word) {
    Word sum = 0;
    for (int n = 1; n <= 5; ++n) {
      sum = evalReduce(ReduceKind::Add, dtype, sum, word);
      Word product = evalAlu(OpCode::Mul, dtype, dtype, word,
                             fromFloat(static_cast<float>(n)));
      product = evalAlu(OpCode::Add, dtype, dtype, product, 0);
      if (!isSame(dtype, sum, product))
        return false;
    }
    return true;
  };
  for (unsigned bits = 0; bits < 65536; ++bits)
    ASSERT_TRUE(check(DType::F16, fromFloat(fromHalfBits(bits)))) << bits;
  for (Word mantissa = 0; mantissa < (1u << 23); mantissa += 3)
    for (Word exponent : {0u, 127u, 253u, 254u, 255u})
      ASSERT_TRUE(check(DType::F32, exponent << 23 | mantissa)) << mantissa;
}

TEST(Reductions, RandomExpandedAxes) {
  std::mt19937 random(7);
  int fired = 0;
  for (int round = 0; round < 4000; ++round) {
    SCOPED_TRACE(round);
    Program p;
    auto below = [&](int64_t n) { return static_cast<int64_t>(random() % n); };
    DType dtypes[] = {DType::Bool, DType::I32, DType::F32, DType::F16};
    DType dtype = dtypes[below(4)];
    llvm::SmallVector<int64_t> from, to;
    int64_t size = 1;
    for (int64_t rank = 1 + below(4); rank > 0; --rank) {
      bool wide = below(2);
      from.push_back(wide ? 1 : 1 + below(3));
      to.push_back(wide ? below(4) : from.back());
      size *= from.back();
    }
    Value x = p->buffer(0, dtype, size);
    x = below(2) ? x : p->get(OpCode::Max, {x, x});
    x = p->expand(p->reshape(x, from), to);
    p.finish(p->reduce(x, below(2) ? ReduceKind::Add : ReduceKind::Max,
                       1 + below(to.size())));
    Array in{dtype, {size}, {}};
    float floats[] = {0.0f, -0.0f, 1.0f, 0.1f, -3.5f, NAN, INFINITY, -INFINITY};
    for (int64_t i = 0; i < size; ++i)
      in.data.push_back(dtype == DType::Bool ? below(2)
                        : dtype == DType::I32
                            ? static_cast<Word>(random())
                            : fromFloat(roundToHalf(floats[below(8)])));
    ArrayMap buffers{{0, in}};
    FailureOr<Array> want = evaluateShaped(p.root(), buffers);
    ASSERT_TRUE(succeeded(want));
    fired += p.simplify({"reductions"}).getSteps() > 0;
    FailureOr<Array> got = evaluateShaped(p.root(), buffers);
    ASSERT_TRUE(succeeded(got));
    ASSERT_TRUE(isSame(*want, *got));
  }
  EXPECT_GT(fired, 1000);
}

//===----------------------------------------------------------------------===//
// Reductions of programs of loops
//===----------------------------------------------------------------------===//

/// out[i] = sum or maximum over j (and k) of a random value, with conditions.
class LoopGenerator {
public:
  LoopGenerator(Program &p, uint32_t seed) : p(p), random(seed) {}

  static constexpr int64_t outer = 6;
  DType dtype = DType::I32;

  Value make() {
    DType dtypes[] = {DType::I32, DType::I32, DType::F32, DType::F16};
    dtype = dtypes[below(4)];
    bool two = below(3) == 0;
    i = p->range(p->i32(outer), 0);
    j = p->range(p->i32(below(7)), 1, AxisKind::Reduce);
    k = two ? p->range(p->i32(1 + below(3)), 2, AxisKind::Reduce) : Value();
    llvm::SmallVector<Value> ranges{j};
    if (two)
      ranges.push_back(k);
    Value acc = p->after(p->alloc(0, dtype, 1), i);
    Value at = p->index(acc, p->i32(0));
    bool isSum = below(4) != 0;
    Word start = below(5) ? 0 : constant();
    llvm::SmallVector<Value> deps{p->store(at, p->constant(dtype, start))};
    llvm::append_range(deps, ranges);
    Value place = p->index(p->after(acc, deps), p->i32(0));
    Value load = p->load(place);
    Value v = value();
    Value sum = p->get(isSum ? OpCode::Add : OpCode::Max, {load, v});
    Value end = p->end(p->store(place, sum), ranges);
    Value total = p->load(p->index(p->after(acc, end), p->i32(0)));
    Value out = p->store(p->index(p->buffer(2, dtype, outer), i), total);
    return p->sink(p->end(out, i));
  }

  ArrayMap makeBuffers() {
    Array data{dtype, {64}, {}}, picks{DType::I32, {outer}, {}};
    for (int n = 0; n < 64; ++n)
      data.data.push_back(constant());
    for (int n = 0; n < outer; ++n)
      picks.data.push_back(static_cast<Word>(below(12) - 3));
    return {{0, data},
            {1, picks},
            {2, Array{dtype, {outer}, std::vector<Word>(outer)}}};
  }

private:
  int64_t below(int64_t n) { return static_cast<int64_t>(random() % n); }
  Word constant() {
    float floats[] = {0.0f, -0.0f, 1.0f, 2.5f, 0.1f, -3.0f, NAN, INFINITY};
    return dtype == DType::I32 ? static_cast<Word>(below(11) - 5)
                               : fromFloat(roundToHalf(floats[below(8)]));
  }
  Value pick() { return p->load(p->index(p->buffer(1, DType::I32, outer), i)); }
  Value constInt() { return p->i32(below(9) - 4); }
  /// An i32 without j.
  Value invariant() {
    switch (below(5)) {
    case 0:
      return constInt();
    case 1:
      return p->add(i, constInt());
    case 2:
      return p->add(p->mul(i, p->i32(-1)), constInt());
    case 3:
      return k ? p->add(k, constInt()) : p->add(i, i);
    default:
      return pick();
    }
  }
  Value linear() {
    Value term = below(3) ? j : p->mul(j, p->i32(-1));
    return below(2) ? term : p->add(term, invariant());
  }
  Value negate(Value condition) {
    return below(2) ? condition
                    : p->get(OpCode::CmpNe, {condition, p->boolean(true)});
  }
  Value condition() {
    Value a = linear(), b = invariant();
    if (below(2))
      std::swap(a, b);
    OpCode code = below(2) ? OpCode::CmpLt : OpCode::CmpNe;
    if (below(8) == 0)
      a = invariant();
    Value c = negate(p->get(code, {a, b}));
    if (below(3) == 0)
      return negate(p->mul(c, condition()));
    return c;
  }
  Value element() {
    switch (below(4)) {
    case 0:
      return p->constant(dtype, constant());
    case 1:
      return p->cast(i, dtype);
    default: {
      // 6 * i + j lies within 0..36.
      Value index = p->add(p->mul(i, p->i32(6)), j);
      return p->load(p->index(p->buffer(0, dtype, 64), index));
    }
    }
  }
  Value value() {
    if (below(6) == 0)
      return element();
    if (below(8) == 0)
      return p->cast(condition(), dtype);
    if (below(8) == 0)
      return p->mul(p->cast(condition(), dtype), element());
    Value zero = p->constant(dtype, 0), x = element();
    return below(2) ? p->where(condition(), x, zero)
                    : p->where(condition(), zero, x);
  }

  Program &p;
  std::mt19937 random;
  Value i, j, k;
};

/// Runs a program of loops.
FailureOr<Array> run(Program &p, ArrayMap buffers) {
  FailureOr<std::vector<Operation *>> schedule = linearize(p.root());
  if (failed(schedule) || failed(evaluateLinear(*schedule, buffers)))
    return failure();
  return buffers[2];
}

TEST(Reductions, RandomAccumulators) {
  std::map<std::string, int64_t> fired;
  for (uint32_t seed = 0; seed < 6000; ++seed) {
    SCOPED_TRACE(seed);
    Program p;
    LoopGenerator generator(p, seed);
    p.finish(generator.make());
    ArrayMap buffers = generator.makeBuffers();
    FailureOr<Array> want = run(p, buffers);
    ASSERT_TRUE(succeeded(want));
    // Alone, and after the others have put conditions in their form.
    RewriteStats stats =
        seed % 2 ? p.simplify({"fold", "reductions"}) : p.simplify({});
    for (auto &[rule, count] : stats.fired)
      fired[rule] += count;
    FailureOr<Array> got = run(p, buffers);
    ASSERT_TRUE(succeeded(got));
    ASSERT_TRUE(isSame(*want, *got));
  }
  for (const char *rule : {"invariant", "count", "gather", "forward-store"})
    EXPECT_GT(fired[std::string("reductions/") + rule], 200) << rule;
}

} // namespace
