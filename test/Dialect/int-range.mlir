// The ops' intervals, seen by upstream's integer range analysis: what a bounded
// counter decides becomes a constant, what it leaves open stays.

// RUN: uop-opt %s --int-range-optimizations --split-input-file | FileCheck %s

// CHECK-LABEL: uop.program @decided
uop.program @decided {
  %n = uop.const 8 : i32
  %m = uop.const 4 : i32
  %0 = uop.const 0 : i32
  %15 = uop.const 15 : i32
  %r = uop.range 0 loop %n : i32
  %s = uop.range 1 loop %m : i32
  // CHECK-DAG: %[[T:.*]] = uop.const true
  // CHECK-DAG: %[[F:.*]] = uop.const false
  // CHECK-DAG: %[[ZERO:.*]] = uop.const 0 : i32
  %lt = uop.cmplt %r, %n : i32
  %neg = uop.cmplt %r, %0 : i32
  %div = uop.floordiv %r, %n : i32
  %sum = uop.add %r, %s : i32
  %small = uop.cmplt %sum, %15 : i32
  %mod = uop.floormod %sum, %m : i32
  %modlt = uop.cmplt %mod, %m : i32
  %product = uop.mul %r, %s : i32
  %21 = uop.const 21 : i32
  %over = uop.cmplt %21, %product : i32
  %max = uop.max %r, %15 : i32
  %ne = uop.cmpne %max, %15 : i32
  %where = uop.where %lt, %s, %15 : i1, i32, i32
  %wlt = uop.cmplt %where, %m : i32
  // CHECK: uop.sink %[[T]], %[[F]], %[[ZERO]], %[[T]], %[[T]], %[[F]], %[[F]], %[[T]]
  %sink = uop.sink %lt, %neg, %div, %small, %modlt, %over, %ne, %wlt : i1, i1, i32, i1, i1, i1, i1, i1
  uop.yield %sink : !uop.void
}

// -----

// A sum that may wrap is any i32; a float is none; a shaped value has no interval.
// CHECK-LABEL: uop.program @open
uop.program @open {
  %n = uop.const 2147483647 : i32
  %m = uop.const 2 : i32
  %0 = uop.const 0 : i32
  %b = uop.buffer 0 : !uop.mem<4xi32, global>
  %r = uop.range 0 loop %n : i32
  %s = uop.range 1 loop %m : i32
  %sum = uop.add %r, %s : i32
  %x = uop.load %b : !uop.mem<4xi32, global>
  %y = uop.cmplt %x, %x : tensor<4xi32>
  %p = uop.index %b, %s : !uop.mem<4xi32, global>, i32
  // CHECK: uop.cmplt
  // CHECK: %[[WRAP:.*]] = uop.add
  // CHECK: uop.cmplt %{{.*}}, %[[WRAP]]
  // CHECK: uop.cmplt %{{.*}} : i32, !uop.mem<i32, global>
  // CHECK: uop.cast %{{.*}} : f32 -> i32
  // CHECK: uop.cmplt
  %wrap = uop.add %sum, %m : i32
  %lt = uop.cmplt %0, %wrap : i32
  %read = uop.cmplt %s, %p : i32, !uop.mem<i32, global>
  %f = uop.cast %s : i32 -> f32
  %g = uop.cast %f : f32 -> i32
  %h = uop.cmplt %g, %m : i32
  %sink = uop.sink %y, %lt, %read, %h : tensor<4xi1>, i1, i1, i1
  uop.yield %sink : !uop.void
}

// -----

// Division is total: x // 0 and x % 0 are 0, INT_MIN // -1 is INT_MIN.
// CHECK-LABEL: func.func @division
func.func @division(%x: i32) -> (i32, i32, i32) {
  %0 = uop.const 0 : i32
  %min = uop.const -2147483648 : i32
  %m1 = uop.const -1 : i32
  // CHECK-DAG: %[[ZERO:.*]] = uop.const 0 : i32
  // CHECK: %[[Q:.*]] = uop.floordiv
  %1 = uop.floordiv %x, %0 : i32
  %2 = uop.floormod %x, %0 : i32
  %3 = uop.floordiv %min, %m1 : i32
  // CHECK: return %[[ZERO]], %[[ZERO]], %[[Q]]
  return %1, %2, %3 : i32, i32, i32
}
