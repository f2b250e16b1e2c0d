// Upstream's clean-ups know which UOps are pure: CSE makes equal ones one node
// but keeps STOREs and their like; what nothing uses goes, the root stays.

// RUN: uop-opt %s --cse | FileCheck %s
// RUN: uop-opt %s --canonicalize --cse | FileCheck %s

// CHECK-LABEL: uop.program @pure
uop.program @pure {
  // CHECK-NEXT: %[[B:.*]] = uop.buffer 0
  // CHECK-NEXT: %[[R:.*]] = uop.reshape %[[B]] [2, 2]
  // CHECK-NEXT: %[[S:.*]] = uop.add %[[R]], %[[R]]
  // CHECK-NEXT: uop.yield %[[S]]
  %0 = uop.buffer 0 : !uop.mem<4xf32, global>
  %1 = uop.buffer 0 : !uop.mem<4xf32, global>
  %2 = uop.reshape %0 [2, 2] : !uop.mem<4xf32, global>
  %3 = uop.reshape %1 [2, 2] : !uop.mem<4xf32, global>
  %4 = uop.add %2, %3 : !uop.mem<2x2xf32, global>
  %5 = uop.exp2 %4 : tensor<2x2xf32>
  uop.yield %4 : tensor<2x2xf32>
}

// Two RANGEs of one idx but two kinds, two ALLOCs of two slots, and two effects
// are not equal.
// CHECK-LABEL: uop.program @different
uop.program @different {
  // CHECK: uop.alloc 0
  // CHECK: uop.alloc 1
  // CHECK: uop.range 0 loop
  // CHECK: uop.range 0 reduce
  // CHECK: uop.store
  // CHECK: uop.store
  // CHECK: uop.barrier
  // CHECK: uop.barrier
  // CHECK: uop.end
  // CHECK: uop.end
  // CHECK: uop.sink
  %n = uop.const 4 : i32
  %a = uop.alloc 0 : !uop.mem<4xi32, local>
  %b = uop.alloc 1 : !uop.mem<4xi32, local>
  %r = uop.range 0 loop %n : i32
  %s = uop.range 0 reduce %n : i32
  %p = uop.index %a, %r : !uop.mem<4xi32, local>, i32
  %q = uop.index %b, %s : !uop.mem<4xi32, local>, i32
  %0 = uop.store %p, %n : !uop.mem<i32, local>, i32
  %1 = uop.store %p, %n : !uop.mem<i32, local>, i32
  %2 = uop.store %q, %n : !uop.mem<i32, local>, i32
  %3 = uop.barrier %0 : !uop.void
  %4 = uop.barrier %0 : !uop.void
  %5 = uop.end %1, %r : !uop.void, i32
  %6 = uop.end %2, %s : !uop.void, i32
  %7 = uop.sink %3, %4, %5, %6 : !uop.void
  uop.yield %7 : !uop.void
}
