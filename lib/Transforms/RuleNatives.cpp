//===- RuleNatives.cpp - what rules of PDL call in C++ --------------------===//
//
// Constraints on values, numbers and bounds, arithmetic on constants, and the
// building of nodes with native properties. Leans on Bounds and on evalAlu.
//
//===----------------------------------------------------------------------===//

#include "RuleNatives.h"
#include "Uop/Dialect/Scalar.h"
#include "Uop/Dialect/Typing.h"
#include <cmath>

using namespace mlir;
using namespace uop;

//===----------------------------------------------------------------------===//
// The run
//===----------------------------------------------------------------------===//

static thread_local RuleRun *currentRun = nullptr;

CurrentRuleRun::CurrentRuleRun(RuleRun &run) : outer(currentRun) {
  currentRun = &run;
}
CurrentRuleRun::~CurrentRuleRun() { currentRun = outer; }
RuleRun &CurrentRuleRun::get() { return *currentRun; }

//===----------------------------------------------------------------------===//
// Properties
//===----------------------------------------------------------------------===//

bool uop::isNativeProperty(OperationName op, llvm::StringRef property) {
  static constexpr std::pair<OpCode, llvm::StringLiteral> properties[] = {
      {OpCode::Param, "slot"},  {OpCode::Buffer, "slot"},
      {OpCode::Alloc, "slot"},  {OpCode::Range, "idx"},
      {OpCode::Range, "kind"},  {OpCode::Reduce, "pop"},
      {OpCode::Stage, "detach"}};
  auto *dialect = dyn_cast_or_null<UopDialect>(op.getDialect());
  std::optional<OpCode> code = dialect ? dialect->getOpCode(op) : std::nullopt;
  return code && llvm::any_of(properties, [&](const auto &entry) {
           return entry.first == *code && entry.second == property;
         });
}

Attribute uop::fromRuleAttribute(OperationName op, llvm::StringRef name,
                                 Attribute attr) {
  auto text = dyn_cast_or_null<StringAttr>(attr);
  if (!text || name != "kind")
    return attr;
  Builder builder(op.getContext());
  if (op.getStringRef() == RangeOp::getOperationName()) {
    std::optional<AxisKind> kind = symbolizeAxisKind(text.getValue());
    return kind ? builder.getI32IntegerAttr(static_cast<int32_t>(*kind))
                : IntegerAttr();
  }
  if (op.getStringRef() == ReduceOp::getOperationName()) {
    std::optional<ReduceKind> kind = symbolizeReduceKind(text.getValue());
    return kind ? ReduceKindAttr::get(op.getContext(), *kind)
                : ReduceKindAttr();
  }
  return attr;
}

/// What a rule file sees of a property or an attribute of a node; null if it
/// has none of this name.
static Attribute getRuleProperty(Operation *op, llvm::StringRef name) {
  Builder builder(op->getContext());
  if (auto range = dyn_cast<RangeOp>(op); range && name == "kind")
    return builder.getStringAttr(stringifyAxisKind(range.getKind()));
  if (auto reduce = dyn_cast<ReduceOp>(op); reduce && name == "kind")
    return builder.getStringAttr(stringifyReduceKind(reduce.getKind()));
  auto all = dyn_cast_or_null<DictionaryAttr>(op->getPropertiesAsAttribute());
  return all ? all.get(name) : Attribute();
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// The number of a scalar attribute, when it is a whole one.
static std::optional<int64_t> getInteger(Attribute attr) {
  if (auto integer = dyn_cast<IntegerAttr>(attr)) {
    if (integer.getValue().getBitWidth() == 1)
      return integer.getValue().getZExtValue();
    return integer.getValue().trySExtValue();
  }
  if (auto number = dyn_cast<FloatAttr>(attr)) {
    double value = number.getValueAsDouble();
    if (value == std::trunc(value) && std::fabs(value) < 9e15)
      return static_cast<int64_t>(value);
  }
  return std::nullopt;
}

/// The element of dtype `dtype` that is this number; nullopt if there is none.
/// A float is rounded to its dtype.
static std::optional<Word> getWordOf(Attribute attr, DType dtype) {
  if (isFloat(dtype)) {
    double value;
    if (auto number = dyn_cast<FloatAttr>(attr))
      value = number.getValueAsDouble();
    else if (std::optional<int64_t> integer = getInteger(attr))
      value = *integer;
    else
      return std::nullopt;
    float narrow = static_cast<float>(value);
    return fromFloat(dtype == DType::F16 ? roundToHalf(narrow) : narrow);
  }
  std::optional<int64_t> integer = getInteger(attr);
  if (!integer || dtype == DType::Void)
    return std::nullopt;
  if (dtype == DType::Bool ? (*integer != 0 && *integer != 1)
                           : !llvm::isInt<32>(*integer))
    return std::nullopt;
  return static_cast<Word>(*integer);
}

/// The dtype of a constant; nullopt for numbers that are no uop's, as a plain
/// `1` in a rule file.
static std::optional<DType> getConstantDType(Attribute attr) {
  if (!isa<IntegerAttr, FloatAttr>(attr))
    return std::nullopt;
  return getDTypeOrNone(cast<TypedAttr>(attr).getType());
}

//===----------------------------------------------------------------------===//
// Natives
//===----------------------------------------------------------------------===//

using Results = PDLResultList;
using Arguments = llvm::ArrayRef<PDLValue>;

static Value valueOf(PDLValue argument) { return argument.cast<Value>(); }
static Attribute attrOf(PDLValue argument) {
  return argument.cast<Attribute>();
}
static Operation *opOf(PDLValue argument) {
  return argument.cast<Operation *>();
}

template <DType... dtypes>
static LogicalResult hasDType(PatternRewriter &, Results &, Arguments args) {
  std::optional<DType> dtype = getDTypeOrNone(valueOf(args[0]).getType());
  return success(dtype && ((*dtype == dtypes) || ...));
}

static LogicalResult isConst(PatternRewriter &, Results &, Arguments args) {
  return success(valueOf(args[0]).getDefiningOp<ConstOp>() != nullptr);
}

static LogicalResult isScalar(PatternRewriter &, Results &, Arguments args) {
  Type type = valueOf(args[0]).getType();
  std::optional<DType> dtype = getDTypeOrNone(type);
  return success(dtype && *dtype != DType::Void && !isMemory(type) &&
                 getShape(type).empty());
}

static LogicalResult isMemoryValue(PatternRewriter &, Results &,
                                   Arguments args) {
  return success(isMemory(valueOf(args[0]).getType()));
}

static LogicalResult sameType(PatternRewriter &, Results &, Arguments args) {
  return success(valueOf(args[0]).getType() == valueOf(args[1]).getType());
}

static LogicalResult isNumber(PatternRewriter &, Results &, Arguments args) {
  auto constant = valueOf(args[0]).getDefiningOp<ConstOp>();
  if (!constant)
    return failure();
  std::optional<Word> word =
      getWordOf(attrOf(args[1]), getDType(constant.getType()));
  return success(word && *word == getWord(constant.getValueAttr()));
}

/// The interval of a scalar i32 or bool; nullopt for all else.
static std::optional<Bounds::Interval> getInterval(PatternRewriter &rewriter,
                                                   Value value) {
  if (!value.getType().isSignlessInteger(32) &&
      !value.getType().isSignlessInteger(1))
    return std::nullopt;
  return GraphRewriter::from(rewriter)->getBounds().get(value);
}

static LogicalResult isNonNegative(PatternRewriter &rewriter, Results &,
                                   Arguments args) {
  auto interval = getInterval(rewriter, valueOf(args[0]));
  return success(interval && interval->min >= 0);
}

static LogicalResult vminAtLeast(PatternRewriter &rewriter, Results &,
                                 Arguments args) {
  auto interval = getInterval(rewriter, valueOf(args[0]));
  std::optional<int64_t> bound = getInteger(attrOf(args[1]));
  return success(interval && bound && interval->min >= *bound);
}

static LogicalResult vmaxBelow(PatternRewriter &rewriter, Results &,
                               Arguments args) {
  auto interval = getInterval(rewriter, valueOf(args[0]));
  std::optional<int64_t> bound = getInteger(attrOf(args[1]));
  return success(interval && bound && interval->max < *bound);
}

template <bool isProduct>
static LogicalResult fits(PatternRewriter &rewriter, Results &,
                          Arguments args) {
  if (!valueOf(args[0]).getType().isSignlessInteger(32) ||
      !valueOf(args[1]).getType().isSignlessInteger(32))
    return failure();
  Bounds::Interval a = *getInterval(rewriter, valueOf(args[0]));
  Bounds::Interval b = *getInterval(rewriter, valueOf(args[1]));
  for (int64_t x : {a.min, a.max})
    for (int64_t y : {b.min, b.max})
      if (!llvm::isInt<32>(isProduct ? x * y : x + y))
        return failure();
  return success();
}

template <bool isMax>
static LogicalResult getBound(PatternRewriter &rewriter, Results &results,
                              Arguments args) {
  auto interval = getInterval(rewriter, valueOf(args[0]));
  if (!interval)
    return failure();
  results.push_back(Attribute(rewriter.getIntegerAttr(
      valueOf(args[0]).getType(), isMax ? interval->max : interval->min)));
  return success();
}

static LogicalResult attrEqual(PatternRewriter &, Results &, Arguments args) {
  Attribute a = attrOf(args[0]), b = attrOf(args[1]);
  std::optional<int64_t> x = getInteger(a), y = getInteger(b);
  return success(a == b || (isa<IntegerAttr>(a) && isa<IntegerAttr>(b) && x &&
                            y && *x == *y));
}

static LogicalResult attrLess(PatternRewriter &, Results &, Arguments args) {
  std::optional<int64_t> a = getInteger(attrOf(args[0]));
  std::optional<int64_t> b = getInteger(attrOf(args[1]));
  return success(a && b && *a < *b);
}

static LogicalResult divides(PatternRewriter &, Results &, Arguments args) {
  std::optional<int64_t> a = getInteger(attrOf(args[0]));
  std::optional<int64_t> b = getInteger(attrOf(args[1]));
  return success(a && b && *a != 0 && (*a == -1 || *b % *a == 0));
}

static LogicalResult numberLike(PatternRewriter &rewriter, Results &results,
                                Arguments args) {
  std::optional<DType> dtype = getDTypeOrNone(valueOf(args[0]).getType());
  std::optional<Word> word =
      dtype ? getWordOf(attrOf(args[1]), *dtype) : std::nullopt;
  if (!word)
    return failure();
  results.push_back(
      Attribute(getConstantAttr(rewriter.getContext(), *dtype, *word)));
  return success();
}

/// Negates the second operand first when `isDifference`.
template <OpCode code, bool isDifference = false>
static LogicalResult folded(PatternRewriter &rewriter, Results &results,
                            Arguments args) {
  std::optional<DType> dtype = getConstantDType(attrOf(args[0]));
  if (!dtype)
    dtype = getConstantDType(attrOf(args[1]));
  // Differences of bools are none of uop's.
  if (!dtype || *dtype == DType::Void ||
      (isDifference && *dtype == DType::Bool))
    return failure();
  std::optional<Word> a = getWordOf(attrOf(args[0]), *dtype);
  std::optional<Word> b = getWordOf(attrOf(args[1]), *dtype);
  if (!a || !b)
    return failure();
  if (code == OpCode::FloorDiv || code == OpCode::FloorMod)
    if (*dtype != DType::I32 || *b == 0 ||
        (*a == Word(1) << 31 && *b == ~Word(0)))
      return failure();
  if (isDifference)
    *b = evalAlu(OpCode::Mul, *dtype, *dtype, *b,
                 isFloat(*dtype) ? fromFloat(-1.0f) : ~Word(0));
  results.push_back(Attribute(getConstantAttr(
      rewriter.getContext(), *dtype, evalAlu(code, *dtype, *dtype, *a, *b))));
  return success();
}

static LogicalResult property(PatternRewriter &, Results &results,
                              Arguments args) {
  auto name = dyn_cast<StringAttr>(attrOf(args[1]));
  Attribute attr = name ? getRuleProperty(opOf(args[0]), name) : Attribute();
  if (!attr)
    return failure();
  results.push_back(attr);
  return success();
}

static LogicalResult getNamed(llvm::StringRef name, Results &results,
                              Arguments args) {
  Attribute attr = getRuleProperty(opOf(args[0]), name);
  if (attr)
    results.push_back(attr);
  return success(attr != nullptr);
}
static LogicalResult getSlot(PatternRewriter &, Results &r, Arguments args) {
  return getNamed("slot", r, args);
}
static LogicalResult getIdx(PatternRewriter &, Results &r, Arguments args) {
  return getNamed("idx", r, args);
}
static LogicalResult getKind(PatternRewriter &, Results &r, Arguments args) {
  return getNamed("kind", r, args);
}
static LogicalResult getPop(PatternRewriter &, Results &r, Arguments args) {
  return getNamed("pop", r, args);
}

//===----------------------------------------------------------------------===//
// Rewrites
//===----------------------------------------------------------------------===//

/// "rule 'R' builds a malformed ADD: ", at the node that R matched. The run has
/// failed then.
static InFlightDiagnostic reportMalformed(llvm::StringRef what) {
  RuleRun &run = CurrentRuleRun::get();
  run.failed = true;
  return emitError(run.root->getLoc())
         << "rule '" << run.rule << "' builds a malformed " << what << ": ";
}

/// Types `op`, which is in no block yet, and inserts it; destroys it with an
/// error if it is malformed.
static LogicalResult insertTyped(PatternRewriter &rewriter, Operation *op) {
  OpCode code = *getOpCode(op);
  Type type =
      inferType(op->getContext(), code, op->getOperands(), getArg(code, op),
                [&](const Twine &why) { reportMalformed("node") << why; });
  if (!type) {
    op->destroy();
    return failure();
  }
  op->getResult(0).setType(type);
  rewriter.insert(op);
  return success();
}

static LogicalResult buildConst(PatternRewriter &rewriter, Results &results,
                                Arguments args) {
  Attribute attr = attrOf(args[0]);
  std::optional<DType> dtype = getConstantDType(attr);
  if (!dtype)
    return reportMalformed("CONST") << attr << " is no constant of uop";
  auto constant = cast<TypedAttr>(attr);
  results.push_back(
      Value(ConstOp::create(rewriter, CurrentRuleRun::get().root->getLoc(),
                            constant.getType(), constant)));
  return success();
}

static LogicalResult rebuild(PatternRewriter &rewriter, Results &results,
                             Arguments args) {
  Operation *model = opOf(args[0]);
  if (!getOpCode(model))
    return reportMalformed("node")
           << "'" << model->getName() << "' is no op of uop";
  auto sources = args[1].cast<ValueRange>();
  Operation *op = Operation::create(model->getLoc(), model->getName(),
                                    model->getResultTypes(), sources,
                                    DictionaryAttr::get(model->getContext()),
                                    model->getPropertiesStorage(), {}, 0);
  if (failed(insertTyped(rewriter, op)))
    return failure();
  results.push_back(op);
  return success();
}

/// `createNative`.
static LogicalResult create(PatternRewriter &rewriter, Results &results,
                            Arguments args) {
  auto opName = cast<StringAttr>(attrOf(args[0]));
  auto attrNames = cast<ArrayAttr>(attrOf(args[1]));
  OperationName name(opName.getValue(), rewriter.getContext());
  OpCode code = *cast<UopDialect>(name.getDialect())->getOpCode(name);
  args = args.drop_front(2);
  NamedAttrList attrs;
  for (Attribute attrName : attrNames) {
    if (!args[0])
      return reportMalformed(getName(code)) << "no value for " << attrName;
    auto key = cast<StringAttr>(attrName);
    Attribute attr = fromRuleAttribute(name, key, attrOf(args[0]));
    if (!attr)
      return reportMalformed(getName(code))
             << "no " << key.getValue() << " " << attrOf(args[0]);
    attrs.set(key, attr);
    args = args.drop_front();
  }
  for (llvm::StringRef key : name.getRegisteredInfo()->getAttributeNames())
    if (!attrs.get(StringAttr::get(rewriter.getContext(), key)))
      return reportMalformed(getName(code)) << "needs " << key;

  llvm::SmallVector<Value> sources;
  Type type;
  for (PDLValue argument : args) {
    if (!argument)
      return reportMalformed(getName(code)) << "a source is missing";
    switch (argument.getKind()) {
    case PDLValue::Kind::Value:
      sources.push_back(argument.cast<Value>());
      break;
    case PDLValue::Kind::ValueRange:
      llvm::append_range(sources, argument.cast<ValueRange>());
      break;
    case PDLValue::Kind::Type:
      type = argument.cast<Type>();
      break;
    case PDLValue::Kind::TypeRange:
      if (TypeRange types = argument.cast<TypeRange>(); types.size() == 1)
        type = types[0];
      break;
    case PDLValue::Kind::Operation:
      if (!type)
        type = argument.cast<Operation *>()->getResult(0).getType();
      break;
    default:
      break;
    }
  }
  Attribute value = attrs.get("value");
  if (code == OpCode::Const) {
    if (!getConstantDType(value))
      return reportMalformed("CONST") << value << " is no constant of uop";
    type = cast<TypedAttr>(value).getType();
  }
  bool isTyped = code == OpCode::Cast || code == OpCode::Param ||
                 code == OpCode::Buffer || code == OpCode::Alloc;
  if (isTyped && (!type || !getDTypeOrNone(type)))
    return reportMalformed(getName(code)) << "needs a type";
  if (!type)
    type = VoidType::get(rewriter.getContext());
  Operation *op = Operation::create(
      CurrentRuleRun::get().root->getLoc(), name, type, sources,
      DictionaryAttr::get(name.getContext()), nullptr, {}, 0);
  if (!attrs.empty() && failed(op->setPropertiesFromAttribute(
                            attrs.getDictionary(rewriter.getContext()),
                            [&] { return reportMalformed(getName(code)); }))) {
    op->destroy();
    return failure();
  }
  if (failed(insertTyped(rewriter, op)))
    return failure();
  results.push_back(op);
  return success();
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

llvm::ArrayRef<RuleNative> uop::getRuleNatives() {
  static const RuleNative natives[] = {
      {"IsConst", false, "V", "", isConst},
      {"IsBool", false, "V", "", hasDType<DType::Bool>},
      {"IsInt", false, "V", "", hasDType<DType::I32>},
      {"IsFloat", false, "V", "", hasDType<DType::F32, DType::F16>},
      {"IsScalar", false, "V", "", isScalar},
      {"IsMemory", false, "V", "", isMemoryValue},
      {"SameType", false, "VV", "", sameType},
      {"IsNumber", false, "VA", "", isNumber},
      {"IsNonNegative", false, "V", "", isNonNegative},
      {"VMinAtLeast", false, "VA", "", vminAtLeast},
      {"VMaxBelow", false, "VA", "", vmaxBelow},
      {"SumFits", false, "VV", "", fits<false>},
      {"ProductFits", false, "VV", "", fits<true>},
      {"AttrEqual", false, "AA", "", attrEqual},
      {"AttrLess", false, "AA", "", attrLess},
      {"Divides", false, "AA", "", divides},
      {"VMin", false, "V", "A", getBound<false>},
      {"VMax", false, "V", "A", getBound<true>},
      {"Number", false, "VA", "A", numberLike},
      {"FoldedAdd", false, "AA", "A", folded<OpCode::Add>},
      {"FoldedSub", false, "AA", "A", folded<OpCode::Add, true>},
      {"FoldedMul", false, "AA", "A", folded<OpCode::Mul>},
      {"FoldedMax", false, "AA", "A", folded<OpCode::Max>},
      {"FoldedFloorDiv", false, "AA", "A", folded<OpCode::FloorDiv>},
      {"FoldedFloorMod", false, "AA", "A", folded<OpCode::FloorMod>},
      {"Property", false, "OA", "A", property},
      {"GetSlot", false, "O", "A", getSlot},
      {"GetIdx", false, "O", "A", getIdx},
      {"GetKind", false, "O", "A", getKind},
      {"GetPop", false, "O", "A", getPop},
      {"Const", true, "A", "V", buildConst},
      {"Rebuild", true, "OR", "O", rebuild},
  };
  return natives;
}

const RuleNative *uop::findRuleNative(llvm::StringRef name, bool isRewrite) {
  for (const RuleNative &native : getRuleNatives())
    if (native.name == name && native.isRewrite == isRewrite)
      return &native;
  return nullptr;
}

void uop::registerRuleNatives(PDLPatternModule &patterns) {
  for (const RuleNative &native : getRuleNatives()) {
    auto function = [&native](PatternRewriter &rewriter, PDLResultList &results,
                              llvm::ArrayRef<PDLValue> arguments) {
      // An attribute that a matched op lacks is null.
      for (PDLValue argument : arguments)
        if (!argument)
          return failure();
      return native.function(rewriter, results, arguments);
    };
    if (native.isRewrite)
      patterns.registerRewriteFunction(native.name,
                                       PDLRewriteFunction(function));
    else
      patterns.registerConstraintFunction(native.name,
                                          PDLConstraintFunction(function));
  }
  patterns.registerRewriteFunction(createNative, PDLRewriteFunction(create));
}
