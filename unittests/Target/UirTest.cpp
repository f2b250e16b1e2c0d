//===- UirTest.cpp - literals and round trips of .uir ---------------------===//
//
// Literals read back as the bits they were printed from; printed programs parse
// back to the same graph.
//
//===----------------------------------------------------------------------===//

#include "Uop/Target/Uir.h"
#include "Uop/Graph/Walk.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"
#include <cmath>
#include <random>

using namespace mlir;
using namespace uop;

namespace {

OwningOpRef<ModuleOp> parse(llvm::StringRef text, MLIRContext &context) {
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBuffer(text, "test.uir",
                                       /*RequiresNullTerminator=*/false),
      llvm::SMLoc());
  return parseUir(sources, &context);
}

std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printUir(*module.getOps<ProgramOp>().begin(), os);
  return text;
}

/// The word of `const LITERAL : dtype=DTYPE`.
Word read(llvm::StringRef literal, DType dtype, MLIRContext &context) {
  std::string text =
      ("%0 = const " + literal + " : dtype=" + getName(dtype)).str();
  OwningOpRef<ModuleOp> module = parse(text, context);
  EXPECT_TRUE(module) << text;
  if (!module)
    return 0xdeadbeef;
  ProgramOp program = *module->getOps<ProgramOp>().begin();
  return getWord(program.getRoot().getDefiningOp<ConstOp>().getValueAttr());
}

TEST(UirLiteral, Layout) {
  auto f32 = [](float f) { return formatLiteral(DType::F32, fromFloat(f)); };
  EXPECT_EQ(f32(1.0f), "1.0");
  EXPECT_EQ(f32(0.1f), "0.1");
  EXPECT_EQ(f32(-0.0f), "-0.0");
  EXPECT_EQ(f32(123.456f), "123.456");
  EXPECT_EQ(f32(1e-4f), "0.0001");
  EXPECT_EQ(f32(1e-5f), "1e-05");
  EXPECT_EQ(f32(1e15f), "1000000000000000.0");
  EXPECT_EQ(f32(1e16f), "1e+16");
  EXPECT_EQ(f32(1.5e20f), "1.5e+20");
  EXPECT_EQ(f32(3.40282347e38f), "3.4028235e+38");
  EXPECT_EQ(f32(-INFINITY), "-inf");
  EXPECT_EQ(f32(NAN), "nan");
  EXPECT_EQ(formatLiteral(DType::I32, 0x80000000), "-2147483648");
  EXPECT_EQ(formatLiteral(DType::Bool, 1), "true");
  EXPECT_EQ(formatLiteral(DType::F16, fromFloat(fromHalfBits(1))), "6e-08");
}

TEST(UirLiteral, EveryHalfReadsBack) {
  MLIRContext context;
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    Word word = fromFloat(fromHalfBits(bits));
    if (std::isnan(toFloat(word)))
      continue;
    ASSERT_EQ(read(formatLiteral(DType::F16, word), DType::F16, context), word)
        << formatLiteral(DType::F16, word);
  }
}

TEST(UirLiteral, RandomFloatsReadBack) {
  MLIRContext context;
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    Word word = random();
    if (std::isnan(toFloat(word)))
      continue;
    ASSERT_EQ(read(formatLiteral(DType::F32, word), DType::F32, context), word)
        << formatLiteral(DType::F32, word);
  }
}

TEST(UirLiteral, RoundedOnce) {
  MLIRContext context;
  // Halfway between two f32 but for the last digit, which a double loses.
  EXPECT_EQ(read("1.00000005960464477539062500001", DType::F32, context),
            0x3f800001u);
  EXPECT_EQ(read("16777217", DType::F32, context), fromFloat(16777216.0f));
  EXPECT_EQ(read("0x1_00_00_00_00_00_00_00_00_00", DType::F32, context),
            fromFloat(std::ldexp(1.0f, 72)));
  EXPECT_EQ(
      read("-340282346638528859811704183484516925440", DType::F32, context),
      0xff7fffffu);
  EXPECT_EQ(read("1e-400", DType::F32, context), 0u);
  EXPECT_EQ(read("-0", DType::F32, context), 0u);
  EXPECT_EQ(read("2.0", DType::I32, context), 2u);
  EXPECT_EQ(read("-2147483648.0", DType::I32, context), 0x80000000u);
}

TEST(Uir, AnySourceOfAnyConstant) {
  // Every mixture of constants and names of four dtypes under ops that take any
  // types, so that each rule of literal typing is met.
  MLIRContext context;
  context.loadDialect<UopDialect>();
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
    OpBuilder at = OpBuilder::atBlockEnd(module->getBody());
    ProgramOp program = createProgram(at, at.getUnknownLoc(), "test");
    UniquingBuilder builder(&program.getBodyBlock());
    auto source = [&]() -> Value {
      DType dtypes[] = {DType::Bool, DType::I32, DType::F32, DType::F16};
      DType dtype = dtypes[random() % 4];
      if (random() % 3 == 0) {
        Value pointer = builder.index(
            builder.buffer(static_cast<int>(dtype), dtype, 4), builder.i32(1));
        return builder.load(pointer);
      }
      if (dtype == DType::Bool)
        return builder.boolean(random() % 2);
      if (dtype == DType::I32)
        return builder.i32(random());
      return builder.constant(dtype, fromFloat(random() % 8));
    };
    llvm::SmallVector<Value> roots;
    for (int i = 0; i < 3; ++i) {
      llvm::SmallVector<Value> sources;
      for (unsigned n = 1 + random() % 5; n; --n)
        sources.push_back(source());
      Value effect =
          builder.get(random() % 2 ? OpCode::Sink : OpCode::Barrier, sources);
      roots.push_back(effect);
      Value a = source();
      roots.push_back(builder.get(OpCode::Stack, {a, a}));
      roots.push_back(builder.where(builder.boolean(random() % 2), a, a));
      roots.push_back(source());
    }
    std::shuffle(roots.begin(), roots.end(), random);
    finishProgram(program, builder.sink(roots));

    std::string text = print(*module);
    OwningOpRef<ModuleOp> back = parse(text, context);
    ASSERT_TRUE(back) << text;
    ProgramOp again = *back->getOps<ProgramOp>().begin();
    EXPECT_EQ(print(*back), text);
    // The same graph: everything there is already.
    UniquingBuilder known(&program.getBodyBlock());
    size_t before = program.getBodyBlock().getOperations().size();
    EXPECT_EQ(copyInto(known, again.getRoot()), program.getRoot()) << text;
    EXPECT_EQ(program.getBodyBlock().getOperations().size(), before) << text;
  }
}

TEST(Uir, Sniffing) {
  EXPECT_TRUE(isUir("a.uir", "module {}"));
  EXPECT_FALSE(isUir("a.mlir", "%0 = const 1"));
  EXPECT_TRUE(isUir("-", "# comment\n\n  %0 = const 1\n"));
  EXPECT_TRUE(isUir("<stdin>", "\xef\xbb\xbf%a b = PARAM: slot=0"));
  EXPECT_FALSE(isUir("-", "%0 = uop.const 1 : i32"));
  EXPECT_FALSE(isUir("-", "%0 = \"uop.const\"() : () -> i32"));
  EXPECT_FALSE(isUir("-", "#map = affine_map<() -> ()>\nmodule {}"));
  EXPECT_FALSE(isUir("-", ""));
}

TEST(Uir, DeadStatementsAreNoPartOfTheProgram) {
  MLIRContext context;
  OwningOpRef<ModuleOp> module =
      parse("%0 = const 1\n%1 = buffer 4\n%2 = add %0, 2\n", context);
  ASSERT_TRUE(module);
  ProgramOp program = *module->getOps<ProgramOp>().begin();
  EXPECT_EQ(program.getBodyBlock().getOperations().size(), 4u);
  EXPECT_EQ(print(*module), "%0 = add 1, 2\n");
}

} // namespace
