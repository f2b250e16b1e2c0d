//===- Buffer.cpp - host memory of kernels --------------------------------===//

#include "Uop/Runtime/Buffer.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"

#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <utility>

using namespace llvm;

namespace uop::runtime {

namespace {

/// From here on blocks are mappings of their own: they come zeroed, go back to
/// the system when freed, and may be backed by huge pages.
constexpr uint64_t mappingThreshold = uint64_t(1) << 20;
constexpr uint64_t hugePage = uint64_t(2) << 20;

Error outOfMemory(uint64_t bytes) {
  return createStringError("out of memory: can't allocate a buffer of %llu "
                           "bytes",
                           static_cast<unsigned long long>(bytes));
}

} // namespace

Expected<Buffer> Buffer::allocate(uint64_t bytes, Fill fill) {
  if (bytes > uint64_t(PTRDIFF_MAX) - hugePage)
    return outOfMemory(bytes);
  Buffer buffer;
  buffer.bytes = bytes;
  if (bytes >= mappingThreshold) {
    uint64_t length = alignTo(bytes, 4096);
    void *start = mmap(nullptr, length, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED)
      return outOfMemory(bytes);
    // Only advice: a kernel without huge pages says no, and that is fine.
    if (bytes >= 2 * hugePage)
      (void)madvise(start, length, MADV_HUGEPAGE);
    buffer.start = start;
    buffer.mapped = length;
    return buffer;
  }
  uint64_t length = alignTo(std::max<uint64_t>(bytes, 1), alignment);
  buffer.start = std::aligned_alloc(alignment, length);
  if (!buffer.start)
    return outOfMemory(bytes);
  if (fill == Fill::Zero)
    std::memset(buffer.start, 0, length);
  return buffer;
}

Buffer::Buffer(Buffer &&other) noexcept
    : start(std::exchange(other.start, nullptr)),
      bytes(std::exchange(other.bytes, 0)),
      mapped(std::exchange(other.mapped, 0)) {}

Buffer &Buffer::operator=(Buffer &&other) noexcept {
  if (this == &other)
    return *this;
  release();
  start = std::exchange(other.start, nullptr);
  bytes = std::exchange(other.bytes, 0);
  mapped = std::exchange(other.mapped, 0);
  return *this;
}

Buffer::~Buffer() { release(); }

void Buffer::release() {
  if (mapped)
    munmap(start, mapped);
  else
    std::free(start);
}

Error checkDisjoint(ArrayRef<NamedMemory> memory) {
  struct Span {
    uintptr_t begin, end;
    const NamedMemory *memory;
  };
  SmallVector<Span, 16> spans;
  for (const NamedMemory &one : memory) {
    uintptr_t begin = reinterpret_cast<uintptr_t>(one.data);
    if (one.bytes)
      spans.push_back({begin, begin + one.bytes, &one});
  }
  llvm::sort(spans, [](const Span &a, const Span &b) {
    return std::pair(a.begin, a.memory) < std::pair(b.begin, b.memory);
  });

  // Of the spans that begin at or before this one, the span that reaches
  // furthest is enough to know: one of all, one of those that are written.
  const Span *furthest = nullptr, *furthestWritten = nullptr;
  for (const Span &span : spans) {
    const Span *rival = span.memory->written ? furthest : furthestWritten;
    if (rival && rival->end > span.begin) {
      const NamedMemory *first = rival->memory, *second = span.memory;
      if (first > second)
        std::swap(first, second);
      const NamedMemory *stored = first->written ? first : second;
      return createStringError(
          "the buffers of " + first->getName() + " and " + second->getName() +
          " overlap, and " + stored->getName() +
          " is written: give each its own memory");
    }
    if (!furthest || span.end > furthest->end)
      furthest = &span;
    if (span.memory->written &&
        (!furthestWritten || span.end > furthestWritten->end))
      furthestWritten = &span;
  }
  return Error::success();
}

} // namespace uop::runtime
