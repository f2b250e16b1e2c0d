// The first duplicate is an error, with the place of both.
// RUN: uop-opt --pass-pipeline="builtin.module(uop.program(uop-unique{check}))" -split-input-file -verify-diagnostics %s

uop.program @duplicate {
  %0 = uop.param 0 : i32
  // expected-note @below {{the first one is here}}
  %1 = uop.add %0, %0 : i32
  // expected-error @below {{this ADD is a node that exists already}}
  %2 = uop.add %0, %0 : i32
  %3 = uop.mul %1, %2 : i32
  uop.yield %3 : i32
}

// -----

uop.program @unique {
  %0 = uop.param 0 : i32
  %1 = uop.param 1 : i32
  %2 = uop.add %0, %1 : i32
  %3 = uop.add %1, %0 : i32
  %4 = uop.mul %2, %3 : i32
  uop.yield %4 : i32
}
