"""`rfview check` and --check on the command line, and the window of the findings."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from rfview.engine.check.findings import Finding, Findings
from rfview.messages import Answered
from rfview.render.findings import render
from rfview.screens.windows.findings import FindingsWindow
from tests.rfview.pilots import Driven, drive

ROOT = Path(__file__).resolve().parents[2]
ONE = Finding("race-shared", "reads what warp 0 of the CTA wrote at shared+0x7c, and nothing orders the two", "k", 11, 35,
              "ld.shared.u32 R2, [R2]", 0, 0, 1, 1, 0, 42, 128, 0x7c, "shared+0x7c", 8, 32, "st.shared.u32 [R6], R5", 0, 0, 31,
              30)
OTHER = Finding("inactive-lane", "reads the value of lane 16, which takes no part", "k", 20, 50, "shfl.sync.down.b32 R0", 0,
                0, 0, 0, 8, 77, 8)


def rfview(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the command line in a separate process."""
    return subprocess.run([sys.executable, "-m", "rfview", *map(str, words)], cwd=ROOT, capture_output=True, text=True)


@pytest.fixture(scope="module")
def launch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("check") / "race.toml"
    buffers = "".join(f"[buffers.{name}]\nshape = [4096]\ndtype = 'uint32'\nzeros = true\n" for name in ("out", "data", "raw"))
    path.write_text(f"module = '{ROOT / 'tests' / 'check' / 'global.ptx'}'\n[[launch]]\nkernel = 'counter_bad'\ngrid = [3]\n"
                    f"block = [32]\nargs = [{{buffer = 'out'}}, {{buffer = 'data'}}, {{buffer = 'raw'}}]\n{buffers}")
    return path


def test_findings_are_exit_code_1_and_nothing_found_is_0_and_bad_input_2(launch: Path) -> None:
    found = rfview("check", launch, "--json")
    assert found.returncode == 1
    kinds = {one["kind"] for one in json.loads(found.stdout)["findings"]}
    assert kinds == {"race-global"}
    clean = rfview("check", "vectoradd")
    assert (clean.returncode, clean.stdout) == (0, "no finding in 23,798 warp instructions\n")
    cycles = rfview("check", "vectoradd", "--every-cycle")
    assert (cycles.returncode, cycles.stdout) == (0, "no finding in 28,575 cycles\n")
    wrong = rfview("check", "no_such_kernel")
    assert wrong.returncode == 2 and wrong.stderr.count("\n") == 1


def test_a_run_and_a_recording_are_checked_while_they_run(launch: Path, tmp_path: Path) -> None:
    done = rfview("run", launch, "--check", "--json")
    data = json.loads(done.stdout)
    assert done.returncode == 1 and {one["place"] for one in data["check"]["findings"]} == {"out[0]"}
    alone = json.loads(rfview("run", launch, "--json").stdout)
    assert "check" not in alone and alone["cycles"] == data["cycles"]
    recorded = rfview("record", launch, "--check", "-o", tmp_path / "race.rfs")
    assert recorded.returncode == 1 and "race-global" in recorded.stdout
    refused = rfview("record", launch, "--check", "--budget", "0", "-o", tmp_path / "race.rfs")
    assert refused.returncode == 2 and "rfview check" in refused.stderr


@pytest.mark.parametrize(("width", "height"), [(78, 20), (116, 24)])
def test_the_window_shows_every_finding_and_the_chosen_one_in_full(width: int, height: int) -> None:
    lines = render(Findings((ONE, OTHER), 100, False, None), 0, 42, width, height)
    text = [line.plain for line in lines]
    assert len(lines) == height and all(len(line) == width for line in text)
    assert "2 findings in 100 cycles" in text[0]
    assert "42" in text[2] and "w1 lane 0" in text[2] and "race-shared" in text[2] and text[2].startswith("▸")
    assert "inactive-lane" in text[3]
    below = " ".join(" ".join(text[-7:]).split())
    assert "nothing orders the two" in below and "st.shared.u32" in below


def test_enter_goes_to_the_finding_and_o_to_the_other_access() -> None:
    async def test(app: Driven) -> None:
        for key, cycle in (("enter", 42), ("o", 30)):
            app.app.main.post_message(Answered("check", Findings((ONE, OTHER), 100, False, None).as_dict()))
            await app.settle()
            assert "CHECK" in app.window_text() and "race-shared" in app.window_text()
            await app.press("g", key)
            assert app.cycle == cycle and not isinstance(app.app.screen, FindingsWindow)
        assert app.scene.warp == ONE.warp
        app.app.main.post_message(Answered("check", Findings((OTHER,), 100, False, None).as_dict()))
        await app.settle()
        await app.press("o")
        assert "no other access" in app.scene.message and app.cycle == 30

    drive(test, size=(80, 24))


def test_an_empty_window_says_that_nothing_was_found() -> None:
    text = "\n".join(line.plain for line in render(Findings((), 100, False, None), 0, 0, 78, 15))
    assert "nothing found in 100 cycles" in text
