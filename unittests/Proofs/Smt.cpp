//===- Smt.cpp - scalar expressions for a solver --------------------------===//
//
// One definition per node. The semantics are those of docs/semantics.md, written
// down here once more and on purpose: a proof must not rest on the code it is to
// judge.
//
//===----------------------------------------------------------------------===//

#include "Smt.h"
#include "Uop/Graph/Walk.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include <set>

using namespace mlir;
using namespace uop;
using namespace uop::proofs;

namespace {

using llvm::formatv;

constexpr int64_t intMin = -2147483648LL, intMax = 2147483647LL;

/// Where a term of integers is for sure, before it is wrapped.
struct Span {
  double low = intMin, high = intMax;
};

class Writer {
public:
  Writer(Theory theory) : isInteger(theory == Theory::Integers), os(text) {}

  std::optional<std::string> add(Value root, llvm::StringRef prefix);
  void finish(llvm::StringRef a, llvm::StringRef b) {
    os << "(assert (distinct " << a << " " << b << "))\n";
  }
  std::string text;

private:
  std::string constant(DType dtype, Word word) const;
  std::string sort(DType dtype) const {
    return dtype == DType::Bool ? "Bool"
           : isInteger          ? "Int"
                                : "(_ BitVec 32)";
  }
  void declareMemory(int64_t slot, DType dtype);
  std::optional<std::string> write(Operation *op, OpCode code,
                                   llvm::ArrayRef<std::string> s);
  std::string writeBool(OpCode code, const std::string &a,
                        const std::string &b) const;
  std::string writeVector(OpCode code, const std::string &a,
                          const std::string &b) const;
  std::string writeInteger(Operation *op, OpCode code, const std::string &a,
                           const std::string &b);
  std::string writeQuotient(OpCode code, const std::string &a,
                            const std::string &b, Value divisor) const;

  bool isInteger;
  llvm::raw_string_ostream os;
  std::set<std::string> declared;
  llvm::DenseMap<Value, Span> spans; // of terms of integers
};

std::string Writer::constant(DType dtype, Word word) const {
  if (dtype == DType::Bool)
    return word ? "true" : "false";
  if (!isInteger)
    return formatv("#x{0}", llvm::utohexstr(word, /*LowerCase=*/true, 8));
  int64_t value = static_cast<int32_t>(word);
  return value < 0 ? formatv("(- {0})", -value).str() : std::to_string(value);
}

std::string Writer::writeBool(OpCode code, const std::string &a,
                              const std::string &b) const {
  switch (code) {
  case OpCode::Add:
  case OpCode::Max:
    return formatv("(or {0} {1})", a, b);
  case OpCode::Mul:
    return formatv("(and {0} {1})", a, b);
  case OpCode::CmpLt:
    return formatv("(and (not {0}) {1})", a, b);
  case OpCode::CmpNe:
    return formatv("(xor {0} {1})", a, b);
  default:
    return "";
  }
}

std::string Writer::writeVector(OpCode code, const std::string &a,
                                const std::string &b) const {
  const char *zero = "#x00000000";
  switch (code) {
  case OpCode::Add:
    return formatv("(bvadd {0} {1})", a, b);
  case OpCode::Mul:
    return formatv("(bvmul {0} {1})", a, b);
  case OpCode::Max:
    return formatv("(ite (bvsgt {0} {1}) {0} {1})", a, b);
  case OpCode::CmpLt:
    return formatv("(bvslt {0} {1})", a, b);
  case OpCode::CmpNe:
    return formatv("(distinct {0} {1})", a, b);
  case OpCode::FloorDiv:
    return formatv("(ite (= {1} {2}) {2} (ite (and (distinct (bvsrem {0} {1}) "
                   "{2}) (distinct (bvslt {0} {2}) (bvslt {1} {2}))) (bvsub "
                   "(bvsdiv {0} {1}) #x00000001) (bvsdiv {0} {1})))",
                   a, b, zero);
  case OpCode::FloorMod:
    return formatv("(ite (= {1} {2}) {2} (bvsmod {0} {1}))", a, b, zero);
  default:
    return "";
  }
}

/// In SMT-LIB `div` rounds so that the remainder is never negative.
std::string Writer::writeQuotient(OpCode code, const std::string &a,
                                  const std::string &b, Value divisor) const {
  const char *up = code == OpCode::FloorDiv ? "(div {0} {1})" : "(mod {0} {1})";
  const char *down = code == OpCode::FloorDiv ? "(div (- {0}) (- {1}))"
                                              : "(- (mod (- {0}) (- {1})))";
  if (auto known = divisor.getDefiningOp<ConstOp>()) {
    int32_t value = getWord(known.getValue());
    if (value == 0)
      return "0";
    return value > 0 ? formatv(false, up, a, b).str()
                     : formatv(false, down, a, b).str();
  }
  return formatv("(ite (= {0} 0) 0 (ite (> {0} 0) {1} {2}))", b,
                 formatv(false, up, a, b).str(),
                 formatv(false, down, a, b).str());
}

std::string Writer::writeInteger(Operation *op, OpCode code,
                                 const std::string &a, const std::string &b) {
  Span x = spans.lookup(op->getOperand(0)), y = spans.lookup(op->getOperand(1));
  Span &r = spans[op->getResult(0)];
  std::string term;
  switch (code) {
  case OpCode::Max:
    r = {std::max(x.low, y.low), std::max(x.high, y.high)};
    return formatv("(ite (> {0} {1}) {0} {1})", a, b);
  case OpCode::CmpLt:
    return formatv("(< {0} {1})", a, b);
  case OpCode::CmpNe:
    return formatv("(distinct {0} {1})", a, b);
  case OpCode::Add:
    term = formatv("(+ {0} {1})", a, b);
    r = {x.low + y.low, x.high + y.high};
    break;
  case OpCode::Mul: {
    term = formatv("(* {0} {1})", a, b);
    double ends[] = {x.low * y.low, x.low * y.high, x.high * y.low,
                     x.high * y.high};
    r = {*std::min_element(ends, ends + 4), *std::max_element(ends, ends + 4)};
    break;
  }
  case OpCode::FloorDiv: // |a // b| is at most |a|
    term = writeQuotient(code, a, b, op->getOperand(1));
    r.high = std::max(-x.low, x.high);
    r.low = y.low < 0 || x.low < 0 ? -r.high : 0;
    break;
  case OpCode::FloorMod:
    term = writeQuotient(code, a, b, op->getOperand(1));
    r = {std::min(y.low + 1, 0.0), std::max(y.high - 1, 0.0)};
    break;
  default:
    return "";
  }
  if (r.low >= intMin && r.high <= intMax)
    return term;
  r = {};
  return formatv("(- (mod (+ {0} 2147483648) 4294967296) 2147483648)", term);
}

void Writer::declareMemory(int64_t slot, DType dtype) {
  std::string name = formatv("data{0}", slot);
  if (declared.insert(name).second)
    os << formatv("(declare-fun {0} ({1}) {2})\n", name, sort(DType::I32),
                  sort(dtype));
}

std::optional<std::string> Writer::write(Operation *op, OpCode code,
                                         llvm::ArrayRef<std::string> s) {
  Value result = op->getResult(0);
  DType dtype = getDType(result.getType());
  if (!getShape(result.getType()).empty() || isFloat(dtype))
    return std::nullopt;
  if (code == OpCode::Const) {
    Word word = getWord(cast<ConstOp>(op).getValue());
    double value = static_cast<int32_t>(word);
    spans[result] = {value, value};
    return constant(dtype, word);
  }
  if (code == OpCode::Range) {
    std::string name = formatv("ridx{0}", cast<RangeOp>(op).getIdx());
    if (declared.insert(name).second)
      os << formatv("(declare-fun {0} () {1})\n", name, sort(dtype));
    os << (isInteger
               ? formatv("(assert (and (<= 0 {0}) (< {0} {1})))\n", name, s[0])
               : formatv("(assert (and (bvsle #x00000000 {0}) (bvslt {0} "
                         "{1})))\n",
                         name, s[0]))
              .str();
    spans[result] = {
        0, std::max(spans.lookup(op->getOperand(0)).high - 1, 0.0)};
    return name;
  }
  if (code == OpCode::Load) {
    auto index = op->getOperand(0).getDefiningOp<IndexOp>();
    auto buffer =
        index ? index.getSource().getDefiningOp<BufferOp>() : BufferOp();
    if (!buffer)
      return std::nullopt;
    declareMemory(buffer.getSlot(), dtype);
    std::string read = formatv("(data{0} {1})", buffer.getSlot(), s[0]);
    if (isInteger && dtype == DType::I32)
      os << formatv("(assert (and (<= (- 2147483648) {0}) (<= {0} "
                    "2147483647)))\n",
                    read);
    return s.size() == 1 ? read
                         : formatv("(ite {0} {1} {2})", s[1], read, s[2]).str();
  }
  if (code == OpCode::Where) {
    Span a = spans.lookup(op->getOperand(1)), b = spans.lookup(op->getOperand(2));
    spans[result] = {std::min(a.low, b.low), std::max(a.high, b.high)};
    return formatv("(ite {0} {1} {2})", s[0], s[1], s[2]);
  }
  DType source = op->getNumOperands()
                     ? getDType(op->getOperand(0).getType())
                     : DType::Void;
  if (!isAlu(code) || isFloat(source))
    return std::nullopt;
  if (code == OpCode::Cast) {
    if (source == dtype) {
      spans[result] = spans.lookup(op->getOperand(0));
      return s[0];
    }
    if (dtype == DType::Bool)
      return formatv("(distinct {0} {1})", s[0], constant(source, 0));
    spans[result] = {0, 1};
    return formatv("(ite {0} {1} {2})", s[0], constant(dtype, 1),
                   constant(dtype, 0));
  }
  if (!isBinary(code))
    return std::nullopt;
  std::string term = source == DType::Bool ? writeBool(code, s[0], s[1])
                     : isInteger ? writeInteger(op, code, s[0], s[1])
                                 : writeVector(code, s[0], s[1]);
  if (term.empty())
    return std::nullopt;
  return term;
}

std::optional<std::string> Writer::add(Value root, llvm::StringRef prefix) {
  llvm::DenseMap<Value, std::string> names;
  unsigned count = 0;
  for (Operation *op : toposort(root)) {
    OpCode code = *getOpCode(op);
    if (code == OpCode::Buffer)
      continue;
    Value result = op->getResult(0);
    llvm::SmallVector<std::string> sources;
    for (Value source : op->getOperands())
      sources.push_back(names[source]);
    if (code == OpCode::Index) {
      if (sources.size() != 2)
        return std::nullopt;
      names[result] = sources[1]; // an address is its index
      continue;
    }
    std::optional<std::string> term = write(op, code, sources);
    if (!term)
      return std::nullopt;
    std::string name = formatv("{0}{1}", prefix, count++);
    os << formatv("(define-fun {0} () {1} {2})\n", name,
                  sort(getDType(result.getType())), *term);
    names[result] = name;
  }
  return names[root];
}

/// A file that is removed with this.
struct Scratch {
  Scratch(llvm::StringRef suffix) {
    llvm::sys::fs::createTemporaryFile("uop-proof", suffix, path);
  }
  ~Scratch() { llvm::sys::fs::remove(path); }
  llvm::SmallString<64> path;
};

/// What Z3 prints; empty, with the reason in `error`, if it can't be run.
std::string runZ3(llvm::StringRef text, std::string &error) {
  llvm::ErrorOr<std::string> program = llvm::sys::findProgramByName("z3");
  if (!program) {
    error = "z3 is not installed (scripts/setup.sh brings it)";
    return "";
  }
  Scratch input("smt2"), output("out");
  {
    std::error_code code;
    llvm::raw_fd_ostream os(input.path, code);
    if (code) {
      error = code.message();
      return "";
    }
    os << text;
  }
  std::optional<llvm::StringRef> redirects[] = {std::nullopt,
                                                output.path.str(), std::nullopt};
  llvm::sys::ExecuteAndWait(*program, {*program, "-smt2", input.path.str()},
                            std::nullopt, redirects, /*SecondsToWait=*/0,
                            /*MemoryLimit=*/0, &error);
  auto answer = llvm::MemoryBuffer::getFile(output.path);
  return answer ? (*answer)->getBuffer().str() : "";
}

} // namespace

std::optional<std::string> proofs::makeQuery(Value before, Value after,
                                             Theory theory) {
  Writer writer(theory);
  std::optional<std::string> a = writer.add(before, "a");
  std::optional<std::string> b = a ? writer.add(after, "b") : std::nullopt;
  if (!b)
    return std::nullopt;
  writer.finish(*a, *b);
  return writer.text;
}

std::vector<Answer> proofs::askZ3(llvm::ArrayRef<std::string> queries,
                                  unsigned limit, std::string &error) {
  std::string text = formatv("(set-option :timeout {0})\n", limit);
  for (const std::string &query : queries)
    text += "(push)\n" + query + "(check-sat)\n(pop)\n";
  std::string printed = runZ3(text, error);
  std::vector<Answer> answers;
  for (llvm::StringRef line : llvm::split(printed, '\n')) {
    if (line == "unsat")
      answers.push_back(Answer::Proved);
    else if (line == "sat")
      answers.push_back(Answer::Refuted);
    else if (line == "unknown" || line == "timeout")
      answers.push_back(Answer::TimedOut);
    else if (!line.empty() && error.empty())
      error = line.str();
  }
  if (error.empty() && answers.size() != queries.size())
    error = "z3 answered " + std::to_string(answers.size()) + " of " +
            std::to_string(queries.size()) + " queries";
  if (!error.empty())
    answers.clear();
  return answers;
}

std::string proofs::getModel(const std::string &query, unsigned limit) {
  std::string error;
  return runZ3(formatv("(set-option :timeout {0})\n{1}(check-sat)\n(get-model)\n",
                       limit, query)
                   .str(),
               error);
}
