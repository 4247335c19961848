"""Measurements that explain a difference from a paper: each is a phrase with numbers from runs, for a claim's note."""

from __future__ import annotations

from collections.abc import Mapping

from rfview.engine.papers.lab import Each, Lab, count, geomean, mean, over
from rfview.engine.batch import Result
from rfview.engine.stalls import NO_WARP


def rows_per_cycle(results: Mapping[str, Result]) -> Each:
    """Return how many warp-registers each run reads and writes per cycle."""
    return {name: (r["counts"]["rf_reads"] + r["counts"]["rf_writes"]) / r["cycles"] for name, r in results.items()}


def dynamic_share(results: Mapping[str, Result]) -> Each:
    """Return dynamic over total energy, per kernel, in percent."""
    return {name: 100 * r["energy_pj"]["dynamic"] / r["energy_pj"]["total"] for name, r in results.items()}


def waiting_share(results: Mapping[str, Result], *reasons: str) -> Each:
    """Return the share of live warps' cycles in which they wait for given reasons, per kernel, in percent."""
    shares = {}
    for name, result in results.items():
        live = result["warp_cycles"] - sum(result["stalls"][reason] for reason in NO_WARP)
        shares[name] = 100 * sum(result["stalls"][reason] for reason in reasons) / max(live, 1)
    return shares


def resident_warps(results: Mapping[str, Result]) -> Each:
    """Return the mean number of live warps, per kernel."""
    return {name: (r["warp_cycles"] - sum(r["stalls"][reason] for reason in NO_WARP)) / r["cycles"]
            for name, r in results.items()}


def ipc(results: Mapping[str, Result]) -> float:
    """Return the geometric mean IPC."""
    return geomean({name: result["ipc"] for name, result in results.items()})


def per_hundred(results: Mapping[str, Result], top: tuple[str, ...], bottom: tuple[str, ...]) -> float:
    """Return the mean over kernels of 100 x the sum of some events over that of others."""
    return 100 * mean(over(count(results, *top), count(results, *bottom)))


def traffic(results: Mapping[str, Result]) -> str:
    """Return how busy sram's register file is, and the share of its power that this accounts for."""
    return (f"sram reads and writes {mean(rows_per_cycle(results)):.2f} rows per cycle here, which is "
            f"{mean(dynamic_share(results)):.0f} % of its power")


def memory_bound(results: Mapping[str, Result]) -> str:
    """Return how much of their time live warps wait for memory, and how many warps there are."""
    return (f"live warps wait for memory {mean(waiting_share(results, 'long_scoreboard')):.0f} % of the time, with "
            f"{mean(resident_warps(results)):.0f} of them on average")


def hcrf_costs(lab: Lab, scheduler: str) -> str:
    """Return the cost of each slow part of hcrf: its IPC over sram's without that part."""
    sram = lab.many("sram", scheduler)

    def without(options: str) -> float:
        results = lab.many(f"hcrf[{options}]", scheduler)
        return geomean({name: sram[name]["cycles"] / results[name]["cycles"] for name in sram})

    results = lab.many("hcrf", scheduler)
    exchanged = count(results, "x_transfers")
    most = max(exchanged, key=lambda name: exchanged[name] / max(results[name]["counts"]["rf_writes"], 1))
    masked, moved = (per_hundred(results, (event,), ("rf_writes",)) for event in ("t_writes", "x_transfers"))
    highest = 100 * exchanged[most] / results[most]["counts"]["rf_writes"]
    return (
        f"of 100 results {masked:.0f} are masked T-Writes (divergent code), each keeping its bank for 4 cycles: with "
        f"1-cycle T-Writes IPC is {without('t_write_cycles=1'):.3f} of sram's; and 100 results make {moved:.0f} transfers "
        f"({most} {highest:.0f}): with those started that a partner's result in flight may undo (pending_writes=collector) "
        f"IPC is {without('pending_writes=collector'):.3f}"
    )
