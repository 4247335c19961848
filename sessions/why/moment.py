"""The machine at one cycle, as `why` reads it: warps, banks, pipes and the instructions in flight."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rfview.engine import state as layout
from rfview.sessions.run_names import stall_names
from rfview.sessions.why import producers as holders

if TYPE_CHECKING:
    from rfview.sessions.why.past import Past


def plain_record(record: Any) -> Any:
    """Return a plain record, whose fields are read 20 times as fast as those of a record array."""
    return np.asarray(record).view(np.dtype((np.void, record.dtype)))[()]


class Moment:
    """The machine at the start of one cycle; `warp.state` is what each warp did in the cycle before, `ran`.

    sm, rf: the recorded state and the design's, as plain NumPy records. info: the run's constants.
    """

    def __init__(self, cycle: int, sm: Any, rf: Any, info: dict[str, Any]):
        self.cycle, self.sm, self.rf, self.info = cycle, sm, rf, info
        self.ran = cycle - 1

    @property
    def program(self) -> Sequence[Any]:
        """The run's instructions, as in its info."""
        found: Sequence[Any] = self.info.get("program", ())
        return found

    @cached_property
    def config(self) -> dict[str, Any]:
        """The machine's counts in effect, by name."""
        record = self.sm["config"]
        return dict(zip(record.dtype.names, record.tolist()))

    @cached_property
    def num_warps(self) -> int:
        """Warp slots of the machine."""
        return int(self.info.get("num_warps") or self.config["num_warps"])

    @cached_property
    def num_schedulers(self) -> int:
        """Warp schedulers of the machine."""
        return int(self.info.get("num_schedulers") or self.config["num_schedulers"] or 1)

    @cached_property
    def num_banks(self) -> int:
        """Register banks of the machine."""
        return int(self.info.get("num_banks") or self.config["num_banks"])

    @cached_property
    def states(self) -> list[int]:
        """Stall code of every warp slot in the cycle that ran."""
        return self.sm["warp"]["state"][: self.num_warps].tolist()

    @cached_property
    def names(self) -> dict[int, str]:
        """Name of each stall code, foreign ones included."""
        return stall_names(self.info)

    def owner(self, bank: int) -> str:
        """Return the access that a bank serves, as "w2 R5"; "" for none."""
        warp, reg = self.bank(bank, "owner_warp"), self.bank(bank, "owner_reg")
        if warp >= self.num_warps:
            return ""
        return f"w{warp} R{reg}" if reg < 64 else f"w{warp}"

    def name(self, code: int) -> str:
        """Return the name of a stall code."""
        return self.names.get(code, f"state {code}")

    def state(self, warp: int) -> str:
        """Return the name of what a warp did in the cycle that ran."""
        return self.name(self.states[warp])

    def warp(self, warp: int, field: str) -> int:
        """Return a field of a warp's record."""
        return int(self.sm["warp"][warp][field])

    def flight(self, entry: int) -> Flight:
        """Return an in-flight instruction."""
        return Flight(self, entry)

    def bank(self, bank: int, field: str) -> int:
        """Return a field of a bank's record."""
        return int(self.sm["bank"][bank][field])

    def pipe(self, pipe: int, field: str) -> int:
        """Return a field of a pipe's record."""
        return int(self.sm["pipe"][pipe][field])

    @cached_property
    def writers(self) -> dict[tuple[int, int], int]:
        """The in-flight entry that will write each (warp, register)."""
        return holders.writers(self.sm["inflight"], self.program)

    def writer(self, warp: int, reg: int) -> Flight | None:
        """Return the instruction that will write a register of a warp; None if none is in flight."""
        entry = self.writers.get((warp, reg))
        return None if entry is None else self.flight(entry)

    def awaited(self, warp: int) -> Flight | None:
        """Return the instruction that holds the register or predicate that a warp waits for; None if there is none."""
        entry = holders.awaited(self.sm, self.program, warp, self.writers)
        return None if entry is None else self.flight(entry)

    def scheduler_of(self, warp: int) -> int:
        """Return the scheduler of a warp."""
        return warp % self.num_schedulers

    def instruction(self, pc: int) -> dict[str, Any] | None:
        """Return the program's entry at a pc, None outside the program."""
        return self.program[pc] if 0 <= pc < len(self.program) else None

    def text(self, pc: int) -> str:
        """Return an instruction's text and source line."""
        entry = self.instruction(pc)
        return f"{entry['text']}, line {entry['line']}" if entry else ""

    def mnemonic(self, pc: int) -> str:
        """Return the operation at a pc with its state space: "ld.global", "fma"."""
        entry = self.instruction(pc)
        if entry is None:
            return "?"
        words = str(entry["text"]).split()
        parts = (words[1] if len(words) > 1 and words[0].startswith("@") else words[0]).rstrip(";").split(".")
        spaces = [part for part in parts[1:] if part in ("global", "shared", "local", "const", "param")]
        return ".".join([parts[0], *spaces[:1]])

    def in_flight(self, warp: int | None = None) -> list[Flight]:
        """Return the instructions in flight, of one warp or of all, oldest first."""
        table = self.sm["inflight"]
        held = table["stage"] != layout.FREE
        if warp is not None:
            held = held & (table["warp"] == warp)
        found = [self.flight(int(entry)) for entry in held.nonzero()[0]]
        return sorted(found, key=lambda flight: flight.seq)

    @cached_property
    def collecting(self) -> list[Flight]:
        """The instructions in operand collectors, oldest first."""
        units = self.sm["collector"][: self.config["num_collectors"]]
        found = [self.flight(int(unit["inflight"])) for unit in units if unit["valid"]]
        return sorted(found, key=lambda flight: flight.seq)

    def launch(self, field: str) -> int:
        """Return a field of the running launch."""
        return int(self.sm["launch"][field])


class Flight:
    """One instruction in flight, at one moment."""

    def __init__(self, moment: Moment, entry: int):
        self.moment, self.entry = moment, entry
        self._row = moment.sm["inflight"][entry]

    def __getattr__(self, name: str) -> int:
        """Return a field of the in-flight record."""
        return int(self._row[name])

    @property
    def name(self) -> str:
        """Return its operation."""
        return self.moment.mnemonic(self.pc)

    @property
    def text(self) -> str:
        """Return its text and line."""
        return self.moment.text(self.pc)

    @property
    def latency_class(self) -> str:
        """Return the name of its latency and initiation parameters, "int_mad"; "" if the recording does not say."""
        entry = self.moment.instruction(self.pc)
        return str(entry.get("latency_class", "")) if entry else ""

    @property
    def end_is_known(self) -> bool:
        """Say whether `done_cycle` is its end. Otherwise it is not after the issue, or FOREVER in older recordings."""
        return self.issue_cycle < self.done_cycle < layout.FOREVER

    @property
    def is_late(self) -> bool:
        """Say whether it has read all its operands, and waits in its collector for one that is still on its way."""
        return self.stage == layout.COLLECT and bool(self.code) and not self.unread

    @property
    def registers(self) -> list[int]:
        """Return the source registers that were refused in the cycle that ran or, if all are read, are late.

        If none were, return those still unread.
        """
        slots = self.refused if self.is_late else self.refused & self.unread or self.unread
        return holders.operands(self.moment.program, self.pc, slots)

    @property
    def result(self) -> int:
        """Return the first destination register that is not written yet; -1 if there is none."""
        entry = self.moment.instruction(self.pc)
        rows = [int(reg) for row, reg in enumerate(entry["dst"]) if (self.unwritten >> row) & 1] if entry else []
        return rows[0] if rows else -1

    def before(self, past: Past, cycle: int) -> Flight | None:
        """Return the same instruction at an earlier cycle; None if it was not in flight or the cycle is out of reach."""
        moment = past.at(cycle)
        if moment is None:
            return None
        other = moment.flight(self.entry)
        return other if other.seq == self.seq and other.stage != layout.FREE and other.warp == self.warp else None
