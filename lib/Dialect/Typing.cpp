//===- Typing.cpp - one typing rule per op --------------------------------===//
//
// A rule is a function from sources and arg to a type; what breaks it is said in
// the words of the rule.
//
//===----------------------------------------------------------------------===//

#include "Uop/Dialect/Typing.h"
#include "Assembly.h"
#include "Uop/Dialect/Scalar.h"
#include "llvm/ADT/DenseSet.h"
#include <map>

using namespace mlir;
using namespace uop;
using llvm::Twine;

namespace {

/// One UOp under inspection. Rules return a null Type after `fail`.
struct Rule {
  MLIRContext *context;
  OpCode code;
  ValueRange sources;
  const Arg &arg;
  ErrorFn error;

  Type fail(const Twine &message) const {
    error(message);
    return {};
  }
  Type failNamed(const Twine &message) const {
    return fail(getName(code) + message);
  }
  Type type(unsigned i) const { return sources[i].getType(); }
  DType dtype(unsigned i) const { return getDType(type(i)); }
  llvm::ArrayRef<int64_t> shape(unsigned i) const { return getShape(type(i)); }
  bool isScalar(unsigned i) const { return shape(i).empty(); }

  Type infer() const;

private:
  bool checkCount() const;
  bool checkNoVoid() const;
  bool checkCountable(llvm::ArrayRef<int64_t> shape) const;
  bool checkNumber(llvm::StringRef what) const;
  Type inferConst() const;
  Type inferMemory() const;
  Type inferCall() const;
  Type inferStack() const;
  Type inferIndex() const;
  Type inferCast() const;
  Type inferUnary() const;
  Type inferBinary() const;
  Type inferWhere() const;
  Type inferLoad() const;
  Type inferStore() const;
  Type inferRange() const;
  Type inferEnd() const;
  Type inferReshape() const;
  Type inferExpand() const;
  Type inferPermute() const;
  Type inferShrink() const;
  Type inferReduce() const;
};

std::string formatType(Type type) {
  return (getName(getDType(type)) + formatShape(getShape(type))).str();
}

/// A (begin, end) list as `((1, 3), (0, 2))`.
std::string formatBounds(llvm::ArrayRef<int64_t> bounds) {
  std::string text = "(";
  for (size_t i = 0; i + 1 < bounds.size(); i += 2) {
    text += i ? ", (" : "(";
    text += std::to_string(bounds[i]) + ", " + std::to_string(bounds[i + 1]);
    text += ")";
  }
  return text + (bounds.size() == 2 ? ",)" : ")");
}

/// The number of sources each op takes; a maximum of -1 is "any number".
std::pair<int, int> getSourceCount(OpCode code) {
  switch (code) {
  case OpCode::Const:
  case OpCode::Param:
  case OpCode::Buffer:
  case OpCode::Alloc:
    return {0, 0};
  case OpCode::Call:
  case OpCode::Stack:
  case OpCode::Index:
  case OpCode::Barrier:
    return {1, -1};
  case OpCode::Load:
    return {1, 3};
  case OpCode::Store:
    return {2, 2};
  case OpCode::After:
  case OpCode::End:
    return {2, -1};
  case OpCode::Sink:
    return {0, -1};
  case OpCode::Where:
  case OpCode::Wmma:
    return {3, 3};
  default:
    return isBinary(code) ? std::pair(2, 2) : std::pair(1, 1);
  }
}

bool Rule::checkCount() const {
  auto [low, high] = getSourceCount(code);
  int count = sources.size();
  bool ok = count >= low && (high < 0 || count <= high);
  if (code == OpCode::Load && count == 2)
    ok = false;
  if (ok)
    return true;
  if (high == 0)
    failNamed(" has no sources");
  else if (code == OpCode::Stack)
    fail("STACK of nothing");
  else if (code == OpCode::Load)
    fail("LOAD takes 1 or 3 sources, got " + Twine(count));
  else
    failNamed(Twine(high < 0 ? " takes at least " : " takes ") + Twine(low) +
              (low == 1 ? " source, got " : " sources, got ") + Twine(count));
  return false;
}

bool Rule::checkNoVoid() const {
  for (Value source : sources)
    if (isa<VoidType>(source.getType())) {
      failNamed(" of void");
      return false;
    }
  return true;
}

bool Rule::checkCountable(llvm::ArrayRef<int64_t> shape) const {
  if (getNumElements(shape))
    return true;
  failNamed(" of shape " + formatShape(shape) + ": too many elements to count");
  return false;
}

bool Rule::checkNumber(llvm::StringRef what) const {
  if (arg.number >= 0 && arg.number <= maxMemoryElements)
    return true;
  failNamed(" " + what + " must be from 0 to 2147483647, got " +
            Twine(arg.number));
  return false;
}

Type Rule::inferConst() const {
  auto typed = dyn_cast_or_null<TypedAttr>(arg.attr);
  std::optional<DType> dtype =
      typed && !isa<ElementsAttr>(arg.attr) &&
              isa<IntegerAttr, FloatAttr>(arg.attr)
          ? getDTypeOrNone(typed.getType())
          : std::nullopt;
  if (!dtype || *dtype == DType::Void)
    return fail("CONST is a bool, i32, f16 or f32");
  return typed.getType();
}

/// PARAM, BUFFER and ALLOC: the type is the arg.
Type Rule::inferMemory() const {
  std::optional<DType> dtype = getDTypeOrNone(arg.type);
  if (!dtype)
    return failNamed(" needs a type of uop");
  if (*dtype == DType::Void)
    return failNamed(" of void");
  if (!checkNumber("slot"))
    return {};
  llvm::ArrayRef<int64_t> shape = getShape(arg.type);
  for (int64_t size : shape)
    if (size < 0)
      return failNamed(" size must not be negative, got " + Twine(size));
  if (!checkCountable(shape))
    return {};
  AddrSpace space = getSpace(arg.type);
  if (code == OpCode::Param) {
    if (space != AddrSpace::Alu)
      return fail("PARAM is a value, not memory");
    return arg.type;
  }
  if (shape.size() != 1)
    return failNamed(" is flat");
  if (shape[0] > maxMemoryElements)
    return failNamed(" of " + Twine(shape[0]) +
                     " elements: memory holds at most 2147483647");
  if (code == OpCode::Buffer && space != AddrSpace::Global)
    return fail("BUFFER is global memory");
  if (space == AddrSpace::Alu)
    return fail("ALLOC is global, local or shared memory");
  return arg.type;
}

Type Rule::inferCall() const {
  if (isa<VoidType>(type(0)))
    return fail("CALL body is void");
  int64_t count = sources.size() - 1;
  std::map<int64_t, Type> params;
  // A buffer is no param, but what walks the body for the one sees the other.
  for (Operation *op : getParams(sources[0])) {
    if (auto buffer = dyn_cast<BufferOp>(op))
      return fail("CALL body has BUFFER " + Twine(buffer.getSlot()) +
                  " (pass it as an argument)");
    int64_t slot = cast<ParamOp>(op).getSlot();
    Type type = op->getResult(0).getType();
    if (params.try_emplace(slot, type).first->second != type)
      return fail("CALL body has PARAM " + Twine(slot) +
                  " twice, with two types");
  }
  bool exact = static_cast<int64_t>(params.size()) == count &&
               (count == 0 || (params.begin()->first == 0 &&
                               params.rbegin()->first == count - 1));
  if (!exact) {
    std::string have;
    llvm::raw_string_ostream os(have);
    llvm::interleaveComma(llvm::make_first_range(params), os);
    return fail("CALL needs params 0.." + Twine(count - 1) + ", body has [" +
                have + "]");
  }
  for (auto [slot, want] : params) {
    Type have = type(slot + 1);
    if (getShape(have) != getShape(want) || getDType(have) != getDType(want))
      return fail("CALL arg " + Twine(slot) + ": " + formatType(have) +
                  " != param " + formatType(want));
  }
  return type(0);
}

Type Rule::inferStack() const {
  for (unsigned i = 1, e = sources.size(); i < e; ++i)
    if (type(i) != type(0) &&
        (shape(i) != shape(0) || dtype(i) != dtype(0)))
      return fail("STACK srcs must agree in shape and dtype");
  llvm::SmallVector<int64_t> result{static_cast<int64_t>(sources.size())};
  llvm::append_range(result, shape(0));
  if (!checkCountable(result))
    return {};
  return getValueType(context, dtype(0), result);
}

Type Rule::inferIndex() const {
  size_t count = sources.size() - 1;
  if (count > shape(0).size())
    return fail("INDEX: " + Twine(count) + " indices into shape " +
                formatShape(shape(0)));
  for (unsigned i = 1, e = sources.size(); i < e; ++i)
    if (dtype(i) != DType::I32 || !isScalar(i))
      return fail("INDEX indices are i32 scalars");
  return withShape(type(0), shape(0).drop_front(count));
}

Type Rule::inferCast() const {
  std::optional<DType> target =
      arg.type ? getDTypeOrNone(arg.type) : std::nullopt;
  if (!target || *target == DType::Void)
    return fail("CAST to void");
  return getValueType(context, *target, shape(0));
}

Type Rule::inferUnary() const {
  if (!isFloat(dtype(0)))
    return failNamed(" needs a float, got " + getName(dtype(0)));
  return getReadType(type(0));
}

Type Rule::inferBinary() const {
  if (type(0) != type(1)) {
    if (shape(0) != shape(1))
      return failNamed(": shape mismatch " + formatShape(shape(0)) + " vs " +
                       formatShape(shape(1)) + " (broadcast with EXPAND)");
    if (dtype(0) != dtype(1))
      return failNamed(": dtype mismatch " + getName(dtype(0)) + " vs " +
                       getName(dtype(1)) + " (use CAST)");
  }
  if ((code == OpCode::FloorDiv || code == OpCode::FloorMod) &&
      dtype(0) != DType::I32)
    return failNamed(" is integer only");
  if (code == OpCode::CmpLt || code == OpCode::CmpNe)
    return getValueType(context, DType::Bool, shape(0));
  return getReadType(type(0));
}

Type Rule::inferWhere() const {
  if (dtype(0) != DType::Bool)
    return fail("WHERE condition must be bool");
  if (dtype(1) != dtype(2))
    return fail("WHERE branches disagree: " + getName(dtype(1)) + " vs " +
                getName(dtype(2)));
  if (shape(0) != shape(1) || shape(1) != shape(2))
    return fail("WHERE shape mismatch " + formatShape(shape(0)) + " " +
                formatShape(shape(1)) + " " + formatShape(shape(2)));
  return getReadType(type(1));
}

Type Rule::inferLoad() const {
  if (!isMemory(type(0)))
    return fail("LOAD needs memory");
  if (sources.size() == 3) {
    if (dtype(1) != DType::Bool || shape(1) != shape(0))
      return fail("LOAD gate must be bool" + formatShape(shape(0)) + ", got " +
                  formatType(type(1)));
    if (dtype(2) != dtype(0) || shape(2) != shape(0))
      return fail("LOAD alternative must be " + formatType(type(0)) + ", got " +
                  formatType(type(2)));
  }
  return getReadType(type(0));
}

Type Rule::inferStore() const {
  if (!isMemory(type(0)))
    return fail("STORE needs memory");
  if (dtype(0) != dtype(1))
    return fail("STORE of " + getName(dtype(1)) + " into " + getName(dtype(0)));
  if (shape(0) != shape(1))
    return fail("STORE: shape mismatch " + formatShape(shape(0)) + " vs " +
                formatShape(shape(1)) + " (broadcast with EXPAND)");
  return VoidType::get(context);
}

Type Rule::inferRange() const {
  if (dtype(0) != DType::I32 || !isScalar(0))
    return fail("RANGE end is i32");
  if (!checkNumber("idx"))
    return {};
  return getReadType(type(0));
}

Type Rule::inferEnd() const {
  llvm::SmallDenseSet<Value, 8> loops;
  for (unsigned i = 1, e = sources.size(); i < e; ++i) {
    Operation *def = sources[i].getDefiningOp();
    if (!isa_and_nonnull<RangeOp>(def)) {
      std::optional<OpCode> other =
          def ? ::uop::getOpCode(def) : std::nullopt;
      return fail("END closes RANGEs, source " + Twine(i) + " is " +
                  (other ? getName(*other) : llvm::StringRef("none")));
    }
    if (!loops.insert(sources[i]).second)
      return fail("END names loop " + Twine(cast<RangeOp>(def).getIdx()) +
                  " twice");
  }
  return VoidType::get(context);
}

Type Rule::inferReshape() const {
  auto target = cast<DenseI64ArrayAttr>(arg.attr).asArrayRef();
  std::optional<int64_t> have = getNumElements(shape(0));
  std::optional<int64_t> want = getNumElements(target);
  if (llvm::any_of(target, [](int64_t size) { return size < 0; }) ||
      !have || have != want)
    return fail("RESHAPE " + formatShape(shape(0)) + " -> " +
                formatShape(target));
  return withShape(type(0), target);
}

Type Rule::inferExpand() const {
  auto target = cast<DenseI64ArrayAttr>(arg.attr).asArrayRef();
  bool ok = target.size() == shape(0).size();
  for (size_t i = 0; ok && i < target.size(); ++i)
    ok = target[i] >= 0 && (target[i] == shape(0)[i] || shape(0)[i] == 1);
  if (!ok)
    return fail("EXPAND " + formatShape(shape(0)) + " -> " +
                formatShape(target));
  if (!checkCountable(target))
    return {};
  return withShape(type(0), target);
}

Type Rule::inferPermute() const {
  auto perm = cast<DenseI64ArrayAttr>(arg.attr).asArrayRef();
  int64_t rank = shape(0).size();
  llvm::SmallVector<bool> seen(rank);
  bool ok = static_cast<int64_t>(perm.size()) == rank;
  for (size_t i = 0; ok && i < perm.size(); ++i) {
    ok = perm[i] >= 0 && perm[i] < rank && !seen[perm[i]];
    if (ok)
      seen[perm[i]] = true;
  }
  if (!ok)
    return fail("PERMUTE " + formatShape(perm) + " of " +
                formatShape(shape(0)));
  llvm::SmallVector<int64_t> result;
  for (int64_t axis : perm)
    result.push_back(shape(0)[axis]);
  return withShape(type(0), result);
}

Type Rule::inferShrink() const {
  auto bounds = cast<DenseI64ArrayAttr>(arg.attr).asArrayRef();
  llvm::ArrayRef<int64_t> from = shape(0);
  bool ok = bounds.size() == 2 * from.size();
  llvm::SmallVector<int64_t> result;
  for (size_t i = 0; ok && i < from.size(); ++i) {
    int64_t begin = bounds[2 * i], end = bounds[2 * i + 1];
    ok = 0 <= begin && begin <= end && end <= from[i];
    if (ok)
      result.push_back(end - begin);
  }
  if (!ok)
    return fail("SHRINK " + formatBounds(bounds) + " of " + formatShape(from));
  return withShape(type(0), result);
}

Type Rule::inferReduce() const {
  llvm::StringRef kind =
      stringifyReduceKind(cast<ReduceKindAttr>(arg.attr).getValue());
  if (arg.number < 0 || arg.number > static_cast<int64_t>(shape(0).size()))
    return fail(getReduceError(kind, arg.number, type(0)));
  return getReadType(withShape(type(0), shape(0).drop_back(arg.number)));
}

Type Rule::infer() const {
  if (!checkCount())
    return {};
  for (Value source : sources)
    if (!getDTypeOrNone(source.getType()))
      return failNamed(": a source has a type that no UOp has");
  switch (code) {
  case OpCode::Const:
    return inferConst();
  case OpCode::Param:
  case OpCode::Buffer:
  case OpCode::Alloc:
    return inferMemory();
  case OpCode::Call:
    return inferCall();
  case OpCode::Sink:
  case OpCode::Barrier:
    return VoidType::get(context);
  case OpCode::End:
    return inferEnd();
  case OpCode::After:
    if (isa<VoidType>(type(0)))
      return fail("AFTER of void");
    return type(0);
  default:
    break;
  }
  if (!checkNoVoid())
    return {};
  switch (code) {
  case OpCode::Stack:
    return inferStack();
  case OpCode::Index:
    return inferIndex();
  case OpCode::Cast:
    return inferCast();
  case OpCode::Where:
    return inferWhere();
  case OpCode::Load:
    return inferLoad();
  case OpCode::Store:
    return inferStore();
  case OpCode::Range:
    return inferRange();
  case OpCode::Reshape:
    return inferReshape();
  case OpCode::Expand:
    return inferExpand();
  case OpCode::Permute:
    return inferPermute();
  case OpCode::Shrink:
    return inferShrink();
  case OpCode::Reduce:
    return inferReduce();
  case OpCode::Stage:
    return getReadType(type(0));
  case OpCode::Wmma:
    return getReadType(type(2));
  default:
    return isBinary(code) ? inferBinary() : inferUnary();
  }
}

} // namespace

/// Most nodes by far: a binary op of two i32 or f32 scalars. Null for others.
static Type inferScalarBinary(MLIRContext *context, OpCode code,
                              ValueRange sources) {
  if (!isBinary(code) || sources.size() != 2)
    return {};
  Type type = sources[0].getType();
  bool isDivision = code == OpCode::FloorDiv || code == OpCode::FloorMod;
  if (sources[1].getType() != type ||
      !(type.isSignlessInteger(32) || (type.isF32() && !isDivision)))
    return {};
  bool compares = code == OpCode::CmpLt || code == OpCode::CmpNe;
  return compares ? IntegerType::get(context, 1) : type;
}

Type uop::inferType(MLIRContext *context, OpCode code, ValueRange sources,
                    const Arg &arg, ErrorFn error) {
  if (Type type = inferScalarBinary(context, code, sources))
    return type;
  return Rule{context, code, sources, arg, error}.infer();
}

std::string uop::getReduceError(llvm::StringRef kind, int64_t pop,
                                Type source) {
  return ("REDUCE (" + kind.upper() + ", " + Twine(pop) + ") of " +
          formatShape(getShape(source)))
      .str();
}

llvm::SmallVector<Operation *> uop::getParams(Value body) {
  llvm::SmallVector<Operation *> params;
  llvm::SmallVector<Value> stack{body};
  llvm::DenseSet<Operation *> seen;
  while (!stack.empty()) {
    Operation *op = stack.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    if (isa<ParamOp, BufferOp>(op))
      params.push_back(op);
    for (Value source : llvm::drop_begin(op->getOperands(), isa<CallOp>(op)))
      stack.push_back(source);
  }
  return params;
}

LogicalResult uop::inferReturnTypesOf(MLIRContext *context, OpCode code,
                                      std::optional<Location> location,
                                      ValueRange operands, const Arg &arg,
                                      llvm::SmallVectorImpl<Type> &types) {
  Type type = inferType(context, code, operands, arg, [&](const Twine &why) {
    if (location)
      emitError(*location) << why;
  });
  if (!type)
    return failure();
  types.push_back(type);
  return success();
}

LogicalResult uop::verifyUop(OpCode code, Operation *op) {
  Type have = op->getResult(0).getType();
  if (!getDTypeOrNone(have))
    return op->emitError() << getName(code) << " has a type that no UOp has: "
                           << have;
  Type want = inferType(
      op->getContext(), code, op->getOperands(), getArg(code, op),
      [&](const Twine &message) { op->emitError() << message; });
  if (!want)
    return failure();
  if (want != have)
    return op->emitError() << getName(code) << " has type " << have
                           << ", its sources give " << want;
  return success();
}
