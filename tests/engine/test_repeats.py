"""Repeated launches of a launch file, and arrays whose elements are not C numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rfview.engine.launch import LaunchError, LaunchSpec, load_launch_file

BUFFERS = '[buffers.a]\nshape = [8]\ndtype = "int32"\nzeros = true\n'
BUFFERS += BUFFERS.replace("buffers.a", "buffers.b")
BODY = "repeat = 3\ngrid = [1]\nblock = [32]\nargs = [ARGS]"
ONE = f"[[launch]]\n{BODY}\n"
TWO = """[[launch]]
grid = [7]
block = [1]
[[launch]]
repeat = 3
[[launch.each]]
kernel = "first"
grid = [1]
block = [32]
args = [{buffer = ["a", "b"]}, {buffer = ["b", "a"]}, {value = 5, step = -2}]
[[launch.each]]
kernel = "second"
grid = [2]
block = [32]
args = [{buffer = "a", step = 8}, {value = [1.5, 2.5]}, {value = 1, step = 0.5}]
[[launch]]
grid = [9]
block = [1]
"""


def load(folder: Path, launches: str) -> LaunchSpec:
    (folder / "k.ptx").write_text("")
    (folder / "k.toml").write_text(launches + BUFFERS)
    return load_launch_file(folder / "k.toml")


def test_rounds_follow_each_other_and_take_their_turns(tmp_path: Path) -> None:
    launches = load(tmp_path, TWO).launches
    assert [launch.kernel for launch in launches] == [None, *["first", "second"] * 3, None]
    assert [launch.grid[0] for launch in launches] == [7, 1, 2, 1, 2, 1, 2, 9]
    first, second = launches[1:7:2], launches[2:7:2]
    given = [[arg.name or arg.value for arg in launch.args] for launch in first]
    assert given == [["a", "b", 5], ["b", "a", 3], ["a", "b", 1]]
    assert [launch.args[0].offset for launch in second] == [0, 8, 16]
    assert [launch.args[1].value for launch in second] == [1.5, 2.5, 1.5]
    assert [launch.args[2].value for launch in second] == [1, 1.5, 2.0]


def test_one_launch_repeats_by_itself(tmp_path: Path) -> None:
    launches = load(tmp_path, ONE.replace("ARGS", "{value = 1, step = 1}")).launches
    assert [launch.args[0].value for launch in launches] == [1, 2, 3]


@pytest.mark.parametrize("old, new, words", [
    ("repeat = 3", "repeat = 0", "launch[1].repeat: expected an integer in 1..100000"),
    ("repeat = 3\n", "", "launch[1].args[0].step: expected only in a launch with repeat"),
    ("repeat = 3\n", "each = []\n", "launch[1].each: expected only in a launch with repeat"),
    ("repeat = 3", "repeat = 3\neach = [{}]", "launch[1].grid: unknown key"),
    (BODY, "repeat = 3\neach = []", "launch[1].repeat: expected 1 to"),
    (BODY, "repeat = 3\neach = [{repeat = 2}]", "each[1].repeat: unknown key"),
    (BODY, "repeat = 3\neach = [5]", "launch[1].each[1]: expected a table"),
    ("ARGS", "{value = true, step = 1}", "args[0].step: expected only together with a value that is a number"),
    ("ARGS", "{null = true, step = 1}", "args[0].step: expected only together with"),
    ("ARGS", '{buffer = "a", step = 0.5}', "args[0].step: expected a number that every round adds"),
    ("ARGS", '{buffer = "a", step = 20}', "args[0].offset: expected an integer in 0..32, got 40"),
    ("ARGS", "{value = 0.5, step = 1" + "0" * 400 + "}", "args[0].step: expected a number that can be added to 0.5, got 1000"),
    ("ARGS", "{buffer = []}", "args[0].buffer: expected a list of one or more"),
    ("ARGS", '{buffer = ["a", "c"]}', "got 'c'"),
])
def test_what_does_not_fit_is_named(tmp_path: Path, old: str, new: str, words: str) -> None:
    with pytest.raises(LaunchError) as caught:
        load(tmp_path, ONE.replace(old, new).replace("ARGS", "{value = 1, step = 1}"))
    assert words in str(caught.value)


def test_complex_numbers_and_booleans_are_numbers_side_by_side(tmp_path: Path) -> None:
    np.save(tmp_path / "z.npy", np.array([[1 + 2j, 3 - 4j]], np.complex64))
    np.save(tmp_path / "t.npy", np.array([True, False]))
    np.save(tmp_path / "s.npy", np.zeros(2, [("x", "f4"), ("n", "i4")]))
    spec = load(tmp_path, '[[launch]]\ngrid = [1]\nblock = [1]\n[buffers.z]\nfile = "z.npy"\n[buffers.t]\nfile = "t.npy"\n')
    assert spec.buffers["z"].array.tolist() == [[[1, 2], [3, -4]]] and spec.buffers["z"].array.dtype == np.float32
    assert spec.buffers["t"].array.tolist() == [1, 0]
    with pytest.raises(LaunchError, match=r"array.view\(np.uint8\)"):
        load(tmp_path, '[[launch]]\ngrid = [1]\nblock = [1]\n[buffers.s]\nfile = "s.npy"\n')
