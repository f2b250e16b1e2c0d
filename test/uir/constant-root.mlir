// RUN: uop-translate --mlir-to-uir --split-input-file %s | FileCheck %s

// CHECK: %0 = const -2147483648
uop.program @int {
  %0 = uop.const -2147483648 : i32
  uop.yield %0 : i32
}

// -----

// CHECK: %0 = const -0.0 : dtype=f16
uop.program @half {
  %0 = uop.const -0.0 : f16
  uop.yield %0 : f16
}

// -----

// CHECK: %0 = const false
uop.program @bool {
  %0 = uop.const false
  %1 = uop.cast %0 : i1 -> i1
  uop.yield %1 : i1
}
