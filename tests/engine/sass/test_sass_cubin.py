"""Cubins as data: sections, attributes and line tables of a small one, and damaged ones.

saxpy.sm_80.cubin: y[i] = a * x[i] + y[i], by `nvcc -ptx -arch=compute_75 -lineinfo` and `ptxas -arch=sm_80 -fmad false`.
"""

from __future__ import annotations

import re
import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rfview.engine.errors import SassError
from rfview.engine.modules import load_module
from rfview.engine.sass import tools
from rfview.engine.sass.cubin import is_cubin, read_cubin
from rfview.engine.sass.info import function_infos
from rfview.engine.sass.lines import CUDA_LINES, PTX_LINES, line_table

SAXPY = Path(__file__).parent / "saxpy.sm_80.cubin"
RAW = SAXPY.read_bytes()
NAME = "_Z5saxpyfPKfPfi"


def test_a_cubin_says_its_architecture_and_the_registers_and_parameters_of_its_kernel():
    cubin = read_cubin(RAW, "saxpy.cubin")
    info = function_infos(cubin)[NAME]
    assert cubin.sm == 80
    assert info.registers == 10
    assert info.param_base == 0x160
    assert info.params == {0: (0, 4), 1: (8, 8), 2: (16, 8), 3: (24, 4)}
    code = cubin.section(f".text.{NAME}")
    assert code is not None and len(code.data) == 24 * 16
    (symbol,) = [one for one in cubin.symbols if one.is_entry]
    assert symbol.name == NAME and cubin.section_of(symbol) == code.name


def test_parameters_are_also_found_in_the_form_that_kernels_with_large_ones_have():
    raw, count = re.subn(rb"\x04\x17\x0c\x00(.{8})(.{4})", lambda one: b"\x04\x45\x0c\x00" + one[1] + struct.pack(
        "<I", struct.unpack("<I", one[2])[0] >> 18), RAW, flags=re.DOTALL)
    assert count == 4
    assert function_infos(read_cubin(raw, "saxpy.cubin"))[NAME] == function_infos(read_cubin(RAW, "saxpy.cubin"))[NAME]


def test_the_line_tables_name_the_cuda_and_ptx_line_of_each_instruction():
    cubin = read_cubin(RAW, "saxpy.cubin")
    cuda, ptx = line_table(cubin, CUDA_LINES), line_table(cubin, PTX_LINES)
    assert cuda.files == {1: "saxpy.cu"}
    assert cuda.rows[f".text.{NAME}"][:2] == [(0, 1, 1), (16, 1, 3)]
    assert (0x60, 1, 5) in cuda.rows[f".text.{NAME}"]
    # PTX: mov.u32 %r2, %ctaid.x is line 34
    assert ptx.rows[f".text.{NAME}"][1] == (16, 0, 34)


@pytest.mark.parametrize("raw", [b"", b"\x7fELF", RAW[:64], RAW[:200], RAW[:1200], b"\x7fELF\x01" + RAW[5:]])
def test_what_is_no_whole_cubin_is_refused(raw):
    with pytest.raises(SassError, match=r"k\.cubin: "):
        function_infos(read_cubin(raw, "k.cubin"))


def test_a_program_for_processors_is_no_cubin():
    raw = bytearray(RAW)
    struct.pack_into("<H", raw, 18, 62)     # e_machine: x86-64
    assert not is_cubin(bytes(raw))


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(RAW) - 1), st.integers(0, 255)), min_size=1, max_size=6))
def test_a_cubin_with_changed_bytes_is_read_or_refused(changes):
    raw = bytearray(RAW)
    for at, byte in changes:
        raw[at] = byte
    try:
        cubin = read_cubin(bytes(raw), "k.cubin")
        function_infos(cubin)
    except SassError:
        return
    for name in (CUDA_LINES, PTX_LINES):
        assert all(rows == sorted(rows) for rows in line_table(cubin, name).rows.values())


def test_without_tools_a_cubin_is_refused_with_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(tools.metadata, "files", lambda name: ())
    tools.tool.cache_clear()
    try:
        with pytest.raises(SassError, match=r"nvdisasm is neither in PATH .* pip install 'rfview\[sass\]'"):
            load_module(SAXPY)
    finally:
        tools.tool.cache_clear()
