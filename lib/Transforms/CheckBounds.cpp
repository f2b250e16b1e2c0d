//===- CheckBounds.cpp - whether accesses stay inside memory --------------===//
//
// The pass `uop-check-bounds`: bounds first, then bounds case by case, then
// evaluation at the points of the loops that an index depends on.
//
//===----------------------------------------------------------------------===//

#include "Uop/Transforms/CheckBounds.h"
#include "Guards.h"
#include "Uop/Dialect/Scalar.h"
#include "Uop/Transforms/Passes.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include <random>

using namespace mlir;
using namespace uop;

namespace uop {
#define GEN_PASS_DEF_UOPCHECKBOUNDS
#include "Uop/Transforms/Passes.h.inc"
} // namespace uop

namespace {

/// Larger cones of arithmetic under one index are left to its bounds alone.
constexpr size_t maxNodes = 4096;
/// WHEREs of an index whose outcomes are told apart, 2^n cases.
constexpr size_t maxCases = 6;
constexpr int64_t samples = 4096;

/// An index, the values behind it, and when it is used.
struct Access {
  IndexOp op;
  Value index;
  int64_t size;
  /// It is used where one of them is true; empty for everywhere.
  llvm::SmallVector<Value> gates;
};

/// Where an index leaves its memory: the counter of each loop it depends on.
struct Counterexample {
  int32_t index;
  llvm::SmallVector<std::pair<RangeOp, int32_t>> point;
};

enum class Verdict { Proved, Refuted, Unknown };

//===----------------------------------------------------------------------===//
// Evaluation at points
//===----------------------------------------------------------------------===//

/// What an index and its gates are computed from, as a list of instructions, the
/// loop counters first.
class Cone {
public:
  /// Whether every value of it follows from loop counters alone, and it is small.
  bool build(const Access &access);
  size_t size() const { return steps.size(); }
  llvm::ArrayRef<Operation *> getOps() const { return ops; }
  /// Points of the loops, at most: each has no more than `plain` allows.
  double countPoints(Bounds &plain) const;

  /// Looks at every point, the last loop fastest.
  std::optional<Counterexample> searchAll();
  /// Looks at `samples` points, at the ends of loops more often than between.
  std::optional<Counterexample> searchSome();

private:
  struct Step {
    OpCode code;
    DType source, result;
    unsigned sources[3];
  };
  bool visit(Value root);
  void evaluate(size_t i) {
    const Step &s = steps[i];
    words[i] = evalAlu(s.code, s.source, s.result, words[s.sources[0]],
                       words[s.sources[1]], words[s.sources[2]]);
  }
  int32_t getEnd(size_t range) const {
    return static_cast<int32_t>(words[steps[range].sources[0]]);
  }
  bool isOutside() const;
  Counterexample describe() const;

  llvm::DenseMap<Value, unsigned> numbers;
  std::vector<Operation *> ops;
  std::vector<Step> steps;
  std::vector<Word> words;
  llvm::SmallVector<size_t> ranges;
  unsigned index = 0;
  int64_t memorySize = 0;
  llvm::SmallVector<unsigned> gates;
};

/// Adds what `root` is computed from, sources first.
bool Cone::visit(Value root) {
  llvm::SmallVector<Value> stack{root};
  while (!stack.empty()) {
    Value value = stack.back();
    if (numbers.contains(value)) {
      stack.pop_back();
      continue;
    }
    Operation *op = value.getDefiningOp();
    std::optional<OpCode> code = op ? getOpCode(op) : std::nullopt;
    if (!code || isMemory(value.getType()) ||
        !getShape(value.getType()).empty() || steps.size() >= maxNodes ||
        !(*code == OpCode::Const || *code == OpCode::Range || isAlu(*code)))
      return false;
    size_t waiting = stack.size();
    for (Value source : op->getOperands())
      if (!numbers.contains(source))
        stack.push_back(source);
    if (stack.size() != waiting)
      continue;
    stack.pop_back();
    Step step{*code, DType::Void, getDType(value.getType()), {0, 0, 0}};
    for (unsigned i = 0, e = op->getNumOperands(); i < e; ++i)
      step.sources[i] = numbers[op->getOperand(i)];
    if (op->getNumOperands())
      step.source =
          getDType(op->getOperand(*code == OpCode::Where ? 1 : 0).getType());
    if (*code == OpCode::Range)
      ranges.push_back(steps.size());
    numbers[value] = steps.size();
    words.push_back(*code == OpCode::Const
                        ? getWord(cast<ConstOp>(op).getValue())
                        : 0);
    steps.push_back(step);
    ops.push_back(op);
  }
  return true;
}

bool Cone::build(const Access &access) {
  llvm::SmallVector<Value> roots(access.gates);
  roots.push_back(access.index);
  auto visitAll = [&](llvm::ArrayRef<Value> values) {
    return llvm::all_of(values, [&](Value value) { return visit(value); });
  };
  if (!visitAll(roots))
    return false;
  // Once more with the loops first, outer before inner: then the first point
  // found is the first in the order in which they run.
  llvm::SmallVector<Value> loops;
  for (size_t range : ranges)
    loops.push_back(ops[range]->getResult(0));
  llvm::sort(loops, [](Value a, Value b) {
    return a.getDefiningOp<RangeOp>().getIdx() <
           b.getDefiningOp<RangeOp>().getIdx();
  });
  numbers.clear();
  ops.clear();
  steps.clear();
  words.clear();
  ranges.clear();
  if (!visitAll(loops) || !visitAll(roots))
    return false;
  index = numbers[access.index];
  memorySize = access.size;
  for (Value gate : access.gates)
    gates.push_back(numbers[gate]);
  return true;
}

double Cone::countPoints(Bounds &plain) const {
  double points = 1;
  for (size_t range : ranges)
    points *= plain.vmax(ops[range]->getResult(0)) + 1;
  return points;
}

bool Cone::isOutside() const {
  if (!gates.empty() &&
      llvm::none_of(gates, [&](unsigned gate) { return words[gate]; }))
    return false;
  // A negative index is huge as an unsigned number.
  return words[index] >= static_cast<uint64_t>(memorySize);
}

Counterexample Cone::describe() const {
  Counterexample found{static_cast<int32_t>(words[index]), {}};
  for (size_t range : ranges)
    found.point.push_back({cast<RangeOp>(ops[range]),
                           static_cast<int32_t>(words[range])});
  return found;
}

std::optional<Counterexample> Cone::searchAll() {
  llvm::SmallVector<size_t> open; // ranges that have a value now
  size_t at = 0;
  while (true) {
    bool isDead = false;
    for (; at < steps.size() && !isDead; ++at) {
      if (steps[at].code == OpCode::Const)
        continue;
      if (steps[at].code != OpCode::Range) {
        evaluate(at);
        continue;
      }
      words[at] = 0;
      if (getEnd(at) > 0)
        open.push_back(at);
      else
        isDead = true;
    }
    if (!isDead && isOutside())
      return describe();
    while (!open.empty() &&
           static_cast<int32_t>(++words[open.back()]) >= getEnd(open.back()))
      open.pop_back();
    if (open.empty())
      return std::nullopt;
    at = open.back() + 1;
  }
}

std::optional<Counterexample> Cone::searchSome() {
  std::mt19937_64 random(0);
  for (int64_t i = 0; i < samples; ++i) {
    bool isDead = false;
    for (size_t at = 0; at < steps.size() && !isDead; ++at) {
      if (steps[at].code == OpCode::Const)
        continue;
      if (steps[at].code != OpCode::Range) {
        evaluate(at);
        continue;
      }
      int32_t end = getEnd(at);
      isDead = end <= 0;
      if (isDead)
        continue;
      uint64_t drawn = random();
      words[at] = drawn % 4 == 0   ? 0
                  : drawn % 4 == 1 ? end - 1
                                   : (drawn >> 2) % static_cast<uint64_t>(end);
    }
    if (!isDead && isOutside())
      return describe();
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The check
//===----------------------------------------------------------------------===//

class Checker {
public:
  Checker(ProgramOp program, const CheckBoundsOptions &options)
      : program(program), options(options), budget(options.budget) {}

  LogicalResult run();

private:
  bool isInside(Bounds &bounds, const Access &access) {
    Bounds::Interval have = bounds.get(access.index);
    return bounds.isContradictory() ||
           (have.min >= 0 && have.max < access.size);
  }
  bool proveByCases(const Access &access);
  Verdict search(const Access &access, Counterexample &found);
  void describe(Diagnostic &diagnostic, Access &access);

  ProgramOp program;
  CheckBoundsOptions options;
  int64_t budget;
  Bounds plain;
};

/// How an INDEX into flat memory is used; nullopt if it is not.
std::optional<Access> getAccess(Operation *op) {
  auto index = dyn_cast<IndexOp>(op);
  if (!index || !isMemory(index.getSource().getType()) ||
      index.getIndices().size() != 1 || index->use_empty())
    return std::nullopt;
  Access access{index, index.getIndices()[0],
                getShape(index.getSource().getType())[0], {}};
  bool isAlways = false;
  llvm::SmallSetVector<Value, 2> gates;
  for (OpOperand &use : index->getUses()) {
    auto load = dyn_cast<LoadOp>(use.getOwner());
    if (load && use.getOperandNumber() == 0 && !load.getGate().empty())
      gates.insert(load.getGate()[0]);
    else
      isAlways = true;
  }
  if (!isAlways)
    access.gates = gates.takeVector();
  return access;
}

/// Under each outcome of the conditions of WHEREs, for each gate.
bool Checker::proveByCases(const Access &access) {
  llvm::SmallSetVector<Value, maxCases> conditions;
  llvm::SmallVector<Value> stack{access.index};
  llvm::DenseSet<Value> seen;
  while (!stack.empty()) {
    Value value = stack.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op || !seen.insert(value).second)
      continue;
    if (seen.size() > maxNodes)
      return false;
    auto where = dyn_cast<WhereOp>(op);
    if (where && conditions.size() < maxCases)
      conditions.insert(where.getCondition());
    llvm::append_range(stack, op->getOperands());
  }
  llvm::SmallVector<Value> gates(access.gates);
  if (gates.empty())
    gates.push_back(Value());
  size_t cases = size_t(1) << conditions.size();
  for (Value gate : gates)
    for (size_t outcomes = 0; outcomes < cases; ++outcomes) {
      budget -= seen.size();
      if (budget < 0)
        return false;
      Bounds bounds;
      if (gate)
        assumeOutcome(bounds, plain, gate, true);
      for (auto [i, condition] : llvm::enumerate(conditions))
        assumeOutcome(bounds, plain, condition, outcomes >> i & 1);
      // The conditions too may show that this case never happens.
      if (gate)
        bounds.get(gate);
      for (Value condition : conditions)
        bounds.get(condition);
      if (!isInside(bounds, access))
        return false;
    }
  return true;
}

Verdict Checker::search(const Access &access, Counterexample &found) {
  Cone cone;
  if (!cone.build(access))
    return Verdict::Unknown;
  double work = cone.countPoints(plain) * cone.size();
  bool all = work <= static_cast<double>(budget);
  if (!all)
    work = static_cast<double>(samples) * cone.size();
  if (work > static_cast<double>(budget))
    return Verdict::Unknown;
  budget -= static_cast<int64_t>(work);
  std::optional<Counterexample> result =
      all ? cone.searchAll() : cone.searchSome();
  if (!result)
    return all ? Verdict::Proved : Verdict::Unknown;
  found = std::move(*result);
  return Verdict::Refuted;
}

/// `INDEX of BUFFER 0 (8 elements)`.
void Checker::describe(Diagnostic &diagnostic, Access &access) {
  Value memory = access.op.getSource();
  while (auto after = memory.getDefiningOp<AfterOp>())
    memory = after.getSource();
  diagnostic << "INDEX of ";
  if (auto buffer = memory.getDefiningOp<BufferOp>())
    diagnostic << "BUFFER " << buffer.getSlot() << ' ';
  else if (auto alloc = memory.getDefiningOp<AllocOp>())
    diagnostic << "ALLOC " << alloc.getSlot() << ' ';
  else
    diagnostic << "memory ";
  diagnostic << '(' << access.size
             << (access.size == 1 ? " element)" : " elements)");
}

void print(Diagnostic &diagnostic, const Counterexample &found) {
  diagnostic << " is " << found.index;
  llvm::StringRef between = " at ";
  for (auto [range, value] : found.point) {
    diagnostic << between << "ridx" << range.getIdx() << '=' << value;
    between = ", ";
  }
}

LogicalResult Checker::run() {
  // A loop without iterations anywhere may keep an access from happening.
  llvm::SmallVector<RangeOp> mayNotRun;
  for (Operation &op : program.getBodyBlock())
    if (auto range = dyn_cast<RangeOp>(op))
      if (plain.vmin(range.getEnd()) < 1)
        mayNotRun.push_back(range);
  int64_t unproved = 0;
  constexpr int64_t maxWarnings = 10;
  for (Operation &op : program.getBodyBlock()) {
    std::optional<Access> access = getAccess(&op);
    if (!access || isInside(plain, *access) || proveByCases(*access))
      continue;
    Counterexample found;
    Verdict verdict = search(*access, found);
    if (verdict == Verdict::Proved)
      continue;
    bool isCertain = verdict == Verdict::Refuted &&
                     llvm::all_of(mayNotRun, [&](RangeOp range) {
                       return llvm::any_of(found.point, [&](const auto &at) {
                         return at.first == range;
                       });
                     });
    if (isCertain) {
      InFlightDiagnostic error = emitError(op.getLoc());
      describe(*error.getUnderlyingDiagnostic(), *access);
      print(*error.getUnderlyingDiagnostic(), found);
      return error;
    }
    if (!options.warn || ++unproved > maxWarnings)
      continue;
    InFlightDiagnostic warning = emitWarning(op.getLoc());
    describe(*warning.getUnderlyingDiagnostic(), *access);
    Bounds::Interval have = plain.get(access->index);
    if (verdict == Verdict::Refuted) {
      print(*warning.getUnderlyingDiagnostic(), found);
      warning << ", unless a loop around it never runs";
    } else {
      warning << " is not proved in range: its bounds are " << have.min << ".."
              << have.max;
    }
  }
  if (options.warn && unproved > maxWarnings)
    emitWarning(program.getLoc()) << unproved - maxWarnings
                          << " more INDEXes are not proved in range";
  return success();
}

struct CheckBoundsPass : uop::impl::UopCheckBoundsBase<CheckBoundsPass> {
  using UopCheckBoundsBase::UopCheckBoundsBase;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    CheckBoundsOptions options;
    options.budget = budget;
    if (failed(checkBounds(getOperation(), options)))
      signalPassFailure();
  }
};

} // namespace

LogicalResult uop::checkBounds(ProgramOp program,
                               const CheckBoundsOptions &options) {
  return Checker(program, options).run();
}
