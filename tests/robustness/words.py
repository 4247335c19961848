"""Fuzzes what people type and save: expressions, commands, key files, marks, --set values, design files."""

from __future__ import annotations

import functools
import json
import random
import shutil
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from rfview import keymap
from rfview.engine import config, plugin
from rfview.engine.check import selection
from rfview.engine.errors import RfviewError
from rfview.engine.tools import measure
from rfview.sessions import Session, open_session
from rfview.sessions.commands.table import VERBS, execute
from rfview.sessions.search.marks import Marks
from rfview.view import View
from tests.robustness import structures
from tests.robustness.dap import COMMANDS, EXPRESSIONS
from tests.robustness.recordings import SHORT

SLOW_S = 10.0
PARTS = ("w0", "w63", "w64", "w-1", "w[*]", "sm", "rf", "R0", "R255", "[", "]", "(", ")", ".", "..", "state", "pc", "queue", "cycle", "**",
         "//", "%", "<<", ">>", "==", "!=", "<", "and", "or", "not", "in", "if", "lambda x: x", "1e999", "0x", "9" * 50, "1_000", "'a'",
         '"', "\\", "\x00", "\x1b", "\ud800", "é", "any(", "count(", "max(", "@a", "50%", "+10", "-10", ";", "#", " ", "\t", "$0", "%r1",
         "mem[0]", "A[0]", "A[999999]", "s0.R1[32]", "event.", "stall.", "changed(", ":=", "__import__('os')", "().__class__")
KEYS = {"keys": {"ctrl+s": "step", "x": "why", "g e": "end", "space": "none"}}
KEY_FILE = '[keys]\n"ctrl+s" = "step"\n"x" = "why"\n"g e" = "end"\n"space" = "none"\n'
MARKS = '{"format": 1, "marks": [{"name": "a", "cycle": 12, "note": "here"}, {"name": "b", "cycle": 99}]}'
SAVED: dict[str, Any] = {
    "format": 1, "run": [], "cycle": 100, "warp": 1, "bank": 2, "lane": 3, "reg": 1, "scroll": 0, "speed": 1,
    "number_format": "hex", "code_source": True, "code_lines": True, "line": 3, "panel": "warps", "back_to": "code",
    "zoomed": False, "overview_zoom": 0, "timeline_zoom": 1, "overlay": None, "breakpoints": [
        {"kind": "pc", "value": 3, "warp": 1, "condition": "cycle > 3", "temporary": False, "ignore": 0, "item": "", "enabled": True},
        {"kind": "watch", "value": 0, "warp": None, "condition": "", "temporary": True, "ignore": 2, "item": "w0.pc", "enabled": True}]}
BASELINE = {"rfview_baseline": 1, "findings": [dict.fromkeys(selection.PARTS, "a")]}
MEASURED = {"format": measure.FORMAT, "device": "x", "date": "y", "method": "z", "probes": {"alu": {"cycles": 4.0, "value": 3}}}
SETTINGS = ("sm.num_banks=8", "hrf.drain=2", "edram.m=3", "sm.l1_kb=16", "racetrack.ports=4", "kernel.max_registers=20")


def changed(chance: random.Random, text: str) -> str:
    """Return a text with a few letters or parts dropped, doubled or inserted."""
    for _ in range(chance.choice((0, 1, 1, 2, 5))):
        at = chance.randrange(len(text) + 1)
        end = min(len(text), at + chance.choice((0, 0, 1, 3)))
        text = text[:at] + chance.choice((*PARTS, chance.choice(PARTS) * chance.choice((2, 200)), "")) + text[end:]
    return text


@functools.cache
def session() -> Session:
    """Return the session for expressions and commands; its marks are saved in a separate folder."""
    folder = Path(tempfile.mkdtemp())
    shutil.copy(SHORT, folder / "run.rfs")
    return open_session(folder / "run.rfs")


def command(chance: random.Random, folder: Path) -> None:
    """Try a debugger command; those that write files are left out."""
    asked = chance.choice((*COMMANDS, *VERBS, *(f"{name} {chance.choice(PARTS)}" for name in VERBS)))
    if asked.split()[0] not in ("capture", "export", "fork", "swap", "kernel", "compare", "quit"):
        line = changed(chance, asked)
        if not any(word in line for word in ("capture", "fork", "swap", "kernel", "compare")):
            execute(session(), line)


def expression(chance: random.Random, folder: Path) -> None:
    """Try an expression, as a value and as a condition."""
    text = changed(chance, chance.choice(EXPRESSIONS))
    made = session().expression(text)
    timeline = session().timeline
    made.truth(timeline.first, min(timeline.last, timeline.first + 50))


def key_file(chance: random.Random, folder: Path) -> None:
    """Try a key file."""
    file = folder / "keys.toml"
    file.write_bytes(changed(chance, KEY_FILE).encode("utf-8", "surrogatepass"))
    keymap.load(file)


def key_table(chance: random.Random, folder: Path) -> None:
    """Try a key file whose values are of other types."""
    file = folder / "keys.toml"
    file.write_bytes(structures.as_toml(chance, KEYS))
    keymap.load(file)


def view(chance: random.Random, folder: Path) -> None:
    """Open a recording with a saved view, and run to a breakpoint."""
    shutil.copy(SHORT, folder / "run.rfs")
    with open_session(folder / "run.rfs") as opened:
        info = opened.info
        saved = SAVED | {"run": [info.kernel, info.design, info.scheduler, info.source_hash, opened.timeline.last]}
        View(folder / "run.rfs").path.write_bytes(structures.as_json(chance, saved))
        View(folder / "run.rfs").apply(opened)
        opened.continue_()


def tables(chance: random.Random, folder: Path) -> None:
    """Try a baseline of findings, measurements and marks, whose values are of other types."""
    file = folder / "data.json"
    read, data = chance.choice(((selection.read_baseline, BASELINE), (measure.read, MEASURED)))
    file.write_bytes(structures.as_json(chance, data))
    read(file)
    file.write_bytes(structures.as_json(chance, json.loads(MARKS)))
    for mark in Marks(file):
        session().goto(mark.cycle)


def marks(chance: random.Random, folder: Path) -> None:
    """Try a file of marks, and set a mark in it."""
    file = folder / "run.rfs.marks.json"
    file.write_bytes(changed(chance, MARKS).encode("utf-8", "surrogatepass"))
    read = Marks(file)
    read.set(changed(chance, "m") or "m", 3, changed(chance, "note"))
    list(read)


def setting(chance: random.Random, folder: Path) -> None:
    """Try a --set value on every kind of design."""
    key, _, value = changed(chance, chance.choice(SETTINGS)).partition("=")
    if key.startswith("sm."):
        config.load_preset("fermi").with_setting(key, value)
    else:
        plugin.build(chance.choice(plugin.names()), {key: value}, "")


def design_file(chance: random.Random, folder: Path) -> None:
    """Try a design file: the template with lines dropped, doubled or changed; its top level and its description run."""
    lines = plugin.files.TEMPLATE.read_text(encoding="utf-8").replace('"template', '"my_rf').split("\n")
    for _ in range(chance.choice((1, 1, 2, 4))):
        at = chance.randrange(len(lines))
        how = chance.randrange(4)
        if how == 0:
            del lines[at]
        elif how == 1:
            lines.insert(chance.randrange(len(lines)), lines[at])
        elif how == 2:
            lines.insert(at, chance.choice(("raise SystemExit", "import nothing", "def f(: pass", "DESIGN = 3", "1 / 0", "\x00")))
        else:
            lines[at] = changed(chance, lines[at])
    path = folder / "my_rf.py"
    path.write_bytes("\n".join(lines).encode("utf-8", "surrogatepass"))
    try:
        plugin.build(str(path), {}, "")
    finally:
        plugin.files.forget()


TRIED: tuple[Callable[[random.Random, Path], None], ...] = (command, command, expression, expression, key_file, key_table, marks, view, tables,
                                                            setting, design_file)


def cases(seed: int, first: int, count: int) -> Iterator[tuple[int, str, str]]:
    """Try texts first..first + count - 1 of a seed; yield (number, outcome, detail)."""
    with tempfile.TemporaryDirectory() as folder:
        for number in range(first, first + count):
            chance = random.Random(f"words {seed} {number}")
            what = chance.choice(TRIED)
            began, outcome, detail = time.process_time(), "done", ""
            try:
                what(chance, Path(folder))
            except RfviewError:
                outcome = "refused"
            except Exception as error:
                lines = " < ".join(f"{Path(one.filename).name}:{one.lineno}" for one in traceback.extract_tb(error.__traceback__)[:-5:-1])
                outcome, detail = "traceback", f"{what.__name__}: {type(error).__name__}: {error} {lines}"
            if time.process_time() - began > SLOW_S:
                outcome, detail = "slow", f"{what.__name__}: {time.process_time() - began:.1f} s"
            yield number, outcome, detail
