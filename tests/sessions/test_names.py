"""PTX names of registers: at an instruction, and in the errors for names that an expression does not know."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from rfview.engine.errors import InputError
from rfview.engine.info import RunInfo
from rfview.sessions import open_session
from rfview.sessions.expressions.ptx_names import names_at, register_of
from rfview.sessions.commands.script import run_script
from tests.sessions.double import make_info

FIRST = Path(__file__).resolve().parents[2] / "sessions" / "recorded" / "first.rfs"


def info_of(kernels: str, virtual: dict[str, list[Any]]) -> RunInfo:
    """Return what a run says whose instructions belong to kernels of these letters."""
    program = [structs.replace(make_info().program[0], pc=pc, kernel=name) for pc, name in enumerate(kernels)]
    return structs.replace(make_info(), program=program, virtual=virtual)


NONE = info_of("a", {})
INFO = info_of("abbb", {"b": [("%f7", 0, 1, 4, 1), ("%f7", 2, 2, 5, 1), ("%rd2", 1, 2, 2, 2), ("%r1", 1, 1, 4, 1)]})


def test_names_are_those_alive_at_an_instruction() -> None:
    assert names_at(INFO, 1) == {4: "%f7"}
    assert names_at(INFO, 2) == {4: "%f7 %r1", 2: "%rd2.lo", 3: "%rd2.hi"}
    assert names_at(INFO, 9) == names_at(NONE, 0) == {}


def test_a_name_is_found_with_where_it_lives() -> None:
    assert register_of(INFO, "f7") == "R4 at pc 1 to 2, R5 at pc 3 to 3"
    assert register_of(INFO, "f8") == register_of(NONE, "f7") == ""


def test_scripts_show_names_and_point_from_them_to_registers() -> None:
    session = open_session(str(FIRST))
    (_, shown) = run_script(session, "goto 50%; info registers 0")
    assert "%r" in shown.text
    with pytest.raises(InputError, match=r"%rd1 is in R\d+ at pc \d+ to \d+"):
        list(run_script(session, "print w0.rd1"))
    with pytest.raises(InputError, match=r"%r1 is in R\d+ at pc \d+ to \d+"):
        list(run_script(session, "print w0.r1"))
    with pytest.raises(InputError, match=r"unknown name 'r63'; did you mean R63\?"):
        list(run_script(session, "print w0.r63"))
