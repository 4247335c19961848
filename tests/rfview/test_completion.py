"""Shell completion: bash completes as it should; the scripts of other shells name all commands."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from rfview.cli import COMMANDS, main
from rfview.commands.completion import SHELLS


def script(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["completion", shell]) == 0
    return capsys.readouterr().out


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(("words", "found"), [
    (["rec"], {"record"}), (["export", "x.rfs", "--fi"], {"--first"}), (["info", "ne"], {"near.rfs"}),
    (["replay", "--no-st"], {"--no-startup"}), (["com"], {"compare", "completion"})])
def test_bash_completes_commands_options_and_files(words: list[str], found: set[str], tmp_path: Path,
                                                   capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "near.rfs").touch()
    (tmp_path / "rfview.bash").write_text(script("bash", capsys))
    before = words[-2] if len(words) > 1 else "rfview"
    asked = f"""source rfview.bash; function=$(complete -p rfview | sed 's/.*-F \\([^ ]*\\).*/\\1/')
COMP_WORDS=(rfview {' '.join(words)}); COMP_CWORD={len(words)}; "$function" rfview {words[-1]} {before}
printf '%s\\n' "${{COMPREPLY[@]}}\""""
    done = subprocess.run(["bash", "-c", asked], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == found, done.stderr


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shells_script_names_every_command(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = script(shell, capsys)
    assert not [name for name in COMMANDS if name not in text]


def test_another_shell_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "rc"]) == 2
    assert "bash" in capsys.readouterr().err
