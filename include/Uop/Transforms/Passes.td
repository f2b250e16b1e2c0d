//===- Passes.td - the passes of uop -------------------------*- tablegen -*-===//
//
// Every pass with what it looks for, what it builds and when it gives up.
//
//===----------------------------------------------------------------------===//

#ifndef UOP_TRANSFORMS_PASSES_TD
#define UOP_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def UopUnique : Pass<"uop-unique", "::uop::ProgramOp"> {
  let summary = "make every structure one node";
  let description = [{
    Rebuilds a program so that equal ops (op, sources, arg) are one op and what the
    root does not reach is gone. Text may hold duplicates; graphs that the project
    builds never do. With `check` nothing changes, and the first duplicate is an
    error.

    ```mlir
    // before
    %0 = uop.const 1 : i32
    %1 = uop.const 1 : i32
    %2 = uop.add %0, %1 : i32
    // after
    %0 = uop.const 1 : i32
    %1 = uop.add %0, %0 : i32
    ```
  }];
  let options = [Option<"check", "check", "bool", "false",
                        "Only say whether the program is unique">];
}

def UopSimplify : Pass<"uop-simplify", "::uop::ProgramOp"> {
  let summary = "rewrite by rules to a fixed point";
  let description = [{
    Applies the rule sets that `sets` names (by default, all that keep every bit
    of every value) bottom-up until no rule matches. Gives up, naming the rules,
    when rules undo each other or more than `max-steps` rules fire (plus 64 for
    every node), and when a rule changes a node's type. The default sets never
    make a program larger (constants not counted). A CALL whose body has lost a
    PARAM loses the argument, too, and the PARAMs after it move up.

    ```mlir
    // before
    %0 = uop.const 2 : i32
    %1 = uop.const 3 : i32
    %2 = uop.mul %0, %1 : i32
    // after
    %0 = uop.const 6 : i32
    ```
  }];
  let options = [
    ListOption<"sets", "sets", "std::string",
               "Names of rule sets, in place of the default ones">,
    Option<"maxSteps", "max-steps", "int64_t", "10000",
           "How many rules may fire before it is an error">,
    Option<"ruleStats", "rule-stats", "bool", "false",
           "Say which rules fired, how often and where">,
    Option<"traceRules", "trace-rules", "bool", "false",
           "Print every rewrite, before and after">];
}

def UopApplyRules : Pass<"uop-apply-rules", "::uop::ProgramOp"> {
  let summary = "rewrite by the rules of a file to a fixed point";
  let description = [{
    Reads rules in PDLL (or a `.mlir` file of `pdl.pattern`s) and applies them like
    `uop-simplify` applies its own. `--uop-apply-rules=FILE` is short for
    `--uop-apply-rules=file=FILE`. Rules may call the native constraints and
    rewrites of `Uop/Transforms/Rules.pdll`. Gives up on a file that is malformed,
    with line and column; on a rule that builds a malformed node or changes a
    node's type; and when rules undo each other, with their names.

    ```mlir
    // with: Pattern MulOne => replace op<uop.mul>(
    //         x: Value, op<uop.const>{value = attr<"1 : i32">}) with x;
    // before
    %0 = uop.range 0 loop %n : i32
    %1 = uop.const 1 : i32
    %2 = uop.mul %0, %1 : i32
    // after
    %0 = uop.range 0 loop %n : i32
    ```
  }];
  let options = [
    Option<"file", "file", "std::string", "",
           "The rule file: PDLL, or PDL if its name ends in .mlir">,
    ListOption<"include", "include", "std::string",
               "Folders of the files that a rule file includes">,
    ListOption<"sets", "sets", "std::string",
               "Names of rule sets to apply beside the file's rules">,
    Option<"maxSteps", "max-steps", "int64_t", "10000",
           "How many rules may fire before it is an error">,
    Option<"ruleStats", "rule-stats", "bool", "false",
           "Say which rules fired, how often and where">,
    Option<"traceRules", "trace-rules", "bool", "false",
           "Print every rewrite, before and after">];
  let dependentDialects = ["::mlir::pdl::PDLDialect",
                           "::mlir::pdl_interp::PDLInterpDialect"];
}

def UopKernelize : Pass<"uop-kernelize", "::mlir::ModuleOp"> {
  let summary = "cut programs into plans of kernels";
  let description = [{
    Every program becomes a plan, and the kernels that it launches become programs
    of their own. Every STAGE and every result ends a kernel; `detach` stages
    vanish. Elementwise work joins its consumer, a reduction and what follows it
    element by element are one kernel, results with the same loops are one kernel.
    What would be computed again for want of memory is stored: the constants that
    decide stand in `Kernelize/Fusion.h`. STOREs into BUFFERs happen after the
    readers of the old contents and before those of the new. Temps share an arena.

    Kernels are named for what they do: `r_3` reduces to three elements, `e_3_4` is
    elementwise, the second of a name is `r_3n1`. Equal kernels are one. What a
    plan of the module launches already stays as it is.

    ```mlir
    // before
    uop.program @two {
      %0 = uop.buffer 0 : !uop.mem<4xf32, global>
      %1 = uop.exp2 %0 : !uop.mem<4xf32, global>
      %2 = uop.stage %1 : tensor<4xf32>
      %3 = uop.sqrt %2 : tensor<4xf32>
      uop.yield %3 : tensor<4xf32>
    }
    // after
    uop.program @e_4 {
      ...
    }
    uop.program @e_4n1 {
      ...
    }
    uop.plan @two arena 64 {
      %in0 = uop.input 0 : !uop.mem<4xf32, global>
      %out0 = uop.output 0 : !uop.mem<4xf32, global>
      %tmp0 = uop.temp 0 at 0 : !uop.mem<4xf32, global>
      uop.launch @e_4(%in0, %tmp0)
          : !uop.mem<4xf32, global>, !uop.mem<4xf32, global>
      uop.launch @e_4n1(%tmp0, %out0)
          : !uop.mem<4xf32, global>, !uop.mem<4xf32, global>
    }
    ```
  }];
  let options = [
    Option<"maxParameters", "max-parameters", "int64_t", "64",
           "How many buffers a kernel may take">,
    Option<"reassociate", "reassociate", "bool", "true",
           "Whether float sums may be added up in another order">];
}

def UopInlineCalls : Pass<"uop-inline-calls", "::uop::ProgramOp"> {
  let summary = "replace every CALL by its body over its arguments";
  let description = [{
    Beta reduction, outermost first. A CALL's body is a scope: PARAM slot i of it
    is argument i, and the body of a nested CALL is bound by that CALL alone. A body
    under equal arguments is built once; PARAMs outside any CALL stay. Nothing is
    folded.

    ```mlir
    // before
    %0 = uop.param 0 : i32
    %1 = uop.mul %0, %0 : i32
    %2 = uop.const 7 : i32
    %3 = uop.call "square" %1, %2 : i32
    // after
    %0 = uop.const 7 : i32
    %1 = uop.mul %0, %0 : i32
    ```
  }];
}

def UopCanonicalizeIndices
    : Pass<"uop-canonicalize-indices", "::uop::ProgramOp"> {
  let summary = "rewrite index arithmetic by rules, and nothing else";
  let description = [{
    `uop-simplify` held to nodes of which the value and all sources are scalars of
    i32 or bool: indices, loop counters, masks. Floats, shaped values and memory
    stay as written. Gives up like `uop-simplify`.

    ```mlir
    // before
    %2 = uop.mul %0, %1 : i32        // 3 * 4
    %3 = uop.index %x, %2 : !uop.mem<16xf32, global>, i32
    %5 = uop.mul %4, %4 : f32        // 2.0 * 2.0
    // after
    %0 = uop.const 12 : i32
    %1 = uop.index %x, %0 : !uop.mem<16xf32, global>, i32
    %3 = uop.mul %2, %2 : f32
    ```
  }];
  let options = [
    ListOption<"sets", "sets", "std::string",
               "Names of rule sets, in place of the default ones">,
    Option<"maxSteps", "max-steps", "int64_t", "10000",
           "How many rules may fire before it is an error">];
}

def UopRangeify : Pass<"uop-rangeify", "::uop::ProgramOp"> {
  let summary = "turn shapes into loops and memory";
  let description = [{
    Lowers a program of shapes, whose root is a value or a SINK of values and
    STOREs, to one of loops: every output axis becomes a RANGE, movement ops become
    index arithmetic, a STACK a chain of WHEREs, a REDUCE an accumulator with loops
    of its own, placed inside the loops that its output index uses. CALLs are
    inlined, STAGEs are transparent. Output number i is a new BUFFER of the highest
    slot plus one plus i; a STORE goes to the elements of its view. What has one
    shape is stored in the same loops, except what overwrites what an earlier STORE
    may have written: that has loops behind it. A program of loops is left as it
    stands.

    Gives up on a PARAM outside any CALL, on an index that is out of bounds for
    sure, on an axis too long for an i32 loop, and on what needs more than one
    kernel (`--uop-kernelize`): an AFTER, and an element of a buffer that is stored
    to in place read anywhere but where it is stored. Short spelling: `--rangeify`.

    ```mlir
    // before
    %0 = uop.buffer 0 : !uop.mem<4xf32, global>
    %1 = uop.mul %0, %0 : !uop.mem<4xf32, global>
    uop.yield %1 : tensor<4xf32>
    // after
    %0 = uop.buffer 1 : !uop.mem<4xf32, global>
    %1 = uop.const 4 : i32
    %2 = uop.range 0 loop %1 : i32
    %3 = uop.index %0, %2 : !uop.mem<4xf32, global>, i32
    %4 = uop.buffer 0 : !uop.mem<4xf32, global>
    %5 = uop.index %4, %2 : !uop.mem<4xf32, global>, i32
    %6 = uop.load %5 : !uop.mem<f32, global>
    %7 = uop.mul %6, %6 : f32
    %8 = uop.store %3, %7 : !uop.mem<f32, global>, f32
    %9 = uop.end %8, %2 : !uop.void, i32
    %10 = uop.sink %9 : !uop.void
    uop.yield %10 : !uop.void
    ```
  }];
}

def UopLinearize : Pass<"uop-linearize", "::uop::ProgramOp"> {
  let summary = "turn the graph into a schedule";
  let description = [{
    Orders the ops of a program of loops so that every op stands inside exactly the
    loops it needs, loops nest in increasing idx, sibling loops run in the order of
    their data, and accumulators are declared in the deepest loop that all their
    users share. Afterwards the order in the block is the schedule. Gives up, naming
    the loops and the ops in them, when a loop is never closed, closed twice, or
    cannot nest. Short spelling: `--linearize`.

    ```mlir
    // before: the accumulator's reset stands anywhere above its users
    // after:
    %r = uop.range 0 loop %n : i32
    %a = uop.alloc 0 : !uop.mem<1xf32, local>
    %b = uop.after %a, %r : !uop.mem<1xf32, local>, i32
    ```
  }];
}

def UopVerifySchedule : Pass<"uop-verify-schedule", "::uop::ProgramOp"> {
  let summary = "check that the order in the block is a schedule";
  let description = [{
    Checks that loops open and close like a stack and that every op stands inside
    the loops it depends on and outside those that an END has closed.

    ```mlir
    %2 = uop.range 0 loop %0 : i32    // opens
    %5 = uop.end %4, %2 : !uop.void, i32    // closes the innermost loop
    ```
  }];
}

def UopCheckBounds : Pass<"uop-check-bounds", "::uop::ProgramOp"> {
  let summary = "prove that every INDEX stays inside its memory";
  let description = [{
    Of a program of loops. An INDEX that is read through gates only counts where
    one of them is true. Where bounds of the index, also under each outcome of the
    gates and WHEREs around it, prove nothing, it is evaluated at every point of
    the loops it depends on. The first that leaves its memory is an error that
    says where; one that is neither proved nor refuted (it depends on values in
    memory, or on too many points to look at all) is a warning.

    ```mlir
    %i = uop.range 0 loop %n : i32    // n = 9
    // error: INDEX of BUFFER 0 (8 elements) is 8 at ridx0=8
    %p = uop.index %x, %i : !uop.mem<8xf32, global>, i32
    ```
  }];
  let options = [
    Option<"budget", "budget", "int64_t", "100000000",
           "How many nodes may be evaluated at points, all in all">];
}

#endif // UOP_TRANSFORMS_PASSES_TD
