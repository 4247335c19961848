"""Links of `single_buffer`: one coalescing buffer whose oldest entry drains into STT-RAM."""

from __future__ import annotations

from typing import Any

from rfview.sessions.why.banks import bank_link
from rfview.sessions.why.links import plural
from rfview.sessions.why.past import Moment
from rfview.sessions.why.trail import Refusal, Trail

ENTRIES = 16
WAITING, WRITING = 0, 1


def explain(trail: Trail, moment: Moment, rf: Any, refusal: Refusal) -> bool:
    """Explain a full buffer, or a bank that writes an entry of it."""
    cycles = trail.value("single_buffer.write_cycles", 4)
    relief = {"single_buffer.write_cycles": 1}
    if moment.name(refusal.code) == "wb_full":
        count, head = int(rf["count"]), int(rf["head"])
        entry = rf["entry"][head]
        bank, warp, reg = int(entry["bank"]), int(entry["warp"]), int(entry["reg"])
        trail.add("the write buffer is full", f"{count} of {ENTRIES} entries", code=refusal.code, buffer=0)
        verb = "is written" if int(entry["state"]) == WRITING else "waits for its bank"
        busy = moment.bank(bank, "until_cycle") - moment.ran
        trail.add(
            f"its oldest entry, w{warp} R{reg}, {verb}",
            f"bank {bank}, {busy} of {plural(cycles, 'cycle')} left" if busy > 0 else f"bank {bank}",
            warp=warp,
            since=moment.bank(bank, "since_cycle") if busy > 0 else -1,
            until=moment.bank(bank, "until_cycle") if busy > 0 else -1,
            bank=bank,
            buffer=0,
            slot=head,
        )
        trail.end("STT bank", f"STT-RAM bank {bank}, one write in {plural(cycles, 'cycle')}", **relief)
        return True
    if 0 <= refusal.bank < moment.num_banks and moment.bank(refusal.bank, "until_cycle") > moment.ran:
        bank = refusal.bank
        bank_link(trail, moment, bank, refusal.code, "STT write")
        writing = [
            index
            for index, entry in enumerate(rf["entry"])
            if int(entry["state"]) == WRITING and int(entry["bank"]) == bank
        ]
        if writing:
            entry = rf["entry"][writing[0]]
            trail.add(
                f"drain of the write buffer: w{int(entry['warp'])} R{int(entry['reg'])}",
                f"{int(rf['count'])} of {ENTRIES} entries used",
                warp=int(entry["warp"]),
                since=moment.bank(bank, "since_cycle"),
                until=moment.bank(bank, "until_cycle"),
                bank=bank,
                buffer=0,
                slot=writing[0],
            )
        trail.end("STT bank", f"STT-RAM bank {bank}, one write in {plural(cycles, 'cycle')}", **relief)
        return True
    return False
