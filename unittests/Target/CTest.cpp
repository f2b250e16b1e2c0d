//===- CTest.cpp - tests of the C printer ---------------------------------===//
//
// Programs are written as they would be scheduled; their C is compared word for
// word, and for the arithmetic helpers by value.
//
//===----------------------------------------------------------------------===//

#include "Uop/Target/C.h"
#include "Uop/Graph/UniquingBuilder.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace uop;

namespace {

class CTest : public testing::Test {
protected:
  CTest() {
    context.loadDialect<UopDialect>();
    context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
      message += diagnostic.str();
      return success();
    });
  }

  /// The C of the program with this body, or "error: " and the message.
  std::string print(llvm::StringRef body, COptions options = {}) {
    message.clear();
    std::string text = ("uop.program @kernel {\n" + body + "\n}").str();
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
        text, ParserConfig(&context), /*sourceName=*/"dir/kernel.mlir");
    if (!module)
      return "parse error: " + message;
    return print(*module->getOps<ProgramOp>().begin(), options);
  }

  std::string print(ProgramOp program, COptions options = {}) {
    std::string c;
    llvm::raw_string_ostream os(c);
    if (failed(printC(program, os, options))) {
      EXPECT_EQ(c, "");
      return "error: " + message;
    }
    return c;
  }

  /// The right side of the C statement that stores `value` (an SSA name) of
  /// dtype `type`, computed by `body` from %f (f32), %g (f32), %h (f16), %k
  /// (f16), %i (i32), %j (i32), %p (bool), %q (bool): val1 to val8.
  std::string expression(llvm::StringRef body, llvm::StringRef type) {
    std::string text = "%zero = uop.const 0 : i32\n";
    const char *names[] = {"f", "g", "h", "k", "i", "j", "p", "q"};
    const char *types[] = {"f32", "f32", "f16", "f16",
                           "i32", "i32", "i1",  "i1"};
    for (unsigned n = 0; n < 8; ++n) {
      std::string mem = std::string("!uop.mem<4x") + types[n] + ", global>";
      std::string name = names[n];
      text += "%b" + name + " = uop.buffer " + std::to_string(n) + " : " + mem +
              "\n%p" + name + " = uop.index %b" + name + ", %zero : " + mem +
              ", i32\n%" + name + " = uop.load %p" + name + " : !uop.mem<" +
              types[n] + ", global>\n";
    }
    std::string t = type.str();
    text += "%bo = uop.buffer 8 : !uop.mem<4x" + t + ", global>\n" +
            "%po = uop.index %bo, %zero : !uop.mem<4x" + t +
            ", global>, i32\n" + body.str() +
            "\n%s = uop.store %po, %v : !uop.mem<" + t + ", global>, " + t +
            "\nuop.yield %s : !uop.void";
    std::string c = print(text);
    size_t start = c.find("data8[0] = ");
    if (start == std::string::npos)
      return c;
    start += 11;
    return c.substr(start, c.find(";\n", start) - start);
  }

  MLIRContext context;
  std::string message;
};

TEST_F(CTest, Expressions) {
  auto unary = [&](const char *op, const char *v, const char *type) {
    return expression(std::string("%v = uop.") + op + " %" + v + " : " + type,
                      type);
  };
  EXPECT_EQ(unary("recip", "f", "f32"), "(1.0f/val1)");
  EXPECT_EQ(unary("exp2", "f", "f32"), "exp2f(val1)");
  EXPECT_EQ(unary("log2", "f", "f32"), "log2f(val1)");
  EXPECT_EQ(unary("sqrt", "f", "f32"), "sqrtf(val1)");
  EXPECT_EQ(unary("sin", "f", "f32"), "sinf(val1)");
  EXPECT_EQ(unary("recip", "h", "f16"), "((_Float16)1.0f/val3)");
  EXPECT_EQ(unary("exp2", "h", "f16"), "((_Float16)exp2f(val3))");
  EXPECT_EQ(unary("sin", "h", "f16"), "((_Float16)sinf(val3))");

  EXPECT_EQ(expression("%v = uop.cast %f : f32 -> i32", "i32"),
            "((int)(val1))");
  EXPECT_EQ(expression("%v = uop.cast %i : i32 -> f16", "f16"),
            "((_Float16)(val5))");
  EXPECT_EQ(expression("%v = uop.cast %h : f16 -> i1", "i1"),
            "((_Bool)(val3))");

  EXPECT_EQ(expression("%v = uop.add %f, %g : f32", "f32"), "(val1+val2)");
  EXPECT_EQ(expression("%v = uop.mul %h, %k : f16", "f16"), "(val3*val4)");
  EXPECT_EQ(expression("%v = uop.add %p, %q : i1", "i1"), "(val7|val8)");
  EXPECT_EQ(expression("%v = uop.mul %p, %q : i1", "i1"), "(val7&val8)");
  EXPECT_EQ(expression("%v = uop.max %i, %j : i32", "i32"),
            "((val5>val6)?val5:val6)");
  EXPECT_EQ(expression("%v = uop.cmplt %f, %g : f32", "i1"), "(val1<val2)");
  EXPECT_EQ(expression("%v = uop.cmpne %p, %q : i1", "i1"), "(val7!=val8)");
  EXPECT_EQ(expression("%v = uop.where %p, %f, %g : i1, f32, f32", "f32"),
            "(val7?val1:val2)");
}

TEST_F(CTest, Constants) {
  auto constant = [&](const char *literal, const char *type) {
    return expression(std::string("%v = uop.const ") + literal +
                          (llvm::StringRef(type) == "i1" ? "" : " : ") +
                          (llvm::StringRef(type) == "i1" ? "" : type),
                      type);
  };
  EXPECT_EQ(constant("2.0", "f32"), "2.0f");
  EXPECT_EQ(constant("-0.0", "f32"), "-0.0f");
  EXPECT_EQ(constant("0.00001", "f32"), "1e-05f");
  EXPECT_EQ(constant("1.4426950408889634", "f32"), "1.442695f");
  EXPECT_EQ(constant("1.0e+30", "f32"), "1e+30f");
  EXPECT_EQ(constant("0x7FC00000", "f32"), "NAN");
  EXPECT_EQ(constant("0x7F800000", "f32"), "INFINITY");
  EXPECT_EQ(constant("0xFF800000", "f32"), "-INFINITY");
  EXPECT_EQ(constant("2.0", "f16"), "((_Float16)2.0f)");
  EXPECT_EQ(constant("0xFC00", "f16"), "((_Float16)-INFINITY)");
  EXPECT_EQ(constant("-7", "i32"), "-7");
  EXPECT_EQ(constant("-2147483648", "i32"), "(-2147483647-1)");
  EXPECT_EQ(constant("true", "i1"), "1");
  EXPECT_EQ(constant("false", "i1"), "0");
}

TEST_F(CTest, DivisionByWhatIsKnown) {
  const char *three = "%c = uop.const 3 : i32\n";
  auto divide = [&](std::string body) {
    return expression(three + body, "i32");
  };
  EXPECT_EQ(divide("%v = uop.floordiv %i, %c : i32"), "floordiv_i32(val5,3)");
  EXPECT_EQ(divide("%v = uop.floormod %i, %c : i32"), "floormod_i32(val5,3)");
  EXPECT_EQ(divide("%z = uop.const 0 : i32\n%m = uop.max %i, %z : i32\n"
                   "%v = uop.floordiv %m, %c : i32"),
            "(((val5>0)?val5:0)/3)");
  EXPECT_EQ(divide("%m = uop.floormod %i, %c : i32\n"
                   "%v = uop.floormod %m, %c : i32"),
            "(floormod_i32(val5,3)%3)");
  // A divisor that is not a positive constant.
  EXPECT_EQ(divide("%m = uop.cast %p : i1 -> i32\n"
                   "%v = uop.floordiv %m, %j : i32"),
            "floordiv_i32(((int)(val7)),val6)");
  EXPECT_EQ(divide("%m = uop.cast %p : i1 -> i32\n%z = uop.const 0 : i32\n"
                   "%v = uop.floormod %m, %z : i32"),
            "floormod_i32(((int)(val7)),0)");
}

TEST_F(CTest, NamesAndInlining) {
  // Two uses make a name; so does being an operand of MAX.
  EXPECT_EQ(print(R"(
    %zero = uop.const 0 : i32
    %b = uop.buffer 0 : !uop.mem<4xf32, global>
    %p = uop.index %b, %zero : !uop.mem<4xf32, global>, i32
    %l = uop.load %p : !uop.mem<f32, global>
    %a = uop.add %l, %l : f32
    %m = uop.mul %a, %a : f32
    %n = uop.exp2 %l : f32
    %x = uop.max %m, %n : f32
    %s = uop.store %p, %x : !uop.mem<f32, global>, f32
    uop.yield %s : !uop.void)"),
            R"(void kernel(float* restrict data0) {
  float val1 = data0[0];
  float alu2 = (val1+val1);
  float alu3 = (alu2*alu2);
  float alu4 = exp2f(val1);
  data0[0] = ((alu3>alu4)?alu3:alu4);
}
)");
}

TEST_F(CTest, ImplicitReadsAndGates) {
  EXPECT_EQ(print(R"(
    %zero = uop.const 0 : i32
    %one = uop.const 1 : i32
    %b = uop.buffer 0 : !uop.mem<4xf32, global>
    %n = uop.buffer 1 : !uop.mem<4xi32, global>
    %p = uop.index %b, %zero : !uop.mem<4xf32, global>, i32
    %i = uop.index %n, %one : !uop.mem<4xi32, global>, i32
    %a = uop.mul %p, %p : !uop.mem<f32, global>
    %q = uop.index %b, %i : !uop.mem<4xf32, global>, !uop.mem<i32, global>
    %g = uop.cmplt %i, %one : !uop.mem<i32, global>, i32
    %l = uop.load %q, %g, %a : !uop.mem<f32, global>, i1, f32
    %r = uop.range 0 loop %i : !uop.mem<i32, global>
    %s = uop.store %p, %q : !uop.mem<f32, global>, !uop.mem<f32, global>
    %e = uop.end %s, %r : !uop.void, i32
    %t = uop.store %q, %l : !uop.mem<f32, global>, f32
    %k = uop.sink %e, %t : !uop.void
    uop.yield %k : !uop.void)"),
            R"(void kernel(float* restrict data0, int* restrict data1) {
  float val1 = data0[0];
  int val2 = data1[1];
  int val3 = data1[1];
  float val4 = ((val3<1)?data0[val2]:(val1*val1));
  int val5 = data1[1];
  for (int ridx0 = 0; ridx0 < val5; ridx0++) {
    float val6 = data0[val2];
    data0[0] = val6;
  }
  data0[val2] = val4;
}
)");
}

TEST_F(CTest, MemoryAndAxisKinds) {
  EXPECT_EQ(print(R"(
    %n = uop.const 4 : i32
    %b = uop.buffer 2 : !uop.mem<4xf16, global>
    %r = uop.range 0 thread %n : i32
    %m = uop.add %r, %n : i32
    %u = uop.range 1 upcast %m : i32
    %a = uop.alloc 0 : !uop.mem<4xf16, local>
    %s = uop.alloc 1 : !uop.mem<1xf16, shared>
    %pa = uop.index %a, %u : !uop.mem<4xf16, local>, i32
    %zero = uop.const 0 : i32
    %ps = uop.index %s, %zero : !uop.mem<1xf16, shared>, i32
    %la = uop.load %pa : !uop.mem<f16, local>
    %st = uop.store %ps, %la : !uop.mem<f16, shared>, f16
    %e = uop.end %st, %u, %r : !uop.void, i32, i32
    uop.yield %e : !uop.void)"),
            R"(void kernel(_Float16* restrict data2) {
  #pragma omp parallel for
  for (int ridx0 = 0; ridx0 < 4; ridx0++) {
    for (int ridx1 = 0; ridx1 < (ridx0+4); ridx1++) {
      _Float16 acc0[4];
      _Float16 smem1[1];
      _Float16 val1 = acc0[ridx1];
      smem1[0] = val1;
    }
  }
}
)");
  EXPECT_EQ(print("%s = uop.sink()\nuop.yield %s : !uop.void"),
            "void kernel(void) {\n}\n");
}

TEST_F(CTest, Locations) {
  COptions options;
  options.name = "2 a-b";
  options.locations = true;
  EXPECT_EQ(print("%n = uop.const 4 : i32\n"
                  "%b = uop.buffer 0 : !uop.mem<4xf32, global>\n"
                  "%r = uop.range 0 loop %n : i32\n"
                  "%p = uop.index %b, %r : !uop.mem<4xf32, global>, i32\n"
                  "%l = uop.load %p : !uop.mem<f32, global>\n"
                  "%s = uop.store %p, %l : !uop.mem<f32, global>, f32\n"
                  "%e = uop.end %s, %r : !uop.void, i32\n"
                  "uop.yield %e : !uop.void",
                  options),
            R"(void _2_a_b(float* restrict data0) {
  for (int ridx0 = 0; ridx0 < 4; ridx0++) { // dir/kernel.mlir:4
    float val1 = data0[ridx0]; // dir/kernel.mlir:6
    data0[ridx0] = val1; // dir/kernel.mlir:7
  }
}
)");
}

TEST_F(CTest, Errors) {
  EXPECT_EQ(print("%n = uop.const 1 : i32\n%s = uop.sink %n : i32\n%b = "
                  "uop.barrier %s : !uop.void\n"
                  "uop.yield %b : !uop.void"),
            "error: BARRIER has no C form: it needs a GPU");
  EXPECT_EQ(print("%b = uop.buffer 0 : !uop.mem<4xf32, global>\n"
                  "%e = uop.exp2 %b : !uop.mem<4xf32, global>\n"
                  "uop.yield %e : tensor<4xf32>"),
            "error: EXP2 is shaped: run rangeify first");
  EXPECT_EQ(print("%b = uop.buffer 0 : !uop.mem<4xf32, global>\n"
                  "%e = uop.reshape %b [2, 2] : !uop.mem<4xf32, global>\n"
                  "uop.yield %e : !uop.mem<2x2xf32, global>"),
            "error: RESHAPE is shaped: run rangeify first");
  EXPECT_EQ(print("%p = uop.param 0 : f32\nuop.yield %p : f32"),
            "error: PARAM has no C form: run rangeify first");
  EXPECT_EQ(print("%p = uop.const 1 : i32\nuop.yield %p : i32"),
            "error: this program is one of shapes: run rangeify first");
  EXPECT_EQ(print("%a = uop.alloc 3 : !uop.mem<262145xf32, local>\n"
                  "%s = uop.sink %a : !uop.mem<262145xf32, local>\n"
                  "uop.yield %s : !uop.void"),
            "error: ALLOC slot 3 makes 1048580 bytes of local memory: the C "
            "stack holds at most 1048576");

  const std::string loops =
      "%n = uop.const 4 : i32\n%r = uop.range 0 loop %n : "
      "i32\n%q = uop.range 7 loop %n : i32\n"
      "%k = uop.sink %n : i32\n";
  auto tail = [&](std::string text, std::string root) {
    return print(loops + text + "uop.yield %" + root + " : !uop.void");
  };
  EXPECT_EQ(tail("", "k"),
            "error: loop 7 is never closed: run linearize first");
  EXPECT_EQ(tail("%e = uop.end %k, %r : !uop.void, i32\n", "e"),
            "error: END does not close the innermost loop, 7: run linearize "
            "first");
  EXPECT_EQ(tail("%e = uop.end %k, %q, %r : !uop.void, i32, i32\n"
                 "%f = uop.end %k, %r : !uop.void, i32\n",
                 "f"),
            "error: END closes a loop that is not open: run linearize first");
  EXPECT_EQ(tail("%e = uop.end %k, %q : !uop.void, i32\n"
                 "%a = uop.add %q, %r : i32\n",
                 "e"),
            "error: ADD uses RANGE outside of loop 7: run linearize first");
  EXPECT_EQ(tail("%o = uop.range 0 reduce %n : i32\n", "k"),
            "error: RANGE opens loop 0, which is open already: run linearize "
            "first");
}

TEST_F(CTest, Identifiers) {
  EXPECT_EQ(makeCIdentifier("gemm_4"), "gemm_4");
  EXPECT_EQ(makeCIdentifier("06-index view"), "_06_index_view");
  EXPECT_EQ(makeCIdentifier(""), "_");
  EXPECT_EQ(makeCIdentifier("int"), "int_");
  EXPECT_EQ(makeCIdentifier("main"), "main_");
  EXPECT_EQ(makeCIdentifier("exp2f"), "exp2f_");
  EXPECT_EQ(makeCIdentifier("fast"), "fast");
  EXPECT_EQ(makeCIdentifier("\xc3\xa9"), "k__");
  EXPECT_EQ(makeCIdentifier("__int128"), "k__int128");
  EXPECT_EQ(makeCIdentifier("_Bool"), "k_Bool");
  EXPECT_EQ(makeCIdentifier("exit"), "exit_");
  for (const char *name : {"_", "", "__x", "_X", "9", "9X", "int", "k__"}) {
    std::string once = makeCIdentifier(name);
    EXPECT_EQ(makeCIdentifier(once), once) << name;
  }
}

/// A builder on a program of its own.
struct Builder {
  explicit Builder(MLIRContext *context)
      : loc(UnknownLoc::get(context)), module(ModuleOp::create(loc)) {
    OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
    program = createProgram(builder, loc, "kernel");
    graph.emplace(&program.getBodyBlock());
  }
  ~Builder() {
    Block &block = program.getBodyBlock();
    while (!block.empty())
      block.back().erase();
  }
  Location loc;
  OwningOpRef<ModuleOp> module;
  ProgramOp program;
  std::optional<UniquingBuilder> graph;
};

TEST_F(CTest, DeepChainIsNamedEvery64Ops) {
  Builder b(&context);
  UniquingBuilder &g = *b.graph;
  Value pointer = g.index(g.buffer(0, DType::F32, 1), g.i32(0));
  Value x = g.load(pointer), y = x;
  constexpr int length = 1000000;
  for (int i = 0; i < length; ++i)
    y = g.add(y, i % 2 ? x : g.f32(1));
  finishProgram(b.program, g.sink(g.store(pointer, y)));
  std::string c = print(b.program);
  EXPECT_LT(c.size(), length * 12u);
  EXPECT_NE(c.find("alu15626 = "), std::string::npos);
  EXPECT_EQ(c.find("alu15627 = "), std::string::npos);
  unsigned depth = 0, deepest = 0;
  for (char ch : c) {
    depth += ch == '(' ? 1 : ch == ')' ? -1 : 0;
    deepest = std::max(deepest, depth);
  }
  EXPECT_EQ(deepest, 64u);
}

TEST_F(CTest, WidePrograms) {
  Builder b(&context);
  UniquingBuilder &g = *b.graph;
  Value buffer = g.buffer(0, DType::F32, 100000);
  // One large index, balanced so that its depth alone would not name it, under
  // a pointer with many uses.
  llvm::SmallVector<Value> level;
  Value in = g.load(g.index(g.buffer(1, DType::I32, 1), g.i32(0)));
  for (int i = 0; i < 1024; ++i)
    level.push_back(g.mul(in, g.i32(i + 2)));
  while (level.size() > 1) {
    for (size_t i = 0; i < level.size() / 2; ++i)
      level[i] = g.add(level[2 * i], level[2 * i + 1]);
    level.resize(level.size() / 2);
  }
  Value pointer = g.index(buffer, level[0]);
  llvm::SmallVector<Value> stores;
  for (int i = 0; i < 100000; ++i) {
    stores.push_back(g.store(g.index(buffer, g.i32(i)), g.f32(i)));
    stores.push_back(g.store(pointer, g.f32(i)));
  }
  finishProgram(b.program, g.sink(stores));
  std::string c = print(b.program);
  EXPECT_LT(c.size(), 200000u * 40u);
}

} // namespace
