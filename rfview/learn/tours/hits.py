"""The register cache: operands that hit, the warps it has room for, and what it keeps from the main file (rfc)."""

from __future__ import annotations

from rfview.learn.tour import Page, Tour

TOUR = Tour(
    name="hits",
    title="Eight warps and a cache (rfc)",
    sentence="operands that are found in a small cache, and the few warps it has room for",
    kernel="sum", design="rfc", scheduler="two_level", recorded_as="dead",
    pages=(
        Page(
            title="An operand hits",
            go=("until event.rfc_reads > 0",),
            let={"warp": "rf.read_warp", "looked": "event.rfc_lookups", "hit": "event.rfc_reads"},
            panel="lens", warp="$warp",
            claims=("event.rfc_reads > 0",),
            text="An instruction of w{$warp} requests its operands in cycle {cycle}. The tags in its row of the cache are "
                 "checked first: {event.rfc_reads} of {event.rfc_lookups} operands so far were there.",
            source="RFC section 3.1: the register file cache captures values soon after they are produced",
            question="Of the operands of the next 150 cycles, how many will be served by the cache?",
            choices=(("none: it was luck", "event.rfc_reads == $hit"),
                     ("fewer than half", "event.rfc_reads > $hit and "
                                         "(event.rfc_reads - $hit) * 2 < event.rfc_lookups - $looked"),
                     ("half or more", "(event.rfc_reads - $hit) * 2 >= event.rfc_lookups - $looked")),
            then=("step 150",),
            answer="{event.rfc_reads - $hit} of {event.rfc_lookups - $looked}. Most values are read once, and soon after "
                   "they were written: a few entries per warp catch them.",
        ),
        Page(
            title="Room for eight",
            go=("until stall.suspended > 0 and count(w.membership == 1) == 8",),
            let={"waiting": "stall.suspended"},
            claims=("stall.suspended > 0",),
            always=("count(w.membership == 1) <= 8",),
            text="The cache has rows for eight warps, so only eight may issue: the active set. In cycle {cycle} "
                 "{count(w.membership == 1)} are in it, and {stall.suspended} wait outside (suspended).",
            source="RFC section 3.2: two-level scheduling with eight active warps",
            question="A warp that waits for memory leaves the set. 100 cycles from now, how many will be outside?",
            choices=(("as many as now", "stall.suspended == $waiting"), ("fewer", "stall.suspended < $waiting"),
                     ("more", "stall.suspended > $waiting")),
            then=("step 100",),
            answer="{stall.suspended}. Never more than eight were in the set, in any cycle of this run: a warp enters "
                   "only when another leaves.",
        ),
        Page(
            title="What the main file sees",
            go=("goto end",),
            panel="lens",
            claims=("event.rfc_lookups > 0",),
            text="The whole run: {event.rfc_lookups} operands were looked for in the cache, {event.rfc_departures} times a "
                 "warp left the set, and {event.rfc_flushes} entries were written back when their warps left.",
            source="RFC section 5.1: six entries keep 45 to 75 % of the reads from the main register file",
            question="What share of the operands came from the cache?",
            choices=(("less than half", "event.rfc_reads * 2 < event.rfc_lookups"),
                     ("half to nine tenths", "event.rfc_reads * 2 >= event.rfc_lookups and "
                                             "event.rfc_reads * 10 < event.rfc_lookups * 9"),
                     ("nine tenths or more", "event.rfc_reads * 10 >= event.rfc_lookups * 9")),
            answer="{event.rfc_reads * 100 // event.rfc_lookups} %: no value of this kernel is read late. `rfview "
                   "reproduce` measures the paper's claim over the paper's kinds of kernels.",
        ),
    ),
)
