// Folding of constants, as the emitted C computes: every dtype, and what C leaves
// open left alone.

// RUN: uop-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: uop.program @i32
uop.program @i32 {
  %max = uop.const 2147483647 : i32
  %min = uop.const -2147483648 : i32
  %1 = uop.const 1 : i32
  %m1 = uop.const -1 : i32
  %m7 = uop.const -7 : i32
  %2 = uop.const 2 : i32
  // CHECK-DAG: %[[MIN:.*]] = uop.const -2147483648 : i32
  // CHECK-DAG: %[[M2:.*]] = uop.const -2 : i32
  // CHECK-DAG: %[[M4:.*]] = uop.const -4 : i32
  // CHECK-DAG: %[[ONE:.*]] = uop.const 1 : i32
  // CHECK-DAG: %[[M1:.*]] = uop.const -1 : i32
  // CHECK-DAG: %[[SEVEN:.*]] = uop.const 7 : i32
  // CHECK-DAG: %[[TRUE:.*]] = uop.const true
  // CHECK-DAG: %[[FALSE:.*]] = uop.const false
  %add = uop.add %max, %1 : i32
  %mul = uop.mul %max, %2 : i32
  %div = uop.floordiv %m7, %2 : i32
  %mod = uop.floormod %m7, %2 : i32
  %m2 = uop.mul %2, %m1 : i32
  %mod2 = uop.floormod %1, %m2 : i32
  %div2 = uop.floordiv %m7, %m1 : i32
  %larger = uop.max %m7, %m1 : i32
  %lt = uop.cmplt %min, %max : i32
  %ne = uop.cmpne %1, %1 : i32
  // CHECK: uop.sink %[[MIN]], %[[M2]], %[[M4]], %[[ONE]], %[[M1]], %[[SEVEN]], %[[M1]], %[[TRUE]], %[[FALSE]]
  %s = uop.sink %add, %mul, %div, %mod, %mod2, %div2, %larger, %lt, %ne : i32, i32, i32, i32, i32, i32, i32, i1, i1
  uop.yield %s : !uop.void
}

// CHECK-LABEL: uop.program @i32_left_alone
uop.program @i32_left_alone {
  %0 = uop.const 0 : i32
  %1 = uop.const 1 : i32
  %min = uop.const -2147483648 : i32
  %m1 = uop.const -1 : i32
  // CHECK: uop.floordiv
  // CHECK: uop.floormod
  // CHECK: uop.floordiv
  // CHECK: uop.floormod
  %div = uop.floordiv %1, %0 : i32
  %mod = uop.floormod %1, %0 : i32
  %div2 = uop.floordiv %min, %m1 : i32
  %mod2 = uop.floormod %min, %m1 : i32
  %s = uop.sink %div, %mod, %div2, %mod2 : i32
  uop.yield %s : !uop.void
}

// CHECK-LABEL: uop.program @bool
uop.program @bool {
  %t = uop.const true
  %f = uop.const false
  // CHECK-DAG: %[[T:.*]] = uop.const true
  // CHECK-DAG: %[[F:.*]] = uop.const false
  %or = uop.add %t, %f : i1
  %or2 = uop.add %t, %t : i1
  %and = uop.mul %t, %f : i1
  %max = uop.max %f, %t : i1
  %lt = uop.cmplt %f, %t : i1
  %ne = uop.cmpne %t, %t : i1
  // CHECK: uop.sink %[[T]], %[[T]], %[[F]], %[[T]], %[[T]], %[[F]] : i1
  %s = uop.sink %or, %or2, %and, %max, %lt, %ne : i1
  uop.yield %s : !uop.void
}

// CHECK-LABEL: uop.program @f32
uop.program @f32 {
  %tenth = uop.const 0.1 : f32
  %fifth = uop.const 0.2 : f32
  %huge = uop.const 3.0e38 : f32
  %4 = uop.const 4.0 : f32
  %m1 = uop.const -1.0 : f32
  %0 = uop.const 0.0 : f32
  %m0 = uop.const -0.0 : f32
  // CHECK-DAG: %[[SUM:.*]] = uop.const 3.000000e-01 : f32
  // CHECK-DAG: %[[INF:.*]] = uop.const 0x7F800000 : f32
  // CHECK-DAG: %[[NINF:.*]] = uop.const 0xFF800000 : f32
  // CHECK-DAG: %[[NAN:.*]] = uop.const 0x7FC00000 : f32
  // CHECK-DAG: %[[QUARTER:.*]] = uop.const 2.500000e-01 : f32
  // CHECK-DAG: %[[TWO:.*]] = uop.const 2.000000e+00 : f32
  // CHECK-DAG: %[[SIXTEEN:.*]] = uop.const 1.600000e+01 : f32
  // CHECK-DAG: %[[SIN:.*]] = uop.const -0.84147{{.*}} : f32
  // CHECK-DAG: %[[M0:.*]] = uop.const -0.000000e+00 : f32
  // CHECK-DAG: %[[ZERO:.*]] = uop.const 0.000000e+00 : f32
  %sum = uop.add %tenth, %fifth : f32
  %inf = uop.mul %huge, %4 : f32
  %recip = uop.recip %4 : f32
  %pinf = uop.recip %0 : f32
  %ninf = uop.recip %m0 : f32
  %sqrt = uop.sqrt %4 : f32
  %nan = uop.sqrt %m1 : f32
  %exp = uop.exp2 %4 : f32
  %log = uop.log2 %4 : f32
  %lognan = uop.log2 %m1 : f32
  %loginf = uop.log2 %0 : f32
  %sin = uop.sin %m1 : f32
  %negzero = uop.mul %0, %m1 : f32
  %zero = uop.add %m0, %0 : f32
  // CHECK: uop.sink %[[SUM]], %[[INF]], %[[QUARTER]], %[[INF]], %[[NINF]], %[[TWO]], %[[NAN]], %[[SIXTEEN]], %[[TWO]], %[[NAN]], %[[NINF]], %[[SIN]], %[[M0]], %[[ZERO]] : f32
  %s = uop.sink %sum, %inf, %recip, %pinf, %ninf, %sqrt, %nan, %exp, %log, %lognan, %loginf, %sin, %negzero, %zero : f32
  uop.yield %s : !uop.void
}

// MAX is `a > b ? a : b`, so it passes on a NaN only from the right.
// CHECK-LABEL: uop.program @nan
uop.program @nan {
  %nan = uop.const 0x7FC00000 : f32
  %1 = uop.const 1.0 : f32
  // CHECK-DAG: %[[NAN:.*]] = uop.const 0x7FC00000 : f32
  // CHECK-DAG: %[[ONE:.*]] = uop.const 1.000000e+00 : f32
  // CHECK-DAG: %[[T:.*]] = uop.const true
  // CHECK-DAG: %[[F:.*]] = uop.const false
  %left = uop.max %nan, %1 : f32
  %right = uop.max %1, %nan : f32
  %lt = uop.cmplt %nan, %1 : f32
  %lt2 = uop.cmplt %1, %nan : f32
  %ne = uop.cmpne %nan, %nan : f32
  %add = uop.add %nan, %1 : f32
  %bool = uop.cast %nan : f32 -> i1
  // CHECK: uop.sink %[[ONE]], %[[NAN]], %[[F]], %[[F]], %[[T]], %[[NAN]], %[[T]]
  %s = uop.sink %left, %right, %lt, %lt2, %ne, %add, %bool : f32, f32, i1, i1, i1, f32, i1
  uop.yield %s : !uop.void
}

// f16 rounds after every op; 65504 is its largest.
// CHECK-LABEL: uop.program @f16
uop.program @f16 {
  %big = uop.const 65504.0 : f16
  %1 = uop.const 1.0 : f16
  %ulp = uop.const 0.0004 : f16
  %2 = uop.const 2.0 : f16
  %tenth = uop.const 0.1 : f16
  // CHECK-DAG: %[[BIG:.*]] = uop.const 6.550400e+04 : f16
  // CHECK-DAG: %[[INF:.*]] = uop.const 0x7C00 : f16
  // CHECK-DAG: %[[ONE:.*]] = uop.const 1.000000e+00 : f16
  // CHECK-DAG: %[[ROOT:.*]] = uop.const 1.414060e+00 : f16
  // CHECK-DAG: %[[TEN:.*]] = uop.const 1.000000e+01 : f16
  // CHECK-DAG: %[[T:.*]] = uop.const true
  %same = uop.add %big, %1 : f16
  %inf = uop.mul %big, %2 : f16
  %one = uop.add %1, %ulp : f16
  %root = uop.sqrt %2 : f16
  %ten = uop.recip %tenth : f16
  %lt = uop.cmplt %1, %2 : f16
  // CHECK: uop.sink %[[BIG]], %[[INF]], %[[ONE]], %[[ROOT]], %[[TEN]], %[[T]]
  %s = uop.sink %same, %inf, %one, %root, %ten, %lt : f16, f16, f16, f16, f16, i1
  uop.yield %s : !uop.void
}

// CHECK-LABEL: uop.program @casts
uop.program @casts {
  %x = uop.const -2.9 : f32
  %i = uop.const 16777217 : i32
  %big = uop.const 1.0e6 : f32
  %h = uop.const 0.1 : f16
  %t = uop.const true
  %m0 = uop.const -0.0 : f32
  %max = uop.const 2147483520.0 : f32
  %min = uop.const -2147483648.0 : f32
  // CHECK-DAG: %[[M2:.*]] = uop.const -2 : i32
  // CHECK-DAG: %[[F:.*]] = uop.const 0x4B800000 : f32
  // CHECK-DAG: %[[INF:.*]] = uop.const 0x7C00 : f16
  // CHECK-DAG: %[[WIDE:.*]] = uop.const 0.0999755859 : f32
  // CHECK-DAG: %[[ONE:.*]] = uop.const 1.000000e+00 : f32
  // CHECK-DAG: %[[FALSE:.*]] = uop.const false
  // CHECK-DAG: %[[MAX:.*]] = uop.const 2147483520 : i32
  // CHECK-DAG: %[[MIN:.*]] = uop.const -2147483648 : i32
  %trunc = uop.cast %x : f32 -> i32
  %rounded = uop.cast %i : i32 -> f32
  %inf = uop.cast %big : f32 -> f16
  %wide = uop.cast %h : f16 -> f32
  %one = uop.cast %t : i1 -> f32
  %false = uop.cast %m0 : f32 -> i1
  %imax = uop.cast %max : f32 -> i32
  %imin = uop.cast %min : f32 -> i32
  // CHECK: uop.sink %[[M2]], %[[F]], %[[INF]], %[[WIDE]], %[[ONE]], %[[FALSE]], %[[MAX]], %[[MIN]]
  %s = uop.sink %trunc, %rounded, %inf, %wide, %one, %false, %imax, %imin : i32, f32, f16, f32, f32, i1, i32, i32
  uop.yield %s : !uop.void
}

// CHECK-LABEL: uop.program @casts_left_alone
uop.program @casts_left_alone {
  %over = uop.const 2147483648.0 : f32
  %under = uop.const -2147483904.0 : f32
  %inf = uop.const 0x7F800000 : f32
  %nan = uop.const 0x7FC00000 : f32
  %hinf = uop.const 0xFC00 : f16
  // CHECK-COUNT-4: uop.cast %{{.*}} : f32 -> i32
  // CHECK: uop.cast %{{.*}} : f16 -> i32
  %0 = uop.cast %over : f32 -> i32
  %1 = uop.cast %under : f32 -> i32
  %2 = uop.cast %inf : f32 -> i32
  %3 = uop.cast %nan : f32 -> i32
  %4 = uop.cast %hinf : f16 -> i32
  %s = uop.sink %0, %1, %2, %3, %4 : i32
  uop.yield %s : !uop.void
}

// f32 -> f16 -> f32 rounds; a cast to the same type is its source, but not when
// it reads memory.
// CHECK-LABEL: uop.program @casts_of_values
uop.program @casts_of_values {
  // CHECK: %[[B:.*]] = uop.buffer 0
  // CHECK: %[[V:.*]] = uop.load %[[B]]
  // CHECK: %[[H:.*]] = uop.cast %[[V]] : tensor<4xf32> -> tensor<4xf16>
  // CHECK: %[[W:.*]] = uop.cast %[[H]] : tensor<4xf16> -> tensor<4xf32>
  // CHECK: %[[R:.*]] = uop.cast %[[B]] : !uop.mem<4xf32, global> -> tensor<4xf32>
  // CHECK: uop.sink %[[W]], %[[V]], %[[R]]
  %0 = uop.buffer 0 : !uop.mem<4xf32, global>
  %1 = uop.load %0 : !uop.mem<4xf32, global>
  %2 = uop.cast %1 : tensor<4xf32> -> tensor<4xf16>
  %3 = uop.cast %2 : tensor<4xf16> -> tensor<4xf32>
  %4 = uop.cast %1 : tensor<4xf32> -> tensor<4xf32>
  %5 = uop.cast %0 : !uop.mem<4xf32, global> -> tensor<4xf32>
  %s = uop.sink %3, %4, %5 : tensor<4xf32>
  uop.yield %s : !uop.void
}

// CHECK-LABEL: uop.program @where
uop.program @where {
  // CHECK-DAG: %[[B:.*]] = uop.buffer 0
  // CHECK-DAG: %[[C:.*]] = uop.buffer 1
  // CHECK: %[[P:.*]] = uop.index %[[B]]
  // CHECK: %[[X:.*]] = uop.load %[[P]]
  // CHECK: %[[Q:.*]] = uop.index %[[C]]
  // CHECK: %[[G:.*]] = uop.load %[[Q]]
  %0 = uop.buffer 0 : !uop.mem<4xf32, global>
  %1 = uop.buffer 1 : !uop.mem<4xi1, global>
  %i = uop.const 0 : i32
  %p = uop.index %0, %i : !uop.mem<4xf32, global>, i32
  %x = uop.load %p : !uop.mem<f32, global>
  %q = uop.index %1, %i : !uop.mem<4xi1, global>, i32
  %c = uop.load %q : !uop.mem<i1, global>
  %y = uop.exp2 %x : f32
  %t = uop.const true
  %f = uop.const false
  // CHECK: %[[Y:.*]] = uop.exp2 %[[X]]
  %2 = uop.where %t, %x, %y : i1, f32, f32
  %3 = uop.where %f, %x, %y : i1, f32, f32
  %4 = uop.where %c, %y, %y : i1, f32, f32
  // A branch that reads memory is not the value read.
  // CHECK: %[[M:.*]] = uop.where %{{.*}}, %[[P]], %[[Y]]
  %5 = uop.where %t, %p, %y : i1, !uop.mem<f32, global>, f32
  // CHECK: %[[V:.*]] = uop.where %[[G]], %[[X]], %[[Y]]
  %6 = uop.where %c, %x, %y : i1, f32, f32
  // CHECK: uop.sink %[[X]], %[[Y]], %[[Y]], %[[M]], %[[V]]
  %s = uop.sink %2, %3, %4, %5, %6 : f32
  uop.yield %s : !uop.void
}

// Constants of another dialect are none of ours to read.
// CHECK-LABEL: func.func @foreign
func.func @foreign(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, i32, f32) {
  %c = arith.constant dense<true> : tensor<2xi1>
  // CHECK: uop.const 6 : i32
  // CHECK: uop.where
  %0 = uop.where %c, %x, %y : tensor<2xi1>, tensor<2xf32>, tensor<2xf32>
  %p = ub.poison : i1
  %i = arith.constant 3 : i32
  %f = ub.poison : f32
  %1 = uop.add %i, %i : i32
  // CHECK: uop.exp2
  %2 = uop.exp2 %f : f32
  // CHECK: uop.where
  %3 = uop.where %p, %f, %2 : i1, f32, f32
  return %0, %1, %3 : tensor<2xf32>, i32, f32
}
