//===- UopMovementOps.td - views and reductions --------------*- tablegen -*-===//
//
// RESHAPE, EXPAND, PERMUTE and SHRINK change indices and compute nothing; REDUCE
// folds the last axes away.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_DIALECT_UOPMOVEMENTOPS_TD
#define UOP_DIALECT_UOPMOVEMENTOPS_TD

include "Uop/Dialect/UopBase.td"

class Uop_MovementOp<string mnemonic> : Uop_InferredOp<mnemonic, [Pure]> {
  let arguments = (ins AnyType:$source, DenseI64ArrayAttr:$shape);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$source $shape attr-dict `:` type($source)";
}

def Uop_ReshapeOp : Uop_MovementOp<"reshape"> {
  let summary = "the same elements in another shape";
  let description = [{
    Keeps the number of elements and their order (row major), the dtype and the
    address space.

    ```mlir
    %1 = uop.reshape %0 [2, 3] : !uop.mem<6xf32, global>
    ```
  }];
}

def Uop_ExpandOp : Uop_MovementOp<"expand"> {
  let summary = "axes of size 1 repeated";
  let description = [{
    Each axis keeps its size or grows (or shrinks to nothing) from 1.

    ```mlir
    %1 = uop.expand %0 [2, 3] : tensor<1x3xf32>
    ```
  }];
}

def Uop_PermuteOp : Uop_InferredOp<"permute", [Pure]> {
  let summary = "axes in another order";
  let description = [{
    Output axis k is input axis `permutation[k]`.

    ```mlir
    %1 = uop.permute %0 [1, 0] : tensor<2x3xf32>
    ```
  }];
  let arguments = (ins AnyType:$source, DenseI64ArrayAttr:$permutation);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$source $permutation attr-dict `:` type($source)";
}

def Uop_ShrinkOp : Uop_InferredOp<"shrink", [Pure]> {
  let summary = "a box cut out";
  let description = [{
    One pair (begin, end) per axis with 0 <= begin <= end <= size, flattened:
    begin and end of axis 0, then of axis 1, and so on.

    ```mlir
    %1 = uop.shrink %0 [1, 3, 0, 2] : tensor<3x4xf32>    // tensor<2x2xf32>
    ```
  }];
  let arguments = (ins AnyType:$source, DenseI64ArrayAttr:$bounds);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$source $bounds attr-dict `:` type($source)";
}

def Uop_ReduceOp : Uop_InferredOp<"reduce", [Pure]> {
  let summary = "the last axes folded with an op";
  let description = [{
    Combines over the last `pop` axes with `kind`; none of them gives the source.
    Over no elements it gives the identity: 0 for add; -inf, INT_MIN or false for
    max.

    ```mlir
    %1 = uop.reduce add 1 %0 : tensor<3x4xf32>    // tensor<3xf32>
    ```
  }];
  let arguments = (ins Uop_ReduceKindAttr:$kind, I64Prop:$pop, AnyType:$source);
  let results = (outs AnyType:$result);
  // A stripped enum attribute prints the space before it.
  let assemblyFormat = "`` $kind $pop $source attr-dict `:` type($source)";
}

#endif // UOP_DIALECT_UOPMOVEMENTOPS_TD
