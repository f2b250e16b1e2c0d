//===- CompiledBatch.cpp - many kernels in one compilation ----------------===//
//
// One entry point dispatches on the number of the kernel.
//
//===----------------------------------------------------------------------===//

#include "CompiledBatch.h"
#include <cstring>

using namespace mlir;
using namespace uop;
using namespace uop::fuzz;

namespace {

std::vector<uint8_t> pack(const Array &array) {
  unsigned width = getByteWidth(array.dtype);
  // One byte at least, so that there is an address.
  std::vector<uint8_t> bytes(array.data.size() * width + 1);
  for (auto [i, word] : llvm::enumerate(array.data)) {
    uint32_t bits =
        array.dtype == DType::F16 ? toHalfBits(toFloat(word)) : word;
    std::memcpy(&bytes[i * width], &bits, width);
  }
  return bytes;
}

void unpack(const std::vector<uint8_t> &bytes, Array &array) {
  unsigned width = getByteWidth(array.dtype);
  for (auto [i, word] : llvm::enumerate(array.data)) {
    uint32_t bits = 0;
    std::memcpy(&bits, &bytes[i * width], width);
    word = array.dtype == DType::F16 ? fromFloat(fromHalfBits(bits)) : bits;
  }
}

} // namespace

bool CompiledBatch::add(ProgramOp program, ArrayMap arrays) {
  llvm::raw_string_ostream os(text);
  COptions options;
  options.name = "fuzz" + std::to_string(entries.size());
  if (failed(printC(program, os, options)))
    return false;
  entries.push_back({getKernelParams(program), std::move(arrays)});
  return true;
}

bool CompiledBatch::compile(bool strict, std::string &error) {
  runtime::CompileRequest request;
  llvm::raw_string_ostream os(request.source);
  printCPrelude(os);
  os << text << "void fuzz_run(int which, void **data) {\n  switch (which) {\n";
  for (auto [i, entry] : llvm::enumerate(entries)) {
    os << "  case " << i << ": fuzz" << i << "(";
    for (size_t k = 0; k < entry.params.size(); ++k)
      os << (k ? ", " : "") << "data[" << k << "]";
    os << "); break;\n";
  }
  os << "  }\n}\n";
  request.symbol = "fuzz_run";
  request.strict = strict;
  llvm::Expected<runtime::Kernel> compiled = runtime::compile(request);
  if (!compiled) {
    error = llvm::toString(compiled.takeError());
    return false;
  }
  kernel = *compiled;
  return true;
}

ArrayMap CompiledBatch::run(size_t i) const {
  const Entry &entry = entries[i];
  std::vector<std::vector<uint8_t>> memory;
  std::vector<void *> data;
  for (const KernelParam &param : entry.params)
    memory.push_back(pack(entry.arrays.at(param.slot)));
  for (std::vector<uint8_t> &bytes : memory)
    data.push_back(bytes.data());
  kernel.as<void(int, void **)>()(i, data.data());
  ArrayMap result = entry.arrays;
  for (auto [param, bytes] : llvm::zip(entry.params, memory))
    unpack(bytes, result[param.slot]);
  return result;
}
