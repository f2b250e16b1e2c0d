// RUN: uop-opt %s | uop-opt | FileCheck %s
// RUN: uop-opt %s --emit-bytecode | uop-opt | FileCheck %s

// CHECK-LABEL: uop.plan @empty arena 0 {
uop.plan @empty arena 0 {
}

uop.program @copy {
  %0 = uop.buffer 0 : !uop.mem<4xf32, global>
  %1 = uop.buffer 1 : !uop.mem<4xf32, global>
  %2 = uop.store %1, %0 : !uop.mem<4xf32, global>, !uop.mem<4xf32, global>
  uop.yield %2 : !uop.void
}

// CHECK-LABEL: uop.plan @all arena 80 {
// CHECK-NEXT:    %in3 = uop.input 3 : !uop.mem<4xf32, global>
// CHECK-NEXT:    %out0 = uop.output 0 : !uop.mem<2x2x2xf32, global>
// CHECK-NEXT:    %tmp0 = uop.temp 0 at 64 : !uop.mem<2x2xf32, global>
// CHECK-NEXT:    %0 = uop.slice %out0 from 4 : !uop.mem<2x2x2xf32, global> to !uop.mem<4xf32, global>
// CHECK-NEXT:    uop.launch @copy(%in3, %tmp0) : !uop.mem<4xf32, global>, !uop.mem<2x2xf32, global>
// CHECK-NEXT:    uop.launch @copy(%tmp0, %0) : !uop.mem<2x2xf32, global>, !uop.mem<4xf32, global>
uop.plan @all arena 80 {
  %a = uop.input 3 : !uop.mem<4xf32, global>
  %b = uop.output 0 : !uop.mem<2x2x2xf32, global>
  %c = uop.temp 0 at 64 : !uop.mem<2x2xf32, global>
  %d = uop.slice %b from 4 : !uop.mem<2x2x2xf32, global> to !uop.mem<4xf32, global>
  uop.launch @copy(%a, %c) : !uop.mem<4xf32, global>, !uop.mem<2x2xf32, global>
  uop.launch @copy(%c, %d) : !uop.mem<2x2xf32, global>, !uop.mem<4xf32, global>
}
