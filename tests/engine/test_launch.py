"""The launch file loader: accepted files, every kind of error, parameter packing and verification."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from rfview.engine.launch import Arg, Launch, LaunchError, load_launch_file, pack_params, quality, verify

GOOD = """
module = "k.ptx"
metric = "exact"
description = "one of everything"
order_dependent = true
registers_per_thread = 20
[[launch]]
kernel = "first"
grid = [2, 5]
block = [32, 8, 1]
shared_bytes = 1024
args = [{value = 40}, {value = 1.25}, {value = true}, {buffer = "A"}, {buffer = "C", offset = 4},
        {symbol = "table"}, {null = true}, {bytes = "0a000000"}]
[[launch]]
grid = [1]
block = [64]
[buffers.A]
file = "A.npy"
[buffers.B]
shape = [2, 3]
dtype = "int16"
arange = true
[buffers.C]
shape = [4]
dtype = "float32"
value = 1.5
[buffers.D]
shape = [5]
dtype = "float32"
random = {seed = 1, low = 0.0, high = 1.0}
[buffers.E]
shape = [5]
dtype = "uint8"
random = {seed = 1, low = 0, high = 256}
[symbols.table]
shape = [16]
dtype = "float64"
zeros = true
[expect.C]
shape = [4]
dtype = "float32"
value = 2.0
rtol = 0.25
atol = 0
reason = "one rounding more"
[expect.table]
shape = [16]
dtype = "float64"
zeros = true
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "k.ptx").write_text(".version 8.0\n")
    np.save(tmp_path / "A.npy", np.asfortranarray(np.arange(6, dtype=">f4").reshape(2, 3)))
    return tmp_path


def load(folder: Path, text: str):
    (folder / "k.toml").write_text(text)
    return load_launch_file(folder / "k.toml")


def test_a_whole_file_loads(folder):
    spec = load(folder, GOOD)
    assert (spec.name, spec.metric, spec.order_dependent, spec.registers_per_thread) == ("k", "exact", True, 20)
    assert spec.module_path == folder / "k.ptx"
    first, second = spec.launches
    assert (first.kernel, first.grid, first.block, first.shared_bytes) == ("first", (2, 5, 1), (32, 8, 1), 1024)
    assert (first.num_ctas, first.num_threads_per_cta) == (10, 256)
    assert (second.kernel, second.grid, second.block, second.args) == (None, (1, 1, 1), (64, 1, 1), ())
    assert first.args == (Arg("value", 40), Arg("value", 1.25), Arg("value", True), Arg("buffer", name="A"),
                          Arg("buffer", name="C", offset=4), Arg("symbol", name="table"), Arg("null"),
                          Arg("bytes", b"\x0a\0\0\0"))
    assert list(spec.buffers) == ["A", "B", "C", "D", "E"] and list(spec.symbols) == ["table"]
    assert (spec.expect["C"].rtol, spec.expect["C"].atol, spec.expect["table"].rtol) == (0.25, 0.0, 1e-6)


def test_arrays_are_c_contiguous_and_native(folder):
    array = load(folder, GOOD).buffers["A"].array
    assert array.flags.c_contiguous and array.dtype == np.dtype("f4") and array.dtype.isnative
    assert np.array_equal(array, np.arange(6).reshape(2, 3))


def test_random_is_the_frozen_stream_of_random_state(folder):
    spec = load(folder, GOOD)
    assert np.array_equal(spec.buffers["D"].array, np.random.RandomState(1).uniform(0, 1, 5).astype("f4"))
    assert np.array_equal(spec.buffers["E"].array, np.random.RandomState(1).randint(0, 256, 5).astype("u1"))
    assert spec.buffers["E"].array.tolist() == [37, 235, 140, 72, 255]


def test_module_defaults_to_the_name_of_the_launch_file(folder):
    assert load(folder, GOOD.replace('module = "k.ptx"', "")).module_path == folder / "k.ptx"


@pytest.mark.parametrize("old, new, key, words", [
    ('module = "k.ptx"', 'module = "no.ptx"', "module", "no.ptx"),
    ('module = "k.ptx"', "module = 3", "module", "string"),
    ('metric = "exact"', 'metric = "exakt"', "metric", "exact"),
    ('metric = "exact"', 'matric = "exact"', "matric", "did you mean 'metric'"),
    ('metric = "exact"', f"{'k' * 70_000} = 1", "k" * 57 + "...", "unknown key"),
    ("order_dependent = true", "order_dependent = 1", "order_dependent", "true or false"),
    ("registers_per_thread = 20", "registers_per_thread = 64", "registers_per_thread", "1..63"),
    ("grid = [2, 5]", "grid = [2, 0]", "launch[1].grid", "y in 1..65535"),
    ("grid = [2, 5]", "grid = 2", "launch[1].grid", "list of 1 to 3"),
    ("grid = [2, 5]", "grid = []", "launch[1].grid", "list of 1 to 3"),
    ("grid = [2, 5]", "grid = [2.0]", "launch[1].grid", "list of 1 to 3"),
    ("grid = [2, 5]", "grid = [true]", "launch[1].grid", "list of 1 to 3"),
    ("grid = [2, 5]", "", "launch[1].grid", "missing"),
    ("block = [32, 8, 1]", "block = [64, 32]", "launch[1].block", "at most 1024 threads, got 64 x 32 x 1 = 2048"),
    ("block = [32, 8, 1]", "block = [1, 1, 65]", "launch[1].block", "z in 1..64"),
    ("shared_bytes = 1024", "shared_bytes = -1", "launch[1].shared_bytes", "0.."),
    ('kernel = "first"', "kernel = 1", "launch[1].kernel", "string"),
    ('kernel = "first"', 'kernell = "first"', "launch[1].kernell", "did you mean 'kernel'"),
    ("{value = 40}", "40", "launch[1].args[0]", "table"),
    ("{value = 40}", "{}", "launch[1].args[0]", "exactly one of value, buffer, symbol, texture, null, bytes, got none"),
    ("{value = 40}", '{value = 40, buffer = "A"}', "launch[1].args[0]", "value and buffer"),
    ("{value = 40}", '{value = "x"}', "launch[1].args[0].value", "integer"),
    ("{value = 40}", "{value = 40, offset = 4}", "launch[1].args[0].offset", "only together with buffer or symbol"),
    ('{buffer = "A"}', '{buffer = "AA"}', "launch[1].args[3].buffer", "did you mean 'A'"),
    ("offset = 4}", "offset = 17}", "launch[1].args[4].offset", "0..16"),
    ("{null = true}", "{null = false}", "launch[1].args[6].null", "true"),
    ('"0a000000"', '"0a0"', "launch[1].args[7].bytes", "hexadecimal"),
    ('file = "A.npy"', 'file = "B.npy"', "buffers.A.file", "does not exist"),
    ('file = "A.npy"', 'file = "k.ptx"', "buffers.A.file", ".npy"),
    ('file = "A.npy"', 'file = "A.npy"\nzeros = true', "buffers.A.zeros", "either file"),
    ('file = "A.npy"', "", "buffers.A", "expected file, or shape"),
    ("shape = [2, 3]", "shape = [2, 0]", "buffers.B.shape", "at least 1"),
    ("shape = [2, 3]", "shape = [1000000, 1000000]", "buffers.B.shape", "bytes"),
    ("shape = [2, 3]", "shape = [200, 200]", "buffers.B.arange", "at most 32768"),
    ("shape = [2, 3]", "", "buffers.B.shape", "missing"),
    ('dtype = "int16"', 'dtype = "imt16"', "buffers.B.dtype", "did you mean 'int16'"),
    ('dtype = "int16"', 'dtype = "float"', "buffers.B.dtype", "did you mean 'float32'"),
    ('{buffer = "A"}', '"A"', "launch[1].args[3]", 'such as {buffer = "A"}'),
    ("arange = true", "arange = false", "buffers.B.arange", "true"),
    ("arange = true", "", "buffers.B", "exactly one of zeros, value, arange, random, undefined, got none"),
    ("arange = true", "arange = true\nzeros = true", "buffers.B", "zeros and arange"),
    ("value = 1.5", "value = 1e39", "buffers.C.value", "range of float32"),
    ("arange = true", "value = 1.5", "buffers.B.value", "integer in -32768..32767"),
    ("arange = true", "value = 40000", "buffers.B.value", "integer in -32768..32767"),
    ("{seed = 1, low = 0, high = 256}", "{seed = 1, low = 0, high = 257}", "buffers.E.random.high", "0..256"),
    ("{seed = 1, low = 0, high = 256}", "{seed = 1, low = 5, high = 5}", "buffers.E.random.high", "more than low"),
    ("{seed = 1, low = 0, high = 256}", "{low = 0, high = 2}", "buffers.E.random.seed", "missing"),
    ("{seed = 1, low = 0, high = 256}", "{seed = 1}", "buffers.E.random.low", "missing"),
    ("{seed = 1, low = 0.0, high = 1.0}", "{seed = -1}", "buffers.D.random.seed", "0..4294967295"),
    ("{seed = 1, low = 0.0, high = 1.0}", "{seed = 1, low = 2.0}", "buffers.D.random.high", "more than low"),
    ("{seed = 1, low = 0.0, high = 1.0}", "{seed = 1, high = inf}", "buffers.D.random.high", "finite"),
    ("[symbols.table]", "[symbols.C]", "symbols.C", "another name"),
    ("[symbols.table]", '[symbols."../x"]', "symbols.../x", "name of letters"),
    ("[expect.C]", "[expect.X]", "expect.X", "name of a buffer or symbol"),
    ("rtol = 0.25", "rtol = -0.25", "expect.C.rtol", "not negative"),
    ("rtol = 0.25", "rtol = nan", "expect.C.rtol", "finite"),
    ("rtol = 0.25", f"rtol = {10**400}", "expect.C.rtol", "finite"),
    ("shape = [4]\ndtype = \"float32\"\nvalue = 2.0", "shape = [5]\ndtype = \"float32\"\nvalue = 2.0", "expect.C",
     "4 elements of float32"),
    ('module = "k.ptx"', 'module = "k.ptx"\nl2_lines = [-1]', "l2_lines", "numbers of lines"),
    ("[[launch]]", "[launch]", "expected TOML", ""),
    ('module = "k.ptx"', 'module = "k.ptx', "expected TOML", ""),
])
def test_everything_wrong_is_one_error_naming_file_and_key(folder, old, new, key, words):
    assert old in GOOD
    with pytest.raises(LaunchError) as error:
        load(folder, GOOD.replace(old, new, 1))
    message = str(error.value)
    assert message.startswith(f"{folder / 'k.toml'}: {key}") and words in message and "\n" not in message


def test_files_that_cannot_be_read_are_launch_errors(folder):
    for path in (folder / "none.toml", folder, folder / "A.npy", folder / "a\0b.toml"):
        with pytest.raises(LaunchError):
            load_launch_file(path)
    with pytest.raises(LaunchError, match="one or more"):
        load(folder, 'module = "k.ptx"\nlaunch = []')


def test_a_pickled_array_is_refused(folder):
    np.save(folder / "P.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(LaunchError, match="buffers.A.file"):
        load(folder, GOOD.replace("A.npy", "P.npy"))


@dataclass
class Decl:
    name: str
    type: str
    size: int
    align: int
    offset: int


def pack_one(arg: Arg, type_: str, size: int | None = None) -> bytes:
    size = size or int(type_[1:]) // 8
    launch = Launch("k", (1, 1, 1), (32, 1, 1), 0, (arg,))
    return pack_params(launch, [Decl("p", type_, size, 1, 0)], {"A": 0x700000000000}, "k.toml: launch 1")


def test_parameters_lie_at_their_offsets():
    launch = Launch("k", (1, 1, 1), (32, 1, 1), 0, (Arg("value", 1), Arg("buffer", name="A", offset=8),
                                                    Arg("value", 0.5), Arg("bytes", b"abc")))
    decls = [Decl("a", "u8", 1, 1, 0), Decl("b", "u64", 8, 8, 8), Decl("c", "f32", 4, 4, 16),
             Decl("d", "b8", 3, 1, 20)]
    assert pack_params(launch, decls, {"A": 0x700000000000}, "k") == struct.pack("<B7xQf3s", 1, 0x700000000008, .5,
                                                                                 b"abc")


@pytest.mark.parametrize("arg, type_, packed", [
    (Arg("value", -1), "s32", b"\xff\xff\xff\xff"), (Arg("value", -1), "u32", b"\xff\xff\xff\xff"),
    (Arg("value", 255), "u8", b"\xff"),
    (Arg("value", True), "u8", b"\x01"), (Arg("value", -1), "b16", b"\xff\xff"),
    (Arg("value", 65535), "b16", b"\xff\xff"), (Arg("value", 3), "f32", struct.pack("<f", 3)),
    (Arg("value", 0.1), "f64", struct.pack("<d", 0.1)), (Arg("value", 1.5), "b32", struct.pack("<f", 1.5)),
    (Arg("value", float("inf")), "f32", struct.pack("<f", float("inf"))), (Arg("null"), "u64", bytes(8)),
    (Arg("value", 2**64 - 1), "u64", b"\xff" * 8), (Arg("value", 1.0), "f16", b"\x00\x3c"),
])
def test_values_are_converted_to_the_parameter_type(arg, type_, packed):
    assert pack_one(arg, type_) == packed


@pytest.mark.parametrize("arg, type_, size, words", [
    (Arg("value", 2**32), "u32", None, "4294967295"), (Arg("value", 2**31), "s32", None, "2147483647"),
    (Arg("value", -129), "u8", None, "-128..255"),
    (Arg("value", 1.0), "u32", None, "expected an integer, got the float 1.0"),
    (Arg("value", True), "f32", None, "expected a number"), (Arg("value", 1e39), "f32", None, "range of f32"),
    (Arg("value", 10**400), "f64", None, "range of f64"), (Arg("value", 1), "b8", 12, "of 12 bytes"),
    (Arg("bytes", b"abc"), "b8", 4, "expected 4 bytes, got 3"), (Arg("buffer", name="A"), "u32", None, "64-bit"),
    (Arg("null"), "f64", None, "expected a number"),
])
def test_arguments_that_do_not_fit_are_errors(arg, type_, size, words):
    with pytest.raises(LaunchError, match=r"^k\.toml: launch 1: args\[0\] \(p: .*") as error:
        pack_one(arg, type_, size)
    assert words in str(error.value)


def test_a_wrong_number_of_arguments_lists_the_parameters():
    launch = Launch("k", (1, 1, 1), (32, 1, 1), 0, ())
    with pytest.raises(LaunchError, match=r"expected 2 arguments \(n: u32, s: b8\[12\]\), got 0"):
        pack_params(launch, [Decl("n", "u32", 4, 4, 0), Decl("s", "b8", 12, 4, 4)], {}, "k")


def test_parameters_beyond_the_limit_are_an_error():
    assert pack_one(Arg("bytes", bytes(32_764)), "b8", 32_764) == bytes(32_764)
    with pytest.raises(LaunchError, match="at most 32764 bytes"):
        pack_one(Arg("bytes", bytes(32_765)), "b8", 32_765)


def with_expectation(folder: Path, want: np.ndarray, rtol: float = 0.0, atol: float = 0.0):
    np.save(folder / "want.npy", want)
    np.save(folder / "A.npy", np.zeros_like(want))
    return load(folder, f'module = "k.ptx"\n[[launch]]\ngrid = [1]\nblock = [1]\n[buffers.A]\nfile = "A.npy"\n'
                        f'[expect.A]\nfile = "want.npy"\nrtol = {rtol}\natol = {atol}\n')


def test_verify_accepts_nan_signed_zero_and_infinity(folder):
    spec = with_expectation(folder, np.array([np.nan, 0.0, np.inf, 1.0], "f4"))
    assert verify(spec, {"A": np.array([np.nan, -0.0, np.inf, 1.0], "f4")}) == []


def test_verify_reports_count_first_index_and_largest_errors(folder):
    spec = with_expectation(folder, np.array([[1, 2], [4, 8]], "f4"), rtol=0.1)
    (bad,) = verify(spec, {"A": np.array([1.05, 3, 4, 10], "f4")})
    assert (bad.name, bad.count, bad.total, bad.index, bad.expected, bad.got) == ("A", 2, 4, (0, 1), 2.0, 3.0)
    assert (bad.max_abs_error, bad.max_rel_error) == (2.0, 0.5)
    assert str(bad).startswith("2 of 4 elements of A differ, first A[0, 1]: expected 2.0, got 3.0")


def test_a_tolerance_never_covers_nan_or_infinity(folder):
    spec = with_expectation(folder, np.array([np.inf, 1.0, 1.0], "f4"), rtol=1.0, atol=9.0)
    (bad,) = verify(spec, {"A": np.array([1.0, np.nan, np.inf], "f4")})
    assert bad.count == 3 and bad.max_abs_error == np.inf


@pytest.mark.parametrize("dtype, want, got", [("u8", 2**64 - 1, 2**64 - 2), ("i8", -(2**63), 2**63 - 1)])
def test_integers_are_compared_exactly(folder, dtype, want, got):
    spec = with_expectation(folder, np.array([want], dtype))
    (bad,) = verify(spec, {"A": np.array([got], dtype)})
    assert (bad.expected, bad.got) == (want, got) and bad.max_abs_error == float(abs(want - got))


def test_verify_takes_raw_bytes_of_any_shape_but_not_of_any_size(folder):
    spec = with_expectation(folder, np.array([[1.0, 2.0]], "f4"))
    assert verify(spec, {"A": np.frombuffer(struct.pack("<ff", 1, 2), "u1")}) == []
    for arrays in ({}, {"A": np.zeros(3, "f4")}):
        with pytest.raises(LaunchError, match="expect.A"):
            verify(spec, arrays)


def test_quality_measures_all_four():
    exact, approx = np.array([0.0, 3.0, 4.0], "f4"), np.array([0.0, 3.0, 5.0], "f4")
    measured = quality("rmse", exact, approx)
    assert measured["value"] == measured["rmse"] == pytest.approx((1 / 25) ** 0.5)
    assert measured["max_rel"] == 0.25 and measured["exact"] is False
    assert measured["psnr"] == pytest.approx(20 * np.log10(4 * 3**0.5))
    same = quality("exact", exact, exact)
    assert same["value"] is True and same["rmse"] == 0 and same["psnr"] == np.inf
    assert quality("rmse", exact, np.array([0, np.nan, 4], "f4"))["value"] == np.inf
    with pytest.raises(ValueError, match="expected one of"):
        quality("mse", exact, approx)
