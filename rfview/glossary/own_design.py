"""The help topic `design`: how to write your own register file; hooks and helpers are taken from the code."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from textwrap import dedent, wrap
from typing import Any

WIDTH = 116
RULE = re.compile(r" \(B\d\.\d+\)")       # references to engine/RULES.md
INDEX = re.compile(r"\[[^]]*\]")            # of sm.warp[w].pc
FIELD = re.compile(r'^ +\("(\w+)",.*(?:\n +#.*)*', re.MULTILINE)     # of a record's definition, with its comment
SM = ("CLOCK", "HOT", "COLD", "DERIVED")  # the parts of the machine's state

STEPS = """\
A register file is one Python file. Start from one that works, change it, check it, look at it:

  rfview designs --new my_rf.py               write the file; its comments explain each part
  rfview designs my_rf.py --check             run it under every scheduler and compare memory with sram's, bit for bit
  rfview debug vectoradd --design ./my_rf.py  step through it; its state is shown, recorded and rewound
  rfview compare vectoradd --designs 'sram,./my_rf.py,./my_rf.py[write_cycles=4]'

A path can be used wherever a design's name can, followed by [key=value,...] if needed. RFVIEW_DESIGNS=FILE.py makes the
name known everywhere; a package does so with an entry point `rfview.designs`. A recording shows all values and panels
without the file; `why`, `energy`, `fork` and cycles that it does not store need it:
  RFVIEW_DESIGNS=./my_rf.py rfview replay F.rfs
It contains the file's text; `rfview info F.rfs --save-designs DIR` extracts it. Nothing runs it until you name it there.

DESIGN = Design(...) describes the design:
  parameters   Parameter(name, default, unit, source, meaning); hooks read spec.NAME. low=1, high=12: its range;
               choices=("off", "on"): words, which hooks see as 0 and 1; dtype="f8": fractions; convert=FUNCTION: reads
               any other kind of value from its text; is_live=True: `fork .. set` may change it during a run, because
               hooks look it up each time
  state        (name, NumPy dtype) or (name, dtype, shape); hooks use rf.NAME.
               MAX_BANKS, MAX_WARPS, MAX_ROWS (and FOREVER, for next_event): rfview.engine.state
  events       (name, meaning); count with sm.events[spec.first_event + k]. rf_reads and rf_writes are counted for you.
               `rfview compare` groups events named PLACE_reads and PLACE_writes by place
  stalls       Stall(code, name, short, glyph, ascii, family, sentence), codes 32 to 39
  energy_pj    {event: (pJ per event, source)}, technology {"leakage_mw": (mW, "mW", source)}; or a function
               energy(run) next to DESIGN. For `rfview compare`: area_mm2, node_nm, and the SRAM that your design
               replaces, at the same node: sram_read_pj and sram_write_pj per row, sram_leakage_mw, sram_area_mm2
  extra_rows   number of rows for your own values, from rows[spec.first_row] on
  settings     {"sm.num_banks": 8}: parameters of the machine that your design needs
  panels       {"kind": "grid", "title": .., "field": NAME in the state}: a cell per value, with "glyphs": "·▒█" for
               the values 0 1 2.
               Kind "table": a row per record or per first index of a two-dimensional field, or numbered values.
               Kind "values": one line, with a "unit".
               "per": "bank" or "warp": only as many as exist, the selected one first; "max": 64: the value drawn at full
               shade in a grid without glyphs; "show": "registers" lists the bits of a mask (also of warps: 0-3 7),
               "hex" its digits. The first panel is always visible; z shows all of them
  tracks       (name, expression, most): rows of TIMELINE, such as ("in use", "popcount(rf.used)", 32), or sum(rf.used)
               of an array. most: the maximum; 0: unknown; -1: a running count, drawn as its increase
  places       (name, events that read there, events that write there): columns of `rfview compare`, if PLACE_reads and
               PLACE_writes do not describe them
  event        what the design does by itself, such as "refresh": part of the names of its events. ]d and [d go to the
               next and the previous one. `:next-event NAME` goes to any event or stall by its name
  lens         "my_package.my_lens:render": draws REGISTER FILE, like render below, from another module
  is_lossy     True: values may lose bits, so a kernel's wrong result is not a failure
  paper_scheduler, paper_preset    what `--scheduler paper` and `--preset paper` mean

The functions below are hooks: write those that differ from a plain banked file, omit the others. Their order in a
cycle is begin_cycle, write_back, arbitrate (which calls read), issue_check and on_issue, end_cycle. Numba compiles
them after each edit, which takes a while. With NUMBA_DISABLE_JIT=1 they run uncompiled, at a few hundred cycles per
second, so that print() and a Python debugger work.

On the sub-core of Volta and later (presets turing, ampere, a100, hopper), which runs machine code, read_cycles, write_cycles
and bank_cycles take the place of read, write_back and arbitrate (RULES.md, B12.1): with one of them in the file, the design
runs there, too. end_cycle, next_event, on_warp_start and on_exit are called on both cores; the others on Fermi's only.

These functions run on the host, and editing them needs no compilation:
  energy(run)          returns {"dynamic": pJ, "leakage": pJ, "refresh": pJ}, at any cycle, from run.counts["EVENT"],
                       run.cycles, run.leakage_pj(mW), run.values["my_rf.wake_cycles"] (the designs' parameters) and
                       run.machine["sm.num_banks"]. Savings lower the part they belong to; no part is negative
  area_mm2(values), node_nm(values, preset)
                       area and technology node for `rfview compare`, if they depend on parameters
  why(trail, moment, rf, refusal)   (types: rfview.engine.plugin.explaining)
                       adds links to `why` chains, which otherwise end with the stall's sentence. refusal: its kind
                       ("read", "late", "write", "issue", "leave", "freeze" or "hold"), code, warp, reg, bank (-1 if it
                       concerns none). moment.ran: the cycle; rf["NAME"]: the state; trail.value("my_rf.wake_cycles"):
                       a parameter. For example:
                       trail.add("bank 3 wakes", "2 of 3 cycles left", code=refusal.code, until=CYCLE, bank=3)
                       trail.end("bank", "bank 3, 3 cycles to wake", {"my_rf.wake_cycles": 0})
                       Return True if it has explained the refusal
  holder(at, refused)  (types: rfview.engine.plugin.holding)
                       names the registers whose accesses keep the design busy while it refuses others, for `lines`;
                       without it, those that the refusing bank serves. `rfview help holder` has an example
  floors(counts, values, config), lifts(values, config)
                       for the sentences that end a run. floors: [("slow banks", CYCLES, "800 writes, 4 cycles each"), ..],
                       the cycles that each of the design's units needs at least, in place of the plain banks' floor, from
                       counts["EVENT"], values["my_rf.wake_cycles"] and config["num_banks"]. lifts: {"my_stall": "`--set
                       my_rf.wake_cycles=1`", "bank_conflict": ..}, what would shorten the waits of a state, or what a unit
                       of floors would need less of
  render(scene, width, height)
                       draws REGISTER FILE instead of panels and banks: returns at most `height` lines, made by
                       Row(width).add("bank 3 ", "dim").add("awake", "p:fast").line() of rfview.render.text. scene.now is
                       the machine, scene.now.snapshot.rf["NAME"] the state, scene.warp the warp in focus. `rfview help
                       Scene`, `Machine` and `Row` print what there is; rfview/palette.py names the colours

What hooks are given
  `sm` is the machine's state (engine/state.py): sm.cycle is the current cycle, sm.config.num_banks and num_warps are
  the sizes in use, sm.warp[w].pc is a warp's next instruction. `insts[pc]` or `inst` is an instruction
  (engine/program.py: need_regs, dst_regs, src, unit, last_use ..), `slot` one in flight (sm.inflight[slot]),
  `rows[n].u` the 32 lanes of a row (.f and .i are the same bits), `mask` the lanes that matter. Only arbitrate is
  given the whole program; it runs in every cycle that is not frozen.

Returning and refusing
  Every hook returns an int on every path: 0, or the stall code of a refusal if it may refuse.
  A refused request is repeated in the next cycle until it is accepted. The machine counts refusals by their code.
  A refused result still occupies its result bus for the cycle (there are sm.result_buses, and one for loads), and the
  results behind it wait, so prepare in on_issue what a write will need. A refused read delays the other reads of its
  bank.
  Under a scheduler with an active set, a warp refused by issue_check keeps its place among the active warps, so it must
  not wait for a warp outside them.

State
  Keep everything that the design remembers in its state: module variables would be neither recorded nor rewound.
  Hooks create no arrays.
  Masks of warps, registers and lanes are unsigned; bit64, ctz64, popcount and set_bits (`for warp in set_bits(mask):`) of
  compile/bits.py work with and without the compiler. In compiled code, a signed and an unsigned 64-bit number give a
  float: write np.uint64(rf.mask) | bit64(warp) for masks, and np.int64(sm.inflight[slot].unread) to shift or count.
  A design that only adds delays leaves all values in their main rows. A design that keeps values elsewhere needs
  `locate`, and its `read` must find them there.

Order and time
  issue_check is called for every warp that could issue, in every cycle. Each scheduler issues one of its warps, and
  on_issue runs, before the next scheduler's warps are checked: what was free when issue_check agreed is still free in
  on_issue.
  next_event is called before cycle sm.cycle: return sm.cycle to run it, or a later cycle to let idle cycles be skipped.
  If you count something per cycle, make up for skipped cycles in begin_cycle: events += (sm.cycle - rf.counted) * value.
  A result may be accepted long before it is written: call registers.release when, by your rule, the scoreboard may
  proceed.
  on_issue and on_retire see instructions that take an entry of sm.inflight: not branches, barriers and exits, and none whose
  guard is off in all lanes. Do not count on them to see every last_use; on_exit drops what is left.
  on_exit is called for all warps of a CTA at once, when the last one has ended and none of its instructions is in
  flight.

Ports and operands
  registers.take_write_port claims the port and counts the write: call it last, when nothing else can refuse the result.
  The design may use a port for writes of its own if registers.read_port_free(sm, bank) says so: in end_cycle after all
  other accesses of the cycle, in begin_cycle before them. take_write_port claims it there as well.
  Deliver operands that need no bank in on_issue: for each k of sm.inflight[slot].unread that you serve, copy the value
  to row sm.config.first_collector_row + 6 * collector + k; then call
  registers.set_unread(sm, inst, collector, the others).
  An operand is used in the cycle after its read at the earliest. If yours takes longer (to be decompressed, to come from
  a slow cache), call registers.delay_operand(sm, out_row, cycles, CODE) in read, or with the collector's row in on_issue:
  the instruction waits in its collector with the stall CODE. A read that keeps the bank's port busy sets
  sm.bank[bank].until_cycle instead, or as well.
  inst.last_use says that a register is dead after its read k. For the whole warp that holds only if no lane
  is elsewhere, np.int64(sm.inflight[slot].active) | np.int64(sm.warp[w].exited) == 0xFFFFFFFF; and other instructions
  may still have to read it: registers with a pending read are in sm.sb_read[w]. The same test with `mask` tells a full
  write from a partial one.

Calling functions
  A hook calls another hook of its file as hooks.NAME(sm, rf, spec, ...) (from rfview.engine import hooks), which is the
  default if the file omits it. hooks.default_write_back and hooks.default_arbitrate, with the hook's own arguments, are
  those of a plain banked file: use them to do something before or after it.
  Mark helper functions called by hooks with @device (from rfview.engine.compile.device import device). Mark small ones
  that are called several times per cycle with @inlined, from the same module, which saves the call.

`rfview help arbitrate` prints a hook's default or a helper to start from. `rfview help sm`, `sm.warp`, `sm.inflight`,
`sm.bank` .. and `inst` print the fields of the records with their meanings, `rfview help inst.src` one of them; `rfview
help rf`, `spec`, `rows`, `slot` and `mask` the other arguments of hooks; `rfview help Design` (Parameter, Stall) everything
that can be given there; `rfview help Trail`, `Moment` and `Refusal` what `why` is given;
`rfview help hooks` only the list below; `rfview help rules` what the bundled designs decide where their papers are
silent; `rfview help ./my_rf.py` your own parameters, stalls and events.

--check first runs the design as plain Python, which detects indices out of bounds, then compares memory with sram's. Last it
tries tracks and lens, energy, area_mm2, node_nm, render and why at the first stalls of two runs, and prints what is wrong.

A design over another one (like rfc over sram) sets takes_main: --design './my_rf.py[main=stt]'. Hooks that it omits are
the main file's; its own may call the main file's as hooks.NAME(sm, rf.mrf, spec.mrf, ...). Its energy_pj, for its own
events, is added to the main file's energy; an energy(run) replaces both, and finds the main file's in run.main, by part."""

# the hooks' arguments, except the machine's records
ARGUMENTS = {
    "rf": "what the design remembers: rf.NAME for each (name, dtype) of its `state`; it is recorded, shown and rewound. In "
          "a design with takes_main, rf.mrf is the main file's.",
    "spec": "the design's parameters in use: spec.NAME for each of its `parameters`; for a word, its index in `choices`. "
            "spec.first_event: where its events start in sm.events; spec.first_row: where its extra_rows start in rows. "
            "In a design with takes_main, spec.mrf is the main file's.",
    "rows": "the value rows: rows[n].u is 32 lanes as u4, .i and .f are the same bits as i4 and f4. Rows below "
            "sm.config.first_design_row are the main register file by physical slot (registers.main_row). After them come "
            "the design's extra_rows (from spec.first_row), then latches: 6 per collector from "
            "sm.config.first_collector_row, and 4 results per instruction in flight from first_result_row.",
    "slot": "an instruction in flight, from its issue to its last write: the index of its entry in sm.inflight. "
            "sm.inflight[slot].warp is its warp.",
    "mask": "32 lanes, one bit each: those that execute an instruction, and so read or write.",
    "warp": "a warp slot, 0 to sm.config.num_warps - 1: its entry in sm.warp.",
    "reg": "an architectural register of the warp's threads, 0 to sm.launch.registers - 1; there are at most 63.",
    "value_row": "the latch row that holds a result until it is written.",
    "out_row": "the latch row of a collector into which an operand is read.",
    "insts": "the program, by pc: insts[sm.warp[w].pc] is the warp's next instruction.",
}


def text() -> str:
    """Return the whole topic."""
    return f"{STEPS}\n\n{hooks_text()}"


def hooks_text() -> str:
    """Return every hook and helper with its arguments and purpose."""
    from rfview.engine import hooks
    from rfview.engine.machine import registers
    from rfview.engine.plugin.conformance import HOOKS

    lines = ["Hooks. The defaults are those of a plain banked SRAM file, or of the main file in a design with takes_main"]
    for name, arguments in HOOKS.items():
        lines += _entry(name, arguments, getattr(hooks, name))
    lines += ["", "Helpers: from rfview.engine.machine import registers"]
    helpers = registers.__all__
    called = _called_by_designs()
    for name in helpers:
        if name in called:
            function = getattr(registers, name)
            lines += _entry(name, list(inspect.signature(function).parameters), function)
    parts = ", ".join(name for name in helpers if name not in called)
    lines += wrap(f"and the helpers that these are made of: {parts}", WIDTH, initial_indent="  ", subsequent_indent="      ")
    return "\n".join(lines)


def hooks_of(design: str) -> list[str]:
    """Return the hooks that a design's file defines, each with the first line of its docstring."""
    from rfview.engine import plugin
    from rfview.engine.plugin.conformance import HOOKS

    own = vars(plugin.module(design))
    lines = []
    for name in HOOKS:
        if name in own:
            text = (inspect.getdoc(own[name]) or "").partition("\n")[0]
            lines += wrap(f"{name:<14} {text}", 96, initial_indent="  ", subsequent_indent=" " * 17)
    if not lines:
        return [f"{design} has no hooks of its own: it is the plain banked file of `rfview help hooks`"]
    return [f"hooks of {design}; for those it omits see `rfview help hooks`", *lines]


def _called_by_designs() -> set[str]:
    """Return the helpers called by the hooks' defaults and by the designs."""
    from rfview.engine import designs, hooks

    files = [Path(str(hooks.__file__)), *Path(str(designs.__file__)).parent.glob("*.py")]
    return {name for file in files for name in re.findall(r"\bregisters\.(\w+)\(", file.read_text(encoding="utf-8"))}


def code_of(word: str) -> str:
    """Return what a word in a design file means; "" for other words.

    A hook's default, a helper, a record ("sm.warp", "inst"), a field of one ("inst.src") or a class ("Design") as code; an
    argument as a sentence.
    """
    from rfview.engine import hooks, stalls
    from rfview.engine.machine import registers
    from rfview.engine.plugin import description, explaining, holding
    from rfview.engine.plugin.conformance import HOOKS
    from rfview.render import scene, text
    from rfview.sessions import machine

    if word in HOOKS:
        extra = {"arbitrate": ["default_arbitrate", "grant"], "write_back": ["default_write_back"]}.get(word, [])
        return _definitions(hooks, [word, *extra])
    if word in registers.__all__:
        return _definitions(sys.modules[getattr(registers, word).__module__], [word])
    if word in ARGUMENTS:
        return "\n".join(wrap(f"{word}: {ARGUMENTS[word]}", WIDTH, subsequent_indent="  "))
    classes = {"Design": description, "Parameter": description, "Stall": stalls, "Scene": scene, "Machine": machine,
               "Row": text, "Trail": explaining, "Moment": explaining, "Refusal": explaining,
               "Access": holding, "Refused": holding, "Columns": holding}
    if word == "holder":
        return str(holding.__doc__)
    if word in classes:
        return _definitions(classes[word], {"Scene": ["View", "Scene"], "Row": ["Line", "Row"]}.get(word, [word]))
    return records().get(word) or fields().get(INDEX.sub("", word), "")


def records() -> dict[str, str]:
    """Return the records that hooks are given, such as "inst" and "sm.warp", with their definitions as text."""
    from rfview.engine import program, state

    names = ("warp", "inflight", "collector", "bank", "pipe", "scheduler", "cta", "launch", "config")
    parts = {f"sm.{name}": _definitions(state, [name.upper()]) for name in names}
    return {"inst": _definitions(program, ["INST"]), "sm": _definitions(state, list(SM)), **parts}


def fields() -> dict[str, str]:
    """Return the fields of these records, such as "inst.src" and "sm.warp.pc", each with its type and comment."""
    return {f"{name}.{field[1]}": f"{name}.{field[1]}\n{dedent(field[0])}" for name, text in records().items()
            for field in FIELD.finditer(text)}


def _definitions(module: Any, names: list[str]) -> str:
    """Return the source of functions, classes and constants of a module, in the order given."""
    definitions = _defined_in(str(module.__file__))
    return "\n\n".join(definitions[name] for name in names)


@cache
def _defined_in(path: str) -> dict[str, str]:
    """Return the source of each function, class and constant of a module's file."""
    source = Path(path).read_text(encoding="utf-8")
    lines = source.splitlines(keepends=True)
    definitions = {}
    for node in ast.parse(source).body:
        is_named = isinstance(node, ast.FunctionDef | ast.ClassDef)
        targets = node.targets if isinstance(node, ast.Assign) else [node] if is_named else []
        for target in targets:
            name = getattr(target, "id", getattr(target, "name", ""))
            # ast.get_source_segment would split the source for each definition
            definitions[name] = RULE.sub("", "".join(lines[node.lineno - 1 : node.end_lineno]).rstrip())
    return definitions


def _entry(name: str, arguments: list[str], function: Callable[..., Any]) -> Iterator[str]:
    """Yield a function with its arguments and its docstring."""
    yield f"  {name}({', '.join(arguments)})"
    for paragraph in RULE.sub("", inspect.getdoc(function) or "").split("\n\n"):
        yield from wrap(" ".join(paragraph.split()), WIDTH, initial_indent="      ", subsequent_indent="      ")
