"""Launching a user's kernel with arrays: `rfview.launch`, the command line, and their errors for wrong arguments."""

from __future__ import annotations

import contextlib
import io
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import rfview
from rfview import cli
from rfview.engine import kernels, ptx
from rfview.engine.errors import InputError, KernelFault
from rfview.engine.launch.sources import texts_to_copy
from rfview.launching import nvrtc
from rfview.launching.arguments import from_words
from rfview.launching.signature import _mangled_types, formals
from tests.capture.driven import SAXPY
from tests.test_house import REPOSITORY

NAMED = SAXPY.replace("_Z5saxpyPKfPfi", "saxpy")        # its parameters are called x, y, n
CUDA = """
template <class T> __global__ void scale(T* y, T a, int n) { int i = threadIdx.x; if (i < n) y[i] = a * y[i]; }
#include <cuda_fp16.h>
__global__ void halves(__half* y, const __half* x, __half a) { y[threadIdx.x] = a * x[threadIdx.x]; }
"""
needs_nvrtc = pytest.mark.skipif(not nvrtc.available(), reason="needs the wheel nvidia-cuda-nvrtc")


def arrays() -> tuple[np.ndarray, np.ndarray]:
    return np.arange(100, dtype=np.float32), np.ones(100, np.float32)


def test_results_come_back_where_the_session_arrives_at_the_end_and_not_before() -> None:
    x, y = arrays()
    session = rfview.launch(SAXPY, 1, 128, [x, y, 100])
    assert "saxpy" in repr(session) and session.cycle == 0
    session.step(5)
    assert (y == 1).all()
    assert session.run().cycle == session.timeline.last
    assert np.array_equal(y, 2 * x + 1)
    y[:] = 0
    session.back(3)
    session.run()
    assert (y == 0).all(), "results come back once"


def test_the_readmes_python_runs_over_a_launch() -> None:
    session = rfview.launch(SAXPY, 1, 128, [*arrays(), 100])
    example = re.findall(r"^```python\n(.*?)^```", (REPOSITORY / "README.md").read_text(encoding="utf-8"), re.S | re.M)[0]
    opening, _, moves = example.partition("\n\n")[2].partition("\n")
    assert opening.startswith("session = rfview.open(")
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        session.run()
        exec(moves, {"rfview": rfview, "session": session})
    assert "w0 " in said.getvalue() and "warp-cycles" in said.getvalue()


def test_results_are_asked_for_without_moving_and_come_by_name() -> None:
    x, y = arrays()
    with rfview.launch(NAMED, (1,), (128, 1), {"n": 50, "y": y, "x": x}, design="rfc") as session:
        assert session.results()["y"] is y and session.cycle == 0 and session.info.design.startswith("rfc")
    assert np.array_equal(y[:50], 2 * x[:50] + 1) and (y[50:] == 1).all()


def test_a_strided_array_gets_its_results_and_a_read_only_one_stays() -> None:
    x, wide = np.arange(64, dtype=np.float32), np.zeros((64, 2), np.float32)
    x.flags.writeable = False
    rfview.launch(SAXPY, 1, 64, [x, wide[:, 0], 64]).run()
    assert np.array_equal(wide[:, 0], 2 * x) and (wide[:, 1] == 0).all()


def test_one_array_given_twice_is_one_buffer() -> None:
    x = np.arange(64, dtype=np.float32)
    session = rfview.launch(SAXPY, 1, 64, [x, x, 64])
    assert [held.name for held in session.info.buffers] == ["x"]
    assert np.array_equal(session.results()["x"], 3 * np.arange(64))


def test_a_fault_leaves_the_arrays_as_they_were() -> None:
    x, y = arrays()
    session = rfview.launch(SAXPY, 1, 512, [x, y, 400])
    with pytest.raises(KernelFault):
        session.results()
    assert session.run().reason == "fault" and (y == 1).all()


@pytest.mark.parametrize(("kernel", "args", "said"), [
    (SAXPY, [1, 2], "takes 3 arguments .x, y, n., got 2"),
    (SAXPY, ["x", 1, 2], "expected a NumPy array, a number or None, got str"),
    (SAXPY, [np.zeros(4), np.zeros(4, np.float32), 4], "array of float64 where the kernel takes a pointer to float32"),
    (SAXPY, [np.zeros(4, np.float32), 3, 4], "number where the kernel takes a pointer"),
    (SAXPY, [np.zeros(0, np.float32), None, 4], "at least one element"),
    (NAMED, {"a": None, "y": None, "n": 3}, "has no argument a; its arguments: x, y, n"),
    ("nothing.ptx::x", [], "no such file"), (3, [], "expected PTX, a file's name or a kernel, got a int"),
])
def test_wrong_arguments_are_one_sentence(kernel: object, args: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        rfview.launch(kernel, 1, 32, args)     # type: ignore[arg-type]


def test_arrays_that_overlap_are_refused() -> None:
    x = np.zeros(64, np.float32)
    with pytest.raises(InputError, match="arg0 and arg1 overlap"):
        rfview.launch(SAXPY, 1, 32, [x[1:], x[:-1], 3])


@pytest.mark.parametrize(("text", "found"), [
    ("x=f4[4,2]:arange", ("array", "float32", (4, 2), "arange = true")), ("x=half[3]", ("array", "float16", (3,), "zeros = true")),
    ("x=i4[3]:random", ("array", "int32", (3,), "random = {seed = 3, low = 0, high = 100}")),
    ("x=f8[3]:random:-1:1.5", ("array", "float64", (3,), "random = {seed = 3, low = -1, high = 1.5}")),
    ("x=u1[2]:7", ("array", "uint8", (2,), "value = 7")), ("n=i8:1_000", ("number", "int64", (), "")),
    ("p=null", ("null", "", (), "")),
])
def test_words_say_arrays_and_numbers(text: str, found: tuple[object, ...]) -> None:
    argument = from_words(text, 2)
    assert (argument.kind, argument.dtype, argument.shape, argument.fill) == found


@pytest.mark.parametrize("text", ["x", "x=", "x=f4[0]", "x=f4[]", "x=q4[3]", "x=f4[3]:rand", "x=f4[3]:random:1", "1x=3",
                                  "x=f3[2]", "x=f4[99999999999]", "x=not-there.npy", "x=hello"])
def test_other_words_are_one_sentence(text: str) -> None:
    with pytest.raises(InputError, match="--arg "):
        from_words(text, 0)


def test_mangled_names_say_types() -> None:
    assert _mangled_types("_Z3addPKfS0_Pfi") == [("pointer", "float32")] * 3 + [("number", "int32")]
    assert _mangled_types("_Z1fPK6__halfS1_4int2x") == [("pointer", "float16")] * 2 + [("bytes", ""), ("number", "int64")]
    assert _mangled_types("_Z1fv") == [] and _mangled_types("plain") == [] and _mangled_types("_Z1fPFvvE") == []


def test_numbas_and_tritons_parameters_are_arrays_and_scratch() -> None:
    from rfview.engine.ptx import load_module

    module = load_module(REPOSITORY / "tests/corpus/numba_stencil/numba_stencil.sm75.ptx")
    found = formals(next(iter(module.kernels.values())), module.text)
    assert [(one.kind, one.dtype, one.rank, one.count) for one in found] == [
        ("array", "float32", 1, 7), ("array", "float32", 1, 7), ("array", "int32", 1, 7)]
    module = load_module(REPOSITORY / "tests/corpus/triton_softmax/triton_softmax.sm75.ptx")
    found = formals(next(iter(module.kernels.values())), module.text)
    assert [one.kind for one in found] == ["pointer", "pointer", "number", "number", "scratch", "scratch"]


def test_numbas_arrays_are_given_as_arrays_to_its_ptx() -> None:
    path = REPOSITORY / "tests/corpus/numba_stencil/numba_stencil.sm75.ptx"
    source = np.arange(150, dtype=np.float32)
    target, largest = np.zeros(150, np.float32), np.zeros(4, np.int32)
    rfview.launch(path, 3, 64, [source, target, largest]).run()
    assert np.array_equal(target[1:-1], source[1:-1]) and largest.max() == 148


@pytest.mark.parametrize("given", [np.zeros(1, "i4,f8")[0], np.zeros(2, np.int32), 7])
def test_a_struct_by_value_is_refused_with_the_way_to_give_it(given: object) -> None:
    ptx = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .align 8 .b8 s[16]) { ret; }\n"
    with pytest.raises(InputError, match="the kernel takes a struct there; write a launch file with {bytes = ...}"):
        rfview.launch(ptx, 1, 1, [given])


def test_source_files_beside_the_ptx_are_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "scale.cu").write_text("// first\nx[i] *= 2;\n")
    path = tmp_path / "scale.ptx"
    path.write_text("""
        .version 8.0
        .target sm_80
        .address_size 64
        .visible .entry scale(.param .u64 x) {
            .reg .b64 %rd<2>;
            .reg .f32 %f<2>;
            ld.param.u64 %rd1, [x];
            .loc 1 2 0
            ld.global.f32 %f1, [%rd1];
            add.f32 %f1, %f1, %f1;
            st.global.f32 [%rd1], %f1;
            ret;
        }
        .file 1 "elsewhere" "scale.cu"
    """)
    session = rfview.launch(path, 1, 1, [np.ones(1, np.float32)])
    assert [entry.text for entry in session.timeline.info.sources] == ["// first\nx[i] *= 2;\n"]
    words = ["--arg", "x=f4[1]:1", "--block", "1"]
    assert cli.main(["script", f"{path}::scale", *words, "-c", "goto end; lines"]) == 0
    assert "x[i] *= 2;" in capsys.readouterr().out


def test_sources_are_copied_with_a_launch_unless_two_have_the_same_name(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    for name in ("a.py", "b.py", "lib/b.py"):
        (tmp_path / name).write_text(f"# {name}\n")
    ptx = f"""
        .version 8.0
        .target sm_80
        .address_size 64
        .visible .entry k() {{
            .loc 1 1 0
            ret;
            .loc 2 1 0
            ret;
            .loc 3 1 0
            ret;
        }}
        .file 1 "a.py"
        .file 2 "{tmp_path}/b.py"
    """
    third = f'        .file 3 "{tmp_path}/lib/b.py"\n'
    assert texts_to_copy(ptx, [tmp_path]) == {"a.py": "# a.py\n", "b.py": "# b.py\n"}
    assert texts_to_copy(ptx + third, [tmp_path / "lib", tmp_path]) == {"a.py": "# a.py\n"}


def test_the_command_line_runs_ptx_with_arguments(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ptx = tmp_path / "saxpy.ptx"
    ptx.write_text(SAXPY)
    words = [f"{ptx}::saxpy", "--grid", "2", "--block", "64", "--arg", "x=f4[100]:arange", "--arg", "y=f4[100]:1", "--arg",
             "n=100"]
    assert cli.main(["run", *words, "--save-buffers", str(tmp_path / "out")]) == 0, capsys.readouterr().err
    assert np.array_equal(np.load(tmp_path / "out/y.npy"), 2 * np.arange(100, dtype=np.float32) + 1)
    assert cli.main(["record", *words, "-o", str(tmp_path / "s.rfs")]) == 0, capsys.readouterr().err
    assert cli.main(["debug", *words]) == 0 and "saxpy" in capsys.readouterr().out
    assert cli.main(["run", str(ptx), "--grid", "2", "--arg", "n=1"]) == 2 and "takes 3 arguments" in capsys.readouterr().err
    assert cli.main(["run", "vectoradd", "--grid", "2"]) == 2 and "FILE.cu::KERNEL" in capsys.readouterr().err
    assert cli.main(["run", f"{ptx}::saxpi", *words[1:]]) == 2 and "did you mean 'saxpy'" in capsys.readouterr().err


def test_a_long_module_is_decoded_once_and_its_user_hears_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ptx, "LONG_MODULE", 10)
    file = tmp_path / "saxpy.ptx"
    file.write_text(SAXPY.replace("ret;", "mov.u32 %r1, 77;\nret;"))       # a text that no test has decoded
    words = ["--grid", "2", "--block", "64", "--arg", "x=f4[100]:arange", "--arg", "y=f4[100]:1", "--arg", "n=100"]
    assert cli.main(["run", f"{file}::saxpy", *words]) == 0
    assert capsys.readouterr().err.count("lines of PTX") == 1


def test_names_longer_than_those_of_files_can_be_are_cut_in_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernel = "k" * 300
    ptx = tmp_path / "k.ptx"
    text = SAXPY.replace("_Z5saxpyPKfPfi", kernel)
    for number, name in enumerate("xyn"):       # as nvcc names them
        text = re.sub(rf"\b{name}\b(?=[],)])", f"{kernel}_param_{number}", text)
    ptx.write_text(text)
    values = [f"{kernel}_param_{number}={value}" for number, value in enumerate(("f4[100]:arange", "f4[100]:1", "100"))]
    words = [f"{ptx}::{kernel}", "--grid", "2", "--block", "64", *(word for value in values for word in ("--arg", value))]
    assert cli.main(["run", *words]) == 0, capsys.readouterr().err
    assert cli.main(["capture", *words, "-o", str(tmp_path / "kept")]) == 0, capsys.readouterr().err
    assert all(len(path.name) < 100 for path in (tmp_path / "kept").iterdir())


@needs_nvrtc
def test_nvrtc_compiles_templates_and_half_floats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name, path=None: None)
    file = tmp_path / "k.cu"
    file.write_text(CUDA)
    y = np.arange(8, dtype=np.float64)
    rfview.launch(f"{file}::scale<double>", 1, 32, [y, 3.0, 8]).run()
    assert np.array_equal(y, 3 * np.arange(8))
    out, x = np.zeros(32, np.float16), np.arange(32, dtype=np.float16)
    rfview.launch(f"{file}::halves", 1, 32, [out, x, np.float16(0.5)]).run()
    assert np.array_equal(out, x / 2)
    file.write_text("__global__ void bad(int n) { n = nowhere; }")
    with pytest.raises(InputError, match=r"k\.cu.*nowhere"):
        rfview.launch(f"{file}::bad", 1, 32, [1])


def test_without_nvcc_and_nvrtc_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name, path=None: None)
    monkeypatch.setattr(nvrtc, "_files", lambda package: [])
    (tmp_path / "k.cu").write_text(CUDA)
    with pytest.raises(InputError, match=r"rfview\[cuda\]"):
        rfview.launch(tmp_path / "k.cu", 1, 32, [])


def test_a_python_file_without_its_packages_or_kernel_is_one_sentence(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("import not_a_package_of_ours\n")
    with pytest.raises(InputError, match="lacks the package not_a_package_of_ours"):
        rfview.launch(f"{file}::k", 1, 32, [])
    file.write_text("print('hello')\ndef k(): pass\n")
    with pytest.raises(InputError, match="is a function, not a kernel of numba-cuda"):
        rfview.launch(f"{file}::k", 1, 32, [])
    with pytest.raises(InputError, match="has no other; its kernels: none"):
        rfview.launch(f"{file}::other", 1, 32, [])
    with pytest.raises(InputError, match="no kernel is named"):
        rfview.launch(file, 1, 32, [])


@pytest.mark.parametrize(("command", "more", "said"), [
    ("lines", ["--top", "1"], "long_scoreboard"), ("script", ["-c", "goto end; when"], "100.0%"),
    ("image", ["a", "32x32"], "a  32 x 32"), ("assert", ["cycle >= 0"], "holds in cycles 0 to"),
    ("export", ["--to", "csv"], "vectoradd.csv: cycles 0 to"), ("map", [], "written vectoradd.map.toml"),
    ("tlp", ["--set", "sm.max_ctas=2"], "best:"),
])
def test_commands_that_look_take_a_kernel_with_its_arguments(
    command: str, more: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    ptx = kernels.path("vectoradd").with_suffix(".ptx")
    arrays = [word for name in "abc" for word in ("--arg", f"{name}=f4[1024]:random")]
    words = [command, f"{ptx}::vectoradd", *more, "--grid", "4", "--block", "256", *arrays, "--arg", "n=1000"]
    assert cli.main(words) == 0
    assert said in capsys.readouterr().out


def test_a_kernel_with_its_arguments_is_compared_and_captured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ptx = tmp_path / "saxpy.ptx"
    ptx.write_text(SAXPY)
    kernel = f"{ptx}::saxpy"
    more = ["--grid", "2", "--block", "64", "--arg", "x=f4[100]:arange", "--arg", "y=f4[100]:1", "--arg", "n=100"]
    assert cli.main(["compare", kernel, "--designs", "sram", "--schedulers", "gto,lrr", "--workers", "1", *more]) == 0
    assert capsys.readouterr().out.count("same bits") == 2
    assert cli.main(["compare", f"{kernel}@sram:gto", f"{kernel}@sram:lrr", *more]) == 0
    assert "scheduler gto | lrr" in capsys.readouterr().out

    assert cli.main(["capture", kernel, *more, "-o", str(tmp_path / "held")]) == 0
    assert "try: rfview run" in capsys.readouterr().out
    assert cli.main(["run", str(tmp_path / "held/saxpy.toml"), "--save-buffers", str(tmp_path / "out")]) == 0
    assert np.array_equal(np.load(tmp_path / "out/y.npy"), 2 * np.arange(100, dtype=np.float32) + 1)
    capsys.readouterr()
    assert cli.main(["assert", kernel, "cycle < 9", "--design", "stt", *more]) == 1
    assert f"see: rfview debug {kernel} --grid 2 --block 64" in (said := capsys.readouterr().out)
    assert said.endswith("--design stt --goto 9\n")


@pytest.mark.parametrize("header", [b"(((", b"{'descr':" + b"-" * 5000 + b"1}", b"{'descr': '<f4'", b"\xff\xfe", b"(" * 9000],
                         ids=["open", "signs", "half", "bytes", "deep"])
def test_an_array_whose_header_is_none_is_one_sentence(tmp_path: Path, header: bytes) -> None:
    header = header.ljust(len(header) + 20) + b"\n"
    file = tmp_path / "x.npy"
    file.write_bytes(b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header + bytes(40))
    with pytest.raises(InputError, match="is not a .npy file"):
        from_words(f"x={file}", 0)


def test_capturing_a_kernel_replaces_nothing_that_it_reads_and_leaves_no_folder_when_refused(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.ptx").write_text(SAXPY)
    np.save("x.npy", np.arange(32, dtype=">f4"))
    kernel = "k.ptx::saxpy --grid 1 --block 32 --arg x={} --arg y=f4[32] --arg n=8"
    whole, from_file = kernel.format("f4[32]").split(), kernel.format("x.npy").split()
    Path("gone").symlink_to("nowhere")
    before = Path("x.npy").read_bytes()
    assert cli.main(["capture", *from_file, "-o", "."]) == 2
    assert "x.npy: is being read from" in capsys.readouterr().err and Path("x.npy").read_bytes() == before
    assert cli.main(["capture", *whole, "--block", "none", "-o", "new/folder"]) == 2 and not Path("new").exists()
    assert cli.main(["capture", *whole, "-o", "."]) == 0
    made = [Path("k.ptx"), *Path().glob("*.toml")]
    assert f"{sum(file.stat().st_size for file in made):,} bytes" in capsys.readouterr().out
