//===- Encoding.h - graphs as bytes -----------------------------*- C++ -*-===//
//
// The structure of a graph as a key of tables.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_GRAPH_ENCODING_H
#define UOP_GRAPH_ENCODING_H

#include "Uop/Dialect/Uop.h"

namespace uop {

/// Appends what `root` reaches to `bytes`: ops, args and sources, in the order of
/// `toposort`. Equal graphs give equal bytes and others different ones, whatever
/// the context, the order in the block, locations and names. False, with part of
/// the graph appended, where there is an op that is no UOp.
bool encodeGraph(mlir::Value root, std::string &bytes);

/// Appends `text` so that what follows can't be taken for its end.
void encodeText(llvm::StringRef text, std::string &bytes);

} // namespace uop

#endif // UOP_GRAPH_ENCODING_H
