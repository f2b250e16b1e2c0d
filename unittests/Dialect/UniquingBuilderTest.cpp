//===- UniquingBuilderTest.cpp - one value per structure ------------------===//
//
// Which nodes are one and which are not, folding included, and the table under
// erasure, adoption and many sources.
//
//===----------------------------------------------------------------------===//

#include "Graph.h"
#include "llvm/ADT/DenseSet.h"
#include <random>

using namespace mlir;
using namespace uop;
using uop::test::Graph;

namespace {

TEST(UniquingBuilder, ConstantsAreKeyedByTypeAndBits) {
  Graph g;
  llvm::DenseSet<Value> nodes{g->i32(1), g->f32(1), g->boolean(true), g->f32(0),
                              g->f32(-0.0f)};
  EXPECT_EQ(nodes.size(), 5u);
  EXPECT_EQ(g->i32(1), g->i32(1));
  EXPECT_EQ(g->f32(-0.0f), g->f32(-0.0f));
  EXPECT_EQ(g.size(), 5u);
  EXPECT_NE(g->constant(DType::F16, fromFloat(1)), g->f32(1));
  EXPECT_NE(g->i32(0), g->boolean(false));
}

TEST(UniquingBuilder, EveryNanIsOne) {
  Graph g;
  Value nan = g->constant(DType::F32, 0x7fc00000);
  for (Word bits : {0x7fc00001u, 0xffc00000u, 0x7f800001u, 0xffffffffu}) {
    EXPECT_EQ(g->constant(DType::F32, bits), nan);
    auto attr = FloatAttr::get(
        g.type(DType::F32),
        llvm::APFloat(llvm::APFloat::IEEEsingle(), llvm::APInt(32, bits)));
    EXPECT_EQ(g->get(OpCode::Const, {}, {attr, {}}), nan);
    EXPECT_EQ(g->lookup(OpCode::Const, {}, {attr, {}}), nan);
    OpBuilder builder = OpBuilder::atBlockEnd(g->getBlock());
    auto op = ConstOp::create(builder, g->getLoc(), g.type(DType::F32),
                              cast<TypedAttr>(Attribute(attr)));
    EXPECT_EQ(g->adopt(op), nan);
    op.erase();
  }
  EXPECT_EQ(g->constant(DType::F16, 0xffc00000),
            g->constant(DType::F16, 0x7fc00000));
  EXPECT_NE(g->constant(DType::F16, 0x7fc00000), nan);
}

TEST(UniquingBuilder, StructureIsIdentity) {
  Graph g;
  Value x = g->param(0, g.type(DType::F32)),
        y = g->param(1, g.type(DType::F32));
  EXPECT_EQ(g->add(x, y), g->add(x, y));
  EXPECT_NE(g->add(x, y), g->add(y, x));
  EXPECT_NE(g->add(x, y), g->mul(x, y));
  EXPECT_NE(x, g->param(0, g.type(DType::I32)));
  EXPECT_NE(x, g->param(2, g.type(DType::F32)));
  EXPECT_NE(g->buffer(0, DType::F32, 4), g->alloc(0, DType::F32, 4));
  EXPECT_NE(g->alloc(0, DType::F32, 4),
            g->alloc(0, DType::F32, 4, AddrSpace::Shared));
  EXPECT_EQ(g->buffer(0, DType::F32, 4), g->buffer(0, DType::F32, 4));
  Value n = g->i32(4);
  EXPECT_EQ(g->range(n, 0), g->range(n, 0));
  EXPECT_NE(g->range(n, 0), g->range(n, 1));
  EXPECT_NE(g->range(n, 0), g->range(n, 0, AxisKind::Reduce));
  Value v = g->reshape(x, {1, 1});
  EXPECT_EQ(v, g->reshape(x, {1, 1}));
  EXPECT_NE(v, g->reshape(x, {1}));
  EXPECT_NE(g->expand(v, {2, 1}), g->expand(v, {1, 2}));
  EXPECT_NE(g->permute(v, {0, 1}), g->permute(v, {1, 0}));
  EXPECT_NE(g->reduce(v, ReduceKind::Add, 1), g->reduce(v, ReduceKind::Max, 1));
  EXPECT_NE(g->reduce(v, ReduceKind::Add, 1), g->reduce(v, ReduceKind::Add, 2));
  EXPECT_NE(g->get(OpCode::Stage, x), g->get(OpCode::Stage, x, {{}, {}, 1}));
  EXPECT_NE(g->cast(x, DType::F16), g->cast(x, DType::I32));
  Value f =
      g->get(OpCode::Call, {g->f32(1)}, {StringAttr::get(&g.context, "f"), {}});
  EXPECT_NE(f, g->get(OpCode::Call, {g->f32(1)},
                      {StringAttr::get(&g.context, "g"), {}}));
  EXPECT_TRUE(succeeded(verify(*g.module)));
}

TEST(UniquingBuilder, LookupBuildsNothing) {
  Graph g;
  Value x = g->f32(1);
  EXPECT_FALSE(g->lookup(OpCode::Add, {x, x}, {}));
  EXPECT_EQ(g.size(), 1u);
  Value sum = g->add(x, x);
  EXPECT_EQ(g->lookup(OpCode::Add, {x, x}, {}), sum);
}

TEST(UniquingBuilder, ForgottenNodesAreBuiltAgain) {
  Graph g;
  Value x = g->f32(1);
  Operation *op = g->add(x, x).getDefiningOp();
  g->forget(op);
  EXPECT_FALSE(g->lookup(OpCode::Add, {x, x}, {}));
  g->forget(op); // twice is harmless
  op->erase();
  EXPECT_TRUE(g->add(x, x));
  EXPECT_EQ(g.size(), 2u);
}

TEST(UniquingBuilder, AdoptedNodesAreFound) {
  Graph g;
  Value x = g->f32(1);
  OpBuilder builder = OpBuilder::atBlockEnd(g->getBlock());
  auto first = AddOp::create(builder, g->getLoc(), x, x);
  auto second = AddOp::create(builder, g->getLoc(), x, x);
  EXPECT_EQ(g->adopt(first), first.getResult());
  EXPECT_EQ(g->adopt(second), first.getResult());
  EXPECT_EQ(g->add(x, x), first.getResult());

  UniquingBuilder again(g->getBlock());
  EXPECT_EQ(again.add(x, x), first.getResult()) << "of equal ops, the first";
}

TEST(UniquingBuilder, BuildsBeforeTheTerminator) {
  Graph g;
  OpBuilder at = OpBuilder::atBlockEnd(g->getBlock());
  ProgramOp program = createProgram(at, g->getLoc(), "p");
  {
    UniquingBuilder builder(&program.getBodyBlock());
    finishProgram(program, builder.f32(1));
  }
  UniquingBuilder builder(&program.getBodyBlock());
  Value two = builder.f32(2);
  EXPECT_TRUE(isa<YieldOp>(program.getBodyBlock().back()));
  EXPECT_EQ(two.getDefiningOp()->getNextNode(), &program.getBodyBlock().back());
  EXPECT_TRUE(succeeded(verify(*g.module)));
}

TEST(UniquingBuilder, RebuildKeepsArgAndLocation) {
  Graph g;
  auto loc = FileLineColLoc::get(&g.context, "a.uir", 3, 1);
  g->setLoc(loc);
  Value r = g->reduce(g->reshape(g->f32(1), {1, 1}), ReduceKind::Max, 1);
  g->setLoc(UnknownLoc::get(&g.context));
  Value other = g->reshape(g->i32(1), {1, 1});
  Value rebuilt = g->rebuild(r.getDefiningOp(), other);
  EXPECT_EQ(rebuilt.getType(), g.type(DType::I32, {1}));
  EXPECT_EQ(rebuilt.getLoc(), loc);
  EXPECT_EQ(g->getLoc(), UnknownLoc::get(&g.context));
  EXPECT_EQ(g->rebuild(r.getDefiningOp(), r.getDefiningOp()->getOperands()), r);
}

TEST(UniquingBuilder, ManySources) {
  Graph g;
  llvm::SmallVector<Value> values;
  for (int i = 0; i < 100000; ++i)
    values.push_back(g->i32(i));
  Value sink = g->sink(values);
  EXPECT_EQ(g->sink(values), sink);
  std::swap(values[17], values[99999]);
  EXPECT_NE(g->sink(values), sink);
  EXPECT_EQ(g->get(OpCode::Stack, values).getType(),
            g.type(DType::I32, {100000}));
}

/// The table against a plain list of what is alive, under random erasure.
TEST(UniquingBuilder, RandomForgettingAndBuilding) {
  Graph g;
  std::mt19937 random(7);
  std::vector<Value> leaves;
  for (int i = 0; i < 40; ++i)
    leaves.push_back(g->i32(i));
  std::map<std::pair<unsigned, unsigned>, Value> alive;
  for (int step = 0; step < 100000; ++step) {
    unsigned a = random() % leaves.size(), b = random() % leaves.size();
    auto it = alive.find({a, b});
    Value known = g->lookup(OpCode::Add, {leaves[a], leaves[b]}, {});
    ASSERT_EQ(known, it == alive.end() ? Value() : it->second);
    if (it != alive.end() && random() % 2) {
      Operation *op = it->second.getDefiningOp();
      g->forget(op);
      op->erase();
      alive.erase(it);
      continue;
    }
    Value value = g->add(leaves[a], leaves[b]);
    ASSERT_TRUE(!known || known == value);
    alive[{a, b}] = value;
  }
  EXPECT_EQ(g.size(), leaves.size() + alive.size());
}

} // namespace
