// What uop.program and uop.yield refuse.

// RUN: uop-opt %s -split-input-file -verify-diagnostics

uop.program @foreign {
  // expected-error @below {{a program holds uop ops only, not 'arith.constant'}}
  %0 = arith.constant 1 : i32
  uop.yield %0 : i32
}

// -----

uop.program @nested {
  // expected-error @below {{a program holds uop ops only, not 'builtin.module'}}
  builtin.module {
    uop.program @inner {
      %0 = uop.const 1 : i32
      uop.yield %0 : i32
    }
  }
  %1 = uop.const 1 : i32
  uop.yield %1 : i32
}

// -----

uop.program @sizes {
  %0 = uop.buffer 0 : !uop.mem<4xf32, global>
  // expected-error @below {{BUFFER slot 0 is f32(4,) and f32(5,)}}
  %1 = uop.buffer 0 : !uop.mem<5xf32, global>
  uop.yield %0 : !uop.mem<4xf32, global>
}

// -----

uop.program @dtypes {
  %0 = uop.alloc 2 : !uop.mem<4xf32, local>
  // expected-error @below {{ALLOC slot 2 is f32(4,) and i32(4,)}}
  %1 = uop.alloc 2 : !uop.mem<4xi32, local>
  uop.yield %0 : !uop.mem<4xf32, local>
}

// -----

// expected-error @below {{must end with uop.yield}}
uop.program @unfinished {
  %0 = uop.const 1 : i32
  llvm.unreachable
}

// -----

uop.program @open {
  // expected-error @below {{block with no terminator}}
  %0 = uop.const 1 : i32
}

// -----

// expected-error @below {{expects a non-empty block}}
uop.program @empty {
}

// -----

%0 = uop.const 1 : i32
// expected-error @below {{expects parent op 'uop.program'}}
uop.yield %0 : i32

// -----

// expected-note @below {{see existing symbol definition here}}
uop.program @twice {
  %0 = uop.const 1 : i32
  uop.yield %0 : i32
}
// expected-error @below {{redefinition of symbol named 'twice'}}
uop.program @twice {
  %0 = uop.const 1 : i32
  uop.yield %0 : i32
}
