"""What session files contain besides arrays: typed records, checked once when a file is opened.

msgspec checks them by their types, and those of engine/info.py, and drops names that are not there. What no type can
say, such as that a buffer is within the memory, is checked afterwards. Readers rely on both.
"""

from __future__ import annotations

import hashlib
import math
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, TypeVar

import msgspec
import numpy as np
from msgspec import Meta, Struct

from rfview.engine.info import UNIFORM_ROWS, RunInfo
from rfview.engine.stalls import NOT_WAITING
from rfview.sessions.codec import limits
from rfview.sessions.layout import Layout

if TYPE_CHECKING:
    from rfview.engine.simulator import Simulator

Record = TypeVar("Record")
Cycle: TypeAlias = Annotated[int, Meta(ge=0, le=1 << 62)]


class Inputs(Struct, frozen=True):
    """Memory that a file names and does not hold: that of a bundled kernel in one of its sizes, placed on the run's machine.

    words: how much. sha256: of its bytes, in hexadecimal digits.
    """

    kernel: Annotated[str, Meta(max_length=256)]
    size: Literal["small", "full"]
    words: Annotated[int, Meta(ge=0, le=1 << 40)]
    sha256: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]

    @classmethod
    def of(cls, kernel: str, size: str, memory: np.ndarray) -> Inputs:
        """Return the name of a kernel's memory, (words,) u4."""
        digest = hashlib.sha256(np.ascontiguousarray(memory, "<u4").data).hexdigest()
        return msgspec.convert({"kernel": kernel, "size": size, "words": memory.size, "sha256": digest}, cls)


class HeadBody(Struct):
    """The body of a recording's header; header.py checks the dtypes, `run_info` the info. inputs: None with memory."""

    sm_dtype: Any
    rf_dtype: Any
    info: Any
    first: Cycle
    chunk_cycles: Annotated[int, Meta(ge=1, le=limits.MAX_CYCLES)]
    inputs: Inputs | None = None


class End(Struct, frozen=True):
    """How a run ended; all None in a recording whose end is missing. summary: of Simulator.summary, if it finished."""

    finished: bool | None = None
    fault: str | None = None
    summary: dict[str, Any] | None = None

    @property
    def verified(self) -> bool | None:
        """Return whether its results were the expected ones; None if the run did not say."""
        return (self.summary or {}).get("verified")


def end_of(simulator: Simulator) -> End:
    """Return how a simulator's run has ended."""
    finished, fault = bool(simulator.finished), None if simulator.fault is None else str(simulator.fault)
    return End(finished, fault, simulator.summary() if finished and fault is None else None)


def typed(stored: Any, kind: type[Record], what: str) -> Record:
    """Return data from a file as a record of this kind; raises ValueError, which names the field."""
    try:
        return msgspec.convert(stored, kind)
    except msgspec.ValidationError as error:
        problem, _, place = str(error).partition(" - at ")
        field = place.strip("`").removeprefix("$").lstrip(".").replace("[...]", "")
        raise ValueError(f"{what}{f': {field}' if field else ''}: {problem[:1].lower()}{problem[1:]}") from None


def run_info(stored: Any, layout: Layout, rows: int, words: int) -> RunInfo:
    """Return a run's info; raises ValueError unless it is valid. rows, words: recorded rows and memory words in the file."""
    info = typed(stored, RunInfo, "its run")
    for name, count, field in (("num_warps", info.num_warps, "sm.warp[*].state"),
                               ("num_banks", info.num_banks, "sm.bank[*].queue")):
        there = layout.field(field).shape[0]
        if count > there:
            raise ValueError(f"its run has {name} {count}, but its states hold {there}")
    states = [row.name for row in info.stalls]
    for name in NOT_WAITING:        # readers look these up
        if states.count(name) != 1:
            raise ValueError(f"its run has {states.count(name)} states {name!r}, expected one")
    if len(info.events) + len(info.design_events) > layout.field("sm.events[*]").shape[0]:
        raise ValueError("its run has more events than its states count")
    if info.recorded_rows > rows:
        raise ValueError(f"its run has {info.recorded_rows} recorded rows, but the file holds {rows}")
    first, step = info.uniform_rows or (0, 0)
    if info.uniform_rows and first + info.num_warps * step > rows + step - UNIFORM_ROWS:
        raise ValueError("its run has uniform registers outside of the rows that the file holds")
    for variable in info.variables:
        if variable.word + -(-variable.bytes // 4) > words:
            raise ValueError(f"{variable.name} is outside the {words} words of memory that the file holds")
        if math.prod(variable.shape) * np.dtype(variable.dtype).itemsize > variable.bytes:
            raise ValueError(f"{variable.name} has {variable.bytes:,} bytes, fewer than its type and shape need")
    return info
