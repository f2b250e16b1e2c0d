//===- UopPlanOps.td - plans of kernels ----------------------*- tablegen -*-===//
//
// What is launched in which order on which memory. A plan is no graph of UOps:
// its ops happen one after the other.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_DIALECT_UOPPLANOPS_TD
#define UOP_DIALECT_UOPPLANOPS_TD

include "Uop/Dialect/UopBase.td"

class Uop_PlanOpBase<string mnemonic, list<Trait> traits = []>
    : Op<Uop_Dialect, mnemonic, traits>;

/// Memory of a plan, named for its role and number.
class Uop_PlanMemoryOp<string mnemonic>
    : Uop_PlanOpBase<mnemonic, [
        HasParent<"PlanOp">,
        DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let results = (outs Uop_MemType:$result);
  let hasVerifier = 1;
}

def Uop_PlanOp : Uop_PlanOpBase<"plan", [
    IsolatedFromAbove, Symbol, SingleBlock, NoRegionArguments, NoTerminator]> {
  let summary = "kernels in the order of their launch";
  let description = [{
    The kernels of a program in the order in which they are launched, and the
    memory that they work on: inputs and outputs, which the caller gives, and temps,
    which share one arena of so many bytes. Kernels are programs of the same module.

    ```mlir
    uop.plan @softmax arena 12 {
      %in0 = uop.input 0 : !uop.mem<12xf32, global>
      %out0 = uop.output 0 : !uop.mem<3x4xf32, global>
      %tmp0 = uop.temp 0 at 0 : !uop.mem<3xf32, global>
      uop.launch @r_3(%in0, %tmp0)
          : !uop.mem<12xf32, global>, !uop.mem<3xf32, global>
      uop.launch @e_3_4(%in0, %tmp0, %out0)
          : !uop.mem<12xf32, global>, !uop.mem<3xf32, global>,
            !uop.mem<3x4xf32, global>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Prop:$arenaSize);
  let regions = (region SizedRegion<1>:$bodyRegion);
  let assemblyFormat =
      "$sym_name `arena` $arenaSize attr-dict-with-keyword $bodyRegion";
  let hasRegionVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "int64_t":$arenaSize)>];
  let extraClassDeclaration = [{
    ::mlir::Block &getBodyBlock() { return getBodyRegion().front(); }
  }];
}

def Uop_InputOp : Uop_PlanMemoryOp<"input"> {
  let summary = "memory that the caller gives, with its contents";
  let description = [{
    The BUFFER of this slot in the program that was planned. A launch that stores
    to it changes the caller's memory.

    ```mlir
    %in0 = uop.input 0 : !uop.mem<12xf32, global>
    ```
  }];
  let arguments = (ins I64Prop:$slot);
  let assemblyFormat = "$slot attr-dict `:` qualified(type($result))";
}

def Uop_OutputOp : Uop_PlanMemoryOp<"output"> {
  let summary = "memory that the caller gives for a result";
  let description = [{
    The program's result of this number, in its shape. It overlaps no other memory
    of the plan.

    ```mlir
    %out0 = uop.output 0 : !uop.mem<3x4xf32, global>
    ```
  }];
  let arguments = (ins I64Prop:$number);
  let assemblyFormat = "$number attr-dict `:` qualified(type($result))";
}

def Uop_TempOp : Uop_PlanMemoryOp<"temp"> {
  let summary = "memory between kernels";
  let description = [{
    Bytes of the plan's arena from `offset` on. Temps may overlap when no launch
    needs the contents of both.

    ```mlir
    %tmp1 = uop.temp 1 at 64 : !uop.mem<3xf32, global>
    ```
  }];
  let arguments = (ins I64Prop:$number, I64Prop:$offset);
  let assemblyFormat = "$number `at` $offset attr-dict `:` qualified(type($result))";
}

def Uop_SliceOp : Uop_PlanOpBase<"slice", [
    Pure, HasParent<"PlanOp">]> {
  let summary = "a run of elements of a plan's memory";
  let description = [{
    The elements from `begin` on, as many as the type says.

    ```mlir
    %0 = uop.slice %out0 from 784
        : !uop.mem<2x784xf32, global> to !uop.mem<784xf32, global>
    ```
  }];
  let arguments = (ins Uop_MemType:$source, I64Prop:$begin);
  let results = (outs Uop_MemType:$result);
  let assemblyFormat =
      [{
    $source `from` $begin attr-dict `:` qualified(type($source)) `to`
    qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Uop_LaunchOp : Uop_PlanOpBase<"launch", [
    HasParent<"PlanOp">, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "runs a kernel";
  let description = [{
    Argument k is the memory of the kernel's BUFFER slot k: of its dtype and number
    of elements. A kernel need not use all of its arguments.

    ```mlir
    uop.launch @r_3(%in0, %tmp0)
        : !uop.mem<12xf32, global>, !uop.mem<3xf32, global>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel,
                       Variadic<Uop_MemType>:$memory);
  let assemblyFormat =
      "$kernel `(` $memory `)` attr-dict (`:` type($memory)^)?";
}

#endif // UOP_DIALECT_UOPPLANOPS_TD
