// What one kernel cannot do, and what is no result.

// RUN: uop-opt %s --rangeify -split-input-file -verify-diagnostics

uop.program @elsewhere {
  // expected-error @below {{BUFFER 2 is stored to, and read where that element is not the one stored: plan it with --uop-kernelize}}
  %x = uop.buffer 2 : !uop.mem<4xf32, global>
  %m = uop.reshape %x [2, 2] : !uop.mem<4xf32, global>
  %t = uop.permute %m [1, 0] : !uop.mem<2x2xf32, global>
  %s = uop.store %m, %t : !uop.mem<2x2xf32, global>, !uop.mem<2x2xf32, global>
  %k = uop.sink %s : !uop.void
  uop.yield %k : !uop.void
}

// -----

// Stored in one nest of loops, read in another.
uop.program @sum {
  // expected-error @below {{BUFFER 0 is stored to, and read where}}
  %x = uop.buffer 0 : !uop.mem<4xf32, global>
  %y = uop.buffer 1 : !uop.mem<4xf32, global>
  %sum = uop.reduce add 1 %x : !uop.mem<4xf32, global>
  %s = uop.store %x, %y : !uop.mem<4xf32, global>, !uop.mem<4xf32, global>
  %k = uop.sink %s, %sum : !uop.void, f32
  uop.yield %k : !uop.void
}

// -----

// The same element, but in loops of another shape.
uop.program @one {
  %x = uop.buffer 0 : !uop.mem<4xf32, global>
  %i = uop.const 1 : i32
  %e = uop.index %x, %i : !uop.mem<4xf32, global>, i32
  %f = uop.exp2 %e : !uop.mem<f32, global>
  %s = uop.store %e, %f : !uop.mem<f32, global>, f32
  // expected-error @below {{BUFFER 0 is stored to, and read where}}
  %r = uop.reshape %e [1] : !uop.mem<f32, global>
  %k = uop.sink %s, %r : !uop.void, !uop.mem<1xf32, global>
  uop.yield %k : !uop.void
}

// -----

// The second STORE comes when the first has changed what it reads.
uop.program @overlap {
  %x = uop.buffer 0 : !uop.mem<8xf32, global>
  %y = uop.buffer 1 : !uop.mem<4xf32, global>
  %a = uop.shrink %x [0, 4] : !uop.mem<8xf32, global>
  %b = uop.shrink %x [1, 5] : !uop.mem<8xf32, global>
  %s = uop.store %a, %y : !uop.mem<4xf32, global>, !uop.mem<4xf32, global>
  // expected-error @below {{BUFFER 0 is stored to, and read where}}
  %f = uop.exp2 %b : !uop.mem<4xf32, global>
  %t = uop.store %b, %f : !uop.mem<4xf32, global>, tensor<4xf32>
  %k = uop.sink %s, %t : !uop.void
  uop.yield %k : !uop.void
}

// -----

// The place of a STORE is read from what is stored to.
uop.program @place {
  // expected-error @below {{BUFFER 0 is stored to, and read where}}
  %x = uop.buffer 0 : !uop.mem<4xi32, global>
  %m = uop.reshape %x [2, 2] : !uop.mem<4xi32, global>
  %i = uop.const 0 : i32
  %e = uop.index %x, %i : !uop.mem<4xi32, global>, i32
  %at = uop.load %e : !uop.mem<i32, global>
  %row = uop.index %m, %at : !uop.mem<2x2xi32, global>, i32
  %y = uop.buffer 1 : !uop.mem<2xi32, global>
  %s = uop.store %row, %y : !uop.mem<2xi32, global>, !uop.mem<2xi32, global>
  %k = uop.sink %s : !uop.void
  uop.yield %k : !uop.void
}

// -----

uop.program @after {
  %x = uop.buffer 0 : !uop.mem<4xf32, global>
  %f = uop.exp2 %x : !uop.mem<4xf32, global>
  %s = uop.store %x, %f : !uop.mem<4xf32, global>, tensor<4xf32>
  // expected-error @below {{AFTER stands in a program of shapes: plan it with --uop-kernelize}}
  %a = uop.after %x, %s : !uop.mem<4xf32, global>, !uop.void
  uop.yield %a : !uop.mem<4xf32, global>
}

// -----

uop.program @expand {
  %x = uop.buffer 0 : !uop.mem<1xf32, global>
  %e = uop.expand %x [4] : !uop.mem<1xf32, global>
  %f = uop.exp2 %e : !uop.mem<4xf32, global>
  // expected-error @below {{STORE into an EXPAND: one element would be stored to more than once}}
  %s = uop.store %e, %f : !uop.mem<4xf32, global>, tensor<4xf32>
  %k = uop.sink %s : !uop.void
  uop.yield %k : !uop.void
}

// -----

uop.program @alloc {
  %x = uop.alloc 0 : !uop.mem<4xf32, local>
  %y = uop.buffer 0 : !uop.mem<4xf32, global>
  // expected-error @below {{STORE into ALLOC: a program of shapes stores to BUFFERs}}
  %s = uop.store %x, %y : !uop.mem<4xf32, local>, !uop.mem<4xf32, global>
  %k = uop.sink %s : !uop.void
  uop.yield %k : !uop.void
}

// -----

uop.program @barrier {
  %x = uop.buffer 0 : !uop.mem<4xf32, global>
  %f = uop.exp2 %x : !uop.mem<4xf32, global>
  // expected-error @below {{BARRIER is no result of a program of shapes: those are values and STOREs}}
  %s = uop.barrier %f : tensor<4xf32>
  %k = uop.sink %s : !uop.void
  uop.yield %k : !uop.void
}
