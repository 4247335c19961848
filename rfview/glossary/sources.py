"""The source of each window and its parts: a paper's section, or the words "our assumption".

This file contains only sources: the painters in render/ describe the panels, engine/stalls.py the states, presets and
designs their numbers; rfview/glossary/terms.py combines them.
HRF = Li et al. DAC'15, RFC = Gebhart et al. ISCA'11, HC-RF = hybrid-cell register file, eDRAM = Jeong et al. IEEE
Design & Test 2016, racetrack = Liang & Wang JCST 2016, GTX480 = GPGPU-Sim's configuration of that card.
"""

from __future__ import annotations

from typing import NamedTuple


class View(NamedTuple):
    """How a window is explained. painter: the module of rfview/render whose render() documents how to read it.

    columns: (a part of it, its explanation, its source). text: how to read it, if no painter says so.
    """

    painter: str
    source: str
    columns: tuple[tuple[str, str, str], ...] = ()
    text: str = ""


# windows with a painter of their own; panels are explained in their own files
VIEWS: dict[str, View] = {
    "heat": View("heat", "our assumption: values in order of the log of writes; a column shows its last cycle", (
        ("wrote", "who wrote last in a column, by letter; a capital: several writes; ✕: bits lost",
         "the log of writes"),
        ("lanes", "how many of the 32 lanes, or of the visible elements, were written in the column",
         "the log of writes"),
        ("scale", "the 99th percentile of the magnitudes read so far; it only grows", "our assumption"),
    )),
    "image": View("image", "eDRAM, methodology: outputs compared with error-free ones; our assumption: the scales", (
        ("error", "|here − right| on a log scale over the errors present, the worst of each cell", "our assumption"),
    )),
    "statistics": View("statistics", "counted by the model between the two cycles; energy: counts x the design's table", (
        ("share", "warp-cycles in the state, of the warp-cycles of resident warps", "our assumption: the one denominator"),
        ("per cycle", "the count divided by the cycles between both ends", "counted by the model"),
    )),
    "breakpoints": View("breaks", "our assumption: every hit of a recording is known, earlier and later ones", (
        ("hits", "stops in the whole recording", "the recording"),
        ("previous, next", "the nearest stops before and after the cursor", "the recording"),
    )),
    "findings": View("findings", "`rfview help check` has the rules", (
        ("who", "the warp and lane that made the access", "the recording"),
        ("PTX line", "the line of the PTX source; a line of CUDA C or Python is named FILE:LINE", "PTX ISA: .loc"),
    )),
    "relief of the whole run": View("study", "the runs; floors: counts of each unit's work; chance: nudged runs", (
        ("gain", "how much earlier the run ends with the setting; it counts beyond twice the range of chance", "the runs"),
        ("floor", "the cycles that a unit needs at least for its work", "counted by the model"),
        ("chance", "the range over which nudged runs end: a few cycles more of memory latency, now and then", "the runs"),
    )),
    "after": View("after", "`rfview help causes` has the rules", (
        ("warp-cycles", "those that stood still for it; ≤ for what waited for those, at most: a delay that is passed on "
         "does not grow", "sessions/causes/rules.py"),
        ("cycles earlier", "the mean of later issues in the run without it; ▒ where some come later instead", "two runs"),
    ), "WHY turned round: what the instruction delayed that holds the warp up. Measured: the same run, but the instruction "
                  "sends one cache line and is over at once; or, where the register file works, the setting that WHY names "
                  "holds as long as the wait. Nothing is claimed if a later instruction comes later without the delay, or "
                  "earlier when it is a cycle longer."),
    "hits": View("", "the recording", (), "The past hits of a tracepoint, or changes of an item: a row for each, with the "
                 "values of the traced expressions in that cycle."),
    "designs on the same kernel": View("", "`rfview designs` names their papers", (), "All register-file designs. The "
                                       "kernel is run again on the chosen one, up to the same instruction of the focused "
                                       "warp or to the same cycle; this run stays a branch to return to."),
    "kernels to run": View("", "`rfview kernels` names their papers", (), "The bundled kernels. The chosen one runs on this "
                           "machine, with the same design, scheduler and settings."),
    "palette": View("", "rfview's own keys", (), "All actions and panels by name, the best match of the typed letters "
                    "first; `rfview help keymap` says how to give one another key."),
    "compare": View("", "both runs, instruction by instruction", (
        ("lag", "cycle of B's n-th issue minus cycle of A's n-th issue; above zero A is ahead, below zero B", "both"),
        ("B−A", "the difference in warp-cycles or events, up to the cursor", "counted by the model"),
    ), "Two runs of one program side by side: where the lag changes, one run loses time, and the first such place is the "
                    "first divergence. Shares are of the warp-cycles of resident warps."),
    "compare by line": View("", "a text diff aligns the lines of both programs", (
        ("waits", "lost warp-cycles of warps whose next instruction is one of the line's", "sessions/causes/rules.py"),
        ("B−A", "the line's waits in B minus those in A; a bar to the left means that B waits less", "counted by the model"),
    ), "Two programs, or two versions of one, line by line: − only A has the line, + only B has it."),
    "all runs": View("", "counted by the model", (), "More than two runs, a band each, on one axis of issued instructions; "
                     "the chosen one can be compared with the first."),
    "start screen": View("", "this folder and the package", (), "Recordings in this folder and bundled ones, guided tours, "
                         "bundled kernels on the design named above them, and how to run your own program."),
}

WORDS: dict[str, tuple[str, str]] = {
    "warp": ("32 threads that execute one instruction together; the unit that a scheduler chooses", "RFC section 2"),
    "lane": ("one of a warp's 32 threads: a column of every register", "RFC section 2.1"),
    "cta": ("a thread block: its warps share shared memory and barriers, and are released together", "RFC section 2"),
    "sm": ("streaming multiprocessor: the one GPU core that is modelled", "RFC section 2.1"),
    "bank": ("a part of the register file with its own port: one access per port and cycle", "HC-RF section IV-A"),
    "collector": ("an operand collector gathers an instruction's source registers over several cycles",
                  "HC-RF section IV"),
    "scoreboard": ("which registers of a warp have a read or write outstanding; an instruction that needs one of them waits",
                   "RFC section 3.2; states short_scoreboard and long_scoreboard name the wait"),
    "coalescing": ("an access sends a cache line for each 128 bytes that its lanes touch: 1 if neighbouring lanes use "
                   "neighbouring words, up to 32; `rfview lines` has the cache lines per access beside the ideal",
                   "CUDA Programming Guide, device memory accesses"),
    "occupancy": ("how many of the SM's warp slots have a warp: limited by the grid, the size of CTAs, their registers and "
                  "their shared memory; the sentences of `rfview run` say by which", "CUDA Best Practices Guide, Occupancy"),
    "resident": ("of a warp: it has a slot of the SM, from the start of its CTA to its end; these warp-cycles are the 100 % "
                 "of every share", "our assumption: the one denominator"),
    "latency": ("cycles from an instruction's issue to its result; warps that wait for results are hidden by others that "
                "can issue, and where too few can, latency limits the run", "CUDA Best Practices Guide, Hiding Register "
                "Dependencies"),
    "divergence": ("lanes of a warp that take different branches: the sides run one after the other, each with the "
                   "other's lanes idle", "CUDA Programming Guide, SIMT Architecture; of two runs: `rfview help compare`"),
    "bank conflict": ("two accesses want the same bank in one cycle, and one waits: operands and results in the register "
                      "file (state bank_conflict), or lanes of one access to shared memory, which then takes several passes",
                      "HC-RF section IV-A; CUDA Programming Guide, Shared Memory"),
    "contention": ("lanes or warps that change the same word with atomics, which are served one after another; copies of "
                   "the word, one for each warp, spread them", "NVIDIA's GK110 whitepaper, atomics"),
    "spill": ("a value that has no register and lies in local memory instead, so that its uses are loads and stores",
              "CUDA Programming Guide, Local Memory"),
    "floor": ("the cycles that a unit's work takes at least, from counts alone: no run with the same work ends earlier",
              "roofline; Williams et al., CACM 2009"),
    "ld/st": ("the load/store unit: takes memory accesses, and sends one cache line a cycle, or makes one pass over shared "
              "memory", "GPGPU-Sim's GTX480"),
    "sfu": ("the special function unit: roots, sines, exponentials, on Fermi's core doubles and divisions as well",
            "RFC section 2.1"),
    "mrf": ("main register file: the one behind a register cache or write buffer", "RFC section 2.1"),
    "stt-ram": ("magnetic memory: hardly leaks, but a write takes 4 cycles", "HRF section 3.2, Table 1"),
    "hc-rf": ("in sources: the paper on a register file of hybrid SRAM/STT-RAM cells, which is the design hcrf",
              "`rfview help hcrf`; HRF, RFC and the others are named after their designs likewise"),
    "our assumption": ("in sources: no paper or manual says it, so it was decided here; `rfview help rules` has these "
                       "decisions", "engine/RULES.md"),
    "assumed": ("of a number: no paper gives it; what it is multiplied into is called assumed too, and is no gain",
                "engine/presets, and the designs' files"),
    "sass": ("machine code: the instructions that a GPU executes, with the control codes that ptxas wrote into them; PTX is "
             "compiled to it", "CUDA Binary Utilities; `rfview help rules`, B10"),
    "sub-core": ("a quarter of the SM of Volta and later, with its own scheduler, two register banks and pipes; warp w is "
                 "on sub-core w % 4", "MICRO'25 section 5; RULES.md B11.2"),
    "cggty": ("the sub-core's scheduler, compiler-guided greedy then youngest: of the warps that control codes let issue, "
              "the one that issued last, else the youngest", "MICRO'25 section 5.1.2"),
    "control code": ("21 bits of each machine instruction, in which the compiler says when the warp's next one may issue: "
                     "stall count, yield bit, dependence counters to set and to wait for, and reuse bits",
                     "MICRO'25 section 4"),
    "stall count": ("part of a control code: cycles until the warp's next instruction may issue; it covers results of fixed "
                    "latency, which no hardware checks", "MICRO'25 section 4"),
    "yield": ("a bit of a control code: where a listing has Y, the warp does not issue in the next cycle, so that another "
              "one may", "MICRO'25 section 4"),
    "dependence counter": ("six per warp, SB0 to SB5: an instruction of variable latency raises one, which falls when its "
                           "results are written or its operands read; others wait until it is 0", "MICRO'25 section 4"),
    "control": ("of a sub-core: the stage behind issue, where dependence counters are raised", "MICRO'25 section 5.1.1"),
    "allocate": ("of a sub-core: the stage behind Control, where an instruction of fixed latency books read ports in the "
                 "next three cycles, or waits", "MICRO'25 sections 5.1.1 and 5.3"),
    "reuse cache": ("of a sub-core: one register per operand position and bank, kept by a reuse bit for the warp's next "
                    "instruction, which then needs no port", "MICRO'25 section 5.3.1"),
    "credit": ("of a sub-core: leave for an access to issue; it comes back when the access goes to the memory pipeline",
               "MICRO'25 section 5.4"),
    "uniform register": ("UR0 to UR62 of machine code: one value for the whole warp", "CUDA Binary Utilities"),
    "predicate": ("a bit per lane that guards instructions: P0 to P6 of machine code, any number in PTX; UP0 to UP6 have "
                  "one bit for the warp", "PTX ISA, predicated execution"),
    "barrier register": ("B0 to B15 of machine code: the lanes that meet again at a BSYNC; BSSY fills it",
                         "RULES.md B10"),
    "hazard": ("a dependence that control codes do not cover, so that an old value is read; `rfview check` finds them",
               "RULES.md B11.12"),
    "mined": ("in sources: the least distance that ptxas keeps between such instructions in its own code",
              "`python -m rfview.engine.tools.mined_latencies`"),
    "micro'25": ("in sources: Huerta et al., MICRO 2025, who measured and model NVIDIA's cores of today; \"its simulator\" "
                 "is theirs, a fork of Accel-Sim", "arXiv 2503.20481 is its first version"),
    "nak's tables": ("in sources: the latency tables in Mesa's compiler for NVIDIA GPUs, whose header says that NVIDIA "
                     "provided them", "Mesa, src/nouveau/compiler"),
    "ipc": ("warp instructions issued per cycle", "our assumption: per SM"),
    "keyframe": ("a complete state in a recording; the cycles between are stored as differences", "our file format"),
}
