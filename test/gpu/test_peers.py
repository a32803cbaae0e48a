"""Signals between GPUs: in one process, and in a process for each."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).with_name("peers.py")


@pytest.fixture
def two_gpus(torch: Any) -> None:
    if torch.cuda.device_count() < 2:
        pytest.skip("there is one device")


class Rank:
    """What a rank has: a device, a stream, and its buffers."""

    def __init__(self, torch: Any, ctas: int, device: int) -> None:
        def zeros(*shape: int) -> Any:
            return torch.zeros(*shape, dtype=torch.int32, device=f"cuda:{device}")

        self.device = device
        self.stream = torch.cuda.Stream(device)
        self.buffers = {"data": zeros(ctas, 64, 32), "right": zeros(ctas, 128), "pages": zeros(1 + 2 * ctas, 32)}


def pass_pages(torch: Any, kernel: Any, devices: tuple[int, int], rounds: int, launches: int) -> None:
    """Every word that TMA fetches is what the other rank wrote in the round that it signalled, launch after launch."""
    ranks = [Rank(torch, 32, device) for device in devices]
    everyone = {
        f"{name}": [r.buffers[of] for r in ranks] for name, of in (("all_data", "data"), ("pages_peers", "pages"))
    }

    def arguments(number: int, seed: int) -> dict[str, Any]:
        own = {**ranks[number].buffers, **everyone, "stream": ranks[number].stream}
        return {**own, "rank": number, "rounds": rounds, "seed": seed}

    for number in (0, 1):
        kernel.preload(**arguments(number, 0))
    for seed in range(launches):
        for rank in ranks:
            rank.buffers["right"].zero_()
            rank.buffers["data"].fill_(-1)
        for rank in ranks:
            torch.cuda.synchronize(rank.device)
        for number in (0, 1):
            kernel(**arguments(number, seed))
        for rank in ranks:
            torch.cuda.synchronize(rank.device)
            assert bool((rank.buffers["right"] == 8 * rounds).all()), (rank.device, seed)


#: Pages that are written into the other GPU's memory, and such as TMA fetches from there.
KERNELS = ("peer_pages", "far_pages")


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize(("rounds", "launches"), [(1, 20), (3, 20), (100_000, 2)])
def test_pages_between_two_gpus_of_one_process(
    torch: Any, load: Any, two_gpus: None, name: str, rounds: int, launches: int
) -> None:
    pass_pages(torch, load(name), (0, 1), rounds, launches)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize(("rounds", "launches"), [(1, 20), (3, 20), (100_000, 2)])
def test_pages_between_two_kernels_of_one_gpu(torch: Any, load: Any, name: str, rounds: int, launches: int) -> None:
    """Two ranks may share a device, where both kernels fit on it at once."""
    pass_pages(torch, load(name), (0, 0), rounds, launches)


@pytest.mark.parametrize("name", KERNELS)
def test_pages_between_two_processes(package: Any, two_gpus: None, name: str) -> None:
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", str(SCRIPT)]
    run = subprocess.run([*command, str(package(name))], capture_output=True, text=True, timeout=180)
    assert run.returncode == 0, run.stdout[-2000:] + run.stderr[-4000:]
    assert run.stdout.count("right") == 2, run.stdout
