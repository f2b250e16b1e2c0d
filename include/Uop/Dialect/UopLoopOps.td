//===- UopLoopOps.td - loops of the flat graph ---------------*- tablegen -*-===//
//
// RANGE, a loop counter that is a value like any other, and END, which closes
// loops.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_DIALECT_UOPLOOPOPS_TD
#define UOP_DIALECT_UOPLOOPOPS_TD

include "Uop/Dialect/UopBase.td"

def Uop_RangeOp : Uop_InferredOp<"range", [
    Pure,
    DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>]> {
  let summary = "a loop counter";
  let description = [{
    An i32 that takes the values 0 to end-1. Loops nest in increasing `idx`; what
    uses the counter, directly or not, is inside the loop until an END closes it.

    ```mlir
    %1 = uop.range 0 loop %0 : i32
    ```
  }];
  let arguments = (ins I64Prop:$idx, EnumProp<Uop_AxisKind>:$kind, AnyType:$end);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$idx $kind $end attr-dict `:` type($end)";
}

def Uop_EndOp : Uop_InferredOp<"end"> {
  let summary = "closes loops";
  let description = [{
    The first source, with the loops of the other sources, RANGEs, finished. What
    depends on an END runs after those loops.

    ```mlir
    %3 = uop.end %2, %0, %1 : !uop.void, i32, i32
    ```
  }];
  let arguments = (ins AnyType:$source, Variadic<AnyType>:$ranges);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $source (`,` $ranges^)? attr-dict `:` type($source) (`,` type($ranges)^)?
  }];
}

#endif // UOP_DIALECT_UOPLOOPOPS_TD
