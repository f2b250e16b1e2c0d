// What has been simplified stays as it is.
//
// RUN: uop-opt %s --uop-simplify -o %t
// RUN: uop-opt %t --uop-simplify | diff %t -
// RUN: FileCheck %s < %t

// A sum that comes up twice is no part of one of its users alone.
// CHECK-LABEL: @twice
// CHECK-DAG: %[[A:.*]] = uop.range 0
// CHECK-DAG: %[[B:.*]] = uop.range 9
// CHECK-NOT: uop.add %[[B]], %[[A]]
// CHECK: uop.yield
uop.program @twice {
  %n = uop.param 0 : i32
  %a = uop.range 0 loop %n : i32
  %b = uop.range 9 loop %n : i32
  %g = uop.range 2 loop %n : i32
  %x = uop.add %b, %a : i32
  %x2 = uop.add %b, %a : i32
  %u2 = uop.add %x2, %g : i32
  %f = uop.floordiv %g, %u2 : i32
  %f2 = uop.mul %f, %g : i32
  %u1 = uop.add %x, %f2 : i32
  uop.yield %u1 : i32
}

// Nodes that come up twice and that rules give up half way.
// CHECK-LABEL: @duplicates
uop.program @duplicates {
  %a = uop.param 0 : i32
  %b = uop.param 1 : i32
  %c = uop.param 5 : i32
  %d = uop.param 10 : i32
  %sh = uop.add %a, %b : i32
  %p = uop.add %sh, %a : i32
  %q = uop.add %p, %c : i32
  %r = uop.add %q, %d : i32
  %m = uop.floordiv %r, %a : i32
  %p2 = uop.add %sh, %a : i32
  %q2 = uop.add %p2, %c : i32
  %t = uop.add %q2, %m : i32
  uop.yield %t : i32
}

// The product of a WHERE in a sum is a WHERE.
// CHECK-LABEL: @replaced_product
uop.program @replaced_product {
  %n = uop.const 2 : i32
  %p = uop.param 2 : i32
  %c = uop.param 3 : i1
  %zero = uop.const 0 : i32
  %one = uop.const 1 : i32
  %a = uop.where %c, %one, %zero : i1, i32, i32
  %x = uop.mul %a, %n : i32
  %m = uop.floordiv %x, %p : i32
  %s = uop.add %m, %a : i32
  %t = uop.add %s, %a : i32
  %u = uop.floordiv %x, %t : i32
  uop.yield %u : i32
}

// A product that was left to a sum which is the product itself, twice over.
// CHECK-LABEL: @left_to_nothing
// CHECK: uop.mul %{{.*}}, %[[FOUR:.*]] : i32
// CHECK-NOT: uop.mul
uop.program @left_to_nothing {
  %n = uop.const 5 : i32
  %i = uop.range 0 loop %n : i32
  %j = uop.range 1 loop %n : i32
  %zero = uop.const 0 : i32
  %four = uop.const 4 : i32
  %p = uop.param 2 : i32
  %none = uop.mul %zero, %p : i32
  %ij = uop.add %j, %i : i32
  %left = uop.mul %four, %ij : i32
  %once = uop.add %left, %none : i32
  %twice = uop.add %once, %none : i32
  %again = uop.mul %four, %ij : i32
  %m = uop.floormod %none, %again : i32
  %u = uop.floormod %twice, %m : i32
  uop.yield %u : i32
}
