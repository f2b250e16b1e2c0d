//===- Encoding.cpp - graphs as bytes -------------------------------------===//
//
// One record for each op, sources before users. What comes first in a record tells
// where it ends.
//
//===----------------------------------------------------------------------===//

#include "Uop/Graph/Encoding.h"
#include "Uop/Dialect/Scalar.h"
#include "Uop/Dialect/Typing.h"
#include "Uop/Graph/Walk.h"

using namespace mlir;
using namespace uop;

namespace {

class Encoder {
public:
  explicit Encoder(std::string &bytes) : bytes(bytes) {}

  bool addGraph(Value root);
  void add(llvm::StringRef text) {
    add(text.size());
    bytes.append(text.begin(), text.end());
  }

private:
  void add(uint64_t word) {
    bytes.append(reinterpret_cast<const char *>(&word), sizeof word);
  }
  void add(llvm::ArrayRef<int64_t> words) {
    add(words.size());
    for (int64_t word : words)
      add(static_cast<uint64_t>(word));
  }
  void add(Type type) {
    add(static_cast<uint64_t>(getDType(type)) << 8 |
        static_cast<uint64_t>(getSpace(type)));
    add(getShape(type));
  }
  void add(Attribute attr);
  void add(OpCode code, Operation *op);

  std::string &bytes;
  llvm::SmallDenseMap<Value, uint64_t, 32> numbers;
};

void Encoder::add(Attribute attr) {
  if (auto array = dyn_cast<DenseI64ArrayAttr>(attr))
    return add(array.asArrayRef());
  if (auto name = dyn_cast<StringAttr>(attr))
    return add(name.getValue());
  if (auto kind = dyn_cast<ReduceKindAttr>(attr))
    return add(static_cast<uint64_t>(kind.getValue()));
  add(cast<TypedAttr>(attr).getType());
  add(getWord(attr));
}

void Encoder::add(OpCode code, Operation *op) {
  Arg arg = getArg(code, op);
  add(static_cast<uint64_t>(code) | uint64_t(op->getNumOperands()) << 32);
  for (Value source : op->getOperands())
    add(numbers.lookup(source));
  add(static_cast<uint64_t>(arg.number));
  add(static_cast<uint64_t>(arg.kind) << 2 | uint64_t(arg.type != nullptr) << 1 |
      uint64_t(arg.attr != nullptr));
  if (arg.type)
    add(arg.type);
  if (arg.attr)
    add(arg.attr);
}

bool Encoder::addGraph(Value root) {
  for (Operation *op : toposort(root)) {
    std::optional<OpCode> code = ::uop::getOpCode(op);
    if (!code)
      return false;
    add(*code, op);
    numbers.try_emplace(op->getResult(0), numbers.size());
  }
  return true;
}

} // namespace

bool uop::encodeGraph(Value root, std::string &bytes) {
  return Encoder(bytes).addGraph(root);
}

void uop::encodeText(llvm::StringRef text, std::string &bytes) {
  Encoder(bytes).add(text);
}
