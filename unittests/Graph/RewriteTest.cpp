//===- RewriteTest.cpp - tests of graphRewrite ----------------------------===//
//
// Small rule sets on small graphs, the ways in which rules misbehave, and the
// time that a large graph takes.
//
//===----------------------------------------------------------------------===//

#include "Uop/Graph/Rewrite.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace uop;

namespace {

/// A rule written as a function, under a name.
template <typename OpT> struct Rule : OpRewritePattern<OpT> {
  using Function = std::function<LogicalResult(OpT, PatternRewriter &)>;
  Rule(MLIRContext *context, llvm::StringRef name, Function function)
      : OpRewritePattern<OpT>(context), function(std::move(function)) {
    this->setDebugName(name);
  }
  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    return function(op, rewriter);
  }
  Function function;
};

bool isConst(Value value, Word word) {
  auto constant = value.getDefiningOp<ConstOp>();
  return constant && getWord(constant.getValueAttr()) == word;
}

Value makeI32(PatternRewriter &rewriter, Location loc, int32_t value) {
  return ConstOp::create(rewriter, loc, rewriter.getI32Type(),
                         cast<TypedAttr>(rewriter.getI32IntegerAttr(value)));
}

class RewriteTest : public testing::Test {
protected:
  RewriteTest() {
    rules.emplace(&context);
    context.loadDialect<UopDialect>();
    context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
      message += diagnostic.str();
      return success();
    });
  }

  template <typename OpT>
  void rule(llvm::StringRef name, typename Rule<OpT>::Function function) {
    rules->add<Rule<OpT>>(&context, name, std::move(function));
  }

  /// x * 1 -> x.
  void addMulOne() {
    rule<MulOp>("mul-one", [](MulOp op, PatternRewriter &rewriter) {
      if (!isConst(op.getRhs(), 1))
        return failure();
      rewriter.replaceOp(op, op.getLhs());
      return success();
    });
  }

  void parse(llvm::StringRef body) {
    module = parseSourceString<ModuleOp>(
        ("uop.program @p {\n" + body + "\n}").str(), ParserConfig(&context));
    ASSERT_TRUE(module) << message;
    program = *module->getOps<ProgramOp>().begin();
  }

  /// The ops of the rewritten program, by mnemonic; "error: " and the message
  /// when rewriting fails.
  std::string rewrite(RewriteOptions options = {}) {
    FrozenRewritePatternSet patterns(std::move(*rules));
    rules.emplace(&context);
    std::string before = print();
    FailureOr<RewriteStats> result = graphRewrite(program, patterns, options);
    EXPECT_TRUE(succeeded(verify(*module)));
    if (failed(result)) {
      EXPECT_EQ(print(), before);
      return "error: " + message;
    }
    stats = *result;
    return print();
  }

  std::string print() {
    std::string text;
    for (Operation &op : program.getBodyBlock().without_terminator())
      text += (text.empty() ? "" : " ") + getMnemonic(*getOpCode(&op)).str();
    return text;
  }

  MLIRContext context;
  std::optional<RewritePatternSet> rules;
  OwningOpRef<ModuleOp> module;
  ProgramOp program;
  RewriteStats stats;
  std::string message;
};

TEST_F(RewriteTest, ReplacesByASource) {
  addMulOne();
  parse(R"(
    %x = uop.param 0 : i32
    %1 = uop.const 1 : i32
    %a = uop.mul %x, %1 : i32
    %b = uop.mul %a, %1 : i32
    %c = uop.add %b, %a : i32
    uop.yield %c : i32)");
  EXPECT_EQ(rewrite(), "param add");
  auto add = program.getRoot().getDefiningOp<AddOp>();
  EXPECT_EQ(add.getLhs(), add.getRhs());
  EXPECT_EQ(stats.nodesBefore, 5);
  EXPECT_EQ(stats.nodesAfter, 2);
  // The second product is the first over again, once that has become x.
  EXPECT_EQ(stats.fired["mul-one"], 1);
}

TEST_F(RewriteTest, NothingMatches) {
  addMulOne();
  parse("%x = uop.param 0 : i32\n%y = uop.mul %x, %x : i32\n"
        "uop.yield %y : i32");
  EXPECT_EQ(rewrite(), "param mul");
  EXPECT_EQ(stats.getSteps(), 0);
}

TEST_F(RewriteTest, CreatedNodesAreRewritten) {
  addMulOne();
  // x + x -> x * 2, and x * n -> (x * (n / 2)) * 2 for even n > 2: down to x.
  rule<AddOp>("add-self", [](AddOp op, PatternRewriter &rewriter) {
    if (op.getLhs() != op.getRhs())
      return failure();
    Value eight = makeI32(rewriter, op.getLoc(), 8);
    rewriter.replaceOpWithNewOp<MulOp>(op, op.getType(), op.getLhs(), eight);
    return success();
  });
  rule<MulOp>("halve", [](MulOp op, PatternRewriter &rewriter) {
    auto constant = op.getRhs().getDefiningOp<ConstOp>();
    if (!constant || getWord(constant.getValueAttr()) % 2)
      return failure();
    Value half =
        makeI32(rewriter, op.getLoc(), getWord(constant.getValueAttr()) / 2);
    Value inner =
        MulOp::create(rewriter, op.getLoc(), op.getType(), op.getLhs(), half);
    rewriter.replaceOpWithNewOp<CmpNeOp>(op, rewriter.getI1Type(), inner, half);
    return success();
  });
  parse("%x = uop.param 0 : i32\n%y = uop.add %x, %x : i32\n"
        "uop.yield %y : i32");
  EXPECT_EQ(rewrite(), "error: rule 'halve' changes the type of MUL from 'i32' "
                       "to 'i1'");
}

TEST_F(RewriteTest, ChainsToAFixedPoint) {
  addMulOne();
  rule<AddOp>("add-self", [](AddOp op, PatternRewriter &rewriter) {
    if (op.getLhs() != op.getRhs())
      return failure();
    Value eight = makeI32(rewriter, op.getLoc(), 8);
    rewriter.replaceOpWithNewOp<MulOp>(op, op.getType(), op.getLhs(), eight);
    return success();
  });
  rule<MulOp>("halve", [](MulOp op, PatternRewriter &rewriter) {
    auto constant = op.getRhs().getDefiningOp<ConstOp>();
    if (!constant || getWord(constant.getValueAttr()) % 2)
      return failure();
    Value half =
        makeI32(rewriter, op.getLoc(), getWord(constant.getValueAttr()) / 2);
    rewriter.replaceOpWithNewOp<MulOp>(op, op.getType(), op.getLhs(), half);
    return success();
  });
  parse("%x = uop.param 0 : i32\n%y = uop.add %x, %x : i32\n"
        "uop.yield %y : i32");
  EXPECT_EQ(rewrite(), "param");
  EXPECT_EQ(stats.fired["add-self"], 1);
  EXPECT_EQ(stats.fired["halve"], 3);
  EXPECT_EQ(stats.fired["mul-one"], 1);
}

TEST_F(RewriteTest, CreatedNodesAreShared) {
  // exp2 x -> (x + 1) * (x + 1), its two sums created apart; x + 1 exists.
  rule<Exp2Op>("expand", [](Exp2Op op, PatternRewriter &rewriter) {
    Value sums[2];
    for (Value &sum : sums) {
      Value one = ConstOp::create(rewriter, op.getLoc(), rewriter.getF32Type(),
                                  cast<TypedAttr>(rewriter.getF32FloatAttr(1)));
      sum = AddOp::create(rewriter, op.getLoc(), op.getType(), op.getSource(),
                          one);
    }
    rewriter.replaceOpWithNewOp<MulOp>(op, op.getType(), sums[0], sums[1]);
    return success();
  });
  parse(R"(
    %x = uop.param 0 : f32
    %1 = uop.const 1.0 : f32
    %a = uop.add %x, %1 : f32
    %e = uop.exp2 %x : f32
    %f = uop.exp2 %a : f32
    %s = uop.add %e, %f : f32
    %t = uop.add %a, %s : f32
    uop.yield %t : f32)");
  // The sum of x and 1 is one node; exp2 of it needs one more.
  EXPECT_EQ(rewrite(), "param const add mul add mul add add");
}

TEST_F(RewriteTest, ChangesInPlace) {
  rule<AddOp>("order", [](AddOp op, PatternRewriter &rewriter) {
    if (!isa<ConstOp>(op.getLhs().getDefiningOp()) ||
        isa<ConstOp>(op.getRhs().getDefiningOp()))
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      Value lhs = op.getLhs();
      op->setOperands({op.getRhs(), lhs});
    });
    return success();
  });
  parse(R"(
    %x = uop.param 0 : i32
    %1 = uop.const 1 : i32
    %a = uop.add %1, %x : i32
    %b = uop.add %x, %1 : i32
    %c = uop.mul %a, %b : i32
    uop.yield %c : i32)");
  EXPECT_EQ(rewrite(), "param const add mul");
  EXPECT_EQ(stats.getSteps(), 1);
}

TEST_F(RewriteTest, RulesThatUndoEachOther) {
  rule<AddOp>("to-mul", [](AddOp op, PatternRewriter &rewriter) {
    rewriter.replaceOpWithNewOp<MulOp>(op, op.getType(), op.getLhs(),
                                       op.getRhs());
    return success();
  });
  rule<MulOp>("to-add", [](MulOp op, PatternRewriter &rewriter) {
    rewriter.replaceOpWithNewOp<AddOp>(op, op.getType(), op.getLhs(),
                                       op.getRhs());
    return success();
  });
  parse("%x = uop.param 0 : i32\n%y = uop.add %x, %x : i32\n"
        "uop.yield %y : i32");
  EXPECT_EQ(rewrite(), "error: rewriting ADD leads back to it; these rules "
                       "alternate: 'to-mul', 'to-add'");
}

/// from(x, y) -> the node of another op over the same, as the rule sets do it.
struct TurnInto : RulePattern {
  TurnInto(MLIRContext *context, const RuleRoot &from, OpCode code)
      : RulePattern(from, context), code(code) {
    setDebugName("turn-into");
  }
  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOp(
        op, GraphRewriter::from(rewriter)->get(code, op->getOperands()));
    return success();
  }
  OpCode code;
};

/// Rules of the sets are no error of the user: the node stays as it is.
TEST_F(RewriteTest, RulePatternsThatUndoEachOther) {
  const char *text = "%x = uop.param 0 : i32\n%y = uop.add %x, %x : i32\n"
                     "%z = uop.floordiv %y, %x : i32\nuop.yield %z : i32";
  rules->add<TurnInto>(&context, OpCode::Add, OpCode::Mul);
  rules->add<TurnInto>(&context, OpCode::Mul, OpCode::Max);
  rules->add<TurnInto>(&context, OpCode::Max, OpCode::Add);
  parse(text);
  EXPECT_EQ(rewrite(), "param add floordiv");
  EXPECT_EQ(stats.ledBack, 1);

  // Back to a node that was made on the way: the first step holds.
  rules->add<TurnInto>(&context, OpCode::FloorDiv, OpCode::Add);
  rules->add<TurnInto>(&context, OpCode::Add, OpCode::Mul);
  rules->add<TurnInto>(&context, OpCode::Mul, OpCode::Add);
  parse("%x = uop.param 0 : i32\n%y = uop.floordiv %x, %x : i32\n"
        "uop.yield %y : i32");
  EXPECT_EQ(rewrite(), "param add");
  EXPECT_EQ(stats.ledBack, 1);
}

/// Nodes over sources that the root does not allow are not offered.
TEST_F(RewriteTest, RootsOverSources) {
  const char *text = "%x = uop.param 0 : i32\n%0 = uop.const 1 : i32\n"
                     "%a = uop.add %x, %x : i32\n%b = uop.add %a, %0 : i32\n"
                     "%c = uop.add %0, %0 : i32\n%d = uop.mul %b, %c : i32\n"
                     "uop.yield %d : i32";
  auto add = [&](const RuleRoot &root) {
    rules->add<TurnInto>(&context, root, OpCode::Max);
    parse(text);
    return rewrite();
  };
  RuleRoot root = OpCode::Add;
  EXPECT_EQ(add(root.overOnly(OpCode::Const)), "param add const add max mul");
  EXPECT_EQ(add(root.overSome({OpCode::Const, OpCode::Where})),
            "param add const max max mul");
  EXPECT_EQ(
      add(root.overSome(OpCode::Const).overOnly({OpCode::Const, OpCode::Add})),
      "param add const max max mul");
  EXPECT_EQ(add(root.ofBools()), "param add const add add mul");
  EXPECT_EQ(add(root.ofI32()), "param max const max max mul");
}

/// What a rule has made before it fails leaves no trace, not even in the order.
TEST_F(RewriteTest, ConstantsOfRulesThatFail) {
  rule<AddOp>("peek", [](AddOp op, PatternRewriter &rewriter) {
    TypedAttr zero = rewriter.getI32IntegerAttr(0);
    GraphRewriter::from(rewriter)->get(OpCode::Const, {}, {zero, {}, 0});
    return failure();
  });
  parse("%x = uop.param 0 : i32\n%a = uop.add %x, %x : i32\n"
        "%y = uop.param 1 : i32\n%0 = uop.const 0 : i32\n"
        "%b = uop.mul %y, %0 : i32\n%c = uop.mul %a, %b : i32\n"
        "uop.yield %c : i32");
  EXPECT_EQ(rewrite(), "param add param const mul mul");
}

TEST_F(RewriteTest, RulesThatGrowForever) {
  auto grow = [&](auto tag, const char *name, auto made) {
    using From = decltype(tag);
    using To = decltype(made);
    rule<From>(name, [](From op, PatternRewriter &rewriter) {
      Value other = makeI32(
          rewriter, op.getLoc(),
          getWord(
              op.getRhs().template getDefiningOp<ConstOp>().getValueAttr()) +
              1);
      rewriter.replaceOpWithNewOp<To>(op, op.getType(), op.getLhs(), other);
      return success();
    });
  };
  grow(AddOp(), "up", MulOp());
  grow(MulOp(), "down", AddOp());
  parse("%x = uop.param 0 : i32\n%1 = uop.const 1 : i32\n"
        "%y = uop.add %x, %1 : i32\nuop.yield %y : i32");
  RewriteOptions options;
  options.maxSteps = 100;
  options.stepsPerNode = 10;
  EXPECT_EQ(rewrite(options), "error: no fixed point after 131 rewrites; these "
                              "rules alternate: 'down', 'up'");
}

TEST_F(RewriteTest, RefusedReplacements) {
  const char *text = "%x = uop.param 0 : i32\n%n = uop.const 0 : i32\n"
                     "%y = uop.add %x, %n : i32\n%z = uop.mul %y, %n : i32\n"
                     "uop.yield %z : i32";
  rule<MulOp>("retype", [](MulOp op, PatternRewriter &rewriter) {
    rewriter.replaceOpWithNewOp<CmpLtOp>(op, rewriter.getI1Type(), op.getLhs(),
                                         op.getRhs());
    return success();
  });
  parse(text);
  EXPECT_EQ(rewrite(),
            "error: rule 'retype' changes the type of MUL from 'i32' to 'i1'");

  message.clear();
  rule<MulOp>("meddle", [](MulOp op, PatternRewriter &rewriter) {
    Value two = makeI32(rewriter, op.getLoc(), 2);
    Operation *lhs = op.getLhs().getDefiningOp();
    rewriter.modifyOpInPlace(lhs, [&] { lhs->setOperand(1, two); });
    return failure();
  });
  parse(text);
  EXPECT_EQ(rewrite(),
            "error: rule 'meddle' changes a node that it did not match");

  message.clear();
  rule<MulOp>("wrap", [](MulOp op, PatternRewriter &rewriter) {
    rewriter.replaceOpWithNewOp<AddOp>(op, op.getType(), op.getResult(),
                                       op.getRhs());
    return success();
  });
  parse(text);
  EXPECT_EQ(rewrite(), "error: rewriting MUL leads back to it; these rules "
                       "alternate: 'wrap'");

  message.clear();
  rule<MulOp>("drop", [](MulOp op, PatternRewriter &rewriter) {
    rewriter.eraseOp(op);
    return success();
  });
  parse(text);
  EXPECT_EQ(rewrite(), "error: rule 'drop' erases the node that it matched");
}

TEST_F(RewriteTest, RulesThatOnlyLookOrFail) {
  rule<MulOp>("look",
              [](MulOp op, PatternRewriter &rewriter) { return success(); });
  rule<MulOp>("create-and-fail", [](MulOp op, PatternRewriter &rewriter) {
    Value two = makeI32(rewriter, op.getLoc(), 2);
    AddOp::create(rewriter, op.getLoc(), op.getType(), two, two);
    return failure();
  });
  rule<MulOp>("start-and-cancel", [](MulOp op, PatternRewriter &rewriter) {
    rewriter.startOpModification(op);
    rewriter.cancelOpModification(op);
    return failure();
  });
  addMulOne();
  parse("%x = uop.param 0 : i32\n%1 = uop.const 1 : i32\n"
        "%y = uop.mul %x, %1 : i32\n%z = uop.mul %y, %y : i32\n"
        "uop.yield %z : i32");
  EXPECT_EQ(rewrite(), "param mul");
  EXPECT_EQ(stats.fired.size(), 1u);
}

/// A chain of `length` sums, with a product by one before each if `ones`.
void buildChain(ProgramOp program, int64_t length, bool ones) {
  UniquingBuilder builder(&program.getBodyBlock());
  Value x = builder.param(0, IntegerType::get(builder.getContext(), 32));
  Value one = builder.i32(1), y = x;
  for (int64_t i = 0; i < length; ++i)
    y = builder.add(ones ? builder.mul(y, one) : y, i % 2 ? x : one);
  finishProgram(program, y);
}

TEST_F(RewriteTest, MillionNodes) {
  for (bool ones : {false, true}) {
    Location loc = UnknownLoc::get(&context);
    module = ModuleOp::create(loc);
    OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
    program = createProgram(builder, loc, "chain");
    buildChain(program, 1000000, ones);
    addMulOne();
    FrozenRewritePatternSet patterns(std::move(*rules));
    rules.emplace(&context);
    FailureOr<RewriteStats> result = graphRewrite(program, patterns);
    ASSERT_TRUE(succeeded(result));
    EXPECT_EQ(result->nodesAfter, 1000002);
    EXPECT_EQ(result->getSteps(), ones ? 1000000 : 0);
  }
}

} // namespace
