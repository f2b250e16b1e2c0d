//===- PlanInterpreter.cpp - a plan through the linear interpreter --------===//
//
// An oracle for compiled plans: the same arguments to evaluatePlan, without C.
//
//===----------------------------------------------------------------------===//

#include "Diagnostics.h"
#include "PlanLayout.h"
#include "Uop/Runtime/HostArray.h"
#include "Uop/Transforms/EvaluatePlan.h"

using namespace uop;
using namespace uop::runtime;

/// The contents of a parameter's memory.
static Array readArray(const void *data, const PlanParam &param) {
  Array array{param.dtype, {param.size}, {}};
  array.data.resize(param.size);
  for (int64_t i = 0; i < param.size; ++i)
    array.data[i] = getElement(data, param.dtype, i);
  return array;
}

struct InterpretedPlan::State {
  llvm::Error check();

  PlanOp plan;
  PlanLayout layout;
};

/// The same checks of every launch as before a plan is compiled.
llvm::Error InterpretedPlan::State::check() {
  std::vector<KernelSignature> signatures;
  for (ProgramOp kernel : layout.kernels) {
    llvm::Expected<mlir::OwningOpRef<ProgramOp>> linear = lowerKernel(kernel);
    if (!linear)
      return linear.takeError();
    signatures.push_back(getSignature(**linear));
  }
  llvm::SmallVector<Place> places;
  for (const PlanLayout::Launch &launch : layout.launches)
    if (llvm::Error error =
            layout.bind(launch, signatures[launch.kernel], places))
      return error;
  return llvm::Error::success();
}

InterpretedPlan::InterpretedPlan(std::unique_ptr<State> state)
    : state(std::move(state)) {}
InterpretedPlan::InterpretedPlan(InterpretedPlan &&) noexcept = default;
InterpretedPlan::~InterpretedPlan() = default;

llvm::Expected<InterpretedPlan> InterpretedPlan::get(PlanOp plan) {
  llvm::Expected<PlanLayout> layout = PlanLayout::get(plan);
  if (!layout)
    return layout.takeError();
  auto state = std::make_unique<State>();
  state->plan = plan;
  state->layout = std::move(*layout);
  if (llvm::Error error = state->check())
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
  ArrayMap inputs;
  for (auto [param, data] : llvm::zip(params(), bases))
    if (param.role == Role::Input)
      inputs[param.number] = readArray(data, param);
  std::vector<Array> outputs;
  if (llvm::Error error = collectErrors(state->plan.getContext(), [&] {
        mlir::FailureOr<std::vector<Array>> values =
            evaluatePlan(state->plan, inputs);
        if (succeeded(values))
          outputs = std::move(*values);
        return mlir::LogicalResult(values);
      }))
    return error;
  for (auto [param, data] : llvm::zip(params(), bases)) {
    const Array &array = param.role == Role::Input ? inputs[param.number]
                                                   : outputs[param.number];
    if (param.role == Role::Output || param.written)
      for (int64_t i = 0; i < param.size; ++i)
        setElement(data, param.dtype, i, array.data[i]);
  }
  return llvm::Error::success();
}
