"""What a recording or a recipe says of its run: typed records, checked once when the file is opened.

The records are maps whose values have the types below; msgspec checks them, and drops names that are not here. What no
type can say, such as that a buffer is within the memory, is checked afterwards. Readers rely on both.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, NotRequired, TypeAlias, TypedDict, TypeVar

import msgspec
import numpy as np
from msgspec import Meta

from rfview.sessions.codec import limits
from rfview.sessions.layout import Layout

Record = TypeVar("Record")

MOST = 1 << 20      # entries of a list; programs have the longest
LARGEST = 1.7976931348623157e308

Small: TypeAlias = Annotated[int, Meta(ge=0, le=255)]
Count: TypeAlias = Annotated[int, Meta(ge=0, le=1 << 31)]
Large: TypeAlias = Annotated[int, Meta(ge=0)]
Cycle: TypeAlias = Annotated[int, Meta(ge=0, le=1 << 62)]
Crc: TypeAlias = Annotated[int, Meta(ge=0, lt=1 << 32)]
Number: TypeAlias = Annotated[float, Meta(ge=-LARGEST, le=LARGEST)]
Extent: TypeAlias = Annotated[list[Annotated[int, Meta(ge=0, lt=1 << 31)]], Meta(min_length=3, max_length=3)]
Sizes: TypeAlias = Annotated[list[Large], Meta(max_length=32)]
# a name that is looked up among known ones, or becomes part of a file's name; not that of a kernel or symbol
Word: TypeAlias = Annotated[str, Meta(min_length=1, max_length=256)]
DesignName: TypeAlias = Annotated[str, Meta(pattern=r"\A[a-z][a-z0-9_]*\Z", max_length=64)]
# of a number in memory, as NumPy writes it
Dtype: TypeAlias = Annotated[str, Meta(pattern=r"\A(\|[ui]1|<[ui][248]|<f[248])\Z")]
# of a parameter; a list for what was read from a file
Value: TypeAlias = str | bool | int | Number | Annotated[list[Count], Meta(max_length=1 << 16)]
Values: TypeAlias = Annotated[dict[Word, Value], Meta(max_length=4096)]
Texts: TypeAlias = Annotated[list["Text"], Meta(max_length=4096)]
Names: TypeAlias = Annotated[list[str], Meta(max_length=MOST)]


class Text(TypedDict):
    """A file's name and its text."""

    path: str
    text: str


class DesignFile(TypedDict):
    """A user's design file: its name, a hash of its code, and its text, which is never executed."""

    file: Word
    code: str
    text: NotRequired[str]


class DesignSpec(TypedDict):
    """The designs of a run, outermost first, and their parameters; files: of those that are not bundled."""

    chain: Annotated[list[DesignName], Meta(min_length=1, max_length=2)]
    values: Values
    locates: NotRequired[bool]
    files: NotRequired[dict[DesignName, DesignFile]]


class Run(TypedDict):
    """What it takes to simulate a run again, in both kinds of file."""

    kernel: str
    name: Annotated[str, Meta(min_length=1, max_length=4096)]
    launch_toml: str
    ptx: Annotated[list[Text], Meta(min_length=1, max_length=16)]
    sources: Texts
    design: str
    design_spec: DesignSpec
    scheduler: Word
    preset: Word
    parameters: Values
    seed: int
    engine_version: str
    source_hash: str


class Variable(TypedDict):
    """A buffer or symbol in memory; word: its first one."""

    name: str
    address: Large
    word: Count
    bytes: Large
    dtype: Dtype
    shape: Sizes


class Instruction(TypedDict):
    """An instruction of the program."""

    pc: Count
    kernel: str
    line: Count
    text: str
    mnemonic: str
    op: str
    unit: str
    latency_class: str
    wait_class: Small
    dst: Annotated[list[Small], Meta(max_length=64)]
    src: Annotated[list[Small], Meta(max_length=64)]


class StallRow(TypedDict):
    """A row of the table of warp states."""

    code: Annotated[int, Meta(ge=0, le=63)]
    name: str
    short: str
    glyph: str
    ascii: str
    family: str
    sentence: str


class Launch(TypedDict):
    """A launch as it was placed."""

    kernel: str
    grid: Extent
    block: Extent
    registers: Small
    entry_pc: Count
    resident_ctas: Small
    shared_bytes: Count


Place: TypeAlias = Annotated[int, Meta(ge=-(1 << 31), le=1 << 31)]


class RunInfo(Run):
    """What a recording says of its run: Simulator.info."""

    kernels: Annotated[list[str], Meta(min_length=1, max_length=MOST)]
    num_launches: Count
    launches: Annotated[list[Launch], Meta(min_length=1, max_length=MOST)]
    design_title: NotRequired[str]
    design_source: NotRequired[str]
    compile_notes: NotRequired[Names]
    setting_notes: NotRequired[Names]
    spilled_words: NotRequired[Count]
    register_limit: NotRequired[Count]
    num_warps: Annotated[int, Meta(ge=1, le=64)]
    num_banks: Annotated[int, Meta(ge=1, le=64)]
    num_schedulers: Annotated[int, Meta(ge=1, le=8)]
    clock_mhz: NotRequired[Number]
    registers_per_thread: Small
    main_rows: NotRequired[Count]
    recorded_rows: NotRequired[Count]
    arena_words: NotRequired[Count]
    shared_words: NotRequired[Count]
    global_word: NotRequired[Count]
    local_word: NotRequired[Count]
    param_word: NotRequired[Count]
    stalls: Annotated[list[StallRow], Meta(min_length=1, max_length=64)]
    events: Names
    design_events: NotRequired[Names]
    activities: NotRequired[Annotated[list[str], Meta(max_length=8)]]
    panels: NotRequired[Annotated[list[dict[str, Any]], Meta(max_length=64)]]
    energy_pj: NotRequired[dict[str, Annotated[list[Any], Meta(min_length=2, max_length=2)]]]
    technology: NotRequired[dict[str, Annotated[list[Any], Meta(min_length=1, max_length=8)]]]
    program: Annotated[list[Instruction], Meta(min_length=1, max_length=MOST)]
    # per kernel: name, first and last pc at which it is live, register, number of registers
    virtual: NotRequired[dict[str, Annotated[list[tuple[str, Place, Place, Place, Place]], Meta(max_length=MOST)]]]
    buffers: Annotated[list[Variable], Meta(max_length=MOST)]
    symbols: Annotated[list[Variable], Meta(max_length=MOST)]


class HeadBody(TypedDict):
    """The body of a recording's header; header.py checks the dtypes, `run_info` the info."""

    sm_dtype: Any
    rf_dtype: Any
    info: Any
    first: Cycle
    chunk_cycles: Annotated[int, Meta(ge=1, le=limits.MAX_CYCLES)]


class End(TypedDict, total=False):
    """How a run ended; empty in a recording whose end is missing."""

    finished: bool | None
    fault: str | None
    summary: dict[str, Any] | None


class RecipeRun(Run):
    """What a recipe says of its run."""

    max_cycles: Annotated[int, Meta(ge=1, le=1 << 62)]


Array: TypeAlias = tuple[Dtype, Sizes, bytes]
Arrays: TypeAlias = Annotated[list[tuple[str, Array]], Meta(max_length=MOST)]
Tolerance: TypeAlias = Annotated[float, Meta(ge=0, le=LARGEST)]


class RecipeBody(TypedDict):
    """A recipe's contents; `sessions/timeline/recipe.py` describes them."""

    info: RecipeRun
    buffers: Arrays
    symbols: Arrays
    expect: Annotated[list[tuple[str, Array, Tolerance, Tolerance, str]], Meta(max_length=MOST)]
    cycles: Cycle
    finished: bool
    fault: str | None
    summary: NotRequired[dict[str, Any] | None]
    sums: Annotated[list[tuple[Cycle, Crc, Crc, Crc]], Meta(max_length=4096)]


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
    for name, count, field in (("num_warps", info["num_warps"], "sm.warp[*].state"),
                               ("num_banks", info["num_banks"], "sm.bank[*].queue")):
        there = layout.field(field).shape[0]
        if count > there:
            raise ValueError(f"its run has {name} {count}, but its states hold {there}")
    if len(info["events"]) + len(info.get("design_events", ())) > layout.field("sm.events[*]").shape[0]:
        raise ValueError("its run has more events than its states count")
    if info.get("recorded_rows", rows) > rows:
        raise ValueError(f"its run has {info['recorded_rows']} recorded rows, but the file holds {rows}")
    for variable in (*info["buffers"], *info["symbols"]):
        if variable["word"] + -(-variable["bytes"] // 4) > words:
            raise ValueError(f"{variable['name']} is outside the {words} words of memory that the file holds")
        if math.prod(variable["shape"]) * np.dtype(variable["dtype"]).itemsize > variable["bytes"]:
            raise ValueError(f"{variable['name']} has {variable['bytes']:,} bytes, fewer than its type and shape need")
    return info


def recipe_body(stored: Any) -> RecipeBody:
    """Return a recipe's body; raises ValueError unless it is valid."""
    body = typed(stored, RecipeBody, "its contents")
    for part in ("buffers", "symbols", "expect"):
        for entry in body[part]:        # type: ignore[literal-required]
            array_of(entry[1], f"{part}.{entry[0]}")
    cycles = [entry[0] for entry in body["sums"]]
    if cycles != sorted(set(cycles)) or cycles and cycles[-1] > body["cycles"]:
        raise ValueError(f"its contents: sums: expected ascending cycles up to {body['cycles']:,}")
    return body


def array_of(stored: Array, what: str) -> np.ndarray:
    """Return a stored array, in native byte order; raises ValueError if its bytes are not those of its type and shape."""
    name, shape, data = stored
    dtype = np.dtype(name)
    expected = limits.allow(math.prod(shape) * dtype.itemsize, limits.ARRAYS, what)
    if expected != len(data):
        raise ValueError(f"{what}: has {len(data):,} bytes, but its type and shape need {expected:,}")
    return np.frombuffer(data, dtype).reshape(shape).astype(dtype.newbyteorder("="))
