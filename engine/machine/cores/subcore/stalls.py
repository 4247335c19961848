"""The states of a sub-core's warps: reasons of its own, and what those of every core mean here; Nsight Compute's names."""

from __future__ import annotations

from msgspec.structs import replace

from rfview.engine import stalls
from rfview.engine.stalls import Stall

DISPATCH_STALL, LG_THROTTLE, MIO_THROTTLE = 13, 14, 15
IMC_MISS, BRANCH_RESOLVING, SLEEPING, MATH_PIPE_THROTTLE, MEMBAR = range(27, 32)

STALLS = (
    Stall(DISPATCH_STALL, "dispatch_stall", "dispatch", "d", "d", "structural",
          "The sub-core's Control stage holds an instruction that Allocate has no read ports for.", "no read ports ahead",
          "MICRO'25 section 5.1.1"),
    Stall(LG_THROTTLE, "lg_throttle", "lg", "g", "g", "structural",
          "The sub-core has no credit left for an access to global or local memory.", "no memory credit",
          "MICRO'25 section 5.4: five accesses per sub-core"),
    Stall(MIO_THROTTLE, "mio_throttle", "mio", "m", "m", "structural",
          "The sub-core has no credit left for an access to shared memory.", "no shared-memory credit",
          "MICRO'25 section 5.4: five accesses per sub-core"),
    Stall(BRANCH_RESOLVING, "branch_resolving", "branch", "j", "j", "fetch",
          "The warp has jumped, and its next instructions have not arrived.", "target not fetched", "Nsight Compute's name"),
    Stall(SLEEPING, "sleeping", "sleep", "Z", "Z", "barrier", "The warp sleeps (NANOSLEEP).", "NANOSLEEP",
          "Nsight Compute's name"),
    Stall(MATH_PIPE_THROTTLE, "math_pipe_throttle", "math", "u", "u", "structural",
          "The input of the pipe that would execute the instruction is taken.", "pipe's input taken",
          "MICRO'25 section 5.1.1: an input latch, held for two cycles by a unit of 16 lanes"),
    Stall(MEMBAR, "membar", "membar", "b", "b", "barrier",
          "The warp waits at a memory barrier for its own accesses.", "own accesses, at a membar", "Nsight Compute's name"),
    Stall(IMC_MISS, "imc_miss", "const", "k", "k", "fetch",
          "A constant operand of the instruction is not in the sub-core's L0 cache of constants.", "constant not in L0",
          "MICRO'25 section 5.4; the name, immediate constant cache miss, is Nsight Compute's"),
)

# states of every core that come about otherwise here: name -> (sentence, meaning, source)
_HERE = {
    "issued": ("The warp issued an instruction.", "issued an instruction",
               "MICRO'25 section 5.1: a sub-core issues at most one instruction per cycle"),
    "not_selected": ("The warp was ready; another warp of its sub-core was chosen.", "ready, not chosen",
                     "MICRO'25 section 5.1.2: the warp that issued last goes first, then the youngest"),
    "wait": ("The stall count of the warp's last instruction has not run out.", "stall count", "MICRO'25 section 4"),
    "short_scoreboard": ("A dependence counter is not 0 yet, raised last by shared memory, the SFU or another unit of "
                         "variable latency.", "counter: shared, SFU",
                         "MICRO'25 section 4; our assumption: the unit that raised a counter last gives the state"),
    "long_scoreboard": ("A dependence counter is not 0 yet, raised last by an access to global, local or texture memory.",
                        "counter: global, local",
                        "MICRO'25 section 4; our assumption: the unit that raised a counter last gives the state"),
    "barrier": ("The warp waits at a barrier, where its threads meet again, or before one until its accesses have left.",
                "BAR, BSYNC", "RULES.md B11.5: accesses leave before BAR is executed"),
    "no_instruction": ("The warp's instruction buffer is empty: it has just begun, or fetch serves other warps.",
                       "I-buffer empty", "MICRO'25 section 5.2: three instructions per warp, one fetched per cycle"),
    "bank_conflict": ("The instruction finds no free port of its register bank.", "bank's port taken",
                      "MICRO'25 section 5.3: a read and a write of 1,024 bits per bank and cycle"),
}
_NEVER = ("suspended", "pipe_throttle", "collector_full")       # of Fermi's scheduler, pipes and collectors

# every state of a sub-core's warps that no design adds
STATES = (*(replace(stall, **dict(zip(("sentence", "meaning", "source"), _HERE[stall.name], strict=True)))
            if stall.name in _HERE else stall
            for stall in stalls.STALLS if stall.name not in _NEVER), *STALLS)
