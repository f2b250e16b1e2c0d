// A program of constants is its value, by rules alone.
// RUN: uop-opt --pass-pipeline="builtin.module(uop.program(uop-simplify{sets=evaluate}))" %s | FileCheck %s
// RUN: uop-opt --pass-pipeline="builtin.module(uop.program(uop-simplify{sets=stacks}))" %s | FileCheck %s --check-prefix=STACKS

// CHECK-LABEL: uop.program @stacks
// CHECK-NEXT:    %[[TWENTY:.*]] = uop.const 20 : i32
// CHECK-NEXT:    uop.yield %[[TWENTY]]
// STACKS-LABEL: uop.program @stacks
// STACKS-NEXT:    %[[TWENTY:.*]] = uop.const 20 : i32
// STACKS-NEXT:    uop.yield %[[TWENTY]]
uop.program @stacks {
  %0 = uop.const 1 : i32
  %1 = uop.const 20 : i32
  %2 = uop.stack %0, %1 : i32
  %3 = uop.stack %2, %2 : tensor<2xi32>
  %4 = uop.index %3, %0 : tensor<2x2xi32>, i32
  %5 = uop.index %4, %0 : tensor<2xi32>, i32
  uop.yield %5 : i32
}

// Elementwise, moved, summed: (1 + 9) and (4 + 16).
// CHECK-LABEL: uop.program @shaped
// CHECK-NEXT:    %[[A:.*]] = uop.const 10 : i32
// CHECK-NEXT:    %[[B:.*]] = uop.const 20 : i32
// CHECK-NEXT:    %[[R:.*]] = uop.stack %[[A]], %[[B]] : i32
// CHECK-NEXT:    uop.yield %[[R]]
uop.program @shaped {
  %0 = uop.const 1 : i32
  %1 = uop.const 2 : i32
  %2 = uop.const 3 : i32
  %3 = uop.const 4 : i32
  %4 = uop.stack %0, %1, %2, %3 : i32
  %5 = uop.reshape %4 [2, 2] : tensor<4xi32>
  %6 = uop.mul %5, %5 : tensor<2x2xi32>
  %7 = uop.permute %6 [1, 0] : tensor<2x2xi32>
  %8 = uop.reduce add 1 %7 : tensor<2x2xi32>
  uop.yield %8 : tensor<2xi32>
}

// Too large to write down, and known all the same.
// CHECK-LABEL: uop.program @large
// CHECK-NEXT:    %[[N:.*]] = uop.const 3000000 : i32
// CHECK-NEXT:    uop.yield %[[N]]
uop.program @large {
  %0 = uop.const 3 : i32
  %1 = uop.reshape %0 [1, 1] : i32
  %2 = uop.expand %1 [1000, 1000] : tensor<1x1xi32>
  %3 = uop.reduce add 2 %2 : tensor<1000x1000xi32>
  uop.yield %3 : i32
}

// f(x) = g(x + x) * x and g(y) = y + y: slot 0 of g is not slot 0 of f.
// CHECK-LABEL: uop.program @nested_calls
// CHECK-NEXT:    %[[N:.*]] = uop.const 100 : i32
// CHECK-NEXT:    uop.yield %[[N]]
uop.program @nested_calls {
  %0 = uop.param 0 : i32
  %1 = uop.add %0, %0 : i32
  %2 = uop.call "g" %1, %1 : i32
  %3 = uop.mul %2, %0 : i32
  %4 = uop.const 5 : i32
  %5 = uop.call "f" %3, %4 : i32
  uop.yield %5 : i32
}

// A division by zero has no value; what stands around it is evaluated.
// CHECK-LABEL: uop.program @division_by_zero
// CHECK:         %[[D:.*]] = uop.floordiv %{{.*}}, %{{.*}} : i32
// CHECK:         %[[M:.*]] = uop.floormod %{{.*}}, %{{.*}} : i32
// CHECK-NEXT:    %[[R:.*]] = uop.stack %[[D]], %[[M]] : i32
// CHECK-NEXT:    uop.yield %[[R]]
uop.program @division_by_zero {
  %0 = uop.const 0 : i32
  %1 = uop.const 3 : i32
  %2 = uop.const -1 : i32
  %3 = uop.const -2147483648 : i32
  %4 = uop.floordiv %1, %0 : i32
  %5 = uop.floormod %3, %2 : i32
  %6 = uop.stack %4, %5, %1 : i32
  %7 = uop.shrink %6 [0, 2] : tensor<3xi32>
  uop.yield %7 : tensor<2xi32>
}

// An index past the end is not decided.
// CHECK-LABEL: uop.program @past_the_end
// CHECK:         uop.index
uop.program @past_the_end {
  %0 = uop.const 2 : i32
  %1 = uop.stack %0, %0 : i32
  %2 = uop.index %1, %0 : tensor<2xi32>, i32
  uop.yield %2 : i32
}
