//===- LoopTree.cpp - scopes and the tree of loops ------------------------===//
//
// Scopes bottom-up over the graph, the nest that follows from them, and the
// place of each op in it.
//
//===----------------------------------------------------------------------===//

#include "LoopTree.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace uop;

//===----------------------------------------------------------------------===//
// Words for messages
//===----------------------------------------------------------------------===//

std::string uop::formatIndices(llvm::ArrayRef<int64_t> indices) {
  constexpr size_t shown = 16;
  std::string text = "[";
  for (size_t i = 0; i < std::min(indices.size(), shown); ++i)
    text += (i ? ", " : "") + std::to_string(indices[i]);
  if (indices.size() > shown)
    text += ", and " + std::to_string(indices.size() - shown) + " more";
  return text + "]";
}

std::string uop::describeOp(Operation *op) {
  std::string text = getName(*getOpCode(op)).str();
  if (auto loc = op->getLoc()->findInstanceOf<FileLineColLoc>())
    text += " (" + loc.getFilename().str() + ":" +
            std::to_string(loc.getLine()) + ")";
  return text;
}

std::string uop::describeOps(llvm::ArrayRef<Operation *> ops) {
  constexpr size_t shown = 5;
  std::string text;
  for (size_t i = 0; i < std::min(ops.size(), shown); ++i)
    text += (i ? ", " : "") + describeOp(ops[i]);
  if (ops.size() > shown)
    text += ", and " + std::to_string(ops.size() - shown) + " more";
  return text;
}

/// `loop of 4`: what a RANGE is besides its idx.
static std::string describeRange(RangeOp range) {
  std::string text = stringifyAxisKind(range.getKind()).str() + " of ";
  if (auto constant = range.getEnd().getDefiningOp<ConstOp>())
    if (auto value = dyn_cast<IntegerAttr>(constant.getValue()))
      return text + std::to_string(value.getInt());
  return text + describeOp(range.getEnd().getDefiningOp());
}

std::string LoopTree::formatPath(Node node) const {
  llvm::SmallVector<int64_t> path;
  for (; node != root; node = getParent(node))
    path.push_back(getIdx(node));
  std::reverse(path.begin(), path.end());
  return formatIndices(path);
}

//===----------------------------------------------------------------------===//
// NumberedGraph
//===----------------------------------------------------------------------===//

NumberedGraph::NumberedGraph(Value root) : ops(toposort(root)) {
  llvm::DenseMap<Operation *, uint32_t> numbers;
  numbers.reserve(ops.size());
  codes.reserve(ops.size());
  sourceBegin.reserve(ops.size() + 1);
  for (Operation *op : ops) {
    codes.push_back(*getOpCode(op));
    sourceBegin.push_back(sources.size());
    for (Value source : op->getOperands())
      sources.push_back(numbers.lookup(source.getDefiningOp()));
    numbers[op] = codes.size() - 1;
  }
  sourceBegin.push_back(sources.size());
}

//===----------------------------------------------------------------------===//
// LoopTree
//===----------------------------------------------------------------------===//

FailureOr<LoopTree> LoopTree::build(const NumberedGraph &graph) {
  LoopTree tree;
  if (failed(tree.numberLoops(graph)) || failed(tree.findScopes(graph)) ||
      failed(tree.checkClosedOnce(graph)) || failed(tree.nestLoops(graph)))
    return failure();
  tree.placeOps(graph);
  return tree;
}

/// One loop per idx, in increasing idx.
LogicalResult LoopTree::numberLoops(const NumberedGraph &graph) {
  loops.push_back({-1, 0, root, root, 0});
  for (uint32_t number = 0; number < graph.size(); ++number)
    if (graph.codes[number] == OpCode::Range)
      loops.push_back(
          {cast<RangeOp>(graph.ops[number]).getIdx(), number, root, root, 0});
  std::sort(loops.begin() + 1, loops.end(), [](const Loop &a, const Loop &b) {
    return std::tie(a.idx, a.range) < std::tie(b.idx, b.range);
  });
  for (Node node = 1; node < size(); ++node) {
    loopOf[getRange(node)] = node;
    if (node == 1 || getIdx(node) != getIdx(node - 1))
      continue;
    auto first = cast<RangeOp>(graph.ops[getRange(node - 1)]);
    auto second = cast<RangeOp>(graph.ops[getRange(node)]);
    if (describeRange(first) == describeRange(second))
      return emitError(second.getLoc())
             << "loop " << getIdx(node) << " is opened by two equal RANGEs, "
             << describeOp(first) << " and " << describeOp(second)
             << ": make the program unique";
    return emitError(second.getLoc())
           << "loop " << getIdx(node) << " is two loops, "
           << describeRange(first) << " at " << describeOp(first) << " and "
           << describeRange(second) << " at " << describeOp(second)
           << ": give each loop its own idx";
  }
  return success();
}

/// The loops whose counters an op uses, directly or not, less those closed.
LogicalResult LoopTree::findScopes(const NumberedGraph &graph) {
  scopes.reserve(graph.size());
  for (uint32_t number = 0; number < graph.size(); ++number) {
    LoopSets::Set scope = LoopSets::empty;
    for (uint32_t source : graph.getSources(number))
      scope = sets.unite(scope, scopes[source]);
    if (graph.codes[number] == OpCode::Range) {
      Node loop = getLoop(number);
      if (scope && sets.getMax(scope) > loop) {
        Node outer = sets.getMax(scope);
        return emitError(graph.ops[number]->getLoc())
               << "loop " << getIdx(loop) << " is inside loop " << getIdx(outer)
               << ", which its end "
               << describeOp(graph.ops[graph.getSources(number)[0]])
               << " uses, but has the smaller idx: loops nest in increasing "
                  "idx";
      }
      scope = sets.unite(scope, sets.single(loop));
    }
    if (graph.codes[number] == OpCode::End)
      for (uint32_t range : graph.getSources(number).drop_front())
        scope = sets.remove(scope, getLoop(range));
    scopes.push_back(scope);
  }
  return success();
}

/// A loop opens once, so a second END of it could never run.
LogicalResult LoopTree::checkClosedOnce(const NumberedGraph &graph) const {
  std::vector<uint32_t> closedBy(size(), graph.size());
  for (uint32_t number = 0; number < graph.size(); ++number) {
    if (graph.codes[number] != OpCode::End)
      continue;
    llvm::ArrayRef<uint32_t> ranges = graph.getSources(number).drop_front();
    llvm::SmallVector<Node> twice;
    uint32_t first = graph.size();
    for (uint32_t range : ranges) {
      uint32_t &end = closedBy[getLoop(range)];
      if (end == graph.size()) {
        end = number;
      } else {
        twice.push_back(getLoop(range));
        first = end;
      }
    }
    if (twice.empty())
      continue;
    llvm::sort(twice);
    llvm::SmallVector<int64_t> indices;
    for (Node loop : twice)
      indices.push_back(getIdx(loop));
    llvm::SmallVector<uint32_t> a(graph.getSources(first).drop_front());
    llvm::SmallVector<uint32_t> b(ranges);
    llvm::sort(a);
    llvm::sort(b);
    InFlightDiagnostic error = emitError(graph.ops[number]->getLoc());
    if (twice.size() == 1)
      error << "loop " << indices[0] << " is";
    else
      error << "loops " << formatIndices(indices) << " are";
    error << " closed by two ENDs: give each loop its own idx";
    if (a == b)
      error << ", or use one END over a SINK";
    return error << "; they close over "
                 << describeOp(graph.ops[graph.getSources(first)[0]]) << " and "
                 << describeOp(graph.ops[graph.getSources(number)[0]]);
  }
  return success();
}

/// Parents from the neighbours in every scope. It is enough that neighbours
/// nest: then whole scopes do.
LogicalResult LoopTree::nestLoops(const NumberedGraph &graph) {
  std::vector<std::pair<Node, Node>> neighbours;
  for (LoopSets::Set scope : scopes)
    sets.visitNewNeighbours(scope, [&](Node outer, Node inner) {
      neighbours.push_back({outer, inner});
      loops[inner].parent = std::max(loops[inner].parent, outer);
    });
  for (Node node = 1; node < size(); ++node) {
    Loop &loop = loops[node];
    const Loop &parent = loops[loop.parent];
    loop.depth = parent.depth + 1;
    // Jumps of skew binary lengths (Myers 1983) make ancestors logarithmic.
    const Loop &jump = loops[parent.jump];
    bool far = parent.depth - jump.depth == jump.depth - loops[jump.jump].depth;
    loop.jump = far ? jump.jump : loop.parent;
  }
  for (auto [outer, inner] : neighbours) {
    if (isInside(getParent(inner), outer))
      continue;
    llvm::SmallVector<Operation *> users;
    for (Node other : {outer, getParent(inner)})
      for (uint32_t number = 0; number < graph.size(); ++number)
        if (sets.contains(scopes[number], other) &&
            sets.contains(scopes[number], inner)) {
          users.push_back(graph.ops[number]);
          break;
        }
    return emitError(graph.ops[getRange(inner)]->getLoc())
           << "can't schedule; loop " << getIdx(inner) << " is inside loop "
           << getIdx(outer) << " and inside loop " << getIdx(getParent(inner))
           << ", which do not nest: see " << describeOps(users);
  }
  return success();
}

void LoopTree::placeOps(const NumberedGraph &graph) {
  targets.assign(graph.size(), root);
  // An ALLOC goes where all its users are; shared memory belongs to the block.
  std::vector<bool> placed(graph.size());
  for (uint32_t number = 0; number < graph.size(); ++number) {
    if (graph.codes[number] == OpCode::Range)
      targets[number] = getParent(getLoop(number));
    else if (scopes[number])
      targets[number] = sets.getMax(scopes[number]);
    for (uint32_t source : graph.getSources(number)) {
      if (graph.codes[source] != OpCode::Alloc ||
          getSpace(graph.ops[source]->getResult(0).getType()) ==
              AddrSpace::Shared)
        continue;
      targets[source] =
          placed[source] ? getCommonAncestor(targets[source], targets[number])
                         : targets[number];
      placed[source] = true;
    }
  }
}

LoopTree::Node LoopTree::getAncestor(Node node, uint32_t depth) const {
  while (getDepth(node) > depth)
    node = getDepth(loops[node].jump) >= depth ? loops[node].jump
                                               : getParent(node);
  return node;
}

LoopTree::Node LoopTree::getCommonAncestor(Node a, Node b) const {
  uint32_t depth = std::min(getDepth(a), getDepth(b));
  a = getAncestor(a, depth);
  b = getAncestor(b, depth);
  while (a != b) {
    bool far = loops[a].jump != loops[b].jump;
    a = far ? loops[a].jump : getParent(a);
    b = far ? loops[b].jump : getParent(b);
  }
  return a;
}
