"""Who waits for whom in ptxas's own code (RULES.md, B10): barriers and collectives in divergent code, from listings."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rfview.engine.functional.machine import FunctionalSimulator
from rfview.engine.launch import load_launch_file
from rfview.engine.modules import load_module
from tests.engine.machine_programs import plain_only
from tests.engine.one_warp import LAUNCH
from tests.engine.sass.progress import ISAS, NAMES, listing_path
from tests.engine.test_forward_progress import CASES


@plain_only
@pytest.mark.nojit
@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("name", NAMES)
def test_lanes_wait_for_each_other_as_in_the_ptx(name: str, isa: str, tmp_path: Path) -> None:
    text = LAUNCH.format(columns=1).replace("[[launch]]", f'[[launch]]\nkernel = "k{NAMES.index(name)}"')
    (tmp_path / "k.toml").write_text(text)
    (tmp_path / "k.ptx").write_text("")
    np.save(tmp_path / "in.npy", np.zeros((32, 1), np.uint32))
    simulator = FunctionalSimulator(load_launch_file(tmp_path / "k.toml"), module=load_module(listing_path(isa)))
    simulator.run()
    assert simulator.buffers()["out"][:, 0].tolist() == [value & 0xFFFFFFFF for value in CASES[name][1]]
