//===- Expression.cpp - scalar expressions for proofs ---------------------===//
//
// A recursive descent parser: templates are short.
//
//===----------------------------------------------------------------------===//

#include "Expression.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace uop;
using namespace uop::proofs;

Unknowns proofs::parseUnknowns(llvm::StringRef text) {
  Unknowns unknowns;
  for (llvm::StringRef part : llvm::split(text, ',')) {
    part = part.trim();
    if (part.empty())
      continue;
    Unknown &unknown = unknowns[part[0]];
    llvm::StringRef rest = part.drop_front().trim();
    if (rest.consume_front("in ")) {
      auto [low, high] = rest.split("..");
      int64_t first = 0, last = 0;
      low.trim().getAsInteger(10, first);
      high.trim().getAsInteger(10, last);
      unknown.bounds = {first, last};
    } else if (rest.consume_front(":")) {
      auto [dtype, size] = rest.trim().split('[');
      unknown.dtype = parseDType(dtype).value_or(DType::I32);
      size.drop_back(!size.empty()).getAsInteger(10, unknown.size);
    }
  }
  return unknowns;
}

Value proofs::makeUnknown(UniquingBuilder &builder, char name,
                          const Unknown &unknown) {
  if (!unknown.bounds)
    return builder.load(builder.index(
        builder.buffer(name, unknown.dtype, std::max<int64_t>(unknown.size, 1)),
        builder.i32(0)));
  auto [low, high] = *unknown.bounds;
  Value range = builder.range(builder.i32(high - low + 1), name);
  return low == 0 ? range : builder.add(range, builder.i32(low));
}

OwningOpRef<ProgramOp>
proofs::makeProgram(MLIRContext *context,
                    llvm::function_ref<Value(UniquingBuilder &)> build) {
  OpBuilder ops(context);
  OwningOpRef<ProgramOp> program =
      ProgramOp::create(ops, UnknownLoc::get(context), "expression");
  UniquingBuilder builder(&program->getBodyBlock());
  Value root = build(builder);
  if (!root)
    return nullptr;
  finishProgram(*program, root);
  return program;
}

namespace {

class Parser {
public:
  Parser(UniquingBuilder &builder, llvm::StringRef text,
         const Unknowns &unknowns, const std::map<char, int32_t> &constants)
      : builder(builder), whole(text), rest(text), unknowns(unknowns),
        constants(constants) {}

  Value run() {
    Value value = parseComparison();
    rest = rest.ltrim();
    return value && rest.empty() ? value : fail();
  }

private:
  Value fail() {
    if (!failed)
      llvm::errs() << "not an expression: '" << whole << "' at '" << rest
                   << "'\n";
    failed = true;
    return nullptr;
  }
  bool take(llvm::StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }
  Value make(OpCode code, ValueRange sources, const Arg &arg = {}) {
    for (Value source : sources)
      if (!source)
        return nullptr;
    Value value = builder.get(code, sources, arg,
                              [&](const llvm::Twine &message) {
                                llvm::errs() << message << "\n";
                              });
    return value ? value : fail();
  }
  Value parseComparison() {
    Value left = parseSum();
    while (left) {
      if (take("<"))
        left = make(OpCode::CmpLt, {left, parseSum()});
      else if (take("!="))
        left = make(OpCode::CmpNe, {left, parseSum()});
      else
        break;
    }
    return left;
  }
  Value parseSum() {
    Value left = parseProduct();
    while (left && take("+"))
      left = make(OpCode::Add, {left, parseProduct()});
    return left;
  }
  Value parseProduct() {
    Value left = parseAtom();
    while (left) {
      if (take("*"))
        left = make(OpCode::Mul, {left, parseAtom()});
      else if (take("//"))
        left = make(OpCode::FloorDiv, {left, parseAtom()});
      else if (take("%"))
        left = make(OpCode::FloorMod, {left, parseAtom()});
      else
        break;
    }
    return left;
  }
  Value parseCall(llvm::StringRef name);
  Value parseNumber();
  Value parseAtom();

  UniquingBuilder &builder;
  llvm::StringRef whole, rest;
  const Unknowns &unknowns;
  const std::map<char, int32_t> &constants;
  bool failed = false;
};

Value Parser::parseCall(llvm::StringRef name) {
  llvm::SmallVector<Value> sources;
  while (!take(")")) {
    Value source = parseComparison();
    if (!source)
      return nullptr;
    sources.push_back(source);
    take(",");
  }
  DType target = DType::Void;
  if (name == "int")
    target = DType::I32;
  else if (name == "bool")
    target = DType::Bool;
  else if (name == "float")
    target = DType::F32;
  else if (name == "half")
    target = DType::F16;
  if (target != DType::Void) {
    Arg arg;
    arg.type = getScalarType(builder.getContext(), target);
    return make(OpCode::Cast, sources, arg);
  }
  std::optional<OpCode> code = parseOpCode(name);
  return code ? make(*code, sources) : fail();
}

Value Parser::parseNumber() {
  llvm::StringRef digits =
      rest.take_while([](char c) { return llvm::isAlnum(c) || c == '.' ||
                                          c == '-'; });
  rest = rest.drop_front(digits.size());
  double value = 0;
  int64_t integer = 0;
  if (!digits.getAsInteger(10, integer))
    return builder.i32(integer);
  if (digits == "-inf" || digits == "-nan")
    value = digits == "-inf" ? -INFINITY : NAN;
  else if (digits.getAsDouble(value))
    return fail();
  return builder.f32(value);
}

Value Parser::parseAtom() {
  rest = rest.ltrim();
  if (take("(")) {
    Value inner = parseComparison();
    return take(")") ? inner : fail();
  }
  if (rest.empty())
    return fail();
  if (llvm::isDigit(rest[0]) || rest[0] == '-')
    return parseNumber();
  llvm::StringRef name = rest.take_while(llvm::isAlnum);
  rest = rest.drop_front(name.size());
  if (name == "true" || name == "false")
    return builder.boolean(name == "true");
  if (name == "inf" || name == "nan")
    return builder.f32(name == "inf" ? INFINITY : NAN);
  if (take("("))
    return parseCall(name);
  if (name.size() != 1)
    return fail();
  if (llvm::isUpper(name[0])) {
    auto it = constants.find(name[0]);
    return it == constants.end() ? fail() : builder.i32(it->second);
  }
  auto it = unknowns.find(name[0]);
  Unknown unknown = it == unknowns.end() ? Unknown() : it->second;
  if (unknown.size == 0)
    return makeUnknown(builder, name[0], unknown);
  if (!take("["))
    return fail();
  Value index = parseComparison(), gate, other;
  if (take("if "))
    gate = parseComparison();
  if (gate && take("else "))
    other = parseComparison();
  if (!take("]") || !index)
    return fail();
  Value pointer = make(
      OpCode::Index,
      {builder.buffer(name[0], unknown.dtype, unknown.size), index});
  if (gate)
    return make(OpCode::Load, {pointer, gate, other});
  return make(OpCode::Load, pointer);
}

} // namespace

Value proofs::parseExpression(UniquingBuilder &builder, llvm::StringRef text,
                              const Unknowns &unknowns,
                              const std::map<char, int32_t> &constants) {
  return Parser(builder, text, unknowns, constants).run();
}
