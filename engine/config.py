"""Every number of the machine with its unit and source: TOML presets, `--set`, and the state's config record."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from rfview.engine import compilation, program, state
from rfview.engine.compilation import Latencies
from rfview.engine.defaults import PRESETS, SCHEDULER as DEFAULT_SCHEDULER, preset_names
from rfview.engine.errors import InputError
from rfview.engine.machine.schedulers import SCHEDULERS
from rfview.engine.machine.schedulers.scheduler import SHARE
from rfview.engine.program import UNITS
from rfview.engine.wording import suggest

LATENCY_CLASSES = (
    "int_add", "int_max", "int_mul", "int_mad", "int_div", "shfl", "fp_add", "fp_max", "fp_mul", "fp_mad", "fp_div",
    "dp_add", "dp_max", "dp_mul", "dp_mad", "dp_div", "sfu", "fp_div_approx", "fp_root", "dp_root",
    "other",
)
MAPPINGS = ("sequential", "gpgpusim")
INNER_POLICIES = ("greedy", "rr")
OUTER_POLICIES = ("ready", "next")     # which warp joins the active set: the next ready one, or the next one
PARITIES = ("off", "prefer", "strict")
SUSPENDS = ("pending", "marked")
LANES = ("all", "active")
CORES = ("collector", "subcore")
STORES = ("update", "evict")    # what a global store does to a line that L1 holds
ON_FAULT = ("stop", "report")    # what a bad access does: it ends the run, or is dropped and reported
HASHES = ("none", "fermi")     # from line to set: the remainder, or with higher bits folded in
MAXIMA = {
    "sm.num_warps": state.MAX_WARPS,
    "sm.max_ctas": state.MAX_CTAS,
    "sm.num_schedulers": state.MAX_SCHEDULERS,
    "sm.num_banks": state.MAX_BANKS,
    "sm.num_collectors": state.MAX_COLLECTORS,
    "sm.num_sp": 2,
    "sm.reserve_results": 1,
    "sm.result_buses": state.MAX_ACCEPTED // 4 - 1,    # of up to 4 rows each, in addition to one for memory
    "memory.mshrs": state.MAX_MSHRS,
    "memory.const_line_bytes": 128,         # L2's
    "memory.l1_enabled": 2,
    "memory.l2_warm": 1,
    "memory.keep_l2": 1,
    "memory.store_acks": 1,
    "memory.bytes_per_cycle": ((1 << 31) - 1) // 256,   # kept as 256ths
    "sm.ibuffer_entries": 255,
    "sm.bank_ports": 2,
    "kernel.max_registers": program.MAX_REGS,
    "core.credits": 5,                      # latches of operands per sub-core
    "core.read_ports": 2,
    **dict.fromkeys(("core.full_fp32", "core.hold_counters", "core.shared_double", "core.reuse_cache", "core.late_wide"), 1),
    "core.fetch_stages": 8,
    **dict.fromkeys((f"result.{name}" for name in "alu fma imad wide half double tensor uniform".split()), 48),
    **{option.setting: program.MAX_REGS for option in compilation.OPTIONS.values() if not option.choices},
}
# sets and ways of the caches, with the number of lines that the state has room for
CACHES = {"l1": state.MAX_L1_LINES, "l2": state.MAX_L2_LINES, "icache": state.MAX_ICACHE_LINES,
          "const": state.MAX_CCACHE_LINES}
FOLLOWS = "follows from"    # in the source of a number that nobody set, but that another one changes
CHOICES = {"sm.core": CORES, "sm.mapping": MAPPINGS, "scheduler.inner": INNER_POLICIES, "scheduler.outer": OUTER_POLICIES,
           "scheduler.parity": PARITIES,
           "scheduler.suspend": SUSPENDS, "memory.l1_hash": HASHES, "memory.l2_hash": HASHES,
           "memory.l1_stores": STORES, "kernel.on_fault": ON_FAULT, "energy.lanes": LANES,
           **{option.setting: option.choices for option in compilation.OPTIONS.values() if option.choices}}
# what a sub-core does not read: sections and numbers of Fermi's core, and how PTX is compiled for it
COLLECTORS_SECTIONS = ("latency", "initiation", "scheduler")
COLLECTORS_NUMBERS = frozenset(
    {"sm.max_banks_per_cycle", "sm.num_collectors", "sm.result_buses", "sm.num_sp", "sm.sp_queue", "sm.sfu_queue",
     "sm.ldst_queue", "sm.fetch_width", "sm.fetch_ports", "sm.branch_cycles", "sm.refill_cycles", "sm.reserve_results",
     "sm.mapping", "memory.shared_cycles", "memory.const_cycles", "memory.param_cycles", "memory.const_sets",
     "memory.const_ways", "memory.const_line_bytes", "memory.const_mshrs"})
SUBCORES_LAYOUT = frozenset({"sm.num_banks", "sm.bank_ports", "sm.num_schedulers"})     # fixed: two banks per sub-core
PTX_OPTIONS = {"kernel.max_registers", *(option.setting for option in compilation.OPTIONS.values())} - {"kernel.isa"}
MAY_BE_ZERO = {
    "sm.max_banks_per_cycle", "sm.branch_cycles", "memory.l1_enabled", "memory.fixed_memory_cycles", "kernel.registers",
    "memory.dram_cycles", "memory.flit_bytes", "memory.icache_sets", "memory.const_sets", "memory.l2_warm",
    "memory.keep_l2",
    "memory.store_acks", "sm.fetch_ports", "sm.refill_cycles", "sm.reserve_results", "core.full_fp32", "core.hold_counters",
    "core.shared_double", "core.branch_cycles", "core.reuse_cache", "core.fetch_stages", "core.late_wide",
    "core.constant_cycles",
    *(option.setting for option in compilation.OPTIONS.values() if not option.choices),
}


@dataclass(frozen=True)
class Number:
    """One preset value: number or word, unit, and source."""

    value: Any
    unit: str
    source: str


@dataclass(frozen=True)
class Config:
    """A preset with overrides applied; `numbers` maps "section.key" to its Number."""

    preset: str
    numbers: Mapping[str, Number]

    def __getitem__(self, name: str) -> Any:
        return self.numbers[name].value

    @property
    def core(self) -> str:
        """Return which core it has: "collector" or "subcore"."""
        number = self.numbers.get("sm.core")
        return str(number.value) if number else "collector"

    @property
    def sections(self) -> set[str]:
        """Return the sections of its numbers; all other settings belong to designs."""
        return {name.partition(".")[0] for name in self.numbers}

    def with_setting(self, name: str, text: Any) -> Config:
        """Return a copy with `name` set; raises InputError for an unknown name or a value out of range."""
        if name not in self.numbers:
            raise InputError(f"--set {name}: no such parameter of preset {self.preset}{suggest(name, self.numbers)}")
        old = self.numbers[name]
        number = replace(old, value=_convert(name, old.value, text), source="--set")
        if number.value != old.value and (fixed := self.fixed(name)):
            raise InputError(f"--set {name}: {fixed}")
        return replace(self, numbers={**self.numbers, name: number})

    def reads(self, name: str) -> bool:
        """Return whether this core reads one of its numbers: presets of sub-cores are based on Fermi's."""
        return self.core == "collector" or not (
            name in PTX_OPTIONS or name in COLLECTORS_NUMBERS or name.partition(".")[0] in COLLECTORS_SECTIONS)

    def fixed(self, name: str) -> str:
        """Return why a number cannot be changed on this core, "" if it can."""
        if name == "sm.core":
            return "the core is the preset's; take another --preset"
        if name in PTX_OPTIONS and not self.reads(name):
            return (f"it says how PTX is compiled for Fermi's core; preset {self.preset} executes machine code as ptxas "
                    "made it (for fewer registers: its -maxrregcount)")
        if not self.reads(name):
            return f"it is of Fermi's core; the sub-cores of preset {self.preset} have no such thing"
        is_fixed = self.core == "subcore" and name in SUBCORES_LAYOUT
        return f"preset {self.preset} has four sub-cores of two banks each" if is_fixed else ""

    def keeping_rows(self, changed: Config) -> Config:
        """Return `changed`, this machine with another number of banks, with the register file's size kept.

        Rows that the banks do not divide are left out, so that no bank is longer than another.
        """
        banks, rows = int(changed["sm.num_banks"]), int(self["sm.num_banks"]) * int(self["sm.rows_per_bank"])
        if rows < banks:
            raise InputError(f"--set sm.num_banks={banks}: the register file has only {rows} rows")
        old = self.numbers["sm.rows_per_bank"]
        if rows // banks == old.value:
            return changed
        rows_per_bank = replace(old, value=rows // banks, source=f"{old.value} -> {rows // banks} {FOLLOWS} sm.num_banks")
        return replace(changed, numbers={**changed.numbers, "sm.rows_per_bank": rows_per_bank})

    def notes(self) -> list[str]:
        """Return a sentence for each number that follows from another that was set, and what timing rests on."""
        model = ["timing: published model, not measured here"] if self.core == "subcore" else []
        usual, code = str(load_preset(self.preset)["kernel.isa"]), str(self["kernel.isa"])
        if model and code != compilation.PTX and not compilation.executes(int(usual[3:]), int(code[3:])):
            model.append(f"machine code of {code} with the latencies of {usual}: where its stall counts are shorter, it "
                         "reads old values (rfview check --every-cycle names them)")
        return model + [f"{name} {number.source}" for name, number in self.numbers.items() if FOLLOWS in number.source]

    def values(self) -> dict[str, Any]:
        """Return the values by name, for info and summaries."""
        return {name: number.value for name, number in self.numbers.items()}

    def check(self) -> None:
        """Raise InputError if numbers that are each in range contradict one another."""
        for name, most in CACHES.items():
            sets, ways = self[f"memory.{name}_sets"], self[f"memory.{name}_ways"]
            if sets * ways > most:
                raise InputError(f"--set memory.{name}_sets={sets}: with memory.{name}_ways={ways} these are "
                                 f"{sets * ways:,} lines; there is room for {most:,}")
            if name in ("l1", "l2") and self[f"memory.{name}_hash"] == "fermi" and sets not in (32, 64):
                raise InputError(f"--set memory.{name}_hash=fermi: it works with 32 or 64 sets, but "
                                 f"memory.{name}_sets is {sets}")

    def compilation(self) -> compilation.Compilation:
        """Return how PTX is compiled for this machine; latencies are only given to scheduling."""
        schedule = self["kernel.schedule"] == "on"
        return compilation.Compilation(
            max_registers=int(self["kernel.max_registers"]), schedule=schedule,
            latencies=self._latencies() if schedule else Latencies(),
            registers=int(self["kernel.aim_registers"]), addresses_32=self["kernel.addresses"] == "32",
            banks=int(self["sm.num_banks"]) if self["kernel.numbering"] == "banks" else 0, isa=self["kernel.isa"],
            takes_older=self["kernel.isa"] != compilation.PTX and self.numbers["kernel.isa"].source != "--set")

    def _latencies(self) -> Latencies:
        """Return after how many cycles results are there, as far as a compiler knows."""
        classes = [int(self[f"latency.{name}"]) for name in LATENCY_CLASSES]
        missed = int(self["memory.l2_hit_cycles"]) + int(self["memory.dram_cycles"])
        return Latencies(
            (*classes, *[1] * (program.NUM_LATENCY_CLASSES - len(classes))), int(self["memory.shared_cycles"]),
            int(self["memory.const_cycles"]), int(self["memory.param_cycles"]),
            int(self["memory.fixed_memory_cycles"]) or missed)

    def fill(self, record: Any, scheduler: str) -> None:
        """Write the numbers in use into the state's config record."""
        get = self.numbers
        for name in state.CONFIG.names or ():
            for section in ("sm", "memory"):
                if f"{section}.{name}" in get and not isinstance(get[f"{section}.{name}"].value, str):
                    setattr(record, name, int(get[f"{section}.{name}"].value))
        record.bytes_per_cycle_x256 = round(float(self["memory.bytes_per_cycle"]) * 256)
        record.mapping = MAPPINGS.index(self["sm.mapping"])
        record.l1_hash = HASHES.index(self["memory.l1_hash"])
        record.l1_stores = STORES.index(self["memory.l1_stores"])
        record.l2_hash = HASHES.index(self["memory.l2_hash"])
        policy = SCHEDULERS[DEFAULT_SCHEDULER if self.core == "subcore" else scheduler]     # a sub-core has its own
        record.active_places = policy.places(int(self["scheduler.active_set"]), int(self["sm.num_schedulers"]))
        record.inner_policy = INNER_POLICIES.index(self["scheduler.inner"])
        record.outer_policy = OUTER_POLICIES.index(self["scheduler.outer"]) if policy.active == SHARE else 0
        record.parity = PARITIES.index(self["scheduler.parity"]) if policy.alternates else 0
        record.suspend = SUSPENDS.index(self["scheduler.suspend"])
        for unit, name in enumerate(UNITS[:program.UNIT_CTRL]):
            record.queue_entries[unit] = int(self[f"sm.{name.lower()}_queue"])
        for index, name in enumerate(LATENCY_CLASSES):
            record.latency_cycles[index] = int(self[f"latency.{name}"])
            record.initiation_cycles[index] = int(self[f"initiation.{name}"])


def _convert(name: str, old: Any, text: Any) -> Any:
    """Turn a setting's text into a value of the type of `old`, checked against its range."""
    given = str(text) if len(str(text)) <= 60 else f"{str(text)[:60]}..."      # it may come from a file
    if name in CHOICES:
        if str(text) not in CHOICES[name]:
            raise InputError(f"--set {name}={given}: expected one of {', '.join(CHOICES[name])}")
        return str(text)
    word = {"true": 1, "on": 1, "false": 0, "off": 0}.get(str(text).lower())
    try:
        value: int | float = word if word is not None else float(text) if isinstance(old, float) else int(str(text), 0)
    except (TypeError, ValueError):     # TypeError: a list
        kind = "a number" if isinstance(old, float) else "a whole number"
        raise InputError(f"--set {name}={given}: expected {kind}, for example {name}={old}") from None
    low = 0 if name in MAY_BE_ZERO else 1
    high = MAXIMA.get(name, 1 << 30)
    if not low <= value <= high:
        raise InputError(f"--set {name}={given}: expected {low}..{high}")
    return value


@lru_cache
def load_preset(name: str) -> Config:
    """Read a preset by name, over the one that it is `based_on`; raises InputError, which lists all presets."""
    path = PRESETS / f"{name}.toml"
    if name not in preset_names():
        raise InputError(f"--preset {name}: no such preset; there are {', '.join(preset_names())}")
    sections = tomllib.loads(path.read_text(encoding="utf-8"))
    base = sections.pop("based_on", None)
    numbers: dict[str, Number] = dict(load_preset(base).numbers) if base else {}
    is_of_core = "core" in sections.get("sm", {})       # such a preset adds its core's own numbers
    for section, entries in sections.items():
        for key, (value, unit, source) in entries.items():
            assert not base or is_of_core or f"{section}.{key}" in numbers, f"{name}: {base} has no {section}.{key}"
            numbers[f"{section}.{key}"] = Number(value, unit, source)
    for option in compilation.OPTIONS.values():     # the same in every preset: they are not part of a machine
        numbers.setdefault(option.setting, Number(option.usual, option.unit, f"option: {option.what}"))
    numbers["kernel.on_fault"] = Number("stop", "", "option: what a bad memory access does")
    assert len(LATENCY_CLASSES) <= program.NUM_LATENCY_CLASSES
    return Config(name, numbers)


def ptx_presets() -> list[str]:
    """Return the presets whose core runs PTX."""
    return [name for name in preset_names() if load_preset(name).core == "collector"]
