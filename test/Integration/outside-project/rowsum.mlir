// The sum of each row of a 3 by 4 matrix, with a constant that nothing uses.
uop.program @rowsum {
  %0 = uop.const 1 : i32
  %1 = uop.buffer 0 : !uop.mem<12xf32, global>
  %2 = uop.reshape %1 [3, 4] : !uop.mem<12xf32, global>
  %3 = uop.reduce add 1 %2 : !uop.mem<3x4xf32, global>
  uop.yield %3 : tensor<3xf32>
}
