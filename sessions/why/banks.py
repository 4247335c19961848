"""Explains why a register bank refused an access: the default for all designs, from the machine's record of its banks."""

from __future__ import annotations

from typing import Any

from rfview.engine import state as layout
from rfview.engine.stalls import BY_NAME
from rfview.engine.plugin.explaining import Refusal
from rfview.sessions.machine import Machine
from rfview.sessions.why.trail import Trail


def more_banks(trail: Trail) -> dict[str, Any]:
    """Return the settings for twice as many register banks, each of half the size and with two ports."""
    banks, rows = trail.value("sm.num_banks", 16), trail.value("sm.rows_per_bank", 64)
    settings: dict[str, Any] = {"sm.bank_ports": 2}
    if banks * 2 <= layout.MAX_BANKS:
        settings |= {"sm.num_banks": banks * 2, "sm.rows_per_bank": max(1, rows // 2)}
    return settings


def explain(trail: Trail, moment: Machine, refusal: Refusal) -> None:
    """Explain a refusal by its bank or, if none is known, by the stall's sentence; always ends in a resource."""
    name = moment.name(refusal.code).replace("_", " ")
    sentence = next((stall.sentence for stall in moment.info.stalls if stall.code == refusal.code), "")
    at_bank = refusal.kind in ("read", "write", "hold") and 0 <= refusal.bank < moment.num_banks
    if at_bank and moment.name(refusal.code) not in BY_NAME:
        _own_reason(trail, moment, refusal, name, sentence)
        return
    if at_bank:
        bank = refusal.bank
        what = "" if name == "bank conflict" else name
        trail.bank_link(moment, bank, refusal.code, what)
        limit = moment.config["max_banks_per_cycle"]
        if limit and not moment.bank(bank, "activity"):
            trail.end("bank places", f"bank places, {limit} banks per cycle", {"sm.max_banks_per_cycle": 0})
        ports = "one access" if moment.config["bank_ports"] == 1 else "one read and one write"
        trail.end("bank", f"register bank {bank}, {ports} per cycle", more_banks(trail))
        return
    if sentence:
        trail.add(
            sentence[0].lower() + sentence[1:].rstrip("."), f"design {moment.info.design}", code=refusal.code
        )
    what = {
        "freeze": "the pipeline is frozen",
        "late": "an operand is on the way",
        "issue": "the register file lets no instruction of this kind issue",
        "leave": "the register file keeps the warp in the active set",
    }.get(refusal.kind, name)
    trail.end("register file", f"register file {moment.info.design}: {what} ({name})")


def _own_reason(trail: Trail, moment: Machine, refusal: Refusal, name: str, sentence: str) -> None:
    """Explain a refusal for a foreign design's own reason: by a slow access, otherwise by the design's sentence."""
    bank, design = refusal.bank, moment.info.design
    if moment.bank(bank, "until_cycle") > moment.ran:
        trail.bank_link(moment, bank, refusal.code, name)
    else:
        trail.add(sentence[:1].lower() + sentence[1:].rstrip(".") or name,
                  f"bank {bank} in cycle {moment.ran:,}; queue {moment.bank(bank, 'queue')}",
                  code=refusal.code, since=moment.ran, bank=bank)
    trail.end("register file", f"register file {design}, bank {bank}: {name}")
