//===- Generator.h - growing a random program -------------------*- C++ -*-===//
//
// The pool of values that a random program grows from, and the steps that add
// to it.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_UNITTESTS_FUZZ_GENERATOR_H
#define UOP_UNITTESTS_FUZZ_GENERATOR_H

#include "Facts.h"
#include "RandomValues.h"
#include "Uop/Graph/UniquingBuilder.h"

namespace uop::fuzz {

struct Node {
  mlir::Value value;
  Facts facts;

  DType dtype() const { return getDType(value.getType()); }
  llvm::ArrayRef<int64_t> shape() const { return getShape(value.getType()); }
  int64_t size() const { return *getNumElements(shape()); }
  bool isMemory() const { return uop::isMemory(value.getType()); }
};

/// Nothing when a random choice turned out to be of no use.
using Maybe = std::optional<Node>;

class Generator {
public:
  Generator(UniquingBuilder &builder, ArrayMap &inputs, uint64_t seed,
            Mode mode)
      : random(seed), builder(builder), inputs(inputs), mode(mode) {}

  /// The root, with the facts of all results.
  Node run(Root root);

private:
  bool isTame() const { return mode == Mode::Tame; }
  Maybe build(OpCode code, llvm::ArrayRef<Node> sources, const Arg &arg = {},
              double count = 1);
  Maybe move(OpCode code, Maybe source, llvm::ArrayRef<int64_t> numbers);
  Maybe reduce(Maybe source, ReduceKind kind, int64_t pop);

  // Where sources come from.
  const Node &pick();
  Maybe pickMemory();
  Node constant(DType dtype, Word word);
  Node constant(DType dtype);
  Maybe fill(Maybe scalar, llvm::ArrayRef<int64_t> shape);
  Maybe buffer(DType dtype, llvm::ArrayRef<int64_t> shape);
  Maybe leaf(DType dtype, llvm::ArrayRef<int64_t> shape);
  Maybe match(DType dtype, llvm::ArrayRef<int64_t> shape);
  Maybe castTo(Maybe source, DType dtype);
  Maybe asFloat(Maybe source);
  Maybe combine(Maybe into, Maybe other);

  // Steps.
  Maybe makeUnary();
  Maybe makeBinary();
  Maybe makeDivision();
  Maybe makeWhere();
  Maybe makeCast();
  Maybe reshape(const Node &source);
  Maybe expand(const Node &narrow);
  Maybe permute(const Node &source);
  Maybe shrink(const Node &source);
  Maybe makeMovements();
  Maybe makeReduce();
  Maybe makeTwinReduce();
  Maybe makeStack();
  Maybe makeIndex();
  Maybe makeLoad();
  Maybe makeGatedLoad();
  Maybe makePaddedLoad();
  Maybe makeStage();
  Maybe makeCall();
  Maybe makeLeaf();
  bool step();
  Node grow();

  // Several results.
  Maybe index(const Node &source);
  Maybe makeTarget();
  bool makeStore();
  bool makeAfter();
  Node collect(bool needsValue);

  Random random;
  UniquingBuilder &builder;
  ArrayMap &inputs;
  Mode mode;
  std::vector<Node> pool; // of the scope at hand
  std::vector<Node> buffers;
  unsigned depth = 0; // of CALL bodies
  /// STOREs, whole buffers behind some of them, and what may be in each by slot.
  std::vector<mlir::Value> stores;
  std::vector<Node> versions;
  std::map<int64_t, Facts> contents;
};

} // namespace uop::fuzz

#endif // UOP_UNITTESTS_FUZZ_GENERATOR_H
