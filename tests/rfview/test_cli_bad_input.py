"""Bad kernels and launch files on the command line: one clear message, the right exit code, never a traceback."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest

from rfview.cli import main
from rfview.engine.errors import InputError
from rfview.engine.files import RECORDING
from rfview.sessions.codec.limits import set_limit

BAD = Path(__file__).parents[1] / "corpus" / "bad"
EXPECTED = tomllib.loads((BAD / "EXPECTED.toml").read_text(encoding="utf-8"))


def test_cuda_source_is_asked_for_its_kernel_and_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(BAD / "trap.cu")]) == 2
    assert "trap.cu::KERNEL --grid" in capsys.readouterr().err


def test_cuda_source_with_a_main_function_is_compiled_to_a_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "app.cu").write_text("__global__ void k() {}\nint main(int argc, char **argv) { k<<<1, 1>>>(); }\n")
    assert main(["debug", str(tmp_path / "app.cu")]) == 2
    assert capsys.readouterr().err.strip().endswith(f"nvcc -lineinfo {tmp_path}/app.cu -o app, then rfview debug ./app")
    os.mkfifo(tmp_path / "pipe.cu")
    assert main(["debug", str(tmp_path / "pipe.cu")]) == 2 and "nvcc" not in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_bad_case_ends_with_its_message_and_code(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["run", str(BAD / f"{name}.toml"), "--max-cycles", "100000"])
    captured = capsys.readouterr()
    message = captured.out + captured.err
    assert code == EXPECTED[name]["exit"], message
    for word in EXPECTED[name]["words"]:
        assert word in message
    assert "Traceback" not in message


def test_a_program_or_a_captured_folder_in_place_of_a_kernel_says_what_to_type(tmp_path: Path, capsys: pytest.CaptureFixture[str],
                                                                             ) -> None:
    program, folder = tmp_path / "app", tmp_path / "step.1"
    program.write_bytes(b"\x7fELF" + bytes(60))
    folder.mkdir()
    (folder / "launch.toml").write_text("")
    assert main(["run", str(program)]) == main(["compare", str(folder)]) == main(["run", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert f"rfview launches {program}" in said and str(folder / "launch.toml") in said and f"{tmp_path}: is a folder" in said


@pytest.mark.parametrize("command", [["run"], ["compare"], ["sweep"], ["designs"]])
def test_a_link_to_itself_is_one_error(command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    loop = tmp_path / f"loop.{'py' if command[0] == 'designs' else 'toml'}"
    loop.symlink_to(loop)
    assert main([*command, str(loop)]) == 2 and "Too many levels of symbolic links" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["replay"], ["run"], ["info"], ["launches"], ["record", "--fill"], ["kernels", "--new"]])
def test_a_line_break_in_a_file_name_ends_no_line(words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*words, str(tmp_path / "a\nb.rfs")]) == 2
    said = capsys.readouterr().err
    assert said.count("rfview: error: ") == said.count("\n") == 1 and "a\\nb.rfs: " in said


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "large"])
def test_what_never_ends_is_not_read(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    odd, launch = tmp_path / "odd", tmp_path / "k.toml"
    if kind == "pipe":
        os.mkfifo(odd)
    elif kind == "folder":
        odd.mkdir()
    elif kind == "device":
        odd.symlink_to("/dev/zero")
    else:
        with odd.open("wb") as file:
            file.truncate(1 << 40)
    launch.write_text('module = "odd"\n[[launch]]\ngrid = [1, 1, 1]\nblock = [32, 1, 1]\nargs = []\n')
    given = tmp_path / "n.toml"
    given.write_text('module = "n.ptx"\n[[launch]]\ngrid = [1, 1, 1]\nblock = [32, 1, 1]\nargs = []\n[buffers.x]\nfile = "odd"\n')
    (tmp_path / "n.ptx").write_text(".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }\n")
    mapped = ["run", "vectoradd", "--design", "racetrack", "--set", f"racetrack.mapping={odd}"]
    for words in (["run", str(odd)], ["run", str(launch)], ["run", str(given)], ["info", str(odd)], mapped,
                  ["record", "vectoradd", "-o", str(odd)]):
        assert main(words) == 2, words
        said = capsys.readouterr().err
        assert "odd" in said and "internal" not in said and len(said) < 400


def test_standard_output_is_no_file_to_write(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["record", "vectoradd", "-o", "-"]) == 2
    assert "(./- for one called so)" in capsys.readouterr().err


@pytest.mark.parametrize("words", [
    ["compare", "vectoradd", "--csv"], ["compare", "vectoradd", "--svg"], ["launches", "--json"],
    ["image", "vectoradd", "c", "--png"], ["export", "vectoradd", "--to", "sqlite", "-o"],
    ["export", "vectoradd", "--to", "csv", "-o"], ["reproduce", "--html"], ["map", "vectoradd", "-o"],
    ["sweep", "results", "--plot", "ipc,kernel", "--svg"], ["dap", "--vsix"]])
def test_no_output_replaces_a_recording(words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "run.rfs"
    target.write_bytes(RECORDING)
    assert main([*words, str(target)]) == 2
    assert "run.rfs: is a recording, which only another recording replaces" in capsys.readouterr().err
    assert target.read_bytes() == RECORDING and list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("size", ["abc", "1MB", "1e99", "9" * 5000])
def test_a_limit_that_is_none_says_where_it_stands(size: str) -> None:
    for where in ("--limit", "RFVIEW_LIMIT:"):
        with pytest.raises(InputError, match=f"{where} {size[:40]}.*(such as 512MB|at least 64 MB)"):
            set_limit(size, where)


def test_a_number_of_any_length_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "long.toml"
    for number in ("0x" + "f" * 70000, "9" * 70000):
        file.write_text(f'module = "a.ptx"\nregisters_per_thread = {number}\n')
        assert main(["run", str(file)]) == 2
        said = capsys.readouterr().err
        assert str(file) in said and len(said) < 500


def test_a_preset_is_a_name_and_no_path(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "own.toml").write_text("sm = 3")
    assert main(["run", "vectoradd", "--preset", str(tmp_path / "own")]) == 2
    assert "no such preset; there are a100, ampere, edram, fermi" in capsys.readouterr().err


@pytest.mark.parametrize(("words", "said"), [
    (["run", ""], "the argument is empty"), (["designs", "--new", ""], "the argument after --new is empty"),
    (["record", "vectoradd", "-o", ""], "the argument after -o is empty"),
])
def test_an_empty_word_is_a_shell_variable_that_is_not_set(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(("words", "proposed"), [
    (["run", "my.rfs"], "rfview replay my.rfs"), (["run", "my run.rfs"], "rfview replay 'my run.rfs'"),
    (["a b.toml"], "rfview run 'a b.toml'"), (["run", "$x.rfs"], "rfview replay '$x.rfs'"),
])
def test_a_proposed_command_can_be_pasted_into_a_shell(words: list[str], proposed: str,
                                                       capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert proposed in capsys.readouterr().err


@pytest.mark.parametrize("warp", ["99", "-5"])
@pytest.mark.parametrize("words", [[], ["--plain"]])
def test_a_warp_that_the_machine_lacks_is_said_and_not_blamed_on_the_recording(warp: str, words: list[str],
                                                                              capsys: pytest.CaptureFixture[str]) -> None:
    recording = Path(__file__).parents[2] / "sessions" / "recorded" / "first.rfs"
    assert main(["replay", str(recording), "--warp", warp, *words]) == 2
    assert f"there is no warp {warp}; the machine has warps 0..47" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--on-fault=a\nb"], ["--on-fault", "a\nb"], ["--on-fault", "a\nb" * 3000]])
def test_a_value_with_line_breaks_or_of_any_length_is_one_short_line(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "vectoradd", *words]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "a\\nb" in said and len(said) < 500
