//===- Linearize.cpp - from a graph to a schedule -------------------------===//
//
// List scheduling over the tree of loops (LoopTree.h): what can run where the
// schedule stands runs first, then the next loop opens, then the innermost
// closes.
//
//===----------------------------------------------------------------------===//

#include "Uop/Transforms/Linearize.h"
#include "LoopTree.h"
#include "MemoryOrder.h"
#include "Uop/Graph/Results.h"
#include "Uop/Graph/UniquingBuilder.h"

using namespace mlir;
using namespace uop;

namespace {

/// A heap of numbers, the smallest first.
class NumberHeap {
public:
  bool empty() const { return heap.empty(); }
  uint32_t top() const { return heap.front(); }
  void push(uint32_t number) {
    heap.push_back(number);
    std::push_heap(heap.begin(), heap.end(), std::greater<>());
  }
  uint32_t pop() {
    std::pop_heap(heap.begin(), heap.end(), std::greater<>());
    uint32_t number = heap.back();
    heap.pop_back();
    return number;
  }

private:
  std::vector<uint32_t> heap;
};

/// One run of the scheduler. Every op and every loop enters a heap a bounded
/// number of times: n log n in all.
class Scheduler {
public:
  Scheduler(const NumberedGraph &graph, const LoopTree &tree)
      : graph(graph), tree(tree), places(tree.size()), waiting(graph.size()),
        emitted(graph.size()) {}

  FailureOr<std::vector<Operation *>> run();

private:
  using Node = LoopTree::Node;

  /// What is ready in one loop, and the loops inside it.
  struct Place {
    NumberHeap ops;
    /// ENDs whose innermost loop this is.
    NumberHeap ends;
    /// Loops whose RANGE is ready; those among them that wait for no sibling.
    NumberHeap loops, freeLoops;
    /// As a loop: sources outside that its ops still wait for.
    uint32_t awaited = 0;
    bool holdsOps = false;
    bool rangeReady = false, opened = false;
  };

  void prepare();
  std::optional<Node> getClosedBody(uint32_t end) const;
  Node getLoopAwaiting(uint32_t source, uint32_t user) const;
  void makeReady(uint32_t number);
  void emit(uint32_t number);
  bool openLoop();
  bool closeLoops();
  LogicalResult reportStuck();
  LogicalResult reportNeverClosed();
  std::string explainStuck();
  std::string explainEnd(uint32_t end) const;

  const NumberedGraph &graph;
  const LoopTree &tree;
  std::vector<Place> places;
  std::vector<uint32_t> waiting;
  std::vector<bool> emitted;
  /// Users of op `n`: users[usersBegin[n]] and on; `awaiting` has the loop that
  /// each of these edges enters, or the root for none.
  std::vector<uint32_t> usersBegin, users;
  std::vector<Node> awaiting;
  std::vector<Operation *> schedule;
  Node current = LoopTree::root;
};

} // namespace

/// The innermost loop that END number `end` closes, provided that its loops are
/// a path down from the END's own place.
std::optional<LoopTree::Node> Scheduler::getClosedBody(uint32_t end) const {
  llvm::SmallVector<Node, 4> closed;
  for (uint32_t range : graph.getSources(end).drop_front())
    closed.push_back(tree.getLoop(range));
  llvm::sort(closed);
  Node body = tree.getTarget(end);
  for (Node loop : closed) {
    if (tree.getParent(loop) != body)
      return std::nullopt;
    body = loop;
  }
  return body;
}

/// The loop that has to wait for `source` because `user` is inside it, the root
/// if there is none. The RANGE that opens a loop is no reason for it to wait.
LoopTree::Node Scheduler::getLoopAwaiting(uint32_t source,
                                          uint32_t user) const {
  Node from = tree.getTarget(source), to = tree.getTarget(user);
  if (tree.getDepth(from) >= tree.getDepth(to))
    return LoopTree::root;
  Node loop = tree.getAncestor(to, tree.getDepth(from) + 1);
  return tree.getRange(loop) == source ? LoopTree::root : loop;
}

void Scheduler::prepare() {
  // Loops are numbered after the loops around them: from the inside out.
  for (uint32_t number = 0; number < graph.size(); ++number)
    if (graph.codes[number] != OpCode::Range)
      places[tree.getTarget(number)].holdsOps = true;
  for (Node node = tree.size() - 1; node > LoopTree::root; --node)
    if (places[node].holdsOps)
      places[tree.getParent(node)].holdsOps = true;

  usersBegin.assign(graph.size() + 1, 0);
  for (uint32_t source : graph.sources)
    ++usersBegin[source + 1];
  for (uint32_t number = 0; number < graph.size(); ++number)
    usersBegin[number + 1] += usersBegin[number];
  users.resize(graph.sources.size());
  awaiting.resize(graph.sources.size());
  std::vector<uint32_t> next(usersBegin.begin(), usersBegin.end() - 1);
  for (uint32_t number = 0; number < graph.size(); ++number) {
    llvm::ArrayRef<uint32_t> sources = graph.getSources(number);
    waiting[number] = sources.size();
    for (uint32_t source : sources) {
      uint32_t edge = next[source]++;
      users[edge] = number;
      awaiting[edge] = getLoopAwaiting(source, number);
      if (awaiting[edge] != LoopTree::root)
        ++places[awaiting[edge]].awaited;
    }
  }
}

void Scheduler::makeReady(uint32_t number) {
  switch (graph.codes[number]) {
  case OpCode::Range: {
    Node loop = tree.getLoop(number);
    if (!places[loop].holdsOps)
      return;
    places[loop].rangeReady = true;
    Place &parent = places[tree.getParent(loop)];
    parent.loops.push(loop);
    if (places[loop].awaited == 0)
      parent.freeLoops.push(loop);
    return;
  }
  case OpCode::End:
    if (std::optional<Node> body = getClosedBody(number))
      places[*body].ends.push(number);
    return;
  default:
    places[tree.getTarget(number)].ops.push(number);
  }
}

void Scheduler::emit(uint32_t number) {
  schedule.push_back(graph.ops[number]);
  emitted[number] = true;
  for (uint32_t edge = usersBegin[number]; edge < usersBegin[number + 1];
       ++edge) {
    if (Node loop = awaiting[edge]; loop != LoopTree::root)
      if (--places[loop].awaited == 0 && places[loop].rangeReady)
        places[tree.getParent(loop)].freeLoops.push(loop);
    if (--waiting[users[edge]] == 0)
      makeReady(users[edge]);
  }
}

/// Opens the loop of smallest idx that no sibling has to precede. An op in a
/// loop waits for one outside only through the END of a sibling: what stands
/// here and could run has run.
bool Scheduler::openLoop() {
  Place &place = places[current];
  auto dropOpened = [&](NumberHeap &heap) {
    while (!heap.empty() && places[heap.top()].opened)
      heap.pop();
    return !heap.empty();
  };
  Node loop;
  if (dropOpened(place.freeLoops))
    loop = place.freeLoops.top();
  else if (dropOpened(place.loops))
    loop = place.loops.top();
  else
    return false;
  places[loop].opened = true;
  emit(tree.getRange(loop));
  current = loop;
  return true;
}

bool Scheduler::closeLoops() {
  if (places[current].ends.empty())
    return false;
  uint32_t end = places[current].ends.pop();
  emit(end);
  current = tree.getTarget(end);
  return true;
}

FailureOr<std::vector<Operation *>> Scheduler::run() {
  prepare();
  schedule.reserve(graph.size());
  for (uint32_t number = 0; number < graph.size(); ++number)
    if (graph.getSources(number).empty())
      makeReady(number);
  while (schedule.size() < graph.size()) {
    if (!places[current].ops.empty())
      emit(places[current].ops.pop());
    else if (!openLoop() && !closeLoops())
      return reportStuck();
  }
  if (current != LoopTree::root)
    return reportNeverClosed();
  return std::move(schedule);
}

//===----------------------------------------------------------------------===//
// Why there is no schedule
//===----------------------------------------------------------------------===//

LogicalResult Scheduler::reportNeverClosed() {
  // An effect is what an END would go over, so effects are named first.
  llvm::SmallVector<Operation *> effects, others;
  for (uint32_t number = 0; number < graph.size(); ++number) {
    OpCode code = graph.codes[number];
    if (tree.getTarget(number) == LoopTree::root || code == OpCode::Range ||
        code == OpCode::Sink ||
        !tree.getSets().contains(tree.getScope(number), current))
      continue;
    (isa<VoidType>(graph.ops[number]->getResult(0).getType()) ? effects
                                                              : others)
        .push_back(graph.ops[number]);
  }
  InFlightDiagnostic error =
      emitError(graph.ops[tree.getRange(current)]->getLoc())
      << "RANGE without END: loops " << tree.formatPath(current)
      << " are never closed";
  llvm::append_range(effects, others);
  if (!effects.empty())
    error << "; inside: " << describeOps(effects);
  return error;
}

LogicalResult Scheduler::reportStuck() {
  std::string stuck;
  uint32_t first = graph.size();
  for (uint32_t number = 0, shown = 0; number < graph.size() && shown < 5;
       ++number) {
    if (emitted[number])
      continue;
    first = std::min(first, number);
    stuck += (shown++ ? ", (" : "(") + getName(graph.codes[number]).str() +
             ", " + tree.formatPath(tree.getTarget(number)) + ")";
  }
  return emitError(graph.ops[first]->getLoc())
         << "can't schedule; open loops " << tree.formatPath(current)
         << ", stuck at [" << stuck << "]" << explainStuck();
}

/// The cause in words: an END that can't close what it names, or an op that
/// needs a loop both open and closed.
std::string Scheduler::explainStuck() {
  for (uint32_t number = 0; number < graph.size(); ++number)
    if (graph.codes[number] == OpCode::End && !emitted[number] &&
        !getClosedBody(number))
      return ": " + explainEnd(number);

  LoopSets sets = tree.getSets();
  std::vector<LoopSets::Set> paths(tree.size(), LoopSets::empty);
  for (Node loop = 1; loop < tree.size(); ++loop)
    paths[loop] = sets.unite(paths[tree.getParent(loop)], sets.single(loop));
  std::vector<LoopSets::Set> closed(graph.size(), LoopSets::empty);
  for (uint32_t number = 0; number < graph.size(); ++number) {
    for (uint32_t source : graph.getSources(number))
      closed[number] = sets.unite(closed[number], closed[source]);
    if (graph.codes[number] == OpCode::End)
      for (uint32_t range : graph.getSources(number).drop_front())
        closed[number] =
            sets.unite(closed[number], sets.single(tree.getLoop(range)));
    if (std::optional<Node> loop =
            sets.findCommon(closed[number], paths[tree.getTarget(number)]))
      return ": " + describeOp(graph.ops[number]) + " is inside loop " +
             std::to_string(tree.getIdx(*loop)) +
             " and after the END that closes it";
  }
  for (Node loop = 1; loop < tree.size(); ++loop)
    if (!places[loop].holdsOps)
      return ": no op is inside loop " + std::to_string(tree.getIdx(loop)) +
             ", " + describeOp(graph.ops[tree.getRange(loop)]);
  return "";
}

std::string Scheduler::explainEnd(uint32_t end) const {
  llvm::SmallVector<Node> closed;
  for (uint32_t range : graph.getSources(end).drop_front())
    closed.push_back(tree.getLoop(range));
  llvm::sort(closed);
  llvm::SmallVector<int64_t> indices, unused, open;
  LoopSets::Set scope = tree.getScope(graph.getSources(end)[0]);
  for (Node loop : closed) {
    indices.push_back(tree.getIdx(loop));
    if (!tree.getSets().contains(scope, loop))
      unused.push_back(tree.getIdx(loop));
  }
  std::string text =
      describeOp(graph.ops[end]) + " closes loops " + formatIndices(indices);
  std::string source = describeOp(graph.ops[graph.getSources(end)[0]]);
  if (!unused.empty())
    return text + " over " + source + ", which is not inside " +
           formatIndices(unused);
  // The source is inside all of them, so they are on one path down. What stands
  // between them, below them or between them and the END's place stays open.
  Node place = tree.getTarget(end);
  uint32_t top =
      std::min(tree.getDepth(closed.front()), tree.getDepth(place) + 1);
  for (Node loop = std::max(closed.back(), place);
       loop != LoopTree::root && tree.getDepth(loop) >= top;
       loop = tree.getParent(loop))
    if (!llvm::is_contained(closed, loop))
      open.push_back(tree.getIdx(loop));
  std::reverse(open.begin(), open.end());
  return text + " but not " + formatIndices(open) + ", where " + source + " is";
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

FailureOr<std::vector<Operation *>> uop::linearize(Value sink) {
  NumberedGraph graph(sink);
  FailureOr<LoopTree> tree = LoopTree::build(graph);
  if (failed(tree))
    return failure();
  FailureOr<std::vector<Operation *>> schedule = Scheduler(graph, *tree).run();
  if (failed(schedule) || failed(checkMemoryOrder(graph)))
    return failure();
  return schedule;
}

/// Whether no two ops of the block are one node.
static bool isUnique(Block &block) {
  UniquingBuilder builder(&block);
  for (Operation &op : block.without_terminator())
    if (builder.adopt(&op) != op.getResult(0))
      return false;
  return true;
}

LogicalResult uop::linearize(ProgramOp program) {
  if (isShaped(program))
    return emitError(program.getRoot().getLoc())
           << "linearize needs a program of loops (run rangeify first)";
  // Text may hold an op twice; run twice, a STORE would not be the same.
  if (!isUnique(program.getBodyBlock()) &&
      failed(rebuildProgram(program, [&](UniquingBuilder &builder) {
        return copyInto(builder, program.getRoot());
      })))
    return failure();

  FailureOr<std::vector<Operation *>> schedule = linearize(program.getRoot());
  if (failed(schedule))
    return failure();
  Block &block = program.getBodyBlock();
  Operation *terminator = block.getTerminator();
  for (Operation *op : *schedule)
    op->moveBefore(terminator);
  // What the root does not reach is now in front, users after sources.
  Operation *unreached = schedule->front()->getPrevNode();
  while (unreached) {
    Operation *before = unreached->getPrevNode();
    unreached->erase();
    unreached = before;
  }
  return success();
}
