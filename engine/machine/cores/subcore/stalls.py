"""The reasons for which only the sub-core makes a warp wait, with Nsight Compute's names."""

from __future__ import annotations

from rfview.engine.stalls import Stall

DISPATCH_STALL, LG_THROTTLE, MIO_THROTTLE, BRANCH_RESOLVING, SLEEPING = 13, 14, 15, 28, 29

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
)
