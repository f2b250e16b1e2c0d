// What rangeify gives up on, each with one message.

// RUN: uop-opt %s --rangeify -split-input-file -verify-diagnostics

uop.program @param {
  // expected-error @below {{PARAM 0 is in no CALL: nothing gives it a value}}
  %0 = uop.param 0 : f32
  uop.yield %0 : f32
}

// -----

uop.program @index {
  %0 = uop.buffer 0 : !uop.mem<4xf32, global>
  %1 = uop.const 4 : i32
  // expected-error @below {{INDEX 4 is out of bounds for an axis of 4 elements}}
  %2 = uop.index %0, %1 : !uop.mem<4xf32, global>, i32
  uop.yield %2 : !uop.mem<f32, global>
}

// -----

uop.program @negative {
  %0 = uop.buffer 0 : !uop.mem<4xf32, global>
  %1 = uop.const -1 : i32
  // expected-error @below {{INDEX -1 is out of bounds for an axis of 4 elements}}
  %2 = uop.index %0, %1 : !uop.mem<4xf32, global>, i32
  uop.yield %2 : !uop.mem<f32, global>
}

// -----

uop.program @axis {
  %0 = uop.const 1.0 : f32
  %1 = uop.reshape %0 [1] : f32
  %2 = uop.expand %1 [3000000000] : tensor<1xf32>
  // expected-error @below {{an axis of 3000000000 elements is too long for an i32 loop}}
  %3 = uop.reduce add 1 %2 : tensor<3000000000xf32>
  uop.yield %3 : f32
}

// -----

uop.program @output {
  %0 = uop.const 1.0 : f32
  %1 = uop.reshape %0 [1, 1] : f32
  // expected-error @below {{BUFFER of 4294967296 elements: memory holds at most 2147483647}}
  %2 = uop.expand %1 [65536, 65536] : tensor<1x1xf32>
  uop.yield %2 : tensor<65536x65536xf32>
}

// -----

uop.program @ravel {
  %0 = uop.const 1.0 : f32
  %1 = uop.reshape %0 [1, 1] : f32
  %2 = uop.expand %1 [65537, 65536] : tensor<1x1xf32>
  // expected-error @below {{RESHAPE (65537, 65536) -> (65536, 65537): its index arithmetic does not fit i32}}
  %3 = uop.reshape %2 [65536, 65537] : tensor<65537x65536xf32>
  %4 = uop.reduce add 2 %3 : tensor<65536x65537xf32>
  uop.yield %4 : f32
}

// -----

uop.program @loop {
  %0 = uop.const 4 : i32
  // expected-error @below {{RANGE stands in a program of shapes}}
  %1 = uop.range 0 loop %0 : i32
  uop.yield %1 : i32
}
