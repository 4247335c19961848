"""Values for an editor: expressions in a warp's frame, completions, and registers changed, as a branch of the run."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from rfview.dap.variables import Trees, is_resident, lanes_text
from rfview.engine.errors import InputError
from rfview.prompt_words import Words, choices
from rfview.sessions.branches.fork import fork
from rfview.sessions.commands.table import ALIASES
from rfview.sessions.expressions.ptx_names import names_at, register_of
from rfview.sessions.expressions.types import readings
from rfview.sessions.branch import REGISTER
from rfview.sessions.session import Session
from rfview.sessions.warps import empty_slot

OWN = re.compile(r"([RrP])(\d+)(\[[^\[\]]*\])?\Z")          # a register or predicate of the frame's warp
PTX_NAME = re.compile(r"%[A-Za-z_$][\w$.]*\Z")
AXES = "xyz"
LANES = 32


def evaluated(session: Session, trees: Trees, warp: int | None, text: str) -> dict[str, Any]:
    """Return the value of an expression in a warp's frame (None: the machine's), and the reference that opens it.

    In addition to debugger expressions: %r1 and R2 of the warp, its fields, %tid.x and the like. Raises InputError.
    """
    text = text.strip()
    if warp is not None:
        own = OWN.match(text)
        if (own or PTX_NAME.match(text)) and not is_resident(session.snapshot(), warp):
            raise empty_slot(warp, session.cycle)
        if PTX_NAME.match(text):
            return _ptx_name(session, trees, warp, text)
        if own is not None:
            text = f"w{warp}.{own[1].upper()}{own[2]}{own[3] or ''}"
        elif text in session.snapshot().sm["warp"].dtype.names:
            text = f"w{warp}.{text}"
    value = session.value(text)
    if isinstance(value, np.ndarray) and value.shape == (LANES,) and REGISTER.match(text):
        return _lanes(trees, value.astype(np.int64).astype(np.uint32), text)
    if np.ndim(value):
        return {"result": " ".join(str(one) for one in np.asarray(value).tolist()), "variablesReference": 0}
    if REGISTER.match(text):
        return {"result": readings(int(value) & 0xFFFFFFFF), "variablesReference": 0}
    return {"result": str(value), "variablesReference": 0}


def _lanes(trees: Trees, values: np.ndarray, path: str) -> dict[str, Any]:
    return {"result": lanes_text(values), "variablesReference": trees.lanes(path), "indexedVariables": LANES}


def _ptx_name(session: Session, trees: Trees, warp: int, name: str) -> dict[str, Any]:
    """Return the value of a PTX register, wherever it is at the warp's instruction, or of a special register."""
    snapshot = session.snapshot()
    special = _special(snapshot, warp, name)
    if special is not None:
        same = bool((special == special[0]).all())
        text = f"{special[0]} in all lanes" if same else " ".join(map(str, special.tolist()))
        return {"result": text, "variablesReference": 0}
    pc = int(snapshot.sm["warp"][warp]["pc"])
    alive = names_at(session.info, pc)
    words = sorted(reg for reg, names in alive.items() for one in names.split() if one == name or one.startswith(f"{name}."))
    if not words:
        where = register_of(session.info, name.lstrip("%"))
        raise InputError(f"{name} is in no register here" + (f"; it is in {where}" if where else ""))
    if len(words) == 1:
        return _lanes(trees, snapshot.register(warp, words[0]), f"w{warp}.R{words[0]}")
    parts = np.array([snapshot.register(warp, reg) for reg in words[:2]], np.uint64)
    whole = parts[0] | parts[1] << np.uint64(32)
    same = bool((whole == whole[0]).all())
    shown = f"0x{int(whole[0]):x} in all lanes" if same else " ".join(f"{one:x}" for one in whole.tolist())
    place = f"lanes of R{words[0]}, the lower half of R{words[0]}:R{words[1]}"
    return {"result": f"{shown}  ({place} below)", "variablesReference": trees.lanes(f"w{warp}.R{words[0]}")}


def _special(snapshot: Any, warp: int, name: str) -> np.ndarray | None:
    """Return (32,) the values of %tid.x, %ntid.y, %ctaid.z, %nctaid.x, %laneid or %warpid; None for other names."""
    what, _, axis = name.lstrip("%").partition(".")
    one, launch = snapshot.sm["warp"][warp], snapshot.sm["launch"]
    lanes = np.arange(LANES)
    if what == "laneid":
        return lanes
    if what == "warpid":
        return np.full(LANES, warp)
    if what not in ("tid", "ntid", "ctaid", "nctaid") or len(axis) != 1 or axis not in AXES:
        return None
    number = AXES.index(axis)
    block = [int(size) for size in launch.block]
    if what == "tid":
        linear = int(one["warp_in_cta"]) * LANES + lanes
        return [linear % block[0], linear // block[0] % block[1], linear // (block[0] * block[1])][number]
    sizes = {"ntid": block, "nctaid": launch.grid, "ctaid": snapshot.sm["cta"][int(one["cta"])]["ctaid"]}[what]
    return np.full(LANES, int(sizes[number]))


def completions(session: Session, text: str) -> list[dict[str, Any]]:
    """Return the completions of a line in the console."""
    words = Words([*sorted(ALIASES), *choices()])
    words.learn([], session.info, session.snapshot().sm.dtype)
    completed = words.completions(text)
    if not completed and not re.search(r"\s", text):      # an expression by itself
        completed = [line.removeprefix("print ") for line in words.completions(f"print {text}")]
    return [{"label": line, "text": line, "start": 0, "length": len(text)} for line in completed]


def changed(session: Session, expression: str, value: str) -> Session:
    """Return a branch from here with a register, or one of its lanes, changed; raises InputError for anything else."""
    if not REGISTER.match(expression):
        raise InputError(f"{expression or 'this'} cannot be set: registers and their lanes can, as a branch")
    number = next(number for number in range(1, len(session.family) + 2) if f"edit{number}" not in session.family)
    return fork(session, f"edit{number}", {expression: value.strip()})
