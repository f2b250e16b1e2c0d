//===- Dialect.cpp - the uop dialect and its types ------------------------===//
//
// Registration, types, op codes and the pieces that the families share.
//
//===----------------------------------------------------------------------===//

#include "Assembly.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <bitset>

using namespace mlir;
using namespace uop;

#include "Uop/Dialect/UopEnums.cpp.inc"

#include "Uop/Dialect/UopDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "Uop/Dialect/UopAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "Uop/Dialect/UopTypes.cpp.inc"

void UopDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "Uop/Dialect/UopAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "Uop/Dialect/UopTypes.cpp.inc"
      >();
  addValueOps();
  addMemoryOps();
  addLoopOps();
  addMovementOps();
  addKernelOps();
#define UOP_NAME(code, mnemonic)                                               \
  opNames.push_back(OperationName("uop." mnemonic, getContext()));
  UOP_FOR_EACH_OPCODE(UOP_NAME)
#undef UOP_NAME
  // One in about ten factors will do.
  while (!fillSlots())
    slotFactor = slotFactor * 6364136223846793005 + 1442695040888963407;
  i32 = IntegerType::get(getContext(), 32);
  for (int64_t value = firstSmall; value <= lastSmall; ++value)
    smallConstants.push_back(IntegerAttr::get(i32, value));
}

bool UopDialect::fillSlots() {
  std::fill(std::begin(codeOfSlot), std::end(codeOfSlot), OpCode::Const);
  std::bitset<sizeof(codeOfSlot)> taken;
  for (auto [code, name] : llvm::enumerate(opNames)) {
    size_t slot = getSlot(name);
    if (taken[slot])
      return false;
    taken.set(slot);
    codeOfSlot[slot] = static_cast<OpCode>(code);
  }
  return true;
}

Operation *UopDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                           Type type, Location loc) {
  auto typed = dyn_cast<TypedAttr>(value);
  if (!typed || typed.getType() != type)
    return nullptr;
  return ConstOp::create(builder, loc, type, typed);
}

//===----------------------------------------------------------------------===//
// Op codes
//===----------------------------------------------------------------------===//

llvm::StringRef uop::getMnemonic(OpCode code) {
  static constexpr llvm::StringLiteral names[] = {
#define UOP_NAME(code, mnemonic) mnemonic,
      UOP_FOR_EACH_OPCODE(UOP_NAME)
#undef UOP_NAME
  };
  return names[static_cast<unsigned>(code)];
}

llvm::StringRef uop::getName(OpCode code) {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> upper;
    for (unsigned i = 0; i < numOpCodes; ++i)
      upper.push_back(getMnemonic(static_cast<OpCode>(i)).upper());
    return upper;
  }();
  return names[static_cast<unsigned>(code)];
}

std::optional<OpCode> uop::parseOpCode(llvm::StringRef mnemonic) {
  static const llvm::StringMap<OpCode> codes = [] {
    llvm::StringMap<OpCode> map;
    for (unsigned i = 0; i < numOpCodes; ++i)
      map[getMnemonic(static_cast<OpCode>(i))] = static_cast<OpCode>(i);
    return map;
  }();
  auto it = codes.find(mnemonic);
  if (it == codes.end())
    it = codes.find(mnemonic.lower());
  return it == codes.end() ? std::nullopt : std::optional(it->second);
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Type MemType::parse(AsmParser &parser) {
  llvm::SmallVector<int64_t> shape;
  Type element;
  llvm::StringRef space;
  SMLoc start = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(element) || parser.parseComma())
    return {};
  SMLoc spaceLoc = parser.getCurrentLocation();
  if (parser.parseKeyword(&space) || parser.parseGreater())
    return {};
  std::optional<AddrSpace> parsed = symbolizeAddrSpace(space);
  if (!parsed) {
    parser.emitError(spaceLoc) << "unknown address space '" << space << "'";
    return {};
  }
  return MemType::getChecked([&] { return parser.emitError(start); },
                             parser.getContext(), shape, element, *parsed);
}

void MemType::print(AsmPrinter &printer) const {
  printer << "<";
  for (int64_t size : getShape())
    printer << size << "x";
  printer << getElementType() << ", " << stringifyAddrSpace(getSpace()) << ">";
}

LogicalResult
MemType::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                llvm::ArrayRef<int64_t> shape, Type element, AddrSpace space) {
  std::optional<DType> dtype = getDTypeOrNone(element);
  if (!dtype || *dtype == DType::Void || !::uop::getShape(element).empty() ||
      isa<MemType>(element))
    return emitError() << "memory holds i1, i32, f16 or f32, not " << element;
  if (space == AddrSpace::Alu)
    return emitError() << "memory is global, local or shared";
  for (int64_t size : shape)
    if (size < 0)
      return emitError() << "sizes must not be negative";
  return success();
}

llvm::StringRef uop::getName(DType dtype) {
  switch (dtype) {
  case DType::Void:
    return "void";
  case DType::Bool:
    return "bool";
  case DType::I32:
    return "i32";
  case DType::F32:
    return "f32";
  case DType::F16:
    return "f16";
  }
  llvm_unreachable("a dtype");
}

std::optional<DType> uop::parseDType(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<DType>>(name)
      .Case("void", DType::Void)
      .Case("bool", DType::Bool)
      .Case("i32", DType::I32)
      .Case("f32", DType::F32)
      .Case("f16", DType::F16)
      .Default(std::nullopt);
}

unsigned uop::getByteWidth(DType dtype) {
  static constexpr unsigned widths[] = {0, 1, 4, 4, 2};
  return widths[static_cast<unsigned>(dtype)];
}

Type uop::getScalarType(MLIRContext *context, DType dtype) {
  switch (dtype) {
  case DType::Void:
    return VoidType::get(context);
  case DType::Bool:
    return IntegerType::get(context, 1);
  case DType::I32:
    return IntegerType::get(context, 32);
  case DType::F32:
    return Float32Type::get(context);
  case DType::F16:
    return Float16Type::get(context);
  }
  llvm_unreachable("a dtype");
}

Type uop::getValueType(MLIRContext *context, DType dtype,
                       llvm::ArrayRef<int64_t> shape) {
  Type scalar = getScalarType(context, dtype);
  return shape.empty() ? scalar : RankedTensorType::get(shape, scalar);
}

std::optional<DType> uop::getDTypeOrNone(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    if (!tensor.hasStaticShape() || tensor.getRank() == 0)
      return std::nullopt;
    type = tensor.getElementType();
    if (isa<VoidType>(type))
      return std::nullopt;
  } else if (auto mem = dyn_cast<MemType>(type)) {
    type = mem.getElementType();
  }
  if (auto integer = dyn_cast<IntegerType>(type)) {
    if (!integer.isSignless())
      return std::nullopt;
    unsigned width = integer.getWidth();
    return width == 32  ? std::optional(DType::I32)
           : width == 1 ? std::optional(DType::Bool)
                        : std::nullopt;
  }
  if (type.isF32())
    return DType::F32;
  if (type.isF16())
    return DType::F16;
  if (isa<VoidType>(type))
    return DType::Void;
  return std::nullopt;
}

DType uop::getDType(Type type) { return *getDTypeOrNone(type); }

llvm::ArrayRef<int64_t> uop::getShape(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.getShape();
  if (auto mem = dyn_cast<MemType>(type))
    return mem.getShape();
  return {};
}

AddrSpace uop::getSpace(Type type) {
  auto mem = dyn_cast<MemType>(type);
  return mem ? mem.getSpace() : AddrSpace::Alu;
}

Type uop::withShape(Type type, llvm::ArrayRef<int64_t> shape) {
  if (auto mem = dyn_cast<MemType>(type))
    return MemType::get(type.getContext(), shape, mem.getElementType(),
                        mem.getSpace());
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    type = tensor.getElementType();
  return shape.empty() ? type : Type(RankedTensorType::get(shape, type));
}

Type uop::getReadType(Type type) {
  auto mem = dyn_cast<MemType>(type);
  if (!mem)
    return type;
  return mem.getShape().empty()
             ? mem.getElementType()
             : Type(RankedTensorType::get(mem.getShape(),
                                          mem.getElementType()));
}

std::optional<int64_t> uop::getNumElements(llvm::ArrayRef<int64_t> shape) {
  int64_t count = 1;
  bool overflow = false;
  for (int64_t size : shape) {
    if (size == 0)
      return 0;
    overflow |= llvm::MulOverflow(count, size, count);
  }
  return overflow ? std::nullopt : std::optional(count);
}

std::string uop::formatShape(llvm::ArrayRef<int64_t> shape) {
  std::string text = "(";
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(shape, os);
  os << (shape.size() == 1 ? ",)" : ")");
  return text;
}

//===----------------------------------------------------------------------===//
// Shared assembly
//===----------------------------------------------------------------------===//

ParseResult uop::parsePairTypes(OpAsmParser &parser, Type &lhs, Type &rhs) {
  if (parser.parseType(lhs))
    return failure();
  rhs = lhs;
  return failed(parser.parseOptionalComma()) ? success()
                                             : parser.parseType(rhs);
}

void uop::printPairTypes(OpAsmPrinter &printer, Operation *, Type lhs,
                         Type rhs) {
  printer << lhs;
  if (lhs != rhs)
    printer << ", " << rhs;
}

ParseResult uop::parseReduceKind(OpAsmParser &parser, ReduceKindAttr &kind) {
  SMLoc loc = parser.getCurrentLocation();
  llvm::StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return failure();
  std::optional<ReduceKind> parsed = symbolizeReduceKind(keyword);
  if (!parsed)
    return parser.emitError(loc)
           << "REDUCE combines with add or max, not '" << keyword << "'";
  kind = ReduceKindAttr::get(parser.getContext(), *parsed);
  return success();
}

void uop::printReduceKind(OpAsmPrinter &printer, Operation *,
                          ReduceKindAttr kind) {
  printer << stringifyReduceKind(kind.getValue());
}

ParseResult uop::parseSourceTypes(
    OpAsmParser &parser,
    llvm::ArrayRef<OpAsmParser::UnresolvedOperand> sources,
    llvm::SmallVectorImpl<Type> &types) {
  if (parser.parseTypeList(types))
    return failure();
  if (types.size() == 1)
    types.resize(sources.size(), types.front());
  return success();
}

void uop::printSourceTypes(OpAsmPrinter &printer, Operation *,
                           OperandRange sources, TypeRange types) {
  if (!types.empty() && llvm::all_equal(types))
    printer << types.front();
  else
    llvm::interleaveComma(types, printer);
}
