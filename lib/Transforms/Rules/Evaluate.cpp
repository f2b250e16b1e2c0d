//===- Evaluate.cpp - rules: a program of constants is its value ----------===//
//
// A value of a shape is a nest of STACKs over scalars. ALU ops, movement ops
// and reductions of small nests become nests, an INDEX selects from one, and
// CALLs are inlined, outermost first.
//
//===----------------------------------------------------------------------===//

#include "Nodes.h"
#include "Uop/Transforms/RuleSets.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace uop;

namespace {

/// Nests of more elements than this stay as they are: a STACK is a chain of
/// choices once it is lowered.
constexpr int64_t maxElements = 4096;

//===----------------------------------------------------------------------===//
// Nests
//===----------------------------------------------------------------------===//

using Elements = llvm::SmallVector<Value, 0>;

bool isSmall(std::optional<int64_t> count) {
  return count && *count > 0 && *count <= maxElements;
}

/// The scalars of a nest in row major order; nullopt for anything else.
std::optional<Elements> getElements(Value value) {
  llvm::ArrayRef<int64_t> shape = getShape(value.getType());
  if (!isSmall(getNumElements(shape)))
    return std::nullopt;
  Elements level{value};
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    Elements inner;
    for (Value outer : level) {
      auto stack = outer.getDefiningOp<StackOp>();
      if (!stack)
        return std::nullopt;
      llvm::append_range(inner, stack.getSrcs());
    }
    level = std::move(inner);
  }
  // Of memory nothing is known; a division by zero is a leaf like a constant.
  for (Value leaf : level)
    if (OpCode code = getOpCode(leaf); code != OpCode::Const && !isAlu(code))
      return std::nullopt;
  return level;
}

Value makeNest(PatternRewriter &rewriter, Location loc, Elements elements,
               llvm::ArrayRef<int64_t> shape) {
  for (int64_t size : llvm::reverse(shape)) {
    Elements outer;
    llvm::ArrayRef<Value> rest = elements;
    for (; !rest.empty(); rest = rest.drop_front(size))
      outer.push_back(StackOp::create(rewriter, loc, rest.take_front(size)));
    elements = std::move(outer);
  }
  return elements.front();
}

/// Constants of one rule's result, each bit pattern once.
class ConstMaker {
public:
  ConstMaker(PatternRewriter &rewriter, Location loc, DType dtype)
      : rewriter(rewriter), loc(loc), dtype(dtype) {}
  Value get(Word word) {
    Value &value = made[word];
    if (!value)
      value = makeConst(rewriter, loc, dtype, word);
    return value;
  }

private:
  PatternRewriter &rewriter;
  Location loc;
  DType dtype;
  llvm::DenseMap<uint64_t, Value> made;
};

/// alu(nests...) -> nest of alu(scalars...)
template <typename OpT> struct AluOfNests : OpRewritePattern<OpT> {
  explicit AluOfNests(MLIRContext *context) : OpRewritePattern<OpT>(context) {
    this->setDebugName("evaluate/alu-of-stacks");
  }
  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    Type type = op->getResult(0).getType();
    llvm::ArrayRef<int64_t> shape = getShape(type);
    if (shape.empty())
      return failure();
    unsigned count = op->getNumOperands();
    Elements sources[3];
    for (unsigned i = 0; i < count; ++i) {
      std::optional<Elements> elements = getElements(op->getOperand(i));
      if (!elements)
        return failure();
      sources[i] = std::move(*elements);
    }
    OpCode code = *::uop::getOpCode(op.getOperation());
    DType target = getDType(type);
    DType source = getDType(op->getOperand(code == OpCode::Where).getType());
    ConstMaker constants(rewriter, op->getLoc(), target);
    Elements results;
    for (size_t i = 0; i < sources[0].size(); ++i) {
      Value operands[3];
      Word words[3] = {};
      bool known = true;
      for (unsigned k = 0; k < count; ++k) {
        operands[k] = sources[k][i];
        std::optional<Word> word = getConstWord(operands[k]);
        known &= word.has_value();
        words[k] = word.value_or(0);
      }
      if (known && isDefinedAlu(code, source, target, words[0], words[1]))
        results.push_back(constants.get(
            evalAlu(code, source, target, words[0], words[1], words[2])));
      else
        results.push_back(
            copyOver(rewriter, op, llvm::ArrayRef(operands, count)));
    }
    rewriter.replaceOp(
        op, makeNest(rewriter, op->getLoc(), std::move(results), shape));
    return success();
  }
};

llvm::SmallVector<int64_t> getStrides(llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t axis = shape.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * shape[axis];
  return strides;
}

/// Where a movement op other than RESHAPE finds its elements: offset 0 and the
/// distance of neighbours, per axis of its result.
void getView(Operation *op, llvm::SmallVector<int64_t> &strides,
             int64_t &start) {
  llvm::ArrayRef<int64_t> from = getShape(op->getOperand(0).getType());
  strides = getStrides(from);
  start = 0;
  if (isa<ExpandOp>(op)) {
    for (auto [axis, size] : llvm::enumerate(from))
      if (size == 1)
        strides[axis] = 0;
  } else if (auto permute = dyn_cast<PermuteOp>(op)) {
    llvm::SmallVector<int64_t> old = strides;
    for (auto [axis, source] : llvm::enumerate(permute.getPermutation()))
      strides[axis] = old[source];
  } else if (auto shrink = dyn_cast<ShrinkOp>(op)) {
    for (auto [axis, stride] : llvm::enumerate(strides))
      start += stride * shrink.getBounds()[2 * axis];
  }
}

/// movement(nest) -> nest
template <typename OpT> struct MovementOfNest : OpRewritePattern<OpT> {
  explicit MovementOfNest(MLIRContext *context)
      : OpRewritePattern<OpT>(context) {
    this->setDebugName("evaluate/movement-of-stacks");
  }
  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    llvm::ArrayRef<int64_t> shape = getShape(op.getResult().getType());
    if (!isSmall(getNumElements(shape)))
      return failure();
    std::optional<Elements> elements = getElements(op.getSource());
    if (!elements)
      return failure();
    Elements picked;
    if (isa<ReshapeOp>(op.getOperation())) {
      picked = std::move(*elements);
    } else {
      llvm::SmallVector<int64_t> strides;
      int64_t start;
      getView(op, strides, start);
      // Axis by axis, outermost first, the offsets of all prefixes.
      llvm::SmallVector<int64_t, 0> offsets{start};
      for (auto [axis, size] : llvm::enumerate(shape)) {
        llvm::SmallVector<int64_t, 0> inner;
        for (int64_t offset : offsets)
          for (int64_t i = 0; i < size; ++i)
            inner.push_back(offset + i * strides[axis]);
        offsets = std::move(inner);
      }
      for (int64_t offset : offsets)
        picked.push_back((*elements)[offset]);
    }
    rewriter.replaceOp(
        op, makeNest(rewriter, op.getLoc(), std::move(picked), shape));
    return success();
  }
};

/// reduce(nest) -> nest of the combined constants, in the order of the loop
struct ReduceOfNest : OpRewritePattern<ReduceOp> {
  explicit ReduceOfNest(MLIRContext *context)
      : OpRewritePattern<ReduceOp>(context) {
    setDebugName("evaluate/reduce-of-stacks");
  }
  LogicalResult matchAndRewrite(ReduceOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<Elements> elements = getElements(op.getSource());
    if (!elements || op.getPop() == 0)
      return failure();
    llvm::ArrayRef<int64_t> from = getShape(op.getSource().getType());
    int64_t inner = *getNumElements(from.take_back(op.getPop()));
    ReduceKind kind = op.getKind();
    DType dtype = getDType(op.getResult().getType());
    Location loc = op.getLoc();
    ConstMaker constants(rewriter, loc, dtype);
    Elements results;
    llvm::ArrayRef<Value> rest = *elements;
    for (; !rest.empty(); rest = rest.drop_front(inner)) {
      Word word = getIdentity(kind, dtype);
      Value value; // in place of `word` once something is no constant
      for (Value element : rest.take_front(inner)) {
        std::optional<Word> constant = getConstWord(element);
        if (!value && constant) {
          word = evalReduce(kind, dtype, word, *constant);
          continue;
        }
        if (!value)
          value = constants.get(word);
        if (kind == ReduceKind::Add)
          value = AddOp::create(rewriter, loc, value, element);
        else
          value = MaxOp::create(rewriter, loc, value, element);
      }
      results.push_back(value ? value : constants.get(word));
    }
    rewriter.replaceOp(op, makeNest(rewriter, loc, std::move(results),
                                    getShape(op.getResult().getType())));
    return success();
  }
};

/// stage(constant or nest) -> it
struct StageOfConstant : OpRewritePattern<StageOp> {
  explicit StageOfConstant(MLIRContext *context)
      : OpRewritePattern<StageOp>(context) {
    setDebugName("evaluate/stage-of-constant");
  }
  LogicalResult matchAndRewrite(StageOp op,
                                PatternRewriter &rewriter) const override {
    if (!isa<ConstOp, StackOp>(op.getSource().getDefiningOp()))
      return failure();
    rewriter.replaceOp(op, op.getSource());
    return success();
  }
};

//===----------------------------------------------------------------------===//
// INDEX
//===----------------------------------------------------------------------===//

/// An INDEX of a value in registers.
struct IndexRule : OpRewritePattern<IndexOp> {
  IndexRule(MLIRContext *context, llvm::StringRef name)
      : OpRewritePattern<IndexOp>(context) {
    setDebugName(name);
  }
  LogicalResult matchAndRewrite(IndexOp op,
                                PatternRewriter &rewriter) const override {
    if (isMemory(op.getSource().getType()))
      return failure();
    Value value = rewrite(op, rewriter);
    if (!value)
      return failure();
    rewriter.replaceOp(op, value);
    return success();
  }
  virtual Value rewrite(IndexOp op, PatternRewriter &rewriter) const = 0;

  static Value makeIndex(PatternRewriter &rewriter, Location loc, Value source,
                         ValueRange indices) {
    if (indices.empty())
      return source;
    return IndexOp::create(rewriter, loc, source, indices);
  }
};

/// stack(a, b)[1] -> b; what an index past the end means is not decided here
struct IndexOfStack : IndexRule {
  explicit IndexOfStack(MLIRContext *context)
      : IndexRule(context, "stacks/index-of-stack") {}
  Value rewrite(IndexOp op, PatternRewriter &rewriter) const override {
    Value source = op.getSource();
    ValueRange indices = op.getIndices();
    while (!indices.empty()) {
      auto stack = source.getDefiningOp<StackOp>();
      std::optional<Word> index = getConstWord(indices.front());
      if (!stack || !index || *index >= stack.getSrcs().size() ||
          isMemory(stack.getSrcs().front().getType()))
        break;
      source = stack.getSrcs()[*index];
      // The others may still be pointers.
      if (isMemory(source.getType()))
        return {};
      indices = indices.drop_front();
    }
    if (source == op.getSource())
      return {};
    return makeIndex(rewriter, op.getLoc(), source, indices);
  }
};

/// x[] -> x, x[i][j] -> x[i, j]
struct IndexOfIndex : IndexRule {
  explicit IndexOfIndex(MLIRContext *context)
      : IndexRule(context, "stacks/index-of-index") {}
  Value rewrite(IndexOp op, PatternRewriter &rewriter) const override {
    if (op.getIndices().empty())
      return op.getSource();
    auto inner = op.getSource().getDefiningOp<IndexOp>();
    if (!inner || isMemory(inner.getSource().getType()))
      return {};
    llvm::SmallVector<Value> indices(inner.getIndices());
    llvm::append_range(indices, op.getIndices());
    return makeIndex(rewriter, op.getLoc(), inner.getSource(), indices);
  }
};

/// alu(x, y)[i] -> alu(x[i], y[i])
struct IndexOfAlu : IndexRule {
  explicit IndexOfAlu(MLIRContext *context)
      : IndexRule(context, "evaluate/index-of-alu") {}
  Value rewrite(IndexOp op, PatternRewriter &rewriter) const override {
    Operation *alu = op.getSource().getDefiningOp();
    if (!isAlu(*::uop::getOpCode(alu)) || op.getIndices().empty())
      return {};
    llvm::SmallVector<Value, 3> sources;
    for (Value source : alu->getOperands()) {
      if (isMemory(source.getType()))
        return {};
      sources.push_back(
          makeIndex(rewriter, op.getLoc(), source, op.getIndices()));
    }
    return copyOver(rewriter, alu, sources);
  }
};

/// reduce(x)[i] -> reduce(x[i])
struct IndexOfReduce : IndexRule {
  explicit IndexOfReduce(MLIRContext *context)
      : IndexRule(context, "evaluate/index-of-reduce") {}
  Value rewrite(IndexOp op, PatternRewriter &rewriter) const override {
    auto reduce = op.getSource().getDefiningOp<ReduceOp>();
    if (!reduce || op.getIndices().empty() ||
        isMemory(reduce.getSource().getType()))
      return {};
    return copyOver(
        rewriter, reduce,
        makeIndex(rewriter, op.getLoc(), reduce.getSource(), op.getIndices()));
  }
};

/// view(x)[1, 2] -> x[...], for constants that pick one element
struct IndexOfMovement : IndexRule {
  explicit IndexOfMovement(MLIRContext *context)
      : IndexRule(context, "evaluate/index-of-movement") {}
  Value rewrite(IndexOp op, PatternRewriter &rewriter) const override {
    Operation *view = op.getSource().getDefiningOp();
    llvm::ArrayRef<int64_t> shape = getShape(op.getSource().getType());
    if (!isMovement(*::uop::getOpCode(view)) ||
        op.getIndices().size() != shape.size())
      return {};
    Value source = view->getOperand(0);
    llvm::ArrayRef<int64_t> from = getShape(source.getType());
    std::optional<int64_t> count = getNumElements(from);
    if (isMemory(source.getType()) || !count || *count == 0)
      return {};
    // The offset of the element in row major order of the source.
    llvm::SmallVector<int64_t> strides = getStrides(shape);
    int64_t offset = 0;
    if (!isa<ReshapeOp>(view))
      getView(view, strides, offset);
    for (auto [axis, index] : llvm::enumerate(op.getIndices())) {
      std::optional<Word> word = getConstWord(index);
      if (!word || *word >= static_cast<uint64_t>(shape[axis]))
        return {};
      offset += static_cast<int64_t>(*word) * strides[axis];
    }
    llvm::SmallVector<Value> indices;
    for (int64_t stride : getStrides(from)) {
      if (offset / stride > std::numeric_limits<int32_t>::max())
        return {};
      indices.push_back(makeI32(rewriter, op.getLoc(), offset / stride));
      offset %= stride;
    }
    return makeIndex(rewriter, op.getLoc(), source, indices);
  }
};

//===----------------------------------------------------------------------===//
// CALL
//===----------------------------------------------------------------------===//

/// call(body, args...) -> body over args.
///
/// Innermost first, a body would be copied once for every level of CALLs around
/// it. So a CALL whose arguments hold PARAMs of an outer body waits until that
/// is inlined. Looking for PARAMs costs no more than inlining would; where the
/// arguments are larger than that, to inline at once costs less.
struct InlineCall : OpRewritePattern<CallOp> {
  explicit InlineCall(MLIRContext *context)
      : OpRewritePattern<CallOp>(context) {
    setDebugName("evaluate/inline-call");
  }
  LogicalResult matchAndRewrite(CallOp op,
                                PatternRewriter &rewriter) const override {
    if (isOpen(op.getArgs(), 64 + 4 * countBody(op.getBody())))
      return failure();
    auto find = [&](Operation *node) -> Value {
      auto param = dyn_cast<ParamOp>(node);
      if (!param || param.getSlot() < 0 ||
          static_cast<size_t>(param.getSlot()) >= op.getArgs().size())
        return {};
      return op.getArgs()[param.getSlot()];
    };
    Value value = copyReplacing(op.getBody(), find,
                                [&](Operation *node, ValueRange sources) {
                                  return copyOver(rewriter, node, sources);
                                });
    // A body that only moves a view of memory is a view; a CALL is a value.
    Type type = op.getResult().getType();
    if (value && value.getType() != type && isMemory(value.getType()))
      value = LoadOp::create(rewriter, op.getLoc(), value, ValueRange());
    if (!value || value.getType() != type)
      return failure();
    rewriter.replaceOp(op, value);
    return success();
  }

private:
  /// The nodes of a scope: nested bodies are scopes of their own.
  static void walk(ValueRange roots,
                   llvm::function_ref<bool(Operation *)> visit) {
    llvm::SmallVector<Value> stack(roots);
    llvm::DenseSet<Value> seen(roots.begin(), roots.end());
    while (!stack.empty()) {
      Operation *node = stack.pop_back_val().getDefiningOp();
      if (!visit(node))
        return;
      for (Value source : node->getOperands().drop_front(isa<CallOp>(node)))
        if (seen.insert(source).second)
          stack.push_back(source);
    }
  }
  static int64_t countBody(Value body) {
    int64_t count = 0;
    walk(body, [&](Operation *) { return ++count; });
    return count;
  }
  static bool isOpen(ValueRange args, int64_t budget) {
    bool open = false;
    walk(args, [&](Operation *node) {
      open = isa<ParamOp>(node);
      return !open && budget-- > 0;
    });
    return open;
  }
};

template <typename... OpTs> void addAluRules(RewritePatternSet &patterns) {
  (patterns.add<AluOfNests<OpTs>>(patterns.getContext()), ...);
}

} // namespace

void uop::populateStackRules(RewritePatternSet &patterns) {
  patterns.add<IndexOfStack, IndexOfIndex>(patterns.getContext());
}

void uop::populateEvaluateRules(RewritePatternSet &patterns) {
  populateFoldRules(patterns);
  populateStackRules(patterns);
  populateReductionRules(patterns);
  addAluRules<CastOp, RecipOp, Exp2Op, Log2Op, SqrtOp, SinOp, AddOp, MulOp,
              MaxOp, CmpLtOp, CmpNeOp, FloorDivOp, FloorModOp, WhereOp>(
      patterns);
  patterns.add<MovementOfNest<ReshapeOp>, MovementOfNest<ExpandOp>,
               MovementOfNest<PermuteOp>, MovementOfNest<ShrinkOp>,
               ReduceOfNest, StageOfConstant, IndexOfAlu, IndexOfReduce,
               IndexOfMovement, InlineCall>(patterns.getContext());
}
