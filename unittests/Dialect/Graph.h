//===- Graph.h - an empty graph for tests -----------------------*- C++ -*-===//
//
// A context, a block and a builder on it.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_UNITTESTS_DIALECT_GRAPH_H
#define UOP_UNITTESTS_DIALECT_GRAPH_H

#include "Uop/Graph/UniquingBuilder.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"
#include "gtest/gtest.h"

namespace uop::test {

/// A module's body as a graph.
struct Graph {
  Graph() {
    context.loadDialect<UopDialect>();
    module = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
    builder.emplace(module->getBody());
  }

  UniquingBuilder &operator*() { return *builder; }
  UniquingBuilder *operator->() { return &*builder; }

  mlir::Type type(DType dtype, llvm::ArrayRef<int64_t> shape = {}) {
    return getValueType(&context, dtype, shape);
  }
  size_t size() { return module->getBody()->getOperations().size(); }

  /// What the typing rule says about this UOp; empty when it has a type.
  std::string getError(OpCode code, mlir::ValueRange sources,
                       const Arg &arg = {}) {
    std::string message;
    mlir::Value value = builder->get(
        code, sources, arg, [&](const llvm::Twine &m) { message = m.str(); });
    EXPECT_EQ(!value, !message.empty());
    return message;
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::optional<UniquingBuilder> builder;
};

} // namespace uop::test

#endif // UOP_UNITTESTS_DIALECT_GRAPH_H
