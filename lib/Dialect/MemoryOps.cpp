//===- MemoryOps.cpp - memory, effects and programs -----------------------===//
//
// The memory family and the program that holds a graph.
//
//===----------------------------------------------------------------------===//

#include "Assembly.h"

using namespace mlir;
using namespace uop;

#define GET_OP_CLASSES
#include "Uop/Dialect/UopMemoryOps.cpp.inc"

void UopDialect::addMemoryOps() {
  addOperations<
#define GET_OP_LIST
#include "Uop/Dialect/UopMemoryOps.cpp.inc"
      >();
}

UOP_DEFINE_VERIFIER(Buffer)
UOP_DEFINE_VERIFIER(Alloc)
UOP_DEFINE_TYPED(Load, Arg{})
UOP_DEFINE_TYPED(Store, Arg{})
UOP_DEFINE_TYPED(After, Arg{})
UOP_DEFINE_TYPED(Sink, Arg{})

//===----------------------------------------------------------------------===//
// ProgramOp
//===----------------------------------------------------------------------===//

void ProgramOp::build(OpBuilder &builder, OperationState &state,
                      llvm::StringRef name) {
  state.getOrAddProperties<Properties>().sym_name =
      builder.getStringAttr(name);
  state.addRegion()->emplaceBlock();
}

Value ProgramOp::getRoot() {
  return cast<YieldOp>(getBodyBlock().getTerminator()).getRoot();
}

/// Every op is a UOp, and one slot of BUFFER or ALLOC has one type.
LogicalResult ProgramOp::verifyRegions() {
  Block &block = getBodyBlock();
  if (block.empty() || !isa<YieldOp>(block.back()))
    return emitOpError("must end with uop.yield");
  llvm::DenseMap<std::pair<unsigned, int64_t>, Operation *> slots;
  for (Operation &op : block.without_terminator()) {
    std::optional<OpCode> code = ::uop::getOpCode(&op);
    if (!code)
      return op.emitError() << "a program holds uop ops only, not '"
                            << op.getName() << "'";
    if (*code != OpCode::Buffer && *code != OpCode::Alloc)
      continue;
    int64_t slot = getArg(*code, &op).number;
    auto [it, inserted] =
        slots.try_emplace({static_cast<unsigned>(*code), slot}, &op);
    Type before = it->second->getResult(0).getType();
    Type now = op.getResult(0).getType();
    if (before != now)
      return op.emitError() << ::uop::getName(*code) << " slot " << slot << " is "
                            << ::uop::getName(getDType(before))
                            << formatShape(getShape(before)) << " and "
                            << ::uop::getName(getDType(now))
                            << formatShape(getShape(now));
  }
  return success();
}
