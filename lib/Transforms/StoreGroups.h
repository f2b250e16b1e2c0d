//===- StoreGroups.h - which stores share loops -----------------*- C++ -*-===//
//
// The nests of loops that a program of several results is lowered to, and the
// order between those that store to the same elements.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_LIB_TRANSFORMS_STOREGROUPS_H
#define UOP_LIB_TRANSFORMS_STOREGROUPS_H

#include "Uop/Graph/Bounds.h"
#include <vector>

namespace uop {

/// A value and the memory that it is stored to.
struct StoreTarget {
  mlir::Value value;
  /// A view of the BUFFER of slot `slot`, of the value's shape. Null for all of
  /// a flat BUFFER of its own.
  mlir::Value view;
  int64_t slot;
  mlir::Location loc;
  /// The groups whose stores come before this one.
  llvm::SmallVector<unsigned, 1> after;
};

/// Stores of one shape, by number, in one nest of loops.
struct StoreGroup {
  llvm::ArrayRef<int64_t> shape;
  llvm::SmallVector<unsigned> members;
};

/// Gives every target that has elements a group, those of one shape the same
/// where that is right. A store to a view that a later one overwrites is left
/// out; one to elements that an earlier store may have written comes in a group
/// after that one's, and `after` says so. `getExtent` finds the lowest and
/// highest element that a target with a view stores to, or fails with an error.
mlir::FailureOr<std::vector<StoreGroup>> groupStores(
    llvm::MutableArrayRef<StoreTarget> targets,
    llvm::function_ref<mlir::FailureOr<Bounds::Interval>(const StoreTarget &)>
        getExtent);

} // namespace uop

#endif // UOP_LIB_TRANSFORMS_STOREGROUPS_H
