//===- PlanInterpreter.cpp - a plan through the linear interpreter --------===//
//
// An oracle for compiled plans: the same launches on the same bytes, without C.
//
//===----------------------------------------------------------------------===//

#include "Diagnostics.h"
#include "PlanLayout.h"
#include "Uop/Graph/Interpreter.h"
#include "Uop/Runtime/HostArray.h"
#include <cstring>

using namespace uop;
using namespace uop::runtime;

static Array readArray(const char *data, const Place &place) {
  Array array{place.dtype, {place.size}, {}};
  array.data.resize(place.size);
  for (int64_t i = 0; i < place.size; ++i)
    array.data[i] = getElement(data, place.dtype, i);
  return array;
}

static void writeArray(char *data, const Place &place, const Array &array) {
  for (int64_t i = 0; i < place.size; ++i)
    setElement(data, place.dtype, i, array.data[i]);
}

namespace {

struct Kernel {
  mlir::OwningOpRef<ProgramOp> linear;
  KernelSignature signature;
};

/// The places of a launch are those of its kernel's params.
struct Launch {
  const Kernel *kernel;
  llvm::SmallVector<Place> places;
};

/// Lowers each kernel once and finds the memory of each launch.
class Interpreter {
public:
  explicit Interpreter(PlanLayout layout) : layout(std::move(layout)) {}
  llvm::Error lower();
  llvm::Error run(llvm::ArrayRef<Argument> arguments);

private:
  llvm::Error run(const Launch &launch, llvm::ArrayRef<void *> bases);

  PlanLayout layout;
  std::map<mlir::Operation *, Kernel> kernels;
  std::vector<Launch> launches;
};

llvm::Error Interpreter::lower() {
  for (const PlanLayout::Launch &launch : layout.launches) {
    auto [it, fresh] = kernels.try_emplace(launch.kernel);
    Kernel &kernel = it->second;
    if (fresh) {
      llvm::Expected<mlir::OwningOpRef<ProgramOp>> linear =
          lowerKernel(launch.kernel);
      if (!linear)
        return linear.takeError();
      kernel.signature = getSignature(**linear);
      kernel.linear = std::move(*linear);
    }
    launches.push_back({&kernel, {}});
    if (llvm::Error error = layout.bind(launch, kernel.signature,
                                        launches.back().places))
      return error;
  }
  return llvm::Error::success();
}

/// Its buffers as arrays, and back what was stored to.
llvm::Error Interpreter::run(const Launch &launch,
                             llvm::ArrayRef<void *> bases) {
  const KernelSignature &signature = launch.kernel->signature;
  ProgramOp linear = *launch.kernel->linear;
  auto getAddress = [&](const Place &place) {
    return static_cast<char *>(bases[place.base]) + place.offset;
  };
  ArrayMap arrays;
  for (auto [param, place] : llvm::zip(signature.params, launch.places))
    arrays[param.slot] = readArray(getAddress(place), place);
  std::vector<mlir::Operation *> schedule;
  for (mlir::Operation &op : linear.getBodyBlock().without_terminator())
    schedule.push_back(&op);
  if (llvm::Error error = collectErrors(linear.getContext(), [&] {
        return evaluateLinear(schedule, arrays);
      }))
    return error;
  for (size_t i = 0; i < signature.params.size(); ++i)
    if (signature.written[i])
      writeArray(getAddress(launch.places[i]), launch.places[i],
                 arrays[signature.params[i].slot]);
  return llvm::Error::success();
}

llvm::Error Interpreter::run(llvm::ArrayRef<Argument> arguments) {
  llvm::SmallVector<void *> bases;
  if (llvm::Error error = layout.resolve(arguments, bases))
    return error;
  llvm::Expected<Buffer> arena = Buffer::allocate(layout.arenaSize);
  if (!arena)
    return arena.takeError();
  // No kernel may count on what is in a temp before it is stored to.
  std::memset(arena->data(), 0xa5, layout.arenaSize);
  bases.push_back(arena->data());
  for (const Launch &launch : launches)
    if (llvm::Error error = run(launch, bases))
      return error;
  return llvm::Error::success();
}

} // namespace

llvm::Error uop::runtime::interpret(PlanOp plan,
                                    llvm::ArrayRef<Argument> arguments) {
  llvm::Expected<PlanLayout> layout = PlanLayout::get(plan);
  if (!layout)
    return layout.takeError();
  Interpreter interpreter(std::move(*layout));
  if (llvm::Error error = interpreter.lower())
    return error;
  return interpreter.run(arguments);
}
