// Programs that are wrong in ways that only the generic form, another dialect or
// a large number can express: each is an error, none may crash.

// RUN: uop-opt %s -split-input-file -verify-diagnostics

%0 = ub.poison : tensor<6xf32>
// expected-error @below {{requires attribute 'shape'}}
%1 = "uop.reshape"(%0) : (tensor<6xf32>) -> tensor<6xf32>

// -----

%0 = ub.poison : tensor<6xf32>
// expected-error @below {{requires attribute 'permutation'}}
%1 = "uop.permute"(%0) : (tensor<6xf32>) -> tensor<6xf32>

// -----

%0 = ub.poison : tensor<6xf32>
// expected-error @below {{requires attribute 'bounds'}}
%1 = "uop.shrink"(%0) : (tensor<6xf32>) -> tensor<6xf32>

// -----

%0 = ub.poison : tensor<6xf32>
// expected-error @below {{invalid}}
%1 = "uop.reshape"(%0) <{shape = 6 : i64}> : (tensor<6xf32>) -> tensor<6xf32>

// -----

%0 = ub.poison : tensor<6xf32>
// expected-error @below {{REDUCE has type 'f32', its sources give 'tensor<6xf32>'}}
%1 = "uop.reduce"(%0) <{kind = #uop<reduce add>}> : (tensor<6xf32>) -> f32

// -----

%0 = ub.poison : tensor<6xf32>
// expected-error @below {{requires attribute 'kind'}}
%1 = "uop.reduce"(%0) <{pop = 1 : i64}> : (tensor<6xf32>) -> f32

// -----

// expected-error @below {{requires attribute 'value'}}
%0 = "uop.const"() : () -> f32

// -----

// expected-error @below {{failed to verify that all of {value, result} have same type}}
%0 = "uop.const"() <{value = 1 : i32}> : () -> f32

// -----

%0 = uop.const 1 : i32
// expected-error @below {{requires attribute 'name'}}
%1 = "uop.call"(%0) : (i32) -> i32

// -----

// expected-error @below {{CALL takes at least 1 source, got 0}}
%0 = "uop.call"() <{name = "f"}> : () -> i32

// -----

%0 = uop.const 1 : i32
// expected-error @below {{requires one result}}
"uop.add"(%0, %0) : (i32, i32) -> ()

// -----

%0 = uop.const 1 : i32
// expected-error @below {{expected 2 operands, but found 1}}
%1 = "uop.add"(%0) : (i32) -> i32

// -----

%0 = uop.const 1 : i32
// expected-error @below {{requires zero operands}}
%1 = "uop.param"(%0) <{slot = 0 : i64}> : (i32) -> i32

// -----

%0 = uop.const 1 : i32
// expected-error @below {{ADD has type 'f32', its sources give 'i32'}}
%1 = "uop.add"(%0, %0) : (i32, i32) -> f32

// -----

// expected-error @below {{SINK has a type that no UOp has: 'i64'}}
%0 = "uop.sink"() : () -> i64

// -----

// A cycle: the body of a module is a graph region, that of a program is not.
uop.program @cycle {
  // expected-error @below {{operand #0 does not dominate this use}}
  %0 = uop.add %1, %1 : i32
  // expected-note @below {{operand defined here (op in the same block)}}
  %1 = uop.add %0, %0 : i32
  uop.yield %1 : i32
}

// -----

// A CALL whose body is itself.
%p = uop.param 0 : i32
// expected-error @below {{CALL needs params 0..0, body has []}}
%0 = uop.call "f" %0, %p : i32

// -----

// expected-error @below {{should have no arguments}}
"uop.program"() <{sym_name = "arguments"}> ({
^bb0(%n: i32):
  %0 = "uop.range"(%n) <{idx = 0 : i64, kind = 0 : i32}> : (i32) -> i32
  %1 = "uop.add"(%0, %n) : (i32, i32) -> i32
  %2 = "uop.call"(%n) <{name = "f"}> : (i32) -> i32
  "uop.yield"(%1) : (i32) -> ()
}) : () -> ()

// -----

// expected-error @below {{expects region #0 to have 0 or 1 blocks}}
"uop.program"() <{sym_name = "two_blocks"}> ({
  %0 = "uop.const"() <{value = 1 : i32}> : () -> i32
  "uop.yield"(%0) : (i32) -> ()
^bb1:
  %1 = "uop.const"() <{value = 1 : i32}> : () -> i32
  "uop.yield"(%1) : (i32) -> ()
}) : () -> ()

// -----

// expected-error @below {{failed to verify constraint: region with 1 blocks}}
"uop.program"() <{sym_name = "no_block"}> ({
}) : () -> ()

// -----

// expected-error @below {{requires attribute 'sym_name'}}
"uop.program"() ({
  %0 = "uop.const"() <{value = 1 : i32}> : () -> i32
  "uop.yield"(%0) : (i32) -> ()
}) : () -> ()

// -----

builtin.module {
  %x = uop.const 1 : i32
  // expected-note @below {{required by region isolation constraints}}
  uop.program @isolated {
    // expected-error @below {{using value defined outside the region}}
    %0 = uop.add %x, %x : i32
    uop.yield %0 : i32
  }
}

// -----

// Dimensions that look like a dynamic one to MLIR.
%0 = ub.poison : tensor<1xf32>
// expected-error @below {{EXPAND (1,) -> (-9223372036854775808,)}}
%1 = uop.expand %0 [-9223372036854775808] : tensor<1xf32>

// -----

%0 = ub.poison : tensor<0x9223372036854775807xf32>
// expected-error @below {{RESHAPE (0, 9223372036854775807) -> (0, -9223372036854775808)}}
%1 = uop.reshape %0 [0, -9223372036854775808] : tensor<0x9223372036854775807xf32>

// -----

%0 = ub.poison : tensor<6xf32>
// expected-error @below {{SHRINK ((-9223372036854775808, 9223372036854775807),) of (6,)}}
%1 = uop.shrink %0 [-9223372036854775808, 9223372036854775807] : tensor<6xf32>
