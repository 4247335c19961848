"""The claims of the register file cache paper, on its machine (preset gebhart), for compute kernels.

"All 32 warps active" is greedy-then-oldest without an active set, so that no warp ever leaves and flushes; every result is
allocated, as in section 3.1, on which Fig. 6 to 8 are (B2.13).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from rfview.engine import plugin as designs
from rfview.engine.papers import Direction, Number, figures, value
from rfview.engine.papers.lab import Each, Lab, average, count, gain, geomean, loss, mean, over, ratio, speed
from rfview.engine.papers.rfc_values import PRESET, by_category, lifetimes, values
from rfview.engine.config import load_preset

READS_PER_WRITE = 1.79            # not printed: by Tables 2 and 3 what the 58 % of section 5.4 mean, 1.69 to 1.91 as rounded
CHIP_W, DYNAMIC, SM_SHARE, SMS = 130.0, 2 / 3, 0.70, 16   # RFC section 5.5
RF_SHARE, RF_SAVED = 0.15, 0.36   # shares of SM power; savings of the register file's
WRITEBACKS = ("rfc_evictions", "rfc_flushes", "rfc_removals")
SHADERS = "no shader traces are public"
ALU_CYCLES = 8                    # RFC Table 4: from an instruction to one that needs its result (B2.8)
AROUND = 2                        # of these, the cycles outside the unit: operands collected, result written


def tables() -> ModuleType:
    """Return the design's module."""
    return designs.find("rfc")


def mrf_bytes() -> int:
    """Return the main register file's capacity in the paper's machine."""
    config = load_preset(PRESET)
    return int(config["sm.num_banks"] * config["sm.rows_per_bank"] * 128)


def ideal_saving(reads_per_write: float) -> float:
    """Return the energy saved in percent if every access hit a cache with 6 entries and 8 warps (Tables 2 and 3)."""
    rfc = tables()
    read, write = rfc.access_pj(6, 8)
    return 100 * (1 - (reads_per_write * read + write) / (reads_per_write * rfc.MRF_READ_PJ + rfc.MRF_WRITE_PJ))


def registers_per_thread(preset: str) -> Number:
    """Return registers per thread with all threads resident."""
    config = load_preset(preset)
    rows = config["sm.num_banks"] * config["sm.rows_per_bank"]
    return Number(32 * rows / config["sm.max_threads"], f"preset {preset}: {32 * rows} registers over its threads")


SM_W = CHIP_W * DYNAMIC * SM_SHARE / SMS
EXACT: dict[str, Callable[[], Number]] = {
    "rfc-size-all": lambda: Number(tables().capacity_bytes(6, 32), "6 entries x 32 warps x 32 lanes x 4 bytes"),
    "rfc-ratio-all": lambda: Number(mrf_bytes() / tables().capacity_bytes(6, 32), "preset gebhart's 128 KB over it"),
    "rfc-ratio-active": lambda: Number(mrf_bytes() / tables().capacity_bytes(6, 8), "preset gebhart's 128 KB over it"),
    "rfc-size-active": lambda: Number(tables().capacity_bytes(6, 8), "6 entries x 8 warps x 32 lanes x 4 bytes"),
    "rfc-capacity-cut": lambda: Number(tables().capacity_bytes(6, 32) / tables().capacity_bytes(6, 8), "8 of 32 warps; 5.33 "
                                       "with 6"),
    "rfc-fermi-regs": lambda: registers_per_thread("fermi"),
    "rfc-base-regs": lambda: registers_per_thread(PRESET),
    "rfc-mrf-bw": lambda: Number(32 * (3 + 1), "32 lanes, 3 operands and 1 result"),
    "rfc-w-per-sm": lambda: Number(SM_W, "section 5.5: 130 W, two thirds dynamic, 70 % of it in 16 SMs"),
    "rfc-w-chip": lambda: Number(SM_W * RF_SHARE * RF_SAVED * SMS, "15 % of SM power, 36 % of it saved"),
    "rfc-sm-share": lambda: Number(100 * RF_SHARE * RF_SAVED, "15 % x 36 %"),
    "rfc-chip-share": lambda: Number(100 * SM_SHARE * RF_SHARE * RF_SAVED, "70 % x 15 % x 36 %"),
}


def all_active(lab: Lab, options: str = "") -> dict[str, Any]:
    """Run with all warps active and every result allocated, and with more options of rfc."""
    return lab.many(f"rfc[{','.join(filter(None, ('allocate=all', options)))}]", "gto", preset=PRESET)


def two_level(lab: Lab, variant: str = "rfc", active: int = 8, **settings: Any) -> dict[str, Any]:
    """Run with a two-level scheduler."""
    changes = {"scheduler.active_set": active, **{key.replace("__", "."): value for key, value in settings.items()}}
    return lab.many(variant, "two_level", preset=PRESET, settings=changes)


def by_own_shares(bypassed: float) -> float:
    """Return the energy saved in percent by the paper's Tables 2 and 3 and the shares of accesses that it says are avoided.

    bypassed: the share of results that go past the cache to the main file.
    """
    rfc, r = tables(), READS_PER_WRITE
    read, write = rfc.access_pj(6, 8)
    hits, written = value("rfc-reads") / 100, 1 - value("rfc-writes-live") / 100
    used = r * ((1 - hits) * rfc.MRF_READ_PJ + hits * read)
    used += (1 - bypassed) * write + written * rfc.MRF_WRITE_PJ + (written - bypassed) * read
    return 100 * (1 - used / (r * rfc.MRF_READ_PJ + rfc.MRF_WRITE_PJ))


def own_shares_text(results: Mapping[str, Any]) -> str:
    """Return a sentence about by_own_shares, with the share of results that go past the cache here."""
    past = mean(over(count(results, "rfc_bypasses"), count(results, "rfc_writes", "rfc_bypasses")))
    reads, writes = value("rfc-reads"), value("rfc-writes-live")
    return (f"by Tables 2 and 3 the paper's own shares, {reads:.0f} % of reads and {writes:.0f} % of writes avoided, come "
            f"to {by_own_shares(0):.1f} % saved, or {by_own_shares(past):.1f} % if {100 * past:.1f} % of results bypass the "
            "cache, as here")


def reads_per_write(lab: Lab) -> Each:
    """Return the operands that each kernel reads per result."""
    results = two_level(lab)
    return over(count(results, "rfc_lookups"), count(results, "rfc_writes", "rfc_bypasses"))


def mix_text(lab: Lab) -> str:
    """Return a sentence about operands read per result."""
    return (f"{mean(reads_per_write(lab)):.2f} reads per write here; the paper does not print its own, which its "
            f"{value('rfc-energy-ideal'):.0f} % of section 5.4 put at {READS_PER_WRITE}")


def mix(lab: Lab) -> str:
    """Return a sentence about operands read per result, accesses that the cache avoids, and what the paper's would save."""
    results = two_level(lab)
    return (f"{mix_text(lab)}; {mean(avoided(results)[2]):.0f} % of accesses avoided; {departures(lab)}; "
            f"{own_shares_text(results)}")


def ideal(lab: Lab) -> Number:
    """Return the energy saved if every access of our kernels hit the cache."""
    each = {name: ideal_saving(one) for name, one in reads_per_write(lab).items()}
    return average(each, f"Tables 2 and 3; {mix_text(lab)}")


def few_active(lab: Lab, active: int = 8) -> str:
    """Return which kernels lose most with few active warps, and all kernels' loss if shared memory is as near as an ALU."""
    each = set_speed(lab, active)
    worst = sorted(each, key=lambda name: each[name])[:2]
    others = geomean({name: one for name, one in each.items() if name not in worst})
    near = {"memory.shared_cycles": ALU_CYCLES}
    all_near = geomean(speed(two_level(lab, "sram", 32, **near), two_level(lab, "sram", active, **near)))
    listed = " and ".join(f"{name} ({each[name]:.2f})" for name in worst)
    usual = load_preset(PRESET)["memory.shared_cycles"]
    return (f"IPC over that of 32 active is lowest in {listed}, {others:.3f} in the others; a warp that waits for shared "
            f"memory keeps its place: with {ALU_CYCLES} cycles to it in place of {usual} it is {all_near:.3f} in all")


def avoided(results: Mapping[str, Any]) -> tuple[dict[str, float], dict[str, float], dict[str, float]]:
    """Return the shares of the main file's reads, writes and accesses that the cache avoids, per kernel, in percent."""
    reads, writes, both = {}, {}, {}
    for name, result in results.items():
        counts = result["counts"]
        operands, results_ = counts["rfc_lookups"], counts["rfc_writes"] + counts["rfc_bypasses"]
        if operands and results_:
            reads[name] = 100 * (1 - counts["rf_reads"] / operands)
            writes[name] = 100 * (1 - counts["rf_writes"] / results_)
            both[name] = 100 * (1 - (counts["rf_reads"] + counts["rf_writes"]) / (operands + results_))
    return reads, writes, both


def less(first: Mapping[str, float], second: Mapping[str, float], note: str = "") -> Number:
    """Return the mean difference of two values."""
    return average({name: first[name] - second[name] for name in first}, note)


def change(lab: Lab, *events: str) -> Number:
    """Return the change of main-file events in percent if operands are allocated, too, with 8 entries."""
    before, after = (figures.per_hundred(all_active(lab, f"entries=8{more}"), ("rfc_evictions",), ("rfc_writes",))
                     for more in ("", ",read_allocate=1"))
    plain = count(all_active(lab, "entries=8"), *events)
    allocating = count(all_active(lab, "entries=8,read_allocate=1"), *events)
    each = over(allocating, plain)
    note = (f"8 entries; operands push results out: {before:.0f} evictions for 100 results become {after:.0f}; kernels that "
            "read an operand again soon gain, others lose")
    return Number(100 * (mean(each) - 1), note, {name: 100 * (one - 1) for name, one in each.items()})


def knee(lab: Lab) -> Number:
    """Return the largest number of entries that still gains 2 percentage points of accesses or more."""
    share = {entries: mean(avoided(all_active(lab, f"entries={entries}"))[2]) for entries in range(1, 9)}
    gains = {entries: share[entries] - share[entries - 1] for entries in range(2, 9)}
    last = max((entries for entries, gain in gains.items() if gain >= 2), default=1)
    return Number(last, "gain per entry in points: " + ", ".join(f"{e}: {gain:.1f}" for e, gain in gains.items()))


def normalized(lab: Lab, mrf_mm: float, rfc_mm: float, note: str = "") -> Number:
    """Return the register file's energy over that without a cache."""
    each = {name: tables().normalized_energy(r["counts"], 6, 8, mrf_mm, rfc_mm) for name, r in two_level(lab).items()}
    return average(each, note or mix(lab))


def saved(lab: Lab, mrf_mm: float, rfc_mm: float) -> Number:
    """Return the energy saved in percent."""
    number = normalized(lab, mrf_mm, rfc_mm)
    return Number(100 * (1 - number.value), number.note, {name: 100 * (1 - one) for name, one in number.each.items()})


def saved_by_size(lab: Lab) -> dict[tuple[int, int], float]:
    """Return the mean energy saved in percent with each of Table 2's sizes, entries and active warps."""
    each = {}
    for entries, active in tables().TABLE_2:
        results = two_level(lab, f"rfc[entries={entries}]", active)
        each[entries, active] = 100 * (1 - mean({
            name: tables().normalized_energy(r["counts"], entries, active) for name, r in results.items()}))
    return each


def sizes(lab: Lab) -> Number:
    """Return the mean saving over the nine sizes of Table 2."""
    each = {f"{entries}x{active}": one for (entries, active), one in saved_by_size(lab).items()}
    return average(each, "by entries x active warps; " + mix(lab))


def best_entries(lab: Lab) -> Number:
    """Return the number of entries, of Table 2's, that saves most energy on average over its numbers of active warps."""
    by_size = saved_by_size(lab)
    by_entries = {number: mean({str(active): one for (entries, active), one in by_size.items() if entries == number})
                  for number, _ in by_size}
    listed = ", ".join(f"{number}: {one:.1f}" for number, one in by_entries.items())
    ran = tuple(two_level(lab))
    best = max(by_entries, key=lambda number: by_entries[number])
    return Number(best if ran else math.nan, f"% saved by entries, over 4, 6 and 8 active warps: {listed}", kernels=ran)


def set_speed(lab: Lab, active: int, base: int = 32, **settings: Any) -> dict[str, float]:
    """Return the IPC with an active set over that with another one, on plain sram, greedy inside."""
    return speed(two_level(lab, "sram", base), two_level(lab, "sram", active, **settings))


def half_latency() -> dict[str, int]:
    """Return the settings of ALUs with half the latency."""
    numbers = load_preset(PRESET).numbers
    return {name.replace(".", "__"): ALU_CYCLES // 2 - AROUND for name, number in numbers.items()
            if name.startswith("latency.") and number.value == ALU_CYCLES - AROUND}


def alu_others(lab: Lab) -> Number:
    """Return the larger of the gains with 6 and 8 active warps over that with 4, of ALUs with half the latency."""
    faster = half_latency()
    gains = {active: 100 * (mean(speed(two_level(lab, "sram", active), two_level(lab, "sram", active, **faster))) - 1)
             for active in (4, 6, 8)}
    listed = ", ".join(f"{active} active {one:.1f} %" for active, one in gains.items())
    few, *more = gains.values()
    return Number(max(more) / few if few > 0 else math.nan, f"gain by active warps: {listed}",
                  kernels=tuple(two_level(lab, "sram", 4)))


def alu_four(lab: Lab) -> Number:
    """Return the gain of ALUs with half the latency, with 4 active warps, in percent."""
    faster = half_latency()
    each = speed(two_level(lab, "sram", 4), two_level(lab, "sram", 4, **faster))
    slow, fast, more = (figures.ipc(two_level(lab, "sram", active, **changes))
                        for active, changes in ((4, {}), (4, faster), (8, {})))
    return gain("rfc-alu4", each, "4 cycles from an ALU instruction to one that needs its result in place of 8: IPC with 4 "
                f"active warps goes from {slow:.2f} to {fast:.2f}; with 8 warps and 8 cycles it is {more:.2f}")


def perfect_cache(lab: Lab) -> Number:
    """Return the gain of a cache that always hits in percent."""
    settings = {"memory.fixed_memory_cycles": load_preset(PRESET)["memory.shared_cycles"], "memory.bytes_per_cycle": 1e6}
    each = speed(lab.many("sram", "gto", preset=PRESET), lab.many("sram", "gto", preset=PRESET, settings=settings))
    return gain("rfc-cache-insensitive", each, figures.memory_bound(lab.many("sram", "gto", preset=PRESET)))


def departures(lab: Lab) -> str:
    """Return how often warps leave the active set, and what they flush."""
    results = two_level(lab)
    issued, flushed = (mean(over(count(results, event), count(results, "rfc_departures")))
                       for event in ("instructions", "rfc_flushes"))
    return f"a warp leaves the active set after {issued:.0f} instructions on average and flushes {flushed:.1f} entries"


def writebacks(lab: Lab) -> Number:
    """Return the share of write-backs that the two options of section 5.3 save, in percent."""
    each = over(count(two_level(lab, "rfc[bypass=1,evict_first=1]"), *WRITEBACKS), count(two_level(lab), *WRITEBACKS))
    removed = figures.per_hundred(two_level(lab), ("rfc_flushes",), WRITEBACKS)
    return loss("rfc-bypass-writebacks", each, f"{removed:.0f} % of write-backs are flushes; {departures(lab)}")


def per_instruction(lab: Lab) -> Number:
    """Return main-file accesses over those of the same instructions without a cache."""
    return average({name: 1 - one / 100 for name, one in avoided(two_level(lab))[2].items()}, mix(lab))


MEASURED: dict[str, Callable[[Lab], Number]] = {
    "rfc-reads": lambda lab: average(avoided(all_active(lab))[0], lifetimes(lab)),
    "rfc-writes": lambda lab: average(avoided(all_active(lab, "liveness=0"))[1], lifetimes(lab)),
    "rfc-writes-live": lambda lab: average(avoided(all_active(lab))[1], lifetimes(lab)),
    "rfc-reads-range": lambda lab: by_category(lab, avoided(all_active(lab))[0]),
    "rfc-writes-range": lambda lab: by_category(lab, avoided(all_active(lab, "liveness=0"))[1]),
    "rfc-liveness-gain": lambda lab: less(avoided(all_active(lab))[1], avoided(all_active(lab, "liveness=0"))[1],
                                          "without it only "
                                          f"{100 - mean(avoided(all_active(lab, 'liveness=0'))[1]):.0f} % of results "
                                          "reach the main file, in the paper 57 %: less is left to save"),
    "rfc-readalloc-reads": lambda lab: change(lab, "rf_reads"),
    "rfc-readalloc-writes": lambda lab: change(lab, "rf_writes"),
    "rfc-lru": lambda lab: less(avoided(all_active(lab, "replacement=lru"))[2], avoided(all_active(lab))[2],
                                f"first-in-first-out avoids {mean(avoided(all_active(lab))[2]):.0f} % already; "
                                + lifetimes(lab)),
    "rfc-knee": knee,
    "rfc-ipc-8": lambda lab: loss("rfc-ipc-8", set_speed(lab, 8), few_active(lab)),
    "rfc-ipc-6-compute": lambda lab: loss("rfc-ipc-6-compute", set_speed(lab, 6), few_active(lab, 6)),
    "rfc-ipc-4": lambda lab: loss("rfc-ipc-4", set_speed(lab, 4, 8), "4 over 8 active warps"),
    "rfc-inner-rr": lambda lab: gain(
        "rfc-inner-rr", speed(two_level(lab, "sram", 8), two_level(lab, "sram", 8, scheduler__inner="rr")),
        "IPC of round robin over greedy, 8 active; the sign is the claim"),
    "rfc-alu4": alu_four,
    "rfc-alu4-others": alu_others,
    "rfc-cache-insensitive": perfect_cache,
    "rfc-flush": lambda lab: less(avoided(all_active(lab))[2], avoided(two_level(lab))[2], departures(lab)),
    "rfc-bypass-dead": lambda lab: less(avoided(two_level(lab, "rfc[evict_first=1]"))[2], avoided(two_level(lab))[2],
                                        "of write-backs only "
                                        f"{figures.per_hundred(two_level(lab), ('rfc_evictions',), WRITEBACKS):.0f} % are "
                                        "evictions, which it may choose; " + departures(lab)),
    "rfc-bypass-writebacks": writebacks,
    "rfc-half": lambda lab: average(avoided(two_level(lab))[2]),
    "rfc-40-80": lambda lab: average(avoided(two_level(lab))[2], "mean of our kernels in the range of the paper's"),
    "rfc-bandwidth": per_instruction,
    "rfc-energy-range": sizes,
    "rfc-energy-entries": best_entries,
    "rfc-energy-ideal": ideal,
    "rfc-energy-6-8": lambda lab: saved(lab, 0, 0),
    "rfc-energy-wire": lambda lab: saved(lab, 1, 0.2),
    "rfc-energy-wire-compute": lambda lab: saved(lab, 1, 0.2),
    "rfc-t5-compute-0-0": lambda lab: normalized(lab, 0, 0),
    "rfc-t5-compute-1-1": lambda lab: normalized(lab, 1, 1),
    "rfc-t5-compute-1-02": lambda lab: normalized(lab, 1, 0.2),
    "rfc-t5-compute-1-0": lambda lab: normalized(lab, 1, 0),
    "rfc-read-once": lambda lab: values(lab, "rfc-read-once"),
    "rfc-read-more2": lambda lab: values(lab, "rfc-read-more2", over_reads=2),
    "rfc-hpc-reuse": lambda lab: values(lab, "rfc-hpc-reuse", over_reads=1, category="hpc"),
    "rfc-short-lived": lambda lab: values(lab, "rfc-short-lived", short=True),
}
UNTESTED = {
    "rfc-shader-reads": SHADERS, "rfc-shader-writes": SHADERS, "rfc-ipc-6-shader": SHADERS,
    "rfc-energy-wire-shader": SHADERS, "rfc-t5-shader-0-0": SHADERS, "rfc-t5-shader-1-1": SHADERS,
    "rfc-t5-shader-1-02": SHADERS, "rfc-t5-shader-1-0": SHADERS,
}


def directions(lab: Lab) -> list[Direction]:
    """Check the promises about rfc on our kernels."""
    ipc = speed(two_level(lab, "rfc", 32), two_level(lab))
    plain = set_speed(lab, 8)
    note = f"most of it is the small set, not the cache: plain sram gives {geomean(plain):.3f}, where {few_active(lab)}"
    reads = avoided(two_level(lab))[0]
    cut = average(reads)
    return [
        Direction("rfc-8-of-32", "rfc", "IPC of rfc with 8 active warps over 32, two_level", "x", "0.97 to 1.03",
                  ratio(ipc, note), 0.97 <= geomean(ipc) <= 1.03, (0.97, 1.03)),
        Direction("rfc-main-reads", "rfc", "main-file reads avoided with 8 active warps (mean)", "%", "at least 30 %", cut,
                  cut.value >= 30, (30,)),
    ]
