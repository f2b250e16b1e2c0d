//===- Compiler.h - C text to callable code ---------------------*- C++ -*-===//
//
// Turns the C text of a kernel into code that this process can call, through
// the kernel cache. Leans on Cache.h only; knows nothing of the dialect.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_RUNTIME_COMPILER_H
#define UOP_RUNTIME_COMPILER_H

#include "llvm/Support/Error.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace uop::runtime {

/// What to compile, and how.
struct CompileRequest {
  /// A whole C translation unit. In process `<math.h>` and `<stdbool.h>` are
  /// small built-in headers with the single-precision functions only.
  std::string source;
  /// The function whose address is wanted; it must have external linkage.
  std::string symbol;
  /// Exact results: no contraction, no reassociation, signed zeros kept.
  bool strict = false;
  /// The text has OpenMP pragmas that are to be obeyed.
  bool usesThreads = false;
};

/// Functions to compile together, several to a translation unit.
struct BatchRequest {
  struct Function {
    /// What reports call it.
    std::string label;
    /// The function whose address is wanted, and its definition in C; other names
    /// in the text must not clash with those of other functions. Functions of one
    /// symbol are the same.
    std::string symbol, text;
    /// See CompileRequest.
    bool usesThreads = false;
    /// It runs for some microseconds at most: loops stay rolled, which halves the
    /// time of compiling and hardly shows in the time of a run.
    bool isBrief = false;
  };
  /// Stands in front of the functions of every unit.
  std::string prelude;
  std::vector<Function> functions;
  /// See CompileRequest.
  bool strict = false;
  /// Called as functions get compiled, by one thread at a time.
  std::function<void(size_t done, size_t total)> progress;
};

/// A compiled function. Copies share the code; the last one to go frees it.
struct Kernel {
  /// Where the function starts; null in a default-constructed kernel.
  void *address = nullptr;
  /// No compiler ran: the code came from the kernel cache.
  bool fromCache = false;
  /// Wall time of the `compile` call, cache and loading included; in a batch, the
  /// function's share in the time of its translation unit.
  double milliseconds = 0;

  /// The function as a pointer of type `Fn *`.
  template <typename Fn> Fn *as() const {
    return reinterpret_cast<Fn *>(address);
  }

  /// Keeps the code loaded.
  std::shared_ptr<void> code;
};

/// Compiles `request.source` and loads it. Thread safe.
///
/// By default clang runs inside this process (in a child of it when the text
/// is very large) and the object is linked by ORC. Three environment variables
/// are read at every call:
///   CC       a program, with arguments, that builds a shared object instead;
///   CFLAGS   replaces the tuning flags (optimization level, CPU, floating-
///            point freedoms), but never the flags that give C its meaning
///            here, such as -fwrapv; blank means unset;
///   UOPC_CACHE  the folder of the kernel cache, see `Cache::open`.
///
/// Errors: a diagnostic of the compiler (its text is in the message), an
/// unknown flag, a program that is missing, fails or dies, a `symbol` that the
/// text doesn't define, a function that no library defines, a cache folder
/// that can't be used.
llvm::Expected<Kernel> compile(const CompileRequest &request);

/// Compiles all functions, on as many threads as this process may use, and loads
/// them; the result is in the order of the functions. Each is cached on its own:
/// only functions that the cache lacks are compiled. Environment and errors as
/// above.
llvm::Expected<std::vector<Kernel>> compile(const BatchRequest &request);

} // namespace uop::runtime

#endif // UOP_RUNTIME_COMPILER_H
