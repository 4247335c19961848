"""The approximate refresh: eDRAM forgets, and floats are refreshed less often than their exponents need (edram)."""

from __future__ import annotations

from rfview.learn.tour import Page, Tour

BIT = "(rf.approximate[$row // 64] >> ($row % 64)) & 1"

TOUR = Tour(
    name="refresh",
    title="The approximate refresh (edram)",
    sentence="cells that forget, a flag per register, and a bit lost in a value that is used again and again",
    kernel="horner", design="edram", scheduler="gto", settings={"edram.error_mode": "literal"},
    pages=(
        Page(
            title="A refresh takes the bank",
            go=("until stall.refresh > 0",),
            let={"start": "cycle", "warp": "w.state == refresh"},
            warp="$warp",
            claims=("stall.refresh > 0",),
            text="eDRAM cells lose their charge: every row must be read and written back within T0 = 512 cycles (11 "
                 "nm). A refresh occupies its bank. In cycle {cycle}, w{$warp} wanted to read a register from such a "
                 "bank and waits: refresh.",
            source="eDRAM, Table 1: T0; our assumption: read and write-back take one bank cycle",
            question="For how many cycles will w{$warp} be in this state?",
            choices=(("one", "cycle - $start == 1"), ("two to ten", "cycle - $start >= 2 and cycle - $start <= 10"),
                     ("T0, until the next round", "cycle - $start > 10")),
            then=("until w$warp.state != refresh",),
            answer="{cycle - $start}: the bank is back in the next cycle. With 64 rows per bank, one bank cycle in "
                   "eight goes to refreshes at 11 nm.",
        ),
        Page(
            title="Who may be approximate",
            go=("until w0.state == issued and w0.last_pc == 20",),
            let={"reg": "11", "row": "w0.reg_base + 11"},
            warp="0",
            claims=(f"({BIT}) == 0",),
            text="w0 has issued {w0.last_pc:code}. R11 was loaded from memory, and a load says nothing about what the "
                 "bits mean: the row is flagged precise, so all of it is refreshed every T0.",
            source="eDRAM, tracking approximate values: floating-point instructions reveal them when they retire",
            question="The instruction is a floating-point one, and R11 is one of its sources. What will R11's flag "
                     "say when it has retired?",
            choices=(("precise: it was only read", f"({BIT}) == 0"),
                     ("approximate: sources and destination hold floats", f"({BIT}) == 1")),
            then=("until not (w0.sb_write >> 13) & 1",),
            answer="The flag of R11 is {(rf.approximate[$row // 64] >> ($row % 64)) & 1} (1 = approximate). From now "
                   "on the lower half of each of its words is refreshed only every 8 x T0; sign, exponent and the "
                   "upper fraction bits are kept.",
        ),
        Page(
            title="Half the refreshes",
            go=("goto 513",),
            let={"upper": "event.row_refreshes", "lower": "event.low_refreshes"},
            panel="lens",
            text="Cycle {cycle}: one T0 has passed, and {$upper} rows had their upper halves refreshed, {$lower} "
                 "their lower halves as well. {event.approximate_turns} refreshes met an approximate row.",
            source="eDRAM, refresh strategies: M = 3, so lower halves of approximate rows wait for 8 x T0",
            question="In the second T0, how many of the rows will have their lower halves refreshed?",
            choices=(("all of them", "event.low_refreshes - $lower >= event.row_refreshes - $upper"),
                     ("more than half", "event.low_refreshes - $lower < event.row_refreshes - $upper and "
                                        "(event.low_refreshes - $lower) * 2 > event.row_refreshes - $upper"),
                     ("fewer than half", "(event.low_refreshes - $lower) * 2 <= event.row_refreshes - $upper")),
            then=("step 511",),
            answer="{event.low_refreshes - $lower} of {event.row_refreshes - $upper}: only rows that hold floats are "
                   "left out, and so small a kernel fills few of the 1,024 rows. The paper saves up "
                   "to a third of the refresh energy.",
        ),
        Page(
            title="A bit is lost",
            go=("until event.bits_lost > 0",),
            let={"word": "rf.struck != 0", "bit": "popcount((rf.struck[$word] & -rf.struck[$word]) - 1)",
                 "row": "$word * 64 + $bit",
                 "warp": "w.cta != 255 and w.reg_base <= $row and $row < w.reg_base + launch.registers",
                 "reg": "$row - w$warp.reg_base", "lane": "changed(w$warp.R$reg)", "now": "w$warp.R$reg[$lane]"},
            panel="registers", warp="$warp",
            claims=("event.bits_lost == 1", f"({BIT}) == 1"),
            text="Cycle {cycle}: lane {$lane} of R{$reg} in w{$warp} has lost a bit. It now holds {$now:hex}, "
                 "{f32(w$warp.R$reg[$lane])} as a float.",
            source="eDRAM, methodology: the paper's words, P(8 T0) at every T0 (error_mode = literal); the "
                   "probabilities are our assumption",
            question="What did it hold in the previous cycle? S goes there.",
            choices=(("a number slightly larger in size: cells only discharge",
                      "w$warp.R$reg[$lane] > $now and w$warp.R$reg[$lane] >> 16 == $now >> 16"),
                     ("another exponent: a wildly different number", "w$warp.R$reg[$lane] >> 16 != $now >> 16"),
                     ("a number smaller in size", "w$warp.R$reg[$lane] < $now")),
            then=("back",),
            answer="{w$warp.R$reg[$lane]:hex}, {f32(w$warp.R$reg[$lane])}: one bit of the lower half, so the value is "
                   "off by {abs(f32(w$warp.R$reg[$lane]) - f32($now))}. It stays in the register, and every later "
                   "result of that lane is computed from it: `rfview run` prints the error of the output.",
        ),
    ),
)
