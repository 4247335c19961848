"""The energy that runs state, against counts times the papers' printed numbers, which are typed here again, by hand.

2 kernels x 9 designs; accesses are of rows of 1,024 bits, energies in pJ, leakage in mW times microseconds times 1000.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from rfview.engine import batch, kernels

ROW = 32 * 32
ENTRY = 32 * 38                       # HRF section 4.4: 32 bits of data and 6 of address, in 32 lanes
BUFFERS = 248.7 * 2 * 64 * ENTRY / 2**20     # two SRAM buffers of 64 entries, leaking by bits as Table 1's 128 KB (2^20 bits)
FIFO_ENTRY = 32 * 32 + 12             # single_buffer: data, and the register's 6 bits of number and warp
FIFO = 248.7 * 16 * FIFO_ENTRY / 2**20

Parts = tuple[float, float, float]
Count = Callable[[str], float]


def sram(n: Count, us: float) -> Parts:
    """HRF Table 1: 0.203 and 0.191 pJ/bit, 248.7 mW."""
    return ROW * (0.203 * n("rf_reads") + 0.191 * n("rf_writes")), 248.7e3 * us, 0.0


def stt(n: Count, us: float) -> Parts:
    """HRF Table 1: 0.239 and 0.300 pJ/bit, 16.2 mW."""
    return ROW * (0.239 * n("rf_reads") + 0.300 * n("rf_writes")), 16.2e3 * us, 0.0


def cells(n: Count) -> float:
    """STT-RAM behind buffers, HRF Table 1."""
    return ROW * (0.239 * n("stt_reads") + 0.300 * n("stt_writes"))


def buffers(n: Count) -> float:
    """HRF's write buffers: SRAM of Table 1; reads of data, writes and drains of whole entries."""
    return 0.203 * ROW * n("wb_reads") + ENTRY * (0.191 * n("wb_writes") + 0.203 * n("wb_drain_reads"))


def hrf(n: Count, us: float) -> Parts:
    """HRF Table 1 for cells and buffers."""
    return cells(n) + buffers(n), (16.2 + BUFFERS) * 1e3 * us, 0.0


def gated(n: Count, us: float) -> Parts:
    """HRF Table 2: with gating 1.04 of the buffers' dynamic energy, and 0.3 of a buffer's leakage while it is off."""
    off = us * (2 - n("gate_on_cycles") / n("cycles"))
    return cells(n) + 1.04 * buffers(n), (16.2 + BUFFERS) * 1e3 * us - 0.7 * BUFFERS / 2 * 1e3 * off, 0.0


def single_buffer(n: Count, us: float) -> Parts:
    """HRF Table 1 for cells and the FIFO."""
    fifo = 0.203 * ROW * n("buffer_reads") + FIFO_ENTRY * (0.191 * n("buffer_writes") + 0.203 * n("buffer_drains"))
    return cells(n) + fifo, (16.2 + FIFO) * 1e3 * us, 0.0


def rfc(n: Count, us: float) -> Parts:
    """RFC Tables 2 (6 entries, 8 warps: 2.2 and 6.7 pJ) and 3 (8 and 11 pJ), per 128 bits; no leakage is given."""
    reads = sum(n(f"rfc_{event}") for event in ("reads", "evictions", "flushes", "removals"))
    return 8 * (8 * n("rf_reads") + 11 * n("rf_writes") + 2.2 * reads + 6.7 * (n("rfc_writes") + n("rfc_fills"))), 0.0, 0.0


def hcrf(n: Count, us: float) -> Parts:
    """HC-RF Table II: S 0.175 and 0.186, T 0.225 and 0.267 pJ/bit, a transfer as a T-Write (B3.7); 34.4 mW."""
    transfers = n("t_writes") + n("x_transfers")
    return ROW * (0.175 * n("s_reads") + 0.225 * n("t_reads") + 0.186 * n("s_writes") + 0.267 * transfers), 34.4e3 * us, 0.0


def edram(n: Count, us: float) -> Parts:
    """eDRAM Table 1, 11 nm: 256 and 121 fJ per access, 50.2 uW in 16 banks; a refresh of half a row is half of both."""
    halves = n("row_refreshes") + n("low_refreshes")
    return 0.256 * n("rf_reads") + 0.121 * n("rf_writes"), 16 * 50.2 * us, (0.256 + 0.121) / 2 * halves


def racetrack(n: Count, us: float) -> Parts:
    """Racetrack Table 3: tapes 117.12, 173.22 and 56.16 a step, buffers 15.60 and 14.60 pJ; 7.95 mW a bank (B5.11), 1.12."""
    tapes = 117.12 * n("rm_reads") + 173.22 * n("rm_writes") + 56.16 * (n("shifts") + n("preshifts"))
    return tapes + 14.60 * n("wb_writes") + 15.60 * (n("wb_reads") + n("wb_forwards")), (16 * 7.95 + 1.12) * 1e3 * us, 0.0


BY_HAND: Mapping[str, Callable[[Count, float], Parts]] = {
    "sram": sram, "stt": stt, "hrf": hrf, "hrf[power_gating=1]": gated, "single_buffer": single_buffer, "rfc": rfc,
    "hcrf": hcrf, "edram": edram, "racetrack": racetrack,
}


@pytest.mark.slow
@pytest.mark.parametrize("design", BY_HAND)
@pytest.mark.parametrize("kernel", ["nw", "reduction"])
def test_a_runs_energy_is_counts_times_the_papers_numbers(kernel: str, design: str) -> None:
    result = batch.run_job(batch.Job(str(kernels.path(kernel, "small")), design, "gto"))
    counts = {**result["counts"], "cycles": result["cycles"]}
    wanted = BY_HAND[design](lambda name: counts.get(name, 0), result["cycles"] / 700)
    energy = result["energy_pj"]
    assert wanted[0] > 0 and (energy["dynamic"], energy["leakage"], energy["refresh"]) == pytest.approx(wanted, rel=1e-9)
    assert energy["total"] == pytest.approx(sum(wanted), rel=1e-9)
