"""Tensor cores and asynchronous copies as machine code: a product of tiles.cu, in both modes and without hazards."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rfview.engine import isa
from rfview.engine.functional.machine import FunctionalSimulator
from rfview.engine.hazards.flow import hazards_of
from rfview.engine.hazards.watch import Watch
from rfview.engine.launch import Arg, Buffer, Launch, LaunchSpec
from rfview.engine.simulator import Simulator
from rfview.engine.state import FREE
from rfview.sessions.session import Session
from rfview.sessions.timeline.live import LiveTimeline
from rfview.sessions.why import why
from tests.engine.machine_programs import plain_only
from tests.engine.sass.tiles import COLUMNS, DEPTH, FOLDER, ISAS, ROWS

pytestmark = [pytest.mark.nojit, plain_only]


def tiles() -> LaunchSpec:
    """Return the launch of the product of two random matrices."""
    random = np.random.default_rng(7)
    shapes = {"a": (ROWS, DEPTH), "b": (DEPTH, COLUMNS)}
    buffers = {name: Buffer(name, random.standard_normal(shape).astype(np.float16)) for name, shape in shapes.items()}
    buffers["c"] = Buffer("c", np.zeros((ROWS, COLUMNS), np.float32))
    launch = Launch("tiles", (1, 1, 1), (32, 1, 1), 0, tuple(Arg("buffer", name=name) for name in "abc"))
    return LaunchSpec(Path("tiles.toml"), "tiles", FOLDER / "tiles.ptx", (launch,), buffers, {}, {}, False, "exact", "", None)


def result(run: FunctionalSimulator | Simulator) -> np.ndarray:
    """Return C."""
    return run.buffers()["c"]


@pytest.fixture(scope="module")
def of_ptx() -> np.ndarray:
    """Return C as the PTX computes it."""
    run = FunctionalSimulator(tiles(), settings={"kernel.isa": "ptx"})
    run.run()
    a, b = (tiles().buffers[name].array.astype(np.float64) for name in "ab")
    assert np.allclose(result(run), a @ b, atol=1e-4)
    return result(run)


@pytest.mark.parametrize("kind", ISAS)
def test_tensor_cores_add_in_the_order_of_the_ptx(kind: str, of_ptx: np.ndarray) -> None:
    run = FunctionalSimulator(tiles(), settings={"kernel.isa": kind})
    run.run()
    assert result(run).tobytes() == of_ptx.tobytes()


def test_the_subcore_waits_for_the_copies_that_a_group_names(of_ptx: np.ndarray) -> None:
    run = Simulator(tiles(), preset="a100", settings={"kernel.isa": "sm_80"})
    kernel = run.placement.kernels[0][0]
    assert hazards_of(kernel) == []
    watch = Watch(run)
    waits = {pc + 1: int(text.split(",")[1].split()[0], 16) for pc, text in enumerate(kernel.texts) if "DEPBAR.LE" in text}
    most, waited = 0, 0
    while not run.finished:
        run.step(1)
        watch.look()
        flights, warp = run._sm_array["inflight"][0], run.sm.warp[0]
        under_way = flights[flights["stage"] != FREE]
        of_group = np.count_nonzero(run.insts["op"][under_way["pc"]] == isa.OP_LDGDEPBAR)
        most = max(most, of_group)
        if int(warp.last_pc) in waits and int(warp.last_issue_cycle) == run.cycle - 1:
            assert of_group <= waits[int(warp.last_pc)]
            waited += 1
    assert (most, waited, watch.seen) == (2, 4, {})
    assert result(run).tobytes() == of_ptx.tobytes()


def test_why_goes_from_a_wait_for_copies_to_the_one_that_ends_last() -> None:
    timeline = LiveTimeline(Simulator(tiles(), preset="a100", settings={"kernel.isa": "sm_80"}), chunk_cycles=64)
    timeline.extend(400)
    links = [link.sentence for link in why(Session(timeline), 0, 400).links]
    assert links[0] == "w0 waits for SB0"
    assert links[1].startswith("LDGDEPBAR at PC") and links[2].startswith("it waits for the copies before it; the last to end is")
    assert links[3].startswith("it has been in memory since")
