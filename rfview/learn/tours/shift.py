"""The racetrack shift: registers on tapes that must move to a port, and moving ahead of time (racetrack)."""

from __future__ import annotations

from rfview.learn.tour import Page, Tour

TOUR = Tour(
    name="shift",
    title="The racetrack shift",
    sentence="registers lie on tapes that move under their ports, four banks at a time, and some move ahead",
    kernel="sum", design="racetrack", scheduler="lrr",
    pages=(
        Page(
            title="The tape is elsewhere",
            go=("until any(rf.tape.activity == 3 and abs(rf.tape.current - rf.tape.target) >= 3)",),
            let={"bank": "rf.tape.activity == 3 and abs(rf.tape.current - rf.tape.target) >= 3", "start": "cycle",
                 "far": "abs(rf.tape[$bank].current - rf.tape[$bank].target)"},
            panel="lens",
            claims=("$far >= 3",),
            text="A bank of racetrack memory keeps its registers as magnetic domains on tapes. Sixteen ports are placed "
                 "along the tapes, and every eighth register is at a port. Bank {$bank} is shifted by "
                 "{rf.tape[$bank].current} (◆), but the next request needs offset {rf.tape[$bank].target} (◇).",
            source="racetrack sections 2.2 and 2.3; Table 3: a step takes 0.61 ns, two fit into a cycle of 1.43 ns",
            question="How many cycles until the tape of bank {$bank} is at offset {rf.tape[$bank].target}?",
            choices=(("1", "cycle - $start == 1"), ("one for two steps: fewer than {$far}", "cycle - $start > 1 and "
                     "cycle - $start < $far"), ("one per step: {$far}, or more", "cycle - $start >= $far")),
            then=("until rf.tape[$bank].current == rf.tape[$bank].target",),
            answer="{cycle - $start} cycles. What it costs to read a register depends on where it lies.",
        ),
        Page(
            title="Four places",
            go=("until any(w.state == shift) and popcount(rf.busy) == 4",),
            let={"warp": "w.state == shift"},
            panel="lens", warp="$warp",
            claims=("any(w.state == shift)",),
            always=("popcount(rf.busy) <= 4",),
            text="{stall.shift} warps wait for a tape in cycle {cycle} (shift). {popcount(rf.busy)} banks have a "
                 "place in this cycle: they shift or access. {count(rf.tape.activity == 4)} more banks have requests "
                 "too and move their tapes without a place: preshift.",
            source="racetrack section 2.3: at most four banks can be accessed at the same time; section 4.4: preshifting",
            question="What is the largest number of banks with a place in the same cycle of this run?",
            choices=(("all sixteen", "popcount(rf.busy) > 4"), ("four", "popcount(rf.busy) == 4"),
                     ("fewer than four", "popcount(rf.busy) < 4")),
            then=("step", "until popcount(rf.busy) >= 4"),
            answer="Cycle {cycle}: {popcount(rf.busy)} banks have one, and there are never more.",
        ),
        Page(
            title="Moving ahead of time",
            go=("goto end",),
            panel="lens",
            claims=("event.preshifts > 0",),
            text="The whole run: {event.rm_reads} reads and {event.rm_writes} writes at the ports.",
            source="racetrack section 4.4; energy counts every step (Table 3: 56 pJ each)",
            question="Of all steps of the tapes, how many were made ahead of time, while another bank was served?",
            choices=(("none: a bank must have its place first", "event.preshifts == 0"),
                     ("less than half", "event.preshifts > 0 and event.preshifts < event.shifts"),
                     ("half or more", "event.preshifts >= event.shifts")),
            answer="{event.preshifts} ahead of time, {event.shifts} with a place: "
                   "{(event.shifts + event.preshifts) / (event.rm_reads + event.rm_writes):ratio} steps per access. "
                   "Registers can be placed by the order in which they are used: `rfview map` writes such a mapping.",
        ),
    ),
)
