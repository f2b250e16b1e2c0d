// The schedules of loop programs: nesting, hoisting, siblings, accumulators.

// RUN: uop-opt %s --linearize | FileCheck %s
// RUN: uop-opt %s --pass-pipeline='builtin.module(uop.program(uop-linearize,uop-verify-schedule))' | FileCheck %s
// RUN: uop-opt %s --linearize | uop-opt --linearize | FileCheck %s

// What uses the outer loop only comes before the inner loop.
// CHECK-LABEL: uop.program @hoist
// CHECK: %[[I:.*]] = uop.range 0
// CHECK-NEXT: %[[HEAD:.*]] = uop.mul %[[I]]
// CHECK-NEXT: uop.index {{.*}}, %[[HEAD]]
// CHECK-NEXT: uop.load
// CHECK-NEXT: %[[J:.*]] = uop.range 1
// CHECK-NEXT: uop.add %[[HEAD]], %[[J]]
// CHECK: uop.end {{.*}}, %[[I]], %[[J]]
// CHECK-NEXT: uop.sink
// CHECK-NEXT: uop.yield
uop.program @hoist {
  %n = uop.const 8 : i32
  %i = uop.range 0 loop %n : i32
  %j = uop.range 1 loop %n : i32
  %row = uop.mul %i, %n : i32
  %at = uop.add %row, %j : i32
  %a = uop.buffer 0 : !uop.mem<64xf32, global>
  %c = uop.buffer 1 : !uop.mem<64xf32, global>
  %out = uop.index %c, %at : !uop.mem<64xf32, global>, i32
  %p0 = uop.index %a, %row : !uop.mem<64xf32, global>, i32
  %head = uop.load %p0 : !uop.mem<f32, global>
  %p1 = uop.index %a, %at : !uop.mem<64xf32, global>, i32
  %x = uop.load %p1 : !uop.mem<f32, global>
  %y = uop.add %head, %x : f32
  %s = uop.store %out, %y : !uop.mem<f32, global>, f32
  %e = uop.end %s, %i, %j : !uop.void, i32, i32
  %root = uop.sink %e : !uop.void
  uop.yield %root : !uop.void
}

// The sum over loop 2 runs before loop 1, which reads it; its accumulator is
// declared and reset inside loop 0.
// CHECK-LABEL: uop.program @siblings
// CHECK: %[[I:.*]] = uop.range 0
// CHECK: %[[ACC:.*]] = uop.alloc 0
// CHECK-NEXT: uop.after %[[ACC]], %[[I]]
// CHECK-NEXT: uop.index
// CHECK-NEXT: uop.store
// CHECK-NEXT: %[[K:.*]] = uop.range 2
// CHECK: uop.store
// CHECK-NEXT: %[[DONE:.*]] = uop.end {{.*}}, %[[K]]
// CHECK-NEXT: uop.after {{.*}}, %[[DONE]]
// CHECK-NEXT: uop.index
// CHECK-NEXT: uop.load
// CHECK-NEXT: uop.range 1
uop.program @siblings {
  %zero = uop.const 0 : i32
  %fzero = uop.const 0.0 : f32
  %n = uop.const 3 : i32
  %i = uop.range 0 loop %n : i32
  %j = uop.range 1 loop %n : i32
  %k = uop.range 2 reduce %n : i32
  %row = uop.mul %i, %n : i32
  %at = uop.add %row, %j : i32
  %x = uop.buffer 0 : !uop.mem<9xf32, global>
  %y = uop.buffer 1 : !uop.mem<9xf32, global>
  %out = uop.index %y, %at : !uop.mem<9xf32, global>, i32
  %p0 = uop.index %x, %at : !uop.mem<9xf32, global>, i32
  %v0 = uop.load %p0 : !uop.mem<f32, global>
  %memory = uop.alloc 0 : !uop.mem<1xf32, local>
  %acc = uop.after %memory, %i : !uop.mem<1xf32, local>, i32
  %p1 = uop.index %acc, %zero : !uop.mem<1xf32, local>, i32
  %init = uop.store %p1, %fzero : !uop.mem<f32, local>, f32
  %acck = uop.after %acc, %init, %k : !uop.mem<1xf32, local>, !uop.void, i32
  %p2 = uop.index %acck, %zero : !uop.mem<1xf32, local>, i32
  %v1 = uop.load %p2 : !uop.mem<f32, local>
  %atk = uop.add %row, %k : i32
  %p3 = uop.index %x, %atk : !uop.mem<9xf32, global>, i32
  %v2 = uop.load %p3 : !uop.mem<f32, global>
  %sum = uop.add %v1, %v2 : f32
  %update = uop.store %p2, %sum : !uop.mem<f32, local>, f32
  %done = uop.end %update, %k : !uop.void, i32
  %after = uop.after %acc, %done : !uop.mem<1xf32, local>, !uop.void
  %p4 = uop.index %after, %zero : !uop.mem<1xf32, local>, i32
  %total = uop.load %p4 : !uop.mem<f32, local>
  %res = uop.add %v0, %total : f32
  %s = uop.store %out, %res : !uop.mem<f32, global>, f32
  %e = uop.end %s, %i, %j : !uop.void, i32, i32
  %root = uop.sink %e : !uop.void
  uop.yield %root : !uop.void
}

// Shared memory is declared at the top; what nothing needs is gone; a loop that
// the text holds twice is one loop.
// CHECK-LABEL: uop.program @tidy
// CHECK-NOT: uop.const 7
// CHECK: uop.alloc 0
// CHECK: uop.range 0
// CHECK-NOT: uop.range
// CHECK: uop.yield
uop.program @tidy {
  %unused = uop.const 7 : i32
  %n = uop.const 4 : i32
  %i = uop.range 0 local %n : i32
  %again = uop.range 0 local %n : i32
  %memory = uop.alloc 0 : !uop.mem<4xf32, shared>
  %there = uop.after %memory, %i : !uop.mem<4xf32, shared>, i32
  %p = uop.index %there, %again : !uop.mem<4xf32, shared>, i32
  %f = uop.const 1.0 : f32
  %s = uop.store %p, %f : !uop.mem<f32, shared>, f32
  %e = uop.end %s, %again : !uop.void, i32
  uop.yield %e : !uop.void
}
