"""The price of a place: a tape that moves only when it is its turn, and the buffer that hides writes (racetrack)."""

from __future__ import annotations

from rfview.learn.tour import Page, Tour

TOUR = Tour(
    name="place",
    title="The price of a place (racetrack)",
    sentence="without preshifting every access waits for its shifts, and a small buffer hides the writes",
    kernel="sum", design="racetrack", scheduler="lrr", settings={"racetrack.preshift": "0"},
    pages=(
        Page(
            title="Every step is waited for",
            go=("until stall.shift >= 4",),
            let={"waiting": "stall.shift", "steps": "event.shifts", "reads": "event.rm_reads", "writes": "event.rm_writes"},
            panel="lens",
            claims=("stall.shift >= 4",),
            always=("event.preshifts == 0",),
            text="The tour \"The racetrack shift\" ran with preshifting; here it is off. In cycle {cycle} {$waiting} warps "
                 "wait for a tape (shift): a bank moves only while it holds one of the four places.",
            source="racetrack section 4.4: what preshifting adds; here `--set racetrack.preshift=0`",
            question="In the next 100 cycles, how many steps will an access cost on average?",
            choices=(("less than one", "event.shifts - $steps < event.rm_reads - $reads + event.rm_writes - $writes"),
                     ("one to three", "event.shifts - $steps >= event.rm_reads - $reads + event.rm_writes - $writes and "
                                      "event.shifts - $steps < 3 * (event.rm_reads - $reads + event.rm_writes - $writes)"),
                     ("three or more",
                      "event.shifts - $steps >= 3 * (event.rm_reads - $reads + event.rm_writes - $writes)")),
            then=("step 100",),
            answer="{event.shifts - $steps} steps for {event.rm_reads - $reads + event.rm_writes - $writes} accesses. Only "
                   "every 16th register is at a port at any time; the distance depends on which one comes next.",
        ),
        Page(
            title="A result that need not wait",
            go=("until any(rf.tape.wb_count == 2)",),
            let={"bank": "rf.tape.wb_count == 2", "reg": "rf.tape[$bank].wb[0].reg", "full": "cycle"},
            panel="lens",
            claims=("rf.tape[$bank].wb_count == 2",),
            text="Bank {$bank} holds two results in its write buffer in cycle {cycle}: they are done as far as their warps "
                 "know, but the tape still has to carry them to a port.",
            source="racetrack section 2.3: why there is a write buffer; section 5: two entries for each bank",
            question="How long until one of the two has reached the tape?",
            choices=(("the next cycle", "cycle - $full == 1"),
                     ("two to nine cycles", "cycle - $full > 1 and cycle - $full < 10"),
                     ("ten or more", "cycle - $full >= 10")),
            then=("until rf.tape[$bank].wb_count < 2",),
            answer="{cycle - $full} cycles. Meanwhile a third result for this bank would have had to wait in its pipe.",
        ),
        Page(
            title="The bill",
            go=("goto end",),
            panel="lens",
            claims=("event.shifts > 0",),
            text="The whole run took {cycle} cycles: {event.rm_reads} reads, {event.rm_writes} writes, {event.shifts} "
                 "steps, and accesses waited for all of them.",
            source="racetrack section 5; Table 3: 56 pJ per step",
            question="How many steps did an access cost in the end?",
            choices=(("less than one", "event.shifts < event.rm_reads + event.rm_writes"),
                     ("one to three", "event.shifts >= event.rm_reads + event.rm_writes and "
                                      "event.shifts < 3 * (event.rm_reads + event.rm_writes)"),
                     ("three or more", "event.shifts >= 3 * (event.rm_reads + event.rm_writes)")),
            answer="{event.shifts / (event.rm_reads + event.rm_writes):ratio}. On the screen, `v` with racetrack, or "
                   "`:fork a set racetrack.preshift=1`, shows what moving ahead of time is worth; `rfview map` looks for "
                   "better places.",
        ),
    ),
)
