// What movement ops, REDUCE and the kernel ops refuse.

// RUN: uop-opt %s -split-input-file -verify-diagnostics

%m = uop.buffer 0 : !uop.mem<6xf32, global>
// expected-error @below {{RESHAPE (6,) -> (4,)}}
%0 = uop.reshape %m [4] : !uop.mem<6xf32, global>

// -----

%m = uop.buffer 0 : !uop.mem<6xf32, global>
// expected-error @below {{RESHAPE (6,) -> (-2, -3)}}
%0 = uop.reshape %m [-2, -3] : !uop.mem<6xf32, global>

// -----

%m = uop.buffer 0 : !uop.mem<6xf32, global>
// expected-error @below {{RESHAPE (6,) -> ()}}
%0 = uop.reshape %m [] : !uop.mem<6xf32, global>

// -----

%m = uop.buffer 0 : !uop.mem<6xf32, global>
// expected-error @below {{RESHAPE (6,) -> (4294967296, 4294967296, 6)}}
%0 = uop.reshape %m [4294967296, 4294967296, 6] : !uop.mem<6xf32, global>

// -----

%v = uop.sink()
// expected-error @below {{RESHAPE of void}}
%0 = uop.reshape %v [1] : !uop.void

// -----

%m = uop.buffer 0 : !uop.mem<6xf32, global>
%0 = uop.reshape %m [2, 3] : !uop.mem<6xf32, global>
// expected-error @below {{EXPAND (2, 3) -> (4, 3)}}
%1 = uop.expand %0 [4, 3] : !uop.mem<2x3xf32, global>

// -----

%m = uop.buffer 0 : !uop.mem<6xf32, global>
%0 = uop.reshape %m [2, 3] : !uop.mem<6xf32, global>
// expected-error @below {{EXPAND (2, 3) -> (2, 3, 1)}}
%1 = uop.expand %0 [2, 3, 1] : !uop.mem<2x3xf32, global>

// -----

%0 = uop.param 0 : tensor<1xf32>
// expected-error @below {{EXPAND (1,) -> (-1,)}}
%1 = uop.expand %0 [-1] : tensor<1xf32>

// -----

%0 = uop.param 0 : tensor<1x1xf32>
// expected-error @below {{EXPAND of shape (4294967296, 4294967296): too many elements to count}}
%1 = uop.expand %0 [4294967296, 4294967296] : tensor<1x1xf32>

// -----

%m = uop.buffer 0 : !uop.mem<6xf32, global>
%0 = uop.reshape %m [2, 3] : !uop.mem<6xf32, global>
// expected-error @below {{PERMUTE (0, 0) of (2, 3)}}
%1 = uop.permute %0 [0, 0] : !uop.mem<2x3xf32, global>

// -----

%m = uop.buffer 0 : !uop.mem<6xf32, global>
%0 = uop.reshape %m [2, 3] : !uop.mem<6xf32, global>
// expected-error @below {{PERMUTE (0,) of (2, 3)}}
%1 = uop.permute %0 [0] : !uop.mem<2x3xf32, global>

// -----

%m = uop.buffer 0 : !uop.mem<6xf32, global>
%0 = uop.reshape %m [2, 3] : !uop.mem<6xf32, global>
// expected-error @below {{PERMUTE (2, 1) of (2, 3)}}
%1 = uop.permute %0 [2, 1] : !uop.mem<2x3xf32, global>

// -----

%m = uop.buffer 0 : !uop.mem<6xf32, global>
%0 = uop.reshape %m [2, 3] : !uop.mem<6xf32, global>
// expected-error @below {{PERMUTE (-1, 0) of (2, 3)}}
%1 = uop.permute %0 [-1, 0] : !uop.mem<2x3xf32, global>

// -----

%m = uop.buffer 0 : !uop.mem<6xf32, global>
%0 = uop.reshape %m [2, 3] : !uop.mem<6xf32, global>
// expected-error @below {{SHRINK ((0, 3), (0, 3)) of (2, 3)}}
%1 = uop.shrink %0 [0, 3, 0, 3] : !uop.mem<2x3xf32, global>

// -----

%m = uop.buffer 0 : !uop.mem<6xf32, global>
%0 = uop.reshape %m [2, 3] : !uop.mem<6xf32, global>
// expected-error @below {{SHRINK ((0, 2),) of (2, 3)}}
%1 = uop.shrink %0 [0, 2] : !uop.mem<2x3xf32, global>

// -----

%m = uop.buffer 0 : !uop.mem<6xf32, global>
%0 = uop.reshape %m [2, 3] : !uop.mem<6xf32, global>
// expected-error @below {{SHRINK ((2, 1), (0, 3)) of (2, 3)}}
%1 = uop.shrink %0 [2, 1, 0, 3] : !uop.mem<2x3xf32, global>

// -----

%m = uop.buffer 0 : !uop.mem<6xf32, global>
%0 = uop.reshape %m [2, 3] : !uop.mem<6xf32, global>
// expected-error @below {{SHRINK ((-1, 2), (0, 3)) of (2, 3)}}
%1 = uop.shrink %0 [-1, 2, 0, 3] : !uop.mem<2x3xf32, global>

// -----

%m = uop.buffer 0 : !uop.mem<6xf32, global>
// expected-error @below {{REDUCE (ADD, 2) of (6,)}}
%0 = uop.reduce add 2 %m : !uop.mem<6xf32, global>

// -----

%m = uop.buffer 0 : !uop.mem<6xf32, global>
// expected-error @below {{REDUCE (MAX, -1) of (6,)}}
%0 = uop.reduce max -1 %m : !uop.mem<6xf32, global>

// -----

%v = uop.sink()
// expected-error @below {{STAGE of void}}
%0 = uop.stage %v : !uop.void

// -----

%v = uop.sink()
// expected-error @below {{WMMA of void}}
%0 = uop.wmma %v, %v, %v : !uop.void, !uop.void, !uop.void
