"""Bits that fade: a value that is only read, its lower half, which is refreshed too late, and what is left (edram)."""

from __future__ import annotations

from rfview.learn.tour import Page, Tour

TOUR = Tour(
    name="fade",
    title="Bits that fade (edram)",
    sentence="a coefficient that is read again and again, and its lower half, which is refreshed too late",
    kernel="longhorner", design="edram", scheduler="gto", settings={"edram.error_mode": "certain"},
    pages=(
        Page(
            title="A value that is only read",
            go=("until w0.state == issued and w0.last_pc == 20",),
            let={"word": "w0.R11[0]", "lost": "event.bits_lost"},
            panel="lens", warp="0",
            claims=("$lost == 0", "w0.R11[0] & 0xffff != 0"),
            text="R11 of w0 holds a coefficient, {w0.R11[0]:hex}, which every iteration of this loop reads and none writes. "
                 "This run has the hardest error mode: whatever is older than T0 = 512 cycles is lost (error_mode=certain).",
            source="eDRAM, refresh strategies; error_mode=certain is our own test curve",
            question="The row's lower half is refreshed every 8 x T0 from here on. What will R11 hold 1,200 cycles later?",
            choices=(("the same", "w0.R11[0] == $word"),
                     ("the same upper half; the lower one is 0", "w0.R11[0] == $word & 0xffff0000 and w0.R11[0] != $word"),
                     ("something else", "w0.R11[0] != $word and w0.R11[0] != $word & 0xffff0000")),
            then=("step 1200",),
            answer="{w0.R11[0]:hex}. Sign, exponent and the seven upper bits of the fraction are refreshed every T0; the "
                   "charge of the others is gone, and an empty cell reads as 0.",
        ),
        Page(
            title="Lost, or not even noticed",
            go=("until event.bits_lost > 0",),
            let={"lost": "event.bits_lost", "masked": "event.bits_masked"},
            panel="lens", warp="0",
            claims=("$lost > 0",),
            text="By cycle {cycle} the cells of lower halves that are older than T0 have lost their charge. If the bit "
                 "was 0 anyway, nothing has changed: it is masked.",
            source="eDRAM, error injection methodology: an error discharges a cell, from one to zero only",
            question="Of the cells that decayed here, how many held a 1?",
            choices=(("almost all", "$lost > 9 * $masked"), ("about half", "$lost * 3 > $masked and $masked * 3 > $lost"),
                     ("almost none", "$masked > 9 * $lost")),
            answer="{$lost} held a 1 and are lost, {$masked} held a 0. The lower bits of floats are as good as random.",
        ),
        Page(
            title="How much is gone",
            go=("goto end",),
            let={"whole": "coefficients[0]"},
            panel="lens", warp="0",
            claims=("$lost > 0",),
            text="The run has ended: {event.bits_lost} bits were lost in all. The first coefficient was "
                 "{f32(coefficients[0])} in memory, which is outside this register file.",
            source="IEEE 754: the lower half of a float is 16 of its 23 fraction bits",
            question="Of a value that lost its lower half, how much is missing?",
            choices=(("up to half of it", "f32($whole & 0xffff0000) * 2 <= f32($whole) and f32($whole) > 0"),
                     ("less than one hundredth", "abs(f32($whole & 0xffff0000) - f32($whole)) * 100 < abs(f32($whole)) and "
                                                 "f32($whole & 0xffff0000) != f32($whole)"),
                     ("nothing", "f32($whole & 0xffff0000) == f32($whole)")),
            answer="{f32($whole & 0xffff0000)} is left of {f32($whole)}. On the screen, `A` follows whether that reaches "
                   "the program's output, and `U` shows the output as a picture.",
        ),
    ),
)
