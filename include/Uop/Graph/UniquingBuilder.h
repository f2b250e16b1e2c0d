//===- UniquingBuilder.h - building hash consed graphs ----------*- C++ -*-===//
//
// The one way to build UOps: op, sources and arg are looked up before anything is
// created, so structurally equal nodes are one value.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_GRAPH_UNIQUINGBUILDER_H
#define UOP_GRAPH_UNIQUINGBUILDER_H

#include "Uop/Dialect/Scalar.h"
#include "Uop/Dialect/Typing.h"

namespace uop {

/// Appends UOps to a block, each structure once. Sources must be in the block, so
/// the block is always in an order of dominance. Constants are keyed by type and
/// bits. The ops of the block must not be changed or erased behind the builder.
///
/// Source: hash consing after Ershov, "On programming of arithmetic operations"
/// (1958), and Filliatre and Conchon, "Type-safe modular hash-consing" (2006).
class UniquingBuilder {
public:
  /// Builds at the end of `block`, or before its terminator. UOps that are there
  /// already are known; of equal ones, the first.
  explicit UniquingBuilder(mlir::Block *block);

  mlir::MLIRContext *getContext() const { return context; }
  mlir::Block *getBlock() const { return block; }

  /// New nodes get this location until it is set again.
  void setLoc(mlir::Location l) { loc = l; }
  mlir::Location getLoc() const { return loc; }

  /// The UOp (code, sources, arg): the one that exists or a new one. A null Value,
  /// with an error at the current location, when it is malformed.
  mlir::Value get(OpCode code, mlir::ValueRange sources, const Arg &arg = {});

  /// Like `get`, with the reason given to `error` instead of the context.
  mlir::Value get(OpCode code, mlir::ValueRange sources, const Arg &arg,
                  ErrorFn error);

  /// Like `get`, but an ALU op of constants becomes a constant, and a WHERE of a
  /// constant condition or of equal branches the chosen branch.
  mlir::Value getFolded(OpCode code, mlir::ValueRange sources,
                        const Arg &arg = {});

  /// The node of `op`'s structure over other sources (types may differ from
  /// op's); in this block even when `op` is in another. Keeps op's location for a
  /// new node.
  mlir::Value rebuild(mlir::Operation *op, mlir::ValueRange sources);

  /// The existing node of this structure, or null.
  mlir::Value lookup(OpCode code, mlir::ValueRange sources,
                     const Arg &arg) const;

  /// Makes room for this many nodes in all.
  void reserve(size_t nodes);

  /// Adds an op that is in the block but was created elsewhere; returns the value
  /// of the equal op that is known already, or its own.
  mlir::Value adopt(mlir::Operation *op);
  /// Forgets an op that is about to be erased.
  void forget(mlir::Operation *op);

  // Constants.
  mlir::Value constant(DType dtype, Word word);
  mlir::Value i32(int32_t value) { return constant(DType::I32, value); }
  mlir::Value f32(float value) { return constant(DType::F32, fromFloat(value)); }
  mlir::Value boolean(bool value) { return constant(DType::Bool, value); }

  // The ops, in the order of their sources.
  mlir::Value add(mlir::Value a, mlir::Value b) { return get(OpCode::Add, {a, b}); }
  mlir::Value mul(mlir::Value a, mlir::Value b) { return get(OpCode::Mul, {a, b}); }
  mlir::Value where(mlir::Value c, mlir::Value a, mlir::Value b) {
    return get(OpCode::Where, {c, a, b});
  }
  mlir::Value cast(mlir::Value a, DType dtype);
  mlir::Value param(int64_t slot, mlir::Type type);
  mlir::Value buffer(int64_t slot, DType dtype, int64_t size);
  mlir::Value alloc(int64_t slot, DType dtype, int64_t size,
                    AddrSpace space = AddrSpace::Local);
  mlir::Value index(mlir::Value source, mlir::ValueRange indices);
  mlir::Value load(mlir::Value pointer) { return get(OpCode::Load, pointer); }
  mlir::Value store(mlir::Value pointer, mlir::Value value) {
    return get(OpCode::Store, {pointer, value});
  }
  /// `source` itself when there are no deps.
  mlir::Value after(mlir::Value source, mlir::ValueRange deps);
  /// `source` itself when there are no ranges.
  mlir::Value end(mlir::Value source, mlir::ValueRange ranges);
  mlir::Value sink(mlir::ValueRange sources) {
    return get(OpCode::Sink, sources);
  }
  mlir::Value range(mlir::Value end, int64_t idx,
                    AxisKind kind = AxisKind::Loop);
  mlir::Value reshape(mlir::Value source, llvm::ArrayRef<int64_t> shape);
  mlir::Value expand(mlir::Value source, llvm::ArrayRef<int64_t> shape);
  mlir::Value permute(mlir::Value source, llvm::ArrayRef<int64_t> permutation);
  /// `bounds`: begin and end of axis 0, of axis 1, ...
  mlir::Value shrink(mlir::Value source, llvm::ArrayRef<int64_t> bounds);
  mlir::Value reduce(mlir::Value source, ReduceKind kind, int64_t pop);

private:
  struct Entry {
    uint64_t hash;
    mlir::Operation *op;
  };
  mlir::Operation *find(uint64_t hash, OpCode code,
                        llvm::ArrayRef<mlir::Value> sources,
                        const Arg &arg) const;
  void insert(uint64_t hash, mlir::Operation *op);
  void resizeTable(size_t places);
  mlir::Value create(OpCode code, mlir::ValueRange sources, const Arg &arg,
                     mlir::Type type);

  mlir::MLIRContext *context;
  UopDialect *dialect;
  mlir::Block *block;
  /// New nodes go before this: the block's end, or its terminator.
  mlir::Block::iterator insertionPoint;
  mlir::Location loc;
  /// Open addressing with linear probing; a null op is a free place.
  std::vector<Entry> table;
  size_t used = 0;
};

/// Creates a program of this name at the end of `module` (its block empty) and
/// returns it. Ends with `finishProgram`.
ProgramOp createProgram(mlir::OpBuilder &builder, mlir::Location loc,
                        llvm::StringRef name);
/// Gives the program its root.
void finishProgram(ProgramOp program, mlir::Value root);

} // namespace uop

#endif // UOP_GRAPH_UNIQUINGBUILDER_H
