"""The help topic `design`: how a register file of one's own is written, with every hook and helper from the code itself."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from textwrap import wrap
from typing import Any

WIDTH = 116

STEPS = """\
A register file is one Python file. Begin with one that works, change it, check it, look at it:

  rfview designs --new my_rf.py               write the file; its comments say what each part is
  rfview designs my_rf.py --check             run it under every scheduler, memory compared with sram's to the bit
  rfview debug vectoradd --design ./my_rf.py  step through it; its state is shown, recorded and rewound
  rfview compare vectoradd --designs 'sram,./my_rf.py,./my_rf.py[write_cycles=4]'

A path stands wherever a design's name does, with [key=value,...] behind it; RFVIEW_DESIGNS=FILE.py makes the name known
everywhere (replaying a design that has `locate` needs it), a package does so by an entry point `rfview.designs`.

DESIGN = Design(...) says what there is: name, parameters (in the hooks `spec.NAME`), state (`rf.NAME`, NumPy dtypes),
events to count (`sm.events[spec.first_event + k]`), stalls of your own (codes 32 to 39), energy per event, leakage,
extra_rows (rows for values of your own, from `spec.first_row` on), panels for the screen (kind grid, table or values).
The functions below are hooks: write those that differ from a plain banked file, leave out the rest. They are compiled
with numba, which a run with NUMBA_DISABLE_JIT=1 leaves out, for print() and a Python debugger.

Rules
  Every hook returns an int on every path: 0, or the stall code of a refusal where it may refuse.
  `sm` is the machine's state, `rows[n]` the 32 lanes of a row, `mask` the lanes that count, `slot` an instruction under way.
  All that the design remembers is in its state: module variables would neither be recorded nor rewound.
  A result may be accepted long before it is written: registers.release lets the scoreboard go on when your rule says so.
  What the design does by itself in later cycles must show in next_event, or idle cycles are skipped over it.
  Values go through rows: a register that is not in its main row needs `locate`, and then `read` must find it there too.
  Helper functions of your own that hooks call are marked @device (from engine.device import device).
  The fields of `sm`: engine/state.py, and `rfview help expressions` for warps, banks and collectors.

A design over another one (like rfc over sram) sets takes_main and calls hooks.NAME(sm, rf.mrf, spec.mrf, ...).
A function `why(trail, moment, rf, refusal)` adds links of its own to `why` chains; without it they end at the bank."""


def text() -> str:
    """Return the whole topic."""
    from engine import hooks, registers
    from engine.designs.conformance import HOOKS

    lines = [STEPS, "", "Hooks; those left out are a plain banked SRAM file's"]
    for name, arguments in HOOKS.items():
        lines += _entry(name, arguments, getattr(hooks, name))
    lines += ["", "Helpers: from engine import registers"]
    for name in _own_functions(registers):
        function = getattr(registers, name)
        lines += _entry(name, list(inspect.signature(function).parameters), function)
    return "\n".join(lines)


def _own_functions(module: Any) -> list[str]:
    """Return the names of the functions that a module defines, in its order."""
    found = [(member.__code__.co_firstlineno, name) for name, member in inspect.getmembers(module, inspect.isfunction)
             if member.__module__ == module.__name__]
    return [name for _, name in sorted(found)]


def _entry(name: str, arguments: list[str], function: Callable[..., Any]) -> Iterator[str]:
    """Yield a function with its arguments and what its docstring says."""
    yield f"  {name}({', '.join(arguments)})"
    for paragraph in (inspect.getdoc(function) or "").split("\n\n"):
        yield from wrap(" ".join(paragraph.split()), WIDTH, initial_indent="      ", subsequent_indent="      ")
