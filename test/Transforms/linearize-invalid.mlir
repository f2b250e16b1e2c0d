// What --linearize says of programs that have no schedule.

// RUN: uop-opt %s --linearize -split-input-file -verify-diagnostics

uop.program @value {
  // expected-error @below {{linearize needs a program of loops (run rangeify first)}}
  %0 = uop.const 1 : i32
  uop.yield %0 : i32
}

// -----

uop.program @unclosed {
  %n = uop.const 4 : i32
  // expected-error @below {{RANGE without END: loops [0] are never closed; inside: STORE}}
  %i = uop.range 0 loop %n : i32
  %a = uop.buffer 0 : !uop.mem<4xf32, global>
  %p = uop.index %a, %i : !uop.mem<4xf32, global>, i32
  %f = uop.const 1.0 : f32
  %s = uop.store %p, %f : !uop.mem<f32, global>, f32
  %root = uop.sink %s : !uop.void
  uop.yield %root : !uop.void
}

// -----

uop.program @partly {
  %n = uop.const 4 : i32
  %i = uop.range 0 loop %n : i32
  %j = uop.range 1 loop %n : i32
  %ij = uop.add %i, %j : i32
  %a = uop.buffer 0 : !uop.mem<8xf32, global>
  %p = uop.index %a, %ij : !uop.mem<8xf32, global>, i32
  %f = uop.const 1.0 : f32
  %s = uop.store %p, %f : !uop.mem<f32, global>, f32
  // expected-error-re @below {{can't schedule; open loops [0, 1], stuck at [(END, [0, 1]), (SINK, [0, 1])]: END {{.*}} closes loops [0] but not [1], where STORE {{.*}} is}}
  %e = uop.end %s, %i : !uop.void, i32
  %root = uop.sink %e : !uop.void
  uop.yield %root : !uop.void
}

// -----

uop.program @twice {
  %n = uop.const 4 : i32
  %i = uop.range 0 loop %n : i32
  %a = uop.buffer 0 : !uop.mem<4xf32, global>
  %b = uop.buffer 1 : !uop.mem<4xf32, global>
  %p = uop.index %a, %i : !uop.mem<4xf32, global>, i32
  %q = uop.index %b, %i : !uop.mem<4xf32, global>, i32
  %f = uop.const 1.0 : f32
  %s = uop.store %p, %f : !uop.mem<f32, global>, f32
  %t = uop.store %q, %f : !uop.mem<f32, global>, f32
  %e = uop.end %s, %i : !uop.void, i32
  // expected-error @below {{loop 0 is closed by two ENDs: give each loop its own idx, or use one END over a SINK}}
  %g = uop.end %t, %i : !uop.void, i32
  %root = uop.sink %e, %g : !uop.void
  uop.yield %root : !uop.void
}

// -----

uop.program @kinds {
  %n = uop.const 4 : i32
  %i = uop.range 0 loop %n : i32
  // expected-error-re @below {{loop 0 is two loops, loop of 4 at RANGE {{.*}} and thread of 4 at RANGE {{.*}}: give each loop its own idx}}
  %j = uop.range 0 thread %n : i32
  %ij = uop.add %i, %j : i32
  %a = uop.buffer 0 : !uop.mem<8xf32, global>
  %p = uop.index %a, %ij : !uop.mem<8xf32, global>, i32
  %f = uop.const 1.0 : f32
  %s = uop.store %p, %f : !uop.mem<f32, global>, f32
  %e = uop.end %s, %i, %j : !uop.void, i32, i32
  uop.yield %e : !uop.void
}

// -----

uop.program @inside_out {
  %n = uop.const 4 : i32
  %i = uop.range 1 loop %n : i32
  // expected-error @below {{loop 0 is inside loop 1, which its end}}
  %j = uop.range 0 loop %i : i32
  %a = uop.buffer 0 : !uop.mem<8xf32, global>
  %p = uop.index %a, %j : !uop.mem<8xf32, global>, i32
  %f = uop.const 1.0 : f32
  %s = uop.store %p, %f : !uop.mem<f32, global>, f32
  %e = uop.end %s, %i, %j : !uop.void, i32, i32
  uop.yield %e : !uop.void
}

// -----

uop.program @empty_loop {
  %n = uop.const 4 : i32
  // expected-error @below {{can't schedule; open loops [], stuck at [(RANGE, []), (END, [])]: no op is inside loop 0}}
  %i = uop.range 0 loop %n : i32
  %a = uop.buffer 0 : !uop.mem<4xf32, global>
  %p = uop.index %a, %n : !uop.mem<4xf32, global>, i32
  %f = uop.const 1.0 : f32
  %s = uop.store %p, %f : !uop.mem<f32, global>, f32
  %e = uop.end %s, %i : !uop.void, i32
  uop.yield %e : !uop.void
}

// -----

uop.program @race {
  %n = uop.const 4 : i32
  %i = uop.range 0 loop %n : i32
  %a = uop.buffer 0 : !uop.mem<4xf32, global>
  %b = uop.buffer 1 : !uop.mem<4xf32, global>
  %p = uop.index %a, %i : !uop.mem<4xf32, global>, i32
  %q = uop.index %b, %i : !uop.mem<4xf32, global>, i32
  %f = uop.const 1.0 : f32
  %s = uop.store %p, %f : !uop.mem<f32, global>, f32
  // expected-error @below {{LOAD and STORE of one element of BUFFER 0 with no AFTER between them}}
  %x = uop.load %p : !uop.mem<f32, global>
  %t = uop.store %q, %x : !uop.mem<f32, global>, f32
  %both = uop.sink %s, %t : !uop.void
  %e = uop.end %both, %i : !uop.void, i32
  uop.yield %e : !uop.void
}
