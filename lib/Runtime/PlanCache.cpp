//===- PlanCache.cpp - plans by the structure of their graph --------------===//
//
// A graph is written out as words, sources before users; equal graphs give equal
// words, in whatever context they live.
//
//===----------------------------------------------------------------------===//

#include "Uop/Runtime/PlanCache.h"
#include "Diagnostics.h"
#include "Uop/Dialect/Scalar.h"
#include "Uop/Dialect/Typing.h"
#include "Uop/Transforms/Kernelize.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/Support/TimeProfiler.h"
#include <cstdlib>
#include <cstring>
#include <mutex>

using namespace uop;
using namespace uop::runtime;

namespace {

/// Writes a graph, one record for each op: its code, sources and arg. A record
/// starts with what tells where it ends.
class KeyWriter {
public:
  explicit KeyWriter(std::vector<uint64_t> &key) : key(key) {}

  /// False where the graph holds an op that is no UOp.
  bool write(mlir::Value root);
  void write(llvm::StringRef text);

private:
  void write(OpCode code, mlir::Operation *op);
  void write(mlir::Type type);
  void write(mlir::Attribute attr);
  void write(llvm::ArrayRef<int64_t> numbers) {
    key.push_back(numbers.size());
    key.insert(key.end(), numbers.begin(), numbers.end());
  }

  std::vector<uint64_t> &key;
  llvm::SmallDenseMap<mlir::Operation *, unsigned, 64> numbers;
};

void KeyWriter::write(llvm::StringRef text) {
  key.push_back(text.size());
  for (size_t i = 0; i < text.size(); i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, text.data() + i, std::min<size_t>(8, text.size() - i));
    key.push_back(word);
  }
}

void KeyWriter::write(mlir::Type type) {
  key.push_back(uint64_t(getDType(type)) << 8 | uint64_t(getSpace(type)));
  write(getShape(type));
}

void KeyWriter::write(mlir::Attribute attr) {
  if (auto array = llvm::dyn_cast<mlir::DenseI64ArrayAttr>(attr))
    return write(array.asArrayRef());
  if (auto name = llvm::dyn_cast<mlir::StringAttr>(attr))
    return write(name.getValue());
  if (auto kind = llvm::dyn_cast<ReduceKindAttr>(attr))
    return key.push_back(uint64_t(kind.getValue()));
  write(llvm::cast<mlir::TypedAttr>(attr).getType());
  key.push_back(getWord(attr));
}

void KeyWriter::write(OpCode code, mlir::Operation *op) {
  Arg arg = getArg(code, op);
  key.push_back(uint64_t(code) << 32 | op->getNumOperands());
  for (mlir::Value source : op->getOperands())
    key.push_back(numbers.lookup(source.getDefiningOp()));
  key.push_back(arg.number);
  key.push_back(uint64_t(arg.kind) << 2 | uint64_t(bool(arg.type)) << 1 |
                uint64_t(bool(arg.attr)));
  if (arg.type)
    write(arg.type);
  if (arg.attr)
    write(arg.attr);
}

/// Depth first with a stack, like `toposort`, in one walk.
bool KeyWriter::write(mlir::Value root) {
  llvm::SmallVector<std::pair<mlir::Operation *, unsigned>, 32> stack;
  constexpr unsigned entered = ~0u;
  unsigned count = 0;
  auto enter = [&](mlir::Operation *op) {
    if (numbers.try_emplace(op, entered).second)
      stack.push_back({op, 0});
  };
  enter(root.getDefiningOp());
  while (!stack.empty()) {
    auto &[op, next] = stack.back();
    if (next < op->getNumOperands()) {
      enter(op->getOperand(next++).getDefiningOp());
      continue;
    }
    std::optional<OpCode> code = getOpCode(op);
    if (!code)
      return false;
    write(*code, op);
    numbers[op] = count++;
    stack.pop_back();
  }
  return true;
}

} // namespace

struct PlanCache::Entry {
  /// Held while the plan is made.
  std::mutex mutex;
  std::shared_ptr<const Plan> plan;
};

PlanCache::PlanCache()
    : PlanCache([](ProgramOp program, const CompileOptions &options) {
        KernelizeOptions kernelizeOptions;
        kernelizeOptions.reassociate = !options.strict;
        return kernelize(program, kernelizeOptions);
      }) {}

size_t PlanCache::KeyHash::operator()(const Key &key) const {
  return llvm::hash_combine_range(key.begin(), key.end());
}

bool PlanCache::writeKey(ProgramOp program, const CompileOptions &options,
                         Key &key) {
  key.reserve(256);
  KeyWriter writer(key);
  key.push_back(options.strict);
  for (const char *name : {"CC", "CFLAGS", "UOPC_CACHE"}) {
    const char *value = std::getenv(name);
    writer.write(llvm::StringRef(value ? value : ""));
  }
  return writer.write(program.getRoot());
}

/// The entry of this key, a new one if there is none.
std::shared_ptr<PlanCache::Entry> PlanCache::find(const Key &key) {
  {
    std::shared_lock<std::shared_mutex> lock(mutex);
    auto it = entries.find(key);
    if (it != entries.end())
      return it->second;
  }
  std::unique_lock<std::shared_mutex> lock(mutex);
  std::shared_ptr<Entry> &entry = entries[key];
  if (!entry)
    entry = std::make_shared<Entry>();
  return entry;
}

void PlanCache::forget(const Key &key, const std::shared_ptr<Entry> &entry) {
  std::unique_lock<std::shared_mutex> lock(mutex);
  auto it = entries.find(key);
  if (it != entries.end() && it->second == entry)
    entries.erase(it);
}

llvm::Expected<std::shared_ptr<const Plan>>
PlanCache::build(ProgramOp program, const CompileOptions &options) const {
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(program.getLoc());
  auto copy = llvm::cast<ProgramOp>(program->clone());
  module->push_back(copy);
  mlir::FailureOr<PlanOp> planned = mlir::failure();
  {
    llvm::TimeTraceScope scope("plan", program.getSymName());
    if (llvm::Error error = collectErrors(program.getContext(), [&] {
          planned = plan(copy, options);
          return planned;
        }))
      return std::move(error);
  }
  llvm::Expected<Plan> compiled = Plan::compile(*planned, options);
  if (!compiled)
    return compiled.takeError();
  return std::make_shared<const Plan>(std::move(*compiled));
}

llvm::Expected<std::shared_ptr<const Plan>>
PlanCache::get(ProgramOp program, const CompileOptions &options) {
  Key key;
  if (!writeKey(program, options, key))
    return llvm::createStringError("program '" + program.getSymName() +
                                   "' holds an op that is none of uop");
  std::shared_ptr<Entry> entry = find(key);
  std::lock_guard<std::mutex> lock(entry->mutex);
  if (entry->plan)
    return entry->plan;
  llvm::Expected<std::shared_ptr<const Plan>> built = build(program, options);
  if (!built) {
    forget(key, entry);
    return built.takeError();
  }
  return entry->plan = *built;
}

size_t PlanCache::size() const {
  std::shared_lock<std::shared_mutex> lock(mutex);
  return entries.size();
}

void PlanCache::clear() {
  std::unique_lock<std::shared_mutex> lock(mutex);
  entries.clear();
}
