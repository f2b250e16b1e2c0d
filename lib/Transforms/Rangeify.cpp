//===- Rangeify.cpp - from shapes to loops and memory ---------------------===//
//
// Pushes index tuples from the outputs down to the buffers. A node at a tuple of
// index expressions is one scalar value, built once.
//
//===----------------------------------------------------------------------===//

#include "Uop/Transforms/Rangeify.h"
#include "IndexMath.h"
#include "Uop/Graph/Walk.h"
#include "Uop/Transforms/Passes.h"

using namespace mlir;
using namespace uop;

namespace uop {
#define GEN_PASS_DEF_UOPRANGEIFY
#include "Uop/Transforms/Passes.h.inc"
} // namespace uop

namespace {

/// Index tuples by number, equal ones once.
class TupleTable {
public:
  unsigned intern(llvm::ArrayRef<Value> tuple) {
    if (auto it = ids.find(tuple); it != ids.end())
      return it->second;
    Value *storage = allocator.Allocate<Value>(tuple.size());
    std::uninitialized_copy(tuple.begin(), tuple.end(), storage);
    llvm::ArrayRef<Value> kept(storage, tuple.size());
    tuples.push_back(kept);
    ids[kept] = tuples.size() - 1;
    return tuples.size() - 1;
  }
  llvm::ArrayRef<Value> get(unsigned id) const { return tuples[id]; }

private:
  llvm::BumpPtrAllocator allocator;
  llvm::DenseMap<llvm::ArrayRef<Value>, unsigned> ids;
  std::vector<llvm::ArrayRef<Value>> tuples;
};

class Lowering {
public:
  explicit Lowering(UniquingBuilder &builder) : builder(builder), math(builder) {}

  Value lower(llvm::ArrayRef<Value> values, llvm::ArrayRef<int64_t> slots);

private:
  /// A node at an index tuple (by its number in `tuples`).
  using Place = std::pair<Operation *, unsigned>;
  struct Frame {
    explicit Frame(Place place) : place(place) {}
    Place place;
    llvm::SmallVector<Place, 3> needs;
    /// A STACK's first and last source that its index can reach.
    int64_t first = 0, last = 0;
    /// A REDUCE's own loops.
    llvm::SmallVector<Value, 2> ranges;
    bool entered = false;
  };

  /// The scalar value of a node at an index, or null after an error.
  Value evaluate(Operation *op, llvm::ArrayRef<Value> index);
  bool enter(Frame &frame);
  Value leave(Frame &frame);
  bool enterIndex(Frame &frame, IndexOp op, llvm::ArrayRef<Value> index);
  bool enterReshape(Frame &frame, ReshapeOp op, llvm::ArrayRef<Value> index);
  bool enterStack(Frame &frame, StackOp op, llvm::ArrayRef<Value> index);
  bool enterReduce(Frame &frame, ReduceOp op, llvm::ArrayRef<Value> index);
  Value leaveStack(const Frame &frame);
  Value leaveReduce(const Frame &frame, ReduceOp op);
  Value leaveElementwise(const Frame &frame);

  Value makeRange(int64_t size, AxisKind kind);
  Value toIndex(Value scalar, int64_t size);
  bool fail(const llvm::Twine &message) {
    emitError(builder.getLoc()) << message;
    return false;
  }
  Value get(const Frame &frame, unsigned i) {
    return done.lookup(frame.needs[i]);
  }
  /// Needs `value` at `index`, as source of the frame's node.
  void need(Frame &frame, Value value, llvm::ArrayRef<Value> index) {
    frame.needs.push_back({value.getDefiningOp(), tuples.intern(index)});
  }

  UniquingBuilder &builder;
  IndexMath math;
  TupleTable tuples;
  llvm::DenseMap<Place, Value> done;
  int64_t nextLoop = 0;
  int64_t nextAlloc = 0;
};

Value Lowering::makeRange(int64_t size, AxisKind kind) {
  if (size > maxMemoryElements) {
    fail("an axis of " + llvm::Twine(size) +
         " elements is too long for an i32 loop");
    return {};
  }
  return builder.range(math.constant(size), nextLoop++, kind);
}

/// A scalar of the program as an index into an axis. One that is not known to be
/// in bounds is taken modulo the size, so that no access leaves memory.
Value Lowering::toIndex(Value scalar, int64_t size) {
  Bounds::Interval interval = math.bounds(scalar);
  if (interval.min >= size || interval.max < 0) {
    std::string have = std::to_string(interval.min);
    if (interval.max != interval.min)
      have += ".." + std::to_string(interval.max);
    fail("INDEX " + have + " is out of bounds for an axis of " +
         llvm::Twine(size) + " elements");
    return {};
  }
  if (interval.min >= 0 && interval.max < size)
    return scalar;
  return builder.get(OpCode::FloorMod, {scalar, math.constant(size)});
}

bool Lowering::enterIndex(Frame &frame, IndexOp op,
                          llvm::ArrayRef<Value> index) {
  llvm::ArrayRef<int64_t> shape = getShape(op.getSource().getType());
  llvm::SmallVector<Value> inner;
  // The indices are scalars of their own: first they, then what they index.
  if (frame.needs.empty()) {
    for (Value i : op.getIndices())
      need(frame, i, {});
    if (!frame.needs.empty())
      return true;
  }
  for (auto [axis, i] : llvm::enumerate(op.getIndices())) {
    Value checked = toIndex(get(frame, axis), shape[axis]);
    if (!checked)
      return false;
    inner.push_back(checked);
  }
  llvm::append_range(inner, index);
  frame.needs.clear();
  need(frame, op.getSource(), inner);
  frame.entered = true;
  return true;
}

bool Lowering::enterReshape(Frame &frame, ReshapeOp op,
                            llvm::ArrayRef<Value> index) {
  llvm::ArrayRef<int64_t> source = getShape(op.getSource().getType());
  llvm::SmallVector<Value> inner =
      math.reshape(index, op.getShape(), source);
  if (inner.size() != source.size())
    return fail("RESHAPE " + formatShape(source) + " -> " +
                formatShape(op.getShape()) +
                ": its index arithmetic does not fit i32");
  need(frame, op.getSource(), inner);
  return true;
}

/// A STACK of elements of one value at evenly spaced places is that value at an
/// affine index: a + b*k. Returns (a, b).
std::optional<std::pair<int64_t, int64_t>> matchEvenlySpaced(StackOp op) {
  auto first = op.getSrcs()[0].getDefiningOp<IndexOp>();
  if (!first || first.getIndices().empty() || op.getSrcs().size() < 2)
    return std::nullopt;
  llvm::SmallVector<int64_t> places;
  for (Value source : op.getSrcs()) {
    auto index = source.getDefiningOp<IndexOp>();
    if (!index || index.getSource() != first.getSource() ||
        index.getIndices().size() != first.getIndices().size() ||
        !llvm::equal(index.getIndices().drop_front(),
                     first.getIndices().drop_front()))
      return std::nullopt;
    auto place = IndexMath::getConstant(index.getIndices()[0]);
    if (!place || *place < 0 ||
        *place >= getShape(first.getSource().getType())[0])
      return std::nullopt;
    places.push_back(*place);
  }
  int64_t step = places[1] - places[0];
  for (size_t k = 1; k < places.size(); ++k)
    if (places[k] - places[k - 1] != step)
      return std::nullopt;
  return std::pair(places[0], step);
}

bool Lowering::enterStack(Frame &frame, StackOp op,
                          llvm::ArrayRef<Value> index) {
  Bounds::Interval interval = math.bounds(index[0]);
  int64_t count = op.getSrcs().size();
  frame.first = std::clamp<int64_t>(interval.min, 0, count - 1);
  frame.last = std::clamp<int64_t>(interval.max, 0, count - 1);
  auto spaced = matchEvenlySpaced(op);
  auto element = op.getSrcs()[0].getDefiningOp<IndexOp>();
  if (spaced && element.getIndices().size() == 1) {
    llvm::SmallVector<Value> inner(index);
    inner[0] = math.add(math.mul(index[0], spaced->second),
                        math.constant(spaced->first));
    frame.first = frame.last = 0;
    need(frame, element.getSource(), inner);
    return true;
  }
  for (int64_t i = frame.first; i <= frame.last; ++i)
    need(frame, op.getSrcs()[i], index.drop_front());
  return true;
}

Value Lowering::leaveStack(const Frame &frame) {
  Value index = tuples.get(frame.place.second)[0];
  Value value = get(frame, frame.last - frame.first);
  for (int64_t i = frame.last - 1; i >= frame.first; --i)
    value = builder.getFolded(OpCode::Where,
                              {math.lessThan(index, i + 1),
                               get(frame, i - frame.first), value});
  return value;
}

bool Lowering::enterReduce(Frame &frame, ReduceOp op,
                           llvm::ArrayRef<Value> index) {
  llvm::ArrayRef<int64_t> shape = getShape(op.getSource().getType());
  llvm::ArrayRef<int64_t> popped = shape.take_back(op.getPop());
  if (llvm::is_contained(popped, 0))
    return true;
  llvm::SmallVector<Value> inner(index);
  for (int64_t size : popped) {
    Value counter = size == 1 ? math.constant(0)
                              : makeRange(size, AxisKind::Reduce);
    if (!counter)
      return false;
    inner.push_back(counter);
    if (size != 1)
      frame.ranges.push_back(counter);
  }
  need(frame, op.getSource(), inner);
  return true;
}

Value Lowering::leaveReduce(const Frame &frame, ReduceOp op) {
  DType dtype = getDType(op.getType());
  ReduceKind kind = op.getKind();
  OpCode combine = kind == ReduceKind::Add ? OpCode::Add : OpCode::Max;
  Value identity = builder.constant(dtype, getIdentity(kind, dtype));
  if (frame.needs.empty())
    return identity;
  Value value = get(frame, 0);
  if (op.getPop() == 0)
    return value;
  // One element: no loop. 0 + x is not x for the float -0.0.
  if (frame.ranges.empty())
    return isFloat(dtype) && kind == ReduceKind::Add
               ? builder.getFolded(combine, {identity, value})
               : value;
  Value zero = math.constant(0);
  llvm::SmallVector<Value> outer =
      math.getRanges(tuples.get(frame.place.second));
  Value memory = builder.after(builder.alloc(nextAlloc++, dtype, 1), outer);
  Value reset = builder.store(builder.index(memory, zero), identity);
  llvm::SmallVector<Value> inside{reset};
  llvm::append_range(inside, frame.ranges);
  Value pointer = builder.index(builder.after(memory, inside), zero);
  Value update = builder.store(
      pointer, builder.get(combine, {builder.load(pointer), value}));
  Value finished = builder.end(update, frame.ranges);
  return builder.load(builder.index(builder.after(memory, finished), zero));
}

/// Pushes what the node at its index is made of onto `frame.needs`.
bool Lowering::enter(Frame &frame) {
  Operation *op = frame.place.first;
  llvm::ArrayRef<Value> index = tuples.get(frame.place.second);
  builder.setLoc(op->getLoc());
  if (auto indexOp = dyn_cast<IndexOp>(op))
    return enterIndex(frame, indexOp, index);
  frame.entered = true;
  OpCode code = *::uop::getOpCode(op);
  if (isAlu(code) || code == OpCode::Load || code == OpCode::Stage) {
    for (Value source : op->getOperands())
      need(frame, source, index);
    return true;
  }
  switch (code) {
  case OpCode::Const:
  case OpCode::Buffer:
    return true;
  case OpCode::Reshape:
    return enterReshape(frame, cast<ReshapeOp>(op), index);
  case OpCode::Expand: {
    auto expand = cast<ExpandOp>(op);
    llvm::SmallVector<Value> inner(index);
    llvm::ArrayRef<int64_t> shape = getShape(expand.getSource().getType());
    for (size_t axis = 0; axis < shape.size(); ++axis)
      if (shape[axis] == 1)
        inner[axis] = math.constant(0);
    need(frame, expand.getSource(), inner);
    return true;
  }
  case OpCode::Permute: {
    auto permute = cast<PermuteOp>(op);
    llvm::SmallVector<Value> inner(index.size());
    for (auto [axis, from] : llvm::enumerate(permute.getPermutation()))
      inner[from] = index[axis];
    need(frame, permute.getSource(), inner);
    return true;
  }
  case OpCode::Shrink: {
    auto shrink = cast<ShrinkOp>(op);
    llvm::SmallVector<Value> inner(index);
    for (size_t axis = 0; axis < inner.size(); ++axis)
      inner[axis] = math.add(inner[axis],
                             math.constant(shrink.getBounds()[2 * axis]));
    if (llvm::is_contained(inner, Value()))
      return fail("SHRINK: its index arithmetic does not fit i32");
    need(frame, shrink.getSource(), inner);
    return true;
  }
  case OpCode::Stack:
    return enterStack(frame, cast<StackOp>(op), index);
  case OpCode::Reduce:
    return enterReduce(frame, cast<ReduceOp>(op), index);
  case OpCode::Param:
    return fail("PARAM " + llvm::Twine(cast<ParamOp>(op).getSlot()) +
                " is in no CALL: nothing gives it a value");
  default:
    return fail(getName(code) + " stands in a program of shapes: only a program "
                                "whose root is a SINK may hold it");
  }
}

/// An ALU op, or a LOAD with a gate.
Value Lowering::leaveElementwise(const Frame &frame) {
  Operation *op = frame.place.first;
  OpCode code = *::uop::getOpCode(op);
  llvm::SmallVector<Value, 3> sources;
  for (unsigned i = 0; i < frame.needs.size(); ++i)
    sources.push_back(get(frame, i));
  if (code == OpCode::Load) {
    if (sources.size() == 1)
      return sources[0];
    // What was read of memory becomes a read behind the gate.
    if (auto read = sources[0].getDefiningOp<LoadOp>())
      return builder.get(OpCode::Load,
                         {read.getSource(), sources[1], sources[2]});
    return builder.getFolded(OpCode::Where, {sources[1], sources[0],
                                             sources[2]});
  }
  return builder.getFolded(code, sources, getArg(code, op));
}

/// The node's value, all that it is made of being there.
Value Lowering::leave(Frame &frame) {
  Operation *op = frame.place.first;
  builder.setLoc(op->getLoc());
  if (auto constant = dyn_cast<ConstOp>(op))
    return builder.rebuild(op, {});
  if (auto buffer = dyn_cast<BufferOp>(op))
    return builder.load(builder.index(builder.rebuild(op, {}),
                                      tuples.get(frame.place.second)));
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return leaveReduce(frame, reduce);
  if (isa<StackOp>(op))
    return leaveStack(frame);
  if (isMovement(*::uop::getOpCode(op)) || isa<IndexOp, StageOp>(op))
    return get(frame, 0);
  return leaveElementwise(frame);
}

Value Lowering::evaluate(Operation *op, llvm::ArrayRef<Value> index) {
  Place root{op, tuples.intern(index)};
  std::vector<Frame> stack;
  stack.emplace_back(root);
  while (!stack.empty()) {
    Frame &frame = stack.back();
    if (done.contains(frame.place)) {
      stack.pop_back();
      continue;
    }
    if (!frame.entered) {
      if (!enter(frame))
        return {};
      Frame copy = frame; // pushing may move the stack
      for (const Place &place : llvm::reverse(copy.needs))
        if (!done.contains(place))
          stack.emplace_back(place);
      continue;
    }
    Value value = leave(frame);
    if (!value)
      return {};
    done[frame.place] = value;
    stack.pop_back();
  }
  return done.lookup(root);
}

Value Lowering::lower(llvm::ArrayRef<Value> values,
                      llvm::ArrayRef<int64_t> slots) {
  // Outputs of one shape are stored in one nest of loops.
  llvm::SmallVector<Value> effects;
  llvm::SmallVector<bool> stored(values.size());
  for (size_t first = 0; first < values.size(); ++first) {
    llvm::ArrayRef<int64_t> shape = getShape(values[first].getType());
    if (stored[first] || llvm::is_contained(shape, 0))
      continue;
    builder.setLoc(values[first].getLoc());
    llvm::SmallVector<Value> index, ranges, stores;
    for (int64_t size : shape) {
      index.push_back(size == 1 ? math.constant(0)
                                : makeRange(size, AxisKind::Loop));
      if (!index.back())
        return {};
      if (size != 1)
        ranges.push_back(index.back());
    }
    for (size_t i = first; i < values.size(); ++i) {
      if (getShape(values[i].getType()) != shape)
        continue;
      stored[i] = true;
      Value value = evaluate(values[i].getDefiningOp(), index);
      if (!value)
        return {};
      builder.setLoc(values[i].getLoc());
      std::optional<int64_t> size = getNumElements(shape);
      Value memory =
          builder.buffer(slots[i], getDType(values[i].getType()), *size);
      if (!memory)
        return {};
      stores.push_back(builder.store(
          builder.index(memory, math.ravel(index, shape)), value));
    }
    Value body = stores.size() == 1 ? stores[0] : builder.sink(stores);
    effects.push_back(builder.end(body, ranges));
  }
  return builder.sink(effects);
}

struct RangeifyPass : uop::impl::UopRangeifyBase<RangeifyPass> {
  void runOnOperation() override {
    if (failed(rangeify(getOperation())))
      signalPassFailure();
  }
};

} // namespace

int64_t uop::getOutputSlot(Value root) {
  int64_t slot = 0;
  for (Operation *op : toposort(root))
    if (auto buffer = dyn_cast<BufferOp>(op))
      slot = std::max<int64_t>(slot, buffer.getSlot() + 1);
  return slot;
}

Value uop::lowerToLoops(UniquingBuilder &builder, llvm::ArrayRef<Value> values,
                        llvm::ArrayRef<int64_t> outputSlots) {
  return Lowering(builder).lower(values, outputSlots);
}

LogicalResult uop::rangeify(ProgramOp program) {
  Value root = program.getRoot();
  if (isa<VoidType>(root.getType()))
    return success();
  // Lowered on the side, then copied in the graph's own order without what is
  // left over.
  OpBuilder builder(program.getContext());
  OwningOpRef<ProgramOp> scratch =
      createProgram(builder, program.getLoc(), program.getSymName());
  UniquingBuilder lowered(&scratch->getBodyBlock());
  lowered.setLoc(program.getLoc());
  Value inlined = inlineCalls(lowered, root);
  if (!inlined)
    return failure();
  Value sink = lowerToLoops(lowered, inlined, getOutputSlot(root));
  if (!sink)
    return failure();
  return rebuildProgram(program, [&](UniquingBuilder &fresh) {
    return copyInto(fresh, sink);
  });
}
