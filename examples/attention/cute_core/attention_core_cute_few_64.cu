// The core for few queries and heads of 64.
#include <cute/tensor.hpp>

#include "attention_core_cute_few.cuh"

CUTE_ATTENTION_FEW(example::attention_core_cute_few_64, pl::bf16, 64)
