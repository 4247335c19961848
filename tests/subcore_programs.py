"""Golden programs of the sub-core: small programs with control codes, and the cycles in which they must issue.

The table belongs to two machines: the plain model in tests/reference/subcore.py, and the engine's sub-core. Sources: M =
printed by Huerta et al. (MICRO'25), table, listing or figure; "rules" = follows from the published rules, by hand or with
a model of them; "assumed" = our rule for what no source states.

A line is `OP R1 R2.reuse R3 s4 w0 r1 q0,3 y`: destination (not of stores) and sources; stall count s, write barrier w, read
barrier r, counters waited for q, y = yield. `DEPBAR.LE SB0,1,2` lets at most one access be outstanding at counter 0, none at 2. `*8` repeats.
"""

from __future__ import annotations

from dataclasses import dataclass

STORES = ("STG", "STS")
NO_OPERANDS = ("NOP",)


@dataclass(frozen=True)
class Line:
    """One instruction: op without width, operands, control code. width: bytes per lane of an access.

    dst, write, read: None = none. reuse: positions of operands that stay in the reuse cache. limit: of DEPBAR, the counter
    and how many accesses it may have outstanding; then counters that must be 0.
    """

    op: str
    dst: int | None = None
    src: tuple[int, ...] = ()
    reuse: tuple[int, ...] = ()
    stall: int = 1
    yields: bool = False
    write: int | None = None
    read: int | None = None
    wait: tuple[int, ...] = ()
    limit: tuple[int, ...] | None = None
    width: int = 4


def parse(text: str) -> list[Line]:
    """Return the instructions of a program, which are separated by semicolons."""
    program = []
    for part in text.split(";"):
        part, _, times = part.partition("*")
        program += [_line(part.split())] * int(times or 1)
    return program


def _line(words: list[str]) -> Line:
    """Return one instruction from its words."""
    op, _, width = words[0].partition(".")
    regs: list[int] = []
    reuse: list[int] = []
    control: dict[str, int] = {}
    wait: tuple[int, ...] = ()
    limit = None
    is_store = op in STORES
    for word in words[1:]:
        if word.startswith("R"):
            number, dot, _ = word[1:].partition(".")
            if dot:
                reuse.append(len(regs) - (0 if is_store else 1))
            regs.append(int(number))
        elif word.startswith("SB"):
            limit = tuple(int(number) for number in word[2:].split(","))
        elif word[0] == "q":
            wait = tuple(int(counter) for counter in word[1:].split(","))
        else:
            control[word[0]] = int(word[1:] or 1)
    has_result = bool(regs) and not is_store
    return Line(op, regs[0] if has_result else None, tuple(regs[1:] if has_result else regs), tuple(reuse),
                control.get("s", 1), "y" in control, control.get("w"), control.get("r"), wait, limit,
                int(width) // 8 if width.isdigit() else 4)


@dataclass(frozen=True)
class Golden:
    """A program per warp, from warp 0 up, and what it must do.

    subcores: the sub-core of each warp; () = all on sub-core 0. issues: per warp, the cycle of each issue, the first one in
    cycle 1; programs may go on behind them. machine: of which GPU. short: the hazards, as (instruction, cycles short).
    """

    name: str
    source: str
    programs: tuple[str, ...]
    issues: tuple[tuple[int, ...], ...]
    machine: str = "ga10x"
    subcores: tuple[int, ...] = ()
    short: tuple[tuple[str, int], ...] = ()


def _counted(*spans: tuple[int, int]) -> tuple[int, ...]:
    """Return the cycles of spans, both ends included."""
    return tuple(cycle for first, last in spans for cycle in range(first, last + 1))


LISTING1 = "CLK; NOP; FFMA R11 R10 R12 R14; FFMA R13 R16 {}; NOP; CLK"
LISTING2 = "CLK; NOP; FADD R1 R2 R3 s{}; FFMA R5 R1 R1 R1; NOP; CLK"
LISTING3 = "MOV R40 R2; MOV R43 R4 s4; MOV R41 R43 s{}; LDG R36 R40 R41 w0 s2"
EIGHT_LOADS = "NOP; " + "; ".join(f"LDG R{reg} R2 w0" for reg in range(4, 12))
SHARED_LOADS = "; ".join(f"LDS R{reg} R2 w0" for reg in range(4, 13))
SEVEN_LOADS = "; ".join(f"LDG R{reg} R2 w0" for reg in range(4, 11))
SAME_BANK = "FFMA R20 R2 R4 R6 *5"
NOPS = "NOP; NOP {}; NOP *30"
FIGURE2 = ("LDG R12 R2 w3; LDG R14 R4 w3 r0; LDG R16 R6 w4 r0 s2; IADD3 R18 R8 R9 R10; DEPBAR.LE SB0,1 s4; "
           "IADD3 R4 R8 R9 R10; IADD3 R6 R12 R14 R9 q0,3")
ROW1 = {1: [(13, 17, 21)], 2: [(13, 17, 21), (15, 19, 23)], 3: [(13, 19, 25), (15, 21, 27), (17, 23, 29)],
        4: [(13, 21, 29), (15, 23, 31), (17, 25, 33), (19, 27, 35)]}

GOLDENS = (
    Golden("no conflict", "M Listing 1", (LISTING1.format("R19 R21"),), ((1, 2, 3, 4, 5, 6),)),
    Golden("two reads more in bank 0", "M Listing 1", (LISTING1.format("R18 R21"),), ((1, 2, 3, 4, 5, 7),)),
    Golden("three reads more in bank 0", "M Listing 1", (LISTING1.format("R18 R20"),), ((1, 2, 3, 4, 5, 8),)),
    Golden("stall count 1 before a reader", "M Listing 2", (LISTING2.format(1),), ((1, 2, 3, 4, 5, 6),),
           short=(("FFMA", 3),)),
    Golden("stall count 4 before a reader", "M Listing 2", (LISTING2.format(4),), ((1, 2, 3, 7, 8, 9),)),
    Golden("an Allocate stall at the end is invisible", "M section 5.1.1",
           ("CLK; NOP; FFMA R11 R10 R12 R14; FFMA R13 R16 R18 R20; CLK",), ((1, 2, 3, 4, 5),)),
    Golden("stall count 5 before an address", "M Listing 3, cycles from rules", (LISTING3.format(5),), ((1, 3, 7, 12),)),
    Golden("stall count 4 before an address", "M Listing 3", (LISTING3.format(4),), ((1, 3, 7, 11),), short=(("LDG", 1),)),
    Golden("counters shared by loads, and DEPBAR", "M Figure 2, with the latencies of Table 2", (FIGURE2,),
           ((1, 2, 3, 5, 6, 16, 37),)),
    Golden("counters shared by loads, and DEPBAR, with Figure 2's latencies", "M Figure 2", (FIGURE2,),
           ((1, 2, 3, 5, 6, 15, 36),), "figure2"),
    *(Golden(f"eight loads on {number} sub-cores", "M Table 1", (EIGHT_LOADS,) * number,
             tuple((1, 2, 3, 4, 5, 6, *last) for last in ROW1[number]), subcores=tuple(range(number)))
      for number in (1, 2, 3, 4)),
    Golden("second instruction of 32 has stall count 4", "M Figure 4b; its 4 bubbles of W0 contradict Listing 2",
           (NOPS.format("s4"),) * 4,
           (_counted((97, 98), (102, 131)), _counted((5, 6), (67, 96)), _counted((3, 4), (37, 66)), _counted((1, 2), (7, 36)))),
    Golden("second instruction of 32 yields", "M Figure 4c", (NOPS.format("y"),) * 4,
           (_counted((67, 68), (99, 128)), _counted((65, 66), (69, 98)), _counted((3, 4), (35, 64)), _counted((1, 2), (5, 34)))),
    Golden("a lone warp yields", "M section 5.1.2", ("NOP y; NOP",), ((1, 3),)),
    Golden("three operands of one bank", "M section 5.3, cycles from rules", (SAME_BANK,), ((1, 2, 3, 6, 9),)),
    Golden("three operands of one bank, half-warp FP32", "rules", (SAME_BANK,), ((1, 3, 5, 7, 10),), "tu10x"),
    Golden("one operand reused", "rules", ("FFMA R20 R2.reuse R4 R6 *5",), ((1, 2, 3, 5, 7),)),
    Golden("two operands reused", "rules", ("FFMA R20 R2.reuse R4.reuse R6 *5",), ((1, 2, 3, 4, 5),)),
    Golden("two of three operands in one bank", "rules", ("FFMA R20 R2 R4 R7 *6",), ((1, 2, 3, 4, 6, 8),)),
    Golden("two of three operands in one bank, half-warp FP32", "rules; Volta's microbenchmarks see no conflict",
           ("FFMA R20 R2 R4 R7 *5",), ((1, 3, 5, 7, 9),), "tu10x"),
    Golden("two operands in one bank", "M section 5.3", ("FMUL R20 R2 R4 *5",), ((1, 2, 3, 4, 6),)),
    Golden("two operands in two banks", "M section 5.3", ("FMUL R20 R2 R5 *5",), ((1, 2, 3, 4, 5),)),
    Golden("a stall in Allocate holds the stall counter", "assumed: else the FADD reads too early",
           ("FFMA R20 R2 R4 R6; FFMA R1 R8 R10 R12 s4; FADD R5 R1 R3",), ((1, 2, 8),)),
    Golden("an access does not overtake its warp's instruction in Allocate", "assumed: else it may read too early",
           ("FFMA R20 R2 R4 R6 *2; LDS R1 R3; NOP",), ((1, 2, 3, 6),)),
    Golden("another warp's conflict in Allocate", "rules", ("FFMA R20 R2 R4 R6; FADD R30 R3 R5",) * 2, ((3, 4), (1, 2))),
    Golden("LDG's counter waited for too early", "M section 4", ("LDG R4 R2 w0; IADD3 R5 R4 R3 R7 q0",), ((1, 2),),
           short=(("IADD3", 1),)),
    Golden("LDG to use", "M Table 2", ("LDG R4 R2 w0 s2; IADD3 R5 R4 R3 R7 q0",), ((1, 33),)),
    Golden("LDS to use", "M Table 2", ("LDS R4 R2 w0 s2; IADD3 R5 R4 R3 R7 q0",), ((1, 25),)),
    Golden("LDS.128 to use", "M Table 2", ("LDS.128 R4 R2 w0 s2; IADD3 R9 R4 R3 R11 q0",), ((1, 27),)),
    Golden("LDG.128 to use", "M Table 2", ("LDG.128 R4 R2 w0 s2; IADD3 R9 R4 R3 R11 q0",), ((1, 39),)),
    Golden("LDG's address overwritten", "M Table 2", ("LDG R4 R2 w0 r1 s2; MOV R2 R9 q1",), ((1, 12),)),
    Golden("STG's operands overwritten", "M Table 2", ("STG R2 R4 r1 s2; MOV R2 R9 q1",), ((1, 15),)),
    Golden("two loads, one counter", "rules", ("LDG R4 R2 w0; LDG R6 R2 w0 s2; IADD3 R5 R4 R3 R7 q0",), ((1, 2, 37),)),
    Golden("two loads, two counters", "rules",
           ("LDG R4 R2 w0; LDG R6 R2 w1 s2; IADD3 R5 R4 R3 R7 q0; IADD3 R8 R6 R3 R7 q1",), ((1, 2, 33, 37),)),
    Golden("a load's result and a fixed one want a bank in one cycle", "M section 5.3, cycle from rules",
           ("LDG R4 R2 w0 s2; NOP *19; FFMA R10 R11 R12 R13; IADD3 R5 R4 R3 R7 q0",), ((1, *range(3, 22), 22, 34),)),
    Golden("a load's result and a fixed one in two banks", "M section 5.3, cycle from rules",
           ("LDG R4 R2 w0 s2; NOP *19; FFMA R11 R13 R12 R15; IADD3 R5 R4 R3 R7 q0",), ((1, *range(3, 22), 22, 33),)),
    Golden("SFU takes one in eight cycles", "interval: all sources; 18 cycles: from its published simulator",
           ("MUFU R4 R2 w0; MUFU R6 R2 w0; MUFU R8 R2 w1 s2; FADD R5 R4 R6 q0; FADD R7 R8 R9 q1",), ((1, 2, 3, 27, 35),)),
    Golden("nine shared loads", "rules", (SHARED_LOADS,), ((1, 2, 3, 4, 5, 10, 12, 14, 16),)),
    Golden("nine shared loads on four sub-cores", "rules", (SHARED_LOADS,) * 4,
           tuple((1, 2, 3, 4, 5, 10 + 2 * n, 18 + 2 * n, 26 + 2 * n, 34 + 2 * n) for n in range(4)), subcores=(0, 1, 2, 3)),
    Golden("a warp without credit, and a greedy one", "rules", ("FADD R20 R1 R2 *8", SEVEN_LOADS),
           (tuple(range(6, 14)), (1, 2, 3, 4, 5, 14, 16))),
    Golden("integer pipe every second cycle", "rules", ("IADD3 R20 R1 R2 R5 *3",) * 2, ((7, 9, 11), (1, 3, 5))),
    Golden("FP32 pipe every cycle", "rules", ("FADD R20 R1 R2 *3",) * 2, ((4, 5, 6), (1, 2, 3))),
)

# whether the reuse cache holds operand 0, instruction by instruction of the highest warp (M Listing 4; the last two: rules)
REUSE = (
    (("IADD3 R1 R2.reuse R3 R4; FFMA R5 R2 R7 R8; IADD3 R10 R2 R12 R13",), (False, True, False)),
    (("IADD3 R1 R2.reuse R3 R4; FFMA R5 R2.reuse R7 R8; IADD3 R10 R2 R12 R13",), (False, True, True)),
    (("IADD3 R1 R2.reuse R3 R4; FFMA R5 R7 R2 R8; IADD3 R10 R2 R12 R13",), (False, False, True)),
    (("IADD3 R1 R2.reuse R3 R4; FFMA R5 R4 R7 R8; IADD3 R10 R2 R12 R13",), (False, False, False)),
    (("FADD R1 R6 R3", "IADD3 R1 R2.reuse R3 R4 s2; FFMA R5 R2 R7 R9"), (False, False)),
    (("FADD R1 R7 R3", "IADD3 R1 R2.reuse R3 R4 s2; FFMA R5 R2 R7 R9"), (False, True)),
)
