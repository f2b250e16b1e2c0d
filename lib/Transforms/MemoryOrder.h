//===- MemoryOrder.h - loads and stores without an order --------*- C++ -*-===//
//
// A check of graphs that are about to be scheduled: what an AFTER should have
// ordered and none does.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_LIB_TRANSFORMS_MEMORYORDER_H
#define UOP_LIB_TRANSFORMS_MEMORYORDER_H

#include "LoopTree.h"

namespace uop {

/// Emits an error and fails on a LOAD and a STORE of one element, the same
/// index of the same BUFFER or ALLOC, of which neither depends on the other: a
/// schedule could run them either way round. What it reports is certain, but it
/// does not find every such pair: of each element it compares neighbours in the
/// order of the graph, and it stops once it has looked at a bounded number of
/// edges for each op of the graph.
mlir::LogicalResult checkMemoryOrder(const NumberedGraph &graph);

} // namespace uop

#endif // UOP_LIB_TRANSFORMS_MEMORYORDER_H
