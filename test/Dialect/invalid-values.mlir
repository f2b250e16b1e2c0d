// What CONST, PARAM, BUFFER, ALLOC, CALL, STACK, INDEX and the ALU ops refuse.

// RUN: uop-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{CONST has a type that no UOp has: 'i64'}}
%0 = uop.const 1 : i64

// -----

// expected-error @below {{CONST has a type that no UOp has: 'f64'}}
%0 = uop.const 1.0 : f64

// -----

// expected-error @below {{CONST has a type that no UOp has: 'index'}}
%0 = uop.const 1 : index

// -----

// expected-error @below {{CONST has a type that no UOp has: 'bf16'}}
%0 = uop.const 1.0 : bf16

// -----

// expected-error @below {{CONST has a type that no UOp has: 'si32'}}
%0 = uop.const 1 : si32

// -----

// expected-error @below {{CONST is a bool, i32, f16 or f32}}
%0 = uop.const dense<1.0> : tensor<2xf32>

// -----

// expected-error @below {{PARAM has a type that no UOp has: 'i64'}}
%0 = uop.param 0 : i64

// -----

// expected-error @below {{PARAM has a type that no UOp has: 'tensor<?xf32>'}}
%0 = uop.param 0 : tensor<?xf32>

// -----

// expected-error @below {{PARAM has a type that no UOp has: 'tensor<*xf32>'}}
%0 = uop.param 0 : tensor<*xf32>

// -----

// expected-error @below {{PARAM has a type that no UOp has: 'tensor<f32>'}}
%0 = uop.param 0 : tensor<f32>

// -----

// expected-error @below {{PARAM has a type that no UOp has: 'vector<4xf32>'}}
%0 = uop.param 0 : vector<4xf32>

// -----

// expected-error @below {{PARAM of void}}
%0 = uop.param 0 : !uop.void

// -----

// expected-error @below {{PARAM slot must be from 0 to 2147483647, got -1}}
%0 = uop.param -1 : f32

// -----

// expected-error @below {{PARAM slot must be from 0 to 2147483647, got 2147483648}}
%0 = uop.param 2147483648 : f32

// -----

// expected-error @below {{PARAM of shape (4294967296, 4294967296): too many elements to count}}
%0 = uop.param 0 : tensor<4294967296x4294967296xf32>

// -----

// expected-error @below {{PARAM is a value, not memory}}
%0 = uop.param 0 : !uop.mem<4xf32, global>

// -----

// expected-error @below {{BUFFER has a type that no UOp has: 'memref<4xf32>'}}
%0 = uop.buffer 0 : memref<4xf32>

// -----

// expected-error @below {{BUFFER of void}}
%0 = uop.buffer 0 : !uop.void

// -----

// expected-error @below {{BUFFER slot must be from 0 to 2147483647, got -7}}
%0 = uop.buffer -7 : !uop.mem<4xf32, global>

// -----

// expected-error @below {{BUFFER is flat}}
%0 = uop.buffer 0 : !uop.mem<2x3xf32, global>

// -----

// expected-error @below {{BUFFER is flat}}
%0 = uop.buffer 0 : !uop.mem<f32, global>

// -----

// expected-error @below {{BUFFER is global memory}}
%0 = uop.buffer 0 : !uop.mem<4xf32, local>

// -----

// expected-error @below {{BUFFER is global memory}}
%0 = uop.buffer 0 : tensor<4xf32>

// -----

// expected-error @below {{BUFFER of 2147483648 elements: memory holds at most 2147483647}}
%0 = uop.buffer 0 : !uop.mem<2147483648xf32, global>

// -----

// expected-error @below {{ALLOC slot must be from 0 to 2147483647, got -1}}
%0 = uop.alloc -1 : !uop.mem<4xf32, local>

// -----

// expected-error @below {{ALLOC is flat}}
%0 = uop.alloc 0 : !uop.mem<1x1xf32, local>

// -----

// expected-error @below {{ALLOC is global, local or shared memory}}
%0 = uop.alloc 0 : tensor<4xf32>

// -----

// expected-error @below {{ALLOC of 9223372036854775807 elements: memory holds at most 2147483647}}
%0 = uop.alloc 0 : !uop.mem<9223372036854775807xf32, shared>

// -----

// expected-error @below {{CALL takes at least 1 source, got 0}}
%0 = uop.call "f" : i32

// -----

%v = uop.sink()
// expected-error @below {{CALL body is void}}
%0 = uop.call "f" %v : !uop.void

// -----

%m = uop.buffer 0 : !uop.mem<4xf32, global>
%0 = uop.exp2 %m : !uop.mem<4xf32, global>
// expected-error @below {{CALL body has BUFFER 0 (pass it as an argument)}}
%1 = uop.call "f" %0 : tensor<4xf32>

// -----

%0 = uop.param 0 : i32
%1 = uop.param 0 : tensor<4xi32>
%2 = uop.index %1, %0 : tensor<4xi32>, i32
// expected-error @below {{CALL body has PARAM 0 twice, with two types}}
%3 = uop.call "f" %2, %2 : i32

// -----

%0 = uop.param 0 : i32
%1 = uop.param 1 : i32
%2 = uop.add %0, %1 : i32
// expected-error @below {{CALL needs params 0..0, body has [0, 1]}}
%3 = uop.call "f" %2, %2 : i32

// -----

%0 = uop.param 0 : i32
%1 = uop.param 2 : i32
%2 = uop.add %0, %1 : i32
// expected-error @below {{CALL needs params 0..1, body has [0, 2]}}
%3 = uop.call "f" %2, %2, %2 : i32

// -----

%0 = uop.param 0 : i32
// expected-error @below {{CALL needs params 0..-1, body has [0]}}
%1 = uop.call "f" %0 : i32

// -----

%i = uop.const 1 : i32
// expected-error @below {{CALL needs params 0..0, body has []}}
%1 = uop.call "f" %i, %i : i32

// -----

%0 = uop.param 0 : i32
%f = uop.const 1.0 : f32
// expected-error @below {{CALL arg 0: f32() != param i32()}}
%1 = uop.call "f" %0, %f : i32, f32

// -----

%0 = uop.param 0 : tensor<4xf32>
%f = uop.const 1.0 : f32
// expected-error @below {{CALL arg 0: f32() != param f32(4,)}}
%1 = uop.call "f" %0, %f : tensor<4xf32>, f32

// -----

// expected-error @below {{STACK of nothing}}
%0 = "uop.stack"() : () -> tensor<0xf32>

// -----

%i = uop.const 1 : i32
%f = uop.const 1.0 : f32
// expected-error @below {{STACK srcs must agree in shape and dtype}}
%0 = uop.stack %i, %f : i32, f32

// -----

%f = uop.const 1.0 : f32
%0 = uop.stack %f, %f : f32
// expected-error @below {{STACK srcs must agree in shape and dtype}}
%1 = uop.stack %0, %f : tensor<2xf32>, f32

// -----

%v = uop.sink()
// expected-error @below {{STACK of void}}
%0 = uop.stack %v : !uop.void

// -----

%0 = uop.param 0 : tensor<4611686018427387904xf32>
// expected-error @below {{STACK of shape (3, 4611686018427387904): too many elements to count}}
%1 = uop.stack %0, %0, %0 : tensor<4611686018427387904xf32>

// -----

%i = uop.const 1 : i32
%m = uop.buffer 0 : !uop.mem<4xf32, global>
// expected-error @below {{INDEX: 2 indices into shape (4,)}}
%0 = uop.index %m, %i, %i : !uop.mem<4xf32, global>, i32, i32

// -----

%i = uop.const 1 : i32
// expected-error @below {{INDEX: 1 indices into shape ()}}
%0 = uop.index %i, %i : i32, i32

// -----

%f = uop.const 1.0 : f32
%m = uop.buffer 0 : !uop.mem<4xf32, global>
// expected-error @below {{INDEX indices are i32 scalars}}
%0 = uop.index %m, %f : !uop.mem<4xf32, global>, f32

// -----

%m = uop.buffer 0 : !uop.mem<4xf32, global>
%0 = uop.param 0 : tensor<1xi32>
// expected-error @below {{INDEX indices are i32 scalars}}
%1 = uop.index %m, %0 : !uop.mem<4xf32, global>, tensor<1xi32>

// -----

%i = uop.const 1 : i32
// expected-error @below {{CAST to void}}
%0 = uop.cast %i : i32 -> !uop.void

// -----

%v = uop.sink()
// expected-error @below {{CAST of void}}
%0 = uop.cast %v : !uop.void -> i32

// -----

%i = uop.const 1 : i32
// expected-error @below {{CAST has a type that no UOp has: 'i8'}}
%0 = uop.cast %i : i32 -> i8

// -----

%f = uop.const 1.0 : f32
// expected-error @below {{CAST has type 'tensor<1xi32>', its sources give 'i32'}}
%0 = uop.cast %f : f32 -> tensor<1xi32>

// -----

%m = uop.buffer 0 : !uop.mem<4xf32, global>
// expected-error @below {{CAST has type '!uop.mem<4xi32, global>', its sources give 'tensor<4xi32>'}}
%0 = uop.cast %m : !uop.mem<4xf32, global> -> !uop.mem<4xi32, global>

// -----

%0 = uop.param 0 : i32
// expected-error @below {{RECIP needs a float, got i32}}
%1 = uop.recip %0 : i32

// -----

%0 = uop.param 0 : tensor<4xi32>
// expected-error @below {{EXP2 needs a float, got i32}}
%1 = uop.exp2 %0 : tensor<4xi32>

// -----

%0 = uop.param 0 : i1
// expected-error @below {{LOG2 needs a float, got bool}}
%1 = uop.log2 %0 : i1

// -----

%0 = uop.param 0 : i32
// expected-error @below {{SQRT needs a float, got i32}}
%1 = uop.sqrt %0 : i32

// -----

%0 = uop.param 0 : tensor<2x2xi1>
// expected-error @below {{SIN needs a float, got bool}}
%1 = uop.sin %0 : tensor<2x2xi1>

// -----

%m = uop.buffer 0 : !uop.mem<4xf32, global>
%0 = uop.reshape %m [2, 2] : !uop.mem<4xf32, global>
// expected-error @below {{ADD: shape mismatch (2, 2) vs (4,) (broadcast with EXPAND)}}
%1 = uop.add %0, %m : !uop.mem<2x2xf32, global>, !uop.mem<4xf32, global>

// -----

%i = uop.const 1 : i32
%f = uop.const 1.0 : f32
// expected-error @below {{ADD: dtype mismatch i32 vs f32 (use CAST)}}
%0 = uop.add %i, %f : i32, f32

// -----

%f = uop.const 1.0 : f32
%0 = uop.const 1.0 : f16
// expected-error @below {{MUL: dtype mismatch f32 vs f16 (use CAST)}}
%1 = uop.mul %f, %0 : f32, f16

// -----

%i = uop.const 1 : i32
%0 = uop.const true
// expected-error @below {{MAX: dtype mismatch i32 vs bool (use CAST)}}
%1 = uop.max %i, %0 : i32, i1

// -----

%f = uop.const 1.0 : f32
%m = uop.buffer 0 : !uop.mem<4xf32, global>
// expected-error @below {{CMPLT: shape mismatch () vs (4,) (broadcast with EXPAND)}}
%0 = uop.cmplt %f, %m : f32, !uop.mem<4xf32, global>

// -----

%i = uop.const 1 : i32
%f = uop.const 1.0 : f32
// expected-error @below {{CMPNE: dtype mismatch i32 vs f32 (use CAST)}}
%0 = uop.cmpne %i, %f : i32, f32

// -----

%v = uop.sink()
// expected-error @below {{ADD of void}}
%0 = uop.add %v, %v : !uop.void

// -----

%f = uop.const 1.0 : f32
// expected-error @below {{FLOORDIV is integer only}}
%0 = uop.floordiv %f, %f : f32

// -----

%0 = uop.const true
// expected-error @below {{FLOORMOD is integer only}}
%1 = uop.floormod %0, %0 : i1

// -----

%i = uop.const 1 : i32
// expected-error @below {{WHERE condition must be bool}}
%0 = uop.where %i, %i, %i : i32, i32, i32

// -----

%i = uop.const 1 : i32
%f = uop.const 1.0 : f32
%0 = uop.const true
// expected-error @below {{WHERE branches disagree: i32 vs f32}}
%1 = uop.where %0, %i, %f : i1, i32, f32

// -----

%m = uop.buffer 0 : !uop.mem<4xf32, global>
%0 = uop.const true
// expected-error @below {{WHERE shape mismatch () (4,) (4,)}}
%1 = uop.where %0, %m, %m : i1, !uop.mem<4xf32, global>, !uop.mem<4xf32, global>

// -----

%0 = ub.poison : f64
// expected-error @below {{RECIP: a source has a type that no UOp has}}
%1 = uop.recip %0 : f64

// -----

%0 = ub.poison : tensor<?xf32>
// expected-error @below {{ADD: a source has a type that no UOp has}}
%1 = uop.add %0, %0 : tensor<?xf32>
