"""Links of `hcrf`: pairs of registers in hybrid cells, X-Transfers from SRAM to STT inside them, and slow T-Writes."""

from __future__ import annotations

from typing import Any

from rfview.sessions.why.banks import bank_link
from rfview.sessions.why.links import plural
from rfview.sessions.why.past import Moment
from rfview.sessions.why.trail import Refusal, Trail

RELIEF = {"hcrf.x_transfer_cycles": 1}


def explain(trail: Trail, moment: Moment, rf: Any, refusal: Refusal) -> bool:
    """Explain a transfer that a read or result waits for, or a bank busy with a T-Write."""
    name = moment.name(refusal.code)
    if name == "x_transfer":
        _transfer(trail, moment, rf, refusal)
        return True
    if 0 <= refusal.bank < moment.num_banks and moment.bank(refusal.bank, "until_cycle") > moment.ran:
        bank_link(trail, moment, refusal.bank, refusal.code, "T-Write")
        trail.end("STT cells", f"STT s-cells of bank {refusal.bank}, a masked write", hcrf__t_write_cycles=1)
        return True
    return False


def pair_of(moment: Moment, slot: int) -> int:
    """Return the hybrid-cell row that a physical slot belongs to."""
    return slot // moment.num_banks // 2 * moment.num_banks + slot % moment.num_banks


def _transfer(trail: Trail, moment: Moment, rf: Any, refusal: Refusal) -> None:
    """Find the transfer of the register's pair; without one, say what keeps it from beginning."""
    bank = refusal.bank
    pair = pair_of(moment, moment.warp(refusal.warp, "reg_base") + refusal.reg) if refusal.reg >= 0 else -1
    used = int(rf["used"])
    for index in range(64):
        transfer = rf["transfer"][index]
        if (used >> index) & 1 and int(transfer["pair"]) == pair:
            since, until = int(transfer["since_cycle"]), int(transfer["until_cycle"])
            whose = f"w{int(transfer['warp'])} R{int(transfer['reg'])}"
            kind = "late, at write-back" if int(transfer["is_late"]) else "early"
            trail.add(
                f"X-Transfer for {whose}: {until - moment.ran} of {plural(until - since, 'cycle')} left",
                f"pair {pair} of bank {bank}, started {kind}",
                code=refusal.code,
                warp=int(transfer["warp"]),
                since=since,
                until=until,
                bank=bank,
                slot=index,
            )
            trail.end("hybrid cells", f"hybrid cells of pair {pair} in bank {bank}, an X-Transfer", **RELIEF)
            return
    access = rf["bank"][bank] if 0 <= bank < len(rf["bank"]) else None
    if access is not None and int(access["started"]):
        trail.add(
            f"bank {bank} started another X-Transfer",
            f"in cycle {moment.ran:,}",
            code=refusal.code,
            bank=bank,
            since=moment.ran,
        )
        trail.end("X-check port", f"X-check port of bank {bank}, one transfer per cycle", **RELIEF)
    elif refusal.reg >= 0 and (int(rf["merged"][refusal.warp]) >> refusal.reg) & 1:
        trail.add(
            "its other lanes were read to be merged",
            f"in cycle {moment.ran:,}",
            code=refusal.code,
            bank=bank,
            since=moment.ran,
        )
        trail.end("hybrid cells", f"hybrid cells of pair {pair} in bank {bank}, a T-Read and an X-Transfer", **RELIEF)
    else:
        trail.add(
            f"pair {pair} is being read or written",
            f"bank {bank}, cycle {moment.ran:,}: no transfer may start",
            code=refusal.code,
            bank=bank,
            since=moment.ran,
        )
        trail.end("hybrid cells", f"hybrid cells of pair {pair} in bank {bank}, in access", **RELIEF)
