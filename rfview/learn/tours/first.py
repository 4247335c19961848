"""First steps: warps, states, stepping both ways and a register's value, on the plain SRAM register file."""

from __future__ import annotations

from rfview.learn.tour import Page, Tour

TOUR = Tour(
    name="first",
    title="First steps",
    sentence="warps and their states, time forwards and backwards, a value in a register",
    kernel="sum", design="sram", scheduler="gto",
    pages=(
        Page(
            title="Warps and states",
            go=("until any(w.state == issued)",),
            claims=("stall.issued > 0",),
            always=("stall.issued <= 2",),
            text="This is one GPU core that adds two vectors, c = a + b. Each row of WARPS is a warp: 32 threads that "
                 "execute one instruction together. In every cycle a warp is in exactly one state: issued (a block), "
                 "or the reason why not (a glyph; K explains the one in focus). In cycle {cycle}, {stall.issued} warps "
                 "have issued and {count(w.cta != 255)} are resident.",
            source="HC-RF Table III: two schedulers; even warps belong to one, odd warps to the other",
            question="The core has two schedulers. How many instructions can a cycle of this run issue at most?",
            choices=(("one", "stall.issued == 1"), ("two, one per scheduler", "stall.issued == 2"),
                     ("as many as warps are ready", "stall.issued > 2")),
            then=("until stall.issued >= 2",),
            answer="Cycle {cycle} issues {stall.issued}: no scheduler can issue more than one instruction per cycle.",
        ),
        Page(
            title="One cycle later",
            go=("until w0.state == issued and w0.last_pc == 2",),
            warp="0",
            claims=("(w0.sb_write >> 2) & 1 == 1",),
            text="w0 has just issued {w0.last_pc:code}. Its result goes into R2, and the adder and the write port "
                 "take their time. Its next instruction is {w0.pc:code}.",
            source="latencies: GPGPU-Sim's GTX480; a scoreboard marks registers with a pending write",
            question="What will w0 do in the next cycle? Press s to see.",
            choices=(("issue it", "w0.state == issued"), ("wait for a fixed-latency result (w)", "w0.state == wait"),
                     ("wait for memory (L)", "w0.state == long_scoreboard"),
                     ("nothing: its instruction buffer is empty (n)", "w0.state == no_instruction")),
            then=("step",),
            answer="It is {w0.state:state}: R2 is still on its way (changes are underlined). Other "
                   "warps issue meanwhile.",
        ),
        Page(
            title="Waiting for memory",
            go=("until w0.state == long_scoreboard",),
            let={"start": "cycle"},
            warp="0",
            claims=("w0.state == long_scoreboard", "w0.num_issued > 0"),
            text="w0 needs R{w0.blocker} for {w0.pc:code}, and that register comes from global memory: the letter L. "
                 "{stall.long_scoreboard} warps wait like this in cycle {cycle}.",
            source="RFC section 3.2: global memory and texture results are long-latency",
            question="For how many cycles will w0 stay in this state? ( s steps one cycle, ) ten, } a hundred )",
            choices=(("fewer than 20", "cycle - $start < 20"), ("20 to 99", "cycle - $start >= 20 and cycle - $start < 100"),
                     ("100 or more", "cycle - $start >= 100")),
            then=("until w0.state != long_scoreboard",),
            answer="{cycle - $start} cycles. Hiding them is what the other warps are for, and why a GPU needs so many "
                   "registers.",
        ),
        Page(
            title="Time runs both ways",
            let={"seen": "cycle"},
            go=("until w0.state == issued and w0.last_pc == 14",),
            warp="0",
            claims=("w0.last_pc == 14",),
            text="w0 has the value and issued {w0.last_pc:code} in cycle {cycle - 1}. Now go backwards: S is one "
                 "cycle back, I the warp's previous issue, [s where it began to wait.",
            source="rfview itself: a recording keeps every cycle as differences between complete states",
            question="Which instruction did w0 issue before this one? I goes there.",
            choices=(("{12:code}", "w0.last_pc == 12"), ("{13:code}", "w0.last_pc == 13"),
                     ("{17:code}", "w0.last_pc == 17")),
            then=("reverse-until w0.state == issued",),
            answer="{w0.last_pc:code}, in cycle {cycle - 1}. Nothing was run again: every cycle of the past is there.",
        ),
        Page(
            title="A value, lane by lane",
            go=("goto $seen", "until w0.state == issued and w0.last_pc == 17",),
            warp="0", panel="registers",
            claims=("w0.last_pc == 17",),
            text="REGISTERS (key r) shows every register of a warp in its 32 lanes. Lane 0 loaded a[0] and b[0] from "
                 "memory: {f32(mem[a])} and {f32(mem[b])}. w0 issues the store of R2 now.",
            source="HC-RF section IV-A: a warp-register is one row of 32 lanes",
            question="What does lane 0 of R2 hold?",
            choices=(("the sum, a[0] + b[0]", "abs(f32(w0.R2[0]) - (f32(mem[a]) + f32(mem[b]))) < 0.000001"),
                     ("the product, a[0] x b[0]", "abs(f32(w0.R2[0]) - f32(mem[a]) * f32(mem[b])) < 0.000001"),
                     ("an address", "w0.R2[0] == a")),
            then=("step",),
            answer="{f32(w0.R2[0])}, which is what the kernel's result in memory will be. Real values, bit for bit: "
                   "`print f32(w0.R2[0])` after : shows it, too.",
        ),
    ),
)
