"""`why` on bundled kernels under every design: every stalled warp has a chain to a named resource; counterfactuals."""

from __future__ import annotations

import pytest

from tests import why_everywhere
from tests.why_counterfactual import examine

RUNS = [
    ("vectoradd", "sram", "two_level"),
    ("reduction", "sram", "gto"),
    ("histogram", "sram", "lrr"),
    ("bfs", "sram", "gto"),
    ("vectoradd", "stt", "gto"),
    ("reduction", "stt[stall=bank]", "switch_on_stall"),
    ("vectoradd", "hrf", "switch_on_stall"),
    ("reduction", "hrf", "lrr"),
    ("vectoradd", "single_buffer", "lrr"),
    ("fwt", "single_buffer", "two_level"),
    ("vectoradd", "rfc", "two_level"),
    ("reduction", "rfc", "two_level"),
    ("gemm", "hcrf", "lrr"),
    ("reduction", "hcrf", "gto"),
    ("gemm", "edram", "gto"),
    ("vectoradd", "edram", "switch_on_stall"),
    ("reduction", "racetrack", "lrr"),
    ("scalarprod", "racetrack", "gto"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("kernel", "design", "scheduler"), RUNS)
def test_no_stalled_warp_without_a_named_resource(kernel: str, design: str, scheduler: str) -> None:
    found = why_everywhere.examine(kernel, design, scheduler, 40, 0)
    assert not found.lacking, found.lacking[0]
    assert len(found.states) > 2


@pytest.mark.slow
@pytest.mark.parametrize("design", ["sram", "stt", "hrf"])
def test_without_the_named_delay_most_warps_issue_earlier(design: str) -> None:
    tally = examine(design, 24, seed=3)
    tried = tally.samples - tally.no_lever
    assert tally.samples >= 20 and tally.earlier * 2 > tried
    named, control = tally.from_checkpoint, tally.control
    assert named["earlier"] / named.total() > control["earlier"] / control.total()
