// Every structure becomes one node; what the root does not reach goes.
// RUN: uop-opt --pass-pipeline="builtin.module(uop.program(uop-unique))" %s | FileCheck %s
// RUN: uop-opt --pass-pipeline="builtin.module(uop.program(uop-unique,uop-unique{check}))" %s | FileCheck %s

// CHECK-LABEL: uop.program @duplicates
// CHECK-NEXT:    %[[X:.*]] = uop.buffer 0
// CHECK-NEXT:    %[[SUM:.*]] = uop.add %[[X]], %[[X]]
// CHECK-NEXT:    %[[PRODUCT:.*]] = uop.mul %[[SUM]], %[[SUM]]
// CHECK-NEXT:    uop.yield %[[PRODUCT]]
uop.program @duplicates {
  %0 = uop.buffer 0 : !uop.mem<4xf32, global>
  %1 = uop.buffer 0 : !uop.mem<4xf32, global>
  %2 = uop.exp2 %0 : !uop.mem<4xf32, global>
  %3 = uop.add %0, %1 : !uop.mem<4xf32, global>
  %4 = uop.add %1, %1 : !uop.mem<4xf32, global>
  %5 = uop.mul %3, %4 : tensor<4xf32>
  uop.yield %5 : tensor<4xf32>
}

// Five constants that are equal only as numbers, and one NaN in two forms.
// CHECK-LABEL: uop.program @constants
// CHECK-COUNT-6: uop.const
// CHECK-NOT:     uop.const
// CHECK:         uop.sink
uop.program @constants {
  %0 = uop.const 1 : i32
  %1 = uop.const 1.0 : f32
  %2 = uop.const true
  %3 = uop.const 0.0 : f32
  %4 = uop.const -0.0 : f32
  %5 = uop.const 0x7FC00000 : f32
  %6 = uop.const 0xFFC00001 : f32
  %7 = uop.sink %0, %1, %2, %3, %4, %5, %6 : i32, f32, i1, f32, f32, f32, f32
  uop.yield %7 : !uop.void
}
