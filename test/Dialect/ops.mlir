// Every op: what is printed parses to what was printed, in the custom and in the
// generic form and through bytecode.

// RUN: uop-opt %s | FileCheck %s
// RUN: uop-opt %s | uop-opt | FileCheck %s
// RUN: uop-opt %s --mlir-print-op-generic | uop-opt | FileCheck %s
// RUN: uop-opt %s --emit-bytecode | uop-opt | FileCheck %s

// CHECK-LABEL: uop.program @constants
uop.program @constants {
  // CHECK: uop.const 1 : i32
  // CHECK: uop.const -2147483648 : i32
  // CHECK: uop.const true
  // CHECK: uop.const false
  // CHECK: uop.const 2.500000e+00 : f32
  // CHECK: uop.const -0.000000e+00 : f32
  // CHECK: uop.const 0x7F800000 : f32
  // CHECK: uop.const 0xFF800000 : f32
  // CHECK: uop.const 0x7FC00000 : f32
  // CHECK: uop.const 1.500000e+00 : f16
  %0 = uop.const 1 : i32
  %1 = uop.const -2147483648 : i32
  %2 = uop.const true
  %3 = uop.const false
  %4 = uop.const 2.5 : f32
  %5 = uop.const -0.0 : f32
  %6 = uop.const 0x7F800000 : f32
  %7 = uop.const 0xFF800000 : f32
  %8 = uop.const 0x7FC00000 : f32
  %9 = uop.const 1.5 : f16
  // CHECK: uop.yield %{{.*}} : i32
  uop.yield %0 : i32
}

// CHECK-LABEL: uop.program @calls
uop.program @calls {
  // CHECK: %[[P:.*]] = uop.param 0 : tensor<3xf32>
  // CHECK: %[[B:.*]] = uop.add %[[P]], %[[P]] : tensor<3xf32>
  // CHECK: %[[A:.*]] = uop.stack %{{.*}}, %{{.*}}, %{{.*}} : f32
  // CHECK: uop.call "twice" %[[B]], %[[A]] : tensor<3xf32>
  // CHECK: uop.call "mixed" %{{.*}}, %{{.*}}, %[[A]] : i32, i32, tensor<3xf32>
  // CHECK: uop.call "nothing" %{{.*}} : f32
  %0 = uop.param 0 : tensor<3xf32>
  %1 = uop.add %0, %0 : tensor<3xf32>
  %2 = uop.const 1.0 : f32
  %3 = uop.stack %2, %2, %2 : f32
  %4 = uop.call "twice" %1, %3 : tensor<3xf32>
  %5 = uop.param 0 : i32
  %6 = uop.param 1 : tensor<3xf32>
  %7 = uop.cast %6 : tensor<3xf32> -> tensor<3xi32>
  %8 = uop.index %7, %5 : tensor<3xi32>, i32
  %9 = uop.const 2 : i32
  %10 = uop.call "mixed" %8, %9, %3 : i32, i32, tensor<3xf32>
  %11 = uop.call "nothing" %2 : f32
  uop.yield %4 : tensor<3xf32>
}

// Equal PARAMs that are not one node are still one PARAM.
// CHECK-LABEL: uop.program @twice_the_same_param
uop.program @twice_the_same_param {
  %0 = uop.param 0 : i32
  %1 = uop.param 0 : i32
  %2 = uop.mul %0, %1 : i32
  // CHECK: uop.call "sq" %{{.*}}, %{{.*}} : i32
  %3 = uop.const 7 : i32
  %4 = uop.call "sq" %2, %3 : i32
  uop.yield %4 : i32
}

// CHECK-LABEL: uop.program @arithmetic
uop.program @arithmetic {
  // CHECK: %[[F:.*]] = uop.buffer 0 : !uop.mem<4xf32, global>
  // CHECK: %[[V:.*]] = uop.load %[[F]] : !uop.mem<4xf32, global>
  // CHECK: %[[I:.*]] = uop.cast %[[V]] : tensor<4xf32> -> tensor<4xi32>
  // CHECK: uop.cast %[[F]] : !uop.mem<4xf32, global> -> tensor<4xf16>
  // CHECK: uop.recip %[[F]] : !uop.mem<4xf32, global>
  // CHECK: uop.exp2 %[[V]] : tensor<4xf32>
  // CHECK: uop.log2 %[[V]] : tensor<4xf32>
  // CHECK: uop.sqrt %[[V]] : tensor<4xf32>
  // CHECK: uop.sin %[[V]] : tensor<4xf32>
  // CHECK: uop.add %[[V]], %[[V]] : tensor<4xf32>
  // CHECK: uop.mul %[[F]], %[[V]] : !uop.mem<4xf32, global>, tensor<4xf32>
  // CHECK: uop.max %[[V]], %[[F]] : tensor<4xf32>, !uop.mem<4xf32, global>
  // CHECK: %[[C:.*]] = uop.cmplt %[[I]], %[[I]] : tensor<4xi32>
  // CHECK: uop.cmpne %[[F]], %[[F]] : !uop.mem<4xf32, global>
  // CHECK: uop.floordiv %[[I]], %[[I]] : tensor<4xi32>
  // CHECK: uop.floormod %[[I]], %[[I]] : tensor<4xi32>
  // CHECK: uop.where %[[C]], %[[V]], %[[F]] : tensor<4xi1>, tensor<4xf32>, !uop.mem<4xf32, global>
  %0 = uop.buffer 0 : !uop.mem<4xf32, global>
  %1 = uop.load %0 : !uop.mem<4xf32, global>
  %2 = uop.cast %1 : tensor<4xf32> -> tensor<4xi32>
  %3 = uop.cast %0 : !uop.mem<4xf32, global> -> tensor<4xf16>
  %4 = uop.recip %0 : !uop.mem<4xf32, global>
  %5 = uop.exp2 %1 : tensor<4xf32>
  %6 = uop.log2 %1 : tensor<4xf32>
  %7 = uop.sqrt %1 : tensor<4xf32>
  %8 = uop.sin %1 : tensor<4xf32>
  %9 = uop.add %1, %1 : tensor<4xf32>
  %10 = uop.mul %0, %1 : !uop.mem<4xf32, global>, tensor<4xf32>
  %11 = uop.max %1, %0 : tensor<4xf32>, !uop.mem<4xf32, global>
  %12 = uop.cmplt %2, %2 : tensor<4xi32>
  %13 = uop.cmpne %0, %0 : !uop.mem<4xf32, global>
  %14 = uop.floordiv %2, %2 : tensor<4xi32>
  %15 = uop.floormod %2, %2 : tensor<4xi32>
  %16 = uop.where %12, %1, %0 : tensor<4xi1>, tensor<4xf32>, !uop.mem<4xf32, global>
  uop.yield %16 : tensor<4xf32>
}

// CHECK-LABEL: uop.program @movement
uop.program @movement {
  // CHECK: %[[B:.*]] = uop.buffer 3 : !uop.mem<12xi32, global>
  // CHECK: %[[R:.*]] = uop.reshape %[[B]] [3, 1, 4] : !uop.mem<12xi32, global>
  // CHECK: %[[E:.*]] = uop.expand %[[R]] [3, 2, 4] : !uop.mem<3x1x4xi32, global>
  // CHECK: %[[P:.*]] = uop.permute %[[E]] [2, 0, 1] : !uop.mem<3x2x4xi32, global>
  // CHECK: %[[S:.*]] = uop.shrink %[[P]] [1, 3, 0, 3, 0, 0] : !uop.mem<4x3x2xi32, global>
  // CHECK: uop.reduce add 1 %[[P]] : !uop.mem<4x3x2xi32, global>
  // CHECK: uop.reduce max 3 %[[S]] : !uop.mem<2x3x0xi32, global>
  // CHECK: uop.reduce add 0 %[[B]] : !uop.mem<12xi32, global>
  // CHECK: uop.reshape %{{.*}} [] : tensor<1xi32>
  %0 = uop.buffer 3 : !uop.mem<12xi32, global>
  %1 = uop.reshape %0 [3, 1, 4] : !uop.mem<12xi32, global>
  %2 = uop.expand %1 [3, 2, 4] : !uop.mem<3x1x4xi32, global>
  %3 = uop.permute %2 [2, 0, 1] : !uop.mem<3x2x4xi32, global>
  %4 = uop.shrink %3 [1, 3, 0, 3, 0, 0] : !uop.mem<4x3x2xi32, global>
  %5 = uop.reduce add 1 %3 : !uop.mem<4x3x2xi32, global>
  %6 = uop.reduce max 3 %4 : !uop.mem<2x3x0xi32, global>
  %7 = uop.reduce add 0 %0 : !uop.mem<12xi32, global>
  %8 = uop.reshape %6 [1] : i32
  %9 = uop.reshape %8 [] : tensor<1xi32>
  uop.yield %9 : i32
}

// CHECK-LABEL: uop.program @loops
uop.program @loops {
  // CHECK: uop.range 0 loop %{{.*}} : i32
  // CHECK: uop.range 1 reduce %{{.*}} : i32
  // CHECK: uop.range 2 upcast %{{.*}} : i32
  // CHECK: uop.range 3 thread %{{.*}} : i32
  // CHECK: uop.range 4 global %{{.*}} : i32
  // CHECK: uop.range 5 local %{{.*}} : i32
  // CHECK: %[[A:.*]] = uop.alloc 0 : !uop.mem<8xf32, local>
  // CHECK: uop.alloc 1 : !uop.mem<8xf32, shared>
  // CHECK: uop.alloc 2 : !uop.mem<8xf32, global>
  // CHECK: %[[T:.*]] = uop.after %[[A]], %{{.*}}, %{{.*}} : !uop.mem<8xf32, local>, i32, i32
  // CHECK: %[[I:.*]] = uop.index %[[T]], %{{.*}} : !uop.mem<8xf32, local>, i32
  // CHECK: uop.index %[[T]] : !uop.mem<8xf32, local>
  // CHECK: %[[L:.*]] = uop.load %[[I]] : !uop.mem<f32, local>
  // CHECK: uop.load %[[I]], %{{.*}}, %[[L]] : !uop.mem<f32, local>, i1, f32
  // CHECK: %[[S:.*]] = uop.store %[[I]], %[[L]] : !uop.mem<f32, local>, f32
  // CHECK: %[[B:.*]] = uop.barrier %[[S]] : !uop.void
  // CHECK: %[[E:.*]] = uop.end %[[S]], %{{.*}}, %{{.*}} : !uop.void, i32, i32
  // CHECK: uop.sink %[[E]], %[[B]] : !uop.void
  // CHECK: uop.sink(){{$}}
  // CHECK: uop.sink %[[E]], %[[L]] : !uop.void, f32
  // CHECK: uop.yield %{{.*}} : !uop.void
  %n = uop.const 8 : i32
  %r0 = uop.range 0 loop %n : i32
  %r1 = uop.range 1 reduce %n : i32
  %r2 = uop.range 2 upcast %n : i32
  %r3 = uop.range 3 thread %n : i32
  %r4 = uop.range 4 global %n : i32
  %r5 = uop.range 5 local %n : i32
  %0 = uop.alloc 0 : !uop.mem<8xf32, local>
  %1 = uop.alloc 1 : !uop.mem<8xf32, shared>
  %2 = uop.alloc 2 : !uop.mem<8xf32, global>
  %3 = uop.after %0, %r0, %r1 : !uop.mem<8xf32, local>, i32, i32
  %4 = uop.index %3, %r0 : !uop.mem<8xf32, local>, i32
  %5 = uop.index %3 : !uop.mem<8xf32, local>
  %6 = uop.load %4 : !uop.mem<f32, local>
  %7 = uop.cmplt %r0, %r1 : i32
  %8 = uop.load %4, %7, %6 : !uop.mem<f32, local>, i1, f32
  %9 = uop.store %4, %6 : !uop.mem<f32, local>, f32
  %10 = uop.barrier %9 : !uop.void
  %11 = uop.end %9, %r0, %r1 : !uop.void, i32, i32
  %12 = uop.sink %11, %10 : !uop.void
  %13 = uop.sink()
  %14 = uop.sink %11, %6 : !uop.void, f32
  uop.yield %12 : !uop.void
}

// CHECK-LABEL: uop.program @kernels
uop.program @kernels {
  // CHECK: uop.stage %{{.*}} : !uop.mem<4xf32, global>
  // CHECK: uop.stage detach %{{.*}} : tensor<4xf32>
  // CHECK: uop.wmma %{{.*}}, %{{.*}}, %{{.*}} : tensor<4xf16>, tensor<4xf16>, tensor<4xf32>
  %0 = uop.buffer 0 : !uop.mem<4xf32, global>
  %1 = uop.stage %0 : !uop.mem<4xf32, global>
  %2 = uop.stage detach %1 : tensor<4xf32>
  %3 = uop.cast %2 : tensor<4xf32> -> tensor<4xf16>
  %4 = uop.wmma %3, %3, %2 : tensor<4xf16>, tensor<4xf16>, tensor<4xf32>
  uop.yield %4 : tensor<4xf32>
}

// CHECK-LABEL: uop.program @attributes attributes {note = "kept"}
uop.program @attributes attributes {note = "kept"} {
  // CHECK: uop.add %{{.*}}, %{{.*}} {why = 3 : i64} : i32
  %0 = uop.const 1 : i32
  %1 = uop.add %0, %0 {why = 3 : i64} : i32
  uop.yield %1 : i32
}

// UOps may stand outside a program, in the functions of another dialect.
// CHECK-LABEL: func.func @host
func.func @host(%a: tensor<4xf32>, %n: i32) -> tensor<4xf32> {
  // CHECK: uop.exp2 %{{.*}} : tensor<4xf32>
  // CHECK: uop.range 0 loop %{{.*}} : i32
  %0 = uop.exp2 %a : tensor<4xf32>
  %1 = uop.range 0 loop %n : i32
  return %0 : tensor<4xf32>
}
