//===- Composite.cpp - PAD and FLIP out of other ops ----------------------===//
//
// Each works on a leading axis, moved there and back by PERMUTE.
//
//===----------------------------------------------------------------------===//

#include "Uop/Graph/Composite.h"

using namespace mlir;
using namespace uop;

using Shape = llvm::SmallVector<int64_t>;

/// Moves `axis` to the front (or, inverted, from the front back).
static Value moveAxis(UniquingBuilder &builder, Value value, int64_t axis,
                      bool back) {
  int64_t rank = getShape(value.getType()).size();
  if (axis == 0)
    return value;
  Shape permutation(rank);
  for (int64_t i = 0; i < rank; ++i) {
    int64_t from = i == 0 ? axis : i <= axis ? i - 1 : i;
    if (back)
      permutation[from] = i;
    else
      permutation[i] = from;
  }
  return builder.permute(value, permutation);
}

Value uop::full(UniquingBuilder &builder, DType dtype, Word element,
                llvm::ArrayRef<int64_t> shape) {
  Value scalar = builder.constant(dtype, element);
  if (shape.empty())
    return scalar;
  return builder.expand(builder.reshape(scalar, Shape(shape.size(), 1)), shape);
}

/// Zeros before or behind the leading axis; each step at most doubles it.
static Value padLeading(UniquingBuilder &builder, Value value, int64_t amount,
                        bool before) {
  while (value && amount > 0) {
    Shape shape(getShape(value.getType()));
    int64_t size = shape[0], step = std::min(amount, size);
    Value blank = full(builder, getDType(value.getType()), 0, shape);
    Value stacked = before ? builder.get(OpCode::Stack, {blank, value})
                           : builder.get(OpCode::Stack, {value, blank});
    shape[0] = 2 * size;
    Value joined = stacked ? builder.reshape(stacked, shape) : Value();
    if (!joined)
      return {};
    Shape bounds;
    for (int64_t extent : shape)
      bounds.append({0, extent});
    if (before)
      bounds[0] = size - step;
    else
      bounds[1] = size + step;
    value = builder.shrink(joined, bounds);
    amount -= step;
  }
  return value;
}

Value uop::pad(UniquingBuilder &builder, Value value,
               llvm::ArrayRef<int64_t> padding) {
  Shape shape(getShape(value.getType()));
  if (padding.size() != 2 * shape.size() ||
      llvm::any_of(padding, [](int64_t n) { return n < 0; })) {
    emitError(builder.getLoc())
        << "PAD " << formatShape(padding) << " of " << formatShape(shape);
    return {};
  }
  bool empty = llvm::is_contained(shape, 0);
  for (size_t axis = 0; axis < shape.size(); ++axis)
    shape[axis] += padding[2 * axis] + padding[2 * axis + 1];
  if (empty)
    return full(builder, getDType(value.getType()), 0, shape);
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    int64_t before = padding[2 * axis], behind = padding[2 * axis + 1];
    if (before == 0 && behind == 0)
      continue;
    value = moveAxis(builder, value, axis, /*back=*/false);
    value = padLeading(builder, value, before, /*before=*/true);
    value = padLeading(builder, value, behind, /*before=*/false);
    if (!value)
      return {};
    value = moveAxis(builder, value, axis, /*back=*/true);
  }
  return value;
}

/// Reverses the leading axis by stacking its slices from the last to the first.
static Value flipLeading(UniquingBuilder &builder, Value value) {
  llvm::SmallVector<Value> slices;
  for (int64_t i = getShape(value.getType())[0]; i-- > 0;)
    slices.push_back(builder.index(value, builder.i32(i)));
  return builder.get(OpCode::Stack, slices);
}

Value uop::flip(UniquingBuilder &builder, Value value, int64_t axis) {
  Shape shape(getShape(value.getType()));
  if (axis < 0 || axis >= static_cast<int64_t>(shape.size())) {
    emitError(builder.getLoc())
        << "FLIP of axis " << axis << " of " << formatShape(shape);
    return {};
  }
  int64_t size = shape[axis];
  if (size < 2)
    return value;
  // Row major digits of the axis: reversing each reverses the whole.
  Shape split(shape.begin(), shape.begin() + axis);
  int64_t digits = 0;
  for (int64_t prime = 2; size > 1; ++prime) {
    if (prime * prime > size)
      prime = size;
    for (; size % prime == 0; size /= prime, ++digits)
      split.push_back(prime);
  }
  split.append(shape.begin() + axis + 1, shape.end());
  Value result = builder.reshape(value, split);
  for (int64_t i = 0; i < digits && result; ++i) {
    result = moveAxis(builder, result, axis + i, /*back=*/false);
    result = flipLeading(builder, result);
    if (result)
      result = moveAxis(builder, result, axis + i, /*back=*/true);
  }
  return result ? builder.reshape(result, shape) : Value();
}
