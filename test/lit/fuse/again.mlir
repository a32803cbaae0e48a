// A second run changes nothing: of one pass, of all of them, and on what was printed.
// RUN: pl-opt --pipeline=check,place,fuse %S/../ir/gemm.mlir -o %t.once
// RUN: env PYTHONHASHSEED=1 pl-opt --pipeline=check,place,transfer,transfer,fold,fold,entry,entry %S/../ir/gemm.mlir -o %t.twice
// RUN: cmp %t.once %t.twice
// RUN: pl-opt --pipeline=check,place,fuse,check,place,fuse %S/../ir/gemm.mlir -o %t.again
// RUN: cmp %t.once %t.again
// RUN: pl-opt --pipeline=check,place,fuse %t.once -o %t.printed
// RUN: cmp %t.once %t.printed
