"""Addresses inside arguments, buffers and symbols: a kernel follows them, and each mistake is one error."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rfview.engine.errors import InputError
from rfview.engine.launch import launch_of_text, load_launch_file
from rfview.engine.simulator import Simulator

pytestmark = pytest.mark.nojit
# params: {u64 number; u32* in} by value; rows[] in a buffer and `last` of the module hold pointers too
MODULE = """.version 7.0
.target sm_70
.address_size 64
.const .align 8 .u64 last[2];
.visible .entry k(.param .align 8 .b8 params[16], .param .u64 rows, .param .u64 out)
{
.reg .b32 %r<9>; .reg .b64 %rd<9>;
mov.u32 %r1, %tid.x; mul.wide.u32 %rd1, %r1, 4;
ld.param.u64 %rd2, [params+8]; add.u64 %rd2, %rd2, %rd1; ld.global.u32 %r2, [%rd2];
ld.param.u64 %rd3, [rows]; ld.global.u64 %rd4, [%rd3+8]; add.u64 %rd4, %rd4, %rd1; ld.global.u32 %r3, [%rd4];
ld.const.u64 %rd5, [last+8]; add.u64 %rd5, %rd5, %rd1; ld.u32 %r4, [%rd5];
ld.param.u64 %rd6, [params]; cvt.u32.u64 %r5, %rd6;
add.u32 %r2, %r2, %r3; add.u32 %r2, %r2, %r4; add.u32 %r2, %r2, %r5;
ld.param.u64 %rd7, [out]; add.u64 %rd7, %rd7, %rd1; st.global.u32 [%rd7], %r2; ret;
}
"""
LAUNCH = """module = "k.ptx"
[[launch]]
grid = [1]
block = [32]
args = [{bytes = "e8030000000000000000000000000000", pointers = [{at = 8, buffer = "in"}]}, {buffer = "rows"},
        {buffer = "out"}]
[buffers.rows]
shape = [2]
dtype = "uint64"
zeros = true
pointers = [{at = 8, buffer = "in", offset = 128}]
[buffers.in]
shape = [96]
dtype = "uint32"
arange = true
[buffers.out]
shape = [32]
dtype = "uint32"
zeros = true
[symbols.last]
shape = [2]
dtype = "uint64"
zeros = true
pointers = [{at = 0, symbol = "last"}, {at = 8, buffer = "in", offset = 256}]
"""


def write(folder: Path, text: str) -> Path:
    (folder / "k.ptx").write_text(MODULE)
    (folder / "k.toml").write_text(text)
    return folder / "k.toml"


def test_a_kernel_follows_addresses_in_a_struct_a_buffer_and_a_symbol(tmp_path: Path) -> None:
    machine = Simulator(load_launch_file(write(tmp_path, LAUNCH)))
    machine.run()
    lanes = np.arange(32)
    assert machine.buffers()["out"].tolist() == (1000 + lanes + (lanes + 32) + (lanes + 64)).tolist()
    rows, last = machine.buffers()["rows"], machine.symbols()["last"]
    assert rows[0] == 0 and last[1] - rows[1] == 128


def test_a_recorded_launch_keeps_its_pointers(tmp_path: Path) -> None:
    spec = load_launch_file(write(tmp_path, LAUNCH))
    again = launch_of_text(LAUNCH, "k", {name: held.array for name, held in spec.buffers.items()},
                           {name: held.array for name, held in spec.symbols.items()})
    assert again.launches == spec.launches and spec.launches[0].args[0].pointers
    for part in ("buffers", "symbols"):
        pointers = [{name: held.pointers for name, held in getattr(each, part).items()} for each in (spec, again)]
        assert pointers[0] == pointers[1]


@pytest.mark.parametrize("old, new, words", [
    ('buffer = "in"}]}', 'buffer = "inn"}]}', "args[0].pointers[0].buffer: expected the name of a [buffers.NAME] table"),
    ("{at = 8, buffer = \"in\"}]}", "{at = 8}]}", "args[0].pointers[0]: expected exactly one of buffer, symbol, texture"),
    ("at = 8, buffer = \"in\"}]}", "at = 12, buffer = \"in\"}]}", "pointers[0].at: an address of 8 bytes at 12"),
    ("at = 8, buffer = \"in\"}]}", "at = 13, buffer = \"in\"}]}", "pointers[0].at: expected an integer in 0..12"),
    ("offset = 128", "offset = 1000", "buffers.rows.pointers[0].offset: expected an integer in 0..384"),
    ("{at = 0, symbol", "{at = 12, symbol", "symbols.last: pointers[0].at: an address of 8 bytes at 12"),
    ("{buffer = \"rows\"}", "{buffer = \"rows\", pointers = []}", "args[1].pointers: expected only together with bytes"),
    ("[{at = 0, symbol", "[3, {at = 0, symbol", "symbols.last.pointers[0]: expected a table such as"),
])
def test_slips_are_named(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert LAUNCH.count(old) == 1
    with pytest.raises(InputError) as caught:
        Simulator(load_launch_file(write(tmp_path, LAUNCH.replace(old, new))))
    assert words in str(caught.value)
