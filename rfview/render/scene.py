"""The data one frame is drawn from: a machine state, the state it is compared with, and the facts around them."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rfview.engine.info import DesignSpec, RunInfo
from rfview.keys import Keys
from rfview.palette import STATES
from rfview.sessions.machine import Machine
from rfview.sessions.lines.counts import Counts
from rfview.sessions.lines.table import LineTable
from rfview.sessions.reports.pipeline import Life
from rfview.sessions.why.past import Past

if TYPE_CHECKING:
    from rfview.sessions.summary.summarise import Summary

RATE_WINDOW = 1024     # cycles over which IPC and the shares of STALLS are measured
DEFAULT_KEYS = Keys()


@dataclass(frozen=True)
class Look:
    """How one warp state is shown: its names, its glyph, the role of its colour (palette.STATES), its meaning."""

    code: int
    name: str
    short: str
    glyph: str
    family: str
    role: str
    sentence: str
    meaning: str

    @property
    def is_register_file(self) -> bool:
        """Say whether the register file itself is the reason."""
        return self.family == "register_file"

    @property
    def accent(self) -> str:
        """The role of its glyph where states of the register file are to stand out from the others."""
        return ("st:" if self.is_register_file else "hi:") + self.role


def looks(info: RunInfo) -> dict[int, Look]:
    """Return code -> Look, from the run's own table, which includes the states of its design; {} without a run."""
    return {entry.code: Look(entry.code, entry.name, entry.short, entry.glyph, entry.family,
                             entry.name if entry.name in STATES else entry.family, entry.sentence,
                             entry.meaning or entry.sentence.rstrip("."))
            for entry in info.stalls}


@dataclass(frozen=True)
class Watch:
    """A watched item, in the previous cycle and now, as text. kind: a register's type, "" for anything else.

    last: its mean, or if is_state its most common code, in each stretch of the last RATE_WINDOW cycles, oldest first.
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
    """One breakpoint as the screen shows it. pc: the program counter it is set at, None for a condition.

    cycles: where it stops in the run, as far as counted; is_counted: the whole known run has been searched.
    watch: for a watchpoint, the watched item.
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
    """The place in time: kind live | past | playing | busy | fault, and the badge's text (8 to 14 cells)."""

    kind: str = "past"
    text: str = "◄ PAST"


@dataclass(frozen=True)
class Overview:
    """The whole run in `len(rate)` columns.

    rate: instructions per cycle. state: the code of the most common blocking state (-1: none). lost: the share of
    warp-cycles lost to the register file, 0..1, of the warps that could be held up.
    """

    edges: tuple[int, ...] = ()
    rate: tuple[float, ...] = ()
    state: tuple[int, ...] = ()
    lost: tuple[float, ...] = ()


@dataclass(frozen=True)
class Progress:
    """How far something is that is made while the worker is idle. error: why it never will be, "" as long as it may."""

    done: int
    total: int
    error: str = ""


@dataclass(frozen=True)
class Brush:
    """A selected stretch of the run. text: its statistics. is_open: its end follows the cursor."""

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

    codes: (columns, warps) u1, the most common state of each warp, NOTHING outside the run. issued: (columns, warps) f4, the
    share of the cycles in which it issued.
    """

    start: int
    per: int
    codes: np.ndarray
    issued: np.ndarray
    tracks: tuple[Track, ...] = ()

    NOTHING = 255

    def column(self, cycle: int) -> int:
        """Return the column of a cycle; it may be outside."""
        return (cycle - self.start) // self.per


@dataclass(frozen=True)
class Pipes:
    """The stretch of time that PIPELINE shows: column i is cycles start + i * per ... + per - 1, of one warp slot.

    first: the cycle of the first cell of each row; not before the start of the run.
    """

    start: int
    per: int
    columns: int
    first: int
    warp: int
    rows: tuple[Life, ...]

    def column(self, cycle: int) -> int:
        """Return the column of a cycle; it may be outside."""
        return (cycle - self.start) // self.per


@dataclass(frozen=True)
class Over:
    """Another run, B, laid over this one.

    name: design and scheduler, or what else differs. warp: the one whose instructions align both. lag: B's cycle minus
    A's; None, like machine, if B does not have that place. slots: for each slot of A, B's slot of the same warp, -1 if it
    is not there. same_kind: one lens shows both register files.
    """

    name: str
    warp: int
    lag: int | None = None
    machine: Machine | None = None
    slots: tuple[int, ...] = ()
    same_kind: bool = True

    def slot(self, warp: int) -> int:
        """Return B's slot of the warp in a slot of A, -1 if it is not there."""
        return self.slots[warp] if warp < len(self.slots) else -1


@dataclass(frozen=True)
class View:
    """What the user looks at, and how: everything that stays the same from one scene to the next.

    warp, bank, lane, reg: in focus. panel: has the focus. scroll: its rows. line: chosen in LINES, -1: the focused warp's;
    line_order: of its rows. sentence: chosen in SUMMARY. watch: chosen in WATCHES. note: about the window's size. speed:
    cycles per second of playback. keys: of the main screen's actions.
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
    line_order: str = "source"
    sentence: int = 0
    watch: int = 0
    title: str = ""
    note: str = ""
    speed: int = 10
    keys: Keys = DEFAULT_KEYS


# of a session that is still being opened
NO_RUN = RunInfo(
    kernel="", kernels=[], name="", launch_toml="", ptx=[], sources=[], design="", design_title="", design_source="",
    design_spec=DesignSpec(chain=[], values={}, locates=False), scheduler="", preset="", parameters={}, seed=0,
    engine_version="", source_hash="", num_launches=0, launches=[], compile_notes=[], setting_notes=[], spilled_words=0,
    register_limit=0, num_warps=48, num_banks=16, num_schedulers=2, clock_mhz=700, registers_per_thread=0, main_rows=0,
    recorded_rows=0, arena_words=0, shared_words=0, global_word=0, local_word=0, param_word=0, stalls=[], events=[],
    design_events=[], activities=[], panels=[], energy_pj={}, technology={}, program=[], virtual={}, buffers=[], symbols=[])


@dataclass(frozen=True)
class Scene(View):
    """The facts of one frame, with the view of them.

    now/before: the state shown, and the one against which changes are marked (None: none yet). window: (n, warps) u1, the
    states up to now, which is the last row. shares: (codes,) warp-cycles of the last `shares_cycles` cycles. common: state
    codes of the STALLS rows, fixed for the run. hits, marks: for the overview. problems: what does not add up at this cycle.
    power_mw: of the register file over the same cycles as `shares`, None if unknown; power_assumed: no source gives it.
    span: what TIMELINE shows, None while it is closed.
    """

    now: Machine | None = None
    before: Machine | None = None
    info: RunInfo = NO_RUN
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
    stored: tuple[int, int] | None = None       # the cycles that a recording stores; others are simulated again
    fault: str = ""
    breakpoints: tuple[BreakView, ...] = ()
    hits: tuple[int, ...] = ()
    marks: tuple[tuple[str, int], ...] = ()
    mark_notes: dict[str, str] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    power_mw: float | None = None
    power_assumed: bool = False
    span: Span | None = None
    message: str = ""
    message_kind: str = "info"
    lines: LineTable | None = None     # of the source, None if the PTX names none
    costs: tuple[Counts, Counts] | None = None     # by instruction and by line, once LINES has been opened
    past: Past | None = None       # earlier cycles, for the chain of WHY
    over: Over | None = None       # another run laid over this one
    summary: Summary | Progress | None = None      # None while SUMMARY is closed
    pipes: Pipes | None = None     # what PIPELINE shows, None while it is closed
    brush: Brush | None = None     # the selected stretch of the run
    branch: str = ""               # the fork that is shown, "" for the run that was opened

    @cached_property
    def looks(self) -> dict[int, Look]:
        """How each state code is shown."""
        return looks(self.info)

    @property
    def machine(self) -> Machine:
        """The state shown, for all that is only drawn or asked once there is one."""
        assert self.now is not None
        return self.now

    @property
    def cycle(self) -> int:
        """The cycle shown."""
        return self.now.cycle if self.now else self.first

    @property
    def ipc(self) -> float:
        """Warp instructions per cycle over the last RATE_WINDOW cycles."""
        issued = self.shares[self.info.stall_codes["issued"]] if self.shares else 0
        return issued / self.shares_cycles if self.shares_cycles else 0.0

    def key(self, action: str) -> str:
        """Return the key of an action as people write it, "" if the user's key file leaves it without one."""
        return self.keys.first(action)

    def look(self, code: int) -> Look:
        """Return how a state is shown; an unknown code is shown by its number."""
        known = self.looks.get(code)
        return known or Look(code, f"state {code}", f"{code}", "?", "empty", "empty", "", "")

    def seen_as(self, view: View) -> Scene:
        """Return the scene with another scene's view."""
        return self.at(**{one.name: getattr(view, one.name) for one in fields(View)})

    def at(self, **changes: Any) -> Scene:
        """Return the scene with some facts replaced; the state table is kept."""
        scene = replace(self, **changes)
        if "info" not in changes and "looks" in self.__dict__:
            scene.__dict__["looks"] = self.__dict__["looks"]
        return scene
