"""Twenty-three screens, compared byte by byte with those in screenshots/; `python screenshots/make.py --golden` renews them."""

from __future__ import annotations

import re
import os
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path
from xml.etree import ElementTree

import pytest

from screenshots import svg
from screenshots.make import FOLDER, GOLDEN, SHOTS, Shot, draw

REPOSITORY = FOLDER.parent
MAX_ROWS = 12
SHOWN = [shot for shot in SHOTS if shot.golden]


def difference(shot: Shot, golden: str, picture: str, path: Path) -> str:
    """Return the changed rows of the terminal, and how to accept them."""
    before, now = svg.texts(golden), svg.texts(picture)
    rows = [y for y in range(max(len(before), len(now))) if before[y : y + 1] != now[y : y + 1]]
    lines = []
    for y in rows[:MAX_ROWS]:
        both = (text[y] if y < len(text) else "" for text in (before, now))
        lines += [f"  row {y}", *(f"    {sign} {text}" for sign, text in zip("-+", both, strict=True))]
    if not rows:
        same = [y for y, (a, b) in enumerate(zip(golden.splitlines(), picture.splitlines(), strict=False)) if a != b]
        where = same[0] if same else "?"
        lines = [f"  the characters are the same; colours or attributes differ, first in line {where} of the file"]
    elif len(rows) > MAX_ROWS:
        lines.append(f"  and {len(rows) - MAX_ROWS} more rows")
    return "\n".join([f"{shot.name} is not as screenshots/{shot.name}.svg shows it; the new picture is {path}", *lines,
                      "if this is meant: python screenshots/make.py --golden, and look at the pictures it changes"])


@pytest.mark.parametrize("shot", SHOWN, ids=lambda shot: shot.name)
def test_the_screen_is_as_its_picture(shot: Shot, tmp_path: Path) -> None:
    golden = (FOLDER / f"{shot.name}.svg").read_text(encoding="utf-8")
    picture = draw(shot)
    path = tmp_path / f"{shot.name}.svg"
    path.write_text(picture, encoding="utf-8")
    is_same = picture == golden     # a separate variable: else pytest would print both in full
    assert is_same, difference(shot, golden, picture, path)


def test_the_golden_pictures_are_few_and_of_both_sizes_with_and_without_colours() -> None:
    assert len(SHOWN) == len(GOLDEN) <= 23
    for size in ((80, 24), (120, 40)):
        assert {shot.theme for shot in SHOWN if shot.size == size} >= {"dark", "mono"}
    for shot in SHOWN:
        kind, _, rest = shot.source.partition(":")
        assert kind in ("first", "tour", "learn") or all(one.startswith("tour:") for one in rest.split()), "needs no engine"


def test_textual_is_the_release_that_the_pictures_are_of() -> None:
    required = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["optional-dependencies"]["test"]
    pin = next(line for line in required if line.startswith("textual"))
    assert pin == f"textual=={version('textual')}", "goldens hold for one release: pin it, or draw them anew with this one"


def test_a_picture_depends_on_neither_home_nor_terminal_nor_place(tmp_path: Path) -> None:
    """The bytes are the same in another folder, with another home, another terminal and a user's key file."""
    config = tmp_path / "config" / "rfview"
    config.mkdir(parents=True)
    (config / "keys.toml").write_text('[keys]\nx = "step"\n')
    code = ("from screenshots.make import SHOTS, draw; import sys\n"
            "for name in sys.argv[1:]: sys.stdout.buffer.write(draw(next(s for s in SHOTS if s.name == name)).encode())")
    names = ["replay_mono_80x24", "learn_80x24"]
    environment = {
        "PATH": os.environ["PATH"], "PYTHONPATH": str(REPOSITORY), "HOME": str(tmp_path), "TERM": "dumb", "LANG": "C",
        "XDG_CONFIG_HOME": str(tmp_path / "config"), "NO_COLOR": "1", "TZ": "Asia/Tokyo", "COLUMNS": "40",
    }
    command = [sys.executable, "-c", code, *names]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.decode() == "".join((FOLDER / f"{name}.svg").read_text(encoding="utf-8") for name in names)


def test_a_difference_is_told_in_rows() -> None:
    old = '<g transform="translate(10,10)"><text class="c0" x="20" y="15" textLength="30">a &lt;</text></g>\n'
    new = old.replace("a &lt;", "b &lt;")
    shot = SHOWN[0]
    text = difference(shot, old, new, Path("new.svg"))
    assert "    -   a <" in text and "    +   b <" in text and "make.py --golden" in text
    assert "colours or attributes differ, first in line 0" in difference(shot, old, old.replace("c0", "c1"), Path("new.svg"))


def test_a_film_holds_each_frame_and_what_never_changes_once() -> None:
    from rich.segment import Segment

    from screenshots import svg

    frames = [([[Segment("always")], [Segment(word)]], times) for word, times in (("one", 1), ("two", 1), ("three", 8))]
    film = svg.film(frames, 10, 2, 0.5)
    root = ElementTree.fromstring(film)
    space = "{http://www.w3.org/2000/svg}"
    words = [text.text for text in root.iter(f"{space}text")]
    assert words == ["always", "one", "two", "three"]
    style = next(root.iter(f"{space}style")).text or ""
    assert "k2{0%{visibility:visible}80.000%" in style and ".f2{animation:k2 5s 1s steps(1) infinite}" in style
    assert "prefers-reduced-motion" in style and not re.search(r"(href|url)", film)
