//===- PlanInterpreter.cpp - a plan through the linear interpreter --------===//
//
// An oracle for compiled plans: the same launches on the same bytes, without C.
//
//===----------------------------------------------------------------------===//

#include "Diagnostics.h"
#include "PlanLayout.h"
#include "Uop/Graph/Interpreter.h"
#include "Uop/Runtime/HostArray.h"
#include "llvm/Support/TimeProfiler.h"
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

struct LoweredKernel {
  mlir::OwningOpRef<ProgramOp> linear;
  KernelSignature signature;
};

/// The places of a launch are those of its kernel's params.
struct Launch {
  unsigned kernel;
  llvm::SmallVector<Place> places;
};

} // namespace

struct InterpretedPlan::State {
  llvm::Error lower();
  llvm::Error run(const Launch &launch, llvm::ArrayRef<void *> bases) const;

  PlanLayout layout;
  std::vector<LoweredKernel> kernels;
  std::vector<Launch> launches;
};

llvm::Error InterpretedPlan::State::lower() {
  for (ProgramOp kernel : layout.kernels) {
    llvm::Expected<mlir::OwningOpRef<ProgramOp>> linear = lowerKernel(kernel);
    if (!linear)
      return linear.takeError();
    KernelSignature signature = getSignature(**linear);
    kernels.push_back({std::move(*linear), std::move(signature)});
  }
  for (const PlanLayout::Launch &launch : layout.launches) {
    launches.push_back({launch.kernel, {}});
    if (llvm::Error error =
            layout.bind(launch, kernels[launch.kernel].signature,
                        launches.back().places))
      return error;
  }
  return llvm::Error::success();
}

/// Its buffers as arrays, and back what was stored to.
llvm::Error InterpretedPlan::State::run(const Launch &launch,
                                        llvm::ArrayRef<void *> bases) const {
  const KernelSignature &signature = kernels[launch.kernel].signature;
  ProgramOp linear = *kernels[launch.kernel].linear;
  llvm::TimeTraceScope scope("launch", linear.getSymName());
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

InterpretedPlan::InterpretedPlan(std::unique_ptr<State> state)
    : state(std::move(state)) {}
InterpretedPlan::InterpretedPlan(InterpretedPlan &&) noexcept = default;
InterpretedPlan::~InterpretedPlan() = default;

llvm::Expected<InterpretedPlan> InterpretedPlan::lower(PlanOp plan) {
  llvm::Expected<PlanLayout> layout = PlanLayout::get(plan);
  if (!layout)
    return layout.takeError();
  auto state = std::make_unique<State>();
  state->layout = std::move(*layout);
  if (llvm::Error error = state->lower())
    return std::move(error);
  return InterpretedPlan(std::move(state));
}

llvm::ArrayRef<PlanParam> InterpretedPlan::params() const {
  return state->layout.params;
}

llvm::Error InterpretedPlan::run(llvm::ArrayRef<Argument> arguments) const {
  llvm::SmallVector<void *> bases;
  if (llvm::Error error = state->layout.resolve(arguments, bases))
    return error;
  uint64_t arenaSize = state->layout.arenaSize;
  llvm::Expected<Buffer> arena = Buffer::allocate(arenaSize);
  if (!arena)
    return arena.takeError();
  // No kernel may count on what is in a temp before it is stored to.
  std::memset(arena->data(), 0xa5, arenaSize);
  bases.push_back(arena->data());
  for (const Launch &launch : state->launches)
    if (llvm::Error error = state->run(launch, bases))
      return error;
  return llvm::Error::success();
}
