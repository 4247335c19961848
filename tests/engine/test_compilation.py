"""Compilation options: their syntax, where they can be given, and that results stay right under each."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable
from pathlib import Path

import pytest

from rfview.engine import compilation, kernels
from rfview.engine.config import load_preset
from rfview.engine.defaults import preset_names
from rfview.engine.errors import InputError
from rfview.engine.launch import load_launch_file
from rfview.engine.launch.files import launch_of_text
from rfview.engine.launch import placement
from rfview.engine.ptx import load_module
from rfview.engine.simulator import Simulator
from tests.compile_options import SETS, outcome

ALL = SETS[-1]
REPOSITORY = Path(__file__).parents[2]


def parameters_of(words: str) -> dict[str, object]:
    config = load_preset("fermi")
    for name, value in compilation.settings_of(words).items():
        config = config.with_setting(name, value)
    return config.values()


@pytest.mark.parametrize("words", SETS[1:])
def test_words_are_read_back_as_they_were_written(words: str) -> None:
    assert compilation.words_of_run(parameters_of(words)) == words


def test_all_options_are_off_in_every_preset_and_in_recordings_that_know_none() -> None:
    assert all(compilation.words_of_run(load_preset(name).values()) == "" for name in preset_names())
    assert compilation.words_of_run({}) == "" and compilation.words_of_run(parameters_of("off")) == ""


def test_off_sets_every_option_to_what_it_is_without() -> None:
    usual = load_preset("fermi").values()
    assert {name: str(usual[name]) for name in compilation.settings_of("off")} == compilation.settings_of("off")
    assert len(compilation.settings_of("off")) == len(compilation.OPTIONS)


@pytest.mark.parametrize(("words", "said"), [
    ("shedule", ["--compile shedule", "did you mean schedule?", "or off"]),
    ("schedule=2", ["schedule", "one of off, on", "'2'"]),
    ("addresses=16", ["addresses: expected one of 64, 32", "'16'"]),
    ("numbering", ["numbering needs a value", "numbering=banks"]),
    ("numbering=bank", ["numbering: expected one of lowest, banks", "'bank'"]),
    ("registers", ["registers needs a value", "registers=N"]),
    ("registers=64", ["whole number of 0..63", "'64'"]),
    ("registers=-1", ["whole number of 0..63", "'-1'"]),
    ("registers=many", ["whole number of 0..63", "'many'"]),
    ("", ["expected some of schedule"]),
    ("schedule,,", ["expected some of schedule"]),
])
def test_words_that_mean_nothing_are_one_error(words: str, said: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        compilation.settings_of(words)
    assert all(part in str(caught.value) for part in said)


def launch_with(tmp_path: Path, table: str) -> Path:
    """Write vectoradd's launch file with a [compile] table into a folder; return its path."""
    source = kernels.path("vectoradd")
    for file in source.parent.glob("*.npy"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "vectoradd.ptx").write_bytes(source.with_suffix(".ptx").read_bytes())
    path = tmp_path / "vectoradd.toml"
    path.write_text(f"{source.read_text()}\n[compile]\n{table}\n")
    return path


def test_a_launch_file_chooses_and_the_command_line_chooses_otherwise(tmp_path: Path) -> None:
    spec = load_launch_file(launch_with(tmp_path, "schedule = true"))
    assert compilation.words_of_run(Simulator(spec).info.parameters) == "schedule"
    other = Simulator(spec, settings=compilation.settings_of("off"))
    assert compilation.words_of_run(other.info.parameters) == ""
    assert [entry.text for entry in other.info.program] != [
        entry.text for entry in Simulator(spec).info.program]


def test_a_swapped_run_keeps_what_was_chosen_over_the_launch_file(tmp_path: Path) -> None:
    from rfview.sessions import open_session
    from rfview.sessions.branches.swap import swap

    path = str(launch_with(tmp_path, "schedule = true"))
    for settings, words in (({}, "schedule"), (compilation.settings_of("off"), "")):
        session = open_session(path, settings=settings, max_cycles=200)
        assert compilation.words_of_run(session.info.parameters) == words
        session.goto(100)
        swap(session, "stt")
        assert all(compilation.words_of_run(member.info.parameters) == words for member in session.family.values())


@pytest.mark.parametrize(("table", "said"), [
    ("shedule = true", "compile.shedule: unknown key (did you mean 'schedule'?)"),
    ("schedule = 3", "compile.schedule: expected one of off, on, got '3'"),
    ("registers = 64", "compile.registers: expected a whole number of 0..63, 0 = off, got '64'"),
    (f"registers = '{'9' * 5000}'", "compile.registers: expected a whole number of 0..63, 0 = off, got '999"),
    ("registers = [3]", "compile.registers: expected a whole number of 0..63, 0 = off, got [3]"),
    ("schedule = 1.5", "compile.schedule: expected one of off, on, got 1.5"),
])
def test_a_launch_files_table_is_checked(tmp_path: Path, table: str, said: str) -> None:
    with pytest.raises(InputError, match="vectoradd.toml: ") as caught:
        load_launch_file(launch_with(tmp_path, table))
    assert said in str(caught.value)


def test_a_launch_files_text_in_a_recording_keeps_its_options() -> None:
    text = 'module = "k.ptx"\n[compile]\nschedule = true\n[[launch]]\ngrid = [1]\nblock = [32]\n'
    assert launch_of_text(text, "k", {}, {}).compile == {"kernel.schedule": "on"}


@pytest.mark.parametrize("name", ["hotspot", "histogram", "nw"])
@pytest.mark.parametrize("words", SETS[1:])
def test_results_stay_right(name: str, words: str) -> None:
    assert outcome(kernels.path(name), words)[2] == []


# registers per thread of ptxas 13.0 -arch=sm_75 for the same PTX, from the corpus's table; each program once, without
# the variants with larger CTAs at full size
PTXAS = {
    (file, name): count
    for file, found in json.loads((REPOSITORY / "tests/corpus/ptxas_registers.json").read_text()).items()
    for name, count in found.items() if file.split("/")[2:3] and file.split("/")[2] in kernels.CORE
    and name not in ("binomial_128", "montecarlo_256")
}


# the same with -O1, at which ptxas does not unroll loops further
PTXAS_O1 = {
    "convolution2d": 18, "atax_rows": 16, "atax_columns": 24, "bfs_expand": 20, "bfs_advance": 7, "binomial": 12,
    "btree_find": 16, "btree_range": 18, "fwt_global": 20, "fwt_shared": 17, "gemm": 28, "gemm_double": 36, "histogram": 11,
    "hotspot": 19, "montecarlo": 21, "mriq": 18, "nw": 22, "reduction": 10, "scalarprod": 30, "vectoradd": 12,
}


def registers_of(words: Callable[[int], str]) -> dict[str, int]:
    """Return registers per thread by entry point. words: the options, for a count of ptxas."""
    found = {}
    for (file, name), count in PTXAS.items():
        config = load_preset("fermi")
        for setting, value in compilation.settings_of(words(count)).items():
            config = config.with_setting(setting, value)
        found[name] = load_module(REPOSITORY / file, how=config.compilation()).kernels[name].registers
    return found


def median_share(ours: dict[str, int], theirs: dict[str, int]) -> float:
    return statistics.median(ours[name] / theirs[name] for name in ours)


def test_registers_per_thread_come_near_those_of_ptxas() -> None:
    assert {name for _, name in PTXAS} == set(PTXAS_O1)
    theirs = {name: count for (_, name), count in PTXAS.items()}
    text, scheduled = registers_of(lambda _: "off"), registers_of(lambda _: "schedule")
    # most of the difference is due to unrolling in ptxas: gemm has 54 registers, with -O1 28; scalarprod 56 and 30
    assert 0.88 < median_share(text, PTXAS_O1) < 0.94 and 0.65 < median_share(text, theirs) < 0.7
    assert 0.97 < median_share(scheduled, PTXAS_O1) < 1.06 and 0.77 < median_share(scheduled, theirs) < 0.82
    assert median_share(registers_of(lambda count: f"schedule,registers={min(count, 63)}"), theirs) > 0.99
    # ptxas uses 64-bit addresses, so 32-bit code takes fewer
    assert 0.5 < median_share(registers_of(lambda _: "addresses=32"), theirs) < 0.6


POINTERS = """.version 9.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 data, .param .u64 out)
{
.reg .b32 %r<9>;
.reg .b64 %rd<9>;
.reg .pred %p<3>;
ld.param.u64 %rd1, [data];
ld.param.u64 %rd2, [out];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd3, %r1, 4;
sub.s64 %rd4, %rd3, 4096;
add.s64 %rd4, %rd1, %rd4;
ld.global.u32 %r2, [%rd4+4096];
add.s64 %rd5, %rd2, %rd3;
MORE
st.global.u32 [%rd5], %r2;
ret;
}
"""


def run_pointers(tmp_path: Path, more: str = "") -> Simulator:
    """Run a kernel that copies 32 words through an address before the first buffer, compiled for 32-bit addresses."""
    (tmp_path / "k.ptx").write_text(POINTERS.replace("MORE", more))
    (tmp_path / "k.toml").write_text(
        '[[launch]]\ngrid = [1]\nblock = [32]\nargs = [{buffer = "data"}, {buffer = "out"}]\n'
        '[buffers.data]\nshape = [32]\ndtype = "uint32"\narange = true\n'
        '[buffers.out]\nshape = [64]\ndtype = "uint32"\nzeros = true\n')
    machine = Simulator(load_launch_file(tmp_path / "k.toml"), settings=compilation.settings_of("addresses=32"))
    machine.run()
    assert machine.buffers()["out"][:32].tolist() == list(range(32))
    return machine


def test_an_address_may_pass_below_the_first_buffer_on_its_way(tmp_path: Path) -> None:
    machine = run_pointers(tmp_path)
    assert machine.info.compile_notes == [] and machine.info.registers_per_thread <= 4
    assert not any("64" in entry.text or "wide" in entry.text for entry in machine.info.program)


@pytest.mark.parametrize(("more", "said"), [
    ("setp.eq.s64 %p1, %rd5, 0;\n@%p1 trap;", "1 of 2 accesses keep a 64-bit address; that of line 19 because setp.eq.s64 of "
     "line 17 needs the upper word"),
    ("st.global.u64 [%rd2+128], %rd5;", "2 of 3 accesses keep a 64-bit address; that of line 17 because st.global.u64 of line 17 "
     "needs the upper word"),
    ("st.u32 [%rd5], %r2;", "st.u32 of line 17 is generic"),
])
def test_a_pointer_that_escapes_stays_a_pair_and_the_run_says_so(tmp_path: Path, more: str, said: str) -> None:
    from rfview.commands.run import text_of

    machine = run_pointers(tmp_path, more)
    assert len(machine.info.compile_notes) == 1 and said in machine.info.compile_notes[0]
    assert said in text_of({**machine.summary(), "wall_s": 1.0, "node_nm": None, "energy_not_given": [], "energy_assumed": [],
                            "baseline": None})


def test_what_32_bit_addresses_do_not_reach_is_one_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placement, "ADDRESS_ROOM", 512)
    with pytest.raises(InputError, match=r"take 2,048 bytes; .* reach only 1,024; leave out --compile addresses=32"):
        run_pointers(tmp_path)


def test_a_recording_is_simulated_again_with_its_options(tmp_path: Path) -> None:
    from rfview.sessions.file.writer import record
    from rfview.sessions.timeline import opening
    from rfview.sessions.timeline.simulate import simulator_of

    def machine() -> Simulator:
        spec = load_launch_file(kernels.path("vectoradd"))
        return Simulator(spec, max_cycles=300, settings=compilation.settings_of(ALL))

    first = machine()
    texts = [entry.text for entry in first.info.program]
    file = tmp_path / "x.rfs"
    record(first, file, max_cycles=300)
    assert opening.describe(file)["compilation"] == ALL
    timeline = opening.open_recording(file)
    again = simulator_of(timeline)
    timeline.close()
    assert [entry.text for entry in again.info.program] == texts
    assert [entry.text for entry in first.twin().info.program] == texts
