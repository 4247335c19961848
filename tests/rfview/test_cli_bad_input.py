"""Bad kernels and launch files through the command line: one clear message, the right exit code, never a traceback."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from rfview.cli import main

BAD = Path(__file__).parents[1] / "corpus" / "bad"
EXPECTED = tomllib.loads((BAD / "EXPECTED.toml").read_text(encoding="utf-8"))


def test_cuda_source_is_asked_for_its_kernel_and_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(BAD / "trap.cu")]) == 2
    assert "trap.cu::KERNEL --grid" in capsys.readouterr().err


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


@pytest.mark.parametrize(("words", "proposed"), [
    (["run", "my.rfs"], "rfview replay my.rfs"), (["run", "my run.rfs"], "rfview replay 'my run.rfs'"),
    (["a b.toml"], "rfview run 'a b.toml'"), (["run", "$x.rfr"], "rfview record --fill '$x.rfr'"),
])  # fmt: skip
def test_a_proposed_command_can_be_pasted_into_a_shell(words: list[str], proposed: str,
                                                       capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert proposed in capsys.readouterr().err
