// The core for few queries and heads of 128.
#include <cute/tensor.hpp>

#include "attention_core_cute_few.cuh"

CUTE_ATTENTION_FEW(example::attention_core_cute_few_128, pl::bf16, 128)
