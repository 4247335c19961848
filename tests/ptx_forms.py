"""Compares the front end's verdict on lines of PTX with that of ptxas: `python -m tests.ptx_forms`.

Lines are made from the table of forms, evenly over the instructions, and most are then damaged: a modifier dropped,
doubled, moved, or taken from another instruction; another type, operand, width or space; an older target or version.
`--count N --from SEED` takes the verdicts of both on N new lines (needs ptxas of CUDA 13.0) and prints differences;
`--write` writes tests/engine/ptx/verdicts.txt, which test_ptx_verdicts.py compares where there is no ptxas.
"""

from __future__ import annotations

import argparse
import itertools
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from rfview.engine.errors import PtxError
from rfview.engine.ptx import decode_module
from rfview.engine.ptx.forms.grammar import SPACES, TYPE_WIDTHS, Form, Row, bound
from rfview.engine.ptx.forms.table import table
from rfview.engine.ptx.forms.operands import kind_of, may_be_missing

STORED = Path(__file__).parent / "engine" / "ptx" / "verdicts.txt"
VERSIONS = ((("9.0", "sm_100a"), 8), (("9.0", "sm_90a"), 4), (("9.0", "sm_75"), 2), (("7.0", "sm_80"), 1), (("6.3", "sm_75"), 1),
            (("8.0", "sm_90"), 1), (("7.8", "sm_89"), 1))       # what ptxas 13.0 assembles for
_DECLARED = {"pred": "p", "b8": "bb", "u8": "ub", "s8": "sb", "b16": "h", "u16": "uh", "s16": "sh_", "f16": "fh", "b32": "r", "u32": "u",
             "s32": "s", "f32": "f", "f16x2": "fx", "b64": "d", "u64": "ud", "s64": "sd", "f64": "g", "b128": "q"}
_NUMBERS = ("0", "1", "5", "32", "-1", "0x80", "0xff", "128", "1.0", "0f3F800000", "0d3FF0000000000000")
_BODY = " ".join(f".reg .{kind} %{name}<9>;" for kind, name in _DECLARED.items() if kind != "b128") + """
.reg .v4 .f32 %v; .shared .align 16 .b8 shm[512]; .local .align 16 .b8 loc[256];
targets: .branchtargets there;
"""
_HEAD = """.global .align 16 .b8 gl[256]; .const .align 16 .b8 co[256]; .global .texref tx; .global .surfref su;
.visible .entry k(.param .u64 prm, .param .align 16 .b8 pa[64])
{
"""
_ADDRESSES = {"global": ("gl", "%d1"), "shared": ("shm", "%r1", "%d1"), "local": ("loc", "%d1", "%r1"), "const": ("co", "%d1"),
              "param": ("pa", "prm", "%d1"), "": ("gl", "%d1", "%ud2")}


class Line(NamedTuple):
    """One instruction, and the version and target that its module declares."""

    version: str
    target: str
    text: str


def frame(version: str, target: str) -> str:
    """Return what comes before the instructions: registers and variables of every kind."""
    q = ".reg .b128 %q<9>;\n" if float(version) >= 8.3 and int(target[3:].rstrip("af")) >= 70 else ""
    return f".version {version}\n.target {target}\n.address_size 64\n{_HEAD}{_BODY}{q}"


def opcodes(base: str) -> Iterator[str]:
    """Yield every form of the table that has an opcode of the machine, with each choice of its modifiers."""
    for name, rows in table().rows.items():
        for row in rows if name.split(".")[0] == base else ():
            if not (row.lowered or row.refusal or any("{" in kind for kind in row.operands)):
                for words in itertools.product(*([*slot.words] + [""] * slot.is_optional for slot in row.slots)):
                    if "b128" not in words:
                        yield ".".join([name, *filter(None, words)])


# --- making lines -----------------------------------------------------------------------------------------------------


class Maker:
    """Makes lines from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.rows = table().rows
        families: dict[str, list[str]] = {}
        for name in sorted(self.rows):
            families.setdefault(name.split(".")[0], []).append(name)
        self.families = families
        self.words = sorted({word for rows in self.rows.values() for row in rows for slot in row.slots for word in slot.words})

    def line(self) -> Line:
        """Make one line: three in ten as the table has it, the others damaged once, or twice."""
        name = self.random.choice(self.families[self.random.choice(sorted(self.families))])
        row = self.random.choice(self.rows[name])
        parts = [self.word(slot) for slot in row.slots]
        form = bound(row, parts)
        version, target = self.random.choices([each for each, _ in VERSIONS], [weight for _, weight in VERSIONS])[0]
        operands = [self.operand(kind, form) for kind in form.operands if not may_be_missing(kind) or self.random.random() < 0.5]
        words = [part for part in parts if part]
        for _ in range(self.random.choices((0, 1, 2), (3, 6, 1))[0]):
            self.random.choice((self.modifiers, self.modifiers, self.operands))(row, words, operands)
        opcode = ".".join([name, *words])
        return Line(version, target, f"{opcode} {', '.join(operands)};".replace(" ;", ";"))

    def word(self, slot) -> str:        # type: ignore[no-untyped-def]
        if slot.is_optional and self.random.random() < 0.6:
            return ""
        return self.random.choice(list(slot.words))

    def modifiers(self, row: Row, words: list[str], operands: list[str]) -> None:
        """Damage the modifiers."""
        place = self.random.randrange(len(words)) if words else 0
        what = self.random.randrange(6)
        if what == 0 and words:
            del words[place]
        elif what == 1 and words:
            words.insert(place, words[place])
        elif what == 2 and len(words) > 1:
            self.random.shuffle(words)
        elif what == 3:
            words.insert(place, self.random.choice(self.words))
        elif what == 4 and words:
            alike = [word for word in self.words if (word in TYPE_WIDTHS) == (words[place] in TYPE_WIDTHS)
                     and (word in SPACES) == (words[place] in SPACES)]
            words[place] = self.random.choice(alike)
        elif words:
            of_row = [word for slot in row.slots if words[place] in slot.words for word in slot.words]
            words[place] = self.random.choice(of_row or [words[place]])

    def operands(self, row: Row, words: list[str], operands: list[str]) -> None:
        """Damage the operands."""
        place = self.random.randrange(len(operands)) if operands else 0
        what = self.random.randrange(6)
        if what == 0 and operands:
            del operands[place]
        elif what == 1:
            operands.insert(place, self.anything())
        elif what == 2 and len(operands) > 1:
            other = self.random.randrange(len(operands))
            operands[place], operands[other] = operands[other], operands[place]
        elif operands:
            operands[place] = self.anything()

    def anything(self) -> str:
        """Make any operand."""
        choice = self.random.random()
        if choice < 0.6:
            return self.register(self.random.choice(list(_DECLARED)))
        if choice < 0.8:
            return self.random.choice(_NUMBERS)
        if choice < 0.9:
            return f"[{self.random.choice([each for places in _ADDRESSES.values() for each in places])}]"
        return self.random.choice(("_", "%tid.x", "%clock64", "gl", "shm", "{%r1, %r2}", "{%h1, %h2}", "!%p1", "%r1|%p1", "%p1|%p2",
                                   "%v", "there", "-%r1", "[16]", "{%f1}", "%r1.b0"))

    def register(self, kind: str) -> str:
        return f"%{_DECLARED[kind]}{self.random.randrange(9)}"

    def operand(self, text: str, form: Form) -> str:
        """Make an operand of a kind."""
        kind = kind_of(text)
        what, pick = kind.what, self.random.choice
        if what in ("=", "source", "-"):
            if kind.may_discard and self.random.random() < 0.2:
                return "_"
            if what != "=" and kind.more != "!" and self.random.random() < 0.2 and kind.type != "b128":
                return pick(("0f3F800000", "0.5") if kind.type in ("f32", "f64") else ("1", "0", "7", "32"))
            return self.register(pick(sorted(kind.registers)))
        if what in ("p", "=p"):
            return self.register("pred") if what == "=p" or self.random.random() < 0.8 else pick(("!%p3", "1"))
        if what == "pair":
            first = self.operand("=p", form) if kind.element.what == "=p" else self.register(pick(sorted(kind.element.registers)))
            return first if kind.is_optional and self.random.random() < 0.5 else f"{first}|%p8"
        if what == "[]":
            if kind.more in ("tex", "surf"):
                return pick(("[tx]", "[su]", "[%d1]", "[%ud1]"))
            space = (kind.more.strip("@") or form.space).split("::")[0]
            place = pick(_ADDRESSES[space])
            return f"[{place}{pick(('', '', '+16')) if place != 'prm' else ''}]"
        if what == "#":
            numbers = sorted(kind.numbers)[:300] if not isinstance(kind.numbers, range) and kind.numbers else kind.numbers
            return str(pick(numbers[:256])) if numbers else pick(_NUMBERS[:8])
        if what == "n":
            return pick(("32", "64", "%r1"))
        if what == "vector":
            registers = sorted(kind.element.registers)
            one = pick(registers)
            items = [f"%{_DECLARED[one]}{place % 9}" if place < 9 else "%r0" for place in range(kind.size)]
            return items[0] if kind.size == 1 and kind.more != "!" and self.random.random() < 0.5 else f"{{{', '.join(items)}}}"
        if what in ("pack", "unpack"):
            count = pick((2, 4))
            bits = max(TYPE_WIDTHS[kind.type] // count, 8)
            return "{" + ", ".join(f"%{_DECLARED[f'b{bits}']}{place}" for place in range(count)) + "}"
        if what == "video":
            parts = {0: ("", "", ".b0", ".h1", ".b3"), 2: ("", "", ".h1", ".h10", ".h32"), 4: ("", "", ".b3", ".b210", ".b7123")}
            return self.register(pick(("u32", "s32", "b32"))) + pick(parts[kind.size])
        if what == "texture":
            return self.texture(form)
        simple = {"label": "there", "targets": "targets", "surface": "[su, {%r1, %r2}]", "_": "_", "sv": "%ntid", "offset": "{%r1, %r2}", "any": "%r1"}
        return simple[what]

    def texture(self, form: Form) -> str:
        parts = form.opcode.split(".")
        geometry = next(part for part in parts if part in ("1d", "2d", "3d", "a1d", "a2d", "cube", "acube", "2dms", "a2dms"))
        letter = "f" if parts[-1] == "f32" else "s"
        count = {"1d": 1, "2d": 2, "3d": 4, "a1d": 2, "a2d": 4, "cube": 4, "acube": 4, "2dms": 4, "a2dms": 4}[geometry]
        items = [f"%{letter}{place}" for place in range(1, count + 1)]
        if geometry[0] == "a":
            items[0] = "%r1"
        return f"[tx, {{{', '.join(items)}}}]"


# --- verdicts ---------------------------------------------------------------------------------------------------------


def verdict(line: Line) -> str:
    """Return rfview's verdict: "" for a line that it takes, else the error."""
    try:
        decode_module(frame(line.version, line.target) + line.text + "\nthere: ret;\n}\n", "x.ptx").kernels["k"]
    except PtxError as problem:
        return str(problem).split("\n")[0].partition(": ")[2]
    return ""


def assemble(version: str, target: str, texts: list[str]) -> dict[int, str]:
    """Return ptxas's errors, by the index of the line; later passes of ptxas see only lines that earlier ones take."""
    errors: dict[int, str] = {}
    left = list(range(len(texts)))
    head = frame(version, target)
    while left:
        text = head + "".join(texts[index] + "\n" for index in left) + "there: ret;\n}\n"
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "x.ptx").write_text(text)
            done = subprocess.run(["ptxas", f"-arch={target}", "-O0", "-o", "/dev/null", f"{folder}/x.ptx"], capture_output=True, text=True)
        if not done.returncode:
            break
        first = head.count("\n") + 1
        found = {int(number) - first: words for number, words in re.findall(r"line (\d+); (?:error|fatal)\s*: (.*)", done.stderr)}
        found = {place: words for place, words in found.items()      # not those in ptxas's own library
                 if 0 <= place < len(left) and "__cuda" not in words}
        if not found:
            if len(left) == 1:
                errors[left[0]] = next(each for each in done.stderr.strip().split("\n") if "warning" not in each)
                break
            half = len(left) // 2
            for part in (left[:half], left[half:]):
                errors.update({part[index]: words for index, words in
                               assemble(version, target, [texts[each] for each in part]).items()})
            break
        errors.update({left[place]: words for place, words in found.items()})
        left = [index for place, index in enumerate(left) if place not in found]
    return errors


def assembled(lines: list[Line]) -> list[str]:
    """Return ptxas's verdicts: "" for a line that it takes, else the error."""
    found = [""] * len(lines)
    for version, target in sorted({line[:2] for line in lines}):
        places = [place for place, line in enumerate(lines) if line[:2] == (version, target)]
        for index, words in assemble(version, target, [lines[place].text for place in places]).items():
            found[places[index]] = words
    return found


# why verdicts differ, by a part of ptxas's or rfview's message or of the line
REASONS = (
    ("testp.f", "ptxas takes testp without a test, which has no meaning"),
    ("C7406", "setmaxnreg: depends on the registers that ptxas itself allocates"),
    ("Internal compiler error", "an internal error of ptxas"),
    ("isspacep", "ptxas takes an address of 32 bits, rfview's generic addresses have 64"),
)


def mark(our: str, their: str, text: str) -> str:
    """Return + for a line that both take, - for one that both refuse, ~ for PTX that rfview says it does not support, else !."""
    if bool(our) == bool(their):
        return "-" if our else "+"
    return "~" if not their and "not supported" in our else "!"


def write(seed: int, count: int) -> None:
    """Write the stored list: each line's mark, version, target and text, and behind a tab why its verdicts differ."""
    maker = Maker(seed)
    lines = list(dict.fromkeys(maker.line() for _ in range(count)))
    rows = []
    for line, their in zip(lines, assembled(lines), strict=True):
        our = verdict(line)
        sign = mark(our, their, line.text)
        found = next((reason for part, reason in REASONS if part in their + our + line.text), their or our)
        rows.append(f"{sign} {line.version} {line.target} {line.text}" + (f"\t{found}" if sign == "!" else ""))
    STORED.write_text(f"# Verdicts of ptxas 13.0.88; made by `python -m tests.ptx_forms --write --count {count} --from {seed}`\n"
                      + "\n".join(rows) + "\n")
    print(Counter(row[0] for row in rows))


def stored() -> list[tuple[str, Line, str]]:
    """Return the stored lines: mark, line, and why the verdicts differ."""
    found = []
    for row in STORED.read_text().splitlines()[1:]:
        text, _, reason = row.partition("\t")
        sign, version, target, line = text.split(" ", 3)
        found.append((sign, Line(version, target, line), reason))
    return found


def main(given: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2600)
    parser.add_argument("--from", dest="seed", type=int, default=0)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--show", type=int, default=100)
    options = parser.parse_args(given)
    if options.write:
        write(options.seed, options.count)
        return 0
    maker = Maker(options.seed)
    lines = list(dict.fromkeys(maker.line() for _ in range(options.count)))
    theirs, shown, wrong = assembled(lines), Counter[str](), 0
    for line, their in zip(lines, theirs, strict=True):
        our = verdict(line)
        if bool(our) != bool(their):
            wrong += 1
            base = line.text.split(".")[0].split(" ")[0]
            shown[base] += 1
            if shown[base] <= 6 and shown.total() <= options.show:
                print(f"{line.version} {line.target:8} {line.text}\n        ptxas: {their or 'ok'} | rfview: {our or 'ok'}")
    print(len(lines), "lines,", sum(not each for each in theirs), "taken by ptxas;", wrong, "differ;", dict(shown.most_common(40)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
