// Programs without a C form; nothing is printed of them.
// RUN: uop-translate --mlir-to-c -split-input-file -verify-diagnostics %s | FileCheck %s
// CHECK-NOT: void

uop.program @barrier {
  %0 = uop.const 16 : i32
  %1 = uop.range 0 local %0 : i32
  %2 = uop.alloc 0 : !uop.mem<16xf32, shared>
  %3 = uop.index %2, %1 : !uop.mem<16xf32, shared>, i32
  %4 = uop.const 1.0 : f32
  %5 = uop.store %3, %4 : !uop.mem<f32, shared>, f32
  // expected-error @below {{BARRIER has no C form: it needs a GPU}}
  %6 = uop.barrier %5 : !uop.void
  %7 = uop.end %6, %1 : !uop.void, i32
  uop.yield %7 : !uop.void
}

// -----

uop.program @wmma {
  %0 = uop.const 1.0 : f16
  %1 = uop.const 1.0 : f32
  // expected-error @below {{WMMA has no C form: it needs a GPU}}
  %2 = uop.wmma %0, %0, %1 : f16, f16, f32
  %m = uop.buffer 0 : !uop.mem<1xf32, global>
  %i = uop.const 0 : i32
  %p = uop.index %m, %i : !uop.mem<1xf32, global>, i32
  %s = uop.store %p, %2 : !uop.mem<f32, global>, f32
  %3 = uop.sink %s : !uop.void
  uop.yield %3 : !uop.void
}

// -----

uop.program @param {
  // expected-error @below {{PARAM has no C form: run rangeify first}}
  %0 = uop.param 0 : f32
  %m = uop.buffer 0 : !uop.mem<1xf32, global>
  %i = uop.const 0 : i32
  %p = uop.index %m, %i : !uop.mem<1xf32, global>, i32
  %s = uop.store %p, %0 : !uop.mem<f32, global>, f32
  %1 = uop.sink %s : !uop.void
  uop.yield %1 : !uop.void
}

// -----

uop.program @call {
  %0 = uop.const 1.0 : f32
  // expected-error @below {{CALL has no C form: run rangeify first}}
  %1 = uop.call "f" %0 : f32
  %m = uop.buffer 0 : !uop.mem<1xf32, global>
  %i = uop.const 0 : i32
  %p = uop.index %m, %i : !uop.mem<1xf32, global>, i32
  %s = uop.store %p, %1 : !uop.mem<f32, global>, f32
  %2 = uop.sink %s : !uop.void
  uop.yield %2 : !uop.void
}

// -----

uop.program @stack {
  // expected-error @below {{ALLOC slot 0 makes 1048580 bytes of local memory: the C stack holds at most 1048576}}
  %0 = uop.alloc 0 : !uop.mem<262145xf32, local>
  %i = uop.const 0 : i32
  %f = uop.const 1.0 : f32
  %p = uop.index %0, %i : !uop.mem<262145xf32, local>, i32
  %s = uop.store %p, %f : !uop.mem<f32, local>, f32
  %1 = uop.sink %s : !uop.void
  uop.yield %1 : !uop.void
}
