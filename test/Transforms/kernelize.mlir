// RUN: uop-opt %s --uop-kernelize | FileCheck %s
// RUN: uop-opt %s --uop-kernelize --uop-kernelize | FileCheck %s

// Two of the kernels are the same graph: one program, launched twice. The second
// of a name is numbered.

// CHECK-LABEL: uop.program @e_4 {
// CHECK-NEXT:    %0 = uop.buffer 0 : !uop.mem<4xf32, global>
// CHECK-NEXT:    %1 = uop.exp2 %0
// CHECK-NEXT:    %2 = uop.buffer 1 : !uop.mem<4xf32, global>
// CHECK-NEXT:    %3 = uop.store %2, %1
// CHECK-NEXT:    %4 = uop.sink %3
// CHECK-NEXT:    uop.yield %4
// CHECK:       uop.program @e_4n1 {
// CHECK:         uop.sqrt
// CHECK-LABEL: uop.plan @twice arena 128 {
// CHECK-NEXT:    %in0 = uop.input 0 : !uop.mem<4xf32, global>
// CHECK-NEXT:    %out0 = uop.output 0 : !uop.mem<4xf32, global>
// CHECK-NEXT:    %tmp0 = uop.temp 0 at 0 : !uop.mem<4xf32, global>
// CHECK-NEXT:    %tmp1 = uop.temp 1 at 64 : !uop.mem<4xf32, global>
// CHECK-NEXT:    uop.launch @e_4(%in0, %tmp0) :
// CHECK-NEXT:    uop.launch @e_4(%tmp0, %tmp1) :
// CHECK-NEXT:    uop.launch @e_4n1(%tmp1, %out0) :
// CHECK-NEXT:  }
uop.program @twice {
  %0 = uop.buffer 0 : !uop.mem<4xf32, global>
  %1 = uop.exp2 %0 : !uop.mem<4xf32, global>
  %2 = uop.stage %1 : tensor<4xf32>
  %3 = uop.exp2 %2 : tensor<4xf32>
  %4 = uop.stage %3 : tensor<4xf32>
  %5 = uop.stage detach %4 : tensor<4xf32>
  %6 = uop.sqrt %5 : tensor<4xf32>
  uop.yield %6 : tensor<4xf32>
}

// Another plan of the module launches the same kernel.

// CHECK-LABEL: uop.plan @again arena 0 {
// CHECK-NEXT:    %in7 = uop.input 7 : !uop.mem<4xf32, global>
// CHECK-NEXT:    %out0 = uop.output 0 : !uop.mem<4xf32, global>
// CHECK-NEXT:    uop.launch @e_4(%in7, %out0) :
uop.program @again {
  %0 = uop.buffer 7 : !uop.mem<4xf32, global>
  %1 = uop.exp2 %0 : !uop.mem<4xf32, global>
  uop.yield %1 : tensor<4xf32>
}

// A STORE into an input comes after the reader of the old contents and before the
// reader of the new.

// CHECK-LABEL: uop.plan @assign arena 0 {
// CHECK:         uop.launch @{{.*}}(%in0, %out1)
// CHECK-NEXT:    uop.launch @{{.*}}(%in0)
// CHECK-NEXT:    uop.launch @{{.*}}(%in0, %out0)
uop.program @assign {
  %0 = uop.buffer 0 : !uop.mem<4xf32, global>
  %1 = uop.add %0, %0 : !uop.mem<4xf32, global>
  %2 = uop.store %0, %1 : !uop.mem<4xf32, global>, tensor<4xf32>
  %3 = uop.after %0, %2 : !uop.mem<4xf32, global>, !uop.void
  %4 = uop.sqrt %3 : !uop.mem<4xf32, global>
  %5 = uop.exp2 %0 : !uop.mem<4xf32, global>
  %6 = uop.sink %4, %5 : tensor<4xf32>
  uop.yield %6 : !uop.void
}

// The sources of a STACK of many are stored where they stand in it.

// CHECK-LABEL: uop.plan @stack arena 0 {
// CHECK:         uop.launch @e_2(%in0, %out0)
// CHECK-SAME:      : !uop.mem<2xf32, global>, !uop.mem<10x2xf32, global>
uop.program @stack {
  %0 = uop.buffer 0 : !uop.mem<2xf32, global>
  %1 = uop.exp2 %0 : !uop.mem<2xf32, global>
  %2 = uop.sqrt %0 : !uop.mem<2xf32, global>
  %3 = uop.stack %1, %2, %1, %2, %1, %2, %1, %2, %1, %0 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, !uop.mem<2xf32, global>
  uop.yield %3 : tensor<10x2xf32>
}

// A program of loops is one launch.

// CHECK-LABEL: uop.program @loops_loops {
// CHECK-DAG:     uop.buffer 0 : !uop.mem<1xf32, global>
// CHECK-DAG:     uop.buffer 1 : !uop.mem<2xf32, global>
// CHECK-LABEL: uop.plan @loops arena 0 {
// CHECK-NEXT:    %in3 = uop.input 3 : !uop.mem<1xf32, global>
// CHECK-NEXT:    %in5 = uop.input 5 : !uop.mem<2xf32, global>
// CHECK-NEXT:    uop.launch @loops_loops(%in3, %in5)
uop.program @loops {
  %0 = uop.buffer 5 : !uop.mem<2xf32, global>
  %1 = uop.const 0 : i32
  %2 = uop.index %0, %1 : !uop.mem<2xf32, global>, i32
  %3 = uop.buffer 3 : !uop.mem<1xf32, global>
  %4 = uop.index %3, %1 : !uop.mem<1xf32, global>, i32
  %5 = uop.load %4 : !uop.mem<f32, global>
  %6 = uop.store %2, %5 : !uop.mem<f32, global>, f32
  %7 = uop.sink %6 : !uop.void
  uop.yield %7 : !uop.void
}

// Two programs that are kernels as they stand are one kernel and two plans. No kernel
// takes the name of a plan.

// CHECK-LABEL: uop.plan @double arena 0 {
// CHECK-NEXT:    %in0 = uop.input 0 : !uop.mem<5xf32, global>
// CHECK-NEXT:    uop.launch @e_5n1(%in0) : !uop.mem<5xf32, global>
uop.program @double {
  %0 = uop.buffer 0 : !uop.mem<5xf32, global>
  %1 = uop.add %0, %0 : !uop.mem<5xf32, global>
  %2 = uop.store %0, %1 : !uop.mem<5xf32, global>, tensor<5xf32>
  %3 = uop.sink %2 : !uop.void
  uop.yield %3 : !uop.void
}

// CHECK-LABEL: uop.plan @e_5 arena 0 {
// CHECK-NEXT:    %in0 = uop.input 0 : !uop.mem<5xf32, global>
// CHECK-NEXT:    uop.launch @e_5n1(%in0) : !uop.mem<5xf32, global>
uop.program @e_5 {
  %0 = uop.buffer 0 : !uop.mem<5xf32, global>
  %1 = uop.add %0, %0 : !uop.mem<5xf32, global>
  %2 = uop.store %0, %1 : !uop.mem<5xf32, global>, tensor<5xf32>
  %3 = uop.sink %2 : !uop.void
  uop.yield %3 : !uop.void
}
