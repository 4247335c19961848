"""Links of `racetrack`: tapes that shift under their ports, banks that wait for a place, small write buffers."""

from __future__ import annotations

from typing import Any

from rfview.sessions.why.links import plural
from rfview.sessions.why.past import Moment
from rfview.sessions.why.trail import Refusal, Trail

IDLE, READ, WRITE, SHIFTING, PRESHIFTING, WAITING = range(6)
RELIEF = {"racetrack.shift_cycles": 0}


def explain(trail: Trail, moment: Moment, rf: Any, refusal: Refusal) -> bool:
    """Explain a tape that shifts, a bank that serves another access or waits for a place, or a full write buffer."""
    bank = refusal.bank
    if not 0 <= bank < moment.num_banks:
        return False
    tape = rf["tape"][bank]
    name = moment.name(refusal.code)
    if name == "wb_full":
        size = trail.value("racetrack.wb_entries", 2)
        trail.add(
            f"the write buffer of bank {bank} is full",
            f"{int(tape['wb_count'])} of {plural(size, 'entry')}",
            code=refusal.code,
            bank=bank,
            buffer=bank,
            slot=int(tape["wb_first"]),
        )
        first = tape["wb"][int(tape["wb_first"])]
        trail.add(
            f"first goes w{int(first['warp'])} R{int(first['reg'])}, queued {int(first['since_cycle']):,}",
            f"offset {int(first['offset'])}",
            warp=int(first["warp"]),
            since=int(first["since_cycle"]),
            bank=bank,
            buffer=bank,
            slot=int(tape["wb_first"]),
        )
    _tape(trail, moment, rf, tape, bank, refusal)
    return trail.ended


def _tape(trail: Trail, moment: Moment, rf: Any, tape: Any, bank: int, refusal: Refusal) -> None:
    """Add what the tape of a bank does, and end."""
    activity = int(tape["activity"])
    current, target = int(tape["current"]), int(tape["target"])
    head = f"w{moment.bank(bank, 'owner_warp')} R{moment.bank(bank, 'owner_reg')}"
    since, until = moment.bank(bank, "since_cycle"), moment.bank(bank, "until_cycle")
    if activity in (SHIFTING, PRESHIFTING):
        steps = abs(target - current)
        trail.add(
            f"the tape of bank {bank} shifts for {head}: {plural(steps, 'step')} left",
            f"offset {current}, wanted {target}" + ("; without a place" if activity == PRESHIFTING else ""),
            code=refusal.code,
            warp=moment.bank(bank, "owner_warp"),
            since=since,
            until=max(until, moment.ran + 1),
            bank=bank,
        )
        trail.end(
            "tape",
            f"racetrack tape of bank {bank}, {plural(trail.value('racetrack.shift_cycles', 1), 'cycle')} a step",
            **RELIEF,
        )
    elif activity == WAITING:
        limit = moment.config["max_banks_per_cycle"]
        busy = int(rf["busy"])
        others = [str(other) for other in range(moment.num_banks) if (busy >> other) & 1]
        trail.add(
            f"bank {bank} waits for a place: {busy.bit_count()} banks are busy",
            f"banks {' '.join(others)}; {head} is next",
            code=refusal.code,
            bank=bank,
            since=moment.ran,
        )
        trail.end("bank places", f"bank places, {limit} banks at once", sm__max_banks_per_cycle=0)
    elif refusal.kind == "write" and moment.bank(bank, "written") and moment.name(refusal.code) == "bank_conflict":
        trail.add(
            f"the write buffer of bank {bank} took another result",
            f"in cycle {moment.ran:,}, one per cycle",
            code=refusal.code,
            bank=bank,
            buffer=bank,
            since=moment.ran,
        )
        trail.end("write buffer port", f"write buffer of bank {bank}, one result per cycle", **_more_banks(trail))
    else:
        verb = {READ: "read", WRITE: "written from its write buffer"}.get(activity, "used")
        trail.add(
            f"bank {bank} serves another access: {head} is {verb}",
            f"in cycle {moment.ran:,}; queue {moment.bank(bank, 'queue')}",
            code=refusal.code,
            warp=moment.bank(bank, "owner_warp"),
            bank=bank,
            since=moment.ran,
        )
        trail.end("bank", f"racetrack bank {bank}, one access per cycle", **_more_banks(trail))


def _more_banks(trail: Trail) -> dict[str, int]:
    """Return the settings that give the tapes twice as many banks of half the length."""
    banks, rows = trail.value("sm.num_banks", 16), trail.value("sm.rows_per_bank", 128)
    return {"sm.num_banks": min(32, banks * 2), "sm.rows_per_bank": max(1, rows * banks // min(32, banks * 2))}
