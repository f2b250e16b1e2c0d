//===- TypingTest.cpp - typing rules that no MLIR text reaches ------------===//
//
// The messages that MLIR's own checks come before when a program is text, the
// types that the rules give, and rules over large graphs.
//
//===----------------------------------------------------------------------===//

#include "Graph.h"

using namespace mlir;
using namespace uop;
using uop::test::Graph;

namespace {

TEST(Typing, SourceCounts) {
  Graph g;
  Value x = g->f32(1), i = g->i32(1), c = g->boolean(true);
  auto f32 = getConstantAttr(&g.context, DType::F32, fromFloat(3));
  EXPECT_EQ(g.getError(OpCode::Const, x, {f32, {}}), "CONST has no sources");
  EXPECT_EQ(g.getError(OpCode::Param, x, {{}, x.getType(), 0}),
            "PARAM has no sources");
  EXPECT_EQ(g.getError(OpCode::Buffer, x), "BUFFER has no sources");
  EXPECT_EQ(g.getError(OpCode::Alloc, x), "ALLOC has no sources");
  EXPECT_EQ(g.getError(OpCode::Stack, {}), "STACK of nothing");
  EXPECT_EQ(g.getError(OpCode::Index, {}),
            "INDEX takes at least 1 source, got 0");
  EXPECT_EQ(g.getError(OpCode::Call, {}),
            "CALL takes at least 1 source, got 0");
  EXPECT_EQ(g.getError(OpCode::Barrier, {}),
            "BARRIER takes at least 1 source, got 0");
  EXPECT_EQ(g.getError(OpCode::After, x),
            "AFTER takes at least 2 sources, got 1");
  EXPECT_EQ(g.getError(OpCode::End, {}), "END takes at least 2 sources, got 0");
  EXPECT_EQ(g.getError(OpCode::Load, {}), "LOAD takes 1 or 3 sources, got 0");
  EXPECT_EQ(g.getError(OpCode::Store, x), "STORE takes 2 sources, got 1");
  EXPECT_EQ(g.getError(OpCode::Store, {x, x, x}),
            "STORE takes 2 sources, got 3");
  EXPECT_EQ(g.getError(OpCode::Add, x), "ADD takes 2 sources, got 1");
  EXPECT_EQ(g.getError(OpCode::Exp2, {x, x}), "EXP2 takes 1 source, got 2");
  EXPECT_EQ(g.getError(OpCode::Cast, {}), "CAST takes 1 source, got 0");
  EXPECT_EQ(g.getError(OpCode::Where, {c, x}), "WHERE takes 3 sources, got 2");
  EXPECT_EQ(g.getError(OpCode::Wmma, {x, x}), "WMMA takes 3 sources, got 2");
  EXPECT_EQ(g.getError(OpCode::Range, {i, i}), "RANGE takes 1 source, got 2");
  EXPECT_EQ(g.getError(OpCode::Reduce, {}), "REDUCE takes 1 source, got 0");
  EXPECT_EQ(g.size(), 3u) << "a malformed UOp must not be built";
}

TEST(Typing, TypesAsArgs) {
  Graph g;
  Type f64 = Float64Type::get(&g.context);
  EXPECT_EQ(g.getError(OpCode::Const, {}), "CONST is a bool, i32, f16 or f32");
  EXPECT_EQ(g.getError(OpCode::Const, {}, {FloatAttr::get(f64, 1.0), {}}),
            "CONST is a bool, i32, f16 or f32");
  EXPECT_EQ(g.getError(OpCode::Param, {}, {{}, f64, 0}),
            "PARAM needs a type of uop");
  EXPECT_EQ(g.getError(OpCode::Buffer, {}, {{}, f64, 0}),
            "BUFFER needs a type of uop");
  EXPECT_EQ(g.getError(OpCode::Alloc, {}, {{}, VoidType::get(&g.context), 0}),
            "ALLOC of void");
  EXPECT_EQ(g.getError(OpCode::Cast, g->f32(1), {{}, f64, 0}), "CAST to void");
  EXPECT_EQ(g.getError(OpCode::Cast, g->f32(1)), "CAST to void");
}

/// Memory is read where a value is needed, and keeps its space where it is
/// moved.
TEST(Typing, SpacesAndShapes) {
  Graph g;
  Value b = g->buffer(0, DType::F16, 6);
  Value v = g->reshape(b, {2, 3});
  EXPECT_EQ(v.getType(), MemType::get(&g.context, {2, 3}, g.type(DType::F16),
                                      AddrSpace::Global));
  EXPECT_EQ(g->add(v, v).getType(), g.type(DType::F16, {2, 3}));
  EXPECT_EQ(g->get(OpCode::CmpLt, {v, v}).getType(),
            g.type(DType::Bool, {2, 3}));
  EXPECT_EQ(g->cast(v, DType::F16).getType(), g.type(DType::F16, {2, 3}));
  EXPECT_EQ(
      g->permute(v, {1, 0}).getType(),
      MemType::get(&g.context, {3, 2}, g.type(DType::F16), AddrSpace::Global));
  EXPECT_EQ(g->reduce(v, ReduceKind::Add, 0).getType(),
            g.type(DType::F16, {2, 3}));
  EXPECT_EQ(g->reduce(v, ReduceKind::Max, 2).getType(), g.type(DType::F16));
  EXPECT_EQ(
      g->shrink(v, {1, 1, 0, 3}).getType(),
      MemType::get(&g.context, {0, 3}, g.type(DType::F16), AddrSpace::Global));
  EXPECT_EQ(
      g->index(v, {g->i32(0), g->i32(1)}).getType(),
      MemType::get(&g.context, {}, g.type(DType::F16), AddrSpace::Global));
  EXPECT_EQ(g->get(OpCode::Stage, v).getType(), g.type(DType::F16, {2, 3}));
  EXPECT_EQ(g->get(OpCode::Stack, {v, g->add(v, v)}).getType(),
            g.type(DType::F16, {2, 2, 3}));
  EXPECT_TRUE(succeeded(verify(*g.module)));
}

TEST(Typing, CountsThatOverflow) {
  EXPECT_EQ(getNumElements({}), 1);
  EXPECT_EQ(getNumElements({2, 3, 0}), 0);
  EXPECT_EQ(getNumElements({int64_t(1) << 32, int64_t(1) << 31}), std::nullopt);
  EXPECT_EQ(getNumElements({int64_t(1) << 32, int64_t(1) << 31, 0}), 0);
  EXPECT_EQ(getNumElements({int64_t(1) << 31, int64_t(1) << 31}), int64_t(1)
                                                                      << 62);
}

TEST(Typing, Names) {
  EXPECT_EQ(getName(OpCode::FloorDiv), "FLOORDIV");
  EXPECT_EQ(getMnemonic(OpCode::Wmma), "wmma");
  EXPECT_EQ(parseOpCode("Reshape"), OpCode::Reshape);
  EXPECT_EQ(parseOpCode("frob"), std::nullopt);
  EXPECT_EQ(parseOpCode(""), std::nullopt);
  EXPECT_EQ(parseDType("f16"), DType::F16);
  EXPECT_EQ(parseDType("f64"), std::nullopt);
  EXPECT_EQ(formatShape({}), "()");
  EXPECT_EQ(formatShape({4}), "(4,)");
  EXPECT_EQ(formatShape({2, 3}), "(2, 3)");
}

/// A body of 200,000 nodes in one chain, then as many PARAM slots.
TEST(Typing, LargeCallBodies) {
  Graph g;
  Value body = g->param(0, g.type(DType::I32));
  Value one = g->i32(1);
  for (int i = 0; i < 200000; ++i)
    body = g->add(body, one);
  auto name = StringAttr::get(&g.context, "f");
  Value call = g->get(OpCode::Call, {body, one}, {name, {}});
  ASSERT_TRUE(call);

  Value wide = g->param(0, g.type(DType::I32));
  llvm::SmallVector<Value> sources{Value(), one};
  for (int i = 1; i < 20000; ++i) {
    wide = g->add(wide, g->param(i, g.type(DType::I32)));
    sources.push_back(one);
  }
  sources[0] = wide;
  EXPECT_TRUE(g->get(OpCode::Call, sources, {name, {}}));
  sources.pop_back();
  EXPECT_NE(g.getError(OpCode::Call, sources, {name, {}}), "");
}

TEST(Typing, ManyLoops) {
  Graph g;
  Value n = g->i32(2);
  llvm::SmallVector<Value> sources{n};
  for (int i = 0; i < 100000; ++i)
    sources.push_back(g->range(n, i));
  EXPECT_TRUE(g->get(OpCode::End, sources));
  sources.push_back(sources[4]);
  EXPECT_EQ(g.getError(OpCode::End, sources), "END names loop 3 twice");
}

/// A nested body is a scope of its own; its arguments are not.
TEST(Typing, NestedCalls) {
  Graph g;
  auto name = StringAttr::get(&g.context, "f");
  Value p0 = g->param(0, g.type(DType::I32)),
        p1 = g->param(1, g.type(DType::I32));
  Value inner = g->get(OpCode::Call, {g->mul(p0, p0), p1}, {name, {}});
  EXPECT_EQ(g.getError(OpCode::Call, {inner, g->i32(1)}, {name, {}}),
            "CALL needs params 0..0, body has [1]");
  Value both = g->add(inner, p0);
  EXPECT_EQ(getParams(both).size(), 2u);
  EXPECT_TRUE(g->get(OpCode::Call, {both, g->i32(1), g->i32(2)}, {name, {}}));
}

} // namespace
