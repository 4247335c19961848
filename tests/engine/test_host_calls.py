"""Host calls: a barrier after a printf opens; printf formats like C's, and refuses sizes that would fill the memory."""

from __future__ import annotations

import struct
from contextlib import suppress
from pathlib import Path

import pytest

from rfview.engine.errors import KernelFault
from rfview.engine.functional.machine import FunctionalSimulator
from rfview.engine.launch import load_launch_file
from rfview.engine.simulator import Simulator

PRINTS_THEN_WAITS = """
.version 7.0
.target sm_75
.address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.global .align 1 .b8 text[6] = {104, 101, 114, 101, 10, 0};
.visible .entry k(.param .u64 out)
{
    .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %rd<6>;
    mov.u32 %r1, %tid.x;
    setp.ne.u32 %p, %r1, 0;
    @%p bra BEHIND;
    mov.u64 %rd1, text; cvta.global.u64 %rd2, %rd1; mov.u64 %rd3, 0;
    { .param .b64 p0; st.param.b64 [p0], %rd2; .param .b64 p1; st.param.b64 [p1], %rd3; .param .b32 q0;
      call.uni (q0), vprintf, (p0, p1); ld.param.b32 %r2, [q0]; }
    setp.lt.s32 %p, %r2, 0;
    @%p trap;
BEHIND:
    barrier.sync 0;
    ld.param.u64 %rd4, [out]; mul.wide.u32 %rd5, %r1, 4; add.s64 %rd4, %rd4, %rd5;
    st.global.u32 [%rd4], %r1;
    ret;
}
"""


@pytest.mark.nojit
@pytest.mark.parametrize("kind", [Simulator, FunctionalSimulator])
def test_a_barrier_behind_a_printf_opens(tmp_path: Path, kind: type[Simulator]) -> None:
    (tmp_path / "k.ptx").write_text(PRINTS_THEN_WAITS)
    (tmp_path / "k.toml").write_text("""[[launch]]
grid = [1]
block = [64]
args = [{buffer = "out"}]
[buffers.out]
shape = [64]
dtype = "uint32"
zeros = true
[expect.out]
shape = [64]
dtype = "uint32"
arange = true
""")
    simulator = kind(load_launch_file(tmp_path / "k.toml"), max_cycles=20_000)
    simulator.run()
    assert simulator.verify() == (True, []) and [text for _, text in simulator.printed] == ["here\n"]


def printed(folder: Path, pattern: str, arguments: bytes) -> list[str]:
    """Return what a kernel of one thread prints."""
    text = ", ".join(map(str, pattern.encode() + b"\0"))
    data = ", ".join(map(str, arguments + b"\0" * 8))
    (folder / "k.ptx").write_text(f"""
.version 7.0
.target sm_75
.address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.global .align 1 .b8 text[{len(pattern.encode()) + 1}] = {{{text}}};
.global .align 8 .b8 data[{len(arguments) + 8}] = {{{data}}};
.visible .entry k()
{{
    .reg .b32 %r<4>; .reg .b64 %rd<6>;
    mov.u64 %rd1, text; cvta.global.u64 %rd2, %rd1; mov.u64 %rd3, data; cvta.global.u64 %rd4, %rd3;
    {{ .param .b64 p0; st.param.b64 [p0], %rd2; .param .b64 p1; st.param.b64 [p1], %rd4; .param .b32 q0;
      call.uni (q0), vprintf, (p0, p1); ld.param.b32 %r2, [q0]; }}
    ret;
}}
""")
    (folder / "k.toml").write_text("[[launch]]\ngrid = [1]\nblock = [1]\n")
    spec = load_launch_file(folder / "k.toml")
    values = FunctionalSimulator(spec, max_cycles=20_000)
    simulator = Simulator(spec, max_cycles=20_000, module=values.module)
    with suppress(KernelFault):
        values.run()
    simulator.run()
    assert [text for _, text in values.printed] == [text for _, text in simulator.printed]
    return [text for _, text in simulator.printed]


@pytest.mark.nojit
@pytest.mark.parametrize(("pattern", "arguments", "text"), [
    ("%*d|", struct.pack("<ii", -4, 7), "7   |"),
    ("%.*f|", struct.pack("<i4xd", -1, 1.5), "1.500000|"),      # a precision below 0 is none
    ("%.f %d", struct.pack("<di", 2.0, 7), "2 7"),
    ("%hhd %hu %hhx", struct.pack("<iii", 511, 65537, 0x1ff), "-1 1 ff"),
    ("%+u % x %+d", struct.pack("<III", 5, 255, 5), "5 ff +5"),
])
def test_printf_formats_as_c_does(tmp_path: Path, pattern: str, arguments: bytes, text: str) -> None:
    assert printed(tmp_path, pattern, arguments) == [text]


@pytest.mark.nojit
@pytest.mark.parametrize("pattern", ["%999999999d", "%.99999999999999999999f", "%*d"])
def test_a_printf_of_gigabytes_stops_the_kernel_with_an_error(tmp_path: Path, pattern: str) -> None:
    with pytest.raises(KernelFault, match=r"a width or precision of [\d,]+; at most 4,096 .* lane 0"):
        printed(tmp_path, pattern, struct.pack("<ii", 1 << 30, 7))
