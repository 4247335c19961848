"""Closed streams, full disks, broken pipes, poor locales and terminals, no home: an exit code and at most one line."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rfview import keymap
from tests.rfview.terminal import REPOSITORY
from tests.conftest import PATIENCE_S

RECORDED = REPOSITORY / "rfview" / "learn" / "recorded" / "first.rfs"
NO_OUTPUT = "standard output cannot be written: "
# a reader that has exited before anything is written to it
LEFT = "mkfifo gone; (read x <gone; "
HOMES = ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")


def run(tmp_path: Path, line: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run a line of bash in which R is rfview and F a recording; an empty value unsets a variable."""
    recording = shutil.copy(RECORDED, tmp_path / "first.rfs")
    env = {**os.environ, "PYTHONPATH": str(REPOSITORY), "F": str(recording), **environ}
    for name in ("LC_ALL", "LC_CTYPE", "PYTHONIOENCODING", "PYTHONUTF8", "RFVIEW_TRACEBACK"):
        if name not in environ:
            env.pop(name, None)
    env = {name: value for name, value in env.items() if name not in environ or value}
    script = f'R() {{ "{sys.executable}" -m rfview "$@"; }}\n{line}'
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, env=env, text=True, capture_output=True, timeout=PATIENCE_S, check=False,
                          errors="surrogateescape")
    assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr, done.stderr
    return done


@pytest.mark.parametrize(("line", "code", "said"), [
    ("R help stalls <&-", 0, ""), ("R info $F <&-", 0, ""), ("R replay $F <&-", 0, ""),
    ("R replay --plain $F <&-", 0, ""), ("R script $F -x - <&-", 0, ""), ("R learn first <&-", 0, ""), ("R dap <&-", 0, ""),
    ("R help stalls >&-", 2, NO_OUTPUT), ("R info $F >&-", 2, NO_OUTPUT), ("R replay $F >&-", 2, NO_OUTPUT),
    ("R replay --plain $F </dev/null >&-", 2, NO_OUTPUT), ("R script $F -c 'why 0' >&-", 2, NO_OUTPUT),
    ("R info gone.rfs >&-", 2, "gone.rfs: cannot open"), ("R --help >&-", 2, NO_OUTPUT), ("R info --help >&-", 2, NO_OUTPUT),
    ("R info $F 2>&-", 0, ""), ("R info gone.rfs 2>&-", 2, ""), ("R replay $F 2>&-", 0, ""),
    ("R info $F <&- >&- 2>&-", 2, ""), ("R info gone.rfs <&- >&- 2>&-", 2, ""),
    ("R export --to csv $F -o out.csv <&- >&-", 2, NO_OUTPUT), ("R export --to csv $F -o out.csv <&- 2>&-", 0, ""),
    ("R info $F >/dev/full", 2, NO_OUTPUT), ("R info --json $F >/dev/full", 2, NO_OUTPUT),
    ("R replay $F >/dev/full", 2, NO_OUTPUT), ("R info $F >/dev/full 2>/dev/full", 2, ""),
    (LEFT + "R help all) | (exec <&-; echo >gone); exit ${PIPESTATUS[0]}", 141, ""),
    (LEFT + "R info $F) | (exec <&-; echo >gone); exit ${PIPESTATUS[0]}", 141, ""),
    (LEFT + "R script $F -c 'help; help; why 0') | (exec <&-; echo >gone); exit ${PIPESTATUS[0]}", 141, ""),
    (LEFT + "R info gone.rfs 2>&1) | (exec <&-; echo >gone); exit ${PIPESTATUS[0]}", 2, ""),
    ("mkdir x; cd x; rmdir ../x; R", 0, ""), ("mkdir x; cd x; rmdir ../x; R info $F", 0, ""),
    ("mkdir x; cd x; rmdir ../x; R export --to csv $F -o out.csv", 2, "out.csv: cannot be written"),
])
def test_streams_that_are_closed_full_or_left(tmp_path: Path, line: str, code: int, said: str) -> None:
    done = run(tmp_path, line)
    assert done.returncode == code, done
    assert said in done.stderr and done.stderr.count("\n") == bool(said)
    if "-o out.csv" in line and "x;" not in line:
        rows = (tmp_path / "out.csv").read_text().splitlines()
        assert rows[0].startswith("cycle,") and len(rows) > 100, "no file takes the place of a stream"


ASCII = ({"LC_ALL": "POSIX", "PYTHONUTF8": "0"}, {"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C"})


@pytest.mark.parametrize(("line", "code", "environ"), [*((line, code, ASCII[0]) for line, code in (
    ("R help stalls", 0), ("R --help", 0), ("R replay $F", 0), ("R replay --plain $F </dev/null", 0), ("R compare $F $F", 0),
    ("R script $F -c 'goto 40; why 0; info stalls'", 0), ("R info $F", 0), ("R info é█.rfs", 2), ("R learn first", 0),
    ("R script $F -c 'print é'", 2), ("R designs", 0), ("R kernels", 0),
)), *((line, code, environ) for environ in ASCII[1:] for line, code in (("R replay $F", 0), ("R info é█.rfs", 2)))])
def test_a_locale_that_knows_ascii_alone(tmp_path: Path, line: str, code: int, environ: dict[str, str]) -> None:
    done = run(tmp_path, line, **environ)
    assert done.returncode == code and (done.stdout + done.stderr).isascii(), (done.stdout, done.stderr)
    assert "\\u2" not in done.stdout, "a glyph without a letter for it"
    if "é█" in line:
        assert "\\u00e9#.rfs" in done.stderr or "\\udcc3\\udca9" in done.stderr


@pytest.mark.parametrize("environ", [{"TERM": ""}, {"TERM": "dumb"}, {"TERM": "unknown"}])
def test_a_terminal_that_cannot_draw(tmp_path: Path, environ: dict[str, str]) -> None:
    done = run(tmp_path, f'script -qec "{sys.executable} -m rfview replay $F" /dev/null', **environ)
    assert done.returncode == 0 and "because there is no terminal here" in done.stdout and "\x1b" not in done.stdout


@pytest.mark.parametrize(("line", "code", "home"), [
    ("R replay $F", 0, "/proc"), ("R replay --plain -c 'goto 40' $F </dev/null", 0, "/proc"),
    ("R script $F -c 'mark a'", 0, "/proc"), ("R help startup", 0, "/proc"), ("R designs", 0, "/proc"),
    ("R info gone.rfs", 2, "/proc"), ("R replay $F", 0, ""), ("R designs", 0, ""), ("R replay $F", 0, "/nonexistent"),
])
def test_no_home_and_one_that_cannot_be_written(tmp_path: Path, line: str, code: int, home: str) -> None:
    done = run(tmp_path, line, **(dict.fromkeys(HOMES, "") | {"HOME": home}))
    assert done.returncode == code and done.stderr.count("\n") == bool(code)


def test_a_user_without_a_home_folder_has_no_key_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.path.expanduser", lambda path: path)     # its result for an unknown user
    assert keymap.load(keymap.path({})) == {}


@pytest.mark.parametrize("environ", [{"RFVIEW_CACHE_DIR": "/proc/nothing"}, {"RFVIEW_CACHE_DIR": "/dev/null"},
                                     {"RFVIEW_CACHE_DIR": "", "XDG_CACHE_HOME": "", "HOME": "/proc"}])
def test_compiled_code_that_cannot_be_kept_is_made_for_the_run(tmp_path: Path, environ: dict[str, str]) -> None:
    (tmp_path / "ask.py").write_text(
        "import subprocess, sys\nimport rfview\nfrom rfview.engine.compile import cache\n"
        "folder = cache.CACHE_FOLDER\nassert folder.is_dir()\n"
        "if len(sys.argv) < 2: subprocess.run([sys.executable, __file__, 'child'], check=True)\n"
        "print(folder, flush=True)\n")
    done = run(tmp_path, f'"{sys.executable}" ask.py', NUMBA_DISABLE_JIT="0", TMPDIR=str(tmp_path), **environ)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("\n") == 1 and "compiled code cannot be kept there" in done.stderr
    child, parent = map(Path, done.stdout.split())
    assert child.parent == parent and not parent.exists()
