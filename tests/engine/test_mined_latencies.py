"""Latencies mined from ptxas's code: the hazards' table asks for no more than it keeps."""

from __future__ import annotations

import pytest

from rfview.engine.tools.mined_latencies import bundled, main, mine


@pytest.mark.parametrize("architecture", ["sm_75", "sm_80", "sm_90"])
def test_ptxas_keeps_every_latency_of_the_table(architecture: str) -> None:
    table = mine(bundled(architecture, ["gemm", "reduction", "hotspot", "nw"]))
    assert min(spare for _, _, _, spare in table.values()) == 0
    least, _, count, spare = table["alu", "alu"]
    assert (least, spare) == (4, 0) and count > 20


def test_the_table_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sm_80", "gemm"]) == 0
    assert "fma            -> fma" in capsys.readouterr().out
