// Proofs and counterexamples for indices.

// RUN: uop-opt %s --pass-pipeline='builtin.module(uop.program(uop-check-bounds))' -split-input-file -verify-diagnostics

// By bounds alone.
uop.program @inside {
  %n = uop.const 8 : i32
  %i = uop.range 0 loop %n : i32
  %x = uop.buffer 0 : !uop.mem<8xf32, global>
  %p = uop.index %x, %i : !uop.mem<8xf32, global>, i32
  %f = uop.const 1.0 : f32
  %s = uop.store %p, %f : !uop.mem<f32, global>, f32
  %e = uop.end %s, %i : !uop.void, i32
  uop.yield %e : !uop.void
}

// -----

// The first point in the order of the loops.
uop.program @outside {
  %n = uop.const 4 : i32
  %m = uop.const 2 : i32
  %i = uop.range 0 loop %n : i32
  %j = uop.range 1 loop %m : i32
  %c = uop.const 3 : i32
  %row = uop.mul %i, %c : i32
  %at = uop.add %row, %j : i32
  %x = uop.buffer 0 : !uop.mem<8xf32, global>
  // expected-error @below {{INDEX of BUFFER 0 (8 elements) is 9 at ridx0=3, ridx1=0}}
  %p = uop.index %x, %at : !uop.mem<8xf32, global>, i32
  %f = uop.const 1.0 : f32
  %s = uop.store %p, %f : !uop.mem<f32, global>, f32
  %e = uop.end %s, %i, %j : !uop.void, i32, i32
  uop.yield %e : !uop.void
}

// -----

// A gate, and a WHERE, both of which let only what is inside through; the index
// behind the gate is taken apart as far as the counter.
uop.program @guarded {
  %n = uop.const 1000000000 : i32
  %eight = uop.const 8 : i32
  %minus = uop.const -1 : i32
  %zero = uop.const 0 : i32
  %true = uop.const true
  %f = uop.const 1.0 : f32
  %i = uop.range 0 loop %n : i32
  %x = uop.buffer 0 : !uop.mem<8xf32, global>
  %y = uop.buffer 1 : !uop.mem<1000000000xf32, global>
  %left = uop.add %i, %minus : i32
  %small = uop.cmplt %left, %eight : i32
  %below = uop.cmplt %left, %zero : i32
  %above = uop.cmpne %below, %true : i1
  %gate = uop.mul %small, %above : i1
  %p = uop.index %x, %left : !uop.mem<8xf32, global>, i32
  %v = uop.load %p, %gate, %f : !uop.mem<f32, global>, i1, f32
  %tame = uop.cmplt %i, %eight : i32
  %k = uop.where %tame, %i, %zero : i1, i32, i32
  %q = uop.index %x, %k : !uop.mem<8xf32, global>, i32
  %w = uop.load %q : !uop.mem<f32, global>
  %sum = uop.add %v, %w : f32
  %out = uop.index %y, %i : !uop.mem<1000000000xf32, global>, i32
  %s = uop.store %out, %sum : !uop.mem<f32, global>, f32
  %e = uop.end %s, %i : !uop.void, i32
  uop.yield %e : !uop.void
}

// -----

// A store of the same INDEX knows no gate.
uop.program @gate_of_another_use {
  %n = uop.const 9 : i32
  %eight = uop.const 8 : i32
  %f = uop.const 1.0 : f32
  %i = uop.range 0 loop %n : i32
  %x = uop.buffer 0 : !uop.mem<8xf32, global>
  %gate = uop.cmplt %i, %eight : i32
  // expected-error @below {{INDEX of BUFFER 0 (8 elements) is 8 at ridx0=8}}
  %p = uop.index %x, %i : !uop.mem<8xf32, global>, i32
  %v = uop.load %p, %gate, %f : !uop.mem<f32, global>, i1, f32
  %s = uop.store %p, %v : !uop.mem<f32, global>, f32
  %e = uop.end %s, %i : !uop.void, i32
  uop.yield %e : !uop.void
}

// -----

// A gate that lets one point too many through.
uop.program @loose_gate {
  %n = uop.const 20 : i32
  %nine = uop.const 9 : i32
  %f = uop.const 1.0 : f32
  %i = uop.range 0 loop %n : i32
  %x = uop.buffer 0 : !uop.mem<8xf32, global>
  %y = uop.buffer 1 : !uop.mem<20xf32, global>
  %gate = uop.cmplt %i, %nine : i32
  // expected-error @below {{INDEX of BUFFER 0 (8 elements) is 8 at ridx0=8}}
  %p = uop.index %x, %i : !uop.mem<8xf32, global>, i32
  %v = uop.load %p, %gate, %f : !uop.mem<f32, global>, i1, f32
  %q = uop.index %y, %i : !uop.mem<20xf32, global>, i32
  %s = uop.store %q, %v : !uop.mem<f32, global>, f32
  %e = uop.end %s, %i : !uop.void, i32
  uop.yield %e : !uop.void
}

// -----

// Bounds see 0..72 in i * i; the points see that 8 times 9 never meet. The inner
// loop runs as often as the outer one has.
uop.program @by_points {
  %n = uop.const 9 : i32
  %i = uop.range 0 loop %n : i32
  %j = uop.range 1 loop %i : i32
  %at = uop.mul %i, %j : i32
  %x = uop.buffer 0 : !uop.mem<57xf32, global>
  %p = uop.index %x, %at : !uop.mem<57xf32, global>, i32
  %f = uop.const 1.0 : f32
  %s = uop.store %p, %f : !uop.mem<f32, global>, f32
  %y = uop.buffer 1 : !uop.mem<56xf32, global>
  // expected-warning @below {{INDEX of BUFFER 1 (56 elements) is 56 at ridx0=8, ridx1=7, unless a loop around it never runs}}
  %q = uop.index %y, %at : !uop.mem<56xf32, global>, i32
  %t = uop.store %q, %f : !uop.mem<f32, global>, f32
  %m = uop.const 0 : i32
  %k = uop.range 2 loop %m : i32
  %z = uop.index %y, %k : !uop.mem<56xf32, global>, i32
  %u = uop.store %z, %f : !uop.mem<f32, global>, f32
  %d = uop.end %u, %k : !uop.void, i32
  %e = uop.end %s, %i, %j : !uop.void, i32, i32
  %e1 = uop.end %t, %i, %j : !uop.void, i32, i32
  %root = uop.sink %e, %e1, %d : !uop.void, !uop.void, !uop.void
  uop.yield %root : !uop.void
}

// -----

// Values in memory may be anything, unless the program sees to it.
uop.program @gather {
  %n = uop.const 4 : i32
  %eight = uop.const 8 : i32
  %i = uop.range 0 loop %n : i32
  %x = uop.buffer 0 : !uop.mem<8xf32, global>
  %which = uop.buffer 1 : !uop.mem<4xi32, global>
  %y = uop.buffer 2 : !uop.mem<4xf32, global>
  %p = uop.index %which, %i : !uop.mem<4xi32, global>, i32
  %v = uop.load %p : !uop.mem<i32, global>
  // expected-warning @below {{INDEX of BUFFER 0 (8 elements) is not proved in range: its bounds are -2147483648..2147483647}}
  %q = uop.index %x, %v : !uop.mem<8xf32, global>, i32
  %a = uop.load %q : !uop.mem<f32, global>
  %v8 = uop.floormod %v, %eight : i32
  %q8 = uop.index %x, %v8 : !uop.mem<8xf32, global>, i32
  %b = uop.load %q8 : !uop.mem<f32, global>
  %sum = uop.add %a, %b : f32
  %out = uop.index %y, %i : !uop.mem<4xf32, global>, i32
  %s = uop.store %out, %sum : !uop.mem<f32, global>, f32
  %e = uop.end %s, %i : !uop.void, i32
  uop.yield %e : !uop.void
}

// -----

// Too many points to look at all: the ends of loops are among those looked at.
uop.program @sampled {
  %n = uop.const 100000 : i32
  %i = uop.range 0 loop %n : i32
  %j = uop.range 1 loop %n : i32
  %c = uop.const 7 : i32
  %i7 = uop.floormod %i, %c : i32
  %j7 = uop.floormod %j, %c : i32
  %prod = uop.mul %i7, %j7 : i32
  %x = uop.buffer 0 : !uop.mem<36xf32, global>
  // expected-error @below {{INDEX of BUFFER 0 (36 elements) is 36 at}}
  %p = uop.index %x, %prod : !uop.mem<36xf32, global>, i32
  %f = uop.const 1.0 : f32
  %s = uop.store %p, %f : !uop.mem<f32, global>, f32
  %e = uop.end %s, %i, %j : !uop.void, i32, i32
  uop.yield %e : !uop.void
}
