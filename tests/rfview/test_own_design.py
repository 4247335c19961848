"""`rfview designs --new` and `--check`, as somebody with an idea of their own uses them."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine import designs as registry
from engine.designs import files
from rfview import cli
from rfview.commands import designs


@pytest.fixture(autouse=True)
def forget():
    """Leave no design of a test behind."""
    yield
    registry._ADDED.clear()
    files._load.cache_clear()


@pytest.mark.slow
def test_a_new_design_passes_its_check_and_a_wrong_one_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(designs, "CHECKED", ("scalarprod",))
    path = tmp_path / "my_rf.py"
    assert cli.main(["designs", "--new", str(path)]) == 0
    assert "--check" in capsys.readouterr().out
    assert cli.main(["designs", str(path), "--check"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4 and all(line.startswith("scalarprod") and line.endswith("ok") for line in lines)
    # the other lanes of a partial write are lost
    path.write_text(path.read_text().replace("value_row, mask)", "value_row, 0xFFFF)"))
    assert cli.main(["designs", str(path), "--check"]) == 1
    assert "memory differs from sram's: " in capsys.readouterr().out


def test_the_check_wants_a_design(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["designs", "--check"]) == 2
    assert "name a design or a design file" in capsys.readouterr().err


def test_the_help_topic_names_every_hook(capsys: pytest.CaptureFixture[str]) -> None:
    from engine.designs.conformance import HOOKS

    assert cli.main(["help", "design"]) == 0
    text = capsys.readouterr().out
    assert all(f"  {name}({', '.join(arguments)})" in text for name, arguments in HOOKS.items())
    assert "take_write_port(sm, bank, warp, reg)" in text
