"""What a run's text says of its energies, and `help stalls` of bundled designs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rfview.commands import run
from rfview.engine import kernels, plugin as designs
from rfview.engine.launch import load_launch_file
from rfview.engine.simulator import Simulator
from rfview.engine.stalls import Stall
from rfview.glossary import terms

PARTS = {"dynamic": 2_000_000.0, "refresh": 0.0}


@pytest.mark.parametrize(("design", "preset", "leakage", "said"), [
    ("sram", "fermi", 1e6, "3.000 µJ: dynamic 2.000, leakage 1.000, refresh 0.000"),
    ("rfc", "fermi", 0.0, "2.000 µJ: dynamic 2.000, leakage not given, refresh 0.000\n    to be compared with that of its own "
                          "baseline, RFC's SRAM, not with sram's (rfview compare)"),
    ("sram", "gebhart", 0.0, "2.000 µJ: dynamic 2.000, leakage not given, refresh 0.000"),
    ("rfc", "gebhart", 0.0, "2.000 µJ: dynamic 2.000, leakage not given, refresh 0.000"),      # of one table
])
def test_energies_that_are_not_given_or_belong_to_another_baseline_are_said(design: str, preset: str, leakage: float,
                                                                            said: str) -> None:
    machine = Simulator(load_launch_file(kernels.path("vectoradd")), design=design, preset=preset)
    energy = {**PARTS, "leakage": leakage, "total": 2_000_000.0 + leakage}
    line = run.energy_line({"node_nm": None, **run.about_energy(machine, energy)}, energy)
    assert line.endswith(said)


def test_help_lists_the_stalls_of_bundled_designs(monkeypatch: pytest.MonkeyPatch) -> None:
    stt = designs.find("stt")
    own = Stall(40, "stt_sleeps", "sleeps", "☾", "Z", "register_file", "The bank sleeps.")
    monkeypatch.setattr(stt, "DESIGN", replace(stt.DESIGN, stalls=(own,)))
    found = {term.name: term for term in terms.states()}
    assert found["stt_sleeps"].text == "☾ (Z)  The bank sleeps." and stt.DESIGN.source in found["stt_sleeps"].source
