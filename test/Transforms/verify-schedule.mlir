// Orders that are no schedule.

// RUN: uop-opt %s --pass-pipeline='builtin.module(uop.program(uop-verify-schedule))' -split-input-file -verify-diagnostics

uop.program @good {
  %n = uop.const 4 : i32
  %a = uop.buffer 0 : !uop.mem<4xf32, global>
  %f = uop.const 1.0 : f32
  %i = uop.range 0 loop %n : i32
  %p = uop.index %a, %i : !uop.mem<4xf32, global>, i32
  %s = uop.store %p, %f : !uop.mem<f32, global>, f32
  %e = uop.end %s, %i : !uop.void, i32
  uop.yield %e : !uop.void
}

// -----

uop.program @open {
  %n = uop.const 4 : i32
  // expected-error @below {{RANGE without END: loops [0] are never closed}}
  %i = uop.range 0 loop %n : i32
  %a = uop.buffer 0 : !uop.mem<4xf32, global>
  %p = uop.index %a, %i : !uop.mem<4xf32, global>, i32
  uop.yield %p : !uop.mem<f32, global>
}

// -----

uop.program @crossing {
  %n = uop.const 4 : i32
  %a = uop.buffer 0 : !uop.mem<4xf32, global>
  %f = uop.const 1.0 : f32
  %i = uop.range 0 loop %n : i32
  %j = uop.range 1 loop %n : i32
  %p = uop.index %a, %i : !uop.mem<4xf32, global>, i32
  %q = uop.index %a, %j : !uop.mem<4xf32, global>, i32
  %s = uop.store %p, %f : !uop.mem<f32, global>, f32
  %t = uop.store %q, %f : !uop.mem<f32, global>, f32
  // expected-error @below {{END closes loops [0], which are not the innermost of the open loops [0, 1]}}
  %e = uop.end %s, %i : !uop.void, i32
  %g = uop.end %t, %j : !uop.void, i32
  %root = uop.sink %e, %g : !uop.void
  uop.yield %root : !uop.void
}

// -----

uop.program @outside {
  %n = uop.const 4 : i32
  %a = uop.buffer 0 : !uop.mem<4xf32, global>
  %f = uop.const 1.0 : f32
  %i = uop.range 0 loop %n : i32
  %p = uop.index %a, %i : !uop.mem<4xf32, global>, i32
  %s = uop.store %p, %f : !uop.mem<f32, global>, f32
  %e = uop.end %s, %i : !uop.void, i32
  // expected-error @below {{STORE is outside loop 0, where its source INDEX}}
  %t = uop.store %p, %f : !uop.mem<f32, global>, f32
  %root = uop.sink %e, %t : !uop.void
  uop.yield %root : !uop.void
}

// -----

uop.program @inside_out {
  %n = uop.const 4 : i32
  %i = uop.range 1 loop %n : i32
  // expected-error @below {{loop 0 opens inside loop 1: loops nest in increasing idx}}
  %j = uop.range 0 loop %n : i32
  uop.yield %j : i32
}

// -----

uop.program @again {
  %n = uop.const 4 : i32
  %i = uop.range 0 loop %n : i32
  // expected-error @below {{loop 0 opens twice}}
  %j = uop.range 0 loop %n : i32
  uop.yield %j : i32
}

// -----

// A reset in the loop that it should precede would happen in every trip.
uop.program @deep {
  %n = uop.const 4 : i32
  %zero = uop.const 0 : i32
  %f = uop.const 1.0 : f32
  %memory = uop.alloc 0 : !uop.mem<1xf32, local>
  %p = uop.index %memory, %zero : !uop.mem<1xf32, local>, i32
  %a = uop.buffer 0 : !uop.mem<4xf32, global>
  %i = uop.range 0 loop %n : i32
  // expected-error @below {{STORE runs in loops [0] but belongs in []}}
  %init = uop.store %p, %f : !uop.mem<f32, local>, f32
  %later = uop.after %memory, %init : !uop.mem<1xf32, local>, !uop.void
  %r = uop.index %later, %zero : !uop.mem<1xf32, local>, i32
  %x = uop.load %r : !uop.mem<f32, local>
  %q = uop.index %a, %i : !uop.mem<4xf32, global>, i32
  %s = uop.store %q, %x : !uop.mem<f32, global>, f32
  %e = uop.end %s, %i : !uop.void, i32
  uop.yield %e : !uop.void
}
