"""Links of `hrf`: two write buffers that drain into two STT-RAM banks, and the banks' late queues."""

from __future__ import annotations

from typing import Any

from rfview.engine import state as layout
from rfview.sessions.why.banks import bank_link
from rfview.sessions.why.links import plural
from rfview.sessions.why.past import Moment
from rfview.sessions.why.trail import Refusal, Trail

EMPTY, FILLING, DRAINING = range(3)
BUFFERS = "AB"
NUM_BANKS = 2
FROM_A, FROM_QUEUE = 1, 3
QUEUE_ENTRIES = 4


def explain(trail: Trail, moment: Moment, rf: Any, refusal: Refusal) -> bool:
    """Explain a wait for a drain, for an STT bank's write, for a queue, or for a buffer's write port."""
    name = moment.name(refusal.code)
    if refusal.kind == "hold" or name == "stt_write":
        _queue(trail, moment, rf, refusal)
    elif name == "wb_drain" and refusal.kind == "read":
        _still_draining(trail, moment, rf, refusal)
    elif name == "wb_drain":
        _no_buffer(trail, moment, rf, refusal)
    elif refusal.kind == "write":
        trail.add(
            "a write buffer takes no more results in this cycle",
            f"{int(rf['results'])} taken",
            code=refusal.code,
            since=moment.ran,
        )
        ports = trail.value("hrf.wb_write_ports", 2)
        trail.end(
            "write buffer port",
            f"write ports of the write buffer, {plural(ports, 'result')} per cycle",
            hrf__wb_write_ports=8,
        )
    elif 0 <= refusal.bank < NUM_BANKS and moment.bank(refusal.bank, "until_cycle") > moment.ran:
        _bank(trail, moment, rf, refusal.bank, refusal.code)
    else:
        return False
    return trail.ended


def _bank_of(warp: int) -> int:
    return warp % NUM_BANKS


def _bank(trail: Trail, moment: Moment, rf: Any, bank: int, code: int) -> None:
    """An STT bank writes: an entry of a draining buffer, or one of its queue."""
    cycles = trail.value("hrf.write_cycles", 4)
    bank_link(trail, moment, bank, code, "STT write")
    source = int(rf["writing"][bank])
    if FROM_A <= source < FROM_QUEUE:
        _drain_link(trail, moment, rf, source - FROM_A)
    elif source == FROM_QUEUE:
        trail.add(
            "it comes from the bank's write queue",
            f"{plural(int(rf['queue_count'][bank]), 'late result')} queued",
            bank=bank,
        )
    trail.end("STT bank", f"STT-RAM bank {bank}, one write in {plural(cycles, 'cycle')}", hrf__write_cycles=1)


def _drain_link(trail: Trail, moment: Moment, rf: Any, index: int) -> int:
    """Add how far a drain is and the switch that began it; return its STT bank."""
    buffer = rf["buffer"][index]
    warp, used, position = int(buffer["owner"]), int(buffer["used"]), int(buffer["position"])
    cycles = trail.value("hrf.write_cycles", 4)
    since, bank = int(buffer["since_cycle"]), _bank_of(warp)
    left = used - position
    busy = moment.bank(bank, "until_cycle") - moment.ran
    trail.add(
        f"drain of w{warp}'s buffer {BUFFERS[index]}, {plural(left, 'entry')} left",
        f"{position} of {plural(used, 'entry')} written, {plural(cycles, 'cycle')} each, into bank {bank}",
        warp=warp,
        since=since,
        until=moment.ran + left * cycles - (cycles - busy if 0 < busy < cycles else 0),
        bank=bank,
        buffer=index,
        slot=position,
    )
    new = rf["buffer"][1 - index]
    if int(new["state"]) == FILLING and int(new["since_cycle"]) == since:
        owner = int(new["owner"])
        trail.add(
            f"switch at {since:,}: w{owner} took buffer {BUFFERS[1 - index]}",
            f"from w{warp}",
            warp=owner,
            since=since,
            buffer=1 - index,
        )
    else:
        is_suspended = moment.config["scheduler"] >= layout.TWO_LEVEL
        trail.add(
            f"w{warp} was suspended at {since:,}" if is_suspended else f"w{warp} gave its buffer up at {since:,}",
            "its buffer drains at once" if is_suspended else "another warp has written since",
            warp=warp,
            since=since,
            buffer=index,
        )
    return bank


def _still_draining(trail: Trail, moment: Moment, rf: Any, refusal: Refusal) -> None:
    """A read needs a register that is still in a draining buffer."""
    cycles = trail.value("hrf.write_cycles", 4)
    for index in range(2):
        buffer = rf["buffer"][index]
        if int(buffer["state"]) != DRAINING or int(buffer["owner"]) != refusal.warp:
            continue
        for entry in range(int(buffer["position"]), int(buffer["used"])):
            if int(buffer["reg"][entry]) == refusal.reg:
                ahead = entry - int(buffer["position"])
                trail.add(
                    f"R{refusal.reg} still drains: "
                    + (f"{plural(ahead, 'entry')} before it" if ahead else "it is next"),
                    f"entry {entry} of buffer {BUFFERS[index]}",
                    code=refusal.code,
                    warp=refusal.warp,
                    buffer=index,
                    slot=entry,
                    since=int(buffer["since_cycle"]),
                )
                _drain_link(trail, moment, rf, index)
                bank = _bank_of(refusal.warp)
                trail.end(
                    "STT bank", f"STT-RAM bank {bank}, one write in {plural(cycles, 'cycle')}", hrf__write_cycles=1
                )
                return


def _no_buffer(trail: Trail, moment: Moment, rf: Any, refusal: Refusal) -> None:
    """A result finds no empty buffer; with a frozen pipeline, say whose."""
    cycles = trail.value("hrf.write_cycles", 4)
    if refusal.kind == "freeze":
        waiting = [flight for flight in moment.in_flight() if flight.code == refusal.code and flight.unwritten]
        if waiting:
            first = waiting[0]
            trail.add(
                f"w{first.warp}'s result R{first.result} finds no empty buffer",
                first.text,
                code=refusal.code,
                warp=first.warp,
                since=first.since_cycle,
                pc=first.pc,
            )
    draining = [index for index in range(2) if int(rf["buffer"][index]["state"]) == DRAINING]
    filling = [index for index in range(2) if int(rf["buffer"][index]["state"]) == FILLING]
    if filling:
        buffer = rf["buffer"][filling[0]]
        trail.add(
            f"buffer {BUFFERS[filling[0]]} fills with w{int(buffer['owner'])}'s results",
            f"{plural(int(buffer['used']), 'entry')} used",
            warp=int(buffer["owner"]),
            since=int(buffer["since_cycle"]),
            buffer=filling[0],
        )
    if draining:
        first_index = min(draining, key=lambda index: int(rf["buffer"][index]["order"]))
        bank = _drain_link(trail, moment, rf, first_index)
        trail.end("STT bank", f"STT-RAM bank {bank}, one write in {plural(cycles, 'cycle')}", hrf__write_cycles=1)
    else:
        trail.end("write buffer", "write buffers, two of them", hrf__write_cycles=1)


def _queue(trail: Trail, moment: Moment, rf: Any, refusal: Refusal) -> None:
    """A late result waits in, or for, the write queue of its bank."""
    bank, cycles = _bank_of(refusal.warp), trail.value("hrf.write_cycles", 4)
    count = int(rf["queue_count"][bank])
    held = f"{count} of {QUEUE_ENTRIES} places taken"
    if refusal.kind == "hold":
        trail.add(
            f"it is in the write queue of bank {bank}",
            f"{held}; buffers drain first",
            code=refusal.code,
            warp=refusal.warp,
            bank=bank,
            buffer=2,
            slot=int(rf["queue_head"][bank]),
        )
    else:
        trail.add(
            f"the write queue of bank {bank} is full", held, code=refusal.code, warp=refusal.warp, bank=bank, buffer=2
        )
    source = int(rf["writing"][bank])
    if FROM_A <= source < FROM_QUEUE:
        _drain_link(trail, moment, rf, source - FROM_A)
    elif moment.bank(bank, "until_cycle") > moment.ran:
        bank_link(trail, moment, bank, refusal.code, "STT write")
    trail.end("STT bank", f"STT-RAM bank {bank}, one write in {plural(cycles, 'cycle')}", hrf__write_cycles=1)
