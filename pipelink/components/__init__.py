"""The component library that ships: CUDA C++ sources beside this file (docs/components.md).

Data only.  A composition needs one object per source; ``pl-cc`` or ``nvcc -dc`` makes it.
"""

from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent

#: The families that have tensor memory: code of one does not link for another.
TENSOR_MEMORY: Final = ("sm_100f", "sm_110f")
#: Source (its name without ``.cu``) -> the architectures it is compiled for: the oldest that its instructions run on,
#: and so the one whose image links for the most targets, or each family.
SOURCES: Final[dict[str, tuple[str, ...]]] = {
    "tma_loader": ("sm_90",),
    "wgmma_mainloop": ("sm_90a",),
    "fp8_loader": ("sm_90a",),
    "fp8_mainloop": ("sm_90a",),
    "fp8_block_mainloop": ("sm_90a",),
    "sm120_loader": ("sm_90",),
    "sm120_mainloop": ("sm_90",),
    "pair_loader": TENSOR_MEMORY,
    "sm100_mainloop": TENSOR_MEMORY,
    "tmem_reader": TENSOR_MEMORY,
    "cp_async_mainloop": ("sm_80",),
    "store": ("sm_80",),
    "bias_relu": ("sm_80",),
    "gelu": ("sm_80",),
    "residual_add": ("sm_80",),
    "swiglu": ("sm_80",),
    "geglu": ("sm_80",),
    "epilogues_f16": ("sm_80",),
    "epilogues_tma": ("sm_90",),
    "staged_store": ("sm_80",),
    "tma_store": ("sm_90",),
    "static_tiles": ("sm_80",),
    "grouped_tiles": ("sm_80",),
    "paired_tiles": ("sm_90",),
    "attention_loader": ("sm_90",),
    "attention_core": ("sm_90a",),
    "attention_core_f16": ("sm_90a",),
    "attention_core_256": ("sm_90a",),
    "attention_walkers": ("sm_80",),
    "attention_walkers_varlen": ("sm_80",),
    "attention_windows": ("sm_80",),
    "attention_lists": ("sm_80",),
    "attention_loader_packed": ("sm_90",),
    "attention_loader_paged": ("sm_90",),
    "attention_e4m3": ("sm_90",),
    "attention_split": ("sm_80",),
    "attention_split_outputs": ("sm_80",),
    "attention_masks": ("sm_80",),
    "attention_context": ("sm_80",),
    "attention_context_loader": ("sm_90",),
    "attention_scores": ("sm_80",),
    "attention_sinks": ("sm_80",),
    "attention_outputs": ("sm_80",),
    "attention_combine": ("sm_80",),
    "attention_merge": ("sm_80",),
    "interpreter": ("sm_90",),
}
