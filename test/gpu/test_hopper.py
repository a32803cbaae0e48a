"""What components of sm_90 can use beyond ports: numbers."""

from typing import Any


def test_tma_adds_blocks_of_many_ctas_to_one(torch: Any, load: Any) -> None:
    """Every element is added to by up to 64 CTAs at once; small integers, so that the order does not matter."""
    kernel = load("reduced_by_tma")
    for blocks in (1, 63, 64, 1000):
        source = torch.randint(-8, 9, (blocks, 32, 32), device="cuda").float()
        out = torch.ones(32, 32, device="cuda")
        kernel(source=source, out=out)
        assert torch.equal(out, 1 + source.sum(0)), blocks


def test_bulk_stores(torch: Any, load: Any) -> None:
    kernel = load("bulk_stores")
    for blocks in (1, 64, 1000):
        source = torch.randn(blocks, 32, 32, device="cuda")
        out = torch.full_like(source, float("nan"))
        kernel(source=source, out=out)
        assert torch.equal(out, source), blocks


def test_a_in_registers_and_b_along_its_rows(torch: Any, load: Any) -> None:
    kernel = load("row_product")
    for tiles in (1, 5):
        a = torch.randn(64, 64, device="cuda").to(torch.bfloat16)
        b = torch.randn(tiles, 64, 128, device="cuda").to(torch.bfloat16)
        c = torch.full((tiles, 64, 128), float("nan"), device="cuda")
        kernel(a=a, b=b, c=c)
        torch.testing.assert_close(c.double(), a.double() @ b.double(), rtol=1e-4, atol=1e-3)
