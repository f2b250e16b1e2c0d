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
    every node), and when a rule changes a node's type.

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
           "How many rules may fire before it is an error">];
}

def UopRangeify : Pass<"uop-rangeify", "::uop::ProgramOp"> {
  let summary = "turn shapes into loops and memory";
  let description = [{
    Lowers a program whose root is a value to one whose root is a SINK: every
    output axis becomes a RANGE, movement ops become index arithmetic, a STACK a
    chain of WHEREs, a REDUCE an accumulator with loops of its own, placed inside
    the loops that its output index uses. CALLs are inlined, STAGEs are
    transparent. The output is a new BUFFER of the highest slot plus one. A program
    whose root is a SINK already is left as it stands. Gives up on a PARAM outside
    any CALL, on an index that is out of bounds for sure, and on an axis too long
    for an i32 loop. Short spelling: `--rangeify`.

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

#endif // UOP_TRANSFORMS_PASSES_TD
