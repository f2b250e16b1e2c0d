// A constant that its neighbours would not read back is its own statement.
// RUN: uop-translate --mlir-to-uir %s > %t.uir
// RUN: FileCheck %s < %t.uir
// RUN: uop-translate --mlir-to-uir %t.uir | diff %t.uir -

uop.program @constants {
  %two = uop.const 2.0 : f32
  %half = uop.const 1.0 : f16
  %one = uop.const 1 : i32
  %nan = uop.const 0x7E01 : f16
  %body = uop.param 0 : i32
  %7 = uop.cast %body : i32 -> f32
  %call = uop.call "a b" %7, %one : f32, i32
  %b = uop.buffer 0 : !uop.mem<8xf16, global>
  %n = uop.const 4 : i32
  %r = uop.range 0 loop %n : i32
  %p = uop.index %b, %r : !uop.mem<8xf16, global>, i32
  %st = uop.store %p, %half : !uop.mem<f16, global>, f16
  %e = uop.end %two, %r : f32, i32
  %b2 = uop.after %b, %one : !uop.mem<8xf16, global>, i32
  %p2 = uop.index %b2, %one : !uop.mem<8xf16, global>, i32
  %l = uop.load %p2 : !uop.mem<f16, global>
  %same = uop.cast %l : f16 -> f16
  %sum = uop.add %same, %half : f16
  %stack = uop.stack %half, %nan : f16
  %s = uop.sink %call, %e, %st, %one, %sum, %stack, %half : f32, !uop.void, !uop.void, i32, f16, tensor<2xf16>, f16
  uop.yield %s : !uop.void
}

// CHECK:      %0 = param : slot=0 dtype=i32
// CHECK-NEXT: %1 = cast %0 : dtype=f32
// CHECK-NEXT: %2 = const 1
// CHECK-NEXT: %3 = call %1, %2 : name="a b"
// CHECK-NEXT: %4 = const 2.0
// CHECK-NEXT: %5 = range 4 : idx=0 kind=loop
// CHECK-NEXT: %6 = end %4, %5
// CHECK-NEXT: %7 = buffer 8 : dtype=f16 slot=0
// CHECK-NEXT: %8 = index %7, %5
// CHECK-NEXT: %9 = const 1.0 : dtype=f16
// CHECK-NEXT: %10 = store %8, 1.0
// CHECK-NEXT: %11 = after %7, %2
// CHECK-NEXT: %12 = index %11, 1
// CHECK-NEXT: %13 = load %12
// CHECK-NEXT: %14 = add %13, 1.0
// CHECK-NEXT: %15 = const nan : dtype=f16
// CHECK-NEXT: %16 = stack %9, %15
// CHECK-NEXT: %17 = sink %3, %6, %10, %2, %14, %16, %9
