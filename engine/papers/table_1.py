"""The racetrack paper's Table 1: its kernels' threads and registers, their occupancy, and which of our kernels match."""

from __future__ import annotations

from collections.abc import Iterable

from rfview.engine import plugin as designs
from rfview.engine.papers import Number, load, workloads
from rfview.engine.papers.lab import Lab
from rfview.engine.config import load_preset

ROWS_TABLE_1 = {"rm-t1-hotspot": (256, 60), "rm-t1-btree": (256, 30), "rm-t1-histo_final": (512, 41),
                "rm-t1-histo_main": (768, 22), "rm-t1-mri-gridding": (256, 40)}


def resident(threads: int, registers: int, rows: int) -> int:
    """Return the number of CTAs that fit: by CTA slots, threads, and a register file of so many warp-registers."""
    config = load_preset("racetrack")
    return int(min(config["sm.max_ctas"], config["sm.max_threads"] // threads, 32 * rows // (threads * registers)))


def rows_of(design: str) -> int:
    """Return the warp-registers of a design's register file."""
    config, own = load_preset("racetrack"), designs.design(design).settings
    return int(config["sm.num_banks"]) * int(own.get("sm.rows_per_bank", config["sm.rows_per_bank"]))


def occupancy(threads: int, registers: int) -> float:
    """Return the occupancy with 128 KB in percent."""
    return 100 * resident(threads, registers, rows_of("sram")) * threads / load_preset("racetrack")["sm.max_threads"]


def row_of_table_1(claim: str) -> Number:
    """Return a row's occupancy, and whether its CTAs and utilisation agree too."""
    threads, registers = ROWS_TABLE_1[claim]
    more = load()[claim].more
    ctas = resident(threads, registers, rows_of("sram"))
    used = 100 * ctas * threads * registers / (32 * rows_of("sram"))
    agree = ctas == more["tlp"] and abs(used - more["register_utilization"]) < 0.01
    return Number(occupancy(threads, registers), f"{threads} threads of {registers} registers: {ctas} CTAs, {used:.2f} % of "
                  f"registers used, {'as' if agree else 'not as'} the table has them")


def row_of(kernel: str) -> tuple[int, int]:
    """Return a kernel's threads per CTA and registers per thread in Table 1, by the paper's name; zeros if not there."""
    use = workloads.of_kernel(kernel).papers.get("racetrack")
    called = workloads.letters(use.name) if use else ""
    rows = [row for claim, row in ROWS_TABLE_1.items() if called.startswith(workloads.letters(claim.removeprefix("rm-t1-")))]
    return rows[0] if called and rows else (0, 0)


def as_table_1(lab: Lab, names: Iterable[str] | None = None) -> tuple[str, ...]:
    """Return the kernels, among all or the named ones, with Table 1's threads per CTA."""
    wanted = lab.kernels if names is None else lab.of(names)
    return tuple(name for name in wanted if lab.threads(name) == row_of(name)[0])


def left_out(lab: Lab) -> str:
    """Return a sentence naming the kernels that are left out since their CTAs differ from Table 1's."""
    others = [f"{name} ({lab.threads(name)} threads per CTA, Table 1 {row_of(name)[0]})"
              for name in lab.kernels if name not in as_table_1(lab)]
    return f"; not taken: {', '.join(others)}" if others else ""
