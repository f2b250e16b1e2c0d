// RUN: uop-opt %s --split-input-file --verify-diagnostics

uop.plan @p arena 0 {
  // expected-error @below {{there is no program @nothing to launch}}
  uop.launch @nothing()
}

// -----

uop.program @copy {
  %0 = uop.buffer 0 : !uop.mem<4xf32, global>
  %1 = uop.buffer 1 : !uop.mem<4xf32, global>
  %2 = uop.store %1, %0 : !uop.mem<4xf32, global>, !uop.mem<4xf32, global>
  uop.yield %2 : !uop.void
}
uop.plan @p arena 0 {
  %0 = uop.input 0 : !uop.mem<4xf32, global>
  %1 = uop.output 0 : !uop.mem<2xf32, global>
  // expected-error @below {{@copy argument 1 is f32(2,), the kernel takes f32(4,)}}
  uop.launch @copy(%0, %1) : !uop.mem<4xf32, global>, !uop.mem<2xf32, global>
}

// -----

uop.program @copy {
  %0 = uop.buffer 0 : !uop.mem<4xf32, global>
  %1 = uop.buffer 1 : !uop.mem<4xf32, global>
  %2 = uop.store %1, %0 : !uop.mem<4xf32, global>, !uop.mem<4xf32, global>
  uop.yield %2 : !uop.void
}
uop.plan @p arena 0 {
  %0 = uop.input 0 : !uop.mem<4xf32, global>
  // expected-error @below {{@copy takes 2 buffers, got 1}}
  uop.launch @copy(%0) : !uop.mem<4xf32, global>
}

// -----

uop.plan @p arena 0 {
  %0 = uop.input 0 : !uop.mem<4xf32, global>
  // expected-error @below {{input 0 stands in the plan twice}}
  %1 = uop.input 0 : !uop.mem<4xf32, global>
}

// -----

uop.plan @p arena 0 {
  // expected-error @below {{outputs are numbered in order: this one is 0, not 1}}
  %0 = uop.output 1 : !uop.mem<4xf32, global>
}

// -----

uop.plan @p arena 15 {
  // expected-error @below {{temp 0 ends at byte 16 of an arena of 15}}
  %0 = uop.temp 0 at 0 : !uop.mem<4xf32, global>
}

// -----

uop.plan @p arena 64 {
  // expected-error @below {{offset 2 is not aligned to f32}}
  %0 = uop.temp 0 at 2 : !uop.mem<4xf32, global>
}

// -----

uop.plan @p arena 0 {
  // expected-error @below {{a plan's memory is global}}
  %0 = uop.input 0 : !uop.mem<4xf32, shared>
}

// -----

uop.plan @p arena 0 {
  %0 = uop.input 0 : !uop.mem<4xf32, global>
  // expected-error @below {{elements 2 to 5 are not all in (4,)}}
  %1 = uop.slice %0 from 2 : !uop.mem<4xf32, global> to !uop.mem<3xf32, global>
}

// -----

uop.plan @p arena 0 {
  %0 = uop.input 0 : !uop.mem<4xf32, global>
  // expected-error @below {{a slice of f32 is not i32}}
  %1 = uop.slice %0 from 0 : !uop.mem<4xf32, global> to !uop.mem<3xi32, global>
}

// -----

uop.plan @p arena 0 {
  // expected-error @below {{a plan holds memory and launches, not 'uop.const'}}
  %0 = uop.const 1 : i32
}
