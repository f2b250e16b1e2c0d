// CALLs become their bodies; nothing is folded.
// RUN: uop-opt --pass-pipeline="builtin.module(uop.program(uop-inline-calls))" %s | FileCheck %s

// CHECK-LABEL: uop.program @square
// CHECK-NEXT:    %[[X:.*]] = uop.const 7 : i32
// CHECK-NEXT:    %[[R:.*]] = uop.mul %[[X]], %[[X]] : i32
// CHECK-NEXT:    uop.yield %[[R]]
uop.program @square {
  %0 = uop.param 0 : i32
  %1 = uop.mul %0, %0 : i32
  %2 = uop.const 7 : i32
  %3 = uop.call "square" %1, %2 : i32
  uop.yield %3 : i32
}

// The nested body has a slot 0 of its own, the program has one too, and a body
// under equal arguments is there once.
// CHECK-LABEL: uop.program @scopes
// CHECK-NEXT:    %[[P:.*]] = uop.param 0 : i32
// CHECK-NEXT:    %[[SUM:.*]] = uop.add %[[P]], %[[P]] : i32
// CHECK-NEXT:    %[[INNER:.*]] = uop.add %[[SUM]], %[[SUM]] : i32
// CHECK-NEXT:    %[[F:.*]] = uop.mul %[[INNER]], %[[P]] : i32
// CHECK-NEXT:    %[[R:.*]] = uop.mul %[[F]], %[[F]] : i32
// CHECK-NEXT:    uop.yield %[[R]]
uop.program @scopes {
  %0 = uop.param 0 : i32
  %1 = uop.add %0, %0 : i32
  %2 = uop.call "g" %1, %1 : i32
  %3 = uop.mul %2, %0 : i32
  %4 = uop.call "f" %3, %0 : i32
  %5 = uop.call "again" %3, %0 : i32
  %6 = uop.mul %4, %5 : i32
  uop.yield %6 : i32
}
