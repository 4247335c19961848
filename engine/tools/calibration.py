"""Microbenchmarks: the cycles that an operation takes on a machine, to compare a preset with its sources and other machines.

Each point is a small generated kernel, a loop over a chain of the operation, run for few and for more rounds. The difference
in cycles divided by that in operations is the time of one operation, so that start and end cancel out.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rfview.engine import files
from rfview.engine.errors import InputError
from rfview.engine.launch import Buffer, Launch, LaunchSpec
from rfview.engine.launch.spec import Arg

FULL_WARPS = 48
CHAIN = 32                      # operations in a loop, so that its code fits in an instruction cache
LINE = 128


@dataclass(frozen=True)
class Point:
    """A microbenchmark. what: a description of one operation; body: PTX of `chain` of them; # is 0 to 7 in turn.

    warps: their number, of 32 lanes each, in CTAs of at most 8 warps. chain: operations per round of the loop, of all
    warps together. words: of the buffer. rounds: of the short and the long run.
    """

    name: str
    what: str
    body: str
    warps: int = 1
    chain: int = CHAIN
    words: int = 1024
    rounds: tuple[int, int] = (4, 20)


def _chain(name: str, what: str, text: str) -> Point:
    """Return a point whose operations each wait for the one before."""
    return Point(name, what, "\n".join([text] * CHAIN))


def _spread(name: str, what: str, text: str, warps: int = FULL_WARPS, times: int = CHAIN, **more: Any) -> Point:
    """Return a point whose operations do not wait for each other."""
    lines = (text.replace("#", str(index % 8)) for index in range(times))
    return Point(name, what, "\n".join(lines), warps, times * warps, **more)


INDEX = "shl.b32 %x, %x, 2;\nadd.u32 %{0}, %{0}, %x;"      # two operations from a value to the next address
WIDE = "mul.wide.u32 %o, %x, 4;\nadd.u64 %a, %a, %o;"
STEP = f"add.u64 %a, %a, {FULL_WARPS * LINE};\nadd.u64 %b, %b, {FULL_WARPS * LINE};"
CHASE = "and two integer operations from its value to the next address"
POINTS = (
    _chain("int_add", "dependent add.u32", "add.u32 %x, %x, %y;"),
    _chain("int_mul", "dependent mul.lo.u32", "mul.lo.u32 %x, %x, %y;"),
    _chain("int_mad", "dependent mad.lo.u32", "mad.lo.u32 %x, %x, %y, %z;"),
    _chain("int_max", "dependent max.s32", "max.s32 %x, %x, %y;"),
    _chain("int_div", "dependent div.u32", "div.u32 %x, %x, %y;"),
    _chain("shfl", "dependent shfl.sync.bfly", "shfl.sync.bfly.b32 %x, %x, 1, 31, -1;"),
    _chain("fp_add", "dependent add.f32", "add.f32 %f, %f, %g;"),
    _chain("fp_mad", "dependent fma.rn.f32", "fma.rn.f32 %f, %f, %g, %h;"),
    _chain("fp_div", "dependent div.rn.f32", "div.rn.f32 %f, %f, %g;"),
    _chain("fp_div_approx", "dependent div.approx.f32", "div.approx.f32 %f, %f, %g;"),
    _chain("fp_root", "dependent sqrt.rn.f32", "sqrt.rn.f32 %f, %f;"),
    _chain("sfu", "dependent rsqrt.approx.f32", "rsqrt.approx.f32 %f, %f;"),
    _chain("dp_add", "dependent add.f64", "add.f64 %d, %d, %e;"),
    _chain("dp_mad", "dependent fma.rn.f64", "fma.rn.f64 %d, %d, %e, %e;"),
    _chain("dp_div", "dependent div.rn.f64", "div.rn.f64 %d, %d, %e;"),
    _chain("dp_root", "dependent rcp.rn.f64", "rcp.rn.f64 %d, %d;"),
    _spread("independent", "add.u32, a full SM, per warp instruction", "add.u32 %r#, %r#, %y;", times=2 * CHAIN),
    _spread("independent_1", "add.u32 of one warp, eight values in turn", "add.u32 %r#, %r#, %y;", warps=1,
            times=2 * CHAIN),
    _chain("shared", f"load from shared memory {CHASE}", "ld.shared.u32 %x, [%s];\n" + INDEX.format("s")),
    _chain("shared_conflict", "the same with all 32 lanes in one bank", "ld.shared.u32 %x, [%k];\n" + INDEX.format("k")),
    _chain("l1", f"load that hits L1 {CHASE}", f"ld.global.u32 %x, [%a];\n{WIDE}"),
    Point("l2", f"load that hits L2 {CHASE}", "\n".join(
        f"ld.global.u32 %x, [%a+{(512 * index + index % 2 * 32) * LINE}];\n{WIDE}" for index in range(CHAIN)),
        words=CHAIN * 512 * LINE // 4),     # lines that map to few sets of L1, and to more sets of L2
    Point("dram", f"load from DRAM {CHASE}", "\n".join(
        f"ld.global.u32 %x, [%a+{index * 32 * LINE}];\n{WIDE}" for index in range(CHAIN)) + "\nadd.u64 %a, %a, %far;",
        words=21 * CHAIN * 32 * LINE // 4),
    Point("loop", "iteration of a loop over an add, unrolled four times", "\n".join(["add.u32 %x, %x, %y;"] * 4), chain=4),
    Point("barrier", "barrier of a CTA of 8 warps", "\n".join(["bar.sync 0;"] * CHAIN), warps=8),
    _spread("store", "store of a line, a full SM, per warp", f"st.global.u32 [%a], %y;\n{STEP}", times=8, words=1 << 19),
    _spread("stream", "load and store of a line, a full SM, per warp",
            f"ld.global.u32 %r#, [%a];\nst.global.u32 [%b], %r#;\n{STEP}", times=8, words=1 << 19),
)


def _begin(point: Point) -> str:
    """Return the PTX before the loop: registers, a word of the buffer for each thread, ones and zeros."""
    return f""".version 7.0
.target sm_75
.address_size 64
.visible .entry point(.param .u64 p, .param .u32 q)
{{
.reg .u32 %x, %y, %z, %s, %k, %n, %w, %t;
.reg .u32 %r<8>;
.reg .f32 %f, %g, %h;
.reg .f64 %d, %e;
.reg .u64 %a, %b, %o, %far;
.reg .pred %p;
.shared .align 4 .b8 local[4096];
ld.param.u64 %a, [p];
ld.param.u32 %y, [q];
mov.u32 %t, %tid.x;
mov.u32 %w, %ctaid.x;
mad.lo.u32 %w, %w, 256, %t;
shl.b32 %w, %w, 2;
cvt.u64.u32 %o, %w;
add.u64 %a, %a, %o;
add.u64 %b, %a, {1 << 20};
mov.u32 %x, %y;
mov.u32 %z, %y;
mov.u32 %s, 0;
shl.b32 %s, %t, 2;
shl.b32 %k, %t, 7;
mov.u32 %n, local;
add.u32 %s, %s, %n;
add.u32 %k, %k, %n;
mov.f32 %f, 0f3F800000;
mov.f32 %g, 0f3F800000;
mov.f32 %h, 0f3F800000;
mov.f64 %d, 0d3FF0000000000000;
mov.f64 %e, 0d3FF0000000000000;
mov.u64 %far, {CHAIN * 32 * LINE};
{chr(10).join(f"mov.u32 %r{index}, %y;" for index in range(8))}
mov.u32 %n, 0;
bar.sync 0;
"""


def _end() -> str:
    """Return the PTX after the loop, which uses everything that was computed."""
    return f"""add.u32 %x, %x, %y;
add.u32 %x, %x, %n;
add.u32 %x, %x, %z;
add.u32 %x, %x, %k;
add.u32 %x, %x, %s;
cvt.rzi.u32.f32 %t, %f;
add.u32 %x, %x, %t;
cvt.rzi.u32.f64 %t, %d;
add.u32 %x, %x, %t;
{chr(10).join(f"add.u32 %x, %x, %r{index};" for index in range(8))}
ld.param.u64 %b, [p];
st.global.u32 [%b], %x;
ret;
}}
"""


def ptx_of(point: Point, rounds: int) -> str:
    """Return the PTX of a point with this many rounds of the loop."""
    return f"""{_begin(point)}AGAIN:
{point.body}
add.u32 %n, %n, 1;
setp.lt.u32 %p, %n, {rounds};
@%p bra AGAIN;
{_end()}"""


def spec_of(point: Point) -> LaunchSpec:
    """Return the launch of a point: a buffer of zeros, and 1, from which all values are derived."""
    per_cta = min(point.warps, 8)
    zeros = Buffer("zeros", np.zeros(point.words, np.uint32))
    launch = Launch("point", (-(-point.warps // per_cta), 1, 1), (32 * per_cta, 1, 1), 0,
                    (Arg("buffer", name="zeros"), Arg("value", 1)))
    return LaunchSpec(Path(f"{point.name}.toml"), point.name, Path(f"{point.name}.ptx"), (launch,), {"zeros": zeros}, {}, {},
                      False, "exact", point.what, None)


@dataclass(frozen=True)
class Cost:
    """The time of an operation on a machine, in cycles; reference: on another machine, None if not known."""

    point: Point
    cycles: float
    reference: float | None = None

    @property
    def difference(self) -> float:
        """Return the relative difference from the reference; NaN without one."""
        return math.nan if self.reference is None else self.cycles / self.reference - 1


def measure(point: Point, preset: str, settings: Mapping[str, Any] | None = None) -> float:
    """Return the cycles of one operation on a preset, design sram, scheduler gto. Raises InputError."""
    from rfview.engine.ptx import decode_module     # start-up
    from rfview.engine.simulator import Simulator   # imports numba

    cycles = []
    for rounds in point.rounds:
        module = decode_module(ptx_of(point, rounds), f"{point.name}.ptx")
        simulator = Simulator(spec_of(point), module=module, preset=preset, settings=settings)
        simulator.run()
        cycles.append(simulator.cycle)
    return (cycles[1] - cycles[0]) / (point.rounds[1] - point.rounds[0]) / point.chain


def chosen(names: str | None) -> list[Point]:
    """Return the points named in a comma-separated list; None for all. Raises InputError for an unknown one."""
    if names is None:
        return list(POINTS)
    known = {point.name: point for point in POINTS}
    for name in names.split(","):
        if name not in known:
            raise InputError(f"--points {names}: no point {name!r}; there are {', '.join(known)}")
    return [known[name] for name in names.split(",")]


def read_reference(path: Path) -> dict[str, float]:
    """Read the cycles per operation of another machine from CSV with columns `point` and `cycles`. Raises InputError."""
    known = {point.name for point in POINTS}
    cycles: dict[str, float] = {}
    try:
        with io.StringIO(files.read_text(path), newline="") as file:
            rows = csv.DictReader(file)
            if not {"point", "cycles"} <= set(rows.fieldnames or ()):
                raise InputError(f"{path}:1: expected the columns point and cycles, separated by commas")
            for number, row in enumerate(rows, 2):
                name = (row["point"] or "").strip()
                if name not in known:
                    raise InputError(f"{path}:{number}: no point {name!r}; there are {', '.join(sorted(known))}")
                try:
                    cycles[name] = float(row["cycles"] or "")
                except ValueError:
                    raise InputError(f"{path}:{number}: {name}: {row['cycles']!r} is not a number of cycles") from None
                if not 0 < cycles[name] < math.inf:
                    raise InputError(f"{path}:{number}: {name}: expected cycles above 0, got {row['cycles']}")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: not a CSV file ({error})") from None
    return cycles
