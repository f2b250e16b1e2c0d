//===- UopBase.td - dialect, types and enums of uop ----------*- tablegen -*-===//
//
// The dialect itself, its address spaces, axis kinds and types, and the classes
// that the op families (Uop*Ops.td) are written with.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_DIALECT_UOPBASE_TD
#define UOP_DIALECT_UOPBASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/Properties.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferIntRangeInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Uop_Dialect : Dialect {
  let name = "uop";
  let cppNamespace = "::uop";
  let summary = "Tensor programs as graphs of UOps";
  let description = [{
    A program is a graph of UOps. A UOp is an op, its sources (operands) and its
    arg (attributes and properties); its dtype, shape and address space follow
    from these. There is one op for each kind of UOp and no second kind of node:
    loops and memory are ops of the same flat graph, never nested regions.

    Values in registers have builtin types: `i1`, `i32`, `f16` and `f32` for the
    shape `()`, a static `tensor<2x3xf32>` for any other shape. Memory has
    `!uop.mem<2x3xf32, global>`; effects (STORE, END, BARRIER, SINK) have
    `!uop.void`.

    ```mlir
    uop.program @rowsum {
      %0 = uop.buffer 0 : !uop.mem<12xf32, global>
      %1 = uop.reshape %0 [3, 4] : !uop.mem<12xf32, global>
      %2 = uop.reduce add 1 %1 : !uop.mem<3x4xf32, global>
      uop.yield %2 : tensor<3xf32>
    }
    ```

    Before `--linearize` the order of the ops in the block means nothing beyond
    dominance; after it the order in the block is the schedule.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = [{
    /// The op code of a registered op name; nullopt for `uop.program`,
    /// `uop.yield` and the ops of other dialects.
    std::optional<::uop::OpCode> getOpCode(::mlir::OperationName name) const {
      ::uop::OpCode code = codeOfSlot[getSlot(name)];
      if (getOpName(code) != name)
        return std::nullopt;
      return code;
    }
    /// The i32 constant `value`; a small one is at hand.
    ::mlir::IntegerAttr getI32Attr(int32_t value) const {
      size_t place = static_cast<size_t>(int64_t(value) - firstSmall);
      if (place < smallConstants.size())
        return smallConstants[place];
      return ::mlir::IntegerAttr::get(i32, value);
    }
    /// The registered op name of an op code.
    ::mlir::OperationName getOpName(::uop::OpCode code) const {
      return opNames[static_cast<unsigned>(code)];
    }

  private:
    void addValueOps();
    void addMemoryOps();
    void addLoopOps();
    void addMovementOps();
    void addKernelOps();
    ::llvm::SmallVector<::mlir::OperationName, 0> opNames;
    /// The op codes by a hash of the op name. `initialize` finds a factor under
    /// which no two names have one slot.
    size_t getSlot(::mlir::OperationName name) const {
      auto address =
          reinterpret_cast<uintptr_t>(name.getAsOpaquePointer());
      return uint64_t(address) * slotFactor >> 56;
    }
    bool fillSlots();
    uint64_t slotFactor = 0x9e3779b97f4a7c15;
    ::uop::OpCode codeOfSlot[256];
    /// The constants from `firstSmall` on: the sizes and strides of most loops.
    static constexpr int64_t firstSmall = -64, lastSmall = 256;
    ::llvm::SmallVector<::mlir::IntegerAttr, 0> smallConstants;
    ::mlir::Type i32;

  public:
  }];
}

//===----------------------------------------------------------------------===//
// Enums
//===----------------------------------------------------------------------===//

def Uop_AddrSpace : I32EnumAttr<"AddrSpace", "where a value lives", [
    I32EnumAttrCase<"Alu", 0, "alu">,
    I32EnumAttrCase<"Global", 1, "global">,
    I32EnumAttrCase<"Local", 2, "local">,
    I32EnumAttrCase<"Shared", 3, "shared">]> {
  let cppNamespace = "::uop";
  let description = [{
    `alu` is a plain value in a register. The others are memory: `global` device
    memory (a kernel argument), `local` call-scope storage, `shared` the memory
    of a GPU workgroup.
  }];
}

def Uop_AxisKind : I32EnumAttr<"AxisKind", "what a RANGE becomes", [
    I32EnumAttrCase<"Loop", 0, "loop">,
    I32EnumAttrCase<"Reduce", 1, "reduce">,
    I32EnumAttrCase<"Upcast", 2, "upcast">,
    I32EnumAttrCase<"Thread", 3, "thread">,
    I32EnumAttrCase<"Global", 4, "global">,
    I32EnumAttrCase<"Local", 5, "local">]> {
  let cppNamespace = "::uop";
  let description = [{
    `loop` is a serial loop, `reduce` a serial loop that a reduction accumulates
    over, `upcast` an unrolled one, `thread` is shared out over CPU threads,
    `global` and `local` are the block and the thread index of a GPU.
  }];
}

def Uop_ReduceKind : I32EnumAttr<"ReduceKind", "how a REDUCE combines", [
    I32EnumAttrCase<"Add", 0, "add">,
    I32EnumAttrCase<"Max", 1, "max">]> {
  let cppNamespace = "::uop";
  let genSpecializedAttr = 0;
}
def Uop_ReduceKindAttr : EnumAttr<Uop_Dialect, Uop_ReduceKind, "reduce"> {
  let assemblyFormat = "$value";
  let summary = "the op that a REDUCE combines with";
  let description = [{
    `add` (identity 0, on bools an "or") or `max` (identity -inf, INT_MIN, false).

    ```mlir
    %1 = uop.reduce max 1 %0 : tensor<3x4xf32>
    ```
  }];
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

def Uop_MemType : TypeDef<Uop_Dialect, "Mem"> {
  let mnemonic = "mem";
  let summary = "memory of a shape, a dtype and an address space";
  let description = [{
    The type of buffers, allocations and the views and pointers into them. A
    pointer to one element has no dimensions. Loads, stores and implicit reads
    take memory; what they read are register values.

    ```mlir
    !uop.mem<2x3xf32, global>   // a view of 2 by 3 floats
    !uop.mem<f32, local>        // a pointer to one float
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape,
                        "::mlir::Type":$elementType,
                        "::uop::AddrSpace":$space);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Uop_VoidType : TypeDef<Uop_Dialect, "Void"> {
  let mnemonic = "void";
  let summary = "the type of effects";
  let description = [{
    STORE, END, BARRIER and SINK have no value; their uses are ordering edges.

    ```mlir
    uop.yield %sink : !uop.void
    ```
  }];
}

//===----------------------------------------------------------------------===//
// Op classes
//===----------------------------------------------------------------------===//

/// A UOp: one result, typed by the rule of its op code (Typing.h).
class Uop_Op<string mnemonic, list<Trait> traits = []>
    : Op<Uop_Dialect, mnemonic, traits> {
  let hasVerifier = 1;
}

/// A UOp whose result type follows from its sources and its arg.
class Uop_InferredOp<string mnemonic, list<Trait> traits = []>
    : Uop_Op<mnemonic, !listconcat(traits, [
        DeclareOpInterfaceMethods<InferTypeOpInterface, ["inferReturnTypes"]>])>;

#endif // UOP_DIALECT_UOPBASE_TD
