// Types of memory and effects, and what the type itself refuses.

// RUN: uop-opt %s -split-input-file -verify-diagnostics | uop-opt -split-input-file | FileCheck %s

// CHECK-LABEL: func.func private @types
// CHECK-SAME: !uop.mem<12xf32, global>
// CHECK-SAME: !uop.mem<2x3xf16, local>
// CHECK-SAME: !uop.mem<i1, shared>
// CHECK-SAME: !uop.mem<0x4xi32, global>
// CHECK-SAME: !uop.void
func.func private @types(!uop.mem<12xf32, global>, !uop.mem<2x3xf16, local>,
                         !uop.mem<i1, shared>, !uop.mem<0x4xi32, global>,
                         !uop.void)

// CHECK-LABEL: func.func private @attributes
// CHECK-SAME: {a = #uop<reduce add>, b = #uop<reduce max>}
func.func private @attributes() attributes {a = #uop<reduce add>, b = #uop<reduce max>}

// -----

// expected-error @below {{memory holds i1, i32, f16 or f32, not 'f64'}}
func.func private @f() -> !uop.mem<4xf64, global>

// -----

// expected-error @below {{memory holds i1, i32, f16 or f32, not 'tensor<4xf32>'}}
func.func private @f() -> !uop.mem<2xtensor<4xf32>, global>

// -----

// expected-error @below {{memory holds i1, i32, f16 or f32, not 'tensor<f32>'}}
func.func private @f() -> !uop.mem<2xtensor<f32>, global>

// -----

// expected-error @below {{memory holds i1, i32, f16 or f32, not '!uop.void'}}
func.func private @f() -> !uop.mem<4x!uop.void, global>

// -----

// expected-error @below {{memory holds i1, i32, f16 or f32, not '!uop.mem<f32, global>'}}
func.func private @f() -> !uop.mem<4x!uop.mem<f32, global>, global>

// -----

// expected-error @below {{memory is global, local or shared}}
func.func private @f() -> !uop.mem<4xf32, alu>

// -----

// expected-error @below {{unknown address space 'glbal'}}
func.func private @f() -> !uop.mem<4xf32, glbal>

// -----

// expected-error @below {{expected ','}}
func.func private @f() -> !uop.mem<4xf32>

// -----

// expected-error @below {{expected static shape}}
func.func private @f() -> !uop.mem<?xf32, global>

// -----

// expected-error @below {{invalid dimension}}
func.func private @f() -> !uop.mem<99999999999999999999xf32, global>

// -----

// expected-error @below {{expected '<'}}
func.func private @f() -> !uop.mem

// -----

// expected-error @+2 {{expected ::uop::ReduceKind to be one of: add, max}}
// expected-error @below {{failed to parse Uop_ReduceKindAttr parameter 'value'}}
func.func private @f() attributes {a = #uop<reduce mul>}
