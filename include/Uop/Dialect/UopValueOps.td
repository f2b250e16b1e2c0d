//===- UopValueOps.td - constants, calls, arrays, arithmetic -*- tablegen -*-===//
//
// The ops that compute values: CONST, PARAM, CALL, STACK, INDEX and the ALU ops.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_DIALECT_UOPVALUEOPS_TD
#define UOP_DIALECT_UOPVALUEOPS_TD

include "Uop/Dialect/UopBase.td"

def Uop_RangeInterface
    : DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>;

def Uop_ConstOp : Uop_Op<"const", [
    Pure, ConstantLike, Uop_RangeInterface, AllTypesMatch<["value", "result"]>]> {
  let summary = "a scalar constant";
  let description = [{
    The value of `value`, an `i1`, `i32`, `f16` or `f32` scalar. Constants are
    the same node when type and bits agree, so `1`, `1.0`, `true`, `0.0` and
    `-0.0` are five nodes; every NaN is one. A float is rounded to its type once,
    when it is built.

    ```mlir
    %0 = uop.const 2.5 : f32
    ```
  }];
  let arguments = (ins TypedAttrInterface:$value);
  let results = (outs AnyType:$result);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
}

def Uop_ParamOp : Uop_Op<"param", [Pure]> {
  let summary = "an input of the enclosing CALL";
  let description = [{
    Stands for argument number `slot` of the CALL whose body it is in.

    ```mlir
    %0 = uop.param 0 : tensor<3xf32>
    ```
  }];
  let arguments = (ins I64Prop:$slot);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$slot attr-dict `:` type($result)";
}

def Uop_CallOp : Uop_InferredOp<"call", [Pure]> {
  let summary = "a body applied to arguments";
  let description = [{
    The value of the first source, the body, with PARAM slot i replaced by
    argument i (beta reduction). The body's own PARAMs are those not inside the
    body of a nested CALL; they must be exactly the slots 0 to n-1, and argument i
    has the dtype and shape of PARAM i. A body holds no BUFFER.

    ```mlir
    %0 = uop.param 0 : i32
    %1 = uop.mul %0, %0 : i32
    %2 = uop.const 7 : i32
    %3 = uop.call "sq" %1, %2 : i32
    ```
  }];
  let arguments = (ins StrAttr:$name, Variadic<AnyType>:$srcs);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $name $srcs attr-dict `:` custom<SourceTypes>(ref($srcs), type($srcs))
  }];
  let extraClassDeclaration = [{
    ::mlir::Value getBody() { return getSrcs().front(); }
    ::mlir::OperandRange getArgs() { return getSrcs().drop_front(); }
  }];
}

def Uop_StackOp : Uop_InferredOp<"stack", [Pure]> {
  let summary = "sources along a new leading axis";
  let description = [{
    n sources of one dtype and one shape become a value of shape `(n, *shape)`.

    ```mlir
    %2 = uop.stack %0, %1 : f32     // tensor<2xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$srcs);
  let results = (outs AnyType:$result);
  let assemblyFormat =
      "$srcs attr-dict `:` custom<SourceTypes>(ref($srcs), type($srcs))";
}

def Uop_IndexOp : Uop_InferredOp<"index", [Pure]> {
  let summary = "an element, a slice or an address";
  let description = [{
    The first source indexed by the others, i32 scalars, which pop axes off the
    left. On a value it selects, on memory it makes a pointer; it keeps the
    address space.

    ```mlir
    %2 = uop.index %0, %1 : !uop.mem<8xf32, global>, i32
    ```
  }];
  let arguments = (ins AnyType:$source, Variadic<AnyType>:$indices);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $source (`,` $indices^)? attr-dict `:` type($source) (`,` type($indices)^)?
  }];
}

def Uop_CastOp : Uop_Op<"cast", [Pure, Uop_RangeInterface]> {
  let summary = "conversion to another dtype";
  let description = [{
    C conversion: a float to `i32` truncates toward zero (out of range it is
    unspecified and never folded), anything to `i1` is a test against zero, f32
    to f16 rounds to nearest even and overflows to infinity.

    ```mlir
    %1 = uop.cast %0 : tensor<4xf32> -> tensor<4xi32>
    ```
  }];
  let arguments = (ins AnyType:$source);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

class Uop_UnaryOp<string mnemonic> : Uop_InferredOp<mnemonic, [Pure]> {
  let arguments = (ins AnyType:$source);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$source attr-dict `:` type($source)";
  let hasFolder = 1;
}

def Uop_RecipOp : Uop_UnaryOp<"recip"> {
  let summary = "1/x";
  let description = [{
    The correctly rounded reciprocal of a float; of a zero, the infinity of its
    sign.

    ```mlir
    %1 = uop.recip %0 : tensor<4xf32>
    ```
  }];
}

def Uop_Exp2Op : Uop_UnaryOp<"exp2"> {
  let summary = "2 to the power x";
  let description = [{
    ```mlir
    %1 = uop.exp2 %0 : tensor<4xf32>
    ```
  }];
}

def Uop_Log2Op : Uop_UnaryOp<"log2"> {
  let summary = "binary logarithm";
  let description = [{
    -inf at zero, NaN below.

    ```mlir
    %1 = uop.log2 %0 : tensor<4xf32>
    ```
  }];
}

def Uop_SqrtOp : Uop_UnaryOp<"sqrt"> {
  let summary = "square root";
  let description = [{
    Correctly rounded; NaN below zero.

    ```mlir
    %1 = uop.sqrt %0 : tensor<4xf32>
    ```
  }];
}

def Uop_SinOp : Uop_UnaryOp<"sin"> {
  let summary = "sine";
  let description = [{
    Of an angle in radians; NaN at the infinities.

    ```mlir
    %1 = uop.sin %0 : tensor<4xf32>
    ```
  }];
}

//===----------------------------------------------------------------------===//
// Binary
//===----------------------------------------------------------------------===//

class Uop_BinaryOp<string mnemonic, list<Trait> traits = []>
    : Uop_InferredOp<mnemonic, !listconcat(traits, [
        Pure, Uop_RangeInterface])> {
  let arguments = (ins AnyType:$lhs, AnyType:$rhs);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:` custom<PairTypes>(type($lhs), type($rhs))
  }];
  let hasFolder = 1;
}

def Uop_AddOp : Uop_BinaryOp<"add", [Commutative]> {
  let summary = "sum";
  let description = [{
    i32 wraps, floats round, on bools it is "or".

    ```mlir
    %2 = uop.add %0, %1 : tensor<4xf32>
    ```
  }];
}

def Uop_MulOp : Uop_BinaryOp<"mul", [Commutative]> {
  let summary = "product";
  let description = [{
    i32 wraps, floats round, on bools it is "and".

    ```mlir
    %2 = uop.mul %0, %1 : !uop.mem<4xf32, global>, tensor<4xf32>
    ```
  }];
}

def Uop_MaxOp : Uop_BinaryOp<"max"> {
  let summary = "the larger of two";
  let description = [{
    `a > b ? a : b`, so that a NaN on the left gives `b` and a NaN on the right
    gives it: the operands of a float MAX do not commute.

    ```mlir
    %2 = uop.max %0, %1 : f32
    ```
  }];
}

def Uop_CmpLtOp : Uop_BinaryOp<"cmplt"> {
  let summary = "less than";
  let description = [{
    A bool; false when either side is NaN.

    ```mlir
    %2 = uop.cmplt %0, %1 : i32
    ```
  }];
}

def Uop_CmpNeOp : Uop_BinaryOp<"cmpne", [Commutative]> {
  let summary = "not equal";
  let description = [{
    A bool; true when either side is NaN. Equality is `cmpne (cmpne x, y), true`.

    ```mlir
    %2 = uop.cmpne %0, %1 : i32
    ```
  }];
}

def Uop_FloorDivOp : Uop_BinaryOp<"floordiv"> {
  let summary = "division that rounds down";
  let description = [{
    i32 only. `-7 // 2` is -4. It is total: `x // 0` is 0 and `INT_MIN // -1` is
    INT_MIN; rewrite rules and folding leave these two alone.

    ```mlir
    %2 = uop.floordiv %0, %1 : i32
    ```
  }];
}

def Uop_FloorModOp : Uop_BinaryOp<"floormod"> {
  let summary = "remainder with the sign of the divisor";
  let description = [{
    i32 only. `-7 % 2` is 1. It is total: `x % 0` is 0, `INT_MIN % -1` is 0.

    ```mlir
    %2 = uop.floormod %0, %1 : i32
    ```
  }];
}

def Uop_WhereOp : Uop_InferredOp<"where", [Pure, Uop_RangeInterface]> {
  let summary = "selection";
  let description = [{
    The second source where the first, a bool, is true, else the third. All three
    have one shape.

    ```mlir
    %3 = uop.where %0, %1, %2 : i1, f32, f32
    ```
  }];
  let arguments = (ins AnyType:$condition, AnyType:$trueValue,
                       AnyType:$falseValue);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $condition `,` $trueValue `,` $falseValue attr-dict `:` type($condition) `,`
    type($trueValue) `,` type($falseValue)
  }];
  let hasFolder = 1;
}

#endif // UOP_DIALECT_UOPVALUEOPS_TD
