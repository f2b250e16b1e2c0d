// RUN: uop-opt %s --uop-kernelize=max-parameters=3 --split-input-file --verify-diagnostics

// Contents after the second STORE and before the first.

uop.program @cycle {
  %0 = uop.buffer 0 : !uop.mem<1xf32, global>
  %1 = uop.const 1.0 : f32
  %2 = uop.reshape %1 [1] : f32
  %3 = uop.store %0, %2 : !uop.mem<1xf32, global>, tensor<1xf32>
  %4 = uop.exp2 %2 : tensor<1xf32>
  %5 = uop.store %0, %4 : !uop.mem<1xf32, global>, tensor<1xf32>
  // expected-error @below {{a cycle through BUFFER slot 0: it is read after one STORE and before another that comes first}}
  %6 = uop.after %0, %5 : !uop.mem<1xf32, global>, !uop.void
  %7 = uop.sink %3, %6 : !uop.void, !uop.mem<1xf32, global>
  uop.yield %7 : !uop.void
}

// -----

uop.program @wide {
  %0 = uop.buffer 0 : !uop.mem<4xi1, global>
  %1 = uop.buffer 1 : !uop.mem<4xf32, global>
  %2 = uop.buffer 2 : !uop.mem<4xf32, global>
  // expected-error @below {{WHERE alone needs 4 buffers, a kernel takes 3}}
  %3 = uop.where %0, %1, %2 : !uop.mem<4xi1, global>, !uop.mem<4xf32, global>, !uop.mem<4xf32, global>
  uop.yield %3 : tensor<4xf32>
}

// -----

uop.program @unbound {
  // expected-error @below {{PARAM 0 is in no CALL: nothing gives it a value}}
  %0 = uop.param 0 : tensor<4xf32>
  uop.yield %0 : tensor<4xf32>
}

// -----

uop.program @mixed {
  %0 = uop.const 4 : i32
  // expected-error @below {{RANGE stands in a program of shapes}}
  %1 = uop.range 0 loop %0 : i32
  %2 = uop.reshape %1 [1] : i32
  uop.yield %2 : tensor<1xi32>
}

// -----

uop.program @large {
  %0 = uop.const 1.0 : f32
  %1 = uop.reshape %0 [1, 1] : f32
  // expected-error @below {{BUFFER of 4294967296 elements: memory holds at most 2147483647}}
  %2 = uop.expand %1 [65536, 65536] : tensor<1x1xf32>
  uop.yield %2 : tensor<65536x65536xf32>
}
