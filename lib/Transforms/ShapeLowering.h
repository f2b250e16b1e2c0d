//===- ShapeLowering.h - values and stores over loops -----------*- C++ -*-===//
//
// What rangeify is made of: index tuples pushed from the outputs down to the
// buffers.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_LIB_TRANSFORMS_SHAPELOWERING_H
#define UOP_LIB_TRANSFORMS_SHAPELOWERING_H

#include "IndexMath.h"
#include "StoreGroups.h"

namespace uop {

/// Index tuples by number, equal ones once.
class TupleTable {
public:
  unsigned intern(llvm::ArrayRef<mlir::Value> tuple) {
    if (auto it = ids.find(tuple); it != ids.end())
      return it->second;
    mlir::Value *storage = allocator.Allocate<mlir::Value>(tuple.size());
    std::uninitialized_copy(tuple.begin(), tuple.end(), storage);
    llvm::ArrayRef<mlir::Value> kept(storage, tuple.size());
    tuples.push_back(kept);
    ids[kept] = tuples.size() - 1;
    return tuples.size() - 1;
  }
  llvm::ArrayRef<mlir::Value> get(unsigned id) const { return tuples[id]; }

private:
  llvm::BumpPtrAllocator allocator;
  llvm::DenseMap<llvm::ArrayRef<mlir::Value>, unsigned> ids;
  std::vector<llvm::ArrayRef<mlir::Value>> tuples;
};

/// Lowers values and stores of whole shapes to scalar ones over loops. A node
/// at a tuple of index expressions is one scalar value, built once; the element
/// that a STORE writes is found like one that is read.
class ShapeLowering {
public:
  explicit ShapeLowering(UniquingBuilder &builder)
      : builder(builder), math(builder) {}

  /// Stores the targets; the SINK of that, or null after an error.
  mlir::Value lower(llvm::MutableArrayRef<StoreTarget> targets);

private:
  /// A node at an index tuple (by its number in `tuples`).
  using Place = std::pair<mlir::Operation *, unsigned>;
  struct Frame {
    explicit Frame(Place place) : place(place) {}
    Place place;
    llvm::SmallVector<Place, 3> needs;
    /// A STACK's first and last source that its index can reach.
    int64_t first = 0, last = 0;
    /// A REDUCE's own loops.
    llvm::SmallVector<mlir::Value, 2> ranges;
    /// A buffer stored to in place that it reads, or -1.
    int64_t inPlaceSlot = -1;
    bool entered = false;
  };

  // Stores.
  mlir::FailureOr<Bounds::Interval> getExtent(const StoreTarget &target);
  mlir::Value lowerGroup(llvm::ArrayRef<StoreTarget> targets,
                         const StoreGroup &group,
                         llvm::ArrayRef<mlir::Value> finished);
  bool lowerIndices(const StoreTarget &target);
  LoadOp locate(const StoreTarget &target, llvm::ArrayRef<mlir::Value> index);
  mlir::Value getPointer(const StoreTarget &target,
                         llvm::ArrayRef<mlir::Value> index);
  mlir::Value getPointer(const StoreTarget &target, LoadOp element, bool isRead,
                         llvm::ArrayRef<mlir::Value> finished);

  // Reads of buffers that are stored to in place.
  bool checkRead(int64_t slot, mlir::Value element);
  bool noteReads(Frame &frame);
  bool isInPlace(mlir::Value read);

  /// The scalar value of a node at an index, or null after an error.
  mlir::Value evaluate(mlir::Operation *op, llvm::ArrayRef<mlir::Value> index);
  bool enter(Frame &frame);
  mlir::Value leave(Frame &frame);
  bool enterIndex(Frame &frame, IndexOp op, llvm::ArrayRef<mlir::Value> index);
  bool enterReshape(Frame &frame, ReshapeOp op,
                    llvm::ArrayRef<mlir::Value> index);
  bool enterStack(Frame &frame, StackOp op, llvm::ArrayRef<mlir::Value> index);
  bool enterReduce(Frame &frame, ReduceOp op,
                   llvm::ArrayRef<mlir::Value> index);
  mlir::Value leaveStack(const Frame &frame);
  mlir::Value leaveReduce(const Frame &frame, ReduceOp op);
  mlir::Value leaveElementwise(const Frame &frame);

  mlir::Value makeRange(int64_t size, AxisKind kind);
  mlir::Value toIndex(mlir::Value scalar, int64_t size);
  bool fail(const llvm::Twine &message) {
    emitError(builder.getLoc()) << message;
    return false;
  }
  mlir::Value get(const Frame &frame, unsigned i) {
    return done.lookup(frame.needs[i]);
  }
  /// Needs `value` at `index`, as source of the frame's node.
  void need(Frame &frame, mlir::Value value,
            llvm::ArrayRef<mlir::Value> index) {
    frame.needs.push_back({value.getDefiningOp(), tuples.intern(index)});
  }

  UniquingBuilder &builder;
  IndexMath math;
  TupleTable tuples;
  llvm::DenseMap<Place, mlir::Value> done;
  int64_t nextLoop = 0;
  int64_t nextAlloc = 0;

  static constexpr unsigned noGroup = ~0u;
  /// The buffers that some target stores to in place.
  llvm::DenseSet<int64_t> inPlaceSlots;
  /// The elements of these, by slot and index, that the group at hand stores to
  /// and may read.
  llvm::DenseSet<std::pair<int64_t, mlir::Value>> readable;
  /// Of places that read one, the slot and the group that may do so.
  struct InPlaceRead {
    int64_t slot = -1;
    unsigned group = noGroup;
  };
  llvm::DenseMap<Place, InPlaceRead> inPlaceReads;
  unsigned currentGroup = noGroup;
  /// Whether what is evaluated is where a STORE goes.
  bool isLocating = false;
};

} // namespace uop

#endif // UOP_LIB_TRANSFORMS_SHAPELOWERING_H
