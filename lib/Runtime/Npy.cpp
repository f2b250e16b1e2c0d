//===- Npy.cpp - numpy's .npy files ---------------------------------------===//
//
// A file is the magic, a version, the length of the header, the header (a
// Python dictionary as text) and the elements.
//
//===----------------------------------------------------------------------===//

#include "Uop/Runtime/Npy.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <cstring>
#include <optional>

using namespace llvm;

namespace uop::runtime {

namespace {

constexpr StringLiteral magic("\x93NUMPY");

/// numpy's own limit on the number of axes is 64; a header with more is junk.
constexpr size_t maxRank = 1024;

Error fileError(StringRef path, const Twine &message) {
  return createStringError("'" + path + "': " + message);
}

/// What the dictionary says.
struct Header {
  std::optional<std::string> descr;
  std::optional<bool> fortranOrder;
  std::optional<SmallVector<int64_t>> shape;
};

/// Reads the dictionary: a Python literal with three keys in any order.
class HeaderParser {
public:
  explicit HeaderParser(StringRef text) : rest(text) {}

  /// What is wrong with the header, or an empty string.
  std::string parse(Header &header);

private:
  void skipSpace() { rest = rest.ltrim(" \t\r\n"); }
  bool consume(StringRef token) {
    skipSpace();
    return rest.consume_front(token);
  }
  bool parseString(std::string &value);
  bool parseBool(bool &value);
  std::string parseShape(SmallVectorImpl<int64_t> &shape);

  StringRef rest;
};

bool HeaderParser::parseString(std::string &value) {
  skipSpace();
  if (rest.empty() || (rest.front() != '\'' && rest.front() != '"'))
    return false;
  size_t end = rest.find(rest.front(), 1);
  if (end == StringRef::npos)
    return false;
  value = rest.slice(1, end).str();
  rest = rest.drop_front(end + 1);
  return true;
}

bool HeaderParser::parseBool(bool &value) {
  value = consume("True");
  return value || consume("False");
}

std::string HeaderParser::parseShape(SmallVectorImpl<int64_t> &shape) {
  if (!consume("("))
    return "the shape isn't a tuple";
  while (!consume(")")) {
    skipSpace();
    StringRef digits = rest.take_while([](char c) { return isDigit(c); });
    if (digits.empty())
      return rest.starts_with("-") ? "the shape has a negative size"
                                   : "the shape isn't a tuple of integers";
    int64_t size;
    if (digits.getAsInteger(10, size))
      return ("the size " + digits.take_front(40) + " is too large").str();
    rest = rest.drop_front(digits.size());
    // Python 2 wrote long integers as 3L.
    rest.consume_front("L");
    if (shape.size() == maxRank)
      return "the shape has too many axes";
    shape.push_back(size);
    if (consume(","))
      continue;
    if (!consume(")"))
      return "the shape isn't a tuple of integers";
    break;
  }
  return "";
}

std::string HeaderParser::parse(Header &header) {
  if (!consume("{"))
    return "the header isn't a dictionary";
  while (!consume("}")) {
    std::string key;
    if (!parseString(key) || !consume(":"))
      return "the header isn't a dictionary with names as keys";
    if (key == "descr" && !header.descr) {
      if (consume("["))
        return "a structured dtype isn't supported (bool, i32, f32 and f16 "
               "are)";
      if (!parseString(header.descr.emplace()))
        return "the header's 'descr' isn't a string";
    } else if (key == "fortran_order" && !header.fortranOrder) {
      if (!parseBool(header.fortranOrder.emplace()))
        return "the header's 'fortran_order' is neither True nor False";
    } else if (key == "shape" && !header.shape) {
      std::string error = parseShape(header.shape.emplace());
      if (!error.empty())
        return error;
    } else {
      return "the header has an unknown or repeated key";
    }
    if (consume(","))
      continue;
    if (!consume("}"))
      return "the header isn't a dictionary";
    break;
  }
  skipSpace();
  if (!rest.empty())
    return "the header has text after its dictionary";
  if (!header.descr || !header.fortranOrder || !header.shape)
    return "the header lacks 'descr', 'fortran_order' or 'shape'";
  return "";
}

/// `<` is little endian, `=` the machine's order (little endian on the
/// machines this runs on), `|` what has no order.
std::optional<DType> dtypeOf(StringRef descr) {
  if (descr == "|b1" || descr == "<b1" || descr == "=b1" || descr == "?")
    return DType::Bool;
  if (!descr.consume_front("<") && !descr.consume_front("="))
    return std::nullopt;
  if (descr == "i4")
    return DType::I32;
  if (descr == "f4")
    return DType::F32;
  if (descr == "f2")
    return DType::F16;
  return std::nullopt;
}

StringRef descrOf(DType dtype) {
  switch (dtype) {
  case DType::Bool:
    return "|b1";
  case DType::I32:
    return "<i4";
  case DType::F32:
    return "<f4";
  case DType::F16:
    return "<f2";
  case DType::Void:
    break;
  }
  llvm_unreachable("not a DType");
}

/// Bytes of an array, or nothing where they don't fit 63 bits or a size is
/// negative. A zero among the sizes makes any others harmless.
std::optional<uint64_t> byteCount(ArrayRef<int64_t> shape, DType dtype) {
  if (llvm::any_of(shape, [](int64_t size) { return size < 0; }))
    return std::nullopt;
  if (llvm::is_contained(shape, 0))
    return 0;
  int64_t count = getByteWidth(dtype);
  for (int64_t size : shape)
    if (MulOverflow(count, size, count))
      return std::nullopt;
  return count;
}

std::string printShape(ArrayRef<int64_t> shape) {
  std::string text;
  raw_string_ostream os(text);
  os << '(';
  llvm::interleaveComma(shape, os);
  os << (shape.size() == 1 ? ",)" : ")");
  return text;
}

/// Copies elements from Fortran order (first axis fastest) to C order. Walks
/// the target in order and keeps the source offset as an odometer.
void transposeToC(ArrayRef<int64_t> shape, size_t width, const uint8_t *from,
                  uint8_t *to, uint64_t bytes) {
  SmallVector<int64_t> strides, position(shape.size(), 0);
  int64_t stride = width;
  for (int64_t size : shape) {
    strides.push_back(stride);
    stride *= size;
  }
  int64_t offset = 0;
  for (uint64_t at = 0; at < bytes; at += width) {
    std::memcpy(to + at, from + offset, width);
    for (size_t axis = shape.size(); axis-- > 0;) {
      offset += strides[axis];
      if (++position[axis] < shape[axis])
        break;
      offset -= strides[axis] * shape[axis];
      position[axis] = 0;
    }
  }
}

/// Splits a file into header and elements.
Error splitFile(StringRef path, StringRef bytes, StringRef &header,
                StringRef &elements) {
  if (!bytes.consume_front(magic))
    return fileError(path, "not an .npy file");
  if (bytes.size() < 2)
    return fileError(path, "truncated in its header");
  unsigned major = static_cast<uint8_t>(bytes[0]);
  unsigned minor = static_cast<uint8_t>(bytes[1]);
  bytes = bytes.drop_front(2);
  if (major < 1 || major > 3 || minor != 0)
    return fileError(path, "version " + Twine(major) + "." + Twine(minor) +
                               " of the .npy format isn't supported (1.0, 2.0 "
                               "and 3.0 are)");
  size_t lengthBytes = major == 1 ? 2 : 4;
  if (bytes.size() < lengthBytes)
    return fileError(path, "truncated in its header");
  size_t length = major == 1 ? support::endian::read16le(bytes.data())
                             : support::endian::read32le(bytes.data());
  bytes = bytes.drop_front(lengthBytes);
  if (bytes.size() < length)
    return fileError(path, "truncated in its header");
  header = bytes.take_front(length);
  elements = bytes.drop_front(length);
  return Error::success();
}

/// Whether the heap can give this much; `std::vector` could only abort.
bool canAllocate(uint64_t bytes) {
  void *probe = std::malloc(bytes ? bytes : 1);
  std::free(probe);
  return probe != nullptr;
}

} // namespace

Expected<NpyArray> readNpy(StringRef path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> file = MemoryBuffer::getFile(
      path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    return fileError(path, "can't be read: " + file.getError().message());
  StringRef text, elements;
  if (Error error = splitFile(path, (*file)->getBuffer(), text, elements))
    return std::move(error);
  Header header;
  if (std::string problem = HeaderParser(text).parse(header); !problem.empty())
    return fileError(path, problem);

  std::optional<DType> dtype = dtypeOf(*header.descr);
  if (!dtype)
    return fileError(path, "dtype '" + StringRef(*header.descr).take_front(40) +
                               "' isn't supported (bool '|b1', i32 '<i4', f32 "
                               "'<f4' and f16 '<f2' are)");
  std::string shapeText = printShape(*header.shape);
  std::optional<uint64_t> bytes = byteCount(*header.shape, *dtype);
  if (!bytes)
    return fileError(path, "shape " + shapeText + " is too large");
  if (elements.size() != *bytes)
    return fileError(path, (elements.size() < *bytes ? "truncated: " : "") +
                               Twine(getName(*dtype)) + " of shape " +
                               shapeText + " takes " + Twine(*bytes) +
                               " bytes, the file has " +
                               Twine(elements.size()));
  if (!canAllocate(*bytes))
    return fileError(path, "out of memory: its elements take " + Twine(*bytes) +
                               " bytes");

  NpyArray array;
  array.dtype = *dtype;
  array.shape = std::move(*header.shape);
  array.data.resize(*bytes);
  if (*bytes) {
    const auto *from = reinterpret_cast<const uint8_t *>(elements.data());
    if (*header.fortranOrder && array.shape.size() > 1)
      transposeToC(array.shape, getByteWidth(*dtype), from, array.data.data(),
                   *bytes);
    else
      std::memcpy(array.data.data(), from, *bytes);
  }
  // numpy takes any byte but 0 as true; C's bool has no such values.
  if (*dtype == DType::Bool)
    for (uint8_t &value : array.data)
      value = value != 0;
  return array;
}

Expected<StagedFile> stageNpy(StringRef path, DType dtype,
                              ArrayRef<int64_t> shape,
                              ArrayRef<uint8_t> data) {
  std::optional<uint64_t> bytes = byteCount(shape, dtype);
  if (!bytes || *bytes != data.size())
    return fileError(path, Twine("can't be written: ") + getName(dtype) +
                               " of shape " + printShape(shape) +
                               " doesn't take " + Twine(data.size()) +
                               " bytes");
  std::string header =
      ("{'descr': '" + descrOf(dtype) +
       "', 'fortran_order': False, 'shape': " + printShape(shape) + ", }")
          .str();
  // The elements start at a multiple of 64 bytes; a newline ends the header.
  size_t prefix = magic.size() + 2 + 2;
  header.append(offsetToAlignment(prefix + header.size() + 1, Align(64)), ' ');
  header += '\n';
  if (header.size() > UINT16_MAX)
    return fileError(path, "can't be written: its shape has too many axes");
  char start[] = {1, 0, static_cast<char>(header.size() & 0xff),
                  static_cast<char>(header.size() >> 8)};
  return StagedFile::write(path, [&](raw_ostream &os) {
    os << magic << StringRef(start, sizeof(start)) << header
       << toStringRef(data);
  });
}

Error writeNpy(StringRef path, DType dtype, ArrayRef<int64_t> shape,
               ArrayRef<uint8_t> data) {
  Expected<StagedFile> staged = stageNpy(path, dtype, shape, data);
  return staged ? staged->commit() : staged.takeError();
}

} // namespace uop::runtime
