//===- Loader.cpp - object files to callable code -------------------------===//
//
// One ORC session for the life of the process; a dynamic library of its own for
// every object.
//
//===----------------------------------------------------------------------===//

#include "Loader.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h"
#include "llvm/ExecutionEngine/Orc/TaskDispatch.h"
#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/Path.h"

#include <cfenv>
#include <dlfcn.h>
#include <mutex>

using namespace llvm;

namespace uop::runtime {

namespace {

/// None, or not all, of `symbols` were found.
Error missingSymbol(ArrayRef<std::string> symbols) {
  return createStringError("C compiler: the text defines no function '" +
                           join(symbols, "', '") + "'");
}

/// LLVM's OpenMP runtime, loaded once; null with the loader's `message` where
/// there is none.
void *openMP(std::string &message) {
  static std::string problem;
  static void *handle = [] {
    SmallString<128> path(UOP_LLVM_LIBDIR);
    sys::path::append(path, "libomp.so.5");
    // By name too: the folder may be elsewhere on the machine that runs this.
    for (const char *name : {path.c_str(), "libomp.so.5"}) {
      if (void *opened = dlopen(name, RTLD_NOW | RTLD_LOCAL))
        return opened;
      problem += std::string(problem.empty() ? "" : "; ") + dlerror();
    }
    return static_cast<void *>(nullptr);
  }();
  message = problem;
  return handle;
}

/// Links objects into this process. There is one for the life of the process:
/// kernels may outlive every static object.
class Linker {
public:
  static Expected<Linker *> get();

  Expected<LoadedCode> load(std::unique_ptr<MemoryBuffer> object,
                            bool usesThreads, ArrayRef<std::string> symbols);

private:
  Linker(std::unique_ptr<orc::ExecutorProcessControl> control)
      : session(std::move(control)), layer(session) {}
  Error initialize();
  Error provideOpenMP();
  Expected<std::vector<void *>> find(orc::JITDylib &library,
                                     ArrayRef<std::string> symbols);
  void unload(orc::JITDylib &library);

  orc::ExecutionSession session;
  orc::ObjectLinkingLayer layer;
  /// Functions of this process, and of the OpenMP runtime once needed.
  orc::JITDylib *process = nullptr;
  orc::JITDylib *threads = nullptr;
  /// Guards what follows, and makes the messages belong to one load.
  std::mutex mutex;
  std::string messages;
  uint64_t count = 0;
};

Expected<Linker *> Linker::get() {
  static std::mutex creation;
  static Linker *linker = nullptr;
  std::lock_guard<std::mutex> lock(creation);
  if (linker)
    return linker;
  auto control = orc::SelfExecutorProcessControl::Create(
      nullptr, std::make_unique<orc::InPlaceTaskDispatcher>());
  if (!control)
    return control.takeError();
  auto *created = new Linker(std::move(*control));
  if (Error error = created->initialize()) {
    cantFail(created->session.endSession());
    delete created;
    return std::move(error);
  }
  return linker = created;
}

Error Linker::initialize() {
  session.setErrorReporter([this](Error error) {
    messages += (messages.empty() ? "" : "; ") + toString(std::move(error));
  });
  process = &session.createBareJITDylib("process");
  auto own = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess('\0');
  if (!own)
    return own.takeError();
  process->addGenerator(std::move(*own));
  // A host program that doesn't use libm itself may lack it.
  if (void *libm = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL))
    process->addGenerator(std::make_unique<orc::DynamicLibrarySearchGenerator>(
        sys::DynamicLibrary(libm), '\0'));
  return Error::success();
}

Error Linker::provideOpenMP() {
  if (threads)
    return Error::success();
  std::string message;
  void *handle = openMP(message);
  if (!handle)
    return createStringError("the OpenMP runtime can't be loaded: " + message);
  threads = &session.createBareJITDylib("openmp");
  threads->addGenerator(std::make_unique<orc::DynamicLibrarySearchGenerator>(
      sys::DynamicLibrary(handle), '\0'));
  return Error::success();
}

Expected<std::vector<void *>> Linker::find(orc::JITDylib &library,
                                           ArrayRef<std::string> symbols) {
  orc::SymbolLookupSet wanted;
  std::vector<orc::SymbolStringPtr> names;
  for (const std::string &symbol : symbols)
    wanted.add(names.emplace_back(session.intern(symbol)));
  auto found = session.lookup(orc::makeJITDylibSearchOrder({&library}),
                              std::move(wanted));
  if (!found) {
    Error error = found.takeError();
    if (error.isA<orc::SymbolsNotFound>()) {
      consumeError(std::move(error));
      return missingSymbol(symbols);
    }
    std::string text = toString(std::move(error));
    return createStringError("compiled code can't be linked: " +
                             (messages.empty() ? text : messages));
  }
  std::vector<void *> addresses;
  for (const orc::SymbolStringPtr &name : names)
    addresses.push_back((*found)[name].getAddress().toPtr<void *>());
  return addresses;
}

Expected<LoadedCode> Linker::load(std::unique_ptr<MemoryBuffer> object,
                                  bool usesThreads,
                                  ArrayRef<std::string> symbols) {
  std::lock_guard<std::mutex> lock(mutex);
  if (usesThreads)
    if (Error error = provideOpenMP())
      return std::move(error);
  messages.clear();
  orc::JITDylib &library =
      session.createBareJITDylib("kernel." + std::to_string(count++));
  if (usesThreads)
    library.addToLinkOrder(*threads);
  library.addToLinkOrder(*process);
  Error added = layer.add(library, std::move(object));
  Expected<std::vector<void *>> found =
      added ? Expected<std::vector<void *>>(std::move(added))
            : find(library, symbols);
  if (!found) {
    unload(library);
    return found.takeError();
  }
  std::shared_ptr<void> code(&library, [this](void *library) {
    std::lock_guard<std::mutex> lock(mutex);
    unload(*static_cast<orc::JITDylib *>(library));
  });
  return LoadedCode{std::move(code), std::move(*found)};
}

void Linker::unload(orc::JITDylib &library) {
  consumeError(session.removeJITDylib(library));
  session.getSymbolStringPool()->clearDeadEntries();
}

/// Keeps the OpenMP runtime that `library` brought along in this process: its
/// threads outlive the library and would run code that is gone.
void keepOpenMP(void *library) {
  Dl_info info;
  void *function = dlsym(library, "omp_get_max_threads");
  if (function && dladdr(function, &info) && info.dli_fname)
    (void)dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}

} // namespace

Expected<LoadedCode> loadObject(std::unique_ptr<MemoryBuffer> object,
                                bool usesThreads,
                                ArrayRef<std::string> symbols) {
  Expected<Linker *> linker = Linker::get();
  if (!linker)
    return linker.takeError();
  return (*linker)->load(std::move(object), usesThreads, symbols);
}

Expected<LoadedCode> loadShared(const std::string &path, bool usesThreads,
                                ArrayRef<std::string> symbols) {
  // A library linked with -ffast-math switches this thread to flushing
  // denormals while it is loaded.
  std::fenv_t floatingPoint;
  std::fegetenv(&floatingPoint);
  void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  std::fesetenv(&floatingPoint);
  if (!handle)
    return createStringError("compiled code can't be loaded: " +
                             Twine(dlerror()));
  LoadedCode loaded;
  loaded.code = std::shared_ptr<void>(handle, [](void *open) { dlclose(open); });
  if (usesThreads)
    keepOpenMP(handle);
  for (const std::string &symbol : symbols) {
    loaded.addresses.push_back(dlsym(handle, symbol.c_str()));
    if (!loaded.addresses.back())
      return missingSymbol(symbol);
  }
  return loaded;
}

} // namespace uop::runtime
