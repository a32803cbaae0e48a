"""Programs for the operations of test/megakernels.py, with the runtime alone."""

from __future__ import annotations

from pipelink.runtime import Program

PAGE = 16384  # bytes of test::stream's pages
ROWS_OF = {2048: 4, 8192: 1}  # rows in a page, by columns


def add_stages(program: Program, stages: list[tuple[int, int]]) -> list[int]:
    """Products one behind the other, of rows and columns as ``stages`` says, their pages dealt to the CTAs in turn.
    The number of each stage's first page, and behind the last that of all."""
    ctas, firsts = len(program.ctas), [0]
    for number, (rows, columns) in enumerate(stages):
        pages = rows * columns * 2 // PAGE
        for cta in range(ctas):
            program.add(
                cta,
                f"matvec_{columns}_operation",
                first=firsts[-1] + cta,
                step=ctas,
                count=max(0, -(-(pages - cta) // ctas)),
                stage=number,
                awaited=ctas,
                row=cta * ROWS_OF[columns],
            )
        firsts.append(firsts[-1] + pages)
    return firsts
