"""Fuzzes PTX: numbers, types, registers and lines of the bundled kernels are changed, so that most of it is nearly valid.

A case is one module: it is decoded, placed, and run for a few cycles on the compiled machine. It must load, or be refused
with one error that names the file; a kernel that misbehaves must be reported as such.
"""

from __future__ import annotations

import functools
import random
import re
import resource
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

from rfview.engine import kernels
from rfview.engine.errors import InputError, KernelFault, RfviewError
from rfview.engine.launch import load_launch_file
from rfview.engine.launch.spec import LaunchSpec
from rfview.engine.ptx import decode_module
from rfview.engine.simulator import Simulator
from tests.robustness.found import keep

SLOW_S, MAX_MB, CYCLES = 10.0, 2048, 300
TOKEN = re.compile(r"//[^\n]*|\s+|[%$\w][\w$.%]*|\.[\w.]+|-?\d[\w.]*|[^\s\w]")
NUMBERS = ("0", "1", "-1", "3", "7", "16", "31", "32", "33", "63", "64", "127", "255", "256", "1023", "65535", "65536", "99999",
           "0x7fffffff", "0x80000000", "4294967295", "4294967296", "9223372036854775807", "-9223372036854775808",
           "18446744073709551616", "9" * 400, "0f3f800000", "0d3ff0000000000000", "1.5", "0b101", "017")
TYPES = (".u8", ".s8", ".b8", ".u16", ".s16", ".b16", ".f16", ".u32", ".s32", ".b32", ".f32", ".u64", ".s64", ".b64", ".f64",
         ".pred", ".f16x2", ".bf16", ".b128", ".v2", ".v4", ".global", ".shared", ".local", ".param", ".const", ".wide", ".hi",
         ".lo", ".rn", ".rz", ".sat", ".ftz", ".approx", ".sync", ".aligned", ".volatile", ".relaxed.gpu", ".uni")
STATEMENTS = ("bar.sync 0;", "bar.sync 17;", "ret;", "exit;", "trap;", "brkpt;", "membar.gl;", "{", "}", "bra L;", "L:", "@%p1 bra L;",
              ".reg .b32 %q<9>;", ".shared .align 4 .b8 t[64];", ".local .b8 u[4096];", "shfl.sync.bfly.b32 %r1, %r1, 1, 31, -1;",
              "atom.global.add.u32 %r1, [%rd1], 1;", "mov.u32 %r1, %tid.x;", "call f, ();", "ld.global.u32 %r1, [%rd1];",
              ".pragma \"nounroll\";", "vote.sync.any.pred %p1, %p2, -1;", "mov.b64 {%r1, %r2}, %rd1;", "/*", "*/", "\"", "\\")


@functools.cache
def samples() -> tuple[tuple[LaunchSpec, str], ...]:
    """Return the launch files and texts of the bundled kernels."""
    found = [load_launch_file(kernels.path(name)) for name in kernels.CORE]
    return tuple((spec, spec.module_path.read_text(encoding="utf-8")) for spec in found)


def changed(chance: random.Random, text: str) -> str:
    """Return a module with a few tokens or lines changed."""
    for _ in range(chance.choice((1, 1, 1, 2, 3, 6))):
        if chance.random() < 0.3:
            text = _changed_lines(chance, text)
            continue
        tokens = [(match.start(), match.group()) for match in TOKEN.finditer(text) if not match.group().isspace()]
        at, token = chance.choice(tokens)
        text = text[:at] + _other(chance, token, [word for _, word in tokens]) + text[at + len(token) :]
    return text


def _other(chance: random.Random, token: str, tokens: list[str]) -> str:
    """Return a replacement for a token."""
    how = chance.random()
    if how < 0.1:
        return ""
    if how < 0.2:
        return f"{token} {token}"
    if how < 0.3:
        return chance.choice(tokens)
    if token[0].isdigit() or token[0] == "-":
        return chance.choice(NUMBERS)
    if "." in token:        # an opcode or a type: one of its parts
        parts = re.split(r"(?=\.)", token)
        parts[chance.randrange(len(parts))] = chance.choice((*TYPES, ""))
        return "".join(parts)
    alike = [word for word in tokens if word[0] == token[0]]
    return chance.choice((chance.choice(alike), token + chance.choice("0123456789"), chance.choice(NUMBERS), chance.choice("{}[]();,:|!<>@")))


def _changed_lines(chance: random.Random, text: str) -> str:
    """Return a module with lines dropped, doubled, swapped or inserted, some from another kernel."""
    lines = text.split("\n")
    at = chance.randrange(len(lines))
    return "\n".join(changed_lines(chance, lines, at, lambda: chance.choice(STATEMENTS), lambda: chance.choice(samples())[1]))


def changed_lines(chance: random.Random, lines: list[str], at: int, inserted: Callable[[], str],
                  foreign: Callable[[], str]) -> list[str]:
    """Return lines, some dropped, doubled, swapped or inserted, some from `foreign`, another text; `at`: the first."""
    other, how = chance.randrange(len(lines)), chance.randrange(6)
    if how == 0:
        del lines[at : at + chance.choice((1, 1, 3, 20))]
    elif how == 1:
        lines.insert(other, lines[at])
    elif how == 2:
        lines[at], lines[other] = lines[other], lines[at]
    elif how == 3:
        lines.insert(at, inserted())
    elif how == 4:
        others = foreign().split("\n")
        begin = chance.randrange(len(others))
        lines[at:at] = others[begin : begin + chance.choice((1, 2, 8))]
    else:
        lines[at] = lines[at][: chance.randrange(len(lines[at]) + 1)]
    return lines


def tried(spec: LaunchSpec, text: str) -> tuple[str, str]:
    """Return the outcome of a module: loaded, refused or fault, else what is wrong; and details."""
    try:
        simulator = Simulator(spec, module=decode_module(text, "case.ptx"), max_cycles=CYCLES)
        simulator.step(CYCLES)
    except KernelFault as error:
        return ("fault", "") if ".ptx:" in str(error) or "cycles" in str(error) else ("unnamed", str(error))
    except InputError as error:
        return ("refused", "") if "case.ptx" in str(error) or str(spec.path) in str(error) else ("unnamed", str(error))
    except RfviewError as error:
        return "unnamed", str(error)
    except Exception as error:
        places = " < ".join(f"{Path(one.filename).name}:{one.lineno}" for one in traceback.extract_tb(error.__traceback__)[:-4:-1])
        return "traceback", f"{type(error).__name__}: {error} {places}"
    return "loaded", ""


def cases(seed: int, first: int, count: int) -> Iterator[tuple[int, str, str]]:
    """Try modules first..first + count - 1 of a seed; yield (number, outcome, detail)."""
    Simulator(samples()[0][0]).step(1)      # compiles the machine before cases are timed
    for number in range(first, first + count):
        chance = random.Random(f"ptx {seed} {number}")
        spec, text = chance.choice(samples())
        text = changed(chance, text)
        outcome, detail = within_limits(spec.name, lambda: tried(spec, text))
        keep(outcome, f"ptx.{spec.name}.{seed}-{number}.ptx", text)
        yield number, outcome, detail


def within_limits(name: str, case: Callable[[], tuple[str, str]]) -> tuple[str, str]:
    """Try a case; return its outcome and details, slow or memory if it takes too much."""
    began, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    outcome, detail = case()
    if time.process_time() - began > SLOW_S:
        outcome, detail = "slow", f"{name}: {time.process_time() - began:.1f} s {detail}"
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    if grown > MAX_MB:
        outcome, detail = "memory", f"{name}: {grown:.0f} MB more {detail}"
    return outcome, detail
