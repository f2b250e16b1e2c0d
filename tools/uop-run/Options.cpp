//===- Options.cpp - the command line of uop-run --------------------------===//
//
// LLVM's option tables rather than its global options: those of the libraries in
// this process would stand beside ours.
//
//===----------------------------------------------------------------------===//

#include "Options.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Option/OptTable.h"

using namespace uop::runtime;
using llvm::StringRef;
using namespace llvm::opt;

namespace {

#define OPTTABLE_STR_TABLE_CODE
#include "Opts.inc"
#undef OPTTABLE_STR_TABLE_CODE

enum ID {
  OPT_INVALID = 0,
#define OPTION(...) LLVM_MAKE_OPT_ID(__VA_ARGS__),
#include "Opts.inc"
#undef OPTION
};

#define OPTTABLE_PREFIXES_TABLE_CODE
#include "Opts.inc"
#undef OPTTABLE_PREFIXES_TABLE_CODE

constexpr OptTable::Info infos[] = {
#define OPTION(...) LLVM_CONSTRUCT_OPT_INFO(__VA_ARGS__),
#include "Opts.inc"
#undef OPTION
};

struct Table : GenericOptTable {
  Table() : GenericOptTable(OptionStrTable, OptionPrefixesTable, infos) {}
};

llvm::Error makeError(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

/// Splits `SLOT=FILE`, with `prefix` in front; false when SLOT is no number.
bool splitSlot(StringRef text, StringRef prefix, int64_t &slot,
               StringRef &file) {
  StringRef left;
  std::tie(left, file) = text.split('=');
  return left.consume_front(prefix) && !file.empty() && !left.getAsInteger(10, slot) && slot >= 0;
}

llvm::Error addFiles(const InputArgList &args, Options &options) {
  for (const std::string &text : args.getAllArgValues(OPT_input_EQ)) {
    int64_t slot;
    StringRef file;
    if (!splitSlot(text, "", slot, file))
      return makeError("--input takes SLOT=FILE.npy, got '" + text + "'");
    if (!options.inputs.try_emplace(slot, file).second)
      return makeError("--input gives slot " + llvm::Twine(slot) + " twice");
  }
  llvm::StringSet<> outputFiles;
  for (const std::string &text : args.getAllArgValues(OPT_output_EQ)) {
    int64_t slot;
    StringRef file;
    bool fresh;
    if (text.empty())
      return makeError("--output takes [SLOT=]FILE.npy, got ''");
    if (splitSlot(text, "", slot, file)) {
      fresh = options.outputs.try_emplace(slot, file).second;
    } else if (splitSlot(text, "out", slot, file)) {
      fresh = options.numberedOutputs.try_emplace(slot, file).second;
    } else {
      fresh = options.valueOutput.empty();
      file = options.valueOutput = text;
    }
    if (!fresh || !outputFiles.insert(file).second)
      return makeError("--output names one thing twice: '" + text + "'");
  }
  return llvm::Error::success();
}

} // namespace

llvm::Expected<std::optional<Options>> parseOptions(int argc, char **argv) {
  Table table;
  unsigned missingIndex, missingCount;
  InputArgList args = table.ParseArgs(
      llvm::ArrayRef<const char *>(argv + 1, argc - 1), missingIndex,
      missingCount);
  if (args.hasArg(OPT_help)) {
    table.printHelp(llvm::outs(), "uop-run [options] FILE",
                    "compile and run a program of UOps");
    return std::nullopt;
  }
  if (args.hasArg(OPT_version)) {
    llvm::outs() << "uop-run " UOP_VERSION " (LLVM " LLVM_VERSION_STRING ")\n";
    return std::nullopt;
  }
  if (missingCount)
    return makeError(StringRef(args.getArgString(missingIndex)) +
                     " takes a value");
  for (const Arg *arg : args.filtered(OPT_UNKNOWN))
    return makeError("unknown option '" + arg->getAsString(args) +
                     "' (--help shows those there are)");

  Options options;
  std::vector<std::string> files = args.getAllArgValues(OPT_INPUT);
  if (files.size() != 1)
    return makeError(files.empty() ? "name a .uir or .mlir file, or - for "
                                     "standard input"
                                   : "one program at a time, got '" +
                                         files[0] + "' and '" + files[1] + "'");
  options.file = files[0];
  options.program = args.getLastArgValue(OPT_program_EQ);
  options.print = args.getLastArgValue(OPT_print_EQ);
  if (args.hasArg(OPT_print_EQ) &&
      !llvm::is_contained({"type", "uir", "mlir", "c"}, options.print))
    return makeError("--print is type, uir, mlir or c, got '" + options.print +
                     "'");
  StringRef backend = args.getLastArgValue(OPT_backend_EQ, "c");
  if (backend != "c" && backend != "interpreter")
    return makeError("--backend is c or interpreter, got '" + backend + "'");
  options.interpreter = backend == "interpreter";
  options.kernelize = args.hasArg(OPT_kernelize);
  options.profile = args.getLastArgValue(OPT_profile_EQ);
  if (args.hasArg(OPT_profile_EQ) && options.profile.empty())
    return makeError("--profile takes FILE.json, got ''");
  options.time = args.hasArg(OPT_time);
  options.strict = args.hasArg(OPT_strict);
  options.locations = args.hasArg(OPT_locations);
  if (args.hasArg(OPT_threads_EQ) &&
      (args.getLastArgValue(OPT_threads_EQ)
           .getAsInteger(10, options.threads) ||
       options.threads == 0 || options.threads > 65536))
    return makeError("--threads takes a number from 1 to 65536, got '" +
                     args.getLastArgValue(OPT_threads_EQ) + "'");
  if (args.hasArg(OPT_fill_EQ)) {
    llvm::Expected<Fill> fill = parseFill(args.getLastArgValue(OPT_fill_EQ));
    if (!fill)
      return fill.takeError();
    options.fill = *fill;
  }
  if (llvm::Error error = addFiles(args, options))
    return std::move(error);
  if (const char *level = std::getenv("DEBUG"))
    StringRef(level).getAsInteger(10, options.debug);
  return options;
}
