//===- Compiler.cpp - C text to callable code -----------------------------===//
//
// Chooses flags and compiler, asks the kernel cache, and has the code loaded. A
// batch of functions is cut into translation units, which compile in parallel.
//
//===----------------------------------------------------------------------===//

#include "Uop/Runtime/Compiler.h"

#include "ClangCompiler.h"
#include "ExternalCompiler.h"
#include "Loader.h"
#include "Uop/Runtime/Cache.h"
#include "Uop/Runtime/Stopwatch.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/TimeProfiler.h"
#include "llvm/TargetParser/Host.h"

#include <cstdlib>
#include <mutex>
#include <optional>

using namespace llvm;

namespace uop::runtime {

namespace {

using Flags = std::vector<std::string>;

//===----------------------------------------------------------------------===//
// Flags
//===----------------------------------------------------------------------===//

constexpr const char *defaultTuning[] = {"-O2",
                                         "-march=native",
                                         "-mprefer-vector-width=512",
                                         "-ffp-contract=fast",
                                         "-fassociative-math",
                                         "-fno-signed-zeros",
                                         "-fno-trapping-math"};

/// Takes back every freedom with the values of floating-point arithmetic.
/// -fno-fast-math comes first, for it has a say in what the others set. Traps
/// stay out of it: they change no value, and clang vectorizes nothing that
/// might trap. -frounding-math keeps comparisons and selections as written:
/// without it clang 22 drops the outer maximum of max(max(c, x), c), which is
/// wrong for a NaN and for zeros of two signs.
constexpr const char *strictFlags[] = {
    "-fno-fast-math",       "-ffp-contract=off", "-fno-associative-math",
    "-fno-reciprocal-math", "-fsigned-zeros",    "-fno-trapping-math",
    "-frounding-math"};

/// What C means here, whatever the tuning: wrapping integers, no errno, and
/// libm's own exp2f, log2f and sinf even where the argument is a constant.
constexpr const char *semanticFlags[] = {"-std=c11",
                                         "-fwrapv",
                                         "-fno-math-errno",
                                         "-fno-builtin-exp2f",
                                         "-fno-builtin-log2f",
                                         "-fno-builtin-sinf",
                                         "-fPIC",
                                         "-fno-unwind-tables",
                                         "-fno-asynchronous-unwind-tables",
                                         "-fvisibility=default",
                                         "-w"};

StringRef environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? StringRef(value).trim() : StringRef();
}

/// What calls for flags of its own.
struct Mode {
  bool usesThreads = false;
  bool isBrief = false;

  bool operator==(const Mode &o) const {
    return usesThreads == o.usesThreads && isBrief == o.isBrief;
  }
  /// From 0 on.
  unsigned getNumber() const { return 2 * usesThreads + isBrief; }
};

constexpr Mode modes[] = {
    {false, false}, {false, true}, {true, false}, {true, true}};

/// The flags that every compiler gets, in the order in which they count.
Flags flagsFor(bool strict, Mode mode) {
  Flags flags(std::begin(defaultTuning), std::end(defaultTuning));
  if (mode.isBrief)
    flags.push_back("-fno-unroll-loops");
  if (StringRef tuning = environment("CFLAGS"); !tuning.empty())
    flags = splitOnSpace(tuning);
  // clang lets it win over a later -fwrapv.
  llvm::erase(flags, "-ftrapv");
  if (strict)
    flags.insert(flags.end(), std::begin(strictFlags), std::end(strictFlags));
  flags.insert(flags.end(), std::begin(semanticFlags), std::end(semanticFlags));
  flags.push_back(mode.usesThreads ? "-fopenmp" : "-fno-openmp");
  return flags;
}

/// The processor's name and features: code made for one may not run on
/// another that shares the cache through a network.
std::string describeHost() {
  std::vector<std::string> features;
  for (const auto &feature : sys::getHostCPUFeatures())
    if (feature.second)
      features.push_back(feature.first().str());
  llvm::sort(features);
  return (sys::getHostCPUName() + " " + join(features, ",")).str();
}

//===----------------------------------------------------------------------===//
// One translation unit
//===----------------------------------------------------------------------===//

struct Unit {
  std::string source;
  /// The functions whose addresses are wanted.
  std::vector<std::string> symbols;
  Mode mode;
};

/// The compiler and the flags that the environment asks for, and the cache.
class Toolchain {
public:
  static Expected<Toolchain> find(bool strict);

  /// The name of a unit's code in the cache.
  std::string nameOf(StringRef source, Mode mode) const;

  /// Loads the unit, from the cache where it has it; `fromCache` says so.
  Expected<LoadedCode> load(const Unit &unit, bool &fromCache) const;
  /// Loads code from bytes that the cache holds as `name`.
  Expected<LoadedCode> link(StringRef name, std::unique_ptr<MemoryBuffer> bytes,
                            bool usesThreads,
                            ArrayRef<std::string> symbols) const;

  const Cache &getCache() const { return cache; }

private:
  explicit Toolchain(Cache cache) : cache(std::move(cache)) {}
  Expected<std::unique_ptr<MemoryBuffer>> build(const Unit &unit) const;

  Cache cache;
  std::optional<ExternalCompiler> external;
  /// By mode.
  Flags flags[std::size(modes)];
  /// What decides the code besides text and flags.
  std::string compiler;
};

Expected<Toolchain> Toolchain::find(bool strict) {
  Expected<Cache> cache = Cache::open();
  if (!cache)
    return cache.takeError();
  Toolchain tools(std::move(*cache));
  if (StringRef command = environment("CC"); !command.empty()) {
    Expected<ExternalCompiler> found = ExternalCompiler::find(command);
    if (!found)
      return found.takeError();
    tools.external = std::move(*found);
  }
  for (Mode mode : modes)
    tools.flags[mode.getNumber()] = flagsFor(strict, mode);
  tools.compiler =
      tools.external ? tools.external->identity() : clangIdentity();
  return tools;
}

std::string Toolchain::nameOf(StringRef source, Mode mode) const {
  static const std::string host = describeHost();
  std::string flagText = join(flags[mode.getNumber()], "\n");
  return Cache::digest({source, compiler, flagText, host}) +
         (external ? ".so" : ".o");
}

Expected<std::unique_ptr<MemoryBuffer>>
Toolchain::build(const Unit &unit) const {
  Flags arguments = flags[unit.mode.getNumber()];
  if (external)
    return external->build(unit.source, unit.mode.usesThreads,
                           std::move(arguments));
  arguments.insert(arguments.end(), std::begin(clangHalfFlags),
                   std::end(clangHalfFlags));
  Expected<SmallVector<char, 0>> object =
      compileWithClang(unit.source, arguments);
  if (!object)
    return object.takeError();
  return MemoryBuffer::getMemBufferCopy({object->data(), object->size()});
}

Expected<LoadedCode> Toolchain::link(StringRef name,
                                     std::unique_ptr<MemoryBuffer> bytes,
                                     bool usesThreads,
                                     ArrayRef<std::string> symbols) const {
  TimeTraceScope scope("link");
  return external ? loadShared(cache.pathOf(name), usesThreads, symbols)
                  : loadObject(std::move(bytes), usesThreads, symbols);
}

Expected<LoadedCode> Toolchain::load(const Unit &unit, bool &fromCache) const {
  std::string name = nameOf(unit.source, unit.mode);
  std::unique_ptr<MemoryBuffer> bytes = cache.read(name);
  fromCache = bytes != nullptr;
  if (!bytes) {
    Expected<std::unique_ptr<MemoryBuffer>> built = build(unit);
    if (!built)
      return built.takeError();
    bytes = std::move(*built);
    if (Error error = cache.write(name, bytes->getBuffer()))
      return std::move(error);
  }
  return link(name, std::move(bytes), unit.mode.usesThreads, unit.symbols);
}

//===----------------------------------------------------------------------===//
// Many functions
//===----------------------------------------------------------------------===//

/// A unit costs about as much as two thirds of a small kernel in it: of 500 such
/// kernels, units of one take 2.4 times as long as units of 32, and units of 64 no
/// less.
constexpr size_t maxUnitFunctions = 32;
constexpr size_t maxUnitBytes = 64 * 1024;

/// A batch at work: each function is looked up in the cache under a name of its
/// own. That entry is the code itself, or the name of the entry of the unit that
/// the function was compiled in.
class Batch {
public:
  Batch(const BatchRequest &request, const Toolchain &tools)
      : request(request), tools(tools) {}
  Expected<std::vector<Kernel>> run();

private:
  using Function = BatchRequest::Function;
  using Group = std::vector<size_t>;

  static Mode modeOf(const Function &function) {
    return {function.usesThreads, function.isBrief};
  }
  void findDistinct();
  std::vector<size_t> loadCached();
  bool loadCached(StringRef unit, ArrayRef<size_t> group);
  void cut(ArrayRef<size_t> all, std::vector<Group> &groups) const;
  Error compileGroups(ArrayRef<Group> groups);
  Error compile(ArrayRef<size_t> group);
  Error writeReferences(StringRef unit, ArrayRef<size_t> group) const;
  std::vector<std::string> symbolsOf(ArrayRef<size_t> group) const;
  std::string labelOf(ArrayRef<size_t> group) const;
  std::string textOf(ArrayRef<size_t> group) const;
  void setKernels(ArrayRef<size_t> group, const LoadedCode &loaded,
                  bool fromCache, double milliseconds);

  const BatchRequest &request;
  const Toolchain &tools;
  /// The functions of different symbols, and which of them each function is.
  std::vector<const Function *> functions;
  std::vector<size_t> numbers;
  std::vector<std::string> names;
  std::vector<Kernel> kernels;
  std::mutex mutex;
  size_t done = 0;
};

void Batch::findDistinct() {
  StringMap<size_t> known;
  for (const Function &function : request.functions) {
    auto [it, fresh] = known.try_emplace(function.symbol, functions.size());
    numbers.push_back(it->second);
    if (!fresh)
      continue;
    functions.push_back(&function);
    names.push_back(
        tools.nameOf(request.prelude + function.text, modeOf(function)));
  }
  kernels.resize(functions.size());
}

std::vector<std::string> Batch::symbolsOf(ArrayRef<size_t> group) const {
  std::vector<std::string> symbols;
  for (size_t i : group)
    symbols.push_back(functions[i]->symbol);
  return symbols;
}

std::string Batch::textOf(ArrayRef<size_t> group) const {
  std::string text = request.prelude;
  for (size_t i : group)
    text += functions[i]->text;
  return text;
}

void Batch::setKernels(ArrayRef<size_t> group, const LoadedCode &loaded,
                       bool fromCache, double milliseconds) {
  for (auto [i, address] : llvm::zip(group, loaded.addresses)) {
    kernels[i].address = address;
    kernels[i].code = loaded.code;
    kernels[i].fromCache = fromCache;
    kernels[i].milliseconds = milliseconds / group.size();
  }
}

/// Loads the functions of `group` from the entry `unit`; false where that is
/// gone or does not hold them all.
bool Batch::loadCached(StringRef unit, ArrayRef<size_t> group) {
  Stopwatch stopwatch;
  std::unique_ptr<MemoryBuffer> bytes = tools.getCache().read(unit);
  if (!bytes)
    return false;
  Expected<LoadedCode> loaded =
      tools.link(unit, std::move(bytes), functions[group[0]]->usesThreads,
                 symbolsOf(group));
  if (!loaded) {
    consumeError(loaded.takeError());
    return false;
  }
  setKernels(group, *loaded, /*fromCache=*/true, stopwatch.getMilliseconds());
  return true;
}

/// Loads what the cache has and returns what it lacks.
std::vector<size_t> Batch::loadCached() {
  MapVector<StringRef, Group> units;
  std::vector<std::string> references(functions.size());
  std::vector<size_t> missing;
  for (size_t i = 0; i < functions.size(); ++i) {
    std::unique_ptr<MemoryBuffer> entry = tools.getCache().read(names[i]);
    if (!entry) {
      missing.push_back(i);
      continue;
    }
    StringRef bytes = entry->getBuffer();
    references[i] = bytes.starts_with("\x7f"
                                      "ELF")
                        ? names[i]
                        : bytes.str();
    units[references[i]].push_back(i);
  }
  for (auto &[unit, group] : units)
    if (!loadCached(unit, group))
      missing.insert(missing.end(), group.begin(), group.end());
  llvm::sort(missing);
  return missing;
}

/// Appends runs of `all` to `groups`: of about the same length of text, and one
/// for each core at least.
void Batch::cut(ArrayRef<size_t> all, std::vector<Group> &groups) const {
  size_t length = 0, end = 0, units = 0;
  for (size_t i : all)
    length += functions[i]->text.size();
  size_t wanted = std::max(divideCeil(all.size(), maxUnitFunctions),
                           divideCeil(length, maxUnitBytes));
  wanted = alignTo(wanted, hardware_concurrency().compute_thread_count());
  Group group;
  for (size_t i : all) {
    group.push_back(i);
    end += functions[i]->text.size();
    if (end * wanted < length * (units + 1) && i != all.back())
      continue;
    groups.push_back(std::move(group));
    group.clear();
    units = end * wanted / length;
  }
}

/// A reference is written for each function that has company in its unit.
Error Batch::writeReferences(StringRef unit, ArrayRef<size_t> group) const {
  for (size_t i : group)
    if (names[i] != unit)
      if (Error error = tools.getCache().write(names[i], unit))
        return error;
  return Error::success();
}

Error Batch::compile(ArrayRef<size_t> group) {
  Stopwatch stopwatch;
  Unit unit{textOf(group), symbolsOf(group), modeOf(*functions[group[0]])};
  bool fromCache = false;
  Expected<LoadedCode> loaded = tools.load(unit, fromCache);
  if (!loaded)
    return loaded.takeError();
  if (Error error = writeReferences(
          tools.nameOf(unit.source, unit.mode), group))
    return error;
  std::lock_guard<std::mutex> lock(mutex);
  setKernels(group, *loaded, fromCache, stopwatch.getMilliseconds());
  done += group.size();
  if (request.progress)
    request.progress(done, functions.size());
  return Error::success();
}

/// Compiles each group as a unit, in parallel. The first error counts.
Error Batch::compileGroups(ArrayRef<Group> groups) {
  std::vector<std::string> problems(groups.size());
  bool traced = timeTraceProfilerEnabled();
  auto work = [&](size_t i) {
    if (traced)
      timeTraceProfilerInitialize(/*TimeTraceGranularity=*/0, "uop-compile");
    {
      TimeTraceScope scope("compile", [&] { return labelOf(groups[i]); });
      if (Error error = compile(groups[i]))
        problems[i] = toString(std::move(error));
    }
    if (traced)
      timeTraceProfilerFinishThread();
  };
  ThreadPoolStrategy strategy = hardware_concurrency(groups.size());
  strategy.Limit = true;
  StdThreadPool pool(strategy);
  for (size_t i = 0; i < groups.size(); ++i)
    pool.async(work, i);
  pool.wait();
  for (const std::string &problem : problems)
    if (!problem.empty())
      return createStringError(problem);
  return Error::success();
}

std::string Batch::labelOf(ArrayRef<size_t> group) const {
  std::string label;
  for (size_t i : group)
    label += (label.empty() ? "" : " ") + functions[i]->label;
  return label;
}

Expected<std::vector<Kernel>> Batch::run() {
  findDistinct();
  std::vector<size_t> missing = loadCached();
  done = functions.size() - missing.size();
  std::vector<Group> groups;
  for (Mode mode : modes) {
    Group some;
    llvm::copy_if(missing, std::back_inserter(some), [&](size_t i) {
      return modeOf(*functions[i]) == mode;
    });
    cut(some, groups);
  }
  if (Error error = groups.empty() ? Error::success() : compileGroups(groups))
    return std::move(error);
  std::vector<Kernel> result;
  for (size_t number : numbers)
    result.push_back(kernels[number]);
  return result;
}

} // namespace

Expected<Kernel> compile(const CompileRequest &request) {
  Stopwatch stopwatch;
  Expected<Toolchain> tools = Toolchain::find(request.strict);
  if (!tools)
    return tools.takeError();
  Kernel kernel;
  Expected<LoadedCode> loaded =
      tools->load({request.source, {request.symbol}, {request.usesThreads}},
                  kernel.fromCache);
  if (!loaded)
    return loaded.takeError();
  kernel.code = std::move(loaded->code);
  kernel.address = loaded->addresses[0];
  kernel.milliseconds = stopwatch.getMilliseconds();
  return kernel;
}

Expected<std::vector<Kernel>> compile(const BatchRequest &request) {
  Expected<Toolchain> tools = Toolchain::find(request.strict);
  if (!tools)
    return tools.takeError();
  return Batch(request, *tools).run();
}

} // namespace uop::runtime
