//===- ResultsTest.cpp - programs of several results ----------------------===//
//
// Which programs are of shapes, and what STOREs and AFTERs mean: against values
// made by hand, and against the definition, followed word by word.
//
//===----------------------------------------------------------------------===//

#include "Uop/Graph/Results.h"
#include "Uop/Graph/Interpreter.h"
#include "Uop/Graph/Walk.h"
#include <gtest/gtest.h>
#include <random>
#include <set>

using namespace mlir;
using namespace uop;

namespace {

using Ints = std::vector<int32_t>;

struct ResultsTest : testing::Test {
  ResultsTest()
      : handler(&context, [this](Diagnostic &d) { message = d.str(); }) {
    context.loadDialect<UopDialect>();
    OpBuilder ops(&context);
    program = createProgram(ops, UnknownLoc::get(&context), "test");
    b.emplace(&program->getBodyBlock());
  }

  /// A BUFFER of 0, 1, 2, ..., times `step`.
  Value input(int64_t slot, int64_t size, int32_t step = 1) {
    Array &array = buffers[slot];
    array = {DType::I32, {size}, {}};
    for (int64_t i = 0; i < size; ++i)
      array.data.push_back(static_cast<Word>(i) * step);
    return b->buffer(slot, DType::I32, size);
  }
  Value fill(int32_t number, llvm::ArrayRef<int64_t> shape) {
    llvm::SmallVector<int64_t> ones(shape.size(), 1);
    return b->expand(b->reshape(b->i32(number), ones), shape);
  }
  static Ints asInts(const Array &array) {
    return {array.data.begin(), array.data.end()};
  }
  ShapedResults run(Value root) {
    finishProgram(*program, root);
    FailureOr<ShapedResults> results = evaluateShapedProgram(*program, buffers);
    EXPECT_TRUE(succeeded(results)) << message;
    return succeeded(results) ? *results : ShapedResults();
  }
  std::string getError(Value root) {
    finishProgram(*program, root);
    EXPECT_TRUE(failed(evaluateShapedProgram(*program, buffers)));
    return message;
  }
  bool shaped(Value root) {
    finishProgram(*program, root);
    return isShaped(*program);
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  std::string message;
  ScopedDiagnosticHandler handler;
  OwningOpRef<ProgramOp> program;
  std::optional<UniquingBuilder> b;
  ArrayMap buffers;
};

/// One program of several in a test.
struct Case : ResultsTest {
  void TestBody() override {}
};

TEST_F(ResultsTest, ProgramsOfShapes) {
  auto check = [](llvm::function_ref<Value(Case &)> make) {
    Case fresh;
    return fresh.shaped(make(fresh));
  };
  // Values, of any shape, alone or in a SINK.
  EXPECT_TRUE(check([](Case &c) { return c.b->i32(1); }));
  EXPECT_TRUE(check([](Case &c) { return c.b->sink(c.b->i32(1)); }));
  EXPECT_TRUE(check([](Case &c) { return c.b->sink(c.input(0, 4)); }));
  EXPECT_TRUE(check([](Case &c) {
    return c.b->sink(c.b->sink(c.b->reduce(c.input(0, 4), ReduceKind::Add, 1)));
  }));
  // A STORE of a shape, or of what is made from shapes.
  EXPECT_TRUE(check([](Case &c) {
    return c.b->sink(c.b->store(c.input(0, 4), c.input(1, 4)));
  }));
  EXPECT_TRUE(check([](Case &c) {
    return c.b->store(
        c.b->index(c.input(0, 4), c.b->i32(1)),
        c.b->reduce(c.b->buffer(0, DType::I32, 4), ReduceKind::Max, 1));
  }));
  // Loops, or single elements, or nothing.
  EXPECT_FALSE(check([](Case &c) {
    Value i = c.b->range(c.b->i32(4), 0);
    Value pointer = c.b->index(c.input(0, 4), i);
    return c.b->sink(c.b->end(c.b->store(pointer, i), i));
  }));
  EXPECT_FALSE(check([](Case &c) {
    return c.b->sink(
        c.b->store(c.b->index(c.input(0, 4), c.b->i32(1)), c.b->i32(2)));
  }));
  EXPECT_FALSE(check([](Case &c) { return c.b->sink({}); }));
  // What the root does not reach does not count.
  EXPECT_FALSE(check([](Case &c) {
    c.b->reduce(c.input(0, 4), ReduceKind::Add, 1);
    return c.b->sink({});
  }));
}

TEST_F(ResultsTest, NestedSinksAreFlat) {
  Value x = input(0, 4), one = b->i32(1);
  Value store = b->store(x, input(1, 4));
  Value inner = b->sink({one, store});
  Value root = b->sink({x, inner, store, one, inner});
  FailureOr<llvm::SmallVector<Value>> results = getResults(root);
  ASSERT_TRUE(succeeded(results));
  EXPECT_EQ(*results, (llvm::SmallVector<Value>{x, one, store, one}));
  // Two to the thirtieth ways down, and one of them is taken.
  for (int i = 0; i < 30; ++i)
    root = b->sink({root, root});
  results = getResults(root);
  ASSERT_TRUE(succeeded(results));
  EXPECT_EQ(results->size(), 4u);
  EXPECT_EQ(*getResults(one), llvm::SmallVector<Value>{one});
  EXPECT_TRUE(failed(getResults(b->end(store, b->range(one, 0)))));
  EXPECT_EQ(message,
            "END is no result of a program of shapes: those are values "
            "and STOREs");
}

TEST_F(ResultsTest, ABufferIsWhatItWasBefore) {
  Value x = input(0, 4);
  Value store = b->store(x, fill(7, {4}));
  Value twice = b->add(x, x);
  ShapedResults results = run(b->sink({store, twice, x}));
  ASSERT_EQ(results.outputs.size(), 2u);
  EXPECT_EQ(asInts(results.outputs[0]), (Ints{0, 2, 4, 6}));
  EXPECT_EQ(asInts(results.outputs[1]), (Ints{0, 1, 2, 3}));
  ASSERT_EQ(results.buffers.size(), 1u);
  EXPECT_EQ(asInts(results.buffers[0]), (Ints{7, 7, 7, 7}));
  EXPECT_EQ(asInts(buffers[0]), (Ints{0, 1, 2, 3}));
}

TEST_F(ResultsTest, AfterSeesTheStoresThatItDependsOn) {
  Value x = input(0, 4), y = input(1, 4, 10);
  Value s = b->store(x, y);
  Value behind = b->after(x, s);
  Value t = b->store(behind, b->add(behind, fill(1, {4})));
  Value z = b->after(b->reshape(behind, {2, 2}), t);
  ShapedResults results = run(b->sink({z, behind, x}));
  EXPECT_EQ(asInts(results.outputs[0]), (Ints{1, 11, 21, 31}));
  EXPECT_EQ(results.outputs[0].shape, (llvm::SmallVector<int64_t>{2, 2}));
  EXPECT_EQ(asInts(results.outputs[1]), (Ints{0, 10, 20, 30}));
  EXPECT_EQ(asInts(results.outputs[2]), (Ints{0, 1, 2, 3}));
  EXPECT_EQ(asInts(results.buffers[0]), (Ints{1, 11, 21, 31}));
}

TEST_F(ResultsTest, AfterSeesStoresOnAnyPath) {
  // The dependence is on a value that is made of what the STORE left behind.
  Value x = input(0, 4), y = input(1, 4, 10);
  Value s = b->store(x, fill(5, {4}));
  Value t = b->store(y, b->after(x, s));
  Value sum = b->reduce(b->after(y, t), ReduceKind::Add, 1);
  ShapedResults results = run(b->sink({b->after(x, sum), b->after(x, y)}));
  EXPECT_EQ(asInts(results.outputs[0]), (Ints{5, 5, 5, 5}));
  // One on a buffer only orders.
  EXPECT_EQ(asInts(results.outputs[1]), (Ints{0, 1, 2, 3}));
  EXPECT_EQ(results.buffers.size(), 2u);
  // That an AFTER looks at a buffer does not make it one that is stored to.
  Case other;
  s = other.b->store(other.input(0, 4), other.fill(5, {4}));
  results = other.run(other.b->sink(other.b->after(other.input(1, 4), s)));
  EXPECT_EQ(results.buffers.size(), 1u);
  EXPECT_EQ(asInts(results.outputs[0]), (Ints{0, 1, 2, 3}));
}

TEST_F(ResultsTest, StoresGoThroughViews) {
  Value x = input(0, 12);
  Value m = b->reshape(x, {3, 4});
  Value part = b->permute(b->shrink(m, {0, 2, 1, 3}), {1, 0});
  Value s = b->store(part, b->reshape(b->get(OpCode::Mul, {b->shrink(x, {0, 4}),
                                                           fill(100, {4})}),
                                      {2, 2}));
  Value row = b->index(b->after(m, s), b->i32(2));
  Value t = b->store(row, fill(-1, {4}));
  ShapedResults results = run(b->sink({s, t, b->after(part, s)}));
  EXPECT_EQ(asInts(results.buffers[0]),
            (Ints{0, 0, 200, 3, 4, 100, 300, 7, -1, -1, -1, -1}));
  EXPECT_EQ(asInts(results.outputs[0]), (Ints{0, 100, 200, 300}));
}

TEST_F(ResultsTest, StoresHappenInTheOrderOfTheGraph) {
  Value x = input(0, 4);
  Value s = b->store(x, fill(1, {4}));
  Value t = b->store(b->shrink(x, {1, 3}), fill(2, {2}));
  EXPECT_EQ(asInts(run(b->sink({s, t})).buffers[0]), (Ints{1, 2, 2, 1}));
  Case other;
  x = other.input(0, 4);
  s = other.b->store(x, other.fill(1, {4}));
  t = other.b->store(other.b->shrink(x, {1, 3}), other.fill(2, {2}));
  EXPECT_EQ(asInts(other.run(other.b->sink({t, s})).buffers[0]),
            (Ints{1, 1, 1, 1}));
}

TEST_F(ResultsTest, Errors) {
  Value x = input(0, 4), one = input(1, 1);
  Value wide = b->expand(one, {4});
  EXPECT_EQ(getError(b->sink(b->store(wide, x))),
            "STORE into an EXPAND: one element would be stored to more than "
            "once");
  Case outside;
  Value m = outside.b->reshape(outside.input(0, 4), {2, 2});
  Value row = outside.b->index(m, outside.b->i32(2));
  EXPECT_EQ(outside.getError(
                outside.b->sink(outside.b->store(row, outside.fill(1, {2})))),
            "STORE writes out of bounds: index 2 of axis 0 of shape (2, 2)");
  Case loops;
  Value i = loops.b->range(loops.b->i32(4), 0);
  EXPECT_EQ(loops.getError(loops.b->sink(loops.b->end(
                loops.b->store(loops.b->index(loops.input(0, 4), i), i), i))),
            "END is no result of a program of shapes: those are values and "
            "STOREs");
}

/// A chain of steps on one buffer takes time in proportion to its length: in
/// proportion to its square, it would run into the limit of the test.
TEST_F(ResultsTest, LongChain) {
  constexpr int steps = 200000;
  Value x = input(0, 8), other = input(1, 8);
  Value one = fill(1, {8});
  Value now = x;
  llvm::SmallVector<Value> stores;
  for (int i = 0; i < steps; ++i) {
    Value s = b->store(now, b->add(now, one));
    now = b->after(now, s);
    stores.push_back(b->store(b->shrink(other, {i % 8, i % 8 + 1}),
                              b->reshape(b->i32(i), {1})));
  }
  stores.push_back(now);
  ShapedResults results = run(b->sink(stores));
  EXPECT_EQ(asInts(results.outputs[0])[7], steps + 7);
  EXPECT_EQ(asInts(results.buffers[0])[0], steps);
  EXPECT_EQ(asInts(results.buffers[1])[7], steps - 1);
}

//===----------------------------------------------------------------------===//
// The definition, word by word
//===----------------------------------------------------------------------===//

/// Evaluates the ops that the random test below builds: what a node depends on
/// is searched anew for each, and every element of a view has its place.
class ByDefinition {
public:
  ByDefinition(Value root, const ArrayMap &buffers)
      : order(toposort(root)), buffers(buffers) {}

  Ints read(Value value) {
    Operation *op = value.getDefiningOp();
    if (auto it = known.find(op); it != known.end())
      return it->second;
    Ints words;
    if (isMemory(value.getType())) {
      Ints contents = getContents(getSlot(value), dependencies(value));
      for (int64_t place : getPlaces(value))
        words.push_back(contents[place]);
    } else {
      words = read(op->getOperand(0));
      Ints others = read(op->getOperand(1));
      for (size_t i = 0; i < words.size(); ++i)
        words[i] += others[i];
    }
    return known[op] = words;
  }
  Ints getFinal(int64_t slot) {
    std::set<Operation *> all(order.begin(), order.end());
    return getContents(slot, all);
  }

private:
  int64_t getSlot(Value view) {
    while (!view.getDefiningOp<BufferOp>())
      view = view.getDefiningOp()->getOperand(0);
    return view.getDefiningOp<BufferOp>().getSlot();
  }
  /// What the AFTERs in a view depend on.
  std::set<Operation *> dependencies(Value view) {
    std::set<Operation *> seen;
    for (Operation *op = view.getDefiningOp(); op->getNumOperands();
         op = op->getOperand(0).getDefiningOp()) {
      if (!isa<AfterOp>(op))
        continue;
      std::vector<Operation *> stack{op};
      while (!stack.empty()) {
        Operation *next = stack.back();
        stack.pop_back();
        if (seen.insert(next).second)
          for (Value source : next->getOperands())
            stack.push_back(source.getDefiningOp());
      }
    }
    return seen;
  }
  Ints getContents(int64_t slot, const std::set<Operation *> &happened) {
    const Array &before = buffers.at(slot);
    Ints contents(before.data.begin(), before.data.end());
    for (Operation *op : order) {
      auto store = dyn_cast<StoreOp>(op);
      if (!store || !happened.count(op) || getSlot(store.getPointer()) != slot)
        continue;
      Ints words = read(store.getValue());
      std::vector<int64_t> places = getPlaces(store.getPointer());
      for (size_t i = 0; i < words.size(); ++i)
        contents[places[i]] = words[i];
    }
    return contents;
  }
  std::vector<int64_t> getPlaces(Value view) {
    Operation *op = view.getDefiningOp();
    std::vector<int64_t> places;
    if (isa<BufferOp>(op)) {
      for (int64_t i = 0; i < getShape(view.getType())[0]; ++i)
        places.push_back(i);
      return places;
    }
    std::vector<int64_t> from = getPlaces(op->getOperand(0));
    llvm::ArrayRef<int64_t> shape = getShape(op->getOperand(0).getType());
    if (auto shrink = dyn_cast<ShrinkOp>(op)) {
      for (int64_t i = shrink.getBounds()[0]; i < shrink.getBounds()[1]; ++i)
        for (int64_t j = shrink.getBounds()[2]; j < shrink.getBounds()[3]; ++j)
          places.push_back(from[i * shape[1] + j]);
      return places;
    }
    if (isa<PermuteOp>(op)) {
      for (int64_t j = 0; j < shape[1]; ++j)
        for (int64_t i = 0; i < shape[0]; ++i)
          places.push_back(from[i * shape[1] + j]);
      return places;
    }
    return from; // RESHAPE, AFTER
  }

  std::vector<Operation *> order;
  const ArrayMap &buffers;
  std::map<Operation *, Ints> known;
};

TEST_F(ResultsTest, RandomProgramsFollowTheDefinition) {
  std::mt19937 random(3);
  auto below = [&](int64_t n) { return static_cast<int64_t>(random() % n); };
  for (int round = 0; round < 400; ++round) {
    Case fresh;
    UniquingBuilder &g = *fresh.b;
    // Views are of two axes.
    std::vector<Value> views, values, effects;
    for (int64_t slot = 0; slot < 2; ++slot)
      views.push_back(g.reshape(fresh.input(slot, 12, 1 + 20 * slot), {3, 4}));
    auto any = [&](std::vector<Value> &from) {
      return from[from.size() - 1 -
                  std::min(below(from.size()), below(from.size()))];
    };
    auto matching = [&](Value like) {
      std::vector<Value> found;
      for (std::vector<Value> *from : {&views, &values})
        for (Value value : *from)
          if (getShape(value.getType()) == getShape(like.getType()))
            found.push_back(value);
      return any(found);
    };
    for (int step = 0; step < 14; ++step) {
      Value view = any(views);
      llvm::ArrayRef<int64_t> shape = getShape(view.getType());
      switch (below(8)) {
      case 0:
        views.push_back(g.permute(view, {1, 0}));
        break;
      case 1: {
        int64_t i = below(shape[0]), j = below(shape[1]);
        views.push_back(g.shrink(view, {i, i + 1 + below(shape[0] - i), j,
                                        j + 1 + below(shape[1] - j)}));
        break;
      }
      case 2:
        views.push_back(g.reshape(view, {shape[1], shape[0]}));
        break;
      case 3:
        values.push_back(g.add(view, matching(view)));
        break;
      case 4:
      case 5:
        effects.push_back(g.store(view, matching(view)));
        break;
      default:
        if (!effects.empty())
          views.push_back(g.after(
              view, below(4) || values.empty() ? any(effects) : any(values)));
      }
    }
    llvm::SmallVector<Value> sources;
    for (std::vector<Value> *from : {&views, &values, &effects})
      for (int i = 0; i < 3 && !from->empty(); ++i)
        sources.push_back(any(*from));
    std::shuffle(sources.begin(), sources.end(), random);
    Value root = g.sink(sources);
    ShapedResults results = fresh.run(root);
    ByDefinition definition(root, fresh.buffers);
    size_t output = 0;
    FailureOr<llvm::SmallVector<Value>> list = getResults(root);
    for (Value source : *list) {
      if (isa<VoidType>(source.getType()))
        continue;
      ASSERT_EQ(asInts(results.outputs[output++]), definition.read(source))
          << "round " << round;
    }
    for (const auto &[slot, array] : results.buffers)
      ASSERT_EQ(asInts(array), definition.getFinal(slot)) << "round " << round;
  }
}

} // namespace
