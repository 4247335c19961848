"""The installed package: what the wheel contains, and that it runs in a folder with unrelated engine/ and sessions/."""

from __future__ import annotations

import email
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.test_house import PACKAGES, REPOSITORY, name_of, tracked
from tests.conftest import PATIENCE_S

pytestmark = pytest.mark.slow

LARGEST = 6_000_000      # bytes of the wheel: recordings, results of the bundled kernels, their machine code, and the sources
LEFTOVERS = ("engine/kernels/gemm/__pycache__/reference.cpython-311.pyc", "rfview/learn/kernels/sum.ptx.orig~",
             "sessions/__pycache__/session.cpython-313.pyc")
INSIDE = ("engine", "sessions")         # rfview/NAME is a link to the folder NAME
FOREIGN = "raise RuntimeError('this folder is somebody else\\'s')\n"
Runs = Callable[..., subprocess.CompletedProcess[str]]


def installed_name(path: Path) -> str:
    """Return the path of a file of the packages below site-packages."""
    name = name_of(path)
    return name if name.startswith("rfview/") else f"rfview/{name}"


def package_files() -> set[str]:
    """Return the installed names of all tracked files under the three package folders."""
    return {installed_name(path) for path in tracked() if path.relative_to(REPOSITORY).parts[0] in PACKAGES}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel from a copy of the tracked files, with leftover files of other runs among them."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for path in tracked():
        target = source / name_of(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    for name in INSIDE:
        (source / "rfview" / name).symlink_to(f"../{name}")
    for name in LEFTOVERS:
        (source / name).parent.mkdir(exist_ok=True)
        (source / name).write_bytes(b"left over")
    subprocess.run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation",
                    "--disable-pip-version-check", "--wheel-dir", str(out), str(source)], check=True, timeout=PATIENCE_S)
    [built] = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def run(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Return a function that runs a command with the wheel installed, next to unrelated folders engine/ and sessions/.

    "python" and "rfview" as first words mean this interpreter and the installed script.
    """
    installed, elsewhere = tmp_path_factory.mktemp("installed"), tmp_path_factory.mktemp("elsewhere")
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-compile",
                    "--disable-pip-version-check", "--target", str(installed), str(wheel)], check=True, timeout=PATIENCE_S)
    for name in INSIDE:
        (elsewhere / name).mkdir()
        (elsewhere / name / "__init__.py").write_text(FOREIGN)
    programs = {"python": sys.executable, "rfview": str(installed / "bin" / "rfview")}

    def run(program: str, *words: str, answers: str = "") -> subprocess.CompletedProcess[str]:
        done = subprocess.run([programs[program], *words], cwd=elsewhere, env={**os.environ, "PYTHONPATH": str(installed)},
                              input=answers, capture_output=True, text=True, timeout=500)
        assert done.returncode == 0, (words, done.stdout[-2000:], done.stderr[-2000:])
        return done

    where = run("python", "-c", "import rfview; print(rfview.__file__)").stdout.strip()
    assert Path(where) == installed / "rfview" / "__init__.py"
    return run


def test_the_wheel_holds_every_tracked_file_of_the_packages_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if not name.endswith("/")}
    about = {name for name in held if name.split("/")[0].endswith(".dist-info")}
    [manual] = [name for name in held if name.endswith(".data/data/share/man/man1/rfview.1")]
    held.remove(manual)
    assert sorted(package_files() - held) == []
    assert sorted(held - about - package_files()) == []


def test_the_links_of_a_checkout_lead_to_its_folders() -> None:
    assert [os.readlink(REPOSITORY / "rfview" / name) for name in INSIDE] == ["../engine", "../sessions"]


def test_a_checkout_without_links_is_not_installed(tmp_path: Path) -> None:
    for name in ("setup.py", "pyproject.toml", "README.md"):
        shutil.copyfile(REPOSITORY / name, tmp_path / name)
    (tmp_path / "rfview").mkdir()
    (tmp_path / "rfview" / "engine").write_text("../engine")       # what git writes where links are not allowed
    done = subprocess.run([sys.executable, "setup.py", "--version"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1 and "Developer Mode" in done.stderr and "Traceback" not in done.stderr


def test_the_wheel_is_not_large(wheel: Path) -> None:
    assert wheel.stat().st_size <= LARGEST


def test_what_the_package_index_would_show_is_complete(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        about = email.message_from_bytes(archive.read(name))
    import rfview

    assert about["Version"] == rfview.__version__ and about["Author"] and about["Summary"]
    text = str(about.get_payload())
    assert text.startswith("# rfview") and ".venv/bin/rfview" in text
    # outside the repository, pictures and links with relative paths do not work
    assert not re.findall(r"\]\((?!https?:)[^)#]+\)", text)


def test_only_golden_pictures_need_one_version_of_textual() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    own = re.compile(r"textual\s*[=<>]")       # not textual-serve
    [wide] = [need for need in project["dependencies"] if own.match(need)]
    [exact] = [need for need in project["optional-dependencies"]["test"] if own.match(need)]
    assert "==" not in wide and "<" in wide and "==" in exact


@pytest.mark.parametrize("words", [
    ("rfview", "--version"),
    ("rfview", "kernels"),
    ("rfview", "designs"),
    ("python", "-m", "rfview", "--version"),
    ("python", "-m", "rfview"),
    ("python", "-c", "import rfview"),
    ("python", "-c", "import rfview.engine.simulator, rfview.sessions, rfview.app"),
], ids=" ".join)
def test_it_runs_beside_folders_of_the_same_names(run: Runs, words: tuple[str, ...]) -> None:
    assert run(*words).returncode == 0


def test_a_recording_of_the_package_opens_beside_folders_of_the_same_names(run: Runs) -> None:
    find = "from rfview.commands.first import bundled_recording; print(bundled_recording())"
    path = run("python", "-c", find).stdout.strip()
    said = run("rfview", "replay", path, "--plain", answers="step 2\nq\n").stdout
    assert "Cycle 2." in said


def test_a_run_compiles_and_is_recorded_beside_folders_of_the_same_names(run: Runs) -> None:
    assert "cycles in" in run("rfview", "record", "vectoradd", "--output", "vectoradd.rfs").stdout
    assert "vectoradd" in run("rfview", "info", "vectoradd.rfs").stdout


def test_types_are_checked_in_every_module() -> None:
    done = subprocess.run([sys.executable, "-m", "mypy", "-v"], cwd=REPOSITORY, capture_output=True, text=True, timeout=PATIENCE_S)
    read = {f"rfview/{name}" for name in re.findall(r"Found source: .*?path='[^']*?/rfview/([^']+\.py)'", done.stderr)}
    # a kernel's folder has no __init__: its reference is run by its path
    kernels = re.compile(r"rfview/engine/kernels/[^/]+/")
    wanted = {name for name in package_files() if name.endswith(".py") and not kernels.match(name)}
    assert done.returncode == 0, done.stdout
    assert sorted(wanted - read) == [] and sorted(read - wanted) == []
