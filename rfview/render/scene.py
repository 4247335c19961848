"""What one frame is drawn from: a machine state, the state it is compared with, and the facts around them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from rfview.engine.errors import InputError
from rfview.engine.snapshot import Snapshot
from rfview.engine.stalls import STALLS
from rfview.actions import BY_NAME, first_label
from rfview.sessions.why import producers
from rfview.sessions.lines.counts import Counts
from rfview.sessions.lines.table import LineTable
from rfview.sessions.reports.pipeline import Life
from rfview.sessions.why.past import Past

RATE_WINDOW = 1024     # cycles over which IPC and the shares of STALLS are taken
KNOWN = {stall.code: stall for stall in STALLS}
_FIXED_BANKS: dict[str, dict[tuple[int, int, int], int]] = {}     # machine -> (base, warp, register) -> bank: asked once


@dataclass(frozen=True)
class Look:
    """How one warp state is shown: its names, its glyph, and the role of its colour (palette.STATES)."""

    code: int
    name: str
    short: str
    glyph: str
    family: str
    role: str
    sentence: str

    @property
    def is_register_file(self) -> bool:
        """Say whether the design's own physics is the reason."""
        return self.family == "register_file"


def looks(info: dict[str, Any]) -> dict[int, Look]:
    """Return code -> Look, from the session's own table where it has one (foreign designs bring their states along)."""
    table: dict[int, Look] = {
        s.code: Look(s.code, s.name, s.short, s.glyph, s.family, s.name, s.sentence) for s in STALLS
    }
    for entry in info.get("stalls", ()):
        code = int(entry["code"])
        role = entry["name"] if code in KNOWN else entry["family"]
        table[code] = Look(code, entry["name"], entry["short"], entry["glyph"], entry["family"], role,
                           entry.get("sentence", ""))
    return table


@dataclass(frozen=True)
class Watch:
    """A watched item, in the cycle before and now, in words. kind: a register's type, "" for what is none.

    last: its mean, or where is_state its commonest code, in each stretch of the last RATE_WINDOW cycles, oldest first.
    low, high: least and greatest value there, as text.
    """

    item: str
    before: str
    now: str
    kind: str = ""
    last: tuple[float, ...] = ()
    low: str = ""
    high: str = ""
    is_state: bool = False


@dataclass(frozen=True)
class BreakView:
    """One breakpoint as the screen shows it. pc: the program counter it stands at, None for a condition.

    cycles: where in the run it stops, as far as counted; is_counted: all of the run that is known has been looked at.
    watch: of a watchpoint, what is watched.
    """

    number: int
    text: str
    pc: int | None = None
    enabled: bool = True
    once: bool = False
    hits: int = 0
    condition: str = ""
    kind: str = "pc"
    ignore: int = 0
    cycles: tuple[int, ...] = ()
    is_counted: bool = True
    watch: Watch | None = None


@dataclass(frozen=True)
class Badge:
    """Where in time: kind live | past | playing | busy | fault, and the words on it (8 to 14 cells)."""

    kind: str = "past"
    text: str = "◄ PAST"


@dataclass(frozen=True)
class Overview:
    """The whole run in `len(rate)` columns: instructions per cycle, the commonest blocking state's code (-1: none), and
    the share of warp-cycles lost to the register file, 0..1, of the warps that were there to be held up."""

    edges: tuple[int, ...] = ()
    rate: tuple[float, ...] = ()
    state: tuple[int, ...] = ()
    lost: tuple[float, ...] = ()


@dataclass(frozen=True)
class Brush:
    """A stretch of the run that is looked at as a whole. text: its statistics. is_open: its end goes with the cursor."""

    first: int
    last: int
    text: str
    is_open: bool


@dataclass(frozen=True)
class Track:
    """One quantity under the timeline: name, value at the cursor as text, a share 0..1 per column (nan: none)."""

    name: str
    now: str
    shares: tuple[float, ...]


@dataclass(frozen=True)
class Span:
    """The stretch of time that TIMELINE shows: column i is cycles start + i * per ... + per - 1.

    codes: (columns, warps) u1, the commonest state of each warp, NOTHING where nothing has run. issued: (columns, warps)
    f4, the share of the cycles in which it issued.
    """

    start: int
    per: int
    codes: np.ndarray
    issued: np.ndarray
    tracks: tuple[Track, ...] = ()

    NOTHING = 255

    def column(self, cycle: int) -> int:
        """Return the column of a cycle; may lie outside."""
        return (cycle - self.start) // self.per


@dataclass(frozen=True)
class Pipes:
    """The stretch of time that PIPELINE shows: column i is cycles start + i * per ... + per - 1, of one warp slot.

    first: the cycle of the first cell of each row; no earlier than the run begins.
    """

    start: int
    per: int
    columns: int
    first: int
    warp: int
    rows: tuple[Life, ...]

    def column(self, cycle: int) -> int:
        """Return the column of a cycle; may lie outside."""
        return (cycle - self.start) // self.per


def plain_record(record: Any) -> Any:
    """Return a record whose fields are read without the record array's detours, which cost 20 times as much."""
    return np.asarray(record).view(np.dtype((np.void, record.dtype)))[()]


class Machine:
    """One snapshot as plain Python values, read from the arrays at most once each."""

    def __init__(self, snapshot: Snapshot):
        self.snapshot = snapshot
        self.sm = plain_record(snapshot.sm)
        self.info = snapshot.info
        self.cycle = int(snapshot.cycle)
        settings = self.sm["config"]
        self.config: dict[str, Any] = dict(zip(settings.dtype.names, settings.tolist(), strict=True))
        self.num_warps = int(self.info.get("num_warps") or self.config["num_warps"])
        self.num_banks = int(self.info.get("num_banks") or self.config["num_banks"])
        self.num_schedulers = int(self.info.get("num_schedulers") or self.config["num_schedulers"] or 1)

    def _warp(self, name: str) -> list[Any]:
        return self.sm["warp"][name][: self.num_warps].tolist()

    @cached_property
    def state(self) -> list[int]:
        """Stall code of each warp slot: what it did in the cycle before."""
        return self._warp("state")

    @cached_property
    def since(self) -> list[int]:
        """First cycle of each warp's current run of one state."""
        return self._warp("state_since_cycle")

    @cached_property
    def pc(self) -> list[int]:
        """Next instruction of each warp."""
        return self._warp("pc")

    @cached_property
    def last_pc(self) -> list[int]:
        """Last issued instruction of each warp."""
        return self._warp("last_pc")

    @cached_property
    def mask(self) -> list[int]:
        """Active lanes of each warp's running split."""
        return self._warp("mask")

    @cached_property
    def blocker(self) -> list[int]:
        """What blocks each warp: a register, unit, barrier id ... by `blocker_kind`."""
        return self._warp("blocker")

    @cached_property
    def blocker_kind(self) -> list[int]:
        """BLOCK_* of each warp."""
        return self._warp("blocker_kind")

    @cached_property
    def reg_base(self) -> list[int]:
        """Physical slot of register 0 of each warp."""
        return self._warp("reg_base")

    @cached_property
    def cta(self) -> list[int]:
        """CTA slot of each warp, NONE8 when empty."""
        return self._warp("cta")

    @cached_property
    def losers(self) -> list[int]:
        """Bit per stall code: what else would have blocked each warp."""
        return self._warp("losers")

    @cached_property
    def writers(self) -> dict[tuple[int, int], int]:
        """The in-flight entry that will write each (warp, register)."""
        return producers.writers(self.inflight, self.info.get("program", ()))

    def awaited(self, warp: int) -> int | None:
        """Return the in-flight entry that holds the register or predicate a warp waits for, None when there is none."""
        return producers.awaited(self.sm, self.info.get("program", ()), warp, self.writers)

    @cached_property
    def sb_write(self) -> list[int]:
        """Registers with a pending write, a bit each, per warp."""
        return self._warp("sb_write")

    @cached_property
    def count(self) -> list[int]:
        """Warp slots per state in the last cycle."""
        return self.sm["state_count"].tolist()

    @cached_property
    def inflight(self) -> np.ndarray:
        """The in-flight table."""
        return self.sm["inflight"]

    @cached_property
    def bank(self) -> list[dict[str, int]]:
        """One dict per bank in use."""
        banks = self.sm["bank"][: self.num_banks]
        return [dict(zip(banks.dtype.names, row, strict=True)) for row in banks.tolist()]

    @cached_property
    def pipe(self) -> list[dict[str, int]]:
        """One dict per pipe."""
        pipes = self.sm["pipe"]
        return [dict(zip(pipes.dtype.names, row, strict=True)) for row in pipes.tolist()]

    @cached_property
    def collectors(self) -> list[int | None]:
        """The in-flight entry of each collector unit, None when free."""
        units = self.sm["collector"][: self.config["num_collectors"]]
        pairs = zip(units["valid"].tolist(), units["inflight"].tolist(), strict=True)
        return [entry if valid else None for valid, entry in pairs]

    @cached_property
    def resident(self) -> int:
        """Warp slots that hold a warp, a bit each."""
        return int(self.sm["resident"])

    @cached_property
    def registers(self) -> int:
        """Registers per thread of the running launch."""
        return int(self.sm["launch"]["registers"])

    def instruction(self, pc: int) -> dict[str, Any] | None:
        """Return the program's entry at a pc, None outside the program."""
        program = self.info.get("program", ())
        return program[pc] if 0 <= pc < len(program) else None

    def place(self, warp: int, reg: int) -> tuple[int, int]:
        """Return (bank, row) of a warp's register in the main register file."""
        slot = self.reg_base[warp] + reg
        return self._bank(warp, reg), slot // self.num_banks

    def _bank(self, warp: int, reg: int) -> int:
        """Return the bank of a register: by the machine's mapping, or as a design that has a rule of its own says."""
        if not self._has_own_banks:
            slot = self.reg_base[warp] + reg
            return (slot if self.config["mapping"] == 0 else reg + warp) % self.num_banks
        key = (self.reg_base[warp], warp, reg)
        if key not in self._own_banks:
            from rfview.engine import plugin as designs, hooks

            record = designs.spec_record(self.info["design_spec"], int(self.info["main_rows"]))
            self._own_banks[key] = int(hooks.bank_of(self.snapshot.sm, self.snapshot.rf, record, warp, reg))
        return self._own_banks[key]

    @cached_property
    def _own_banks(self) -> dict[tuple[int, int, int], int]:
        """(base, warp, register) -> bank as far as asked: for good where that is fixed, else of this cycle (renaming)."""
        from rfview.engine import plugin as designs

        spec = self.info["design_spec"]
        if not set(spec["chain"]) <= set(designs.BUILT_IN):
            return {}
        return _FIXED_BANKS.setdefault(str((spec["chain"], spec["values"], self.num_banks, self.config["mapping"])), {})

    @cached_property
    def _has_own_banks(self) -> bool:
        """Say whether the design puts registers into banks by a rule of its own (hrf: by the warp's parity)."""
        from rfview.engine import plugin as designs

        try:
            found = [designs.find(name) for name in self.info.get("design_spec", {}).get("chain", ())]
        except InputError:
            return False    # a foreign design that is not installed: the machine's mapping is what can be known
        return any(hasattr(module, "bank_of") for module in found)

    @cached_property
    def warp_places(self) -> tuple[np.ndarray, np.ndarray]:
        """(resident warps, registers) i8 bank and row of every allocated register, in the order of `resident_warps`."""
        warps = np.array(self.resident_warps, np.int64)
        regs = np.arange(self.registers)
        slots = np.array(self.reg_base, np.int64)[warps][:, None] + regs if len(warps) else np.zeros((0, 0), np.int64)
        if self._has_own_banks and len(warps):
            banks = np.array([[self._bank(warp, reg) for reg in range(self.registers)] for warp in self.resident_warps])
        else:
            banks = slots if self.config["mapping"] == 0 or not len(warps) else warps[:, None] + regs
        return banks % self.num_banks, slots // self.num_banks

    @cached_property
    def resident_warps(self) -> list[int]:
        """Warp slots that hold a warp, ascending."""
        return [warp for warp in range(self.num_warps) if (self.resident >> warp) & 1]


@dataclass(frozen=True)
class Over:
    """Another run, B, laid over this one. name: design and scheduler, or what else it has otherwise. warp: by whose
    instructions both are aligned.

    lag: B's cycle less A's; None, as is machine, where B does not hold that place. slots: B's slot of the warp in each
    slot of A, -1 where it is not there. same_kind: both register files are shown by one lens.
    """

    name: str
    warp: int
    lag: int | None = None
    machine: Machine | None = None
    slots: tuple[int, ...] = ()
    same_kind: bool = True

    def slot(self, warp: int) -> int:
        """Return B's slot of the warp in a slot of A, -1 where it is not there."""
        return self.slots[warp] if warp < len(self.slots) else -1


@dataclass(frozen=True)
class View:
    """What the user looks at, and how: all that stays as it is when another scene comes.

    warp, bank, lane, reg: in focus. panel: has the keys. scroll: its rows. line: chosen in LINES, -1: the focused warp's.
    watch: chosen in WATCHES. note: about the window's size. speed: cycles per second of playback. own_keys: key -> action
    name of the user's key file.
    """

    warp: int = 0
    panel: str = "warps"
    bank: int = 0
    lane: int = 0
    reg: int = 0
    number_format: str = "auto"
    code_source: bool = False
    code_lines: bool = True
    scroll: int = 0
    line: int = -1
    watch: int = 0
    title: str = ""
    note: str = ""
    speed: int = 10
    own_keys: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Scene(View):
    """One frame's facts, and how they are looked at.

    now/before: the state shown and the one that changes are marked against (None: nothing yet). window: (n, warps) u1, the
    states up to now, the last row now. shares: (codes,) warp-cycles of the last `shares_cycles` cycles. common: state codes
    of the STALLS rows, fixed for the run. hits, marks: for the overview. problems: what does not add up at this cycle.
    power_mw: of the register file over the same cycles as `shares`, None when it is not known. span: what TIMELINE shows,
    None while it is closed.
    """

    now: Machine | None = None
    before: Machine | None = None
    info: dict[str, Any] = field(default_factory=dict)
    first: int = 0
    last: int = 0
    window: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), np.uint8))
    shares: tuple[int, ...] = ()
    shares_cycles: int = 0
    common: tuple[int, ...] = (0, 1, 2, 3, 4)
    overview: Overview = field(default_factory=Overview)
    badge: Badge = field(default_factory=Badge)
    is_live: bool = False
    is_closed: bool = True
    fault: str = ""
    breakpoints: tuple[BreakView, ...] = ()
    hits: tuple[int, ...] = ()
    marks: tuple[tuple[str, int], ...] = ()
    mark_notes: dict[str, str] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    power_mw: float | None = None
    span: Span | None = None
    message: str = ""
    message_kind: str = "info"
    lines: LineTable | None = None     # of the source, None where the PTX tells none
    costs: tuple[Counts, Counts] | None = None     # by instruction and by line, once LINES has been opened
    past: Past | None = None       # the cycles before, for the chain of WHY
    over: Over | None = None       # another run laid over this one
    pipes: Pipes | None = None     # what PIPELINE shows, None while it is closed
    brush: Brush | None = None     # a stretch that is looked at as a whole
    branch: str = ""               # the fork that is shown, "" for the run that was opened

    @cached_property
    def looks(self) -> dict[int, Look]:
        """How each state code is shown."""
        return looks(self.info)

    @property
    def cycle(self) -> int:
        """The cycle shown."""
        return self.now.cycle if self.now else self.first

    @property
    def ipc(self) -> float:
        """Warp instructions per cycle over the last RATE_WINDOW cycles."""
        return self.shares[0] / self.shares_cycles if self.shares and self.shares_cycles else 0.0

    def key(self, action: str) -> str:
        """Return the key of an action as people write it, "" when the user's key file has left it none."""
        return first_label(BY_NAME[action], self.own_keys)

    def look(self, code: int) -> Look:
        """Return how a state is shown; a code from nowhere is shown by its number."""
        known = self.looks.get(code)
        return known or Look(code, f"state {code}", f"{code}", "?", "empty", "empty", "")

    def seen_as(self, view: View) -> Scene:
        """Return the scene looked at as another one was."""
        return self.at(**{one.name: getattr(view, one.name) for one in fields(View)})

    def at(self, **changes: Any) -> Scene:
        """Return the scene with some facts replaced; the state table is kept."""
        scene = replace(self, **changes)
        if "info" not in changes and "looks" in self.__dict__:
            scene.__dict__["looks"] = self.__dict__["looks"]
        return scene
