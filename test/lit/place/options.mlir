// RUN: pl-opt --pipeline='check,place{objective=min-smem}' %root/test/unit/place/gemm.mlir | FileCheck %s --check-prefix=LEAST
// RUN: pl-opt --pipeline='check,place{objective=deepest max-time=1.0}' %root/test/unit/place/gemm.mlir | FileCheck %s --check-prefix=DEEP
// RUN: not pl-opt --pipeline='check,place{objective=tallest}' %root/test/unit/place/gemm.mlir 2>&1 | FileCheck %s --check-prefix=BAD

// LEAST: objective = "min-smem"
// LEAST-SAME: '@load::@ab': as shallow as allowed, for min-smem
// LEAST-SAME: smem_bytes = 99328
// DEEP: objective = "deepest"
// DEEP-SAME: value = 1750
// BAD: error: {{.*}}objective{{.*}} [bad-pipeline]
