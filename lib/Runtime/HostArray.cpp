//===- HostArray.cpp - elements in host memory ----------------------------===//
//
// The host's layout of every dtype, in one place.
//
//===----------------------------------------------------------------------===//

#include "Uop/Runtime/HostArray.h"
#include "Uop/Runtime/Npy.h"
#include "Uop/Target/Uir.h"
#include <cstring>

using namespace uop;
using namespace uop::runtime;

static llvm::Error makeError(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

Word uop::runtime::getElement(const void *data, DType dtype, int64_t i) {
  switch (dtype) {
  case DType::Bool:
    return static_cast<const uint8_t *>(data)[i] != 0;
  case DType::F16:
    return fromFloat(fromHalfBits(static_cast<const uint16_t *>(data)[i]));
  default:
    return static_cast<const uint32_t *>(data)[i];
  }
}

void uop::runtime::setElement(void *data, DType dtype, int64_t i,
                              Word word) {
  switch (dtype) {
  case DType::Bool:
    static_cast<uint8_t *>(data)[i] = word != 0;
    break;
  case DType::F16:
    static_cast<uint16_t *>(data)[i] = toHalfBits(toFloat(word));
    break;
  default:
    static_cast<uint32_t *>(data)[i] = word;
  }
}

llvm::Expected<Fill> uop::runtime::parseFill(llvm::StringRef text) {
  if (text == "iota")
    return Fill{Fill::Iota, 0};
  if (text == "ones")
    return Fill{Fill::Ones, 0};
  Fill how{Fill::Random, 0};
  if (text.consume_front("random:") && !text.getAsInteger(10, how.seed))
    return how;
  return makeError("--fill takes iota, ones or random:SEED");
}

/// SplitMix64 (Steele, Lea and Flood, 2014).
static uint64_t nextRandom(uint64_t &state) {
  uint64_t z = state += 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

void uop::runtime::fill(Buffer &buffer, const KernelParam &param, Fill how) {
  uint64_t state = how.seed ^ (static_cast<uint64_t>(param.slot) << 32);
  bool floating = isFloat(param.dtype);
  for (int64_t i = 0; i < param.size; ++i) {
    double value = how.kind == Fill::Iota ? static_cast<double>(i) : 1;
    if (how.kind == Fill::Random) {
      uint64_t bits = nextRandom(state) >> 11; // 53 of them
      value = floating ? static_cast<double>(bits) * 0x1p-52 - 1
              : param.dtype == DType::Bool
                  ? static_cast<double>(bits & 1)
                  : static_cast<double>(bits % 201) - 100;
    }
    setElement(buffer.data(), param.dtype, i,
               floating ? fromFloat(static_cast<float>(value))
                        : static_cast<Word>(static_cast<int64_t>(value)));
  }
}

llvm::Expected<Buffer> uop::runtime::readBuffer(llvm::StringRef path,
                                                const KernelParam &param) {
  llvm::Expected<NpyArray> array = readNpy(path);
  if (!array)
    return array.takeError();
  if (array->dtype != param.dtype)
    return makeError(path + ": slot " + llvm::Twine(param.slot) + " takes " +
                     getName(param.dtype) + ", the file holds " +
                     getName(array->dtype));
  std::optional<int64_t> count = getNumElements(array->shape);
  if (count != param.size)
    return makeError(path + ": slot " + llvm::Twine(param.slot) + " takes " +
                     llvm::Twine(param.size) + " elements, the file holds " +
                     formatShape(array->shape));
  llvm::Expected<Buffer> buffer = Buffer::allocate(array->data.size());
  if (!buffer)
    return buffer.takeError();
  if (!array->data.empty())
    std::memcpy(buffer->data(), array->data.data(), array->data.size());
  return buffer;
}

Array uop::runtime::toArray(const Buffer &buffer, DType dtype,
                            llvm::ArrayRef<int64_t> shape) {
  Array array{dtype, llvm::SmallVector<int64_t>(shape), {}};
  array.data.resize(*getNumElements(shape));
  for (size_t i = 0; i < array.data.size(); ++i)
    array.data[i] = getElement(buffer.data(), dtype, i);
  return array;
}

llvm::Expected<Buffer> uop::runtime::toBuffer(const Array &array) {
  llvm::Expected<Buffer> buffer =
      Buffer::allocate(array.data.size() * getByteWidth(array.dtype));
  if (!buffer)
    return buffer.takeError();
  for (size_t i = 0; i < array.data.size(); ++i)
    setElement(buffer->data(), array.dtype, i, array.data[i]);
  return buffer;
}

void uop::runtime::printNested(llvm::raw_ostream &os, const void *data,
                               DType dtype,
                               llvm::ArrayRef<int64_t> shape) {
  constexpr int64_t most = 1000, edge = 3;
  if (shape.empty()) {
    os << formatLiteral(dtype, getElement(data, dtype, 0));
    return;
  }
  // Empty axes still print their brackets: they count as one.
  double elements = 1;
  for (int64_t size : shape)
    elements *= std::max<int64_t>(size, 1);
  bool abbreviate = elements > most;
  llvm::SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t axis = shape.size() - 1; axis-- > 0;)
    strides[axis] = strides[axis + 1] * shape[axis + 1];
  // The list being printed on each axis: where it starts, what comes next.
  llvm::SmallVector<std::pair<int64_t, int64_t>> lists{{0, 0}};
  os << "[";
  while (!lists.empty()) {
    size_t axis = lists.size() - 1;
    auto &[start, next] = lists.back();
    if (next == shape[axis]) {
      os << "]";
      lists.pop_back();
      continue;
    }
    if (next > 0)
      os << ", ";
    if (abbreviate && shape[axis] > 2 * edge && next == edge) {
      os << "...";
      next = shape[axis] - edge;
      continue;
    }
    int64_t offset = start + next++ * strides[axis];
    if (axis + 1 == shape.size()) {
      os << formatLiteral(dtype, getElement(data, dtype, offset));
    } else {
      os << "[";
      lists.push_back({offset, 0});
    }
  }
}
