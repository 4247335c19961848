"""A few cases of the fuzz targets for PTX, machine code, launch files and texts, and those that once broke something."""

from __future__ import annotations

from pathlib import Path

import pytest

from rfview.engine.compile import jit
from rfview.sessions.search.marks import Marks
from tests.robustness.__main__ import GOOD, tally


@pytest.mark.parametrize(("target", "count"), [("ptx", 60), ("machine_code", 40), ("launch", 80), ("words", 400)])
def test_changed_inputs_are_taken_or_refused(target: str, count: int) -> None:
    outcomes, _ = tally(target, seed=3, first=0, count=count, minutes=None)
    assert set(outcomes) <= GOOD and outcomes["refused"] and len(outcomes) > 1, outcomes


@pytest.mark.skipif(jit.OFF, reason="nothing is compiled")
def test_damaged_machine_code_is_replaced() -> None:
    outcomes, _ = tally("cache", seed=3, first=0, count=60, minutes=None)
    assert set(outcomes) == {"loaded", "refused"}, outcomes


@pytest.mark.parametrize(("target", "number"), [("launch", 58), ("launch", 178), ("ptx", 17222)])
def test_what_was_found_stays_mended(target: str, number: int) -> None:
    outcomes, _ = tally(target, seed=1, first=number, count=1, minutes=None)
    assert set(outcomes) <= GOOD, outcomes


@pytest.mark.parametrize("marks", [
    '[{"name": "a", "cycle": "12"}]', '[{"name": "a", "cycle": 1.5}]', '[{"name": "a b", "cycle": 1}]', '[{"cycle": 1}]',
    '[{"name": "a", "cycle": 1e999}]', "[3]", '{"a": 1}', '[{"name": [], "cycle": {}}]', "[" * 9000])
def test_marks_that_cannot_be_are_set_aside(tmp_path: Path, marks: str) -> None:
    file = tmp_path / "run.rfs.marks.json"
    file.write_text(f'{{"format": 1, "marks": {marks}}}')
    read = Marks(file)
    assert not len(read) and "kept as run.rfs.marks.json.bad" in read.warnings[0]


def test_a_second_damaged_file_of_marks_does_not_replace_the_first(tmp_path: Path) -> None:
    file = tmp_path / "run.rfs.marks.json"
    for number, name in enumerate(("bad", "bad1", "bad2")):
        file.write_text(f"damaged {number}")
        assert f"kept as run.rfs.marks.json.{name}" in Marks(file).warnings[0]
        assert (tmp_path / f"{file.name}.{name}").read_text() == f"damaged {number}"


def test_numbers_of_thousands_of_digits_are_refused_in_every_toml(tmp_path: Path) -> None:
    """Found in key files: Python refuses them with an error that is not one of TOML's."""
    from rfview import keymap
    from rfview.engine.errors import InputError
    from rfview.engine.launch import load_launch_file
    from rfview.engine.tools.mapping import load_table

    file = tmp_path / "long.toml"
    file.write_text(f"a = {'9' * 6000}\n", encoding="utf-8")
    for read, error in ((keymap.load, InputError), (load_launch_file, InputError), (load_table, ValueError)):
        with pytest.raises(error, match="digits"):
            read(file)
