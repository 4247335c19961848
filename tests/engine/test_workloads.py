"""Where kernels come from: the contents of workload.toml, and the kernels on which a paper's claims are measured."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from rfview.engine import kernels, papers
from rfview.engine.errors import InputError
from rfview.engine import batch
from rfview.engine.papers import Number, edram_errors, hcrf, hrf, lab, racetrack, rfc, workloads


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder that replaces the bundled kernels."""
    monkeypatch.setattr(kernels, "FOLDER", tmp_path)
    workloads.of_kernel.cache_clear()
    yield tmp_path
    workloads.of_kernel.cache_clear()


def kernel(folder: Path, name: str, text: str, block: str = "[8, 4]") -> None:
    """Add a kernel of one launch."""
    (folder / name).mkdir()
    (folder / name / f"{name}.toml").write_text(f"[[launch]]\nblock = {block}\n")
    (folder / name / "workload.toml").write_text(text)


def test_every_bundled_workload_is_of_papers_that_there_are() -> None:
    used = {name: workloads.of_kernel(name) for name in kernels.names()}
    assert any(one.papers for one in used.values())
    for name, one in used.items():
        assert bool(one.suite) == (kernels.path(name).parent / "workload.toml").exists(), name
        assert set(one.papers) <= set(papers.PAPERS.values()) and one.registers >= 0, name
        assert all(use.name for use in one.papers.values()), name
    for name in workloads.own("racetrack"):
        threads, registers = racetrack.row_of(name)
        assert threads > 0 and used[name].registers in (0, registers), name


def test_every_program_that_a_paper_names_is_bundled() -> None:
    """By the papers' own counts: HRF 18, HC-RF ten, eDRAM 22 plus PolyBench's 15 in doubles, and the rows of Table 1."""
    assert {paper: len(workloads.own(paper)) for paper in ("hrf", "hcrf", "edram", "racetrack")} == {
        "hrf": 18, "hcrf": 10, "edram": 22 + 15, "racetrack": 5}
    assert sum(workloads.is_double(name) for name in workloads.own("edram")) == 15
    assert {workloads.category("rfc", name) for name in workloads.own("rfc")} == {"video", "image", "simulation", "hpc"}
    assert all(kernels.path(name, "full") != kernels.path(name) for name in kernels.names())


def test_every_row_of_edrams_table_2_is_of_a_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, ...]] = []
    monkeypatch.setattr(edram_errors, "rmse", lambda lab, names: asked.append(names))
    with batch.Runs(workers=1) as runs:
        for name in (*edram_errors.POLYBENCH, "hotspot"):
            edram_errors.TABLE_2[f"edram-t2-{name}"](lab.Lab(runs, paper="edram"))
        assert all(edram_errors.single_called(lab.Lab(runs, paper="edram"), name)
                   for name in (*edram_errors.PASS_OR_FAIL, "srad", "streamcluster"))
    assert len(asked) == len(set(asked)) == 15 and all(len(names) == 1 for names in asked)


def test_the_papers_kernels_that_were_bundled_first_are_found() -> None:
    assert {"vectoradd", "bfs", "nw"} <= set(workloads.own("hrf")) and "bfs_levels" in workloads.own("hcrf")
    assert {"gemm", "gemm_double"} <= set(workloads.called("edram", "Gemm", kernels.names()))
    assert workloads.called("edram", "mriq", kernels.names()) == ("mriq",)
    assert racetrack.row_of("findk") == (256, 30) and racetrack.row_of("hotspot") == (256, 60)
    assert racetrack.row_of("vectoradd") == (0, 0)


def test_a_papers_list_is_what_names_it(folder: Path) -> None:
    kernel(folder, "a", 'suite = "s"\n')
    kernel(folder, "b", 'suite = "s"\nregisters = 20\n[papers.hrf]\nname = "BB"\n[papers.hcrf]\nname = "b b"\ncategory = "x"\n')
    kernel(folder, "c", 'suite = "s"\n[papers.hcrf]\nname = "C"\n')
    assert workloads.own("hrf") == ("b",) and workloads.own("hcrf") == ("b", "c") and workloads.own("rfc") == ()
    assert workloads.called("hcrf", "BB", ("a", "b")) == ("b",) and workloads.category("hcrf", "b") == "x"
    assert workloads.category("hrf", "b") == workloads.category("hrf", "a") == ""


@pytest.mark.parametrize("text", ["suit = 1\n", "[papers]\nhrf = 3\n", "[papers.hrf]\ncategory = 'x'\n", "= ="])
def test_a_file_that_says_something_else_is_refused(folder: Path, text: str) -> None:
    kernel(folder, "a", text)
    with pytest.raises(InputError, match="workload.toml.*expected suite"):
        workloads.of_kernel("a")


def test_the_full_size_is_taken_where_a_kernel_has_it(folder: Path) -> None:
    kernel(folder, "a", 'suite = "s"\n[papers.hrf]\nname = "A"\n')
    (folder / "a" / "full.toml").write_text("[[launch]]\nblock = [256]\n")
    with batch.Runs(workers=1) as runs:
        small, full = (lab.Lab(runs, paper="hrf", size=size) for size in ("small", "full"))
        assert (small.threads("a"), full.threads("a")) == (32, 256)
        assert full.job("a", "sram", "gto").path.endswith("full.toml") and full.called("A") == ("a",)
        assert full.missing("A", "GAU") == "GAU is not among the kernels" and full.missing("A") == ""
        assert lab.Lab(runs, ["z"], paper="hrf").kernels == ()


def test_kernels_are_compiled_as_their_papers_simulator_had_them() -> None:
    """PTXPLUS and native traces are scheduled 32-bit code (B6.6), RFC's with 32 registers (B2.12), racetrack's by Table 1."""
    with batch.Runs(workers=1) as runs:
        found = {paper: dict(lab.Lab(runs, paper=paper).job("sgemm", "sram", "gto").settings)
                 for paper in ("", *papers.PAPERS.values())}
    native = {"kernel.schedule": "on", "kernel.addresses": "32"}
    assert found["hrf"] == found["edram"] == native and found[""] == found["hcrf"] == found["racetrack"] == {}
    assert found["rfc"] == native | {"kernel.max_registers": 32, "sm.max_ctas": 16}


def test_reuse_is_counted_at_the_banks(monkeypatch: pytest.MonkeyPatch) -> None:
    """600 rows, 3 accesses in 2 cycles: 400 cycles between accesses to the same row."""
    seen = {"x": {"allocated_rows": 600.0, "cycles": 200, "counts": {"rf_reads": 200, "rf_writes": 100}}}
    monkeypatch.setattr(hrf, "sampled_runs", lambda lab: seen)
    with batch.Runs(workers=1) as runs:
        assert hrf.reuse(lab.Lab(runs, paper="hrf")).value == 400


def test_categories_are_means_of_their_kernels(folder: Path) -> None:
    for name, category in (("a", "hpc"), ("b", "hpc"), ("c", "image"), ("d", "video")):
        kernel(folder, name, f'suite = "s"\n[papers.rfc]\nname = "{name}"\ncategory = "{category}"\n')
    kernel(folder, "z", 'suite = "s"\n')
    with batch.Runs(workers=1) as runs:
        found = lab.Lab(runs, paper="rfc")
        assert found.by_category({"a": 1.0, "b": 3.0, "c": 5.0}) == {"hpc": 2.0, "image": 5.0}
        assert found.by_category({"a": 1.0, "z": 3.0}) == {"a": 1.0, "z": 3.0}
        number = rfc.by_category(found, {"a": 1.0, "b": 3.0, "c": 5.0})
    assert (number.value, number.each, number.ran) == (3.0, {"hpc": 2.0, "image": 5.0}, ("a", "b", "c"))


def test_ranks_need_their_kernels_and_enough_of_the_others(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for index, name in enumerate(("RED", "BFS", "x", "y")):
        kernel(folder, f"k{index}", f'suite = "s"\n[papers.hrf]\nname = "{name}"\n')
    each: dict[str, float] = {"k0": 10.0, "k1": 30.0, "k2": 20.0, "k3": 90.0}
    monkeypatch.setattr(hrf, "stt_writes", lambda lab: Number(0.0, "", each))
    with batch.Runs(workers=1) as runs:
        found = lab.Lab(runs, paper="hrf")
        ranked: Any = hrf.at_the_end(found, ("RED", "BFS"), most=False, at_least=4)
        assert (ranked.value, ranked.note) == (1, "the 2 least are k0 and k2")
        assert hrf.at_the_end(found, ("y",), most=True, at_least=4).value == 1
        assert math.isnan(hrf.at_the_end(found, ("RED", "BFS"), most=False, at_least=5).value)
        assert hrf.at_the_end(found, ("DXT",), most=True, at_least=1).note == "DXT is not among the kernels"


def test_what_is_quoted_from_hrf_is_measured_on_hrfs_kernels_under_its_scheduler(folder: Path) -> None:
    """HRF's kernel loses 20 % under HRF's scheduler, HC-RF's lose half under gto: the claim is the former."""
    kernel(folder, "theirs", 'suite = "s"\n[papers.hrf]\nname = "T"\n')
    for name in "abcde":
        kernel(folder, name, f'suite = "s"\n[papers.hcrf]\nname = "{name}"\n')

    class Told(batch.Runs):
        """Runs with made-up results."""

        def all(self, jobs: Any) -> list[batch.Result]:
            """Return results that depend on the design and kernel."""
            asked.update((Path(job.path).stem, job.scheduler) for job in jobs)
            cycles = {"sram": 80, "theirs": 100}
            return [{"cycles": cycles.get(job.design, cycles.get(Path(job.path).stem, 160)),
                     "counts": {"wb_switches": 1, "rf_writes": 4}} for job in jobs]

    asked: set[tuple[str, str]] = set()
    number = hcrf.MEASURED["hcrf-hrf-gto"](lab.Lab(Told(workers=1), paper="hcrf"))
    assert number.value == pytest.approx(20) and number.ran == ("theirs",)
    assert ("theirs", "switch_on_stall") in asked and ("theirs", "gto") not in asked
    assert "lose 50 %" in number.note and "25 of 100 results" in number.note
