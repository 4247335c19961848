"""What a run or a recording says of itself: typed records, the same for live runs and those read from a file.

A simulator makes them (describe/); those of a file are checked when it is opened, by the types and bounds here.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, TypeAlias

from msgspec import Meta, Struct

from rfview.engine.events import FIRST_DESIGN_EVENT
from rfview.engine.stalls import Stall

MOST = 1 << 20      # entries of a list; programs have the longest
TARGET = re.compile(r"^\.target (sm_\d+)", re.MULTILINE)
UNIFORM_ROWS = 8    # rows of a warp's uniform registers, 32 in each
LARGEST = 1.7976931348623157e308

Small: TypeAlias = Annotated[int, Meta(ge=0, le=255)]
Count: TypeAlias = Annotated[int, Meta(ge=0, le=1 << 31)]
Large: TypeAlias = Annotated[int, Meta(ge=0)]
Number: TypeAlias = Annotated[float, Meta(ge=-LARGEST, le=LARGEST)]
Extent: TypeAlias = Annotated[list[Annotated[int, Meta(ge=0, lt=1 << 31)]], Meta(min_length=3, max_length=3)]
Sizes: TypeAlias = Annotated[list[Large], Meta(max_length=32)]
Registers: TypeAlias = Annotated[list[Small], Meta(max_length=64)]
# a name that is looked up among known ones, or becomes part of a file's name; not that of a kernel or symbol
Word: TypeAlias = Annotated[str, Meta(min_length=1, max_length=256)]
DesignName: TypeAlias = Annotated[str, Meta(pattern=r"\A[a-z][a-z0-9_]*\Z", max_length=64)]
# of a number in memory, as NumPy writes it
Dtype: TypeAlias = Annotated[str, Meta(pattern=r"\A(\|[ui]1|<[ui][248]|<f[248])\Z")]
# of a parameter; a list for what was read from a file
Value: TypeAlias = str | bool | int | Number | Annotated[list[Count], Meta(max_length=1 << 16)]
Values: TypeAlias = Annotated[dict[Word, Value], Meta(max_length=4096)]
Names: TypeAlias = Annotated[list[str], Meta(max_length=MOST)]
Place: TypeAlias = Annotated[int, Meta(ge=-(1 << 31), le=1 << 31)]
# a PTX register while it is live: name, first and last pc, first register, number of registers
Range: TypeAlias = tuple[str, Place, Place, Place, Place]


class Record(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What all records have in common."""


class Text(Record, frozen=True, kw_only=True):
    """A file's name and its text."""

    path: str
    text: str


class DesignFile(Record, frozen=True, kw_only=True):
    """A user's design file: its name, a hash of its code, and its text, which is never executed."""

    file: Word
    code: str
    text: str


class DesignSpec(Record, frozen=True, kw_only=True):
    """The designs of a run, outermost first, and their parameters.

    locates: whether a register's newest value may be outside its main row. files: of the designs that are not bundled.
    """

    chain: Annotated[list[DesignName], Meta(min_length=1, max_length=2)]
    values: Values
    locates: bool
    files: dict[DesignName, DesignFile] = {}


class Run(Record, frozen=True, kw_only=True):
    """What it takes to simulate a run again."""

    kernel: str
    name: Annotated[str, Meta(min_length=1, max_length=4096)]
    launch_toml: str
    ptx: Annotated[list[Text], Meta(min_length=1, max_length=16)]
    sources: Annotated[list[Text], Meta(max_length=4096)]
    design: str
    design_spec: DesignSpec
    scheduler: Word
    preset: Word
    parameters: Values
    seed: int
    engine_version: str
    source_hash: str

    def number(self, name: str, default: int = 0) -> int:
        """Return a parameter of the run that is a whole number."""
        value = self.parameters.get(name, default)
        return int(value) if isinstance(value, (int, float)) else default


class Variable(Record, frozen=True, kw_only=True):
    """A buffer or symbol in memory; word: its first one."""

    name: str
    address: Large
    word: Count
    bytes: Large
    dtype: Dtype
    shape: Sizes

    @property
    def count(self) -> int:
        """Return the number of elements."""
        return self.bytes // int(self.dtype[2:])


class Instruction(Record, frozen=True, kw_only=True):
    """An instruction of the program."""

    pc: Count
    kernel: str
    line: Count
    text: str
    mnemonic: str
    op: str
    unit: str
    space: str
    latency_class: str
    wait_class: Small
    dst: Registers
    src: Registers
    # of machine code only
    control: Count | None = None        # its control code, as in machine_code.py
    uniform_dst: Registers = []
    uniform_src: Registers = []
    predicate_dst: Registers = []       # P0 to P6, then UP0 to UP6 from UNIFORM_PREDICATES on
    predicate_src: Registers = []
    places: list[Small] = []            # of operands 0, 1 and 2 in the encoding, if they may come from the reuse cache

    @property
    def where(self) -> str:
        """Return its line in words: of the PTX, or of the listing."""
        return f"{'PTX' if self.control is None else 'listing'} line {self.line}"


class Launch(Record, frozen=True, kw_only=True):
    """A launch as it was placed."""

    kernel: str
    grid: Extent
    block: Extent
    registers: Small
    entry_pc: Count
    resident_ctas: Small
    shared_bytes: Count

    @property
    def warps_per_cta(self) -> int:
        """Return how many warps a CTA has."""
        x, y, z = self.block
        return -(-x * y * z // 32)


class RunInfo(Run, frozen=True, kw_only=True):
    """The constants of a run that views, recordings and summaries need."""

    kernels: Annotated[list[str], Meta(min_length=1, max_length=MOST)]
    num_launches: Count
    launches: Annotated[list[Launch], Meta(min_length=1, max_length=MOST)]
    design_title: str
    design_source: str
    compile_notes: Names
    setting_notes: Names = []           # these three and activities: not in the first recordings of layout 4
    spilled_words: Count = 0
    register_limit: Count | None = None
    num_warps: Annotated[int, Meta(ge=1, le=64)]
    num_banks: Annotated[int, Meta(ge=1, le=64)]
    num_schedulers: Annotated[int, Meta(ge=1, le=8)]
    clock_mhz: Count
    registers_per_thread: Small
    main_rows: Count
    recorded_rows: Count
    # of machine code: the row of warp 0's UR0 to UR31, seven more follow; and the rows from one warp to the next
    uniform_rows: tuple[Count, Count] | None = None
    arena_words: Count
    shared_words: Count
    global_word: Count
    local_word: Count
    param_word: Count
    stalls: Annotated[list[Stall], Meta(min_length=1, max_length=64)]
    events: Names
    design_events: Names
    activities: Annotated[list[str], Meta(max_length=8)] = []
    panels: Annotated[list[dict[str, Any]], Meta(max_length=64)]
    energy_pj: dict[str, tuple[Number, str]]
    technology: dict[str, tuple[Number, str, str]]
    program: Annotated[list[Instruction], Meta(min_length=1, max_length=MOST)]
    virtual: dict[str, Annotated[list[Range], Meta(max_length=MOST)]]
    buffers: Annotated[list[Variable], Meta(max_length=MOST)]
    symbols: Annotated[list[Variable], Meta(max_length=MOST)]

    @property
    def is_machine_code(self) -> bool:
        """Return whether the program is machine code, which runs on a sub-core."""
        return bool(self.program) and self.program[0].control is not None

    @property
    def line_unit(self) -> str:
        """Return what the lines of its instructions are: "PTX line", or of machine code "listing line"."""
        return "listing line" if self.is_machine_code else "PTX line"

    @property
    def isa(self) -> str:
        """Return what was executed: "ptx", or the target of machine code, as "sm_80"."""
        target = TARGET.search(self.ptx[0].text) if self.is_machine_code and self.ptx else None
        return target[1] if target else "ptx"

    @property
    def uniform_registers(self) -> list[int]:
        """Return the uniform registers that the program names, if the run has kept them."""
        named = {reg for entry in self.program for reg in (*entry.uniform_dst, *entry.uniform_src)}
        return sorted(reg for reg in named if reg < 32 * UNIFORM_ROWS) if self.uniform_rows else []

    @property
    def stall_names(self) -> dict[int, str]:
        """Return the name of each state's code; those of a design's own reasons come after a gap."""
        return {stall.code: stall.name for stall in self.stalls}

    @property
    def stall_codes(self) -> dict[str, int]:
        """Return the code of each state's name in this run; other runs may have other codes."""
        return {stall.name: stall.code for stall in self.stalls}

    @property
    def event_names(self) -> dict[int, str]:
        """Return the name of each counter in sm.events: the machine's own, then the design's."""
        return {**dict(enumerate(self.events)), **dict(enumerate(self.design_events, FIRST_DESIGN_EVENT))}

    @property
    def variables(self) -> list[Variable]:
        """Return the buffers and symbols."""
        return [*self.buffers, *self.symbols]

    def instruction(self, pc: int) -> Instruction | None:
        """Return the program's entry at a pc, None outside the program."""
        return self.program[pc] if 0 <= pc < len(self.program) else None
