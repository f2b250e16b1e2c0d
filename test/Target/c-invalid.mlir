// Programs without a C form.
// RUN: not uop-translate --mlir-to-c -split-input-file %s 2>&1 | FileCheck %s

// CHECK: BARRIER has no C form: it needs a GPU
// CHECK-NOT: void barrier
uop.program @barrier {
  %0 = uop.const 16 : i32
  %1 = uop.range 0 local %0 : i32
  %2 = uop.alloc 0 : !uop.mem<16xf32, shared>
  %3 = uop.index %2, %1 : !uop.mem<16xf32, shared>, i32
  %4 = uop.const 1.0 : f32
  %5 = uop.store %3, %4 : !uop.mem<f32, shared>, f32
  %6 = uop.barrier %5 : !uop.void
  %7 = uop.end %6, %1 : !uop.void, i32
  uop.yield %7 : !uop.void
}

// -----

// CHECK: MUL is shaped: run rangeify first
// CHECK-NOT: void shaped
uop.program @shaped {
  %0 = uop.buffer 0 : !uop.mem<4xf32, global>
  %1 = uop.mul %0, %0 : !uop.mem<4xf32, global>
  uop.yield %1 : tensor<4xf32>
}

// -----

// CHECK: END does not close the innermost loop, 1: run linearize first
// CHECK-NOT: void crossed
uop.program @crossed {
  %0 = uop.const 4 : i32
  %1 = uop.buffer 0 : !uop.mem<4xf32, global>
  %2 = uop.range 0 loop %0 : i32
  %3 = uop.range 1 loop %0 : i32
  %4 = uop.index %1, %2 : !uop.mem<4xf32, global>, i32
  %5 = uop.const 1.0 : f32
  %6 = uop.store %4, %5 : !uop.mem<f32, global>, f32
  %7 = uop.end %6, %2 : !uop.void, i32
  uop.yield %7 : !uop.void
}
