// RUN: uop-opt %s --uop-simplify | FileCheck %s

// A PARAM that a body has lost takes its argument with it, and those after it
// move up.
// CHECK-LABEL: uop.program @lost_first
// CHECK: %[[P:.*]] = uop.param 0 : i32
// CHECK: %[[BODY:.*]] = uop.add %[[P]], %{{.*}} : i32
// CHECK: %[[ARG:.*]] = uop.param 1 : i32
// CHECK: uop.call "f" %[[BODY]], %[[ARG]] : i32
uop.program @lost_first {
  %0 = uop.param 0 : i32
  %1 = uop.param 1 : i32
  %zero = uop.const 0 : i32
  %one = uop.const 1 : i32
  %gone = uop.mul %0, %zero : i32
  %next = uop.add %1, %one : i32
  %body = uop.add %gone, %next : i32
  %call = uop.call "f" %body, %0, %1 : i32, i32, i32
  uop.yield %call : i32
}

// A nested body is a scope of its own; here it loses all that it has.
// CHECK-LABEL: uop.program @nested
// CHECK: %[[P:.*]] = uop.param 0 : i32
// CHECK: %[[SEVEN:.*]] = uop.const 7 : i32
// CHECK: %[[INNER:.*]] = uop.call "g" %[[SEVEN]] : i32
// CHECK: %[[BODY:.*]] = uop.add %[[P]], %[[INNER]] : i32
// CHECK: %[[ARG:.*]] = uop.param 2 : i32
// CHECK: uop.call "f" %[[BODY]], %[[ARG]] : i32
uop.program @nested {
  %0 = uop.param 0 : i32
  %1 = uop.param 1 : i32
  %2 = uop.param 2 : i32
  %zero = uop.const 0 : i32
  %seven = uop.const 7 : i32
  %gone = uop.mul %0, %zero : i32
  %inner = uop.add %gone, %seven : i32
  %called = uop.call "g" %inner, %2 : i32, i32
  %sum = uop.add %called, %2 : i32
  %both = uop.mul %0, %zero : i32
  %rest = uop.mul %1, %zero : i32
  %body0 = uop.add %sum, %both : i32
  %body = uop.add %body0, %rest : i32
  %call = uop.call "f" %body, %0, %1, %2 : i32, i32, i32, i32
  uop.yield %call : i32
}

// The body's root stays, over another source.
// CHECK-LABEL: uop.program @root_stays
// CHECK: %[[P:.*]] = uop.param 0 : i32
// CHECK: %[[BODY:.*]] = uop.floordiv %[[P]], %{{.*}} : i32
// CHECK: %[[ARG:.*]] = uop.param 1 : i32
// CHECK: uop.call "f" %[[BODY]], %[[ARG]] : i32
uop.program @root_stays {
  %0 = uop.param 0 : i32
  %1 = uop.param 1 : i32
  %zero = uop.const 0 : i32
  %seven = uop.const 7 : i32
  %gone = uop.mul %0, %zero : i32
  %sum = uop.add %gone, %1 : i32
  %body = uop.floordiv %sum, %seven : i32
  %call = uop.call "f" %body, %0, %1 : i32, i32, i32
  uop.yield %call : i32
}

// A body that others use as well would be there twice: all stays as it is.
// CHECK-LABEL: uop.program @shared_body
// CHECK: %[[GONE:.*]] = uop.mul
// CHECK: %[[BODY:.*]] = uop.add %[[GONE]], %{{.*}} : i32
// CHECK: uop.call "f" %[[BODY]], %{{.*}}, %{{.*}} : i32
uop.program @shared_body {
  %0 = uop.param 0 : i32
  %1 = uop.param 1 : i32
  %zero = uop.const 0 : i32
  %gone = uop.mul %0, %zero : i32
  %q0 = uop.floordiv %1, %1 : i32
  %q1 = uop.floordiv %q0, %1 : i32
  %q2 = uop.floordiv %q1, %1 : i32
  %q3 = uop.floordiv %q2, %1 : i32
  %body = uop.add %gone, %q3 : i32
  %call = uop.call "f" %body, %0, %1 : i32, i32, i32
  %use = uop.mul %call, %q3 : i32
  uop.yield %use : i32
}
