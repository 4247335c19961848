"""Two banks with one read port each: operands of one bank wait; a reuse bit or another parity relieves (ampere)."""

from __future__ import annotations

from rfview.engine.defaults import OF_CORE
from rfview.learn.tour import Page, Tour

EIGHT = (("in 7 to 9: one a cycle", "cycle - $start <= 9"), ("in 10 to 14", "cycle - $start > 9 and cycle - $start <= 14"),
         ("in 15 or more", "cycle - $start > 14"))

TOUR = Tour(
    name="reuse",
    title="Why a reuse bit is worth a bank (ampere)",
    sentence="three operands of one bank, two of them kept by reuse bits, and registers of another parity",
    kernel="reuse", design="sram", scheduler=OF_CORE, preset="ampere",
    pages=(
        Page(
            title="Three reads of one bank",
            go=("until w0.state == issued and w0.last_pc == 10",),
            let={"start": "cycle"},
            panel="lens", warp="0",
            claims=("w0.last_pc == 10",),
            text="A sub-core's registers are in two banks, even ones and odd ones, with one read port each. w0 begins "
                 "eight products like {10:code}: all three operands are even. Their stall counts are 1, and the unit takes "
                 "one in every cycle.",
            source="Huerta et al., MICRO'25, section 5.3: two banks, one port of 1024 bits each",
            question="In how many cycles more will w0 issue the other seven?",
            choices=EIGHT,
            then=("until w0.last_pc == 17",),
            answer="In {cycle - $start}: the bank reads one operand per cycle, so a product takes three; w0 issues two "
                   "products ahead, which wait in Control and Allocate.",
        ),
        Page(
            title="Where it waits",
            go=("goto $start", "until w0.state == dispatch_stall"),
            let={"stalled": "cycle"},
            panel="lens", warp="0",
            claims=("w0.state == dispatch_stall", "rf.core.sub[0].held_bank == 1"),
            text="Cycle {cycle}: Allocate books an instruction's reads for the next three cycles, and bank 0 has not enough "
                 "left. So it holds its product, Control holds the next one behind it, and w0 cannot issue: "
                 "dispatch_stall. The lens shows whose operands have the port.",
            source="Huerta et al., MICRO'25, section 5.1.1: Control and Allocate, before the reads",
            question="For how many cycles?",
            choices=(("1", "cycle - $stalled == 1"), ("2", "cycle - $stalled == 2"),
                     ("3 or more", "cycle - $stalled > 2")),
            then=("until w0.state != dispatch_stall",),
            answer="{cycle - $stalled}, then one product passes, and it begins again. `e` (WHY) names the port, the "
                 "register that "
                   "has it, and what would help.",
        ),
        Page(
            title="Two reuse bits",
            go=("until w0.state == issued and w0.last_pc == 20",),
            let={"start": "cycle"},
            panel="lens", warp="0",
            claims=("w0.last_pc == 20",),
            text="The same eight products again, but {20:code}: two operands stay in the reuse cache for the next "
                 "instruction, one register per operand and bank. The first product fills it.",
            source="Huerta et al., MICRO'25, section 5.3.1: the register file cache, which the compiler manages",
            question="In how many cycles more will w0 issue the other seven?",
            choices=EIGHT,
            then=("until w0.last_pc == 27",),
            answer="In {cycle - $start}. From the second product on, bank 0 reads one operand and the cache has two: "
                   "two bits of the encoding are worth two ports.",
        ),
        Page(
            title="Another parity",
            go=("until w0.state == issued and w0.last_pc == 30",),
            let={"start": "cycle"},
            panel="lens", warp="0",
            claims=("w0.last_pc == 30",),
            text="Once more without reuse bits, but {30:code}: the factor that was in R4 is in R5 here, an odd "
                 "register. Bank 0 has two operands to read, bank 1 one.",
            source="Huerta et al., MICRO'25, section 5.3; compilers choose registers by parity for it",
            question="In how many cycles more will w0 issue the other seven?",
            choices=EIGHT,
            then=("until w0.last_pc == 37",),
            answer="In {cycle - $start}: two cycles each. Better than three and worse than one: with three operands and two "
                   "banks, only a reuse bit, or an operand that is no register, makes room for one product per cycle.",
        ),
    ),
)
