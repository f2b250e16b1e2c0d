// RUN: uop-opt %s --uop-simplify | FileCheck %s
// RUN: not uop-opt %s --uop-simplify=sets=nonsense 2>&1 | FileCheck %s --check-prefix=SET

// SET: error: no rule set 'nonsense'

// (i*4 + j) // 4 * ((i*4 + j) % 4) is i*j.
// CHECK-LABEL: @digits
// CHECK-DAG: %[[I:.*]] = uop.range 0
// CHECK-DAG: %[[J:.*]] = uop.range 1
// CHECK: %[[P:.*]] = uop.mul %[[I]], %[[J]]
// CHECK-NEXT: uop.yield %[[P]]
uop.program @digits {
  %n3 = uop.const 3 : i32
  %n4 = uop.const 4 : i32
  %i = uop.range 0 loop %n3 : i32
  %j = uop.range 1 loop %n4 : i32
  %a = uop.mul %i, %n4 : i32
  %b = uop.add %a, %j : i32
  %d = uop.floordiv %b, %n4 : i32
  %m = uop.floormod %b, %n4 : i32
  %x = uop.mul %d, %m : i32
  uop.yield %x : i32
}

// (9 + 9*x + 9*y) % 10 for x, y in 0..3 is 9 - (x + y).
// CHECK-LABEL: @residues
// CHECK-NOT: floormod
// CHECK: uop.yield
uop.program @residues {
  %n = uop.const 4 : i32
  %x = uop.range 0 loop %n : i32
  %y = uop.range 1 loop %n : i32
  %k = uop.const 9 : i32
  %t = uop.const 10 : i32
  %0 = uop.mul %x, %k : i32
  %1 = uop.mul %y, %k : i32
  %2 = uop.add %k, %0 : i32
  %3 = uop.add %2, %1 : i32
  %4 = uop.floormod %3, %t : i32
  uop.yield %4 : i32
}

// The gate proves i % 8 to be i in the pointer that it guards.
// CHECK-LABEL: @gate
// CHECK: %[[I:.*]] = uop.range 0
// CHECK-NOT: floormod
// CHECK: uop.index %{{.*}}, %[[I]]
uop.program @gate {
  %n = uop.const 20 : i32
  %c = uop.const 8 : i32
  %z = uop.const 0.0 : f32
  %i = uop.range 0 loop %n : i32
  %x = uop.buffer 0 : !uop.mem<8xf32, global>
  %g = uop.cmplt %i, %c : i32
  %m = uop.floormod %i, %c : i32
  %p = uop.index %x, %m : !uop.mem<8xf32, global>, i32
  %v = uop.load %p, %g, %z : !uop.mem<f32, global>, i1, f32
  uop.yield %v : f32
}

// A WHERE reads in both of its branches: the index stays inside the buffer.
// CHECK-LABEL: @no_gate
// CHECK: uop.floormod
uop.program @no_gate {
  %n = uop.const 20 : i32
  %c = uop.const 8 : i32
  %z = uop.const 0.0 : f32
  %i = uop.range 0 loop %n : i32
  %x = uop.buffer 0 : !uop.mem<8xf32, global>
  %g = uop.cmplt %i, %c : i32
  %m = uop.floormod %i, %c : i32
  %p = uop.index %x, %m : !uop.mem<8xf32, global>, i32
  %v = uop.load %p : !uop.mem<f32, global>
  %w = uop.where %g, %v, %z : i1, f32, f32
  uop.yield %w : f32
}
