"""Small kernels of machine code that time themselves: what an operation takes on a sub-core, on a GPU or in the model.

A probe is PTX that ptxas compiles for one architecture, with a stretch of code between two reads of the clock, at two
lengths: the difference of the clocks over that of the lengths is the cost of one operation. Of some the cubin is patched:
stall counts, reuse bits and source registers of its FFMAs, whose places in an encoding are public (Jia et al., arXiv
1804.06826). What runs is the same bytes on a GPU and in the model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from rfview.engine.launch.spec import Arg, Buffer, Launch, LaunchSpec
from rfview.engine.sass.cubin import TEXT, read_cubin
from rfview.engine.sass.tools import assemble

LENGTHS = (32, 96)              # operations; also the words of 16 bytes, far fewer than an instruction cache has
FFMA, OPCODE = 0x223, 0xFFF     # of an encoding: an FFMA of three registers
SOURCES = (24, 32, 64)          # first bits of its source registers
STALL, REUSE = 64 + 41, 64 + 58  # first bits of the stall count and of the reuse bits
TWICE = "twice"         # as setup: the code runs twice, and the second time is measured
FAR = 1 << 15                   # words between the loads of a far chase


@dataclass(frozen=True)
class Probe:
    """What is measured. what: one operation; body: its PTX, # is 0 to 7 in turn; per: operations in one body.

    warps: of one CTA. setup: PTX before the first clock. lengths: how often the body is repeated. words: of the buffer.
    patch: changes the k-th FFMA of the code, (k, encoding as an integer of 128 bits) -> encoding.
    """

    name: str
    what: str
    body: str
    per: int = 1
    warps: int = 1
    setup: str = ""
    lengths: tuple[int, int] = LENGTHS
    words: int = 1024
    patch: Callable[[int, int], int] | None = None


def with_field(encoding: int, bit: int, width: int, value: int) -> int:
    """Return an encoding with another value in one of its fields."""
    mask = (1 << width) - 1
    return encoding & ~(mask << bit) | (value & mask) << bit


def with_stall(cycles: int) -> Callable[[int, int], int]:
    """Return the patch that gives every FFMA this stall count."""
    return lambda _, encoding: with_field(encoding, STALL, 4, cycles)


def with_sources(registers: Sequence[int], reuse: int) -> Callable[[int, int], int]:
    """Return the patch that gives every FFMA these sources, a stall count of 1 and these reuse bits."""

    def patch(_: int, encoding: int) -> int:
        for bit, register in zip(SOURCES, registers, strict=True):
            encoding = with_field(encoding, bit, 8, register)
        return with_field(with_field(encoding, STALL, 4, 1), REUSE, 4, reuse)

    return patch


FMA = "fma.rn.f32 %f, %f, %g, %h;"
SHIFT = "shf.l.wrap.b32 %x, %x, %y, %z;"
SPREAD = "fma.rn.f32 %r#, %r#, %g, %h;"
NEXT = "mul.wide.u32 %o, %x, 4;\nadd.u64 %a, %a, %o;"
BITS = "mov.b32 {}, {};"
CROSS = f"{FMA}\n{BITS.format('%x', '%f')}\n{SHIFT}\n{BITS.format('%f', '%x')}"
CHAINS = (
    Probe("alu", "dependent SHF", SHIFT), Probe("fma", "dependent FFMA", FMA),
    Probe("imad", "dependent IMAD", "mad.lo.u32 %x, %x, %y, %z;"),
    Probe("half", "dependent HFMA2", "fma.rn.f16x2 %x, %x, %y, %z;"),
    Probe("double", "dependent DFMA", "fma.rn.f64 %d, %d, %e, %e;"),
    Probe("xu", "dependent MUFU.EX2", "ex2.approx.ftz.f32 %f, %f;"),
    Probe("popc", "dependent POPC", "popc.b32 %x, %x;"),
    Probe("fma_alu", "FFMA, and SHF of its result", CROSS),
    Probe("imad_fma", "IMAD, and FFMA of its result", f"mad.lo.u32 %x, %x, %y, %z;\n{BITS.format('%f', '%x')}\n{FMA}\n"
          f"{BITS.format('%x', '%f')}"),
    Probe("shuffle", "dependent SHFL", "shfl.sync.bfly.b32 %x, %x, %z, 31, -1;"),
)
INTERVALS = tuple(
    Probe(f"{name}_issue_{warps}", f"{what}, eight values in turn, {warps} warps", text, warps=warps, per=warps,
          lengths=(128, 512))
    for name, what, text in (("fma", "FFMA", SPREAD), ("alu", "SHF", "shf.l.wrap.b32 %q#, %q#, %y, %z;"),
                             ("imad", "IMAD", "mad.lo.u32 %q#, %q#, %y, %z;"),
                             ("xu", "MUFU", "ex2.approx.ftz.f32 %r#, %r#;"))
    for warps in (1, 4, 16))
PARITY = tuple(
    Probe(f"parity_{name}", f"FFMA of {what}", SPREAD, patch=with_sources(registers, reuse))
    for name, what, registers, reuse in (
        ("two_banks", "two even registers and an odd one", (2, 4, 5), 0), ("one_bank", "three even registers", (2, 4, 6), 0),
        ("one_bank_reuse", "three even registers, one kept by a reuse bit", (2, 4, 6), 1),
        ("one_bank_reuse_2", "three even registers, two kept by reuse bits", (2, 4, 6), 3)))
STALLS = tuple(Probe(f"stall_{cycles}", f"dependent FFMA with a stall count of {cycles}, and what it computes", FMA,
                     patch=with_stall(cycles)) for cycles in (1, 2, 3, 4, 5))
WIDTHS = tuple(
    Probe(f"{name}_{8 * width}", f"{what} of {width} bytes, and an addition to its address",
          f"{load}{'.v' + str(width // 4) if width > 4 else ''}.u32 {into}, [{address}];\n{after}" + "".join(
              f"\nxor.b32 %q{4 + k}, %q{4 + k}, %q{k};" for k in range(width // 4 - 1)),       # else it would load less
          setup=f"mul.lo.u32 %s, %t, {width};\nadd.u32 %s, %s, %n;")
    for name, what, load, address, after in (
        ("shared", "LDS", "ld.volatile.shared", "%s", "add.u32 %s, %s, %x;"),
        ("l1", "LDG that hits L1", "ld.global", "%a", NEXT))
    for width, into in ((4, "%x"), (8, "{%x, %q0}"), (16, "{%x, %q0, %q1, %q2}")))
CONFLICTS = tuple(
    Probe(f"conflict_{ways}", f"LDS, {ways} lanes of a warp in each bank, and an addition",
          "ld.volatile.shared.u32 %x, [%s];\nadd.u32 %s, %s, %x;",
          setup=f"mul.lo.u32 %s, %t, {4 * ways};\nadd.u32 %s, %s, %n;")
    for ways in (1, 2, 4, 8, 16, 32))
CHASES = tuple(
    Probe(f"chase_{name}", f"load of a line {step:,} bytes from the last one, and its address",
          f"ld.global.u32 %x, [%a];\nadd.u64 %a, %a, {step};\n{NEXT}", words=step // 4 * (LENGTHS[1] + 1) + 1024)
    for name, step in (("near", 128), ("page", 1 << 12), ("far", 4 * FAR)))
CODE = tuple(
    Probe(f"code_{size}k", f"instruction of straight code of {size} KB, for the second time", SPREAD, lengths=(
        0, 64 * size), setup=TWICE, warps=1) for size in (1, 4, 16, 32, 64))
PROBES = (*CHAINS, *INTERVALS, *PARITY, *STALLS, *WIDTHS, *CONFLICTS, *CHASES, *CODE)
ORDER = Probe("order", "the clocks at which sixteen warps issue after a barrier", "", warps=16, lengths=(0, 0))


# what is around a probe's body; words with @ are replaced
FRAME = """.version 7.0
.target sm_75
.address_size 64
.visible .entry probe(.param .u64 out, .param .u64 data, .param .u32 one)
{
.reg .b32 %x, %y, %z, %s, %t, %n, %w, %begin, %end, %q<8>;
.reg .f32 %f, %g, %h, %r<8>;
.reg .f64 %d, %e;
.reg .u64 %a, %b, %o;
.reg .pred %p;
.shared .align 16 .b8 local[12288];
ld.param.u64 %b, [out];
ld.param.u64 %a, [data];
ld.param.u32 %y, [one];
mov.u32 %t, %tid.x;
shr.u32 %z, %t, 10;
add.u32 %y, %y, %z;
add.u32 %z, %y, %z;
cvt.rn.f32.u32 %g, %y;
cvt.rn.f32.u32 %h, %y;
cvt.rn.f64.u32 %e, %y;
shl.b32 %w, %t, 4;
mov.u32 %n, local;
add.u32 %w, %w, %n;
mov.u32 %s, %w;
mov.u32 %x, 0;
@ZEROS
@SETUP
mov.u32 %n, 0;
AGAIN:
bar.sync 0;
mov.u32 %begin, %clock;
ld.volatile.shared.u32 %x, [%s];
mov.b32 %f, %x;
cvt.rn.f64.u32 %d, %x;
@VALUES
@BODY
@SUMS
cvt.rn.f32.f64 %h, %d;
st.volatile.shared.v4.u32 [%w], {%x, %x, %s, %x};
st.volatile.shared.v4.f32 [%w], {%f, %h, %f, %f};
bar.sync 0;
mov.u32 %end, %clock;
cvt.rn.f32.u32 %h, %y;
add.u32 %n, %n, 1;
setp.lt.u32 %p, %n, @ROUNDS;
@%p bra AGAIN;
sub.u32 %end, %end, %begin;
mul.wide.u32 %o, %t, 16;
add.u64 %b, %b, %o;
st.global.v4.u32 [%b], {%end, %begin, %x, %s};
st.global.f32 [%b+8], %f;
ret;
}
"""


def ptx_of(probe: Probe, times: int) -> str:
    """Return the PTX of a probe whose body is repeated so often; code that is to be run twice is in a loop of two rounds."""
    is_loop = probe.setup == TWICE
    parts = {"@ZEROS": "\n".join(f"st.volatile.shared.v4.u32 [%w+{512 * k}], {{%x, %x, %x, %x}};" for k in range(8)),
             "@SETUP": "" if is_loop else probe.setup, "@ROUNDS": str(1 + is_loop),
             # volatile, so that the compiler does not know that the eight values are equal
             "@VALUES": "\n".join(f"ld.volatile.shared.u32 %q{k}, [%w+{512 * k}];\nmov.b32 %r{k}, %q{k};" for k in range(8)),
             "@BODY": "\n".join(probe.body.replace("#", str(index % 8)) for index in range(times)),
             "@SUMS": "\n".join(f"add.f32 %f, %f, %r{k};\nxor.b32 %x, %x, %q{k};" for k in range(8))}
    text = FRAME
    for word, part in parts.items():
        text = text.replace(word, part)
    return text


@lru_cache(maxsize=256)
def cubin_of(probe: Probe, times: int, sm: int) -> bytes:
    """Return a probe's cubin for an architecture, 80 for sm_80, patched. Raises SassError."""
    raw = assemble(ptx_of(probe, times), sm, f"{probe.name}.ptx")
    return raw if probe.patch is None else patched(raw, probe.patch, f"{probe.name}.cubin")


def patched(raw: bytes, patch: Callable[[int, int], int], path: str, opcode: int = FFMA) -> bytes:
    """Return a cubin whose instructions of an opcode are changed. Raises SassError for a file that is no cubin."""
    sections = [section for section in read_cubin(raw, path).sections if section.name.startswith(TEXT)]
    out, count = bytearray(raw), 0
    for section in sections:
        start = raw.index(section.data)
        for at in range(start, start + len(section.data), 16):
            encoding = int.from_bytes(raw[at : at + 16], "little")
            if encoding & OPCODE == opcode:
                out[at : at + 16] = patch(count, encoding).to_bytes(16, "little")
                count += 1
    return bytes(out)


def spec_of(probe: Probe) -> LaunchSpec:
    """Return the launch of a probe: 16 bytes of results per thread, and zeros to load."""
    threads = 32 * probe.warps
    buffers = {"out": Buffer("out", np.zeros((threads, 4), np.uint32)),
               "zeros": Buffer("zeros", np.zeros(probe.words, np.uint32))}
    args = Arg("buffer", name="out"), Arg("buffer", name="zeros"), Arg("value", 1)
    launch = Launch("probe", (1, 1, 1), (threads, 1, 1), 0, args)
    return LaunchSpec(Path(f"{probe.name}.toml"), probe.name, Path(f"{probe.name}.cubin"), (launch,), buffers, {}, {}, False,
                      "exact", probe.what, None)


def cost(probe: Probe, run: Callable[[LaunchSpec, bytes], dict[str, np.ndarray]], sm: int) -> dict[str, Any]:
    """Return {"cycles": of one operation, "value": what the longer chain of floats computed}. run: launches a cubin."""
    clocks, value = [], 0.0
    for times in probe.lengths:
        out = run(spec_of(probe), cubin_of(probe, times, sm))["out"].reshape(-1, 4)
        begin = out[:, 1].astype(np.int64)
        clocks.append(int((begin + out[:, 0]).max() - begin.min()))
        value = float(out[:1, 2].view(np.float32)[0])
    cycles = (clocks[1] - clocks[0]) / (probe.lengths[1] - probe.lengths[0]) / probe.per
    return {"cycles": round(cycles, 3), **({"value": value} if probe.name.startswith("stall") else {})}


def order(run: Callable[[LaunchSpec, bytes], dict[str, np.ndarray]], sm: int) -> list[int]:
    """Return the warps of a CTA in the order in which they read the clock after a barrier."""
    out = run(spec_of(ORDER), cubin_of(ORDER, 0, sm))["out"].reshape(-1, 32, 4)
    return [int(warp) for warp in np.argsort(out[:, 0, 1], kind="stable")]
