"""Links of `stt`: a slow write freezes the pipeline, or keeps its bank busy."""

from __future__ import annotations

from typing import Any

from rfview.sessions.why.banks import bank_link, owner
from rfview.sessions.why.links import plural
from rfview.sessions.why.past import Moment
from rfview.sessions.why.trail import Refusal, Trail


def explain(trail: Trail, moment: Moment, rf: Any, refusal: Refusal) -> bool:
    """Explain a frozen pipeline or a bank that writes; False for a plain port conflict."""
    cycles = trail.value("stt.write_cycles", 4)
    until = int(rf["frozen_until_cycle"])
    if until > moment.ran and moment.name(refusal.code) == "stt_write":
        began = until - cycles
        trail.add(
            f"an STT write stops everything: {until - moment.ran} of {plural(cycles, 'cycle')} left",
            f"frozen from {began + 1:,} to {until:,}",
            code=refusal.code,
            since=began,
            until=until,
        )
        writer = trail.past.at(began + 1)
        banks = [bank for bank in range(moment.num_banks) if writer is not None and writer.bank(bank, "written")]
        if writer is not None and banks:
            trail.add(
                f"{owner(writer, banks[0])} was written into bank {banks[0]}",
                f"cycle {began:,}",
                warp=writer.bank(banks[0], "owner_warp"),
                since=began,
                until=until,
                bank=banks[0],
            )
            trail.end("STT bank", f"STT-RAM bank {banks[0]}, a write of {plural(cycles, 'cycle')}", stt__write_cycles=1)
        trail.end("STT bank", f"STT-RAM array, a write of {plural(cycles, 'cycle')}", stt__write_cycles=1)
        return True
    if 0 <= refusal.bank < moment.num_banks and moment.bank(refusal.bank, "until_cycle") > moment.ran:
        bank_link(trail, moment, refusal.bank, refusal.code, "STT write")
        trail.end("STT bank", f"STT-RAM bank {refusal.bank}, a write of {plural(cycles, 'cycle')}", stt__write_cycles=1)
        return True
    return False
