"""Links of `rfc`: entries written back as a warp leaves or overwrites, one per cycle, and the cache's write port."""

from __future__ import annotations

from typing import Any

from rfview.sessions.why.links import plural
from rfview.sessions.why.past import Moment
from rfview.sessions.why.trail import Refusal, Trail


def explain(trail: Trail, moment: Moment, rf: Any, refusal: Refusal) -> bool:
    """Explain a write-back to the main register file, or results that share the cache's write port."""
    name = moment.name(refusal.code)
    if name == "rfc_flush":
        _flush(trail, moment, rf, refusal)
        return True
    if name == "bank_conflict" and refusal.kind == "write" and int(rf["write_cycle"]) == moment.ran:
        ports = trail.value("rfc.write_ports", 1)
        held_long = (moment.warp(refusal.warp, "sb_long") >> max(0, refusal.reg)) & 1
        if int(rf["writes_in_cycle"]) >= ports and not held_long:
            trail.add(
                f"the cache took w{int(rf['write_warp'])} R{int(rf['write_reg'])} in this cycle",
                f"{plural(ports, 'result')} per cycle",
                code=refusal.code,
                warp=int(rf["write_warp"]),
                since=moment.ran,
                buffer=int(rf["write_warp"]),
                slot=int(rf["write_entry"]),
            )
            trail.end(
                "RFC port",
                f"write port of the register file cache, {plural(ports, 'result')} per cycle",
                rfc__write_ports=8,
            )
            return True
    return False


def _waiting(rf: Any, warp: int) -> list[int]:
    """Return the entries of a warp that are still to be written back, in their order."""
    entries = rf["entry"][warp]
    found = [index for index in range(len(entries)) if int(entries[index]["evict"]) and int(entries[index]["valid"])]
    return sorted(found, key=lambda index: int(entries[index]["order"]))


def _flush(trail: Trail, moment: Moment, rf: Any, refusal: Refusal) -> None:
    """Entries wait to be written to the main register file: those of the warp, behind those of warps that asked before."""
    warp = refusal.warp
    own = _waiting(rf, warp)
    flushing = int(rf["flushing"])
    since = int(rf["flush_cycle"][warp])
    before = [
        other
        for other in range(moment.num_warps)
        if (flushing >> other) & 1 and other != warp and int(rf["flush_cycle"][other]) <= since
    ]
    regs = " ".join(f"R{int(rf['entry'][warp][index]['reg'])}" for index in own)
    total = len(own) + sum(len(_waiting(rf, other)) for other in before)
    for_what = "as it leaves" if refusal.kind == "leave" else "before they are overwritten"
    sentence = (
        f"{plural(len(own), 'live entry')} of w{warp} to write back {for_what}"
        if own
        else f"w{warp}'s last entry was written back"
    )
    trail.add(
        sentence,
        f"{regs}; one per cycle" if own else "",
        code=refusal.code,
        warp=warp,
        since=since if own else -1,
        until=moment.ran + 1 + total,
        buffer=warp,
        slot=own[0] if own else -1,
    )
    if before:
        trail.add(
            f"w{before[0]} is written back first",
            f"{plural(total - len(own), 'entry')} before it",
            warp=before[0],
            since=int(rf["flush_cycle"][before[0]]),
            until=moment.ran + 1 + total - len(own),
            buffer=before[0],
        )
    inner = "main register file" if "mrf" in (rf.dtype.names or ()) else "register file"
    if int(rf["out_cycle"]) != moment.ran and own:
        bank = _bank_of(trail, moment, warp, int(rf["entry"][warp][own[0]]["reg"]))
        if moment.bank(bank, "until_cycle") > moment.ran or moment.bank(bank, "written"):
            trail.refused(
                moment,
                Refusal(
                    "write",
                    10 if moment.bank(bank, "until_cycle") <= moment.ran else moment.bank(bank, "busy_code"),
                    warp,
                    -1,
                    bank,
                ),
            )
            return
    trail.end(
        "RFC port", f"write-back port from the register file cache to the {inner}, one entry per cycle", rfc__entries=1
    )


def _bank_of(trail: Trail, moment: Moment, warp: int, reg: int) -> int:
    """Return the main file's bank of a register, under the configured mapping."""
    slot = reg + warp if moment.config["mapping"] else moment.warp(warp, "reg_base") + reg
    return slot % moment.num_banks
