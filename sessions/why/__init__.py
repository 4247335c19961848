"""Why a warp does not issue: a chain of links from its stall back through time to a named physical resource.

    why(session, 7, 1310).text()

    w7 does not issue at 1,310: long_scoreboard, 106 cycles so far
     1 w7 waits for R12
     2 ← ld.global at PC 98 writes it, issued 1,204
     3 ← all 32 MSHRs have been taken since 1,180
    resource: MSHRs, 32 of them

It needs neither a screen nor numba, and works the same for live sessions and recordings. A design explains its own refusals
in its module (see designs.py).

    links   trail         the answer as data; following a cause to the next one
    past                  the machine at past cycles, read from chunks
    warps   active_set    why a warp did what it did in a cycle; why it is outside its scheduler's active set
    barriers  fetch       why it waits at a barrier; why it has no decoded instruction
    instructions  units  banks              why an instruction, an execution unit or a bank delays it
    subcore  subcore_flights                all of this on the sub-cores of Volta and later: of a warp; of an instruction
    memory  on_chip                         why a memory access delays it: in L1 and beyond, or in on-chip memory
    designs               passes a design's own refusals to its `why` function
"""

from __future__ import annotations

from rfview.engine.stalls import NOT_WAITING
from rfview.sessions.session import Session
from rfview.sessions.why import banks, designs, instructions, warps
from rfview.sessions.why.links import Chain, Link, Resource, Target
from rfview.sessions.machine import Machine
from rfview.sessions.why.past import Past
from rfview.sessions.why.trail import Explainers, Trail
from rfview.sessions.warps import check_warp

__all__ = ["Chain", "Link", "Past", "Resource", "Target", "explain", "why"]

EXPLAINERS = Explainers(warps.explain, instructions.explain, designs.explain, banks.explain)


def why(session: Session, warp: int | None = None, cycle: int | None = None) -> Chain:
    """Return why a warp did not issue in the cycle before `cycle`, as the state at `cycle` shows it.

    warp: None for the warp that has been stalled longest there. cycle: None for the cursor. Raises InputError for a warp
    slot or cycle that does not exist.
    """
    at = session.cycle if cycle is None else cycle
    session.timeline.require(at)
    past = Past(session.info, session.timeline)
    moment = past.at(at)
    if moment is None:
        moment = past.know(session.timeline.at(at))
    if warp is not None:
        check_warp(warp, moment.num_warps, "why")
    return explain(past, moment, stalled_longest(moment) if warp is None else warp)


def explain(past: Past, moment: Machine, warp: int) -> Chain:
    """Return the chain of one warp at one moment."""
    trail = Trail(past, moment, EXPLAINERS)
    trail.follow(moment, warp)
    return trail.chain(warp)


def stalled_longest(moment: Machine) -> int:
    """Return the warp whose present stall began first, the lowest of several; warp 0 if none is stalled."""
    stalled = [warp for warp in range(moment.num_warps) if moment.state_name(warp) not in NOT_WAITING]
    return min(stalled, key=lambda warp: (moment.warp(warp, "state_since_cycle"), warp), default=0)
