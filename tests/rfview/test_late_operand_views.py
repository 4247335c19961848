"""How WARPS and COLLECTORS show an operand that was read and has not arrived yet."""

from __future__ import annotations

import pytest

from rfview.render.collectors import operands
from rfview.render.operation import waits_for
from tests.conftest import WITHOUT_JIT
from tests.engine import late_design
from tests.harness import Assembly, Machine, added
from tests.rfview.scenes import scene_of

pytestmark = [pytest.mark.nojit, pytest.mark.skipif(not WITHOUT_JIT, reason="a compile, for what plain Python shows as well")]


def test_the_operand_is_not_here_and_the_warp_waits_for_the_designs_reason() -> None:
    with added("late", late_design):
        run = Machine(Assembly().mov(1, 5).add(2, 1, imm=1).add(3, 2, imm=1).exit(),
                      design="late[decompress_cycles=7]").run()
    cycle = run.states().index("decompress")
    scene = scene_of(run, cycle)
    machine = scene.now
    assert machine is not None
    entry = next(entry for entry in machine.collectors if entry is not None)
    assert operands(machine, entry) == [(1, "▯")]
    assert waits_for(scene, 0) == "decomp"
