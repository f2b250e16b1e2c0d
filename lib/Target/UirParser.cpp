//===- UirParser.cpp - parsing .uir ---------------------------------------===//
//
// From text to graph, a statement at a time: names are looked up, literals
// typed, binary ops broadcast, and the rest is the typing rule of the op.
//
//===----------------------------------------------------------------------===//

#include "UirStatement.h"
#include "Uop/Target/Uir.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/CachedHashString.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace uop;
using llvm::CachedHashStringRef;
using llvm::StringRef;
using llvm::Twine;

namespace {

class Parser {
public:
  Parser(Block *block, StringRef file, StringRef text)
      : context(block->getParent()->getContext()), builder(block),
        file(StringAttr::get(context, file)), text(text) {}

  /// The value of the last statement; null after an error.
  Value parse();

private:
  struct Definition {
    Value value;
    unsigned line = 0;
  };

  bool parseLine(StringRef statementText);
  bool build();
  bool buildMemory();
  bool buildConst();
  bool buildCast();
  bool buildReduce();
  bool buildMovement();
  bool buildWithSources();
  bool readSources(llvm::ArrayRef<StringRef> operands);
  bool broadcast(Value &a, Value &b);
  Value expandTo(Value value, llvm::ArrayRef<int64_t> shape);
  bool get(ValueRange from, const Arg &arg = {});
  Value getConstant(DType dtype, Word word);

  /// Reports at `where`, a place in the text, and returns false.
  bool fail(const char *where, const Twine &message);
  bool fail(const Twine &message) {
    return fail(statement.text.begin(), message);
  }
  /// For the builder: what a typing rule says about the statement.
  void failTyping(const Twine &message) { fail(message); }

  const Definition *find(StringRef name) const;
  void define(StringRef name, Definition definition);

  MLIRContext *context;
  UniquingBuilder builder;
  StringAttr file;
  StringRef text;
  unsigned line = 0;
  const char *lineBegin = nullptr;

  Statement statement;
  llvm::SmallVector<Value, 8> sources;
  Value result;

  /// The definitions of `%0`, `%1`, ... as far as there are lines, without a
  /// value where there is none. Printed programs have no other names.
  std::vector<Definition> numbered;
  /// All other names, which are places in the text.
  llvm::DenseMap<CachedHashStringRef, Definition> names;
  /// The length of the longest name with a comma or a colon in it; 0 for none.
  size_t maxOddName = 0;
  llvm::DenseMap<uint64_t, Value> constants;
  /// The type of each slot, of BUFFERs and of ALLOCs.
  llvm::DenseMap<std::pair<unsigned, int64_t>, Type> slots;
};

/// Whether a line may be shown to the reader as it stands.
bool isPresentable(StringRef line) {
  if (line.size() > 400)
    return false;
  bool ascii = true;
  for (char c : line) {
    if ((static_cast<uint8_t>(c) < 0x20 && c != '\t' && c != '\r') || c == 0x7f)
      return false;
    ascii &= static_cast<uint8_t>(c) < 0x80;
  }
  const auto *begin = reinterpret_cast<const llvm::UTF8 *>(line.begin());
  return ascii || llvm::isLegalUTF8String(
                      &begin, reinterpret_cast<const llvm::UTF8 *>(line.end()));
}

bool Parser::fail(const char *where, const Twine &message) {
  unsigned column = where - lineBegin + 1;
  StringRef rest(lineBegin, text.end() - lineBegin);
  if (isPresentable(rest.take_front(401).split('\n').first)) {
    emitError(FileLineColLoc::get(file, line, column)) << message;
    return false;
  }
  // What reports errors shows the line a location is in, unless the column is
  // unknown: this line is too long or does not print, so it is shown here.
  emitError(FileLineColLoc::get(file, line, 0))
      << message << " at column " << column << " of '"
      << quoteForMessage(statement.text, 120) << "'";
  return false;
}

/// The number that `name` is in its shortest form, if it is less than `limit`.
std::optional<size_t> parseNumberedName(StringRef name, size_t limit) {
  if (name.empty() || name.size() > 9 || (name[0] == '0' && name.size() > 1))
    return std::nullopt;
  size_t number = 0;
  for (char c : name) {
    if (!llvm::isDigit(c))
      return std::nullopt;
    number = number * 10 + (c - '0');
  }
  return number < limit ? std::optional(number) : std::nullopt;
}

const Parser::Definition *Parser::find(StringRef name) const {
  if (std::optional<size_t> number = parseNumberedName(name, numbered.size()))
    return numbered[*number].value ? &numbered[*number] : nullptr;
  auto it = names.find(CachedHashStringRef(name));
  return it == names.end() ? nullptr : &it->second;
}

void Parser::define(StringRef name, Definition definition) {
  if (std::optional<size_t> number = parseNumberedName(name, numbered.size()))
    numbered[*number] = definition;
  else
    names[CachedHashStringRef(name)] = definition;
}

Value Parser::parse() {
  const char *p = text.begin(), *end = text.end();
  numbered.resize(text.count('\n') + 1);
  const char *first = p;
  if (text.starts_with("\xef\xbb\xbf")) // a byte order mark
    first += 3;
  while (p != end) {
    ++line;
    lineBegin = p;
    const void *newline = memchr(p, '\n', end - p);
    const char *lineEnd = newline ? static_cast<const char *>(newline) : end;
    StringRef content(std::max(p, first), lineEnd - std::max(p, first));
    if (const void *comment = memchr(content.data(), '#', content.size()))
      content = content.take_front(static_cast<const char *>(comment) -
                                   content.data());
    content = content.trim(" \t\r\v\f");
    if (!content.empty() && !parseLine(content))
      return {};
    p = newline ? lineEnd + 1 : end;
  }
  if (!result)
    emitError(FileLineColLoc::get(file, 1, 1)) << "empty program";
  return result;
}

bool Parser::parseLine(StringRef statementText) {
  statement.text = statementText;
  auto known = [&](StringRef name) { return find(name) != nullptr; };
  llvm::function_ref<bool(StringRef)> lookup;
  if (maxOddName)
    lookup = known;
  StatementError error;
  if (!statement.parse(statementText, lookup, maxOddName, error))
    return fail(error.where, error.message);
  if (const Definition *before = find(statement.name))
    return fail("%" + quoteForMessage(statement.name) +
                " is defined twice, first at line " + Twine(before->line));
  builder.setLoc(
      FileLineColLoc::get(file, line, statementText.begin() - lineBegin + 1));
  if (!build())
    return false;
  define(statement.name, {result, line});
  if (statement.name.find_first_of(",:") != StringRef::npos)
    maxOddName = std::max(maxOddName, statement.name.size() + 1);
  return true;
}

bool Parser::get(ValueRange from, const Arg &arg) {
  result = builder.get(statement.code, from, arg,
                       [&](const Twine &message) { failTyping(message); });
  return result != nullptr;
}

Value Parser::getConstant(DType dtype, Word word) {
  Value &value = constants[static_cast<uint64_t>(dtype) << 32 |
                           static_cast<uint64_t>(word)];
  if (!value)
    value = builder.constant(dtype, word);
  return value;
}

/// Turns operands into `sources`. A literal has the dtype of the first %name
/// among them (of a WHERE: the first %name branch); those of INDEX and RANGE,
/// bools, and literals without a %name beside them have their own.
bool Parser::readSources(llvm::ArrayRef<StringRef> operands) {
  sources.clear();
  bool hasLiteral = false;
  for (StringRef operand : operands) {
    if (operand.front() != '%') {
      hasLiteral = true;
      sources.push_back({});
      continue;
    }
    const Definition *definition = find(operand.drop_front().ltrim());
    if (!definition)
      return fail(operand.begin(), "undefined " + quoteForMessage(operand));
    sources.push_back(definition->value);
  }
  if (!hasLiteral)
    return true;
  OpCode code = statement.code;
  std::optional<DType> neighbour;
  if (code != OpCode::Index && code != OpCode::Range)
    for (size_t i = code == OpCode::Where ? 1 : 0; i < sources.size(); ++i)
      if (sources[i]) {
        neighbour = getDType(sources[i].getType());
        break;
      }
  for (auto [source, operand] : llvm::zip_equal(sources, operands)) {
    if (source)
      continue;
    std::optional<Literal> literal = Literal::parse(operand);
    if (!literal && operand.front() == '(')
      return fail(operand.begin(), getName(code) +
                                       " takes no tuple as a source, got " +
                                       quoteForMessage(operand));
    if (!literal)
      return fail(operand.begin(), "expected %name or a literal, got '" +
                                       quoteForMessage(operand) + "'");
    DType dtype = literal->getNaturalDType();
    if (neighbour && literal->kind != Literal::Kind::Bool)
      dtype = *neighbour;
    std::optional<Word> word = literal->convert(dtype);
    if (!word)
      return fail(operand.begin(), "literal " + quoteForMessage(operand) +
                                       " does not fit " + getName(dtype));
    source = getConstant(dtype, *word);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Broadcasting
//===----------------------------------------------------------------------===//

/// `value` with leading axes of size 1 up to shape's rank, expanded to `shape`.
Value Parser::expandTo(Value value, llvm::ArrayRef<int64_t> shape) {
  llvm::ArrayRef<int64_t> from = getShape(value.getType());
  auto get = [&](OpCode code, llvm::ArrayRef<int64_t> target) {
    return builder.get(code, value,
                       {DenseI64ArrayAttr::get(context, target), {}, 0},
                       [&](const Twine &message) { failTyping(message); });
  };
  if (from.size() < shape.size()) {
    llvm::SmallVector<int64_t> padded(shape.size() - from.size(), 1);
    llvm::append_range(padded, from);
    value = get(OpCode::Reshape, padded);
  }
  if (value && getShape(value.getType()) != shape)
    value = get(OpCode::Expand, shape);
  return value;
}

/// Gives `a` and `b` one shape: leading axes of size 1 are added, axes of size
/// 1 expanded (to 0, too).
bool Parser::broadcast(Value &a, Value &b) {
  llvm::ArrayRef<int64_t> left = getShape(a.getType());
  llvm::ArrayRef<int64_t> right = getShape(b.getType());
  if (left == right)
    return true;
  size_t rank = std::max(left.size(), right.size());
  llvm::SmallVector<int64_t> shape(rank);
  for (size_t i = 0; i < rank; ++i) {
    // Axes are matched from the last one back.
    int64_t x = i < left.size() ? left[left.size() - 1 - i] : 1;
    int64_t y = i < right.size() ? right[right.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1)
      return fail("can't broadcast " + formatShape(left) + " with " +
                  formatShape(right));
    shape[rank - 1 - i] = x == 1 ? y : x;
  }
  a = expandTo(a, shape);
  b = a ? expandTo(b, shape) : Value();
  return b != nullptr;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

bool Parser::build() {
  switch (statement.code) {
  case OpCode::Buffer:
  case OpCode::Alloc:
  case OpCode::Param:
    return buildMemory();
  case OpCode::Const:
    return buildConst();
  case OpCode::Reshape:
  case OpCode::Expand:
  case OpCode::Permute:
  case OpCode::Shrink:
    return buildMovement();
  case OpCode::Cast:
    return buildCast();
  case OpCode::Reduce:
    return buildReduce();
  default:
    return buildWithSources();
  }
}

/// BUFFER, ALLOC and PARAM: dtype and size are the arg.
bool Parser::buildMemory() {
  OpCode code = statement.code;
  StringRef name = getName(code);
  const Attributes &attributes = statement.attributes;
  llvm::SmallVector<int64_t, 4> shape;
  if (code == OpCode::Param) {
    if (!statement.operands.empty())
      return fail("PARAM has no sources");
    if (!attributes.has(KeySlot))
      return fail("PARAM needs slot=");
    shape = attributes.has(KeyShape) ? attributes.shape : shape;
  } else {
    if (statement.operands.empty())
      return fail(name + " needs a size");
    if (statement.operands.size() > 1)
      return fail(statement.operands[1].begin(), name + " has no sources");
    StringRef operand = statement.operands.front();
    if (operand.front() == '(')
      return fail(operand.begin(), name + " is flat");
    std::optional<Literal> size = Literal::parse(operand);
    if (!size || size->kind != Literal::Kind::Int)
      return fail(operand.begin(), name + " size must be an integer, got " +
                                       quoteForMessage(operand));
    if (size->huge)
      return fail(operand.begin(), name + " size " + quoteForMessage(operand) +
                                       " is out of range");
    shape.push_back(size->integer);
  }
  DType dtype = attributes.has(KeyDType) ? attributes.dtype : DType::F32;
  if (dtype == DType::Void)
    return fail(name + " of void");
  for (int64_t size : shape)
    if (size < 0)
      return fail(name + " size must not be negative, got " + Twine(size));
  AddrSpace space =
      attributes.has(KeySpace) ? attributes.space : AddrSpace::Local;
  if (code == OpCode::Buffer)
    space = AddrSpace::Global;
  if (space == AddrSpace::Alu)
    return fail("ALLOC is global, local or shared memory");
  Type scalar = getScalarType(context, dtype);
  Type type = code == OpCode::Param
                  ? getValueType(context, dtype, shape)
                  : MemType::get(context, shape, scalar, space);
  int64_t slot = attributes.has(KeySlot) ? attributes.slot : 0;
  if (!get({}, {{}, type, slot}))
    return false;
  if (code == OpCode::Param)
    return true;
  Type before = slots.try_emplace({static_cast<unsigned>(code), slot}, type)
                    .first->second;
  if (before == type)
    return true;
  auto describe = [](Type t) {
    std::string text = getName(getDType(t)).str() + formatShape(getShape(t));
    if (getSpace(t) == AddrSpace::Shared || getSpace(t) == AddrSpace::Local)
      text += " " + stringifyAddrSpace(getSpace(t)).str();
    return text;
  };
  return fail(name + " slot " + Twine(slot) + " is " + describe(before) +
              " and " + describe(type));
}

bool Parser::buildConst() {
  const Attributes &attributes = statement.attributes;
  if (statement.operands.empty())
    return fail("CONST needs a value");
  if (statement.operands.size() > 1)
    return fail(statement.operands[1].begin(), "CONST has no sources");
  StringRef operand = statement.operands.front();
  std::optional<Literal> literal = Literal::parse(operand);
  if (!literal)
    return fail(operand.begin(),
                "CONST value must be a number or a bool, got " +
                    quoteForMessage(operand));
  DType dtype =
      attributes.has(KeyDType) ? attributes.dtype : literal->getNaturalDType();
  if (dtype == DType::Void)
    return fail("CONST of void");
  std::optional<Word> word = literal->convert(dtype);
  if (!word)
    return fail(operand.begin(), "literal " + quoteForMessage(operand) +
                                     " does not fit " + getName(dtype));
  result = getConstant(dtype, *word);
  return true;
}

bool Parser::buildMovement() {
  StringRef name = getName(statement.code);
  bool pairs = statement.code == OpCode::Shrink;
  StringRef what = pairs ? " needs a tuple of (begin, end) pairs"
                         : " needs a tuple of integers";
  if (statement.operands.empty())
    return fail(name + what);
  StringRef last = statement.operands.back();
  llvm::SmallVector<int64_t, 8> values;
  if (!(pairs ? parseIntegerPairs(last, values) : parseIntegers(last, values)))
    return fail(last.begin(), name + what + ", got " + quoteForMessage(last));
  if (!readSources(llvm::ArrayRef(statement.operands).drop_back()))
    return false;
  return get(sources, {DenseI64ArrayAttr::get(context, values), {}, 0});
}

/// A register value that has the dtype already is its own CAST.
bool Parser::buildCast() {
  if (!statement.attributes.has(KeyDType))
    return fail("CAST needs dtype=");
  if (!readSources(statement.operands))
    return false;
  DType dtype = statement.attributes.dtype;
  if (sources.size() == 1 && dtype != DType::Void &&
      getDType(sources[0].getType()) == dtype &&
      !isMemory(sources[0].getType())) {
    result = sources[0];
    return true;
  }
  return get(sources, {{}, getScalarType(context, dtype), 0});
}

bool Parser::buildReduce() {
  const Attributes &attributes = statement.attributes;
  if (!readSources(statement.operands))
    return false;
  OpCode op = attributes.has(KeyOp) ? attributes.op : OpCode::Add;
  int64_t pop = attributes.has(KeyPop) ? attributes.pop : 1;
  bool known = op == OpCode::Add || op == OpCode::Max;
  if (!known && sources.size() == 1 && !isa<VoidType>(sources[0].getType()))
    return fail(getReduceError(getName(op), pop, sources[0].getType()));
  ReduceKind kind = op == OpCode::Max ? ReduceKind::Max : ReduceKind::Add;
  return get(sources, {ReduceKindAttr::get(context, kind), {}, pop});
}

bool Parser::buildWithSources() {
  const Attributes &attributes = statement.attributes;
  if (!readSources(statement.operands))
    return false;
  OpCode code = statement.code;
  // Void and a wrong number of sources are for the typing rule to refuse.
  bool isVoid =
      llvm::any_of(sources, [](Value v) { return isa<VoidType>(v.getType()); });
  if (isBinary(code) && sources.size() == 2 && !isVoid) {
    if (!broadcast(sources[0], sources[1]))
      return false;
  } else if (code == OpCode::Where && sources.size() == 3 && !isVoid) {
    if (!broadcast(sources[1], sources[2]) ||
        !broadcast(sources[0], sources[1]) ||
        !broadcast(sources[0], sources[2]))
      return false;
  }
  Arg arg;
  if (code == OpCode::Call) {
    StringRef name = attributes.has(KeyName) ? StringRef(attributes.name) : "f";
    arg.attr = StringAttr::get(context, name);
  } else if (code == OpCode::Range) {
    arg.number = attributes.has(KeyIdx) ? attributes.idx : 0;
    arg.kind = attributes.has(KeyKind) ? attributes.kind : AxisKind::Loop;
  } else if (code == OpCode::Stage) {
    arg.number = attributes.has(KeyKind);
  }
  return get(sources, arg);
}

/// Erases what `root` does not reach.
void eraseDead(Block &block, Value root) {
  Operation *keep = root.getDefiningOp();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (&op != keep && op.use_empty())
      op.erase();
}

/// The file that a buffer is, or, of one split for `--split-input-file`, is
/// from: those are named "within split at FILE:LINE offset ".
StringRef getFileName(StringRef identifier) {
  if (identifier.consume_front("within split at "))
    return identifier.rsplit(':').first;
  return identifier;
}

} // namespace

OwningOpRef<ModuleOp> uop::parseUir(const llvm::SourceMgr &sourceMgr,
                                    MLIRContext *context) {
  context->getOrLoadDialect<UopDialect>();
  const llvm::MemoryBuffer *buffer =
      sourceMgr.getMemoryBuffer(sourceMgr.getMainFileID());
  StringRef file = buffer->getBufferIdentifier();
  Location start = FileLineColLoc::get(context, file, 1, 1);
  OwningOpRef<ModuleOp> module = ModuleOp::create(start);
  StringRef name = llvm::sys::path::stem(getFileName(file));
  if (name.empty() || name == "-" || name == "<stdin>")
    name = "program";
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  ProgramOp program = createProgram(builder, start, name);
  Block &block = program.getBodyBlock();
  Value root = Parser(&block, file, buffer->getBuffer()).parse();
  if (root) {
    eraseDead(block, root);
    finishProgram(program, root);
    return module;
  }
  // Users before sources.
  while (!block.empty())
    block.back().erase();
  return {};
}

bool uop::isUir(StringRef fileName, StringRef text) {
  fileName = getFileName(fileName);
  if (fileName.ends_with(".uir"))
    return true;
  if (fileName.ends_with(".mlir") || fileName.ends_with(".mlirbc"))
    return false;
  text.consume_front("\xef\xbb\xbf");
  while (!text.empty()) {
    StringRef content;
    std::tie(content, text) = text.split('\n');
    content = content.split('#').first.trim();
    if (content.empty())
      continue;
    auto [name, rest] = content.split('=');
    // MLIR's ops at this place have a dialect in front or stand in quotes.
    StringRef op = rest.ltrim().take_until(
        [](char c) { return llvm::isSpace(c) || c == ':'; });
    return name.starts_with("%") && !op.empty() &&
           op != "unrealized_conversion_cast" && llvm::all_of(op, [](char c) {
             return llvm::isAlnum(c) || c == '_';
           });
  }
  return false;
}
