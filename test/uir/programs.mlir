// A .uir file is one program.
// RUN: not uop-translate --mlir-to-uir %s 2>&1 | FileCheck %s
// CHECK: error: a .uir file is one program, the module has 2

uop.program @a {
  %0 = uop.const 1 : i32
  uop.yield %0 : i32
}
uop.program @b {
  %0 = uop.const 2 : i32
  uop.yield %0 : i32
}
