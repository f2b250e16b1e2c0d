//===- ShapeLowering.cpp - the value of a node at an index ----------------===//
//
// Each op's rule for an index tuple: what it asks of its sources, and what it
// makes of their scalar values.
//
//===----------------------------------------------------------------------===//

#include "ShapeLowering.h"

using namespace mlir;
using namespace uop;

Value ShapeLowering::makeRange(int64_t size, AxisKind kind) {
  if (size > maxMemoryElements) {
    fail("an axis of " + llvm::Twine(size) +
         " elements is too long for an i32 loop");
    return {};
  }
  return builder.range(math.constant(size), nextLoop++, kind);
}

/// A scalar of the program as an index into an axis. One that is not known to
/// be in bounds is taken modulo the size, so that no access leaves memory.
Value ShapeLowering::toIndex(Value scalar, int64_t size) {
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

bool ShapeLowering::enterIndex(Frame &frame, IndexOp op,
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
  if (!noteReads(frame))
    return false;
  frame.needs.clear();
  need(frame, op.getSource(), inner);
  frame.entered = true;
  return true;
}

bool ShapeLowering::enterReshape(Frame &frame, ReshapeOp op,
                                 llvm::ArrayRef<Value> index) {
  llvm::ArrayRef<int64_t> source = getShape(op.getSource().getType());
  llvm::SmallVector<Value> inner = math.reshape(index, op.getShape(), source);
  if (inner.size() != source.size())
    return fail("RESHAPE " + formatShape(source) + " -> " +
                formatShape(op.getShape()) +
                ": its index arithmetic does not fit i32");
  need(frame, op.getSource(), inner);
  return true;
}

/// A STACK of elements of one value at evenly spaced places is that value at an
/// affine index: a + b*k. Returns (a, b).
static std::optional<std::pair<int64_t, int64_t>>
matchEvenlySpaced(StackOp op) {
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

bool ShapeLowering::enterStack(Frame &frame, StackOp op,
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

Value ShapeLowering::leaveStack(const Frame &frame) {
  Value index = tuples.get(frame.place.second)[0];
  Value value = get(frame, frame.last - frame.first);
  for (int64_t i = frame.last - 1; i >= frame.first; --i)
    value =
        builder.getFolded(OpCode::Where, {math.lessThan(index, i + 1),
                                          get(frame, i - frame.first), value});
  return value;
}

bool ShapeLowering::enterReduce(Frame &frame, ReduceOp op,
                                llvm::ArrayRef<Value> index) {
  llvm::ArrayRef<int64_t> shape = getShape(op.getSource().getType());
  llvm::ArrayRef<int64_t> popped = shape.take_back(op.getPop());
  if (llvm::is_contained(popped, 0))
    return true;
  llvm::SmallVector<Value> inner(index);
  for (int64_t size : popped) {
    Value counter =
        size == 1 ? math.constant(0) : makeRange(size, AxisKind::Reduce);
    if (!counter)
      return false;
    inner.push_back(counter);
    if (size != 1)
      frame.ranges.push_back(counter);
  }
  need(frame, op.getSource(), inner);
  return true;
}

Value ShapeLowering::leaveReduce(const Frame &frame, ReduceOp op) {
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
bool ShapeLowering::enter(Frame &frame) {
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
      inner[axis] =
          math.add(inner[axis], math.constant(shrink.getBounds()[2 * axis]));
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
    return fail(getName(code) +
                " stands in a program of shapes: only a program "
                "of loops may hold it");
  }
}

/// An ALU op, or a LOAD with a gate.
Value ShapeLowering::leaveElementwise(const Frame &frame) {
  Operation *op = frame.place.first;
  OpCode code = *::uop::getOpCode(op);
  llvm::SmallVector<Value, 3> sources;
  for (unsigned i = 0; i < frame.needs.size(); ++i)
    sources.push_back(get(frame, i));
  if (code == OpCode::Load) {
    if (sources.size() == 1)
      return sources[0];
    // What was read of memory becomes a read behind the gate.
    auto read = sources[0].getDefiningOp<LoadOp>();
    if (read && !isInPlace(read))
      return builder.get(OpCode::Load,
                         {read.getSource(), sources[1], sources[2]});
    return builder.getFolded(OpCode::Where,
                             {sources[1], sources[0], sources[2]});
  }
  return builder.getFolded(code, sources, getArg(code, op));
}

/// The node's value, all that it is made of being there.
Value ShapeLowering::leave(Frame &frame) {
  Operation *op = frame.place.first;
  builder.setLoc(op->getLoc());
  if (auto constant = dyn_cast<ConstOp>(op))
    return builder.rebuild(op, {});
  if (auto buffer = dyn_cast<BufferOp>(op)) {
    llvm::ArrayRef<Value> element = tuples.get(frame.place.second);
    if (!checkRead(buffer.getSlot(), element[0]))
      return {};
    return builder.load(builder.index(builder.rebuild(op, {}), element));
  }
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return leaveReduce(frame, reduce);
  if (isa<StackOp>(op))
    return leaveStack(frame);
  if (isMovement(*::uop::getOpCode(op)) || isa<IndexOp, StageOp>(op))
    return get(frame, 0);
  return leaveElementwise(frame);
}

Value ShapeLowering::evaluate(Operation *op, llvm::ArrayRef<Value> index) {
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
    Value value = noteReads(frame) ? leave(frame) : Value();
    if (!value)
      return {};
    done[frame.place] = value;
    stack.pop_back();
  }
  Frame whole(root);
  whole.needs.push_back(root);
  return noteReads(whole) ? done.lookup(root) : Value();
}

//===----------------------------------------------------------------------===//
// Buffers that are stored to in place
//===----------------------------------------------------------------------===//

/// An element is read before it is stored to, so only the same turn of the same
/// loops may read it.
bool ShapeLowering::checkRead(int64_t slot, Value element) {
  if (isLocating || !inPlaceSlots.contains(slot) ||
      readable.contains({slot, element}))
    return true;
  return fail("BUFFER " + llvm::Twine(slot) +
              " is stored to, and read where that element is not the one "
              "stored: plan it with --uop-kernelize");
}

/// Notes what the frame's sources read of such buffers, which must not be what
/// another group stores.
bool ShapeLowering::noteReads(Frame &frame) {
  if (inPlaceSlots.empty())
    return true;
  auto buffer = dyn_cast<BufferOp>(frame.place.first);
  if (buffer && inPlaceSlots.contains(buffer.getSlot()))
    frame.inPlaceSlot = buffer.getSlot();
  for (const Place &need : frame.needs) {
    InPlaceRead read = inPlaceReads.lookup(need);
    if (read.slot < 0)
      continue;
    frame.inPlaceSlot = read.slot;
    if (!isLocating && read.group != currentGroup)
      return checkRead(read.slot, {});
  }
  if (frame.inPlaceSlot >= 0 && frame.entered)
    inPlaceReads[frame.place] = {frame.inPlaceSlot, currentGroup};
  return true;
}

bool ShapeLowering::isInPlace(Value read) {
  auto pointer = read.getDefiningOp<LoadOp>().getSource();
  auto index = pointer.getDefiningOp<IndexOp>();
  auto buffer = index ? index.getSource().getDefiningOp<BufferOp>() : nullptr;
  return buffer && inPlaceSlots.contains(buffer.getSlot());
}
