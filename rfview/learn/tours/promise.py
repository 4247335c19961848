"""Control codes: stall counts and dependence counters in place of a scoreboard, and what a broken promise gives (ampere)."""

from __future__ import annotations

from rfview.engine.defaults import OF_CORE
from rfview.learn.tour import Page, Tour

TOUR = Tour(
    name="promise",
    title="What the compiler promises (ampere)",
    sentence="stall counts and counters in place of a scoreboard, and a wrong value where one is too short",
    kernel="promise", design="sram", scheduler=OF_CORE, preset="ampere",
    pages=(
        Page(
            title="A number in every instruction",
            go=("until w0.state == issued and w0.last_pc == 7",),
            let={"start": "cycle"},
            panel="code", warp="0",
            claims=("w0.last_pc == 7",),
            text="This is machine code on a sub-core of today. It has no scoreboard: nobody looks whether an operand is "
                 "ready. w0 has just issued {7:code}, whose sum takes four cycles until it can be read, and ten "
                 "until it is in its register. Its next instruction, {8:code}, reads it. In CODE, S04 is the first one's "
                 "stall count.",
            source="Huerta et al., MICRO'25, section 4: the stall counter; 5.3: results are bypassed",
            question="When will w0 issue the next one?",
            choices=(("in the next cycle: nothing stops it", "cycle - $start == 1"),
                     ("4 cycles later, as the stall count says", "cycle - $start == 4"),
                     ("later, when R9 has been written", "cycle - $start > 4")),
            then=("until w0.state == issued",),
            answer="{cycle - $start} cycles later. The compiler has counted the cycles; the warp's stall counter only runs "
                   "down. R9 is not yet in its register, but the bypass network has it.",
        ),
        Page(
            title="A counter for what nobody can count",
            go=("reverse-until changed(w0.R8[0])",),
            let={"start": "cycle"},
            panel="collectors", warp="0",
            claims=("rf.core.warp[0].counter[1] == 1", "w0.pc == 7"),
            text="How long a load takes, no compiler knows. So {6:code} counted counter 1 up when it issued (W1), and "
                 "{7:code} names that counter in its wait mask (B-1----). In cycle {cycle} the load's result, "
                 "{f32(w0.R8[0])} in lane 0, has just been written, and the counter is still "
                 "{rf.core.warp[0].counter[1]}.",
            source="Huerta et al., MICRO'25, section 4: six dependence counters per warp; 5.3: when they fall",
            question="After how many cycles more will w0 have issued?",
            choices=(("none: it does so now", "cycle == $start"), ("1", "cycle - $start == 1"),
                     ("2 or more", "cycle - $start > 1")),
            then=("until w0.state == issued",),
            answer="{cycle - $start}: the counter falls in the cycle after the write, and in that cycle the warp may go on.",
        ),
        Page(
            title="A promise that is not kept",
            go=("until w0.state == issued and w0.last_pc == 11",),
            panel="code", warp="0",
            claims=("w0.last_pc == 11",),
            text="{11:code} has issued, with a stall count of 1 where 4 would be right: somebody wrote this one by hand. "
                 "{12:code} issues in the next cycle, and R11 still holds what {10:code} left there. Lane 0 of R8 is "
                 "{f32(w0.R8[0])}.",
            source="Huerta et al., MICRO'25, Listing 2: a stall count too short reads the old value",
            question="What will lane 0 of R12 be?",
            choices=(("4 times R8, as the program says: hardware waits",
                      "abs(f32(w0.R12[0]) - 4 * f32(w0.R8[0])) < 0.00001"),
                     ("2 times R8: the old R11, twice", "abs(f32(w0.R12[0]) - 2 * f32(w0.R8[0])) < 0.00001"),
                     ("0", "w0.R12[0] == 0")),
            then=("until changed(w0.R12[0])",),
            answer="{f32(w0.R12[0])}. Nothing waited, and nothing complains: the wrong value just arrives. `rfview check` "
                   "finds such places on every path of a kernel, and says by how many cycles they are short.",
        ),
    ),
)
