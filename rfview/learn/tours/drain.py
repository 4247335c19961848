"""The drain stall: two write buffers over STT-RAM, and a scheduler that gives them no time (hrf)."""

from __future__ import annotations

from rfview.learn.tour import Page, Tour

TOUR = Tour(
    name="drain",
    title="The drain stall (hrf)",
    sentence="two write buffers over STT-RAM take turns, and round robin gives them no time to empty",
    kernel="sum", design="hrf", scheduler="lrr",
    pages=(
        Page(
            title="Two buffers take turns",
            go=("until any(w.state == wb_drain)",),
            let={"start": "cycle", "filling": "rf.buffer.state == 1", "draining": "rf.buffer.state == 2",
                 "warp": "w.state == wb_drain"},
            panel="lens", warp="$warp",
            claims=("stall.wb_drain > 0", "any(rf.buffer.state == 2)"),
            text="STT-RAM hardly leaks, but a write takes 4 cycles. So results go into a small SRAM buffer. When "
                 "another warp has a result, it gets the other buffer, and the first drains into STT-RAM. Cycle "
                 "{cycle}: one buffer fills for w{rf.buffer[$filling].owner}, the other drains for "
                 "w{rf.buffer[$draining].owner}, with {rf.buffer[$draining].used - rf.buffer[$draining].position} of "
                 "its registers left. A third warp has a result: no buffer is free, and "
                 "{stall.wb_drain} warps are stalled (wb_drain).",
            source="HRF section 4.3: the whole pipeline needs to stall",
            question="After how many cycles does the pipeline continue?",
            choices=(("1", "cycle - $start == 1"),
                     ("when the entry is written: 2 to 4", "cycle - $start >= 2 and cycle - $start <= 4"),
                     ("more than 4", "cycle - $start > 4")),
            then=("until stall.wb_drain == 0",),
            answer="{cycle - $start} cycles later the buffer is empty and takes the waiting result.",
        ),
        Page(
            title="How full was it?",
            go=("until rf.switches >= 40",),
            panel="lens",
            claims=("rf.switches >= 40",),
            text="A buffer has 64 entries, one for each register of a warp. By cycle {cycle}, warps have taken a buffer "
                 "{rf.switches} times. The scheduler is lrr: each ready warp issues once, then the next.",
            source="HRF section 4.4: 64 entries; section 5.1: usually fewer than 16 are used",
            question="100 cycles from now, how many of its 64 entries will the fuller buffer use?",
            choices=(("1 or 2", "max(rf.buffer.used) <= 2"),
                     ("3 to 16", "max(rf.buffer.used) > 2 and max(rf.buffer.used) <= 16"),
                     ("more than 16", "max(rf.buffer.used) > 16")),
            then=("step 100",),
            answer="{max(rf.buffer.used)} in cycle {cycle}. Under lrr nearly every result comes from a different warp "
                   "than the one before, so a buffer changes hands when it has hardly begun to fill: "
                   "64 entries buy nothing.",
        ),
        Page(
            title="The bill",
            go=("goto end",),
            panel="stalls",
            claims=("total.wb_drain > 0",),
            text="The whole run, in warp-cycles: {total.issued} issued, {total.wb_drain} wb_drain, "
                 "{total.long_scoreboard} waiting for memory, {total.wait} for fixed latencies.",
            source="HRF section 4.3 asks for a scheduler that stays with a warp until it waits for memory",
            question="What costs this run the most warp-cycles?",
            choices=(("the drains of the write buffers", "total.wb_drain > total.long_scoreboard and "
                                                         "total.wb_drain > total.wait"),
                     ("global memory", "total.long_scoreboard > total.wb_drain and total.long_scoreboard > total.wait"),
                     ("fixed latencies", "total.wait > total.wb_drain and total.wait > total.long_scoreboard")),
            then=(),
            answer="The paper asks for a scheduler that stays with a warp until it waits for memory: switch_on_stall. "
                   "`rfview compare vectoradd --designs sram,hrf --schedulers lrr,gto,switch_on_stall` shows in one table "
                   "what each scheduler leaves of the drains.",
        ),
    ),
)
