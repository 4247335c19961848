"""The reasons for which only the sub-core makes a warp wait, with Nsight Compute's names."""

from __future__ import annotations

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
