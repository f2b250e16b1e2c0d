// A WHERE computes both branches: an index of memory in one keeps its remainder,
// or iterations that the condition excludes would read outside the buffer.

// RUN: uop-opt %s --uop-simplify | FileCheck %s
// RUN: uop-opt %s --uop-simplify --linearize --uop-check-bounds

// CHECK-LABEL: uop.program @p
// CHECK: %[[M:.*]] = uop.floormod
// CHECK: uop.index {{.*}}, %[[M]] : !uop.mem<4xf32, global>, i32
uop.program @p {
  %n = uop.const 16 : i32
  %r = uop.range 0 loop %n : i32
  %four = uop.const 4 : i32
  %in = uop.buffer 0 : !uop.mem<4xf32, global>
  %out = uop.buffer 1 : !uop.mem<16xf32, global>
  %m = uop.floormod %r, %four : i32
  %p = uop.index %in, %m : !uop.mem<4xf32, global>, i32
  %c = uop.cmplt %r, %four : i32
  %z = uop.const 0.0 : f32
  %w = uop.where %c, %p, %z : i1, !uop.mem<f32, global>, f32
  %q = uop.index %out, %r : !uop.mem<16xf32, global>, i32
  %s = uop.store %q, %w : !uop.mem<f32, global>, f32
  %e = uop.end %s, %r : !uop.void, i32
  %k = uop.sink %e : !uop.void
  uop.yield %k : !uop.void
}
