"""`rfview kernels --new`: the launch file has the parameters' types as numba, Triton and C++ declare them."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest

from rfview import cli
from rfview.engine.launch import load_launch_file
from rfview.launching.pointees import body_of, pointees

CORPUS = Path(__file__).resolve().parents[1] / "corpus"
GOOD = """.version 7.0
.target sm_50
.address_size 64
.visible .entry small(.param .u64 out) { ret; }
.visible .entry bad() { frobnicate.u32 %r1; ret; }
.visible .entry long(.param .u64 out, .param .u64 never, .param .u32 n)
{
    .reg .b64 %d<4>; .reg .b32 %r<4>; .reg .f64 %f<2>;
    ld.param.u64 %d1, [out];    // out is where; results go: to
    .loc 1 5 0
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x;
    cvta.to.global.u64 %d2, %d1;
again: mad.wide.u32 %d3, %r2, 8, %d2;
    cvt.rn.f64.u32 %f1, %r1;
    st.global.f64 [%d3], %f1;
    ret;
}
"""


def written(ptx: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[dict[str, Any], str, str]:
    """Return the launch file written for a PTX file, and the output."""
    copied = Path(shutil.copy(ptx, folder))
    assert cli.main(["kernels", "--new", str(copied)]) == 0
    said = capsys.readouterr()
    target = copied.with_suffix(".toml")
    load_launch_file(target)
    return tomllib.loads(target.read_text()), said.out, said.err


def test_numbas_arrays_are_what_numba_passes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found, _, _ = written(CORPUS / "numba_math" / "numba_math.sm75.ptx", tmp_path, capsys)
    launch, = found["launch"]
    assert len(found["buffers"]) == 4, "an array each, not a buffer for each 64-bit number"
    assert [buffer["dtype"] for buffer in found["buffers"].values()] == ["float64", "float64", "float64", "int64"]
    assert launch["args"][:7] == [{"null": True}, {"null": True}, {"value": 512}, {"value": 8}, {"buffer": "b0"},
                                  {"value": 512}, {"value": 8}]
    assert launch["args"][7:16] == [{"null": True}, {"null": True}, {"value": 1024}, {"value": 8}, {"buffer": "b1"},
                                    {"value": 32}, {"value": 32}, {"value": 256}, {"value": 8}]
    assert cli.main(["run", str(tmp_path / "numba_math.sm75.toml")]) == 0
    assert "its sizes and data are made up" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "dtypes"), [("triton_softmax.sm75", ["float32"] * 2), ("triton_add.sm80", None),
                                              ("triton_matmul.sm80", ["float16"] * 3)])
def test_tritons_scratch_is_null_and_its_pointers_have_types(name: str, dtypes: list[str] | None, tmp_path: Path,
                                                             capsys: pytest.CaptureFixture[str]) -> None:
    found, _, _ = written(CORPUS / name.partition(".")[0] / f"{name}.ptx", tmp_path, capsys)
    launch, = found["launch"]
    assert launch["args"][-2:] == [{"null": True}, {"null": True}] and {"null": True} not in launch["args"][:-2]
    if dtypes is not None:
        assert [buffer["dtype"] for buffer in found["buffers"].values()] == dtypes
        assert launch["shared_bytes"] > 0
    assert launch["block"][0] == 128


def test_bools_and_small_structs_have_values_that_fit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    head = ".version 7.0\n.target sm_50\n.address_size 64\n"
    (tmp_path / "k.ptx").write_text(head + ".visible .entry k(.param .u8 flag, .param .align 4 .b8 pair[8], "
                                    ".param .align 2 .b8 half[2], .param .u16 n) { ret; }")
    folder = tmp_path / "here"
    folder.mkdir()
    launch, _, _ = written(tmp_path / "k.ptx", folder, capsys)
    assert launch["launch"][0]["args"] == [{"value": 1}, {"bytes": "00" * 8}, {"bytes": "00" * 2}, {"value": 512}]


def test_the_longest_kernel_runs_and_a_bad_one_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ptx = tmp_path / "from" / "three.ptx"
    ptx.parent.mkdir()
    ptx.write_text(GOOD)
    found, out, err = written(ptx, tmp_path, capsys)
    assert "runs long; the module also has small" in out and "bad cannot run: " in err and "frobnicate" in err
    launch, = found["launch"]
    assert launch["args"] == [{"buffer": "out"}, {"null": True}, {"value": 512}]
    assert found["buffers"]["out"]["dtype"] == "float64" and found["template"] is True
    ptx.write_text(GOOD.split(".visible .entry long")[0].replace(".visible .entry small(.param .u64 out) { ret; }", ""))
    assert cli.main(["kernels", "--new", str(ptx)]) == 2 and "none of its kernels can run" in capsys.readouterr().err
    assert cli.main(["kernels", "--new", "k.cu"]) == 2 and "`rfview capture FILE::KERNEL --grid 4" in capsys.readouterr().err


def test_addresses_are_followed_to_their_accesses() -> None:
    assert pointees(body_of(GOOD, "long")) == {"out": "float64", "n": ""}
    assert body_of(GOOD, "nothing") == "" and pointees("") == {}
    halves = "{ ld.param.u64 %a, [p]; add.s64 %b, %a, 2; ld.global.b16 %h, [%b+4]; cvt.f32.f16 %f, %h; }"
    assert pointees(halves) == {"p": "float16"}
    assert pointees("{ ld.param.u64 %a, [p]; ld.shared.f32 %f, [%a]; }") == {"p": ""}
