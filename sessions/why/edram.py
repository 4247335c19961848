"""Links of `edram`: the refresh that takes a bank for a cycle."""

from __future__ import annotations

from typing import Any

from rfview.sessions.why.banks import owner
from rfview.sessions.why.past import Moment
from rfview.sessions.why.trail import Refusal, Trail

RETENTION = {22: 2048, 16: 1024, 11: 512}


def explain(trail: Trail, moment: Moment, rf: Any, refusal: Refusal) -> bool:
    """Explain an access refused for a refresh."""
    bank = refusal.bank
    if moment.name(refusal.code) != "refresh" or not 0 <= bank < moment.num_banks:
        return False
    whose = owner(moment, bank)
    node = trail.value("edram.node", 11)
    trail.add(
        f"bank {bank} refreshes {f'the row of {whose}' if whose else 'a row'}",
        f"in cycle {moment.ran:,}, for one cycle",
        code=refusal.code,
        warp=moment.bank(bank, "owner_warp"),
        since=moment.ran,
        until=moment.ran + 1,
        bank=bank,
    )
    relief = {"edram.node": 22} if node != 22 else {}
    trail.end("eDRAM bank", f"eDRAM bank {bank}: every row is refreshed each {RETENTION[node]:,} cycles", **relief)
    return True
