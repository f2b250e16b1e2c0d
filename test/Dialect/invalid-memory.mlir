// What the ops of memory, effects and loops refuse.

// RUN: uop-opt %s -split-input-file -verify-diagnostics

%f = uop.const 1.0 : f32
// expected-error @below {{LOAD needs memory}}
%0 = uop.load %f : f32

// -----

%i = uop.const 1 : i32
%m = uop.buffer 0 : !uop.mem<4xf32, global>
%p = uop.index %m, %i : !uop.mem<4xf32, global>, i32
// expected-error @below {{LOAD takes 1 or 3 sources, got 2}}
%0 = uop.load %p, %i : !uop.mem<f32, global>, i32

// -----

%i = uop.const 1 : i32
%m = uop.buffer 0 : !uop.mem<4xf32, global>
%p = uop.index %m, %i : !uop.mem<4xf32, global>, i32
// expected-error @below {{LOAD takes 1 or 3 sources, got 4}}
%0 = uop.load %p, %i, %i, %i : !uop.mem<f32, global>, i32, i32, i32

// -----

%i = uop.const 1 : i32
%f = uop.const 1.0 : f32
%m = uop.buffer 0 : !uop.mem<4xf32, global>
%p = uop.index %m, %i : !uop.mem<4xf32, global>, i32
// expected-error @below {{LOAD gate must be bool(), got i32()}}
%0 = uop.load %p, %i, %f : !uop.mem<f32, global>, i32, f32

// -----

%m = uop.buffer 0 : !uop.mem<4xf32, global>
%0 = uop.const true
// expected-error @below {{LOAD gate must be bool(4,), got bool()}}
%1 = uop.load %m, %0, %m : !uop.mem<4xf32, global>, i1, !uop.mem<4xf32, global>

// -----

%i = uop.const 1 : i32
%m = uop.buffer 0 : !uop.mem<4xf32, global>
%p = uop.index %m, %i : !uop.mem<4xf32, global>, i32
%0 = uop.const true
// expected-error @below {{LOAD alternative must be f32(), got i32()}}
%1 = uop.load %p, %0, %i : !uop.mem<f32, global>, i1, i32

// -----

%f = uop.const 1.0 : f32
// expected-error @below {{STORE needs memory}}
%0 = uop.store %f, %f : f32, f32

// -----

%i = uop.const 1 : i32
%m = uop.buffer 0 : !uop.mem<4xf32, global>
%p = uop.index %m, %i : !uop.mem<4xf32, global>, i32
// expected-error @below {{STORE of i32 into f32}}
%0 = uop.store %p, %i : !uop.mem<f32, global>, i32

// -----

%m = uop.buffer 0 : !uop.mem<4xf32, global>
%f = uop.const 1.0 : f32
// expected-error @below {{STORE: shape mismatch (4,) vs () (broadcast with EXPAND)}}
%0 = uop.store %m, %f : !uop.mem<4xf32, global>, f32

// -----

%i = uop.const 1 : i32
%m = uop.buffer 0 : !uop.mem<4xf32, global>
%p = uop.index %m, %i : !uop.mem<4xf32, global>, i32
// expected-error @below {{STORE: shape mismatch () vs (4,) (broadcast with EXPAND)}}
%0 = uop.store %p, %m : !uop.mem<f32, global>, !uop.mem<4xf32, global>

// -----

%i = uop.const 1 : i32
%m = uop.buffer 0 : !uop.mem<4xf32, global>
%p = uop.index %m, %i : !uop.mem<4xf32, global>, i32
%v = uop.sink()
// expected-error @below {{STORE of void}}
%0 = uop.store %p, %v : !uop.mem<f32, global>, !uop.void

// -----

%m = uop.buffer 0 : !uop.mem<4xf32, global>
// expected-error @below {{AFTER takes at least 2 sources, got 1}}
%0 = uop.after %m : !uop.mem<4xf32, global>

// -----

%v = uop.sink()
// expected-error @below {{AFTER of void}}
%0 = uop.after %v, %v : !uop.void, !uop.void

// -----

// expected-error @below {{BARRIER takes at least 1 source, got 0}}
%0 = "uop.barrier"() : () -> !uop.void

// -----

%0 = ub.poison : index
// expected-error @below {{SINK: a source has a type that no UOp has}}
%1 = uop.sink %0 : index

// -----

%i = uop.const 1 : i32
%f = uop.const 1.0 : f32
%m = uop.buffer 0 : !uop.mem<4xf32, global>
%p = uop.index %m, %i : !uop.mem<4xf32, global>, i32
// expected-error @below {{STORE has type 'f32', its sources give '!uop.void'}}
%0 = "uop.store"(%p, %f) : (!uop.mem<f32, global>, f32) -> f32

// -----

%f = uop.const 1.0 : f32
// expected-error @below {{RANGE end is i32}}
%0 = uop.range 0 loop %f : f32

// -----

%0 = uop.param 0 : tensor<1xi32>
// expected-error @below {{RANGE end is i32}}
%1 = uop.range 0 loop %0 : tensor<1xi32>

// -----

%i = uop.const 1 : i32
// expected-error @below {{RANGE idx must be from 0 to 2147483647, got -1}}
%0 = uop.range -1 loop %i : i32

// -----

%v = uop.sink()
// expected-error @below {{END takes at least 2 sources, got 1}}
%0 = uop.end %v : !uop.void

// -----

%i = uop.const 1 : i32
%v = uop.sink()
// expected-error @below {{END closes RANGEs, source 1 is CONST}}
%0 = uop.end %v, %i : !uop.void, i32

// -----

%i = uop.const 1 : i32
%v = uop.sink()
%0 = uop.range 0 loop %i : i32
%1 = ub.poison : i32
// expected-error @below {{END closes RANGEs, source 2 is none}}
%2 = uop.end %v, %0, %1 : !uop.void, i32, i32

// -----

%i = uop.const 1 : i32
%v = uop.sink()
%0 = uop.range 3 loop %i : i32
// expected-error @below {{END names loop 3 twice}}
%1 = uop.end %v, %0, %0 : !uop.void, i32, i32
