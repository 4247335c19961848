"""What session files and recipes contain besides arrays: typed records, checked once when a file is opened.

msgspec checks them by their types, and those of engine/info.py, and drops names that are not there. What no type can
say, such as that a buffer is within the memory, is checked afterwards. Readers rely on both.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar

import msgspec
import numpy as np
from msgspec import Meta, Struct

from rfview.engine.info import LARGEST, MOST, Dtype, Run, RunInfo, Sizes
from rfview.engine.stalls import NOT_WAITING
from rfview.sessions.codec import limits
from rfview.sessions.layout import Layout

if TYPE_CHECKING:
    from rfview.engine.simulator import Simulator

Record = TypeVar("Record")
Cycle: TypeAlias = Annotated[int, Meta(ge=0, le=1 << 62)]
Crc: TypeAlias = Annotated[int, Meta(ge=0, lt=1 << 32)]


class HeadBody(Struct):
    """The body of a recording's header; header.py checks the dtypes, `run_info` the info."""

    sm_dtype: Any
    rf_dtype: Any
    info: Any
    first: Cycle
    chunk_cycles: Annotated[int, Meta(ge=1, le=limits.MAX_CYCLES)]


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


class RecipeRun(Run, frozen=True, kw_only=True):
    """What a recipe says of its run."""

    max_cycles: Annotated[int, Meta(ge=1, le=1 << 62)]


Array: TypeAlias = tuple[Dtype, Sizes, bytes]
Arrays: TypeAlias = Annotated[list[tuple[str, Array]], Meta(max_length=MOST)]
Tolerance: TypeAlias = Annotated[float, Meta(ge=0, le=LARGEST)]


class RecipeBody(Struct):
    """A recipe's contents; `sessions/timeline/recipe.py` describes them."""

    info: RecipeRun
    buffers: Arrays
    symbols: Arrays
    expect: Annotated[list[tuple[str, Array, Tolerance, Tolerance, str]], Meta(max_length=MOST)]
    cycles: Cycle
    finished: bool
    fault: str | None
    sums: Annotated[list[tuple[Cycle, Crc, Crc, Crc]], Meta(max_length=4096)]
    summary: dict[str, Any] | None = None


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
    for variable in info.variables:
        if variable.word + -(-variable.bytes // 4) > words:
            raise ValueError(f"{variable.name} is outside the {words} words of memory that the file holds")
        if math.prod(variable.shape) * np.dtype(variable.dtype).itemsize > variable.bytes:
            raise ValueError(f"{variable.name} has {variable.bytes:,} bytes, fewer than its type and shape need")
    return info


def recipe_body(stored: Any) -> RecipeBody:
    """Return a recipe's body; raises ValueError unless it is valid."""
    body = typed(stored, RecipeBody, "its contents")
    for part, arrays in (("buffers", body.buffers), ("symbols", body.symbols), ("expect", body.expect)):
        for name, stored_array, *_ in arrays:
            array_of(stored_array, f"{part}.{name}")
    cycles = [entry[0] for entry in body.sums]
    if cycles != sorted(set(cycles)) or cycles and cycles[-1] > body.cycles:
        raise ValueError(f"its contents: sums: expected ascending cycles up to {body.cycles:,}")
    return body


def array_of(stored: Array, what: str) -> np.ndarray:
    """Return a stored array, in native byte order; raises ValueError if its bytes are not those of its type and shape."""
    name, shape, data = stored
    dtype = np.dtype(name)
    expected = limits.allow(math.prod(shape) * dtype.itemsize, limits.ARRAYS, what)
    if expected != len(data):
        raise ValueError(f"{what}: has {len(data):,} bytes, but its type and shape need {expected:,}")
    return np.frombuffer(data, dtype).reshape(shape).astype(dtype.newbyteorder("="))
