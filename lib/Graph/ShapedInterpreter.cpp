//===- ShapedInterpreter.cpp - the value of a shaped graph ----------------===//
//
// Evaluates every node to a whole array, in the order of sources before users.
// Where there are STOREs, views of memory know the place of each element in
// their buffer, so that an AFTER can look at another version of it. It shares
// nothing with the lowering to loops, whose results it judges.
//
//===----------------------------------------------------------------------===//

#include "BufferHistory.h"
#include "Uop/Graph/Results.h"
#include "Uop/Graph/Walk.h"
#include "mlir/IR/OwningOpRef.h"
#include <numeric>

using namespace mlir;
using namespace uop;

namespace {

constexpr int64_t maxElements = int64_t(1) << 28;

/// What a node evaluates to. Reshapes and the like share the elements.
struct Evaluated {
  Elements data;
  /// Set for a memory view at an address that is out of bounds: taking it is
  /// harmless, reading through it is not. It says what is wrong.
  std::shared_ptr<const std::string> outside;
  /// Of a view of memory, in a graph with STOREs: the elements of the buffer
  /// that it shows.
  Elements places;
  int64_t slot = -1;
  bool isExpanded = false;
  /// The STOREs that the node depends on.
  BufferHistory::Set stores = BufferHistory::none;
};

/// Steps through the elements of a box in row major order while keeping the
/// offset of each in another array.
class Cursor {
public:
  Cursor(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> strides,
         int64_t start)
      : shape(shape), strides(strides), position(shape.size(), 0),
        offset(start) {}

  int64_t getOffset() const { return offset; }
  void advance() {
    for (size_t axis = shape.size(); axis-- > 0;) {
      offset += strides[axis];
      if (++position[axis] < shape[axis])
        return;
      offset -= strides[axis] * shape[axis];
      position[axis] = 0;
    }
  }

private:
  llvm::ArrayRef<int64_t> shape, strides;
  llvm::SmallVector<int64_t> position;
  int64_t offset;
};

/// Elements between neighbours along each axis. Of an array without elements
/// the strides mean nothing and may wrap.
llvm::SmallVector<int64_t> getStrides(llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<int64_t> strides(shape.size(), 1);
  uint64_t stride = 1;
  for (size_t axis = shape.size(); axis-- > 1;)
    strides[axis - 1] = stride *= static_cast<uint64_t>(shape[axis]);
  return strides;
}

class Evaluator {
public:
  Evaluator(Value root, const ArrayMap &buffers)
      : root(root), buffers(buffers), history(buffers) {}

  /// Of `results`, values that the root depends on, and of the buffers stored
  /// to.
  FailureOr<ShapedResults> run(llvm::ArrayRef<Value> results);

private:
  InFlightDiagnostic error() {
    return emitError(current->getLoc()) << getName(code) << ' ';
  }
  LogicalResult check();
  FailureOr<Evaluated> evaluate();
  FailureOr<Evaluated> evaluateBuffer();
  FailureOr<Evaluated> evaluateIndex();
  FailureOr<Evaluated> evaluateStore(BufferHistory::Set before);
  Evaluated evaluateAfter(BufferHistory::Set stores);
  FailureOr<Evaluated> evaluateLoad();
  Evaluated evaluateAlu();
  Evaluated evaluateStack();
  Evaluated evaluateReduce();
  /// Elements picked by strides over the result's shape.
  Elements pick(const Elements &from, llvm::ArrayRef<int64_t> strides,
                int64_t start);
  Evaluated evaluateMovement();
  FailureOr<Evaluated> evaluateNode(BufferHistory::Set stores);
  FailureOr<Array> getResult(Value value);
  LogicalResult checkReadable(unsigned source);

  unsigned number(Value value) const { return numbers.lookup(value); }
  const Evaluated &source(unsigned i) const {
    return values[number(current->getOperand(i))];
  }
  const Word *data(unsigned i) const { return source(i).data->data(); }
  llvm::ArrayRef<int64_t> sourceShape(unsigned i) const {
    return getShape(current->getOperand(i).getType());
  }
  DType sourceDType(unsigned i) const {
    return getDType(current->getOperand(i).getType());
  }
  static Evaluated make(std::vector<Word> words) {
    Evaluated result;
    result.data = std::make_shared<const std::vector<Word>>(std::move(words));
    return result;
  }

  Value root;
  const ArrayMap &buffers;
  bool hasStores = false;
  BufferHistory history;
  /// All places of a buffer, by its size.
  llvm::DenseMap<int64_t, Elements> allPlaces;
  llvm::DenseMap<Value, unsigned> numbers;
  std::vector<Evaluated> values;
  // The node at hand.
  Operation *current = nullptr;
  OpCode code = OpCode::Const;
  llvm::ArrayRef<int64_t> shape;
  DType dtype = DType::Void;
  int64_t size = 0;
};

/// Sets up the node at hand; fails on what has no value.
LogicalResult Evaluator::check() {
  switch (code) {
  case OpCode::Param:
    return error() << cast<ParamOp>(current).getSlot() << " outside a CALL";
  case OpCode::Alloc:
  case OpCode::Range:
  case OpCode::End:
  case OpCode::Barrier:
  case OpCode::Wmma:
    return error() << "has no value in a shaped program";
  default:
    break;
  }
  Type type = current->getResult(0).getType();
  shape = getShape(type);
  dtype = getDType(type);
  std::optional<int64_t> count = getNumElements(shape);
  if (!count || *count > maxElements)
    return error() << "of shape " << formatShape(shape)
                   << " has too many elements to evaluate";
  size = *count;
  // Views of memory may be taken of an address outside; all else reads.
  if (!isMemory(type) && code != OpCode::Load && code != OpCode::Sink)
    for (unsigned i = 0, e = current->getNumOperands(); i < e; ++i)
      if (failed(checkReadable(i)))
        return failure();
  return success();
}

LogicalResult Evaluator::checkReadable(unsigned i) {
  const Evaluated &value = source(i);
  if (value.outside && getNumElements(sourceShape(i)) != 0)
    return error() << (code == OpCode::Store && i == 0 ? "writes" : "reads")
                   << " out of bounds: " << *value.outside;
  return success();
}

FailureOr<Evaluated> Evaluator::evaluateBuffer() {
  int64_t slot = cast<BufferOp>(current).getSlot();
  auto it = buffers.find(slot);
  if (it == buffers.end())
    return error() << slot << " is missing";
  const Array &array = it->second;
  if (array.dtype != dtype || static_cast<int64_t>(array.data.size()) != size)
    return error() << slot << " is " << getName(dtype) << formatShape(shape)
                   << ", got " << getName(array.dtype)
                   << formatShape({static_cast<int64_t>(array.data.size())});
  Evaluated result;
  // The caller's array outlives the evaluation.
  result.data = Elements(Elements(), &array.data);
  if (hasStores) {
    Elements &all = allPlaces[size];
    if (!all) {
      auto places = std::make_shared<std::vector<Word>>(size);
      std::iota(places->begin(), places->end(), Word(0));
      all = places;
    }
    result.places = all;
    result.slot = slot;
  }
  return result;
}

FailureOr<Evaluated> Evaluator::evaluateIndex() {
  unsigned count = current->getNumOperands() - 1;
  const Evaluated &from = source(0);
  for (unsigned i = 1; i <= count; ++i)
    if (failed(checkReadable(i)))
      return failure();
  if (count == 0)
    return from;
  llvm::SmallVector<int64_t> strides = getStrides(sourceShape(0));
  int64_t start = 0;
  std::shared_ptr<const std::string> outside = from.outside;
  for (unsigned i = 0; i < count && !outside; ++i) {
    int64_t index = static_cast<int32_t>(data(i + 1)[0]);
    if (index < 0 || index >= sourceShape(0)[i])
      outside = std::make_shared<const std::string>(
          ("index " + llvm::Twine(index) + " of axis " + llvm::Twine(i) +
           " of shape " + formatShape(sourceShape(0)))
              .str());
    else
      start += index * strides[i];
  }
  if (outside) {
    if (!isMemory(current->getResult(0).getType()))
      return error() << "out of bounds: " << *outside;
    Evaluated result = from;
    result.data = std::make_shared<const std::vector<Word>>(size);
    result.outside = outside;
    return result;
  }
  auto slice = [&](const Elements &elements) {
    return std::make_shared<const std::vector<Word>>(
        elements->begin() + start, elements->begin() + start + size);
  };
  Evaluated result = from;
  result.data = slice(from.data);
  if (from.places)
    result.places = slice(from.places);
  return result;
}

FailureOr<Evaluated> Evaluator::evaluateLoad() {
  if (current->getNumOperands() == 1) {
    if (failed(checkReadable(0)))
      return failure();
    return source(0);
  }
  if (failed(checkReadable(1)) || failed(checkReadable(2)))
    return failure();
  const std::vector<Word> &gate = *source(1).data;
  if (llvm::is_contained(gate, Word(1)) && failed(checkReadable(0)))
    return failure();
  std::vector<Word> words(size);
  for (int64_t i = 0; i < size; ++i)
    words[i] = gate[i] ? data(0)[i] : data(2)[i];
  return make(std::move(words));
}

Evaluated Evaluator::evaluateAlu() {
  std::vector<Word> words(size);
  unsigned count = current->getNumOperands();
  const Word *a = data(0);
  const Word *b = count > 1 ? data(1) : a;
  const Word *c = count > 2 ? data(2) : a;
  DType from = sourceDType(code == OpCode::Where ? 1 : 0);
  for (int64_t i = 0; i < size; ++i)
    words[i] = evalAlu(code, from, dtype, a[i], b[i], c[i]);
  return make(std::move(words));
}

Evaluated Evaluator::evaluateStack() {
  std::vector<Word> words;
  words.reserve(size);
  for (unsigned i = 0, e = current->getNumOperands(); i < e; ++i)
    llvm::append_range(words, *source(i).data);
  return make(std::move(words));
}

Evaluated Evaluator::evaluateReduce() {
  auto reduce = cast<ReduceOp>(current);
  if (reduce.getPop() == 0)
    return source(0);
  ReduceKind kind = reduce.getKind();
  int64_t inner =
      getNumElements(sourceShape(0).take_back(reduce.getPop())).value_or(0);
  std::vector<Word> words(size, getIdentity(kind, dtype));
  const Word *from = data(0);
  for (Word &word : words)
    for (int64_t i = 0; i < inner; ++i)
      word = evalReduce(kind, dtype, word, *from++);
  return make(std::move(words));
}

Elements Evaluator::pick(const Elements &from, llvm::ArrayRef<int64_t> strides,
                         int64_t start) {
  std::vector<Word> words(size);
  Cursor cursor(shape, strides, start);
  for (Word &word : words) {
    word = (*from)[cursor.getOffset()];
    cursor.advance();
  }
  return std::make_shared<const std::vector<Word>>(std::move(words));
}

Evaluated Evaluator::evaluateMovement() {
  llvm::SmallVector<int64_t> from = getStrides(sourceShape(0));
  llvm::SmallVector<int64_t> strides;
  int64_t start = 0;
  switch (code) {
  case OpCode::Expand:
    for (auto [axis, stride] : llvm::enumerate(from))
      strides.push_back(sourceShape(0)[axis] == shape[axis] ? stride : 0);
    break;
  case OpCode::Permute:
    for (int64_t axis : cast<PermuteOp>(current).getPermutation())
      strides.push_back(from[axis]);
    break;
  case OpCode::Shrink:
    strides = from;
    for (auto [axis, stride] : llvm::enumerate(from))
      start += stride * cast<ShrinkOp>(current).getBounds()[2 * axis];
    break;
  default:
    return source(0); // RESHAPE
  }
  Evaluated result = source(0);
  result.isExpanded |= code == OpCode::Expand;
  result.data = pick(source(0).data, strides, start);
  if (result.places)
    result.places = pick(result.places, strides, start);
  return result;
}

FailureOr<Evaluated> Evaluator::evaluateStore(BufferHistory::Set before) {
  const Evaluated &view = source(0);
  if (view.isExpanded)
    return error()
           << "into an EXPAND: one element would be stored to more than "
              "once";
  Evaluated result;
  result.stores = history.add(view.slot, view.places, source(1).data, before);
  return result;
}

/// Memory as it is behind `stores`; a value is what it is.
Evaluated Evaluator::evaluateAfter(BufferHistory::Set stores) {
  Evaluated result = source(0);
  if (!isMemory(current->getResult(0).getType()) || !result.places ||
      result.outside)
    return result;
  Elements contents = history.getContents(result.slot, stores);
  if (result.places == allPlaces.lookup(contents->size())) {
    result.data = contents;
    return result;
  }
  std::vector<Word> words(size);
  for (auto [word, place] : llvm::zip_equal(words, *result.places))
    word = (*contents)[place];
  result.data = std::make_shared<const std::vector<Word>>(std::move(words));
  return result;
}

FailureOr<Evaluated> Evaluator::evaluateNode(BufferHistory::Set stores) {
  if (isAlu(code))
    return evaluateAlu();
  if (isMovement(code))
    return evaluateMovement();
  switch (code) {
  case OpCode::Const:
    return make({getWord(cast<ConstOp>(current).getValue())});
  case OpCode::Buffer:
    return evaluateBuffer();
  case OpCode::Index:
    return evaluateIndex();
  case OpCode::Load:
    return evaluateLoad();
  case OpCode::Store:
    return evaluateStore(stores);
  case OpCode::After:
    return evaluateAfter(stores);
  case OpCode::Sink:
    return Evaluated();
  case OpCode::Stack:
    return evaluateStack();
  case OpCode::Reduce:
    return evaluateReduce();
  default:
    return source(0); // STAGE
  }
}

FailureOr<Evaluated> Evaluator::evaluate() {
  if (failed(check()))
    return failure();
  BufferHistory::Set stores = BufferHistory::none;
  for (unsigned i = 0, e = current->getNumOperands(); hasStores && i < e; ++i)
    stores = history.unite(stores, source(i).stores);
  FailureOr<Evaluated> result = evaluateNode(stores);
  if (succeeded(result) && code != OpCode::Store)
    result->stores = stores;
  return result;
}

FailureOr<Array> Evaluator::getResult(Value value) {
  const Evaluated &result = values[number(value)];
  llvm::ArrayRef<int64_t> shape = getShape(value.getType());
  if (result.outside && getNumElements(shape) != 0)
    return emitError(value.getLoc())
           << getName(*getOpCode(value.getDefiningOp()))
           << " reads out of bounds: " << *result.outside;
  return Array{getDType(value.getType()), llvm::SmallVector<int64_t>(shape),
               *result.data};
}

FailureOr<ShapedResults> Evaluator::run(llvm::ArrayRef<Value> results) {
  std::vector<Operation *> order = toposort(root);
  std::vector<unsigned> lastUse(order.size());
  for (auto [i, op] : llvm::enumerate(order)) {
    numbers[op->getResult(0)] = i;
    lastUse[i] = i;
    for (Value source : op->getOperands())
      lastUse[number(source)] = i;
    hasStores |= isa<StoreOp>(op);
  }
  lastUse.back() = order.size();
  for (Value result : results)
    lastUse[number(result)] = order.size();
  values.resize(order.size());
  for (auto [i, op] : llvm::enumerate(order)) {
    std::optional<OpCode> known = getOpCode(op);
    if (!known)
      return emitError(op->getLoc()) << op->getName() << " is no UOp";
    current = op;
    code = *known;
    FailureOr<Evaluated> value = evaluate();
    if (failed(value))
      return failure();
    values[i] = *value;
    for (Value source : op->getOperands())
      if (lastUse[number(source)] == i)
        values[number(source)] = {};
  }
  ShapedResults all;
  for (Value result : results) {
    FailureOr<Array> array = getResult(result);
    if (failed(array))
      return failure();
    all.outputs.push_back(std::move(*array));
  }
  for (int64_t slot : history.getSlots()) {
    const Array &before = buffers.at(slot);
    all.buffers[slot] = {before.dtype, before.shape,
                         *history.getContents(slot, values.back().stores)};
  }
  return all;
}

/// `root` with every CALL inlined, in `scratch` if there is one: a body's value
/// depends on its scope.
Value inlineInto(OwningOpRef<ProgramOp> &scratch, Value root) {
  if (llvm::none_of(toposort(root), llvm::IsaPred<CallOp>))
    return root;
  OpBuilder builder(root.getContext());
  scratch = ProgramOp::create(builder, root.getLoc(), "scratch");
  UniquingBuilder unique(&scratch->getBodyBlock());
  unique.setLoc(root.getLoc());
  return inlineCalls(unique, root);
}

} // namespace

FailureOr<Array> uop::evaluateShaped(Value root, const ArrayMap &buffers) {
  if (!root.getDefiningOp())
    return emitError(root.getLoc()) << "a block argument has no value";
  if (isa<VoidType>(root.getType()))
    return emitError(root.getLoc()) << getName(*getOpCode(root.getDefiningOp()))
                                    << " has no value in a shaped program";
  OwningOpRef<ProgramOp> scratch;
  Value inlined = inlineInto(scratch, root);
  if (!inlined)
    return failure();
  FailureOr<ShapedResults> results = Evaluator(inlined, buffers).run(inlined);
  if (failed(results))
    return failure();
  return std::move(results->outputs[0]);
}

FailureOr<ShapedResults> uop::evaluateShapedProgram(ProgramOp program,
                                                    const ArrayMap &buffers) {
  OwningOpRef<ProgramOp> scratch;
  Value root = inlineInto(scratch, program.getRoot());
  if (!root)
    return failure();
  FailureOr<llvm::SmallVector<Value>> results = getResults(root);
  if (failed(results))
    return failure();
  llvm::erase_if(*results,
                 [](Value value) { return isa<VoidType>(value.getType()); });
  return Evaluator(root, buffers).run(*results);
}
