// The C of scheduled programs: loops, accumulators, names and inlining.
// RUN: uop-translate --mlir-to-c %s | FileCheck %s --strict-whitespace --match-full-lines

// CHECK-LABEL:void add_row_head(float* restrict data0, float* restrict data1) {
// CHECK-NEXT:  for (int ridx0 = 0; ridx0 < 8; ridx0++) {
// CHECK-NEXT:    int alu1 = (ridx0*8);
// CHECK-NEXT:    float val2 = data0[alu1];
// CHECK-NEXT:    for (int ridx1 = 0; ridx1 < 8; ridx1++) {
// CHECK-NEXT:      int alu3 = (alu1+ridx1);
// CHECK-NEXT:      float val4 = data0[alu3];
// CHECK-NEXT:      data1[alu3] = (val2+val4);
// CHECK-NEXT:    }
// CHECK-NEXT:  }
// CHECK-NEXT:}
uop.program @add_row_head {
  %c0 = uop.const 8 : i32
  %0 = uop.buffer 1 : !uop.mem<64xf32, global>
  %6 = uop.buffer 0 : !uop.mem<64xf32, global>
  %1 = uop.range 0 loop %c0 : i32
  %2 = uop.mul %1, %c0 : i32
  %7 = uop.index %6, %2 : !uop.mem<64xf32, global>, i32
  %8 = uop.load %7 : !uop.mem<f32, global>
  %3 = uop.range 1 loop %c0 : i32
  %4 = uop.add %2, %3 : i32
  %5 = uop.index %0, %4 : !uop.mem<64xf32, global>, i32
  %9 = uop.index %6, %4 : !uop.mem<64xf32, global>, i32
  %10 = uop.load %9 : !uop.mem<f32, global>
  %11 = uop.add %8, %10 : f32
  %12 = uop.store %5, %11 : !uop.mem<f32, global>, f32
  %13 = uop.end %12, %1, %3 : !uop.void, i32, i32
  %14 = uop.sink %13 : !uop.void
  uop.yield %14 : !uop.void
}

// CHECK-LABEL:void conv1d(float* restrict data0, float* restrict data1, float* restrict data2) {
// CHECK-NEXT:  for (int ridx0 = 0; ridx0 < 16; ridx0++) {
// CHECK-NEXT:    float acc0;
// CHECK-NEXT:    acc0 = 0.0f;
// CHECK-NEXT:    for (int ridx1 = 0; ridx1 < 5; ridx1++) {
// CHECK-NEXT:      float val1 = acc0;
// CHECK-NEXT:      float val2 = data0[(ridx0+ridx1)];
// CHECK-NEXT:      float val3 = data1[ridx1];
// CHECK-NEXT:      acc0 = (val1+(val2*val3));
// CHECK-NEXT:    }
// CHECK-NEXT:    float val4 = acc0;
// CHECK-NEXT:    data2[ridx0] = val4;
// CHECK-NEXT:  }
// CHECK-NEXT:}
uop.program @conv1d {
  %c0 = uop.const 16 : i32
  %c1 = uop.const 0 : i32
  %c2 = uop.const 0.0 : f32
  %c3 = uop.const 5 : i32
  %0 = uop.buffer 2 : !uop.mem<16xf32, global>
  %11 = uop.buffer 0 : !uop.mem<20xf32, global>
  %15 = uop.buffer 1 : !uop.mem<5xf32, global>
  %1 = uop.range 0 loop %c0 : i32
  %2 = uop.index %0, %1 : !uop.mem<16xf32, global>, i32
  %3 = uop.alloc 0 : !uop.mem<1xf32, local>
  %4 = uop.after %3, %1 : !uop.mem<1xf32, local>, i32
  %5 = uop.index %4, %c1 : !uop.mem<1xf32, local>, i32
  %6 = uop.store %5, %c2 : !uop.mem<f32, local>, f32
  %7 = uop.range 1 loop %c3 : i32
  %8 = uop.after %4, %6, %7 : !uop.mem<1xf32, local>, !uop.void, i32
  %9 = uop.index %8, %c1 : !uop.mem<1xf32, local>, i32
  %10 = uop.load %9 : !uop.mem<f32, local>
  %12 = uop.add %1, %7 : i32
  %13 = uop.index %11, %12 : !uop.mem<20xf32, global>, i32
  %14 = uop.load %13 : !uop.mem<f32, global>
  %16 = uop.index %15, %7 : !uop.mem<5xf32, global>, i32
  %17 = uop.load %16 : !uop.mem<f32, global>
  %18 = uop.mul %14, %17 : f32
  %19 = uop.add %10, %18 : f32
  %20 = uop.store %9, %19 : !uop.mem<f32, local>, f32
  %21 = uop.end %20, %7 : !uop.void, i32
  %22 = uop.after %4, %21 : !uop.mem<1xf32, local>, !uop.void
  %23 = uop.index %22, %c1 : !uop.mem<1xf32, local>, i32
  %24 = uop.load %23 : !uop.mem<f32, local>
  %25 = uop.store %2, %24 : !uop.mem<f32, global>, f32
  %26 = uop.end %25, %1 : !uop.void, i32
  %27 = uop.sink %26 : !uop.void
  uop.yield %27 : !uop.void
}

// CHECK-LABEL:void gemm(float* restrict data0, float* restrict data1, float* restrict data2) {
// CHECK-NEXT:  for (int ridx0 = 0; ridx0 < 4; ridx0++) {
// CHECK-NEXT:    for (int ridx1 = 0; ridx1 < 3; ridx1++) {
// CHECK-NEXT:      float acc0;
// CHECK-NEXT:      acc0 = 0.0f;
// CHECK-NEXT:      for (int ridx2 = 0; ridx2 < 5; ridx2++) {
// CHECK-NEXT:        float val1 = acc0;
// CHECK-NEXT:        float val2 = data0[((ridx0*5)+ridx2)];
// CHECK-NEXT:        float val3 = data1[((ridx2*3)+ridx1)];
// CHECK-NEXT:        acc0 = (val1+(val2*val3));
// CHECK-NEXT:      }
// CHECK-NEXT:      float val4 = acc0;
// CHECK-NEXT:      data2[((ridx0*3)+ridx1)] = val4;
// CHECK-NEXT:    }
// CHECK-NEXT:  }
// CHECK-NEXT:}
uop.program @gemm {
  %c0 = uop.const 4 : i32
  %c1 = uop.const 3 : i32
  %c2 = uop.const 5 : i32
  %c3 = uop.const 0 : i32
  %c4 = uop.const 0.0 : f32
  %0 = uop.buffer 2 : !uop.mem<12xf32, global>
  %14 = uop.buffer 0 : !uop.mem<20xf32, global>
  %19 = uop.buffer 1 : !uop.mem<15xf32, global>
  %1 = uop.range 0 loop %c0 : i32
  %2 = uop.mul %1, %c1 : i32
  %15 = uop.mul %1, %c2 : i32
  %3 = uop.range 1 loop %c1 : i32
  %4 = uop.add %2, %3 : i32
  %5 = uop.index %0, %4 : !uop.mem<12xf32, global>, i32
  %6 = uop.alloc 0 : !uop.mem<1xf32, local>
  %7 = uop.after %6, %1, %3 : !uop.mem<1xf32, local>, i32, i32
  %8 = uop.index %7, %c3 : !uop.mem<1xf32, local>, i32
  %9 = uop.store %8, %c4 : !uop.mem<f32, local>, f32
  %10 = uop.range 2 loop %c2 : i32
  %11 = uop.after %7, %9, %10 : !uop.mem<1xf32, local>, !uop.void, i32
  %12 = uop.index %11, %c3 : !uop.mem<1xf32, local>, i32
  %13 = uop.load %12 : !uop.mem<f32, local>
  %16 = uop.add %15, %10 : i32
  %17 = uop.index %14, %16 : !uop.mem<20xf32, global>, i32
  %18 = uop.load %17 : !uop.mem<f32, global>
  %20 = uop.mul %10, %c1 : i32
  %21 = uop.add %20, %3 : i32
  %22 = uop.index %19, %21 : !uop.mem<15xf32, global>, i32
  %23 = uop.load %22 : !uop.mem<f32, global>
  %24 = uop.mul %18, %23 : f32
  %25 = uop.add %13, %24 : f32
  %26 = uop.store %12, %25 : !uop.mem<f32, local>, f32
  %27 = uop.end %26, %10 : !uop.void, i32
  %28 = uop.after %7, %27 : !uop.mem<1xf32, local>, !uop.void
  %29 = uop.index %28, %c3 : !uop.mem<1xf32, local>, i32
  %30 = uop.load %29 : !uop.mem<f32, local>
  %31 = uop.store %5, %30 : !uop.mem<f32, global>, f32
  %32 = uop.end %31, %1, %3 : !uop.void, i32, i32
  %33 = uop.sink %32 : !uop.void
  uop.yield %33 : !uop.void
}

// CHECK-LABEL:void gemm_bad(float* restrict data0, float* restrict data1, float* restrict data2) {
// CHECK-NEXT:  for (int ridx0 = 0; ridx0 < 2; ridx0++) {
// CHECK-NEXT:    float acc0;
// CHECK-NEXT:    acc0 = 0.0f;
// CHECK-NEXT:    for (int ridx1 = 0; ridx1 < 3; ridx1++) {
// CHECK-NEXT:      for (int ridx2 = 0; ridx2 < 4; ridx2++) {
// CHECK-NEXT:        float val1 = acc0;
// CHECK-NEXT:        float val2 = data0[((ridx0*4)+ridx2)];
// CHECK-NEXT:        float val3 = data1[((ridx2*3)+ridx1)];
// CHECK-NEXT:        acc0 = (val1+(val2*val3));
// CHECK-NEXT:      }
// CHECK-NEXT:      float val4 = acc0;
// CHECK-NEXT:      data2[((ridx0*3)+ridx1)] = val4;
// CHECK-NEXT:    }
// CHECK-NEXT:  }
// CHECK-NEXT:}
uop.program @gemm_bad {
  %c0 = uop.const 2 : i32
  %c1 = uop.const 3 : i32
  %c2 = uop.const 0 : i32
  %c3 = uop.const 0.0 : f32
  %c4 = uop.const 4 : i32
  %0 = uop.buffer 2 : !uop.mem<6xf32, global>
  %14 = uop.buffer 0 : !uop.mem<8xf32, global>
  %19 = uop.buffer 1 : !uop.mem<12xf32, global>
  %1 = uop.range 0 loop %c0 : i32
  %2 = uop.mul %1, %c1 : i32
  %6 = uop.alloc 0 : !uop.mem<1xf32, local>
  %7 = uop.after %6, %1 : !uop.mem<1xf32, local>, i32
  %8 = uop.index %7, %c2 : !uop.mem<1xf32, local>, i32
  %9 = uop.store %8, %c3 : !uop.mem<f32, local>, f32
  %15 = uop.mul %1, %c4 : i32
  %3 = uop.range 1 loop %c1 : i32
  %4 = uop.add %2, %3 : i32
  %5 = uop.index %0, %4 : !uop.mem<6xf32, global>, i32
  %10 = uop.range 2 loop %c4 : i32
  %11 = uop.after %7, %9, %10 : !uop.mem<1xf32, local>, !uop.void, i32
  %12 = uop.index %11, %c2 : !uop.mem<1xf32, local>, i32
  %13 = uop.load %12 : !uop.mem<f32, local>
  %16 = uop.add %15, %10 : i32
  %17 = uop.index %14, %16 : !uop.mem<8xf32, global>, i32
  %18 = uop.load %17 : !uop.mem<f32, global>
  %20 = uop.mul %10, %c1 : i32
  %21 = uop.add %20, %3 : i32
  %22 = uop.index %19, %21 : !uop.mem<12xf32, global>, i32
  %23 = uop.load %22 : !uop.mem<f32, global>
  %24 = uop.mul %18, %23 : f32
  %25 = uop.add %13, %24 : f32
  %26 = uop.store %12, %25 : !uop.mem<f32, local>, f32
  %27 = uop.end %26, %10 : !uop.void, i32
  %28 = uop.after %7, %27 : !uop.mem<1xf32, local>, !uop.void
  %29 = uop.index %28, %c2 : !uop.mem<1xf32, local>, i32
  %30 = uop.load %29 : !uop.mem<f32, local>
  %31 = uop.store %5, %30 : !uop.mem<f32, global>, f32
  %32 = uop.end %31, %1, %3 : !uop.void, i32, i32
  %33 = uop.sink %32 : !uop.void
  uop.yield %33 : !uop.void
}

// CHECK-LABEL:void gemm_omp(float* restrict data0, float* restrict data1, float* restrict data2) {
// CHECK-NEXT:  #pragma omp parallel for
// CHECK-NEXT:  for (int ridx0 = 0; ridx0 < 64; ridx0++) {
// CHECK-NEXT:    int alu1 = (ridx0*64);
// CHECK-NEXT:    for (int ridx1 = 0; ridx1 < 64; ridx1++) {
// CHECK-NEXT:      float acc0;
// CHECK-NEXT:      acc0 = 0.0f;
// CHECK-NEXT:      for (int ridx2 = 0; ridx2 < 64; ridx2++) {
// CHECK-NEXT:        float val2 = acc0;
// CHECK-NEXT:        float val3 = data0[(alu1+ridx2)];
// CHECK-NEXT:        float val4 = data1[((ridx2*64)+ridx1)];
// CHECK-NEXT:        acc0 = (val2+(val3*val4));
// CHECK-NEXT:      }
// CHECK-NEXT:      float val5 = acc0;
// CHECK-NEXT:      data2[(alu1+ridx1)] = val5;
// CHECK-NEXT:    }
// CHECK-NEXT:  }
// CHECK-NEXT:}
uop.program @gemm_omp {
  %c0 = uop.const 64 : i32
  %c1 = uop.const 0 : i32
  %c2 = uop.const 0.0 : f32
  %0 = uop.buffer 2 : !uop.mem<4096xf32, global>
  %14 = uop.buffer 0 : !uop.mem<4096xf32, global>
  %18 = uop.buffer 1 : !uop.mem<4096xf32, global>
  %1 = uop.range 0 thread %c0 : i32
  %2 = uop.mul %1, %c0 : i32
  %3 = uop.range 1 loop %c0 : i32
  %4 = uop.add %2, %3 : i32
  %5 = uop.index %0, %4 : !uop.mem<4096xf32, global>, i32
  %6 = uop.alloc 0 : !uop.mem<1xf32, local>
  %7 = uop.after %6, %1, %3 : !uop.mem<1xf32, local>, i32, i32
  %8 = uop.index %7, %c1 : !uop.mem<1xf32, local>, i32
  %9 = uop.store %8, %c2 : !uop.mem<f32, local>, f32
  %10 = uop.range 2 loop %c0 : i32
  %11 = uop.after %7, %9, %10 : !uop.mem<1xf32, local>, !uop.void, i32
  %12 = uop.index %11, %c1 : !uop.mem<1xf32, local>, i32
  %13 = uop.load %12 : !uop.mem<f32, local>
  %15 = uop.add %2, %10 : i32
  %16 = uop.index %14, %15 : !uop.mem<4096xf32, global>, i32
  %17 = uop.load %16 : !uop.mem<f32, global>
  %19 = uop.mul %10, %c0 : i32
  %20 = uop.add %19, %3 : i32
  %21 = uop.index %18, %20 : !uop.mem<4096xf32, global>, i32
  %22 = uop.load %21 : !uop.mem<f32, global>
  %23 = uop.mul %17, %22 : f32
  %24 = uop.add %13, %23 : f32
  %25 = uop.store %12, %24 : !uop.mem<f32, local>, f32
  %26 = uop.end %25, %10 : !uop.void, i32
  %27 = uop.after %7, %26 : !uop.mem<1xf32, local>, !uop.void
  %28 = uop.index %27, %c1 : !uop.mem<1xf32, local>, i32
  %29 = uop.load %28 : !uop.mem<f32, local>
  %30 = uop.store %5, %29 : !uop.mem<f32, global>, f32
  %31 = uop.end %30, %1, %3 : !uop.void, i32, i32
  %32 = uop.sink %31 : !uop.void
  uop.yield %32 : !uop.void
}

// CHECK-LABEL:void predict(float* restrict data0, float* restrict data1) {
// CHECK-NEXT:  for (int ridx0 = 0; ridx0 < 4; ridx0++) {
// CHECK-NEXT:    float val1 = data0[ridx0];
// CHECK-NEXT:    for (int ridx1 = 0; ridx1 < 8; ridx1++) {
// CHECK-NEXT:      int alu2 = ((ridx0*8)+ridx1);
// CHECK-NEXT:      float val3 = data0[alu2];
// CHECK-NEXT:      float val4 = data0[ridx1];
// CHECK-NEXT:      data1[alu2] = ((val3*val4)+val1);
// CHECK-NEXT:    }
// CHECK-NEXT:  }
// CHECK-NEXT:}
uop.program @predict {
  %c0 = uop.const 4 : i32
  %c1 = uop.const 8 : i32
  %0 = uop.buffer 1 : !uop.mem<32xf32, global>
  %6 = uop.buffer 0 : !uop.mem<32xf32, global>
  %1 = uop.range 0 loop %c0 : i32
  %2 = uop.mul %1, %c1 : i32
  %12 = uop.index %6, %1 : !uop.mem<32xf32, global>, i32
  %13 = uop.load %12 : !uop.mem<f32, global>
  %3 = uop.range 1 loop %c1 : i32
  %4 = uop.add %2, %3 : i32
  %5 = uop.index %0, %4 : !uop.mem<32xf32, global>, i32
  %7 = uop.index %6, %4 : !uop.mem<32xf32, global>, i32
  %8 = uop.load %7 : !uop.mem<f32, global>
  %9 = uop.index %6, %3 : !uop.mem<32xf32, global>, i32
  %10 = uop.load %9 : !uop.mem<f32, global>
  %11 = uop.mul %8, %10 : f32
  %14 = uop.add %11, %13 : f32
  %15 = uop.store %5, %14 : !uop.mem<f32, global>, f32
  %16 = uop.end %15, %1, %3 : !uop.void, i32, i32
  %17 = uop.sink %16 : !uop.void
  uop.yield %17 : !uop.void
}

// CHECK-LABEL:void sub_rowmax(float* restrict data0, float* restrict data1) {
// CHECK-NEXT:  for (int ridx0 = 0; ridx0 < 3; ridx0++) {
// CHECK-NEXT:    int alu1 = (ridx0*4);
// CHECK-NEXT:    float acc0;
// CHECK-NEXT:    acc0 = -INFINITY;
// CHECK-NEXT:    for (int ridx2 = 0; ridx2 < 4; ridx2++) {
// CHECK-NEXT:      float val2 = acc0;
// CHECK-NEXT:      float val3 = data0[(alu1+ridx2)];
// CHECK-NEXT:      acc0 = ((val2>val3)?val2:val3);
// CHECK-NEXT:    }
// CHECK-NEXT:    float val4 = acc0;
// CHECK-NEXT:    for (int ridx1 = 0; ridx1 < 4; ridx1++) {
// CHECK-NEXT:      int alu5 = (alu1+ridx1);
// CHECK-NEXT:      float val6 = data0[alu5];
// CHECK-NEXT:      data1[alu5] = (val6+(val4*-1.0f));
// CHECK-NEXT:    }
// CHECK-NEXT:  }
// CHECK-NEXT:}
uop.program @sub_rowmax {
  %c0 = uop.const 3 : i32
  %c1 = uop.const 4 : i32
  %c2 = uop.const 0 : i32
  %c3 = uop.const 0xFF800000 : f32
  %c4 = uop.const -1.0 : f32
  %0 = uop.buffer 1 : !uop.mem<12xf32, global>
  %6 = uop.buffer 0 : !uop.mem<12xf32, global>
  %1 = uop.range 0 loop %c0 : i32
  %2 = uop.mul %1, %c1 : i32
  %9 = uop.alloc 0 : !uop.mem<1xf32, local>
  %10 = uop.after %9, %1 : !uop.mem<1xf32, local>, i32
  %11 = uop.index %10, %c2 : !uop.mem<1xf32, local>, i32
  %12 = uop.store %11, %c3 : !uop.mem<f32, local>, f32
  %13 = uop.range 2 loop %c1 : i32
  %14 = uop.after %10, %12, %13 : !uop.mem<1xf32, local>, !uop.void, i32
  %15 = uop.index %14, %c2 : !uop.mem<1xf32, local>, i32
  %16 = uop.load %15 : !uop.mem<f32, local>
  %17 = uop.add %2, %13 : i32
  %18 = uop.index %6, %17 : !uop.mem<12xf32, global>, i32
  %19 = uop.load %18 : !uop.mem<f32, global>
  %20 = uop.max %16, %19 : f32
  %21 = uop.store %15, %20 : !uop.mem<f32, local>, f32
  %22 = uop.end %21, %13 : !uop.void, i32
  %23 = uop.after %10, %22 : !uop.mem<1xf32, local>, !uop.void
  %24 = uop.index %23, %c2 : !uop.mem<1xf32, local>, i32
  %25 = uop.load %24 : !uop.mem<f32, local>
  %26 = uop.mul %25, %c4 : f32
  %3 = uop.range 1 loop %c1 : i32
  %4 = uop.add %2, %3 : i32
  %5 = uop.index %0, %4 : !uop.mem<12xf32, global>, i32
  %7 = uop.index %6, %4 : !uop.mem<12xf32, global>, i32
  %8 = uop.load %7 : !uop.mem<f32, global>
  %27 = uop.add %8, %26 : f32
  %28 = uop.store %5, %27 : !uop.mem<f32, global>, f32
  %29 = uop.end %28, %1, %3 : !uop.void, i32, i32
  %30 = uop.sink %29 : !uop.void
  uop.yield %30 : !uop.void
}

// CHECK-LABEL:void sub_rowsum(float* restrict data0, float* restrict data1) {
// CHECK-NEXT:  for (int ridx0 = 0; ridx0 < 2; ridx0++) {
// CHECK-NEXT:    int alu1 = (ridx0*3);
// CHECK-NEXT:    float acc0;
// CHECK-NEXT:    acc0 = 0.0f;
// CHECK-NEXT:    for (int ridx2 = 0; ridx2 < 3; ridx2++) {
// CHECK-NEXT:      float val2 = acc0;
// CHECK-NEXT:      float val3 = data0[(alu1+ridx2)];
// CHECK-NEXT:      acc0 = (val2+val3);
// CHECK-NEXT:    }
// CHECK-NEXT:    float val4 = acc0;
// CHECK-NEXT:    for (int ridx1 = 0; ridx1 < 3; ridx1++) {
// CHECK-NEXT:      int alu5 = (alu1+ridx1);
// CHECK-NEXT:      float val6 = data0[alu5];
// CHECK-NEXT:      data1[alu5] = (val6+(val4*-1.0f));
// CHECK-NEXT:    }
// CHECK-NEXT:  }
// CHECK-NEXT:}
uop.program @sub_rowsum {
  %c0 = uop.const 2 : i32
  %c1 = uop.const 3 : i32
  %c2 = uop.const 0 : i32
  %c3 = uop.const 0.0 : f32
  %c4 = uop.const -1.0 : f32
  %0 = uop.buffer 1 : !uop.mem<6xf32, global>
  %6 = uop.buffer 0 : !uop.mem<6xf32, global>
  %1 = uop.range 0 loop %c0 : i32
  %2 = uop.mul %1, %c1 : i32
  %9 = uop.alloc 0 : !uop.mem<1xf32, local>
  %10 = uop.after %9, %1 : !uop.mem<1xf32, local>, i32
  %11 = uop.index %10, %c2 : !uop.mem<1xf32, local>, i32
  %12 = uop.store %11, %c3 : !uop.mem<f32, local>, f32
  %13 = uop.range 2 loop %c1 : i32
  %14 = uop.after %10, %12, %13 : !uop.mem<1xf32, local>, !uop.void, i32
  %15 = uop.index %14, %c2 : !uop.mem<1xf32, local>, i32
  %16 = uop.load %15 : !uop.mem<f32, local>
  %17 = uop.add %2, %13 : i32
  %18 = uop.index %6, %17 : !uop.mem<6xf32, global>, i32
  %19 = uop.load %18 : !uop.mem<f32, global>
  %20 = uop.add %16, %19 : f32
  %21 = uop.store %15, %20 : !uop.mem<f32, local>, f32
  %22 = uop.end %21, %13 : !uop.void, i32
  %23 = uop.after %10, %22 : !uop.mem<1xf32, local>, !uop.void
  %24 = uop.index %23, %c2 : !uop.mem<1xf32, local>, i32
  %25 = uop.load %24 : !uop.mem<f32, local>
  %26 = uop.mul %25, %c4 : f32
  %3 = uop.range 1 loop %c1 : i32
  %4 = uop.add %2, %3 : i32
  %5 = uop.index %0, %4 : !uop.mem<6xf32, global>, i32
  %7 = uop.index %6, %4 : !uop.mem<6xf32, global>, i32
  %8 = uop.load %7 : !uop.mem<f32, global>
  %27 = uop.add %8, %26 : f32
  %28 = uop.store %5, %27 : !uop.mem<f32, global>, f32
  %29 = uop.end %28, %1, %3 : !uop.void, i32, i32
  %30 = uop.sink %29 : !uop.void
  uop.yield %30 : !uop.void
}

// CHECK-LABEL:void transpose(float* restrict data0, float* restrict data1) {
// CHECK-NEXT:  for (int ridx0 = 0; ridx0 < 3; ridx0++) {
// CHECK-NEXT:    for (int ridx1 = 0; ridx1 < 5; ridx1++) {
// CHECK-NEXT:      float val1 = data0[((ridx0*5)+ridx1)];
// CHECK-NEXT:      data1[((ridx1*3)+ridx0)] = val1;
// CHECK-NEXT:    }
// CHECK-NEXT:  }
// CHECK-NEXT:}
uop.program @transpose {
  %c0 = uop.const 3 : i32
  %c1 = uop.const 5 : i32
  %0 = uop.buffer 1 : !uop.mem<15xf32, global>
  %6 = uop.buffer 0 : !uop.mem<15xf32, global>
  %3 = uop.range 0 loop %c0 : i32
  %7 = uop.mul %3, %c1 : i32
  %1 = uop.range 1 loop %c1 : i32
  %2 = uop.mul %1, %c0 : i32
  %4 = uop.add %2, %3 : i32
  %5 = uop.index %0, %4 : !uop.mem<15xf32, global>, i32
  %8 = uop.add %7, %1 : i32
  %9 = uop.index %6, %8 : !uop.mem<15xf32, global>, i32
  %10 = uop.load %9 : !uop.mem<f32, global>
  %11 = uop.store %5, %10 : !uop.mem<f32, global>, f32
  %12 = uop.end %11, %3, %1 : !uop.void, i32, i32
  %13 = uop.sink %12 : !uop.void
  uop.yield %13 : !uop.void
}

// CHECK-LABEL:void memory(float* restrict data0, float* restrict data1) {
// CHECK-NEXT:  float acc0;
// CHECK-NEXT:  float val1 = data0[0];
// CHECK-NEXT:  float val2 = data0[1];
// CHECK-NEXT:  acc0 = (val1+val2);
// CHECK-NEXT:  float val3 = acc0;
// CHECK-NEXT:  data1[0] = (val3*val3);
// CHECK-NEXT:}
uop.program @memory {
  %c0 = uop.const 0 : i32
  %c1 = uop.const 1 : i32
  %0 = uop.buffer 1 : !uop.mem<1xf32, global>
  %1 = uop.index %0, %c0 : !uop.mem<1xf32, global>, i32
  %2 = uop.alloc 0 : !uop.mem<1xf32, local>
  %3 = uop.index %2, %c0 : !uop.mem<1xf32, local>, i32
  %4 = uop.buffer 0 : !uop.mem<2xf32, global>
  %5 = uop.index %4, %c0 : !uop.mem<2xf32, global>, i32
  %6 = uop.load %5 : !uop.mem<f32, global>
  %7 = uop.index %4, %c1 : !uop.mem<2xf32, global>, i32
  %8 = uop.load %7 : !uop.mem<f32, global>
  %9 = uop.add %6, %8 : f32
  %10 = uop.store %3, %9 : !uop.mem<f32, local>, f32
  %11 = uop.after %2, %10 : !uop.mem<1xf32, local>, !uop.void
  %12 = uop.index %11, %c0 : !uop.mem<1xf32, local>, i32
  %13 = uop.load %12 : !uop.mem<f32, local>
  %14 = uop.mul %13, %13 : f32
  %15 = uop.store %1, %14 : !uop.mem<f32, global>, f32
  %16 = uop.sink %15 : !uop.void
  uop.yield %16 : !uop.void
}

// CHECK-LABEL:void range(float* restrict data0, float* restrict data1) {
// CHECK-NEXT:  for (int ridx0 = 0; ridx0 < 8; ridx0++) {
// CHECK-NEXT:    float val1 = data0[ridx0];
// CHECK-NEXT:    data1[ridx0] = (val1*2.0f);
// CHECK-NEXT:  }
// CHECK-NEXT:}
uop.program @range {
  %c0 = uop.const 8 : i32
  %c1 = uop.const 2.0 : f32
  %0 = uop.buffer 1 : !uop.mem<8xf32, global>
  %1 = uop.range 0 loop %c0 : i32
  %2 = uop.index %0, %1 : !uop.mem<8xf32, global>, i32
  %3 = uop.buffer 0 : !uop.mem<8xf32, global>
  %4 = uop.index %3, %1 : !uop.mem<8xf32, global>, i32
  %5 = uop.load %4 : !uop.mem<f32, global>
  %6 = uop.mul %5, %c1 : f32
  %7 = uop.store %2, %6 : !uop.mem<f32, global>, f32
  %8 = uop.end %7, %1 : !uop.void, i32
  %9 = uop.sink %8 : !uop.void
  uop.yield %9 : !uop.void
}
