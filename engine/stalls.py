"""The table of warp states: what a warp did, or the one reason why it did not issue, in every cycle.

Codes 0..31 belong to the machine and the five papers; users' designs add their own from 32 on (as data, not code).
Names follow Nsight Compute where it has one. Glyphs are one cell wide; families choose colours on the screens.
"""

from __future__ import annotations

from typing import NamedTuple


class Stall(NamedTuple):
    """One warp state: its code in the state record and everything a view needs to show it."""

    code: int
    name: str
    short: str
    glyph: str
    ascii: str
    family: str
    sentence: str


ISSUED = 0
NOT_SELECTED = 1
WAIT = 2
SHORT_SCOREBOARD = 3
LONG_SCOREBOARD = 4
BARRIER = 5
NO_INSTRUCTION = 6
SUSPENDED = 7
PIPE_THROTTLE = 8
COLLECTOR_FULL = 9
BANK_CONFLICT = 10
STT_WRITE = 11
WB_DRAIN = 12
WB_FULL = 13
X_TRANSFER = 14
REFRESH = 15
SHIFT = 16
RFC_FLUSH = 17
FINISHED = 18
NO_CTA = 19

# sets of states, by name: of slots without a running warp; those in which a warp does not wait; those that are no stall
NO_WARP = ("finished", "no_cta")
NOT_WAITING = ("issued", *NO_WARP)
NO_STALL = (*NOT_WAITING, "not_selected")

FIRST_FOREIGN_CODE = 32
MAX_CODES = 40

STALLS: tuple[Stall, ...] = (
    Stall(ISSUED, "issued", "issued", "█", "#", "issued", "The warp issued an instruction."),
    Stall(NOT_SELECTED, "not_selected", "not_sel", "○", "o", "ready", "The warp was ready; another warp was chosen."),
    Stall(WAIT, "wait", "wait", "w", "w", "scoreboard",
          "A register or predicate is held by a fixed-latency instruction that is still in a collector or a pipe."),
    Stall(SHORT_SCOREBOARD, "short_scoreboard", "short", "s", "s", "scoreboard",
          "A result of shared memory, constant memory or the SFU has not come back yet."),
    Stall(LONG_SCOREBOARD, "long_scoreboard", "long", "L", "L", "scoreboard",
          "A result of global, local or texture memory, or of an atomic, has not come back yet."),
    Stall(BARRIER, "barrier", "barrier", "B", "B", "barrier",
          "The warp waits at a barrier, or for its own memory operations at a membar."),
    Stall(NO_INSTRUCTION, "no_instruction", "fetch", "n", "n", "fetch",
          "The instruction buffer is empty, after a branch or while the fetch serves other warps."),
    Stall(SUSPENDED, "suspended", "suspend", "z", "z", "suspended",
          "The warp is ready but not in the scheduler's active set."),
    Stall(PIPE_THROTTLE, "pipe_throttle", "pipe", "p", "p", "structural",
          "The unit that would execute the instruction cannot take another one."),
    Stall(COLLECTOR_FULL, "collector_full", "collect", "c", "c", "structural", "No operand collector is free."),
    Stall(BANK_CONFLICT, "bank_conflict", "bank", "x", "x", "structural",
          "The instruction waited for has lost its register bank to another access in this cycle."),
    Stall(STT_WRITE, "stt_write", "stt", "▼", "v", "register_file",
          "The STT-RAM bank, or its write queue, is busy with a slow write."),
    Stall(WB_DRAIN, "wb_drain", "drain", "↓", "d", "register_file", "No write buffer is free: one still drains."),
    Stall(WB_FULL, "wb_full", "full", "≡", "F", "register_file", "The write buffer has no entry left."),
    Stall(X_TRANSFER, "x_transfer", "x_trans", "⇄", "t", "register_file",
          "The hybrid cell pair is moving its SRAM value to the STT side."),
    Stall(REFRESH, "refresh", "refresh", "↻", "r", "register_file", "The bank spends this cycle on a refresh."),
    Stall(SHIFT, "shift", "shift", "→", ">", "register_file", "The tape is not yet at the port."),
    Stall(RFC_FLUSH, "rfc_flush", "flush", "↧", "f", "register_file",
          "The warp left the active set and writes its live registers back."),
    Stall(FINISHED, "finished", "done", "·", ".", "empty", "The warp has ended; its CTA has not."),
    Stall(NO_CTA, "no_cta", "no_cta", "-", "-", "empty", "The warp slot is empty."),
)

BY_NAME = {stall.name: stall for stall in STALLS}
