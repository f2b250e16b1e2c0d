//===- Difference.cpp - whether two programs do the same ------------------===//
//
// Both interpreters on generated inputs; a difference is shrunk toward zeros.
//
//===----------------------------------------------------------------------===//

#include "Uop/Transforms/Difference.h"
#include "Uop/Graph/Bounds.h"
#include "Uop/Graph/Results.h"
#include "Uop/Graph/Walk.h"
#include "Uop/Transforms/EvaluatePlan.h"
#include "Uop/Transforms/Linearize.h"
#include "Uop/Transforms/Rangeify.h"
#include "llvm/Support/Format.h"
#include <cmath>
#include <limits>
#include <random>

using namespace mlir;
using namespace uop;

namespace {

/// Where the values of an expression over loop counters go.
constexpr int64_t expressionSlot = int64_t(1) << 30;

/// Swallows what is said while it lives, and keeps the first error.
class Quiet {
public:
  explicit Quiet(MLIRContext *context)
      : handler(context, [this](Diagnostic &diagnostic) {
          if (first.empty() &&
              diagnostic.getSeverity() == DiagnosticSeverity::Error)
            first = diagnostic.str();
          return success();
        }) {}
  std::string first;

private:
  ScopedDiagnosticHandler handler;
};

/// One element as numbers are written in messages.
std::string format(DType dtype, Word word) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (dtype == DType::Bool)
    os << (word ? "true" : "false");
  else if (dtype == DType::I32)
    os << static_cast<int32_t>(word);
  else if (std::isnan(toFloat(word)))
    os << "nan";
  else
    os << llvm::format("%.9g", toFloat(word));
  return text;
}

bool isSame(DType dtype, Word a, Word b) {
  return a == b ||
         (isFloat(dtype) && std::isnan(toFloat(a)) && std::isnan(toFloat(b)));
}

//===----------------------------------------------------------------------===//
// One program that can be run again and again
//===----------------------------------------------------------------------===//

/// The loops of an expression over loop counters, by idx.
using Loops = std::map<int64_t, RangeOp>;

class Runnable {
public:
  /// False if it can't be run: `reason` says why. An expression is run for
  /// every value of `loops`, or if these are null, of its own.
  bool prepare(ProgramOp program, const CompareOptions &options,
               const Loops *loops);
  /// A plan, whose results are in `outputSlot` and on like those of loops.
  void prepare(PlanOp other) { plan = other; }

  bool isShaped() const { return shaped; }
  bool isExpression() const { return !loops.empty(); }
  const Loops &getLoops() const { return loops; }
  /// What it leaves in its buffers, or its values in slot `outputSlot` and on
  /// and what it stores; nullopt when it fails, `reason` says how.
  std::optional<ArrayMap> run(const ArrayMap &inputs, int64_t outputSlot);
  /// Adds an empty array of dtype and size for every buffer.
  void collectBuffers(ArrayMap &buffers);
  /// Null for a plan.
  ProgramOp getProgram() const { return program; }

  std::string reason;

private:
  bool findLoops();
  bool wrap(const CompareOptions &options);
  double countSteps() const;

  void addBuffer(ArrayMap &buffers, int64_t slot, Type type);

  ProgramOp program;
  PlanOp plan;
  Loops loops;
  OwningOpRef<ProgramOp> copy; // in an order that is a schedule
  std::vector<Operation *> schedule;
  bool shaped = false;
};

/// The loops whose counters a program of shapes uses.
bool Runnable::findLoops() {
  for (Operation &op : program.getBodyBlock()) {
    auto range = dyn_cast<RangeOp>(op);
    if (!range)
      continue;
    if (isa<VoidType>(program.getRoot().getType()) ||
        !range.getEnd().getDefiningOp<ConstOp>() ||
        !getShape(program.getRoot().getType()).empty() ||
        isMemory(program.getRoot().getType())) {
      reason = "its root is no scalar expression over loops of known length";
      return false;
    }
    loops[range.getIdx()] = range;
  }
  return true;
}

/// Makes a program that stores the expression for all values of its loops.
bool Runnable::wrap(const CompareOptions &options) {
  double points = 1;
  for (auto &[idx, range] : loops)
    points *= static_cast<double>(static_cast<int32_t>(
        getWord(range.getEnd().getDefiningOp<ConstOp>().getValue())));
  if (points < 1 || points > options.maxElements) {
    reason = "its loops are empty or too long";
    return false;
  }
  OpBuilder builder(program.getContext());
  copy = ProgramOp::create(builder, program.getLoc(), program.getSymName());
  UniquingBuilder graph(&copy->getBodyBlock());
  Value value = copyInto(graph, program.getRoot());
  Value at = graph.i32(0);
  llvm::SmallVector<Value> counters;
  for (auto &[idx, range] : loops) {
    Value end = copyInto(graph, range.getEnd());
    counters.push_back(graph.range(end, idx, range.getKind()));
    at = graph.add(graph.mul(at, end), counters.back());
  }
  Value out = graph.buffer(expressionSlot, getDType(value.getType()),
                           static_cast<int64_t>(points));
  Value store = out ? graph.store(graph.index(out, at), value) : Value();
  if (!store) {
    reason = "its values can't be stored";
    return false;
  }
  finishProgram(*copy, graph.sink(graph.end(store, counters)));
  return true;
}

bool Runnable::prepare(ProgramOp original, const CompareOptions &options,
                       const Loops *known) {
  program = original;
  Quiet quiet(program.getContext());
  shaped = uop::isShaped(program);
  double elements = 0;
  for (Operation &op : program.getBodyBlock().without_terminator()) {
    if (isa<WmmaOp, ParamOp>(op) && !shaped) {
      reason = "it holds a " + getName(*getOpCode(&op)).str();
      return false;
    }
    std::optional<int64_t> count =
        getNumElements(getShape(op.getResult(0).getType()));
    elements += count ? static_cast<double>(*count) : INFINITY;
  }
  if (elements > options.maxElements) {
    reason = "it is too large to be evaluated";
    return false;
  }
  if (shaped) {
    if (!findLoops())
      return false;
    if (known && !known->empty())
      loops = *known;
    if (loops.empty())
      return true;
    if (!wrap(options))
      return false;
    shaped = false;
  }
  ProgramOp ordered = copy ? *copy : program;
  if (failed(verifySchedule(ordered))) {
    if (!copy)
      copy = cast<ProgramOp>(program->clone());
    ordered = *copy;
    if (failed(linearize(ordered))) {
      reason = "it has no schedule: " + quiet.first;
      return false;
    }
  }
  for (Operation &op : ordered.getBodyBlock().without_terminator())
    schedule.push_back(&op);
  if (countSteps() > options.maxSteps) {
    reason = "it takes too long to be run";
    return false;
  }
  return true;
}

double Runnable::countSteps() const {
  Bounds bounds;
  double steps = 0;
  llvm::SmallVector<double> trips{1};
  for (Operation *op : schedule) {
    steps += trips.back();
    if (auto range = dyn_cast<RangeOp>(op))
      trips.push_back(trips.back() * (bounds.vmax(range) + 1));
    else if (auto end = dyn_cast<EndOp>(op))
      for (size_t i = 0, e = end.getRanges().size(); i < e && trips.size() > 1;
           ++i)
        trips.pop_back();
  }
  return steps;
}

void Runnable::addBuffer(ArrayMap &buffers, int64_t slot, Type type) {
  Array &array = buffers[slot];
  array.dtype = getDType(type);
  array.shape.assign(1, *getNumElements(getShape(type)));
}

void Runnable::collectBuffers(ArrayMap &buffers) {
  if (plan) {
    for (auto input : plan.getBodyBlock().getOps<InputOp>())
      addBuffer(buffers, input.getSlot(), input.getType());
    return;
  }
  ProgramOp body = copy ? *copy : program;
  for (auto buffer : body.getBodyBlock().getOps<BufferOp>())
    addBuffer(buffers, buffer.getSlot(), buffer.getType());
}

std::optional<ArrayMap> Runnable::run(const ArrayMap &inputs,
                                      int64_t outputSlot) {
  Quiet quiet(plan ? plan.getContext() : program.getContext());
  reason.clear();
  if (plan) {
    ArrayMap arrays = inputs;
    FailureOr<std::vector<Array>> outputs = evaluatePlan(plan, arrays);
    if (succeeded(outputs)) {
      for (Array &output : *outputs)
        arrays[outputSlot++] = std::move(output);
      return arrays;
    }
  } else if (shaped) {
    FailureOr<ShapedResults> results = evaluateShapedProgram(program, inputs);
    if (succeeded(results)) {
      ArrayMap arrays = std::move(results->buffers);
      for (Array &output : results->outputs)
        arrays[outputSlot++] = std::move(output);
      return arrays;
    }
  } else {
    ArrayMap buffers = inputs;
    if (succeeded(evaluateLinear(schedule, buffers)))
      return buffers;
  }
  reason = quiet.first;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

using Random = std::mt19937_64;

Word makeOrdinary(DType dtype, Random &random) {
  uint64_t drawn = random();
  if (dtype == DType::Bool)
    return drawn % 2;
  int32_t small = static_cast<int32_t>(drawn % 17) - 8;
  return dtype == DType::I32 ? static_cast<Word>(small)
                             : fromFloat(static_cast<float>(small) / 4);
}

Word makeSpecial(DType dtype, Random &random) {
  uint64_t drawn = random();
  if (dtype == DType::Bool)
    return drawn % 2;
  if (dtype == DType::I32) {
    const int32_t special[] = {
        0, 1, -1, 2, INT32_MIN, INT32_MAX, INT32_MIN + 1, 1 << 16};
    return static_cast<Word>(special[drawn % std::size(special)]);
  }
  constexpr float inf = std::numeric_limits<float>::infinity();
  const float special[] = {0.0f,  -0.0f, inf,   -inf,     NAN,  1.0f,
                           -1.0f, 0.5f,  65504, 6.0e-08f, 3.0f, -2.0f};
  float value = special[drawn % std::size(special)];
  return fromFloat(dtype == DType::F16 ? roundToHalf(value) : value);
}

Word makeRandom(DType dtype, Random &random) {
  uint64_t drawn = random();
  if (dtype == DType::Bool)
    return drawn % 2;
  if (dtype == DType::I32) // of any magnitude
    return static_cast<Word>(static_cast<int32_t>(drawn) >> (drawn >> 40) % 32);
  float value = std::ldexp(static_cast<float>(static_cast<int32_t>(drawn)),
                           static_cast<int>(drawn >> 40) % 24 - 40);
  return fromFloat(dtype == DType::F16 ? roundToHalf(value) : value);
}

void fill(ArrayMap &arrays, unsigned round) {
  Random random(round);
  for (auto &[slot, array] : arrays) {
    array.data.resize(array.shape[0]);
    for (Word &word : array.data)
      word = round == 0   ? makeOrdinary(array.dtype, random)
             : round == 1 ? makeSpecial(array.dtype, random)
                          : makeRandom(array.dtype, random);
    // What is an index, or decides, is most often a small number.
    if (round > 1 && round % 2 == 0 && array.dtype == DType::I32)
      for (Word &word : array.data)
        word = (word & 0xffff) % std::max<uint64_t>(array.data.size(), 4);
  }
}

//===----------------------------------------------------------------------===//
// The comparison
//===----------------------------------------------------------------------===//

class Comparer {
public:
  Comparer(const CompareOptions &options) : options(options) {}
  Comparison run(ProgramOp before, ProgramOp after);
  Comparison run(ProgramOp before, PlanOp after);

private:
  bool prepare(Runnable &runnable, ProgramOp program, const Loops *loops);
  void compareRounds();

  /// Whether the programs differ on `inputs`, and how.
  bool differs(const ArrayMap &inputs, Comparison *report = nullptr);
  void shrink(ArrayMap &inputs);
  bool tryInputs(ArrayMap &inputs, ArrayMap &candidate);
  Operation *findStore(int64_t slot);
  std::string describe(int64_t slot) const;

  CompareOptions options;
  Comparison result;
  Runnable old, young;
  int64_t outputSlot = 0;
  int attempts = 0;
};

/// The STORE of the loops that `after` is, if it is, that writes to a slot.
Operation *Comparer::findStore(int64_t slot) {
  if (!young.getProgram())
    return nullptr;
  for (Operation &op : young.getProgram().getBodyBlock()) {
    auto store = dyn_cast<StoreOp>(op);
    if (!store)
      continue;
    Value memory = store.getPointer();
    while (Operation *source = memory.getDefiningOp()) {
      auto buffer = dyn_cast<BufferOp>(source);
      if (buffer && buffer.getSlot() == slot)
        return store;
      if (!isa<IndexOp, AfterOp>(source))
        break;
      memory = source->getOperand(0);
    }
  }
  return nullptr;
}

/// `the output`, `output 1` of several, `BUFFER 0`.
std::string Comparer::describe(int64_t slot) const {
  if (slot == expressionSlot)
    return "the output";
  if (!old.isShaped() || slot < outputSlot)
    return "BUFFER " + std::to_string(slot);
  return isa<VoidType>(old.getProgram().getRoot().getType())
             ? "output " + std::to_string(slot - outputSlot)
             : "the output";
}

std::string formatPosition(int64_t offset, llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<int64_t> position(shape.size());
  for (size_t axis = shape.size(); axis-- > 0;) {
    position[axis] = offset % shape[axis];
    offset /= shape[axis];
  }
  return formatShape(position);
}

bool Comparer::differs(const ArrayMap &inputs, Comparison *report) {
  std::optional<ArrayMap> want = old.run(inputs, outputSlot);
  if (!want)
    return false;
  std::optional<ArrayMap> have = young.run(inputs, outputSlot);
  if (!have) {
    if (report)
      report->message = "it fails, and did not before: " + young.reason;
    return true;
  }
  bool both = old.isShaped() == young.isShaped();
  for (auto &[slot, a] : *want) {
    auto it = have->find(slot);
    if (it == have->end())
      continue;
    const Array &b = it->second;
    std::string where = describe(slot);
    llvm::SmallVector<int64_t> shape(a.shape);
    if (slot == expressionSlot) {
      shape.clear();
      for (auto &[idx, range] : Loops(old.getLoops()))
        shape.push_back(static_cast<int32_t>(
            getWord(range.getEnd().getDefiningOp<ConstOp>().getValue())));
    }
    if (a.dtype != b.dtype || a.data.size() != b.data.size() ||
        (both && a.shape != b.shape)) {
      if (report)
        report->message = where + " is " + getName(b.dtype).str() +
                          formatShape(b.shape) + ", was " +
                          getName(a.dtype).str() + formatShape(a.shape);
      return true;
    }
    for (size_t i = 0; i < a.data.size(); ++i) {
      if (isSame(a.dtype, a.data[i], b.data[i]))
        continue;
      if (report) {
        report->message = "element " + formatPosition(i, shape) + " of " +
                          where + " is " + format(a.dtype, b.data[i]) +
                          ", was " + format(a.dtype, a.data[i]);
        report->op = young.isShaped() || slot == expressionSlot
                         ? young.getProgram().getRoot().getDefiningOp()
                         : findStore(slot);
      }
      return true;
    }
  }
  return false;
}

/// Takes `candidate` for `inputs` if it shows a difference too.
bool Comparer::tryInputs(ArrayMap &inputs, ArrayMap &candidate) {
  if (--attempts < 0 || !differs(candidate))
    return false;
  inputs = candidate;
  return true;
}

/// Delta debugging after Zeller and Hildebrandt, "Simplifying and isolating
/// failure-inducing input" (2002), with zeros for what is taken away.
void Comparer::shrink(ArrayMap &inputs) {
  attempts = 2000;
  for (auto &[slot, unused] : ArrayMap(inputs)) {
    size_t size = inputs[slot].data.size();
    for (size_t piece = size; piece > 0 && attempts > 0; piece /= 2) {
      for (size_t begin = 0; begin < size && attempts > 0; begin += piece) {
        auto first = inputs[slot].data.begin() + begin;
        auto last = first + std::min(piece, size - begin);
        if (std::all_of(first, last, [](Word word) { return word == 0; }))
          continue;
        ArrayMap candidate = inputs;
        auto at = candidate[slot].data.begin() + begin;
        std::fill(at, at + (last - first), 0);
        tryInputs(inputs, candidate);
      }
    }
  }
  // What is left is made simpler number by number.
  for (auto &[slot, unused] : ArrayMap(inputs)) {
    DType dtype = inputs[slot].dtype;
    for (size_t i = 0; i < inputs[slot].data.size() && attempts > 0; ++i) {
      Word word = inputs[slot].data[i];
      if (word == 0 || dtype == DType::Bool)
        continue;
      llvm::SmallVector<Word> simpler;
      if (dtype == DType::I32) {
        simpler = {1, Word(-1)};
        for (int shift = 16; shift > 0; shift /= 2)
          simpler.push_back(
              static_cast<Word>(static_cast<int32_t>(word) >> shift));
      } else {
        simpler = {fromFloat(1), fromFloat(-1), fromFloat(0.5f),
                   fromFloat(std::trunc(toFloat(word)))};
      }
      for (Word other : simpler) {
        if (other == word)
          break;
        ArrayMap candidate = inputs;
        candidate[slot].data[i] = other;
        if (tryInputs(inputs, candidate))
          break;
      }
    }
  }
}

bool Comparer::prepare(Runnable &runnable, ProgramOp program,
                       const Loops *loops) {
  if (runnable.prepare(program, options, loops))
    return true;
  result.outcome = Comparison::Skipped;
  result.message = runnable.reason;
  return false;
}

Comparison Comparer::run(ProgramOp before, PlanOp after) {
  outputSlot = getOutputSlot(before.getRoot());
  young.prepare(after);
  if (prepare(old, before, nullptr))
    compareRounds();
  return std::move(result);
}

Comparison Comparer::run(ProgramOp before, ProgramOp after) {
  outputSlot = getOutputSlot(before.getRoot());
  if (!prepare(old, before, nullptr) || !prepare(young, after, &old.getLoops()))
    return std::move(result);
  if ((!old.isShaped() && young.isShaped()) ||
      old.isExpression() != young.isExpression()) {
    result.outcome = Comparison::Skipped;
    result.message = "it became a program of another kind";
    return std::move(result);
  }
  compareRounds();
  return std::move(result);
}

/// Several sets of inputs, until one shows a difference.
void Comparer::compareRounds() {
  ArrayMap inputs;
  old.collectBuffers(inputs);
  young.collectBuffers(inputs);
  unsigned compared = 0;
  for (unsigned round = 0; round < options.rounds; ++round) {
    fill(inputs, round);
    if (differs(inputs)) {
      shrink(inputs);
      result.outcome = Comparison::Different;
      differs(inputs, &result);
      result.inputs = inputs;
      // What it only writes is no input.
      if (old.isShaped())
        result.inputs.erase(result.inputs.lower_bound(outputSlot),
                            result.inputs.end());
      result.inputs.erase(expressionSlot);
      return;
    }
    compared += old.reason.empty();
    if (inputs.empty())
      break; // every round is the same
  }
  if (compared == 0) {
    result.outcome = Comparison::Skipped;
    result.message = "it fails on every input: " + old.reason;
  }
}

} // namespace

Comparison uop::compare(ProgramOp before, ProgramOp after,
                        const CompareOptions &options) {
  return Comparer(options).run(before, after);
}

Comparison uop::compare(ProgramOp before, PlanOp after,
                        const CompareOptions &options) {
  return Comparer(options).run(before, after);
}

std::string uop::formatInputs(const ArrayMap &inputs) {
  std::string text;
  int shown = 0;
  bool isAll = true;
  for (const auto &[slot, array] : inputs)
    for (size_t i = 0; i < array.data.size(); ++i) {
      if (array.data[i] == 0)
        continue;
      isAll = ++shown <= 8;
      if (!isAll)
        break;
      text += "BUFFER " + std::to_string(slot) + "[" + std::to_string(i) +
              "] = " + format(array.dtype, array.data[i]) + ", ";
    }
  if (!isAll)
    return text + "and others";
  return text.empty() ? "zeros" : text + "all else 0";
}
