"""The help topic `design`: how a register file of one's own is written, with every hook and helper from the code itself."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import wrap
from typing import Any

WIDTH = 116
RULE = re.compile(r" \(B\d\.\d+\)")       # numbers of rules, for those who have engine/RULES.md before them

STEPS = """\
A register file is one Python file. Begin with one that works, change it, check it, look at it:

  rfview designs --new my_rf.py               write the file; its comments say what each part is
  rfview designs my_rf.py --check             run it under every scheduler, memory compared with sram's to the bit
  rfview debug vectoradd --design ./my_rf.py  step through it; its state is shown, recorded and rewound
  rfview compare vectoradd --designs 'sram,./my_rf.py,./my_rf.py[write_cycles=4]'

A path stands wherever a design's name does, with [key=value,...] behind it; RFVIEW_DESIGNS=FILE.py makes the name known
everywhere, a package does so by an entry point `rfview.designs`. A recording shows all values and panels without the file,
but its `why`, `energy` and `fork` need that, and so does a recipe: RFVIEW_DESIGNS=./my_rf.py rfview replay F.rfs
Both hold the file's text: `rfview info F.rfs --save-designs DIR` writes it. Nothing runs it until you name it there.

DESIGN = Design(...) says what there is:
  parameters   Parameter(name, default, unit, source, meaning), in the hooks spec.NAME; low=1, high=12: what it may be;
               choices=("off", "on"): words, in the hooks 0 and 1; dtype="f8": fractions; convert=FUNCTION: what is neither
               word nor number, read from its text; is_live=True: `fork .. set` may change it in mid-run, as the hooks
               look it up each time
  state        (name, NumPy dtype) or (name, dtype, shape), in the hooks rf.NAME; MAX_BANKS, MAX_WARPS: engine/state.py
  events       (name, meaning), counted by sm.events[spec.first_event + k]; rf_reads and rf_writes are counted for you;
               `rfview compare` lists those named PLACE_reads and PLACE_writes by place
  stalls       Stall(code, name, short, glyph, ascii, family, sentence), codes 32 to 39
  energy_pj    {event: (pJ per event, source)}, technology {"leakage_mw": (mW, "mW", source)}; or, beside DESIGN, a function
               energy(run). For `rfview compare`: area_mm2, node_nm, and the SRAM that yours is an answer to, of the same
               node: sram_read_pj and sram_write_pj of a row, sram_leakage_mw, sram_area_mm2
  extra_rows   rows for values of your own, rows[spec.first_row] and on; settings {"sm.num_banks": 8} of your machine
  panels       {"kind": "grid", "title": .., "field": NAME in the state}: a cell per value, "glyphs": "·▒█" for 0 1 2;
               kind table: a row per record, or per first index of a field of two dimensions, or numbered values;
               kind values: one line with a "unit".
               "per": "bank" or "warp" shows as many as there are, the selected one first of all; "max": 64 is the full
               shade of a grid without glyphs; "show": "registers" lists a mask's bits (of warps too: 0-3 7), "hex" its
               digits. The first panel is always in sight; z shows all
  tracks       (name, expression, most): rows of TIMELINE, such as ("in use", "popcount(rf.used)", 32); most 0: not known,
               -1: a count that only grows, shown as what it grows by
  places       (name, events that read there, events that write there): columns of `rfview compare`, where PLACE_reads and
               PLACE_writes do not say it
  event        what one key of the footer goes to: "refresh", "shift", "transfer" or "flush", a part of an event's name
  lens         "my_package.my_lens:render", of (scene, width, height), draws REGISTER FILE in place of panels and banks
  is_lossy     True: values may lose bits, and a wrong result of a kernel is no failure
  paper_scheduler, paper_preset    what `--scheduler paper` and `--preset paper` stand for

The functions below are hooks: write those that differ from a plain banked file, leave out the rest. In a cycle come
begin_cycle, write_back, arbitrate (it calls read), issue_check and on_issue, end_cycle. They are compiled with numba after
each edit, which takes a while; with NUMBA_DISABLE_JIT=1 they run as they are, a few hundred cycles a second, for
print() and a Python debugger. Functions of the file that only the host calls, edited without a new compile:
  energy(run)          {"dynamic": pJ, "leakage": pJ, "refresh": pJ} of run.counts["EVENT"], run.cycles,
                       run.leakage_pj(mW), run.values["my_rf.wake_cycles"] (the designs' parameters) and
                       run.machine["sm.num_banks"], at any cycle; what is saved lowers its own part, no part is negative
  area_mm2(values), node_nm(values, preset)
                       area and technology node, where they depend on parameters, for the table of `rfview compare`
  why(trail, moment, rf, refusal)   (rfview.engine.plugin.explaining has their types)
                       more links for `why` chains, which otherwise end with the stall's sentence. refusal: its kind ("read",
                       "write", "issue", "leave", "freeze" or "hold"), code, warp, reg, bank (-1 where it is about
                       none); moment.ran: the cycle; rf["NAME"]: the state, trail.value("my_rf.wake_cycles"): a number.
                       trail.add("bank 3 wakes", "2 of 3 cycles left", code=refusal.code, until=CYCLE, bank=3);
                       trail.end("bank", "bank 3, 3 cycles to wake", {"my_rf.wake_cycles": 0}); return True if it said so

Rules
  Every hook returns an int on every path: 0, or the stall code of a refusal where it may refuse.
  What was refused is asked again in the next cycle, until it is accepted; the machine counts refusals by their code.
  `sm` is the machine's state (engine/state.py), sm.cycle the cycle that runs, sm.config.num_banks and num_warps what is in
  force, sm.warp[w].pc the warp's next instruction, `insts[pc]` or `inst` an instruction (engine/program.py: need_regs,
  dst_regs, src, unit, last_use ..), `slot` one under way (sm.inflight[slot]), `rows[n].u` the 32 lanes of a row (.f and
  .i are the same bits), `mask` the lanes that count. The whole program is at hand in arbitrate alone, which runs in every
  cycle that is not frozen.
  All that the design remembers is in its state: module variables would neither be recorded nor rewound.
  Hooks make no arrays.
  registers.take_write_port books and counts the write, so ask for it last, when nothing else can refuse the result.
  A result may be accepted long before it is written: registers.release lets the scoreboard go on when your rule says so.
  next_event is asked before cycle sm.cycle: return it to have the cycle run, a later one to let idle cycles be skipped.
  What is counted per cycle is caught up in begin_cycle: events += (sm.cycle - rf.counted) * what held since then.
  A design of delays alone leaves all values in their main rows. One that keeps a value elsewhere needs `locate`, and
  `read` must find it there too.
  Masks of warps, registers and lanes are unsigned: bit64, ctz64 and popcount of compile/bits.py work on them in both modes.
  Compiled code makes a float of signed with unsigned 64-bit numbers: write np.uint64(rf.mask) | bit64(warp) for masks,
  np.int64(sm.inflight[slot].unread) for what is shifted and counted.
  A hook calls another of its file as hooks.NAME(sm, rf, spec, ...) (from rfview.engine import hooks), which also gives
  the default of one left out. hooks.default_write_back and hooks.default_arbitrate, with the hook's own arguments, are a
  plain banked file's: to do something before or after it.
  issue_check is asked of every warp that could issue, in every cycle; each scheduler issues one of its own, and on_issue
  runs, before the next scheduler's are asked: what was free when it said yes is still free in on_issue.
  Under two_level and switch_on_stall a warp that issue_check refuses keeps its place among the active ones: it must not
  wait for one outside.
  on_exit comes for all warps of a CTA at once, when its last one has ended and nothing of it is under way.
  A refused result still has its result bus for the cycle (sm.result_buses of them, and one for loads), and those
  behind it wait: what a write needs is best got ready in on_issue. A refused read holds the other reads of its bank.
  A port is free for what the design writes by itself where registers.read_port_free(sm, bank) says so: in end_cycle behind
  all else of the cycle, in begin_cycle before it (then it goes first). take_write_port books it there as well.
  An operand that needs no bank is given in on_issue: copy its value to row sm.config.first_collector_row + 6 * collector
  + k, for each k of sm.inflight[slot].unread that is served, then registers.set_unread(sm, inst, collector, the others).
  inst.last_use says that a register is dead behind its read k, true for the warp only where no lane is elsewhere:
  np.int64(sm.inflight[slot].active) | np.int64(sm.warp[w].exited) == 0xFFFFFFFF; and others may still have to read it:
  registers with a pending read are in sm.sb_read[w]. The same test with `mask` tells a whole write from a partial one.
  Helper functions of your own that hooks call are marked @device (from rfview.engine.compile.device import device);
  @inlined, from there too, is for small ones that are called several times in every cycle: it saves the call.

`rfview help arbitrate` prints a hook's default or a helper to begin from; `rfview help sm`, `sm.warp`, `sm.inflight`,
`sm.bank` .. and `inst` the fields of the records, with what they mean; `rfview help rf`, `spec`, `rows`, `slot` and `mask`
what else a hook is given; `rfview help Design` (Parameter, Stall) all that can be said there; `rfview help hooks` the list
below alone, and `rfview help rules` what the designs that come with rfview decide where their papers are silent.
--check first runs the design as plain Python, where an index out of bounds is seen, then compares memory with sram's.
A design over another one (like rfc over sram) sets takes_main: --design './my_rf.py[main=stt]'. Hooks that it leaves out are
the main file's, those that it has may call that one's as hooks.NAME(sm, rf.mrf, spec.mrf, ...). Its energy_pj, of events of
its own, is added to the main file's energy.
`rfview help ./my_rf.py` explains your own parameters, stalls and events as it does those that come with rfview."""

# arguments of the hooks that are not records of the machine
ARGUMENTS = {
    "rf": "what the design remembers: rf.NAME for each (name, dtype) of its `state`; recorded, shown and rewound. Under a "
          "design that takes_main, rf.mrf is the main file's.",
    "spec": "the design's parameters in force: spec.NAME for each of its `parameters`, of a word its place among `choices`. "
            "spec.first_event: where its events begin in sm.events; spec.first_row: where its extra_rows begin in rows. "
            "Under a design that takes_main, spec.mrf is the main file's.",
    "rows": "the value rows: rows[n].u is 32 lanes as u4, .i and .f the same bits as i4 and f4. Rows below "
            "sm.config.first_design_row are the main register file by physical slot (registers.main_row), then come the "
            "extra_rows of the design (spec.first_row), then latches: 6 of each collector from "
            "sm.config.first_collector_row on, 4 results of each instruction under way from first_result_row on.",
    "slot": "an instruction under way, between its issue and its last write: the index of its entry in sm.inflight. "
            "sm.inflight[slot].warp is its warp.",
    "mask": "32 lanes, a bit each: those that an instruction executes in, and so reads or writes.",
    "warp": "a warp slot, 0 to sm.config.num_warps - 1: its entry in sm.warp.",
    "reg": "an architectural register of the warp's threads, 0 to sm.launch.registers - 1; at most 63 of them.",
    "value_row": "the latch row that holds a result until it is written.",
    "out_row": "the latch row of a collector into which an operand is read.",
    "insts": "the program, by pc: insts[sm.warp[w].pc] is the warp's next instruction.",
}


def text() -> str:
    """Return the whole topic."""
    return f"{STEPS}\n\n{hooks_text()}"


def hooks_text() -> str:
    """Return every hook and every helper, with arguments and what they are for."""
    from rfview.engine import hooks
    from rfview.engine.machine import registers
    from rfview.engine.plugin.conformance import HOOKS

    lines = ["Hooks; those left out are a plain banked SRAM file's, or the main file's under a design that takes_main"]
    for name, arguments in HOOKS.items():
        lines += _entry(name, arguments, getattr(hooks, name))
    lines += ["", "Helpers: from rfview.engine.machine import registers"]
    helpers = registers.__all__
    called = _called_by_designs()
    for name in helpers:
        if name in called:
            function = getattr(registers, name)
            lines += _entry(name, list(inspect.signature(function).parameters), function)
    lines += wrap(f"and what these are made of: {', '.join(name for name in helpers if name not in called)}", WIDTH,
                  initial_indent="  ", subsequent_indent="      ")
    return "\n".join(lines)


def _called_by_designs() -> set[str]:
    """Return the helpers that the defaults of the hooks and the designs call."""
    from rfview.engine import designs, hooks

    files = [Path(str(hooks.__file__)), *Path(str(designs.__file__)).parent.glob("*.py")]
    return {name for file in files for name in re.findall(r"\bregisters\.(\w+)\(", file.read_text(encoding="utf-8"))}


def code_of(word: str) -> str:
    """Return what a word of a design's file stands for; "" for other words.

    A hook's default, a helper, a record ("sm.warp", "inst") or a class ("Design") as code, an argument in a sentence.
    """
    from rfview.engine import hooks, program, stalls, state
    from rfview.engine.machine import registers
    from rfview.engine.plugin import description
    from rfview.engine.plugin.conformance import HOOKS

    records = {f"sm.{name}": name.upper() for name in ("warp", "inflight", "collector", "bank", "pipe", "scheduler", "cta",
                                                       "launch", "config")}
    if word in HOOKS:
        extra = {"arbitrate": ["default_arbitrate", "grant"], "write_back": ["default_write_back"]}.get(word, [])
        return _definitions(hooks, [word, *extra])
    if word in registers.__all__:
        return _definitions(sys.modules[getattr(registers, word).__module__], [word])
    if word in ARGUMENTS:
        return "\n".join(wrap(f"{word}: {ARGUMENTS[word]}", WIDTH, subsequent_indent="  "))
    if word == "inst":
        return _definitions(program, ["INST"])
    if word in ("Design", "Parameter", "Stall"):
        return _definitions(stalls if word == "Stall" else description, [word])
    sections = ["CLOCK", "HOT", "COLD", "DERIVED"]
    return _definitions(state, sections if word == "sm" else [records[word]] if word in records else [])


def _definitions(module: Any, names: list[str]) -> str:
    """Return the source of functions, classes and constants of a module, in the order asked for."""
    source = Path(str(module.__file__)).read_text(encoding="utf-8")
    found = {}
    for node in ast.parse(source).body:
        is_named = isinstance(node, ast.FunctionDef | ast.ClassDef)
        targets = node.targets if isinstance(node, ast.Assign) else [node] if is_named else []
        for target in targets:
            name = getattr(target, "id", getattr(target, "name", ""))
            found[name] = RULE.sub("", ast.get_source_segment(source, node) or "")
    return "\n\n".join(found[name] for name in names)


def _entry(name: str, arguments: list[str], function: Callable[..., Any]) -> Iterator[str]:
    """Yield a function with its arguments and what its docstring says."""
    yield f"  {name}({', '.join(arguments)})"
    for paragraph in RULE.sub("", inspect.getdoc(function) or "").split("\n\n"):
        yield from wrap(" ".join(paragraph.split()), WIDTH, initial_indent="      ", subsequent_indent="      ")
