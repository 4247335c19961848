"""The columns of a sweep's dataset: their names, types and meanings, the same in every part file."""

from __future__ import annotations

from typing import NamedTuple

FORMAT = "rfview sweep 5"      # in the schema of each part file; changes when the columns do


class Column(NamedTuple):
    """One column. kind: text, int, float, bool, time, texts or counts (maps from text to text or to int)."""

    name: str
    kind: str
    meaning: str


COLUMNS = (
    Column("key", "text", "hash of everything that the run depends on; different in every row"),
    Column("outcome", "text", "ok; wrong: ended with another result than expected; misbehaved: the kernel faulted; "
                              "failed: did not run"),
    Column("message", "text", "what went wrong, empty if nothing did"),
    Column("kernel", "text", "name of the launch file"),
    Column("launch", "text", "its path"),
    Column("design", "text", "register file with its parameters, as the sweep names it"),
    Column("scheduler", "text", "warp scheduler, as the sweep names it"),
    Column("preset", "text", "preset of the machine, as the sweep names it"),
    Column("settings", "texts", "what the sweep's parameters set: name to value"),
    Column("level", "texts", "settings that a design's paper requires and all designs of the sweep got; null: not levelled"),
    Column("max_cycles", "int", "limit on the cycles of a run"),
    Column("registers_per_thread", "int", "registers allocated to a thread"),
    Column("launches", "int", "launches of the launch file"),
    Column("cycles", "int", "cycles from the first to the end of the last launch"),
    Column("nudges", "int", "nudged runs made beside it (--nudge)"),
    Column("cycles_lowest", "int", "of its cycles and those of the nudged runs, the fewest; null without any"),
    Column("cycles_highest", "int", "the most"),
    Column("warp_instructions", "int", "warp instructions issued"),
    Column("thread_instructions", "int", "lanes that executed, summed over them"),
    Column("ipc", "float", "warp instructions per cycle"),
    Column("warp_cycles", "int", "warp slots x cycles = issued + all stalls"),
    Column("issued", "int", "warp-cycles in which the warp issued"),
    Column("war_stalls", "int", "warp-cycles in which only a pending read of the destination blocked"),
    Column("limit", "text", "the unit that was needed for most cycles, by counts alone: LD/ST, issue, register banks .."),
    Column("limit_cycles", "int", "the cycles that it needs at least; the closer to the run's, the more it limits it"),
    Column("lines_per_access", "float", "cache lines per load or store of global and local memory; null without any"),
    Column("passes_per_access", "float", "passes per access of shared memory, bank conflicts included; null without any"),
    Column("causes_line", "text", "the line that held up most of the lost warp-cycles; null without --causes"),
    Column("causes_share", "float", "these, of all warp-cycles of resident warps"),
    Column("spilled_words", "int", "words per thread that the compiler kept in local memory for want of registers"),
    Column("energy_pj", "float", "energy of the register file, in pJ"),
    Column("energy_dynamic_pj", "float", "of that: accesses"),
    Column("energy_leakage_pj", "float", "of that: leakage"),
    Column("energy_refresh_pj", "float", "of that: refresh"),
    Column("node_nm", "int", "technology node of the energies in nm, null if their source names none"),
    Column("energy_assumed", "text", "energies of the run that are assumed, not from a source; empty if none are"),
    Column("verified", "bool", "whether the results are as expected; null if no results are given"),
    Column("stalls", "counts", "warp-cycles by the reason why the warp did not issue (rfview help stalls)"),
    Column("counts", "counts", "events by name, of the machine and of the design"),
    Column("seconds", "float", "time taken by the worker, loading included"),
    Column("engine", "text", "hash over the engine's sources"),
    Column("version", "text", "version of rfview"),
    Column("finished", "time", "when the row arrived, UTC"),
)
BY_NAME = {column.name: column for column in COLUMNS}
NOT_THE_RUNS = ("seconds", "finished")     # these differ when the same job is run again


def documentation() -> str:
    """Return a line per column: name, type, meaning."""
    types = {"text": "string", "int": "int64", "float": "double", "bool": "bool", "time": "timestamp",
             "texts": "map of strings", "counts": "map to int64"}
    return "\n".join(f"  {name:<21} {types[kind]:<14} {meaning}" for name, kind, meaning in COLUMNS)
