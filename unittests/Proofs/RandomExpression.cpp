//===- RandomExpression.cpp - small expressions for rules -----------------===//
//
// Grown bottom-up from pools of values by dtype.
//
//===----------------------------------------------------------------------===//

#include "RandomExpression.h"
#include "Expression.h"
#include <random>

using namespace mlir;
using namespace uop;
using namespace uop::proofs;

namespace {

class Grower {
public:
  Grower(UniquingBuilder &builder, uint64_t seed, bool floats)
      : builder(builder), random(seed * 0x9E3779B97F4A7C15u + 1),
        floats(floats) {}

  Value run();

private:
  uint64_t draw(uint64_t n) { return (random() >> 11) % n; }
  Value pick(llvm::SmallVectorImpl<Value> &pool) {
    // New values more often than old ones.
    size_t back = std::min(draw(pool.size()), draw(pool.size()));
    return pool[pool.size() - 1 - back];
  }
  int32_t constant();
  Value integer() { return draw(3) ? pick(integers) : builder.i32(constant()); }
  Value nonzero();
  Value floating() {
    const float known[] = {0.0f, -0.0f, 1.0f, -1.0f, 2.0f, 0.5f, INFINITY, NAN};
    return draw(3) ? pick(reals) : builder.f32(known[draw(8)]);
  }
  void grow();
  void growInteger();
  void growBool();
  void growFloat();

  UniquingBuilder &builder;
  std::mt19937_64 random;
  bool floats;
  int32_t scale = 1;
  llvm::SmallVector<Value> integers, bools, reals;
};

int32_t Grower::constant() {
  const int32_t rare[] = {INT32_MIN, INT32_MAX, 1 << 16, -(1 << 20), 1000};
  const int32_t some[] = {0, 1, -1, 2, 3, 4, -2, -3, 5, 6, 7, 12};
  switch (draw(8)) {
  case 0:
    return rare[draw(std::size(rare))];
  case 1:
  case 2:
  case 3: // one factor that this expression's constants share
    return scale * some[draw(8)];
  default:
    return some[draw(std::size(some))];
  }
}

Value Grower::nonzero() {
  int32_t value = constant();
  return draw(12) ? builder.i32(value ? value : 4) : integer();
}

void Grower::growInteger() {
  Value made;
  switch (draw(14)) {
  case 0:
  case 1:
  case 2:
    made = builder.add(integer(), integer());
    break;
  case 3:
    made = builder.add(builder.mul(pick(integers), builder.i32(constant())),
                       pick(integers));
    break;
  case 4:
  case 5:
    made = builder.mul(integer(), draw(3) ? builder.i32(constant()) : integer());
    break;
  case 6:
  case 7:
    made = builder.get(OpCode::FloorDiv, {pick(integers), nonzero()});
    break;
  case 8:
  case 9:
    made = builder.get(OpCode::FloorMod, {pick(integers), nonzero()});
    break;
  case 10:
    made = builder.get(OpCode::Max, {integer(), integer()});
    break;
  case 11:
  case 12:
    made = builder.where(pick(bools), integer(), integer());
    break;
  default:
    made = builder.cast(draw(2) ? pick(bools) : pick(integers), DType::I32);
  }
  integers.push_back(made);
}

void Grower::growBool() {
  Value made;
  switch (draw(10)) {
  case 0:
  case 1:
  case 2:
    made = builder.get(OpCode::CmpLt, {integer(), integer()});
    break;
  case 3:
  case 4:
    made = builder.get(OpCode::CmpNe, {integer(), integer()});
    break;
  case 5:
    made = builder.get(OpCode::CmpNe,
                       {pick(bools), builder.boolean(draw(4) != 0)});
    break;
  case 6:
    made = builder.mul(pick(bools), draw(4) ? pick(bools)
                                            : builder.boolean(draw(2)));
    break;
  case 7:
    made = builder.add(pick(bools), draw(4) ? pick(bools)
                                            : builder.boolean(draw(2)));
    break;
  case 8: {
    const OpCode codes[] = {OpCode::Max, OpCode::CmpLt, OpCode::CmpNe};
    made = builder.get(codes[draw(3)], {pick(bools), pick(bools)});
    break;
  }
  default:
    made = draw(2) ? builder.cast(pick(integers), DType::Bool)
                   : builder.where(pick(bools), pick(bools),
                                   draw(2) ? pick(bools)
                                           : builder.boolean(draw(2)));
  }
  bools.push_back(made);
}

void Grower::growFloat() {
  const OpCode codes[] = {OpCode::Recip, OpCode::Sqrt, OpCode::Exp2,
                          OpCode::Log2, OpCode::Sin};
  Value made;
  switch (draw(10)) {
  case 0:
  case 1:
    made = builder.add(floating(), floating());
    break;
  case 2:
  case 3:
    made = builder.mul(floating(), floating());
    break;
  case 4:
    made = builder.get(OpCode::Max, {floating(), floating()});
    break;
  case 5:
    made = builder.where(pick(bools), floating(), floating());
    break;
  case 6:
    bools.push_back(builder.get(draw(2) ? OpCode::CmpLt : OpCode::CmpNe,
                                {floating(), floating()}));
    return;
  case 7:
    made = builder.cast(pick(bools), DType::F32);
    break;
  case 8:
    made = builder.cast(draw(2) ? pick(integers)
                                : builder.cast(floating(), DType::F16),
                        DType::F32);
    break;
  default:
    made = builder.get(codes[draw(5)], {floating()});
  }
  reals.push_back(made);
}

void Grower::grow() {
  uint64_t kind = draw(floats ? 12 : 8);
  if (kind < 5)
    growInteger();
  else if (kind < 8)
    growBool();
  else
    growFloat();
}

Value Grower::run() {
  const int32_t scales[] = {1, 2, 3, 4, 7, 8, 12, 28, -3, 64};
  scale = scales[draw(std::size(scales))];
  Unknown any, truth, real;
  truth.dtype = DType::Bool;
  real.dtype = DType::F32;
  for (char name : {'i', 'j'}) {
    Unknown range;
    const int64_t ends[] = {1, 2, 3, 4, 6, 8, 10, 31, 255, 1000, 100000};
    range.bounds = {0, ends[draw(std::size(ends))] - draw(2)};
    if (range.bounds->second < 0)
      range.bounds->second = 0;
    integers.push_back(makeUnknown(builder, name, range));
  }
  if (draw(3) == 0)
    integers.push_back(makeUnknown(builder, 'a', any));
  if (draw(6) == 0)
    integers.push_back(
        builder.add(integers[0], builder.i32(-(constant() % 300))));
  bools.push_back(makeUnknown(builder, 'p', truth));
  truth.dtype = DType::Bool;
  bools.push_back(makeUnknown(builder, 'q', truth));
  if (floats) {
    reals.push_back(makeUnknown(builder, 'x', real));
    reals.push_back(makeUnknown(builder, 'y', real));
  }
  for (uint64_t left = 2 + draw(7); left > 0; --left)
    grow();
  Value root = floats && draw(2) ? reals.back()
               : draw(3)         ? integers.back()
                                 : bools.back();
  return root;
}

} // namespace

Value proofs::makeRandomExpression(UniquingBuilder &builder, uint64_t seed,
                                   bool floats) {
  return Grower(builder, seed, floats).run();
}
