//===- CPrinter.cpp - printing a schedule as a C function -----------------===//
//
// One pass over the block, in its order: statements are written as they come,
// expressions wait for their user. Leans on Bounds for the choice of division
// and on Literal for constants.
//
//===----------------------------------------------------------------------===//

#include "CSyntax.h"
#include "Uop/Graph/Bounds.h"
#include "Uop/Graph/Results.h"
#include "Uop/Target/C.h"

using namespace mlir;
using namespace uop;

namespace {

/// The deepest an expression nests; clang's parser recurses over it, in
/// process.
constexpr unsigned maxDepth = 64;
/// The most ops of an index expression that is repeated wherever its pointer
/// is.
constexpr unsigned maxIndexOps = 64;
/// What the ALLOCs of one kernel may take of the C stack.
constexpr int64_t maxStackBytes = 1 << 20;
/// Deeper loops are not indented further, or the text would be quadratic.
constexpr unsigned maxIndent = 64;

/// A place in the loop nest: how many loops are open, and which is innermost.
struct Scope {
  unsigned level = 0;
  unsigned loop = 0; // index into `loops` of the innermost, if level > 0
};

/// What is known of a value that has been passed.
struct Node {
  enum Kind : uint8_t {
    None,    // an effect
    Const,   // a literal
    Named,   // prefix and number: ridx0, val1, alu2
    Expr,    // an ALU op that is written where it is used
    Memory,  // prefix and number: data0, acc0
    Pointer, // Memory with an index
  };
  Kind kind = None;
  const char *prefix = "";
  int64_t number = 0;
  /// The defining op of a Const or Expr; the INDEX of a Pointer.
  Operation *op = nullptr;
  /// A size 1 local ALLOC: a plain variable, whose pointers need no index.
  bool bare = false;
  uint16_t depth = 0;
  uint32_t size = 0; // ALU ops in the text of an Expr
  Scope scope;

  static Node get(Kind kind, const char *prefix, int64_t number, Scope scope) {
    Node node;
    node.kind = kind;
    node.prefix = prefix;
    node.number = number;
    node.scope = scope;
    return node;
  }
};

class Printer {
public:
  Printer(ProgramOp program, const COptions &options)
      : program(program), options(options), os(text) {}

  LogicalResult print(std::string &result);

private:
  // One function per family of ops; each fails after an error.
  LogicalResult visit(OpCode code, Operation *op);
  LogicalResult visitAlloc(AllocOp op);
  LogicalResult visitIndex(IndexOp op);
  LogicalResult visitAfter(AfterOp op);
  LogicalResult visitAlu(OpCode code, Operation *op);
  LogicalResult visitLoad(LoadOp op);
  LogicalResult visitStore(StoreOp op);
  LogicalResult visitRange(RangeOp op);
  LogicalResult visitEnd(EndOp op);

  /// Checks that `op` may use its source `i` here; if `read`, names what it
  /// reads from memory. Adds to node's scope, depth and size.
  LogicalResult useSource(Operation *op, unsigned i, bool read, Node &node);
  /// The same for all sources; only the first may be a pointer that is not
  /// read.
  LogicalResult useSources(Operation *op, bool readFirst, Node &node);
  bool mustName(Operation *op, const Node &node) const;

  // Text.
  void writeSource(Operation *op, unsigned i);
  void writeNode(const Node &node);
  void writeAlu(Operation *op);
  void writeStatementStart(Type type, const char *prefix, int64_t number);
  void indent();
  void finishLine(Location loc);

  // Scopes.
  Scope here() const {
    if (open.empty())
      return {};
    return {static_cast<unsigned>(open.size()), open.back()};
  }
  bool isOpen(Scope scope) const {
    return scope.level == 0 ||
           (scope.level <= open.size() && open[scope.level - 1] == scope.loop);
  }
  int64_t getIdx(unsigned loop) const {
    return cast<RangeOp>(loops[loop]).getIdx();
  }

  const Node &get(Value value) const {
    return nodes[ids.find(value.getDefiningOp())->second];
  }
  InFlightDiagnostic error(Operation *op) { return emitError(op->getLoc()); }

  ProgramOp program;
  const COptions &options;
  std::string text;
  llvm::raw_string_ostream os;
  Bounds bounds;
  std::vector<Node> nodes;
  llvm::DenseMap<Operation *, unsigned> ids;
  /// The number of the `val` that a source was read into, by op and source.
  llvm::DenseMap<std::pair<Operation *, unsigned>, int64_t> reads;
  /// Every RANGE met, and those that are open, outermost first.
  std::vector<Operation *> loops;
  std::vector<unsigned> open;
  llvm::DenseSet<int64_t> openIdx;
  llvm::DenseMap<int64_t, Scope> allocScope;
  int64_t counter = 0;
  int64_t stackBytes = 0;
};

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

void Printer::indent() {
  os.indent(2 * std::min<size_t>(open.size() + 1, maxIndent));
}

void Printer::finishLine(Location loc) {
  if (options.locations)
    os << formatLocation(loc);
  os << "\n";
}

void Printer::writeStatementStart(Type type, const char *prefix,
                                  int64_t number) {
  indent();
  os << getCType(getDType(type)) << " " << prefix << number;
}

void Printer::writeSource(Operation *op, unsigned i) {
  if (auto it = reads.find({op, i}); it != reads.end())
    os << "val" << it->second;
  else
    writeNode(get(op->getOperand(i)));
}

void Printer::writeNode(const Node &node) {
  switch (node.kind) {
  case Node::None:
    break;
  case Node::Const: {
    auto constant = cast<ConstOp>(node.op);
    os << formatCConstant(getDType(constant.getType()),
                          getWord(constant.getValueAttr()));
    break;
  }
  case Node::Named:
  case Node::Memory:
    os << node.prefix << node.number;
    break;
  case Node::Expr:
    writeAlu(node.op);
    break;
  case Node::Pointer:
    os << node.prefix << node.number;
    if (!node.bare) {
      os << "[";
      writeSource(node.op, 1);
      os << "]";
    }
    break;
  }
}

void Printer::writeAlu(Operation *op) {
  DType dtype = getDType(op->getResult(0).getType());
  bool half = dtype == DType::F16;
  auto infix = [&](const char *symbol) {
    os << "(";
    writeSource(op, 0);
    os << symbol;
    writeSource(op, 1);
    os << ")";
  };
  auto call = [&](const char *name) {
    os << name << "(";
    writeSource(op, 0);
    if (op->getNumOperands() > 1) {
      os << ",";
      writeSource(op, 1);
    }
    os << ")";
  };
  // Half precision functions go through those of f32, rounded once.
  auto function = [&](const char *name) {
    os << (half ? "((_Float16)" : "");
    call(name);
    os << (half ? ")" : "");
  };
  auto division = [&](const char *symbol, const char *helper) {
    auto divisor = op->getOperand(1).getDefiningOp<ConstOp>();
    if (divisor && static_cast<int32_t>(getWord(divisor.getValueAttr())) > 0 &&
        bounds.vmin(op->getOperand(0)) >= 0)
      infix(symbol);
    else
      call(helper);
  };
  switch (*getOpCode(op)) {
  case OpCode::Cast:
    os << "((" << getCType(dtype) << ")(";
    writeSource(op, 0);
    os << "))";
    break;
  case OpCode::Recip:
    os << (half ? "((_Float16)1.0f/" : "(1.0f/");
    writeSource(op, 0);
    os << ")";
    break;
  case OpCode::Exp2:
    return function("exp2f");
  case OpCode::Log2:
    return function("log2f");
  case OpCode::Sqrt:
    return function("sqrtf");
  case OpCode::Sin:
    return function("sinf");
  case OpCode::Add:
    return infix(dtype == DType::Bool ? "|" : "+");
  case OpCode::Mul:
    return infix(dtype == DType::Bool ? "&" : "*");
  case OpCode::CmpLt:
    return infix("<");
  case OpCode::CmpNe:
    return infix("!=");
  case OpCode::FloorDiv:
    return division("/", "floordiv_i32");
  case OpCode::FloorMod:
    return division("%", "floormod_i32");
  case OpCode::Max:
    os << "(";
    infix(">");
    os << "?";
    writeSource(op, 0);
    os << ":";
    writeSource(op, 1);
    os << ")";
    break;
  case OpCode::Where:
    os << "(";
    writeSource(op, 0);
    os << "?";
    writeSource(op, 1);
    os << ":";
    writeSource(op, 2);
    os << ")";
    break;
  default:
    llvm_unreachable("an ALU op");
  }
}

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

LogicalResult Printer::useSource(Operation *op, unsigned i, bool read,
                                 Node &node) {
  Value source = op->getOperand(i);
  const Node &used = get(source);
  if (used.kind == Node::None)
    return success();
  if (!isOpen(used.scope))
    return error(op) << getName(*getOpCode(op)) << " uses "
                     << getName(getOpCode(source)) << " outside of loop "
                     << getIdx(used.scope.loop) << ": run linearize first";
  if (!read || !isMemory(source.getType())) {
    if (used.scope.level > node.scope.level)
      node.scope = used.scope;
    if (used.kind == Node::Expr) {
      node.depth = std::max(node.depth, used.depth);
      node.size += used.size;
    }
    return success();
  }
  int64_t number = 0;
  for (unsigned j = 0; j < i && !number; ++j)
    if (op->getOperand(j) == source)
      number = reads.lookup({op, j});
  if (!number) {
    number = ++counter;
    writeStatementStart(source.getType(), "val", number);
    os << " = ";
    writeNode(used);
    os << ";";
    finishLine(op->getLoc());
  }
  reads[{op, i}] = number;
  node.scope = here();
  return success();
}

LogicalResult Printer::useSources(Operation *op, bool readFirst, Node &node) {
  for (unsigned i = 0, e = op->getNumOperands(); i < e; ++i)
    if (failed(useSource(op, i, readFirst || i > 0, node)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

LogicalResult Printer::visitAlloc(AllocOp op) {
  auto type = cast<MemType>(op.getType());
  DType dtype = getDType(type);
  int64_t size = type.getShape()[0];
  int64_t slot = op.getSlot();
  stackBytes += size * getByteWidth(dtype);
  if (stackBytes > maxStackBytes)
    return error(op) << "ALLOC slot " << slot << " makes " << stackBytes
                     << " bytes of local memory: the C stack holds at most "
                     << maxStackBytes;
  auto [it, inserted] = allocScope.try_emplace(slot, here());
  if (!inserted) {
    if (isOpen(it->second))
      return error(op) << "ALLOC slot " << slot
                       << " is declared twice: run uop-unique first";
    it->second = here();
  }
  bool shared = type.getSpace() == AddrSpace::Shared;
  Node node = Node::get(Node::Memory, shared ? "smem" : "acc", slot, here());
  node.bare = size == 1 && type.getSpace() == AddrSpace::Local;
  writeStatementStart(type, node.prefix, slot);
  if (!node.bare)
    os << "[" << size << "]";
  os << ";";
  finishLine(op.getLoc());
  nodes.push_back(node);
  return success();
}

LogicalResult Printer::visitIndex(IndexOp op) {
  Node node;
  if (failed(useSources(op, /*readFirst=*/false, node)))
    return failure();
  Node source = get(op.getSource());
  if (!op.getIndices().empty()) {
    source.kind = Node::Pointer;
    source.op = op;
    source.scope = node.scope;
  }
  nodes.push_back(source);
  return success();
}

LogicalResult Printer::visitAfter(AfterOp op) {
  Node node;
  for (unsigned i = 0, e = op->getNumOperands(); i < e; ++i)
    if (failed(useSource(op, i, /*read=*/false, node)))
      return failure();
  nodes.push_back(Node(get(op.getSource())));
  return success();
}

/// Whether an ALU op gets a name where it stands rather than being written into
/// its user.
bool Printer::mustName(Operation *op, const Node &node) const {
  if (!op->hasOneUse() || node.depth >= maxDepth)
    return true;
  OpOperand &use = *op->use_begin();
  Operation *user = use.getOwner();
  if (isa<MaxOp, AfterOp>(user))
    return true;
  // A pointer's index is written at each of its uses.
  return isa<IndexOp>(user) &&
         (use.getOperandNumber() == 0 || node.size > maxIndexOps);
}

LogicalResult Printer::visitAlu(OpCode code, Operation *op) {
  Node node;
  if (failed(useSources(op, /*readFirst=*/true, node)))
    return failure();
  node.kind = Node::Expr;
  node.op = op;
  ++node.depth;
  ++node.size;
  if (!op->use_empty() && mustName(op, node)) {
    Node named = Node::get(Node::Named, "alu", ++counter, here());
    writeStatementStart(op->getResult(0).getType(), "alu", named.number);
    os << " = ";
    writeAlu(op);
    os << ";";
    finishLine(op->getLoc());
    node = named;
  }
  nodes.push_back(node);
  return success();
}

LogicalResult Printer::visitLoad(LoadOp op) {
  Node node;
  if (failed(useSources(op, /*readFirst=*/false, node)))
    return failure();
  node = Node::get(Node::Named, "val", ++counter, here());
  writeStatementStart(op.getType(), "val", node.number);
  os << " = ";
  bool gated = op->getNumOperands() == 3;
  if (gated) {
    os << "(";
    writeSource(op, 1);
    os << "?";
  }
  writeSource(op, 0);
  if (gated) {
    os << ":";
    writeSource(op, 2);
    os << ")";
  }
  os << ";";
  finishLine(op.getLoc());
  nodes.push_back(node);
  return success();
}

LogicalResult Printer::visitStore(StoreOp op) {
  Node node;
  if (failed(useSources(op, /*readFirst=*/false, node)))
    return failure();
  indent();
  writeSource(op, 0);
  os << " = ";
  writeSource(op, 1);
  os << ";";
  finishLine(op.getLoc());
  nodes.push_back({});
  return success();
}

LogicalResult Printer::visitRange(RangeOp op) {
  Node node;
  if (failed(useSources(op, /*readFirst=*/true, node)))
    return failure();
  int64_t idx = op.getIdx();
  if (!openIdx.insert(idx).second)
    return error(op) << "RANGE opens loop " << idx
                     << ", which is open already: run linearize first";
  if (op.getKind() == AxisKind::Thread) {
    indent();
    os << "#pragma omp parallel for\n";
  }
  indent();
  os << "for (int ridx" << idx << " = 0; ridx" << idx << " < ";
  writeSource(op, 0);
  os << "; ridx" << idx << "++) {";
  finishLine(op.getLoc());
  open.push_back(loops.size());
  loops.push_back(op);
  nodes.push_back(Node::get(Node::Named, "ridx", idx, here()));
  return success();
}

LogicalResult Printer::visitEnd(EndOp op) {
  for (size_t left = op.getRanges().size(); left > 0; --left) {
    if (open.empty())
      return error(op) << "END closes a loop that is not open: run linearize "
                          "first";
    Operation *loop = loops[open.back()];
    if (!llvm::is_contained(op.getRanges(), loop->getResult(0)))
      return error(op) << "END does not close the innermost loop, "
                       << getIdx(open.back()) << ": run linearize first";
    openIdx.erase(getIdx(open.back()));
    open.pop_back();
    indent();
    os << "}\n";
  }
  nodes.push_back({});
  return success();
}

LogicalResult Printer::visit(OpCode code, Operation *op) {
  llvm::StringRef name = getName(code);
  if (code == OpCode::Barrier || code == OpCode::Wmma)
    return error(op) << name << " has no C form: it needs a GPU";
  if (code == OpCode::Param || code == OpCode::Call)
    return error(op) << name << " has no C form: run rangeify first";
  // Sources need no look: whatever is shaped is the result of some op.
  Type type = op->getResult(0).getType();
  bool shaped = !getShape(type).empty();
  if (isMemory(type)) {
    bool plain = code == OpCode::Buffer || code == OpCode::Alloc ||
                 code == OpCode::After || code == OpCode::Index;
    shaped = !plain || getShape(type).size() > 1;
  }
  if (shaped)
    return error(op) << name << " is shaped: run rangeify first";
  switch (code) {
  case OpCode::Const: {
    nodes.emplace_back();
    nodes.back().kind = Node::Const;
    nodes.back().op = op;
    return success();
  }
  case OpCode::Buffer:
    nodes.push_back(
        Node::get(Node::Memory, "data", cast<BufferOp>(op).getSlot(), {}));
    return success();
  case OpCode::Alloc:
    return visitAlloc(cast<AllocOp>(op));
  case OpCode::Index:
    return visitIndex(cast<IndexOp>(op));
  case OpCode::After:
    return visitAfter(cast<AfterOp>(op));
  case OpCode::Load:
    return visitLoad(cast<LoadOp>(op));
  case OpCode::Store:
    return visitStore(cast<StoreOp>(op));
  case OpCode::Range:
    return visitRange(cast<RangeOp>(op));
  case OpCode::End:
    return visitEnd(cast<EndOp>(op));
  case OpCode::Sink:
    nodes.push_back({});
    return success();
  default:
    if (isAlu(code))
      return visitAlu(code, op);
    // Movement, STACK, REDUCE and STAGE of a scalar.
    return error(op) << name << " has no C form: run rangeify first";
  }
}

LogicalResult Printer::print(std::string &result) {
  os << "void " << makeCIdentifier(options.name) << "(";
  llvm::SmallVector<KernelParam> params = getKernelParams(program);
  if (params.empty())
    os << "void";
  llvm::interleaveComma(params, os, [&](const KernelParam &param) {
    os << getCType(param.dtype) << "* restrict data" << param.slot;
  });
  os << ") {\n";
  for (Operation &op : program.getBodyBlock().without_terminator()) {
    std::optional<OpCode> code = getOpCode(&op);
    if (!code)
      return error(&op) << "'" << op.getName() << "' is no op of uop";
    if (failed(visit(*code, &op)))
      return failure();
    ids[&op] = nodes.size() - 1;
  }
  if (!open.empty())
    return error(loops[open.back()]) << "loop " << getIdx(open.back())
                                     << " is never closed: run linearize first";
  Operation *root = program.getRoot().getDefiningOp();
  if (isShaped(program))
    return error(root) << "this program is one of shapes: run rangeify first";
  os << "}\n";
  result = std::move(text);
  return success();
}

} // namespace

llvm::SmallVector<KernelParam> uop::getKernelParams(ProgramOp program) {
  llvm::SmallVector<KernelParam> params;
  llvm::DenseSet<int64_t> seen;
  for (BufferOp op : program.getBodyBlock().getOps<BufferOp>())
    if (seen.insert(op.getSlot()).second)
      params.push_back({static_cast<int64_t>(op.getSlot()),
                        getDType(op.getType()), getShape(op.getType())[0]});
  llvm::sort(params, [](const KernelParam &a, const KernelParam &b) {
    return a.slot < b.slot;
  });
  return params;
}

LogicalResult uop::printC(ProgramOp program, llvm::raw_ostream &os,
                          const COptions &options) {
  std::string text;
  if (failed(Printer(program, options).print(text)))
    return failure();
  os << text;
  return success();
}
