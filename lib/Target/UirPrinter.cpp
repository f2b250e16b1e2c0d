//===- UirPrinter.cpp - printing .uir -------------------------------------===//
//
// The canonical form: statements in toposort order, constants inline wherever
// the parser's rule for literals gives them their dtype back.
//
//===----------------------------------------------------------------------===//

#include "Literal.h"
#include "Uop/Graph/Walk.h"
#include "Uop/Target/Uir.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace uop;

namespace {

/// Whether `op` converts a register value to the dtype it has: nothing in
/// `.uir`, where it is its source.
bool isIdentityCast(Operation *op) {
  auto castOp = dyn_cast<CastOp>(op);
  return castOp && castOp.getSource().getType() == castOp.getType();
}

class Printer {
public:
  explicit Printer(llvm::raw_ostream &os) : os(os) {}

  void print(Value root) { print(root, toposort(root)); }

  /// Of `order`, which ends with `root`, the nodes whose sources are not in it
  /// are written with these as comments, cut off.
  void printExcerpt(Value root, const std::vector<Operation *> &order) {
    llvm::DenseSet<Operation *> inside(order.begin(), order.end());
    for (Operation *op : order)
      for (Value source : op->getOperands()) {
        Operation *cut = source.getDefiningOp();
        if (inside.contains(cut) || numbers.contains(cut))
          continue;
        unsigned number = numbers.size();
        numbers[cut] = number;
        os << "# %" << number << " = " << getMnemonic(*::uop::getOpCode(cut))
           << " ...\n";
      }
    print(root, order);
  }

private:
  void print(Value root, const std::vector<Operation *> &order) {
    numbers.reserve(order.size());
    for (Operation *op : order)
      if (isIdentityCast(op))
        resolved[op] = resolve(op->getOperand(0));
    rootOp = resolve(root);
    for (Operation *op : order) {
      if (isIdentityCast(op) || isa<ConstOp>(op))
        continue;
      collect(op);
      for (auto [source, isNamed] : llvm::zip_equal(sources, named))
        if (isNamed && isa<ConstOp>(source))
          statements.insert(source);
    }
    for (Operation *op : order) {
      if (isIdentityCast(op) ||
          (isa<ConstOp>(op) && op != rootOp && !statements.contains(op)))
        continue;
      printStatement(op);
    }
  }

  Operation *resolve(Value value) {
    Operation *op = value.getDefiningOp();
    if (LLVM_LIKELY(resolved.empty()))
      return op;
    auto it = resolved.find(op);
    return it == resolved.end() ? op : it->second;
  }

  static DType dtypeOf(Operation *op) {
    return getDType(op->getResult(0).getType());
  }

  /// Fills `sources`, and `named` with whether each is written as a name. A
  /// constant is a literal if that, between the names that there are, reads
  /// back with its dtype; one that becomes a name may give the other literals
  /// another dtype, so that is asked again until nothing changes (at most three
  /// times: what is left after the second has one dtype).
  void collect(Operation *op) {
    sources.clear();
    named.clear();
    bool hasConstant = false;
    for (Value value : op->getOperands()) {
      Operation *source = resolve(value);
      bool isConstant = isa<ConstOp>(source);
      hasConstant |= isConstant;
      sources.push_back(source);
      named.push_back(!isConstant);
    }
    if (!hasConstant)
      return;
    size_t first = isa<WhereOp>(op) ? 1 : 0;
    bool ownType = isa<IndexOp, RangeOp>(op);
    for (bool changed = true; changed;) {
      changed = false;
      std::optional<DType> neighbour;
      for (size_t i = first; i < sources.size() && !neighbour; ++i)
        if (named[i])
          neighbour = dtypeOf(sources[i]);
      for (size_t i = 0; i < sources.size(); ++i) {
        DType dtype = dtypeOf(sources[i]);
        if (named[i] || dtype == DType::Bool)
          continue;
        DType readBack =
            ownType || !neighbour ? getNaturalDType(dtype) : *neighbour;
        if (readBack != dtype)
          named[i] = changed = true;
      }
    }
  }

  void printStatement(Operation *op) {
    OpCode code = *::uop::getOpCode(op);
    collect(op);
    unsigned number = numbers.size();
    numbers[op] = number;
    os << '%' << number << " = " << getMnemonic(code);
    llvm::StringRef separator = " ";
    auto operand = [&]() -> llvm::raw_ostream & {
      os << separator;
      separator = ", ";
      return os;
    };
    if (code == OpCode::Const)
      operand() << literal(op);
    else if (code == OpCode::Buffer || code == OpCode::Alloc)
      operand() << getShape(op->getResult(0).getType())[0];
    for (auto [source, isNamed] : llvm::zip_equal(sources, named)) {
      if (isNamed)
        operand() << '%' << numbers.lookup(source);
      else
        operand() << literal(source);
    }
    if (isMovement(code)) {
      auto values = cast<DenseI64ArrayAttr>(getArg(code, op).attr);
      if (code == OpCode::Shrink)
        printBounds(operand(), values.asArrayRef());
      else
        operand() << formatShape(values.asArrayRef());
    }
    printAttributes(code, op);
    os << '\n';
  }

  static std::string literal(Operation *op) {
    return formatLiteral(dtypeOf(op),
                         getWord(cast<ConstOp>(op).getValueAttr()));
  }

  static void printBounds(llvm::raw_ostream &os,
                          llvm::ArrayRef<int64_t> bounds) {
    os << '(';
    for (size_t i = 0; i + 1 < bounds.size(); i += 2)
      os << (i ? ", (" : "(") << bounds[i] << ", " << bounds[i + 1] << ')';
    os << (bounds.size() == 2 ? ",)" : ")");
  }

  void printAttributes(OpCode code, Operation *op) {
    Type type = op->getResult(0).getType();
    llvm::StringRef dtype = getName(getDType(type));
    switch (code) {
    case OpCode::Const:
      if (getNaturalDType(getDType(type)) != getDType(type))
        os << " : dtype=" << dtype;
      break;
    case OpCode::Buffer:
      os << " : dtype=" << dtype << " slot=" << cast<BufferOp>(op).getSlot();
      break;
    case OpCode::Alloc:
      os << " : dtype=" << dtype << " slot=" << cast<AllocOp>(op).getSlot();
      if (getSpace(type) != AddrSpace::Local)
        os << " space=" << stringifyAddrSpace(getSpace(type));
      break;
    case OpCode::Param:
      os << " : slot=" << cast<ParamOp>(op).getSlot() << " dtype=" << dtype;
      if (!getShape(type).empty())
        os << " shape=" << formatShape(getShape(type));
      break;
    case OpCode::Call:
      os << " : name=";
      printIdentifier(cast<CallOp>(op).getName());
      break;
    case OpCode::Cast:
      os << " : dtype=" << dtype;
      break;
    case OpCode::Range:
      os << " : idx=" << cast<RangeOp>(op).getIdx()
         << " kind=" << stringifyAxisKind(cast<RangeOp>(op).getKind());
      break;
    case OpCode::Reduce:
      os << " : op=" << stringifyReduceKind(cast<ReduceOp>(op).getKind())
         << " pop=" << cast<ReduceOp>(op).getPop();
      break;
    case OpCode::Stage:
      if (cast<StageOp>(op).getDetach())
        os << " : kind=detach";
      break;
    default:
      break;
    }
  }

  /// A name that is no identifier is quoted, with `\XX` for what would end the
  /// string, the line or the statement.
  void printIdentifier(llvm::StringRef name) {
    if (!name.empty() && llvm::all_of(name, [](char c) {
          return llvm::isAlnum(c) || c == '_';
        })) {
      os << name;
      return;
    }
    os << '"';
    for (char c : name) {
      if (c == '#' || c == '"' || c == '\\' || !llvm::isPrint(c))
        os << '\\' << llvm::hexdigit(static_cast<uint8_t>(c) >> 4)
           << llvm::hexdigit(c & 15);
      else
        os << c;
    }
    os << '"';
  }

  llvm::raw_ostream &os;
  Operation *rootOp = nullptr;
  llvm::DenseMap<Operation *, unsigned> numbers;
  /// What identity casts are.
  llvm::DenseMap<Operation *, Operation *> resolved;
  /// The constants that are statements.
  llvm::DenseSet<Operation *> statements;
  llvm::SmallVector<Operation *> sources;
  llvm::SmallVector<bool> named;
};

} // namespace

void uop::printUir(ProgramOp program, llvm::raw_ostream &os) {
  Printer(os).print(program.getRoot());
}

void uop::printUirExcerpt(Value root, size_t limit, llvm::raw_ostream &os) {
  Printer(os).printExcerpt(root, nearest(root, limit));
}
