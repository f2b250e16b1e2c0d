//===- UopKernelOps.td - kernel boundaries and GPU ops -------*- tablegen -*-===//
//
// STAGE, where a kernel ends, and the ops of GPUs: BARRIER and WMMA.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_DIALECT_UOPKERNELOPS_TD
#define UOP_DIALECT_UOPKERNELOPS_TD

include "Uop/Dialect/UopBase.td"

def Uop_StageOp : Uop_InferredOp<"stage", [Pure]> {
  let summary = "materialise into a temporary buffer";
  let description = [{
    Asks for a kernel boundary. Where a single kernel is lowered it is the value
    of its source. With `detach` it only stops gradients.

    ```mlir
    %1 = uop.stage %0 : tensor<4xf32>
    %2 = uop.stage detach %0 : tensor<4xf32>
    ```
  }];
  let arguments = (ins AnyType:$source, UnitProp:$detach);
  let results = (outs AnyType:$result);
  let assemblyFormat = "(`detach` $detach^)? $source attr-dict `:` type($source)";
}

def Uop_BarrierOp : Uop_InferredOp<"barrier"> {
  let summary = "all threads of a workgroup meet";
  let description = [{
    Its sources have happened in every thread before anything after it.

    ```mlir
    %1 = uop.barrier %0 : !uop.void
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$srcs);
  let results = (outs AnyType:$result);
  let assemblyFormat =
      "$srcs attr-dict `:` custom<SourceTypes>(ref($srcs), type($srcs))";
}

def Uop_WmmaOp : Uop_InferredOp<"wmma", [Pure]> {
  let summary = "a tile product on a tensor core";
  let description = [{
    Reserved: a, b and c give a value of c's dtype and shape.

    ```mlir
    %3 = uop.wmma %0, %1, %2 : tensor<256xf16>, tensor<256xf16>, tensor<256xf32>
    ```
  }];
  let arguments = (ins AnyType:$a, AnyType:$b, AnyType:$c);
  let results = (outs AnyType:$result);
  let assemblyFormat =
      "$a `,` $b `,` $c attr-dict `:` type($a) `,` type($b) `,` type($c)";
}

#endif // UOP_DIALECT_UOPKERNELOPS_TD
