"""The table of warp states: what a warp did, or the one reason why it did not issue, in every cycle.

The reasons here are the machine's; a design's own are in its file (`stalls=` of its `Design`). A code is a number within one
run: recordings contain the table that they were made with, and their readers find a state by its name.
Names follow Nsight Compute where it has one. Glyphs are one cell wide; families choose colours on the screens.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct


class Stall(Struct, frozen=True, omit_defaults=True):
    """One warp state: its code in the state record and everything a view needs to show it.

    code: of a bundled design from FIRST_DESIGN_CODE on, of a user's design, which can be built over a bundled one, from
    FIRST_FOREIGN_CODE on. meaning: the sentence in a few words, for narrow columns. source: of the rule; without one it is
    the design's.
    """

    code: Annotated[int, Meta(ge=0, le=63)]
    name: str
    short: str
    glyph: str
    ascii: str
    family: str
    sentence: str
    meaning: str = ""
    source: str = ""


(ISSUED, NOT_SELECTED, WAIT, SHORT_SCOREBOARD, LONG_SCOREBOARD, BARRIER, NO_INSTRUCTION, SUSPENDED, PIPE_THROTTLE,
 COLLECTOR_FULL, BANK_CONFLICT, FINISHED, NO_CTA) = range(13)
FIRST_DESIGN_CODE = 16
STT_WRITE, WB_FULL = 16, 17     # reasons of several bundled designs; the others' codes are in their files
FIRST_FOREIGN_CODE = 32
MAX_CODES = 40

# sets of states, by name: of slots without a running warp; those in which a warp does not wait; those that are no stall
NO_WARP = ("finished", "no_cta")
NOT_WAITING = ("issued", *NO_WARP)
NO_STALL = (*NOT_WAITING, "not_selected")

STALLS: tuple[Stall, ...] = (
    Stall(ISSUED, "issued", "issued", "█", "#", "issued", "The warp issued an instruction.", "issued an instruction",
          "RFC section 2.1: single issue, in order; HC-RF Table III: two schedulers"),
    Stall(NOT_SELECTED, "not_selected", "not_sel", "○", "o", "ready", "The warp was ready; another warp was chosen.",
          "ready, not chosen", "RFC section 3.2 and HRF section 4.3 on schedulers; the name is Nsight Compute's"),
    Stall(WAIT, "wait", "wait", "w", "w", "scoreboard",
          "A register or predicate is held by a fixed-latency instruction that is still in a collector or a pipe.",
          "fixed-latency result", "latencies: GTX480, RFC Table 4; our assumption: WAR and WAW are counted here too"),
    Stall(SHORT_SCOREBOARD, "short_scoreboard", "short", "s", "s", "scoreboard",
          "A result of shared memory, constant memory or the SFU has not come back yet.", "shared memory, SFU",
          "RFC section 3.2: shared memory and ALUs are short latencies; our assumption: the split by unit"),
    Stall(LONG_SCOREBOARD, "long_scoreboard", "long", "L", "L", "scoreboard",
          "A result of global, local or texture memory, or of an atomic, has not come back yet.", "global, local, texture",
          "RFC section 3.2: global memory and textures are long-latency operations"),
    Stall(BARRIER, "barrier", "barrier", "B", "B", "barrier",
          "The warp waits at a barrier, or for its own memory operations at a membar.", "bar.sync, membar",
          "our assumption: CUDA's bar.sync and membar; no paper models them"),
    Stall(NO_INSTRUCTION, "no_instruction", "fetch", "n", "n", "fetch",
          "The instruction buffer is empty, after a branch or while the fetch serves other warps.", "I-buffer empty",
          "our assumption: two decoded instructions per warp; only preset gtx480 has an instruction cache"),
    Stall(SUSPENDED, "suspended", "suspend", "z", "z", "suspended",
          "The warp is ready but not in the scheduler's active set.", "not in the active set",
          "RFC section 3.2: pending warps wait outside the active set; HRF section 4.3"),
    Stall(PIPE_THROTTLE, "pipe_throttle", "pipe", "p", "p", "structural",
          "The unit that would execute the instruction cannot take another one.", "unit busy",
          "our assumption: initiation intervals and queues of GTX480"),
    Stall(COLLECTOR_FULL, "collector_full", "collect", "c", "c", "structural", "No operand collector is free.",
          "no collector free", "HC-RF section IV on operand collectors; their number: GTX480"),
    Stall(BANK_CONFLICT, "bank_conflict", "bank", "x", "x", "structural",
          "The instruction waited for has lost its register bank to another access in this cycle.",
          "bank taken this cycle", "RFC section 2.1 and HC-RF section IV-A: a bank serves one access per port and cycle"),
    Stall(FINISHED, "finished", "done", "·", ".", "empty", "The warp has ended; its CTA has not.", "warp has ended",
          "our assumption: a state of its own, so that states add up to warps x cycles"),
    Stall(NO_CTA, "no_cta", "no_cta", "-", "-", "empty", "The warp slot is empty.", "no block resident",
          "our assumption: a state of its own, so that states add up to warps x cycles"),
)

BY_NAME = {stall.name: stall for stall in STALLS}

# for the `stalls` of the bundled designs that give these reasons
SLOW_STT_WRITE = Stall(STT_WRITE, "stt_write", "stt", "▼", "v", "register_file",
                       "The STT-RAM bank, or its write queue, is busy with a slow write.", "slow STT write",
                       "HRF section 6.2: the pipeline stalls; HC-RF section V-C: the bank; HRF Table 1: 4 cycles")
FULL_BUFFER = Stall(WB_FULL, "wb_full", "full", "≡", "F", "register_file", "The write buffer has no entry left.",
                    "buffer has no entry", "racetrack section 5: two entries per bank; our assumption: 16 in single_buffer")
