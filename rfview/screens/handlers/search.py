"""Searches for a text in the program, or in time for a condition of `find`; n and N repeat the last search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rfview.render import code
from rfview.render.operation import place_of
from rfview.screens import requests
from rfview.screens.handlers import focus

if TYPE_CHECKING:
    from rfview.screens.desk import Desk


def in_program(main: Desk, text: str) -> None:
    """Search the program for a text ("": the last one) from CODE's cursor on."""
    main.needle, main.sought = text or main.needle, ""
    _to_instruction(main, 1, include_here=True)


def in_time(main: Desk, condition: str, by: int) -> None:
    """Go to the by-th next cycle in which a condition becomes true, or previous one if `by` is negative."""
    main.sought = condition
    main.worker.ask(requests.find, condition, by)


def again(main: Desk, by: int) -> None:
    """Go to the by-th next hit, or previous one if `by` is negative; in the program always to the nearest."""
    if main.sought:
        in_time(main, main.sought, by)
    else:
        _to_instruction(main, 1 if by > 0 else -1)


def _to_instruction(main: Desk, by: int, include_here: bool = False) -> None:
    """Move CODE's cursor to the next (by 1) or previous (by -1) instruction that contains the text."""
    if not main.needle:
        main.say("no text to search for yet; / takes one")
        return
    program = main.scene.info.program
    assert main.scene.now is not None
    here = focus.cursor_pc(main)
    for offset in range(0 if include_here else 1, len(program) + 1):
        pc = (here + by * offset) % max(1, len(program))
        entry = program[pc]
        if main.needle.lower() in f"{entry.text} line {entry.line} {place_of(program, pc)}".lower():
            main.change(scroll=pc - main.scene.now.pc[main.scene.warp], panel=code.PANEL.name,
                        message=f"{main.needle}: {entry.text}, {place_of(program, pc)}"
                                f"{main.keys.tail('run_to_cursor', 'runs to it')}",
                        message_kind="info")
            return
    main.say(f"no instruction contains {main.needle!r}", "error")
