//===- PlanLayout.cpp - where a plan's memory is --------------------------===//
//
// Reads a plan once; whatever is wrong with it, or with the arguments of a run, is
// said here.
//
//===----------------------------------------------------------------------===//

#include "PlanLayout.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"

using namespace uop;
using namespace uop::runtime;

static llvm::Error makeError(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

/// The roles as errors call them.
static const char *getRoleName(Role role) {
  return role == Role::Input ? "input" : "output";
}

static std::string getName(Role role, int64_t number) {
  return getRoleName(role) + (" " + std::to_string(number));
}

std::string PlanParam::getName() const { return ::getName(role, number); }

/// `f32 (12,)`.
static std::string describe(DType dtype, int64_t size) {
  return (uop::getName(dtype) + " " + formatShape(size)).str();
}

static std::optional<PlanParam> getParam(mlir::Operation &op) {
  Role role;
  int64_t number;
  if (auto input = llvm::dyn_cast<InputOp>(op)) {
    role = Role::Input;
    number = input.getSlot();
  } else if (auto output = llvm::dyn_cast<OutputOp>(op)) {
    role = Role::Output;
    number = output.getNumber();
  } else {
    return std::nullopt;
  }
  auto type = llvm::cast<MemType>(op.getResult(0).getType());
  return PlanParam{role,
                   number,
                   getDType(type),
                   llvm::SmallVector<int64_t>(type.getShape()),
                   *getNumElements(type.getShape())};
}

llvm::Expected<PlanLayout> PlanLayout::get(PlanOp plan) {
  PlanLayout layout;
  layout.name = plan.getSymName().str();
  layout.arenaSize = plan.getArenaSize();
  for (mlir::Operation &op : plan.getBodyBlock())
    if (std::optional<PlanParam> param = getParam(op))
      layout.params.push_back(std::move(*param));
  auto key = [](Role role, int64_t number) { return std::pair(role, number); };
  llvm::sort(layout.params, [&](const PlanParam &a, const PlanParam &b) {
    return key(a.role, a.number) < key(b.role, b.number);
  });
  std::map<std::pair<Role, int64_t>, unsigned> numbers;
  for (auto [i, param] : llvm::enumerate(layout.params))
    numbers[key(param.role, param.number)] = i;

  mlir::Operation *module = plan->getParentOp();
  if (!module || !module->hasTrait<mlir::OpTrait::SymbolTable>())
    return makeError("plan '" + layout.name + "' is in no module");
  mlir::SymbolTable symbols(module);
  llvm::DenseMap<mlir::Operation *, unsigned> kernelNumbers;
  llvm::DenseMap<mlir::Value, Place> places;
  for (mlir::Operation &op : plan.getBodyBlock()) {
    if (auto launchOp = llvm::dyn_cast<LaunchOp>(op)) {
      auto kernel = symbols.lookup<ProgramOp>(launchOp.getKernel());
      if (!kernel)
        return makeError("plan '" + layout.name +
                         "' launches a kernel that is not there: '" +
                         launchOp.getKernel() + "'");
      auto [it, fresh] =
          kernelNumbers.try_emplace(kernel, layout.kernels.size());
      if (fresh)
        layout.kernels.push_back(kernel);
      Launch launch{it->second, {}};
      for (mlir::Value memory : launchOp.getMemory())
        launch.memory.push_back(places.lookup(memory));
      layout.launches.push_back(std::move(launch));
      continue;
    }
    auto type = llvm::cast<MemType>(op.getResult(0).getType());
    Place place{static_cast<unsigned>(layout.params.size()), 0, getDType(type),
                *getNumElements(type.getShape())};
    if (std::optional<PlanParam> param = getParam(op)) {
      place.base = numbers[key(param->role, param->number)];
    } else if (auto slice = llvm::dyn_cast<SliceOp>(op)) {
      Place source = places.lookup(slice.getSource());
      place.base = source.base;
      place.offset =
          source.offset + slice.getBegin() * getByteWidth(source.dtype);
    } else {
      place.offset = llvm::cast<TempOp>(op).getOffset();
    }
    places[op.getResult(0)] = place;
  }
  return layout;
}

llvm::Error PlanLayout::bind(const Launch &launch,
                             const KernelSignature &signature,
                             llvm::SmallVectorImpl<Place> &found) {
  std::string kernel =
      "kernel '" + kernels[launch.kernel].getSymName().str() + "'";
  /// By base; an offset stands for an address.
  std::map<unsigned, llvm::SmallVector<NamedMemory>> memory;
  for (auto [i, param] : llvm::enumerate(signature.params)) {
    if (param.slot >= static_cast<int64_t>(launch.memory.size()))
      return makeError(kernel + " has a buffer of slot " +
                       llvm::Twine(param.slot) + ", its launch gives " +
                       llvm::Twine(launch.memory.size()) + " arguments");
    const Place &place = launch.memory[param.slot];
    if (place.dtype != param.dtype || place.size != param.size)
      return makeError(kernel + " argument " + llvm::Twine(param.slot) +
                       " is " + describe(place.dtype, place.size) +
                       ", the kernel takes " +
                       describe(param.dtype, param.size));
    found.push_back(place);
    memory[place.base].push_back(
        {"argument", param.slot, reinterpret_cast<const void *>(place.offset),
         place.getByteSize(), signature.written[i]});
    if (place.base == params.size())
      continue;
    params[place.base].written |= signature.written[i];
    params[place.base].read |= signature.read[i];
  }
  for (const auto &[base, named] : memory)
    if (llvm::Error error = checkDisjoint(named))
      return makeError(kernel + ": " + llvm::toString(std::move(error)));
  return llvm::Error::success();
}

/// The number of the param that `argument` is for; the caller's order is a guess.
std::optional<size_t> PlanLayout::find(const Argument &argument,
                                       size_t guess) const {
  auto key = [](const auto &of) { return std::pair(of.role, of.number); };
  if (key(params[guess]) == key(argument))
    return guess;
  auto it = llvm::lower_bound(params, argument, [&](const auto &a,
                                                    const auto &b) {
    return key(a) < key(b);
  });
  if (it == params.end() || key(*it) != key(argument))
    return std::nullopt;
  return it - params.begin();
}

llvm::Error PlanLayout::check(const Argument &argument,
                              const PlanParam &param) const {
  std::string name = param.getName();
  if (argument.dtype != param.dtype || argument.size != param.size)
    return makeError(name + " takes " + describe(param.dtype, param.size) +
                     ", got " + describe(argument.dtype, argument.size));
  if (!argument.data && param.size)
    return makeError(name + " is null");
  if (reinterpret_cast<uintptr_t>(argument.data) % getByteWidth(param.dtype))
    return makeError(name + " is misaligned: its address is no multiple of " +
                     llvm::Twine(getByteWidth(param.dtype)));
  return llvm::Error::success();
}

llvm::Error PlanLayout::resolve(llvm::ArrayRef<Argument> arguments,
                                llvm::SmallVectorImpl<void *> &bases) const {
  if (arguments.size() != params.size())
    return makeError("plan '" + name + "' takes " +
                     llvm::Twine(params.size()) + " arguments, got " +
                     llvm::Twine(arguments.size()));
  llvm::SmallVector<const Argument *, 16> given(params.size());
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    std::optional<size_t> param = find(argument, i);
    if (!param)
      return makeError("plan '" + name + "' takes no " +
                       ::getName(argument.role, argument.number));
    if (given[*param])
      return makeError(params[*param].getName() + " is given twice");
    given[*param] = &argument;
  }
  llvm::SmallVector<NamedMemory, 16> memory;
  for (auto [argument, param] : llvm::zip(given, params)) {
    if (llvm::Error error = check(*argument, param))
      return error;
    bases.push_back(argument->data);
    memory.push_back({getRoleName(param.role), param.number, argument->data,
                      param.getByteSize(),
                      param.written || param.role == Role::Output});
  }
  return checkDisjoint(memory);
}
