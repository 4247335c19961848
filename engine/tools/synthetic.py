"""Generates kernels with given register traffic: age and banks of operands, share of memory accesses, divergence.

A kernel is a loop over a body of instructions with three sources and one destination. Destinations cycle through a ring of
`reuse + 2 stride` values; the sources of an instruction are the results of those `reuse` and `reuse + stride` before it,
and the previous value of its destination. So the youngest source is `reuse` instructions old, and the three are `stride`
registers apart; if both are multiples of the number of banks, they are in one bank. Loads replace some instructions.
Results are exact to the bit: each kernel comes with its expected result, and `rfview run` verifies it on any design.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rfview.engine.errors import InputError
from rfview.engine.program import NO_REG
from rfview.engine.wording import plural

LANES = 32
MAX_WARPS_PER_CTA = 8
MAX_REGISTERS = 48     # of a thread's 63; addresses, the loop and the divergent part need the others
KINDS = ("float", "int")
TINY = 1e-9             # shares are rounded so that ten tenths make one


@dataclass(frozen=True)
class Pattern:
    """A kernel's pattern. reuse: age of the youngest source in instructions; stride: distance of sources in registers;
    held: values that are live throughout and not used in the loop; instructions: in the body; rounds: of the loop; loads,
    shared: shares of the body that load from global and shared memory; divergence: share that runs on half of the lanes at
    a time; warps: in total; kind: of values. Raises InputError for an impossible pattern.
    """

    reuse: int = 4
    stride: int = 2
    held: int = 8
    instructions: int = 64
    rounds: int = 16
    loads: float = 0.1
    shared: float = 0.0
    divergence: float = 0.0
    warps: int = 48
    kind: str = "float"
    seed: int = 0

    def __post_init__(self) -> None:
        limits = {"reuse": (1, MAX_REGISTERS), "stride": (1, MAX_REGISTERS), "held": (0, MAX_REGISTERS),
                  "instructions": (1, 4096), "rounds": (1, 1 << 20), "warps": (1, 1 << 14),
                  "seed": (0, (1 << 31) - 1)}
        for name, (low, high) in limits.items():
            if not low <= getattr(self, name) <= high:
                raise InputError(f"--{name} {getattr(self, name)}: expected {low} to {high}")
        for name in ("loads", "shared", "divergence"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(f"--{name} {getattr(self, name)}: expected a share, 0 to 1")
        if self.loads + self.shared > 1:
            raise InputError(f"--loads {self.loads} --shared {self.shared}: together they exceed the number of instructions")
        if self.kind not in KINDS:
            raise InputError(f"--kind {self.kind}: expected {' or '.join(KINDS)}")
        if self.ring + self.held > MAX_REGISTERS:
            raise InputError(f"--reuse {self.reuse} --stride {self.stride} --held {self.held}: reuse + 2 stride + held is "
                             f"{self.ring + self.held} values, but at most {MAX_REGISTERS} fit into a thread's registers")

    @property
    def ring(self) -> int:
        """Return the number of values that the body's destinations cycle through."""
        return self.reuse + 2 * self.stride

    @property
    def values(self) -> int:
        """Return the number of all values of a thread: the ring's and the held ones."""
        return self.ring + self.held

    @property
    def warps_per_cta(self) -> int:
        """Return the largest number of warps per CTA, up to MAX_WARPS_PER_CTA, that divides all warps evenly."""
        return next(size for size in range(MAX_WARPS_PER_CTA, 0, -1) if self.warps % size == 0)

    @property
    def largest(self) -> float:
        """Return a power of two as bound of initial float values, of which multiply-adds grow to at most twice the bound.

        A value below m grows by less than m^2 each time it is written, so in n writes to at most m / (1 - n m).
        """
        writes = self.rounds * (1 + self.instructions // self.ring)
        return 2.0 ** -math.ceil(math.log2(2 * writes))

    @property
    def step(self) -> float:
        """Return the unit of which initial float values are whole multiples, so that they are exact."""
        return self.largest / 1024

    @property
    def num_loads(self) -> int:
        """Return the global loads in the body."""
        return sum(one.what == "global" for one in body(self))


class Step(NamedTuple):
    """One instruction of the body: 'arith', 'global' or 'shared', its destination and sources; half: 0 all lanes, 1 the even
    ones, 2 the odd ones; place: the number of the global load."""

    what: str
    target: int
    sources: tuple[int, ...]
    half: int
    place: int


def body(pattern: Pattern) -> Iterator[Step]:
    """Yield the instructions of the loop's body in order."""
    count, ring = pattern.instructions, pattern.ring
    begin = count - round(pattern.divergence * count)       # the divergent part is at the end: even lanes, then odd
    middle = begin + (count - begin + 1) // 2
    loads = memory = 0
    share = pattern.loads + pattern.shared
    for k in range(count):
        what = "arith"
        if int((k + 1) * share + TINY) > memory:
            memory += 1
            what = "global" if int(memory * pattern.loads / share + TINY) > loads else "shared"
        ages = (pattern.reuse, pattern.reuse + pattern.stride, pattern.reuse + 2 * pattern.stride)
        sources = tuple((k - age) % ring for age in ages) if what == "arith" else ()
        yield Step(what, k % ring, sources, 0 if k < begin else 1 if k < middle else 2, loads)
        loads += what == "global"


def ptx(pattern: Pattern, name: str) -> str:
    """Return the kernel as PTX text."""
    is_float = pattern.kind == "float"
    kind, op = ("f32", "fma.rn.f32") if is_float else ("u32", "mad.lo.u32")
    threads = pattern.warps * LANES
    lines = [f"// {text_of(pattern)}", f"// made by: rfview generate {name} {options_of(pattern)}".rstrip(), ".version 7.0",
             ".target sm_50", ".address_size 64", "",
             f".visible .entry {name}(", "    .param .u64 data,", "    .param .u64 result,", "    .param .u32 rounds", ")",
             "{",
             "    .reg .pred %p<4>;", "    .reg .b32 %r<10>;", "    .reg .b64 %d<8>;",
             f"    .reg .{'f32' if is_float else 'b32'} %v<{pattern.values}>, %x;"]
    if pattern.shared:
        lines.append(f"    .shared .align 4 .b8 staged[{pattern.warps_per_cta * LANES * 4}];")
    lines += ["", "    ld.param.u64 %d1, [data];", "    ld.param.u64 %d2, [result];", "    ld.param.u32 %r1, [rounds];",
              "    cvta.to.global.u64 %d1, %d1;", "    cvta.to.global.u64 %d2, %d2;", "    mov.u32 %r2, %ctaid.x;",
              "    mov.u32 %r3, %ntid.x;", "    mov.u32 %r4, %tid.x;", "    mad.lo.u32 %r5, %r2, %r3, %r4;",
              "    mul.wide.u32 %d3, %r5, 4;", "    add.s64 %d1, %d1, %d3;", "    add.s64 %d2, %d2, %d3;"]
    if pattern.shared:
        lines += ["    mov.u32 %r6, staged;", "    shl.b32 %r7, %r4, 2;", "    add.u32 %r6, %r6, %r7;",
                  f"    ld.global.{kind} %x, [%d1];", f"    st.shared.{kind} [%r6], %x;"]
    if pattern.loads or pattern.shared:
        # always true, but the allocator must assume that the old value may be kept, so the register is reused
        lines.append("    setp.ne.u32 %p3, %r1, 0;")
    if pattern.divergence:
        lines += ["    and.b32 %r7, %r4, 1;", "    setp.eq.u32 %p2, %r7, 1;"]
    # the loop counts up to 0: its register is allocated before those of the values, which are then adjacent
    lines += ["    neg.s32 %r9, %r1;", f"    and.b32 %r8, %r4, {LANES - 1};"]
    if is_float:
        lines += ["    cvt.rn.f32.u32 %x, %r8;", f"    mul.f32 %x, %x, {_hex(pattern.step)};"]
        lines += [f"    add.f32 %v{j}, %x, {_hex(_initial(pattern, j))};" for j in range(pattern.values)]
    else:
        lines += [f"    add.u32 %v{j}, %r8, {int(_initial(pattern, j))};" for j in range(pattern.values)]
    lines += ["", "again:"]
    half = 0
    for step in body(pattern):
        if step.half != half:
            lines += _divide(half, step.half)
            half = step.half
        target = f"%v{step.target}"
        if step.what == "global":
            lines.append(f"    @%p3 ld.global.{kind} {target}, [%d1+{4 * threads * step.place}];")
        elif step.what == "shared":
            lines.append(f"    @%p3 ld.shared.{kind} {target}, [%r6];")
        else:
            lines.append(f"    {op} {target}, {', '.join(f'%v{source}' for source in step.sources)};")
    if half:
        lines += _divide(half, 0)
    lines += ["    add.u32 %r9, %r9, 1;", "    setp.ne.u32 %p1, %r9, 0;", "    @%p1 bra again;", "",
              "    mov.b32 %r7, %v0;"]
    for j in range(1, pattern.values):
        lines += [f"    mov.b32 %r8, %v{j};", "    xor.b32 %r7, %r7, %r8;"]
    return "\n".join([*lines, "    st.global.u32 [%d2], %r7;", "    ret;", "}"]) + "\n"


def _divide(before: int, after: int) -> list[str]:
    """Return the branches between parts of the body for different lanes."""
    if after == 1:
        return ["    @%p2 bra odd;"]
    if after == 2:
        return (["    bra joined;"] if before == 1 else ["    @!%p2 bra joined;"]) + ["odd:"]
    return ["joined:"] if before == 2 else ["odd:"]


def _hex(value: float) -> str:
    """Return a float as an exact PTX literal."""
    return f"0f{int(np.float32(value).view(np.uint32)):08X}"


def _initial(pattern: Pattern, register: int) -> float:
    """Return the initial value of a register in lane 0."""
    draw = np.random.default_rng([pattern.seed, register])
    if pattern.kind == "int":
        return int(draw.integers(1, 1 << 16))
    return int(draw.integers(1, 900)) * (1 if draw.integers(2) else -1) * pattern.step


def launch(pattern: Pattern, name: str, expected: bool = True) -> str:
    """Return the launch file; expected: with the result to verify."""
    threads = pattern.warps * LANES
    size = threads * max(1, pattern.num_loads)
    dtype = "float32" if pattern.kind == "float" else "uint32"
    span = f"low = {-pattern.largest}, high = {pattern.largest}" if pattern.kind == "float" else "low = 0, high = 65536"
    lines = [f'module = "{name}.ptx"', f'description = "{text_of(pattern)}"', "", "[[launch]]", f'kernel = "{name}"',
             f"grid = [{pattern.warps // pattern.warps_per_cta}]", f"block = [{pattern.warps_per_cta * LANES}]",
             f'args = [{{buffer = "data"}}, {{buffer = "result"}}, {{value = {pattern.rounds}}}]', "",
             "[buffers.data]", f"shape = [{size}]", f'dtype = "{dtype}"',
             f"random = {{seed = {pattern.seed + 1}, {span}}}", "",
             "[buffers.result]", f"shape = [{threads}]", 'dtype = "uint32"', "zeros = true"]
    if expected:
        lines += ["", "[expect.result]", f'file = "{name}_expected.npy"', "rtol = 0.0"]
    return "\n".join(lines) + "\n"


def text_of(pattern: Pattern) -> str:
    """Return the pattern as a sentence."""
    text = (f"{pattern.warps} warps, {pattern.rounds} rounds of {pattern.instructions} instructions: sources "
            f"{plural(pattern.reuse, 'instruction')} old, {plural(pattern.stride, 'register')} apart, "
            f"{plural(pattern.values, 'value')}")
    for name, word in (("loads", "load"), ("shared", "load from shared memory"), ("divergence", "run on half the lanes")):
        if getattr(pattern, name):
            text += f", {getattr(pattern, name):.0%} {word}"
    return text


def options_of(pattern: Pattern) -> str:
    """Return the options that give this pattern, without those that are the default."""
    default = Pattern()
    return " ".join(f"--{one.name} {getattr(pattern, one.name)}" for one in fields(pattern)
                    if getattr(pattern, one.name) != getattr(default, one.name))


def expected(pattern: Pattern, data: np.ndarray) -> np.ndarray:
    """Return the result, one u4 per thread: the exclusive or of all values' bits. data: the buffer's content."""
    threads = pattern.warps * LANES
    lane = np.arange(threads) % LANES
    is_float = pattern.kind == "float"
    if is_float:
        values = [(lane * pattern.step).astype(np.float32) + np.float32(_initial(pattern, j)) for j in range(pattern.values)]
    else:
        values = [(lane + int(_initial(pattern, j))).astype(np.uint32) for j in range(pattern.values)]
    steps = list(body(pattern))
    halves = (np.ones(threads, bool), lane % 2 == 0, lane % 2 == 1)
    for _ in range(pattern.rounds):
        for step in steps:
            if step.what == "arith":
                a, b, c = (values[source] for source in step.sources)
                new = fma(a, b, c) if is_float else a * b + c
            else:
                new = data[threads * step.place : threads * (step.place + 1)] if step.what == "global" else data[:threads]
            values[step.target] = np.where(halves[step.half], new, values[step.target])
    return np.bitwise_xor.reduce(np.stack([value.view(np.uint32) for value in values]), axis=0)


def same_bank_share(path: Path, name: str, banks: int) -> float:
    """Return the share of a generated kernel's arithmetic instructions with all three sources in the same bank.

    The front end renumbers registers, and register r of warp w with n of them is in bank (w n + r) mod banks.
    """
    from rfview.engine import ptx as front     # start-up: generating a kernel needs no front end

    kernel = front.load_module(path).kernels[name]
    sources = [[int(reg) for reg in inst["src"] if reg != NO_REG]
               for inst, text in zip(kernel.insts, kernel.texts, strict=True) if text.startswith(("fma", "mad.lo.u32 "))]
    triples = [regs for regs in sources if len(regs) == 3][1:]      # the first is the thread's number
    return sum(len({reg % banks for reg in regs}) == 1 for regs in triples) / max(1, len(triples))


def fma(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Return a x b + c of float32 arrays, rounded once to the nearest.

    The product is exact in float64; the sum is rounded to odd there, which makes the second rounding correct.
    """
    product, addend = a.astype(np.float64) * b, c.astype(np.float64)
    total = product + addend
    virtual = total - product
    error = (product - (total - virtual)) + (addend - virtual)
    is_even = total.view(np.int64) & 1 == 0
    toward = np.where(error > 0, np.inf, -np.inf)
    return np.where((error != 0) & is_even, np.nextafter(total, toward), total).astype(np.float32)
