// The graph of a lowered program: the accumulator pattern of a reduction.

// RUN: uop-opt %s --rangeify | FileCheck %s
// RUN: uop-opt %s --rangeify | uop-opt --rangeify | FileCheck %s
// RUN: uop-opt %s --uop-to-kernel | uop-opt --pass-pipeline='builtin.module(uop.program(uop-verify-schedule))' | FileCheck %s --check-prefix=KERNEL

// CHECK-LABEL: uop.program @rowsum
// CHECK-DAG: %[[I:.*]] = uop.range 0 loop
// CHECK-DAG: %[[K:.*]] = uop.range 1 reduce
// CHECK-DAG: %[[ALLOC:.*]] = uop.alloc 0 : !uop.mem<1xf32, local>
// CHECK-DAG: %[[ACC:.*]] = uop.after %[[ALLOC]], %[[I]]
// CHECK-DAG: uop.after %[[ACC]], {{.*}}, %[[K]]
// CHECK: %[[END:.*]] = uop.end {{.*}}, %[[K]]
// CHECK: uop.after %[[ACC]], %[[END]]
// CHECK: uop.end {{.*}}, %[[I]]
// CHECK: uop.yield {{.*}} : !uop.void
// KERNEL-LABEL: uop.program @rowsum
// KERNEL: uop.sink
uop.program @rowsum {
  %0 = uop.buffer 0 : !uop.mem<12xf32, global>
  %1 = uop.reshape %0 [3, 4] : !uop.mem<12xf32, global>
  %2 = uop.reduce add 1 %1 : !uop.mem<3x4xf32, global>
  uop.yield %2 : tensor<3xf32>
}

// A gate keeps memory from being read.
// CHECK-LABEL: uop.program @gated
// CHECK: uop.load {{.*}}, {{.*}}, {{.*}} : !uop.mem<f32, global>, i1, f32
uop.program @gated {
  %0 = uop.buffer 0 : !uop.mem<4xf32, global>
  %1 = uop.const 0.0 : f32
  %2 = uop.reshape %1 [1] : f32
  %3 = uop.expand %2 [4] : tensor<1xf32>
  %4 = uop.buffer 1 : !uop.mem<4xi1, global>
  %5 = uop.load %0, %4, %3 : !uop.mem<4xf32, global>, !uop.mem<4xi1, global>, tensor<4xf32>
  uop.yield %5 : tensor<4xf32>
}
