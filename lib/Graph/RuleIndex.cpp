//===- RuleIndex.cpp - rewrite patterns by what they match ----------------===//
//
// Sorts the patterns of a set by op code, type and benefit.
//
//===----------------------------------------------------------------------===//

#include "Uop/Graph/RuleIndex.h"

using namespace mlir;
using namespace uop;

bool RuleRoot::fits(Type type) const {
  switch (first) {
  case First::Any:
    return true;
  case First::I32:
    return type.isSignlessInteger(32);
  case First::NotI32:
    return !type.isSignlessInteger(32);
  case First::Bools:
    return getDTypeOrNone(type) == DType::Bool;
  }
  llvm_unreachable("no such kind");
}

RulePattern::RulePattern(const RuleRoot &root, MLIRContext *context)
    : RewritePattern(context->getOrLoadDialect<UopDialect>()
                         ->getOpName(root.getCode())
                         .getStringRef(),
                     1, context),
      root(root) {}

RuleIndex::RuleIndex(const FrozenRewritePatternSet &given) : patterns(given) {
  llvm::SmallVector<const RewritePattern *> sorted[numOpCodes];
  for (const auto &[name, ofOp] : patterns.getOpSpecificNativePatterns()) {
    auto *dialect = dyn_cast_or_null<UopDialect>(name.getDialect());
    std::optional<OpCode> code =
        dialect ? dialect->getOpCode(name) : std::nullopt;
    if (code)
      llvm::append_range(sorted[static_cast<unsigned>(*code)], ofOp);
  }
  for (auto [code, ofCode] : llvm::enumerate(sorted)) {
    for (const RewritePattern &pattern : patterns.getMatchAnyOpNativePatterns())
      ofCode.push_back(&pattern);
    // Of equal benefit, the first first.
    llvm::SmallVector<std::pair<PatternBenefit, size_t>> places;
    for (const RewritePattern *pattern : ofCode)
      places.push_back({pattern->getBenefit(), places.size()});
    llvm::sort(places, [](const auto &a, const auto &b) {
      return a.first == b.first ? a.second < b.second : b.first < a.first;
    });
    for (auto [benefit, place] : places)
      add(static_cast<OpCode>(code), ofCode[place]);
  }
}

void RuleIndex::add(OpCode code, const RewritePattern *pattern) {
  if (pattern->getBenefit().isImpossibleToMatch())
    return;
  MLIRContext *context = pattern->getContext();
  types[0] = getScalarType(context, DType::I32);
  types[1] = getScalarType(context, DType::F32);
  types[2] = getScalarType(context, DType::Bool);
  auto *rule = dynamic_cast<const RulePattern *>(pattern);
  RuleRoot root = rule ? rule->getRoot() : RuleRoot(code);
  ByType &lists = byCode[static_cast<unsigned>(code)];
  lists.all.push_back({pattern, root});
  for (auto [type, list] : llvm::zip(types, lists.ofType))
    if (root.fits(type))
      list.push_back({pattern, root});
}
