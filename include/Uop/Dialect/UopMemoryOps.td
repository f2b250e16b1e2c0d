//===- UopMemoryOps.td - memory, effects and programs --------*- tablegen -*-===//
//
// BUFFER, ALLOC, LOAD, STORE, AFTER, SINK, and the program that holds a graph.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_DIALECT_UOPMEMORYOPS_TD
#define UOP_DIALECT_UOPMEMORYOPS_TD

include "Uop/Dialect/UopBase.td"

def Uop_BufferOp : Uop_Op<"buffer", [Pure]> {
  let summary = "persistent device memory, a parameter of the kernel";
  let description = [{
    Flat memory of at most 2^31-1 elements, known by its slot. A slot has one
    dtype and one size in a program.

    ```mlir
    %0 = uop.buffer 0 : !uop.mem<12xf32, global>
    ```
  }];
  let arguments = (ins I64Prop:$slot);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$slot attr-dict `:` type($result)";
}

def Uop_AllocOp : Uop_Op<"alloc", [Pure]> {
  let summary = "scratch memory of a call";
  let description = [{
    Flat memory, `local` unless its type says otherwise. It is declared in the
    deepest loop that all its users share; `shared` memory at the top.

    ```mlir
    %0 = uop.alloc 0 : !uop.mem<1xf32, local>
    ```
  }];
  let arguments = (ins I64Prop:$slot);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$slot attr-dict `:` type($result)";
}

def Uop_LoadOp : Uop_InferredOp<"load", [Pure]> {
  let summary = "the value in memory";
  let description = [{
    Reads the first source. With a gate (a bool) and an alternative, memory is
    read only where the gate is true; elsewhere the value is the alternative.

    ```mlir
    %1 = uop.load %0 : !uop.mem<f32, global>
    %3 = uop.load %0, %gate, %alt : !uop.mem<f32, global>, i1, f32
    ```
  }];
  let arguments = (ins AnyType:$source, Variadic<AnyType>:$gate);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $source (`,` $gate^)? attr-dict `:` type($source) (`,` type($gate)^)?
  }];
}

def Uop_StoreOp : Uop_InferredOp<"store"> {
  let summary = "writes elements";
  let description = [{
    Writes a value of the pointer's dtype and shape through the pointer: in loops
    one element, in a program of shapes all elements of a view of a BUFFER.

    ```mlir
    %2 = uop.store %0, %1 : !uop.mem<f32, global>, f32
    %5 = uop.store %3, %4 : !uop.mem<3x4xf32, global>, tensor<3x4xf32>
    ```
  }];
  let arguments = (ins AnyType:$pointer, AnyType:$value);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $pointer `,` $value attr-dict `:` type($pointer) `,` type($value)
  }];
}

def Uop_AfterOp : Uop_InferredOp<"after", [Pure]> {
  let summary = "the same memory, later";
  let description = [{
    The first source, but only once the others have happened; with a RANGE among
    the others, inside that loop. This edge is the only order between a write and
    a later read of the same memory. It prints as nothing. In a program of shapes,
    a BUFFER that is read without it is what it was before the run.

    ```mlir
    %3 = uop.after %0, %1, %2 : !uop.mem<1xf32, local>, !uop.void, i32
    ```
  }];
  let arguments = (ins AnyType:$source, Variadic<AnyType>:$deps);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $source (`,` $deps^)? attr-dict `:` type($source) (`,` type($deps)^)?
  }];
}

def Uop_SinkOp : Uop_InferredOp<"sink"> {
  let summary = "effects together";
  let description = [{
    Groups effects, or none; the root of a program that is written as loops, and
    with values among its sources that of a program of shapes with several results.

    ```mlir
    %2 = uop.sink %0, %1 : !uop.void
    %3 = uop.sink()
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$srcs);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    ($srcs^ `:` custom<SourceTypes>(ref($srcs), type($srcs))) : (`(` `)`)?
    attr-dict
  }];
}

def Uop_YieldOp : Op<Uop_Dialect, "yield", [
    Pure, Terminator, HasParent<"ProgramOp">]> {
  let summary = "names the root of a program";
  let description = [{
    ```mlir
    uop.yield %0 : tensor<3xf32>
    ```
  }];
  let arguments = (ins AnyType:$root);
  let assemblyFormat = "$root attr-dict `:` type($root)";
}

def Uop_ProgramOp : Op<Uop_Dialect, "program", [
    IsolatedFromAbove, Symbol, SingleBlock, NoRegionArguments]> {
  let summary = "one graph";
  let description = [{
    A graph of UOps in one block whose terminator names the root. The name is that
    of the kernel it becomes. A module holds any number of programs.

    ```mlir
    uop.program @one {
      %0 = uop.const 1 : i32
      uop.yield %0 : i32
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$bodyRegion);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $bodyRegion";
  let hasRegionVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name)>];
  let extraClassDeclaration = [{
    ::mlir::Block &getBodyBlock() { return getBodyRegion().front(); }
    /// The value that the terminator names.
    ::mlir::Value getRoot();
  }];
}

#endif // UOP_DIALECT_UOPMEMORYOPS_TD
