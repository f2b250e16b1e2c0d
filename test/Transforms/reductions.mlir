// Reductions of shaped programs over axes that were expanded.
// RUN: uop-opt --pass-pipeline="builtin.module(uop.program(uop-simplify{sets=reductions}))" %s | FileCheck %s

// CHECK-LABEL: uop.program @sum_of_integers
// CHECK-NEXT:    %[[X:.*]] = uop.buffer 0
// CHECK:         %[[N:.*]] = uop.expand %{{.*}} [3] : tensor<1xi32>
// CHECK-NEXT:    %[[R:.*]] = uop.mul %[[X]], %[[N]]
// CHECK-NEXT:    uop.yield %[[R]]
uop.program @sum_of_integers {
  %0 = uop.buffer 0 : !uop.mem<3xi32, global>
  %1 = uop.reshape %0 [3, 1] : !uop.mem<3xi32, global>
  %2 = uop.expand %1 [3, 100] : !uop.mem<3x1xi32, global>
  %3 = uop.reduce add 1 %2 : !uop.mem<3x100xi32, global>
  uop.yield %3 : tensor<3xi32>
}

// 100 floats are rounded 100 times; the sum stays.
// CHECK-LABEL: uop.program @sum_of_floats
// CHECK:         uop.reduce add 1 %{{.*}} : !uop.mem<3x100xf32, global>
uop.program @sum_of_floats {
  %0 = uop.buffer 0 : !uop.mem<3xf32, global>
  %1 = uop.reshape %0 [3, 1] : !uop.mem<3xf32, global>
  %2 = uop.expand %1 [3, 100] : !uop.mem<3x1xf32, global>
  %3 = uop.reduce add 1 %2 : !uop.mem<3x100xf32, global>
  uop.yield %3 : tensor<3xf32>
}

// Whole numbers are not rounded.
// CHECK-LABEL: uop.program @sum_of_a_constant
// CHECK-NEXT:    %[[R:.*]] = uop.const 3.000000e+04 : f32
// CHECK-NEXT:    uop.yield %[[R]]
uop.program @sum_of_a_constant {
  %0 = uop.const 3.0 : f32
  %1 = uop.reshape %0 [1] : f32
  %2 = uop.expand %1 [10000] : tensor<1xf32>
  %3 = uop.reduce add 1 %2 : tensor<10000xf32>
  uop.yield %3 : f32
}

// A maximum does not notice repetition, on one axis of two here.
// CHECK-LABEL: uop.program @maximum
// CHECK:         %[[R:.*]] = uop.reduce max 2 %{{.*}} : !uop.mem<3x1xf32, global>
// CHECK-NEXT:    uop.yield %[[R]]
uop.program @maximum {
  %0 = uop.buffer 0 : !uop.mem<3xf32, global>
  %1 = uop.reshape %0 [3, 1] : !uop.mem<3xf32, global>
  %2 = uop.expand %1 [3, 100] : !uop.mem<3x1xf32, global>
  %3 = uop.reduce max 2 %2 : !uop.mem<3x100xf32, global>
  uop.yield %3 : f32
}

// CHECK-LABEL: uop.program @nothing
// CHECK-NEXT:    %[[R:.*]] = uop.const 0xFF800000 : f32
// CHECK-NEXT:    uop.yield %[[R]]
uop.program @nothing {
  %0 = uop.buffer 0 : !uop.mem<0xf32, global>
  %1 = uop.reduce max 1 %0 : !uop.mem<0xf32, global>
  uop.yield %1 : f32
}
