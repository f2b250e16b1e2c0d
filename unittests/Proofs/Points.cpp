//===- Points.cpp - scalar expressions at points --------------------------===//
//
// A list of instructions per expression over shared unknowns.
//
//===----------------------------------------------------------------------===//

#include "Points.h"
#include "Uop/Graph/Walk.h"
#include "llvm/ADT/Hashing.h"
#include <cmath>
#include <map>
#include <random>

using namespace mlir;
using namespace uop;
using namespace uop::proofs;

namespace {

/// What is unknown: the counter of a loop, or an element of a buffer.
struct Key {
  bool isRange;
  int64_t number; // idx, slot
  int64_t index;
  bool operator<(const Key &o) const {
    return std::tie(isRange, number, index) <
           std::tie(o.isRange, o.number, o.index);
  }
};

class Machine {
public:
  Machine(Value before, Value after, bool approximate)
      : approximate(approximate) {
    roots[0] = add(before);
    roots[1] = add(after);
    dtype = getDType(before.getType());
  }
  PointsResult run(int64_t limit);

private:
  struct Step {
    Operation *op;
    OpCode code;
    DType source, result;
    unsigned sources[3] = {0, 0, 0};
  };
  unsigned add(Value root);
  /// One point; false where the two differ.
  bool evaluate(llvm::function_ref<Word(const Key &, DType, int64_t)> choose);
  std::string describe() const;

  std::vector<Step> steps;
  std::vector<Word> words;
  unsigned roots[2];
  DType dtype;
  bool approximate;
  std::map<Key, std::pair<DType, Word>> point;
};

unsigned Machine::add(Value root) {
  llvm::DenseMap<Value, unsigned> numbers;
  for (Operation *op : toposort(root)) {
    OpCode code = *getOpCode(op);
    Step step{op, code, DType::Void, getDType(op->getResult(0).getType())};
    for (unsigned i = 0, e = std::min(op->getNumOperands(), 3u); i < e; ++i)
      step.sources[i] = numbers[op->getOperand(i)];
    if (op->getNumOperands())
      step.source = getDType(
          op->getOperand(code == OpCode::Where ? 1 : 0).getType());
    numbers[op->getResult(0)] = steps.size();
    steps.push_back(step);
    words.push_back(code == OpCode::Const
                        ? getWord(cast<ConstOp>(op).getValue())
                        : 0);
  }
  return steps.size() - 1;
}

bool Machine::evaluate(
    llvm::function_ref<Word(const Key &, DType, int64_t)> choose) {
  point.clear();
  bool isOutside[2] = {false, false};
  auto get = [&](const Key &key, DType type, int64_t size) {
    auto it = point.find(key);
    if (it == point.end())
      it = point.insert({key, {type, choose(key, type, size)}}).first;
    return it->second.second;
  };
  for (size_t i = 0; i < steps.size(); ++i) {
    const Step &s = steps[i];
    if (isAlu(s.code)) {
      words[i] = evalAlu(s.code, s.source, s.result, words[s.sources[0]],
                         words[s.sources[1]], words[s.sources[2]]);
    } else if (s.code == OpCode::Range) {
      words[i] = get({true, static_cast<int64_t>(cast<RangeOp>(s.op).getIdx()),
                      0},
                     DType::I32, static_cast<int32_t>(words[s.sources[0]]));
    } else if (s.code == OpCode::Index) {
      words[i] = words[s.sources[1]]; // the address is the index
    } else if (s.code == OpCode::Load) {
      auto index = s.op->getOperand(0).getDefiningOp<IndexOp>();
      auto buffer = index.getSource().getDefiningOp<BufferOp>();
      bool isOpen = s.op->getNumOperands() == 1 || words[s.sources[1]];
      int32_t at = words[s.sources[0]];
      int64_t size = getShape(buffer.getType())[0];
      if (isOpen && (at < 0 || at >= size))
        isOutside[i > roots[0]] = true;
      words[i] = isOpen ? get({false, static_cast<int64_t>(buffer.getSlot()), at},
                              s.result, 0)
                        : words[s.sources[2]];
    }
  }
  // Where the expression itself reads outside memory it means nothing.
  if (isOutside[0] || isOutside[1])
    return isOutside[0];
  Word a = words[roots[0]], b = words[roots[1]];
  if (a == b || !isFloat(dtype))
    return a == b;
  float x = toFloat(a), y = toFloat(b);
  return (std::isnan(x) && std::isnan(y)) ||
         (approximate && std::abs(x - y) <= 1e-4f * (1 + std::abs(x)));
}

std::string Machine::describe() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto print = [&](DType type, Word word) {
    if (isFloat(type))
      os << toFloat(word);
    else
      os << static_cast<int32_t>(word);
  };
  llvm::StringRef between = "";
  for (const auto &[key, value] : point) {
    os << between << (key.isRange ? "ridx" : "data") << key.number;
    if (!key.isRange)
      os << '[' << key.index << ']';
    os << '=';
    print(value.first, value.second);
    between = ", ";
  }
  os << ": ";
  print(dtype, words[roots[1]]);
  os << ", was ";
  print(dtype, words[roots[0]]);
  return text;
}

Word makeAny(DType type, uint64_t drawn) {
  if (type == DType::Bool)
    return drawn & 1;
  uint64_t kind = drawn % 4, rest = drawn >> 2;
  if (type == DType::I32) {
    const int32_t special[] = {0,         1,         -1,           2,
                               INT32_MIN, INT32_MAX, INT32_MIN + 1, -2};
    if (kind == 0)
      return static_cast<Word>(special[rest % std::size(special)]);
    if (kind == 1)
      return static_cast<Word>(static_cast<int32_t>(rest % 65) - 32);
    return static_cast<Word>(static_cast<int32_t>(rest) >> (rest >> 32) % 32);
  }
  const float special[] = {0.0f, -0.0f, INFINITY, -INFINITY, NAN,
                           1.0f, -1.0f, 1e-45f,   3.4e38f,   0.5f};
  float value = kind == 0 ? special[rest % std::size(special)]
                : kind == 1
                    ? (static_cast<int32_t>(rest % 33) - 16) / 4.0f
                    : toFloat(static_cast<Word>(rest));
  return fromFloat(type == DType::F16 ? roundToHalf(value) : value);
}

PointsResult Machine::run(int64_t limit) {
  PointsResult result;
  // A first look finds what the unknowns are.
  std::map<Key, int64_t> sizes;
  bool isFinite = true;
  auto collect = [&](const Key &key, DType type, int64_t size) -> Word {
    sizes[key] = key.isRange ? size : type == DType::Bool ? 2 : 0;
    return 0;
  };
  evaluate(collect);
  double points = 1;
  for (auto &[key, size] : sizes) {
    isFinite &= size > 0;
    points *= size;
  }
  // Behind a condition there may be others.
  for (const Step &s : steps)
    isFinite &= s.code != OpCode::Load || s.op->getNumOperands() == 1;
  if (isFinite && points <= static_cast<double>(limit)) {
    result.isExhaustive = true;
    std::map<Key, int64_t> now;
    for (int64_t at = 0; at < static_cast<int64_t>(points); ++at) {
      int64_t left = at;
      for (auto &[key, size] : sizes) {
        now[key] = left % size;
        left /= size;
      }
      ++result.points;
      if (!evaluate([&](const Key &key, DType, int64_t) -> Word {
            auto it = now.find(key);
            return it == now.end() ? 0 : it->second;
          })) {
        result.isSame = false;
        result.counterexample = describe();
        return result;
      }
    }
    return result;
  }
  std::mt19937_64 random(1);
  for (int64_t at = 0; at < limit; ++at) {
    ++result.points;
    if (!evaluate([&](const Key &key, DType type, int64_t size) -> Word {
          uint64_t drawn = random();
          if (!key.isRange)
            return approximate && isFloat(type)
                       ? fromFloat((static_cast<int32_t>(drawn % 16) + 1) /
                                   (drawn & 64 ? 4.0f : -4.0f))
                       : makeAny(type, drawn);
          if (size <= 0)
            return 0;
          return drawn % 4 == 0   ? 0
                 : drawn % 4 == 1 ? size - 1
                                  : (drawn >> 2) % size;
        })) {
      result.isSame = false;
      result.counterexample = describe();
      return result;
    }
  }
  return result;
}

} // namespace

PointsResult proofs::comparePoints(Value before, Value after, int64_t limit,
                                   bool approximate) {
  return Machine(before, after, approximate).run(limit);
}
