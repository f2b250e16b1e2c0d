//===- RuleFile.cpp - rewrite rules from a file ---------------------------===//
//
// Checks every pattern before the PDL interpreter sees it, which trusts what it
// gets, and makes each a rule of its own name. Leans on Pdll for the syntax and
// on RuleNatives for what rules call.
//
//===----------------------------------------------------------------------===//

#include "Uop/Transforms/RuleFile.h"
#include "Pdll.h"
#include "RuleNatives.h"
#include "Uop/Transforms/RuleSets.h"
#include "mlir/Dialect/PDL/IR/PDL.h"
#include "mlir/Dialect/PDL/IR/PDLOps.h"
#include "mlir/Dialect/PDL/IR/PDLTypes.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Rewrite/PatternApplicator.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace uop;

namespace {

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// The letter of a signature (RuleNative) for a value of PDL.
char getLetter(Type type) {
  if (isa<pdl::AttributeType>(type))
    return 'A';
  if (isa<pdl::OperationType>(type))
    return 'O';
  if (isa<pdl::ValueType>(type))
    return 'V';
  if (isa<pdl::TypeType>(type))
    return 'T';
  auto range = cast<pdl::RangeType>(type);
  return isa<pdl::ValueType>(range.getElementType()) ? 'R' : 'S';
}

std::string spell(llvm::StringRef letters) {
  static constexpr std::pair<char, llvm::StringLiteral> names[] = {
      {'A', "Attr"}, {'O', "Op"},         {'V', "Value"},
      {'T', "Type"}, {'R', "ValueRange"}, {'S', "TypeRange"}};
  std::string text;
  for (char letter : letters)
    for (auto [key, name] : names)
      if (key == letter)
        text += (text.empty() ? "" : ", ") + name.str();
  return "(" + text + ")";
}

template <typename OpT> LogicalResult checkNative(OpT op, bool isRewrite) {
  const RuleNative *native = findRuleNative(op.getName(), isRewrite);
  llvm::StringRef kind = isRewrite ? "rewrite" : "constraint";
  if (!native)
    return emitError(op.getLoc())
           << "there is no native " << kind << " '" << op.getName() << "'";
  std::string arguments, results;
  for (Type type : op.getArgs().getTypes())
    arguments += getLetter(type);
  for (Type type : op.getResults().getTypes())
    results += getLetter(type);
  if (arguments == native->arguments && results == native->results)
    return success();
  return emitError(op.getLoc())
         << "native " << kind << " '" << op.getName() << "' is "
         << spell(native->arguments) << " -> " << spell(native->results)
         << ", not " << spell(arguments) << " -> " << spell(results);
}

/// How many sources ops of this name have; nullopt when that varies.
std::optional<size_t> getSourceCount(OperationName name) {
  if (name.hasTrait<OpTrait::ZeroOperands>())
    return 0;
  if (name.hasTrait<OpTrait::OneOperand>())
    return 1;
  if (name.hasTrait<OpTrait::NOperands<2>::Impl>())
    return 2;
  if (name.hasTrait<OpTrait::NOperands<3>::Impl>())
    return 3;
  return std::nullopt;
}

/// Checks a node of a pattern, matched or built, against its op.
LogicalResult checkNode(pdl::OperationOp op, bool isBuilt) {
  std::optional<llvm::StringRef> opName = op.getOpName();
  if (!opName)
    return success(!isBuilt);
  OperationName name(*opName, op.getContext());
  auto *dialect = dyn_cast_or_null<UopDialect>(name.getDialect());
  if (!dialect || !dialect->getOpCode(name))
    return emitError(op.getLoc())
           << "there is no op '" << *opName << "' in uop";
  size_t given = op.getOperandValues().size();
  bool isFixed = llvm::all_of(op.getOperandValues().getTypes(),
                              [](Type type) { return getLetter(type) == 'V'; });
  std::optional<size_t> count = getSourceCount(name);
  if (isFixed && count && given != *count)
    return emitError(op.getLoc())
           << *opName << " has " << *count
           << (*count == 1 ? " source" : " sources") << ", not " << given;
  for (Attribute attr : op.getAttributeValueNames()) {
    llvm::StringRef key = cast<StringAttr>(attr).getValue();
    if (!isNativeProperty(name, key) &&
        !llvm::any_of(name.getRegisteredInfo()->getAttributeNames(),
                      [&](StringAttr known) { return known == key; }))
      return emitError(op.getLoc())
             << *opName << " has no attribute '" << key << "'";
  }
  return success();
}

/// Checks that the driver can run the pattern: its root is where it starts, and
/// what it matches are the root's sources, their sources and so on.
LogicalResult checkPattern(pdl::PatternOp pattern) {
  pdl::RewriteOp rewrite = pattern.getRewriter();
  if (rewrite.getName())
    return emitError(rewrite.getLoc()) << "rewrites in C++ are not known here";
  auto root = rewrite.getRoot()
                  ? rewrite.getRoot().getDefiningOp<pdl::OperationOp>()
                  : nullptr;
  if (!root)
    return emitError(pattern.getLoc())
           << "a rule needs a root that it replaces";

  llvm::DenseSet<Operation *> reached;
  llvm::SmallVector<Operation *> stack{root};
  while (!stack.empty()) {
    Operation *op = stack.pop_back_val();
    if (!reached.insert(op).second ||
        !isa<pdl::OperationOp, pdl::ResultOp, pdl::ResultsOp>(op))
      continue;
    for (Value operand : op->getOperands())
      if (Operation *source = operand.getDefiningOp())
        stack.push_back(source);
  }
  WalkResult result = pattern.walk([&](Operation *op) {
    LogicalResult ok = success();
    bool isBuilt = op->getParentOp() == rewrite;
    if (auto node = dyn_cast<pdl::OperationOp>(op)) {
      ok = checkNode(node, isBuilt);
      if (succeeded(ok) && !isBuilt && !reached.contains(op))
        ok = emitError(node.getLoc())
             << "this node is no source of the rule's root, so it cannot be "
                "matched; what a rule builds belongs after 'rewrite' or 'with'";
    } else if (auto native = dyn_cast<pdl::ApplyNativeConstraintOp>(op)) {
      ok = checkNative(native, /*isRewrite=*/false);
    } else if (auto native = dyn_cast<pdl::ApplyNativeRewriteOp>(op)) {
      ok = checkNative(native, /*isRewrite=*/true);
    }
    return succeeded(ok) ? WalkResult::advance() : WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Native properties and nodes
//===----------------------------------------------------------------------===//

/// Lets a pattern match on native properties, which PDL does not see: each is
/// asked for by a constraint, and compared when the pattern gives its value.
LogicalResult matchProperties(pdl::OperationOp op) {
  if (!op.getOpName())
    return success();
  OperationName name(*op.getOpName(), op.getContext());
  OpBuilder builder(op.getContext());
  builder.setInsertionPointAfter(op);
  auto attrType = pdl::AttributeType::get(op.getContext());
  llvm::SmallVector<Attribute> keptNames;
  llvm::SmallVector<Value> keptValues;
  for (auto [attr, value] :
       llvm::zip_equal(op.getAttributeValueNames(), op.getAttributeValues())) {
    auto key = cast<StringAttr>(attr);
    auto given = value.getDefiningOp<pdl::AttributeOp>();
    if (!isNativeProperty(name, key)) {
      // Kinds are written as strings.
      if (given && given.getValueAttr()) {
        Attribute real = fromRuleAttribute(name, key, given.getValueAttr());
        if (!real)
          return emitError(op.getLoc()) << "no kind " << given.getValueAttr();
        if (real != given.getValueAttr()) {
          OpBuilder before(op);
          value = pdl::AttributeOp::create(before, given.getLoc(), attrType,
                                           Value(), real);
        }
      }
      keptNames.push_back(attr);
      keptValues.push_back(value);
      continue;
    }
    Value label =
        pdl::AttributeOp::create(builder, op.getLoc(), attrType, Value(), key);
    auto actual = pdl::ApplyNativeConstraintOp::create(
        builder, op.getLoc(), TypeRange{attrType}, "Property",
        ValueRange{op.getResult(), label}, /*isNegated=*/false);
    bool isFree = given && !given.getValueAttr() && !given.getValueType();
    for (Operation *user : value.getUsers())
      if (user != op && user->getBlock() == op->getBlock() &&
          user->isBeforeInBlock(op))
        isFree = false;
    if (isFree)
      value.replaceUsesWithIf(actual->getResult(0), [&](OpOperand &use) {
        return use.getOwner() != op;
      });
    else
      pdl::ApplyNativeConstraintOp::create(
          builder, op.getLoc(), TypeRange{}, "AttrEqual",
          ValueRange{actual->getResult(0), value}, /*isNegated=*/false);
  }
  llvm::SmallVector<Value> given(op.getAttributeValues());
  op.setAttributeValueNamesAttr(builder.getArrayAttr(keptNames));
  op.getAttributeValuesMutable().assign(keptValues);
  for (Value value : given)
    if (Operation *unused = value.getDefiningOp(); value.use_empty())
      unused->erase();
  return success();
}

/// Has a node built by `createNative`.
void buildNatively(pdl::OperationOp op) {
  OpBuilder builder(op);
  auto attribute = [&](Attribute attr) -> Value {
    return pdl::AttributeOp::create(builder, op.getLoc(),
                                    pdl::AttributeType::get(op.getContext()),
                                    Value(), attr);
  };
  llvm::SmallVector<Value> arguments{attribute(op.getOpNameAttr()),
                                     attribute(op.getAttributeValueNames())};
  llvm::append_range(arguments, op.getAttributeValues());
  llvm::append_range(arguments, op.getOperandValues());
  llvm::append_range(arguments, op.getTypeValues());
  if (op.getTypeValues().empty())
    for (Operation *user : op->getUsers())
      if (auto replace = dyn_cast<pdl::ReplaceOp>(user);
          replace && replace.getReplOperation() == op.getResult())
        arguments.push_back(replace.getOpValue());
  auto native = pdl::ApplyNativeRewriteOp::create(
      builder, op.getLoc(), TypeRange{op.getResult().getType()}, createNative,
      arguments);
  op.getResult().replaceAllUsesWith(native->getResult(0));
  op.erase();
}

LogicalResult prepare(pdl::PatternOp pattern) {
  llvm::SmallVector<pdl::OperationOp> nodes;
  pattern.walk([&](pdl::OperationOp op) { nodes.push_back(op); });
  for (pdl::OperationOp op : nodes) {
    if (op->getParentOp() != pattern)
      buildNatively(op);
    else if (failed(matchProperties(op)))
      return failure();
  }
  return verify(pattern);
}

} // namespace

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

struct RuleFile::Rule {
  std::string name;
  PatternBenefit benefit = 1;
  /// The op that it matches; nullopt for any.
  std::optional<std::string> root;
  FrozenRewritePatternSet compiled;
};

/// A rule of a file while it rewrites one program.
class RuleFile::Pattern : public RewritePattern {
public:
  static std::unique_ptr<Pattern>
  create(const std::shared_ptr<const Rule> &rule, RuleRun &run,
         MLIRContext *context) {
    std::unique_ptr<Pattern> pattern(
        rule->root ? new Pattern(rule, run, context, *rule->root)
                   : new Pattern(rule, run, context, MatchAnyOpTypeTag()));
    pattern->setDebugName(rule->name);
    return pattern;
  }

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (run.failed)
      return failure();
    run.rule = rule->name;
    run.root = op;
    CurrentRuleRun current(run);
    return applicator.matchAndRewrite(op, rewriter);
  }

private:
  template <typename RootT>
  Pattern(const std::shared_ptr<const Rule> &rule, RuleRun &run,
          MLIRContext *context, const RootT &root)
      : RewritePattern(root, rule->benefit, context), rule(rule), run(run),
        applicator(rule->compiled) {
    applicator.applyDefaultCostModel();
  }

  std::shared_ptr<const Rule> rule;
  RuleRun &run;
  mutable PatternApplicator applicator;
};

FailureOr<RuleFile> RuleFile::read(llvm::StringRef path,
                                   const RuleFileOptions &options,
                                   MLIRContext *context) {
  llvm::StringRef extension = llvm::sys::path::extension(path);
  if (!llvm::sys::fs::exists(path) || llvm::sys::fs::is_directory(path)) {
    emitError(UnknownLoc::get(context)) << "no rule file '" << path << "'";
    return failure();
  }
  OwningOpRef<ModuleOp> module;
  if (extension == ".mlir" || extension == ".mlirbc")
    module = parseSourceFile<ModuleOp>(path, context);
  else
    module = compilePdll(path, options.includeDirs, context);
  if (!module)
    return failure();

  llvm::SmallVector<pdl::PatternOp> patterns;
  module->walk([&](pdl::PatternOp op) { patterns.push_back(op); });
  if (patterns.empty())
    return emitError(module->getLoc()) << "no rules in '" << path << "'";
  RuleFile file;
  std::string stem = llvm::sys::path::stem(path).str();
  for (auto [number, pattern] : llvm::enumerate(patterns)) {
    if (failed(checkPattern(pattern)) || failed(prepare(pattern)))
      return failure();
    auto rule = std::make_shared<Rule>();
    rule->name = stem + "/" +
                 pattern.getSymName()
                     .value_or("rule" + std::to_string(number + 1))
                     .str();
    rule->benefit = pattern.getBenefit();
    auto root =
        pattern.getRewriter().getRoot().getDefiningOp<pdl::OperationOp>();
    if (root.getOpName())
      rule->root = root.getOpName()->str();
    OwningOpRef<ModuleOp> alone(ModuleOp::create(pattern.getLoc()));
    alone->getBody()->push_back(pattern->clone());
    PDLPatternModule compiled(std::move(alone));
    registerRuleNatives(compiled);
    rule->compiled =
        FrozenRewritePatternSet(RewritePatternSet(std::move(compiled)));
    file.rules.push_back(std::move(rule));
  }
  return file;
}

llvm::SmallVector<llvm::StringRef> RuleFile::getRuleNames() const {
  llvm::SmallVector<llvm::StringRef> names;
  for (const auto &rule : rules)
    names.push_back(rule->name);
  return names;
}

FailureOr<RewriteStats>
RuleFile::apply(ProgramOp program, const RewriteOptions &options,
                llvm::ArrayRef<std::string> also) const {
  MLIRContext *context = program.getContext();
  RuleRun run;
  RewritePatternSet patterns(context);
  for (const std::shared_ptr<const Rule> &rule : rules)
    patterns.add(Pattern::create(rule, run, context));
  for (const std::string &name : also) {
    const RuleSet *set = findRuleSet(name);
    if (!set)
      return emitError(program.getLoc()) << "no rule set '" << name << "'";
    set->populate(patterns);
  }
  RewriteOptions checked = options;
  checked.isAcceptable = [&run] { return !run.failed; };
  return graphRewrite(program, std::move(patterns), checked);
}
