// pipelink/touches.cuh: how the data of a stream are touched at one end, a type each.
//
// Written by docs/generate.py from pipelink/contract/vocabulary.py; change that, then run `make docs`.
#pragma once
#define PL_KNOWN_TOUCHES_ "pl::by_tma, pl::by_threads, pl::by_wgmma, pl::by_tcgen05, pl::by_cp_async, pl::by_bulk"
#define PL_TOUCHES_(TOUCH) \
  TOUCH(by_tma, "tma") \
  TOUCH(by_threads, "threads") \
  TOUCH(by_wgmma, "wgmma") \
  TOUCH(by_tcgen05, "tcgen05") \
  TOUCH(by_cp_async, "cp_async") \
  TOUCH(by_bulk, "bulk")
