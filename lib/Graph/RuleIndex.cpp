//===- RuleIndex.cpp - rewrite patterns by what they match ----------------===//
//
// Sorts the patterns of a set by op code, type and benefit.
//
//===----------------------------------------------------------------------===//

#include "Uop/Graph/RuleIndex.h"

using namespace mlir;
using namespace uop;

RuleIndex::RuleIndex(const FrozenRewritePatternSet &given) : patterns(given) {
  auto add = [&](ByType &lists, const RewritePattern *pattern) {
    if (pattern->getBenefit().isImpossibleToMatch())
      return;
    MLIRContext *context = pattern->getContext();
    i32 = IntegerType::get(context, 32);
    f32 = Float32Type::get(context);
    auto *rule = dynamic_cast<const RulePattern *>(pattern);
    lists.all.push_back(pattern);
    if (!rule || rule->isFor(i32))
      lists.ofI32.push_back(pattern);
    if (!rule || rule->isFor(f32))
      lists.ofF32.push_back(pattern);
  };
  for (const auto &[name, ofOp] : patterns.getOpSpecificNativePatterns()) {
    auto *dialect = dyn_cast_or_null<UopDialect>(name.getDialect());
    std::optional<OpCode> code =
        dialect ? dialect->getOpCode(name) : std::nullopt;
    if (!code)
      continue;
    for (const RewritePattern *pattern : ofOp)
      add(byCode[static_cast<unsigned>(*code)], pattern);
  }
  for (ByType &lists : byCode) {
    for (const RewritePattern &pattern : patterns.getMatchAnyOpNativePatterns())
      add(lists, &pattern);
    for (List *list : {&lists.all, &lists.ofI32, &lists.ofF32})
      llvm::stable_sort(
          *list, [](const RewritePattern *a, const RewritePattern *b) {
            return b->getBenefit() < a->getBenefit();
          });
  }
}
