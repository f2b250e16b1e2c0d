//===- Buffer.h - host memory of kernels ------------------------*- C++ -*-===//
//
// Aligned memory that kernels read and write, and the check that the memory
// given to one kernel keeps what `restrict` promises.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_RUNTIME_BUFFER_H
#define UOP_RUNTIME_BUFFER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace uop::runtime {

/// Owns a block of host memory that starts at a multiple of `alignment`.
class Buffer {
public:
  /// Bytes; a cache line and the widest vector register.
  static constexpr size_t alignment = 64;

  enum class Fill { Uninitialized, Zero };

  /// Allocates `bytes` bytes, which may be 0. Running out of memory is an
  /// error.
  static llvm::Expected<Buffer> allocate(uint64_t bytes,
                                         Fill fill = Fill::Uninitialized);

  Buffer() = default;
  Buffer(Buffer &&other) noexcept;
  Buffer &operator=(Buffer &&other) noexcept;
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;
  ~Buffer();

  /// Null only in a buffer that was default-constructed or moved from.
  void *data() { return start; }
  const void *data() const { return start; }

  /// In bytes, as asked for.
  uint64_t size() const { return bytes; }

private:
  void release();

  void *start = nullptr;
  uint64_t bytes = 0;
  /// Length of the memory mapping, 0 where the block came from the heap.
  uint64_t mapped = 0;
};

/// Memory given to a kernel or a plan, named by what it is for.
struct NamedMemory {
  /// `slot 0`, `output 2`.
  const char *role = "slot";
  int64_t number = 0;
  const void *data = nullptr;
  uint64_t bytes = 0;
  /// It is stored to.
  bool written = false;

  std::string getName() const { return role + (" " + std::to_string(number)); }
};

/// Kernels take their buffers as `restrict` pointers: an error naming both if two
/// of them share a byte and either is written. Takes time n log n.
llvm::Error checkDisjoint(llvm::ArrayRef<NamedMemory> memory);

} // namespace uop::runtime

#endif // UOP_RUNTIME_BUFFER_H
