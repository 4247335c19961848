"""Fuzzes machine code: registers, numbers, modifiers, control codes, directives and lines of bundled listings are changed.

A case is one listing, or one cubin with changed bytes where nvdisasm is at hand: it is decoded, placed, and run for its
values and for a few cycles on a sub-core. It must load, or be refused with one error that names the file; a kernel that
misbehaves must be reported as such.
"""

from __future__ import annotations

import functools
import random
import re
import traceback
from collections.abc import Iterator
from pathlib import Path

from rfview.engine import kernels
from rfview.engine.errors import InputError, KernelFault, RfviewError
from rfview.engine.functional.machine import FunctionalSimulator
from rfview.engine.launch import load_launch_file
from rfview.engine.launch.spec import LaunchSpec
from rfview.engine.modules import decode_module
from rfview.engine.sass.load import listing_of_cubin
from rfview.engine.sass.tools import assemble
from rfview.engine.simulator import Simulator
from tests.robustness.found import keep
from tests.robustness.ptx import changed_lines, within_limits

INSTRUCTIONS, CYCLES = 2000, 300        # of the run by values, of the run on a sub-core
PRESETS = {"sm_75": "turing", "sm_80": "a100", "sm_90": "hopper"}
TOKEN = re.compile(r"\s+|[A-Z_a-z][\w]*|0x[0-9a-f]+|\d+|\.[\w]+|[^\s\w]")
REGISTERS = ("R0", "R1", "R2", "R7", "R8", "R63", "R127", "R253", "R254", "R255", "RZ", "UR0", "UR3", "UR62", "UR63", "URZ", "P0", "P6",
             "P7", "PT", "UP0", "UP6", "UPT", "B0", "B15", "B16", "SB0", "SB5", "SR_TID.X", "SR_CLOCKLO", "SRZ", "SR_LANEID", "R300")
REGISTER = re.compile(r"(SR_|SB|UR|UP|SR|R|P|B)[\w.]*")
INSTRUCTION = re.compile(r"[0-9a-f]{4,7} B")
NUMBERS = ("0", "1", "-1", "3", "4", "7", "16", "0x1f", "0x20", "0x10", "0x18", "0x60", "0x160", "0x210", "0xfffc", "0x10000", "0xffffff",
           "0x7fffffff", "0x80000000", "0xffffffff", "0x100000000", "-0x10", "99999999999999999999", "9" * 300)
MODIFIERS = (".E", ".64", ".128", ".U8", ".S8", ".U16", ".U", ".X", ".X4", ".WIDE", ".HI", ".LO", ".U32", ".S32", ".F32", ".F64", ".FTZ", ".SAT",
             ".RZ", ".AND", ".OR", ".XOR", ".LUT", ".EX", ".reuse", ".H0_H0", ".H1_H1", ".CONSTANT", ".STRONG", ".GPU", ".SYS", ".IDX", ".BFLY",
             ".ALL", ".ANY", ".INC", ".DEFER_BLOCKING", ".SYNC", ".ARV", ".RED", ".POPC", ".LE", ".CL", ".ABS", ".NODEC", ".B1", ".L", ".R")
STATEMENTS = ("EXIT", "BRA 0x0", "BRA 0x10", "BRA 0x7fffff0", "BRX R2 -0x10", "BSSY B0, 0x40", "BSYNC B0", "BREAK B0", "WARPSYNC 0xffffffff",
              "BAR.SYNC.DEFER_BLOCKING 0x0", "BAR.SYNC.DEFER_BLOCKING 0x0, 0x20", "BAR.ARV 0x1, 0x40", "CALL.REL.NOINC 0x20",
              "RET.REL.NODEC R2 0x0", "YIELD", "NANOSLEEP 0x10", "DEPBAR.LE SB0, 0x0", "LDG.E R2, [R2.64]", "STG.E [R2.64], R5",
              "LDS.128 R4, [R3]", "STL [R1], R4", "ATOMG.E.ADD.STRONG.GPU PT, R4, [R2.64], R5", "SHFL.BFLY PT, R4, R5, 0x1, 0x1f",
              "VOTE.ANY R4, PT, P0", "R2UR UR4, R2", "S2R R0, SR_TID.X", "BMOV.32.CLEAR R4, B0", "P2R R4, PR, RZ, 0x7f", "BPT.TRAP 0x1",
              "TEX.SCR.LL R6, R4, R4, R6, 0x0, 0x58, 2D", "TEX.B.LL R6, R4, R8, R4, ARRAY_CUBE", "TLD.LZ RZ, R4, R2, UR4, 3D, 0x5",
              "TLD4.SCR.A R6, R4, R4, R5, 0x0, 0x58, 2D", "TXD.B R6, R4, R4, R8, ARRAY_2D", "TXQ.B RZ, R4, R2, TEX_HEADER_DIMENSION, 0x3",
              "SULD.D.BA.3D.128.STRONG.SM R4, [R2], R6", "SUST.D.BA.2D_ARRAY.STRONG.SM.TRAP [R2], R4, 0x0, 0x58",
              "SYNCS.EXCH.64 URZ, [UR4], UR6", "SYNCS.ARRIVE.TRANS64.A1T0 R2, [UR4], RZ", "SYNCS.PHASECHK.TRANS64 P0, [R2+URZ], R5",
              "ARRIVES.LDGSTSBAR.64.TRANSCNT [UR4]", "BRXU UR4, -0x10", "R2UR.OR P0, UR5, R3", "LDGSTS.E [R2], [R4.64]",
              "KILL", "ERRBAR", "MOV R254, 0x1", "IMAD.WIDE R254, R2, R3, R4", "LDC.64 R2, c[0x3][R2]", "ULDC UR4, c[0x0][0xfffc]")


# lines that are no instructions, with counts and places that no listing has
DIRECTIVES = (".registers 0", ".registers 256", ".registers 99999999999", ".shared 4294967295", ".shared 1000000000000", ".local 4294967295",
              ".local 70000000000", ".barriers 1000", ".threads 0", ".params 0xffffffff", ".param 0xfffffff8 8 u64 far", ".param 0x0 4294967295 b8 big",
              ".param 0x0 8 u64 again", ".bank 0 16", ".bank 3 99999999999", ".bank 99 16", ".bytes 0xfffffff0 00", ".bytes 0x0 zz",
              ".address 0x0 nothing 0x0", ".address 0x7ffffff8 k 0x0", ".global 4294967295 4 huge", ".global 0 0 none", ".const 0 99999999 name 0x0",
              ".label again 0x10", ".label far 0xfffffff0", ".func again", ".func again", ".entry again", ".target sm_10", ".target sm_99999",
              ".address_size 32", ".file 1 \"\"")


@functools.cache
def samples() -> tuple[tuple[LaunchSpec, str, str], ...]:
    """Return the launch files, presets and listings of bundled kernels, every architecture in its turn."""
    found = []
    for number, name in enumerate(kernels.names()):
        spec, isa = load_launch_file(kernels.path(name)), list(PRESETS)[number % len(PRESETS)]
        listing = spec.module_path.with_suffix(f".{isa}.sass")
        if listing.exists() and listing.stat().st_size < 100_000:
            found.append((spec, PRESETS[isa], listing.read_text(encoding="utf-8")))
    return tuple(found)


def changed(chance: random.Random, text: str) -> str:
    """Return a listing with a few tokens or lines changed; offsets of its instructions are those of a listing again."""
    for _ in range(chance.choice((1, 1, 1, 2, 3, 6))):
        lines = text.split("\n")
        code = [at for at, line in enumerate(lines) if INSTRUCTION.match(line)]
        how = chance.random()
        if how < 0.2 or not code:
            lines = changed_lines(chance, lines, chance.randrange(len(lines)), lambda: _inserted(chance),
                                  lambda: chance.choice(samples())[2])
        elif how < 0.3:
            at = chance.randrange(len(lines))
            lines[at] = _changed_token(chance, lines[at], False)
        else:
            at = chance.choice(code)
            lines[at] = _changed_instruction(chance, lines[at])
        text = "\n".join(lines)
    return _numbered(text) if chance.random() < 0.9 else text


def _changed_instruction(chance: random.Random, line: str) -> str:
    """Return an instruction with another control code, guard, opcode or operand; mostly of the same kind."""
    offset, control, words = line.split(" ", 2)
    if chance.random() < 0.2:
        wait = "".join(str(k) if chance.random() < 0.2 else "-" for k in range(6))
        control = (f"B{wait}:R{chance.choice('---012345')}:W{chance.choice('---012345')}:{chance.choice('Y-')}:"
                   f"S{chance.randrange(16):02}" + chance.choice(("", ":U1", ":U7", ":Uf")))
    elif chance.random() < 0.1:
        words = chance.choice(("@P0 ", "@!P1 ", "@PT ", "@!PT ", "@UP0 ", "@P6 ")) + words
    elif chance.random() < 0.1:
        words = chance.choice(STATEMENTS)
    else:
        words = _changed_token(chance, words, chance.random() < 0.9)
    return f"{offset} {control} {words}"


def _changed_token(chance: random.Random, line: str, is_alike: bool) -> str:
    """Return a line with one token changed; is_alike: to one of the same kind, registers and numbers only."""
    tokens = [(match.start(), match.group()) for match in TOKEN.finditer(line) if not match.group().isspace()]
    if is_alike:
        tokens = [(at, token) for at, token in tokens if token[0].isdigit() or REGISTER.fullmatch(token)]
    if not tokens:
        return line if is_alike else chance.choice(STATEMENTS)
    at, token = chance.choice(tokens)
    return line[:at] + _other(chance, token, is_alike) + line[at + len(token) :]


def _other(chance: random.Random, token: str, is_alike: bool) -> str:
    """Return a replacement for a token."""
    if is_alike and REGISTER.fullmatch(token):
        kind = REGISTER.fullmatch(token)[1]
        return chance.choice([other for other in REGISTERS if REGISTER.fullmatch(other)[1] == kind])
    if is_alike:
        return chance.choice((*NUMBERS, hex(int(token, 16) + chance.choice((1, 4, 8, 16, 32)))))
    how = chance.random()
    if how < 0.1:
        return chance.choice(("", f"{token} {token}", f"{token}{token}"))
    if token[0] == "." or how < 0.4:
        return chance.choice((chance.choice(MODIFIERS), token + chance.choice(MODIFIERS)))
    if token[0].isdigit():
        return chance.choice(NUMBERS)
    return chance.choice((chance.choice(NUMBERS), chance.choice(REGISTERS), token + chance.choice("0123456789"),
                          chance.choice("{}[]();,:|!<>@-~+"), chance.choice(STATEMENTS).split()[0]))


def _inserted(chance: random.Random) -> str:
    """Return a line with an instruction, or a directive."""
    if chance.random() < 0.3:
        return chance.choice(DIRECTIVES)
    guard = chance.choice(("", "", "@P0 ", "@!P1 ", "@!PT "))
    return (f"0000 B------:R-:W{chance.choice('-0125')}:-:S{chance.choice(('00', '01', '05', '15'))} "
            f"{guard}{chance.choice(STATEMENTS)}")


def _numbered(text: str) -> str:
    """Return a listing whose instructions stand at consecutive offsets in each function."""
    offset, lines = 0, []
    for line in text.split("\n"):
        if line.startswith((".entry", ".func")):
            offset = 0
        elif match := re.match(r"[0-9a-f]{4,7} (?=B)", line):
            line, offset = f"{offset:04x} {line[match.end() :]}", offset + 16
        lines.append(line)
    return "\n".join(lines)


def changed_bytes(chance: random.Random, raw: bytes) -> bytes:
    """Return a cubin with a few bytes changed, or cut off."""
    data = bytearray(raw)
    for _ in range(chance.choice((1, 1, 2, 5))):
        at = chance.randrange(len(data))
        data[at] = chance.choice((0, 1, 0x7F, 0xFF, data[at] ^ 1 << chance.randrange(8), chance.randrange(256)))
    return bytes(data[: chance.randrange(len(data))] if chance.random() < 0.1 else data)


def tried(spec: LaunchSpec, preset: str, given: str | bytes) -> tuple[str, str]:
    """Return the outcome of a listing or cubin: loaded, refused or fault, else what is wrong; and details."""
    try:
        text = given if isinstance(given, str) else listing_of_cubin(given, "case.sass")
        module = decode_module(text, "case.sass")
        values = FunctionalSimulator(spec, module=module, max_cycles=CYCLES)
        fault = _run(values, spec, INSTRUCTIONS)
        fault = _run(Simulator(spec, module=module, preset=preset, max_cycles=CYCLES), spec, CYCLES) or fault
        return ("fault", "") if fault else ("loaded", "")
    except InputError as error:
        return ("refused", "") if "case.sass" in str(error) or str(spec.path) in str(error) else ("unnamed", str(error))
    except RfviewError as error:
        return "unnamed", str(error)
    except Exception as error:
        places = " < ".join(f"{Path(one.filename).name}:{one.lineno}" for one in traceback.extract_tb(error.__traceback__)[:-4:-1])
        return "traceback", f"{type(error).__name__}: {error} {places}"


def _run(simulator: Simulator, spec: LaunchSpec, steps: int) -> bool:
    """Run a simulator; return whether the kernel faults. Raises RfviewError if its fault does not say where."""
    try:
        simulator.step(steps)
    except KernelFault as error:
        if spec.name not in str(error) and "cycles" not in str(error):
            raise RfviewError(f"a fault that does not say where: {error}") from None
        return True
    return False


def cases(seed: int, first: int, count: int) -> Iterator[tuple[int, str, str]]:
    """Try listings first..first + count - 1 of a seed; yield (number, outcome, detail)."""
    tried(*samples()[0])       # compiles the machine before cases are timed
    for number in range(first, first + count):
        chance = random.Random(f"machine_code {seed} {number}")
        spec, preset, text = chance.choice(samples())
        yield number, *_outcome(spec, preset, changed(chance, text), f"machine_code.{spec.name}.{seed}-{number}.sass")


def cubin_cases(seed: int, first: int, count: int) -> Iterator[tuple[int, str, str]]:
    """Try cubins likewise, which takes ptxas and nvdisasm. Raises SassError if they are missing."""
    tried(*samples()[0])
    for number in range(first, first + count):
        chance = random.Random(f"cubins {seed} {number}")
        name, isa = chance.choice(kernels.CORE), chance.choice(list(PRESETS))
        spec = load_launch_file(kernels.path(name))
        raw = changed_bytes(chance, assembled(spec.module_path, int(isa[3:])))
        yield number, *_outcome(spec, PRESETS[isa], raw, f"cubins.{name}.{seed}-{number}.cubin")


@functools.cache
def assembled(ptx: Path, sm: int) -> bytes:
    """Return the cubin that ptxas makes of a file."""
    return assemble(ptx.read_text(encoding="utf-8"), sm, str(ptx))


def _outcome(spec: LaunchSpec, preset: str, given: str | bytes, name: str) -> tuple[str, str]:
    """Return the outcome of a case and details; keep it if it is bad."""
    outcome, detail = within_limits(spec.name, lambda: tried(spec, preset, given))
    keep(outcome, name, given)
    return outcome, detail
