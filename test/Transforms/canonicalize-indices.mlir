// Rules on i32 and bool scalars only.
// RUN: uop-opt --pass-pipeline="builtin.module(uop.program(uop-canonicalize-indices))" %s | FileCheck %s
// RUN: uop-opt --pass-pipeline="builtin.module(uop.program(uop-canonicalize-indices{sets=fold max-steps=9}))" %s | FileCheck %s
// RUN: not uop-opt --pass-pipeline="builtin.module(uop.program(uop-canonicalize-indices{sets=nonsense}))" %s 2>&1 | FileCheck %s --check-prefix=NONSENSE
// NONSENSE: error: no rule set 'nonsense'

// The index and its mask are constants; the product of floats stays as written.
// CHECK-LABEL: uop.program @indices
// CHECK:         %[[AT:.*]] = uop.const 12 : i32
// CHECK-NEXT:    %[[PLACE:.*]] = uop.index %{{.*}}, %[[AT]]
// CHECK:         %[[TWO:.*]] = uop.const 2.000000e+00 : f32
// CHECK-NEXT:    %[[FOUR:.*]] = uop.mul %[[TWO]], %[[TWO]] : f32
// CHECK:         %[[STORE:.*]] = uop.store %[[PLACE]], %[[FOUR]]
uop.program @indices {
  %0 = uop.buffer 0 : !uop.mem<16xf32, global>
  %1 = uop.const 3 : i32
  %2 = uop.const 4 : i32
  %3 = uop.mul %1, %2 : i32
  %4 = uop.cmplt %1, %2 : i32
  %5 = uop.where %4, %3, %1 : i1, i32, i32
  %6 = uop.index %0, %5 : !uop.mem<16xf32, global>, i32
  %7 = uop.const 2.0 : f32
  %8 = uop.mul %7, %7 : f32
  %9 = uop.store %6, %8 : !uop.mem<f32, global>, f32
  %10 = uop.sink %9 : !uop.void
  uop.yield %10 : !uop.void
}

// A comparison of floats is no index either.
// CHECK-LABEL: uop.program @floats
// CHECK:         uop.cmplt %{{.*}}, %{{.*}} : f32
uop.program @floats {
  %0 = uop.const 2.0 : f32
  %1 = uop.const 3.0 : f32
  %2 = uop.cmplt %0, %1 : f32
  uop.yield %2 : i1
}
