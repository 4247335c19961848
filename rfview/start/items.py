"""What can be opened: recordings, lessons, bundled kernels, and programs in this folder; nothing is run."""

from __future__ import annotations

import os
import re
import shlex
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from rfview.engine import files
from rfview.engine.errors import RfviewError
from rfview.engine.escapes import visible
from rfview.engine.wording import plural
from rfview.line_history import LineHistory, path

BUNDLED = ("bundled",)      # instead of a command line: the bundled recording, at an interesting cycle
BUCKETS = 72                # points in each of a recording's two curves
MAX_FILES = 2000           # most files of a folder that are examined
MAX_RECORDINGS = 40
LOOKED_AT = 64 << 10        # bytes of a file that are searched for kernels
KERNELS = {                 # kernels by file suffix: name, and parameters where the source names them
    ".cu": re.compile(r"__global__\b[^;{(]*?(?:__launch_bounds__\s*\([^)]*\)[^;{(]*?)?\b(\w+)\s*\(([^)]*)"),
    ".ptx": re.compile(r"\.entry\s+([\w$]+)()"),
    ".py": re.compile(r"^@(?:\w+\.)*jit\b[^\n]*\n(?:@[^\n]*\n)*def\s+(\w+)\s*\(([^)]*)", re.MULTILINE),
}
PARAMETER = re.compile(r"(\w+)\s*(?:\[\w*\]\s*)?(?::\s*[\w.]+\s*)?(?:=.*)?\Z", re.DOTALL)
WHOLE = re.compile(r"\b(?:int|unsigned|long|short|char|size_t|bool|u?int\d+_t|constexpr)\b")
FRAMEWORKS = re.compile(r"\b(numba|triton)\b")      # imports of Python files with kernels
LAUNCH = re.compile(r"^\s*\[\[\s*launch\s*\]\]", re.MULTILINE)
ARGUMENTS = "--grid N --block N --arg NAME=f4[1024]:random"
OWN = (("rfview debug ./a.out", "a CUDA program as it is", ""),        # what, and what else the command needs
       ("rfview debug k.cu::name", "a kernel in CUDA C++", f" {ARGUMENTS}"),
       ("rfview debug k.py::name", "one in numba or Triton", f" {ARGUMENTS}"),
       ("rfview kernels --new k.ptx", "a launch file for any PTX", ""))


@dataclass(frozen=True)
class Item:
    """One thing to open. words: rfview's command line, () for a mere message. effect: what Enter does.

    more: further rows of text, (left, right) each. issued, lost: two curves, the second of shares 0..1. sign: before it.
    """

    name: str
    text: str = ""
    right: str = ""
    words: tuple[str, ...] = ()
    effect: str = ""
    more: tuple[tuple[str, str], ...] = ()
    issued: tuple[float, ...] = ()
    lost: tuple[float, ...] = ()
    sign: str = ""
    is_done: bool = False
    file: Path | None = None

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts that a filter searches."""
        return self.name, self.text, *(text for row in self.more for text in row)


def recordings(folder: Path, bundled: Path) -> list[Item]:
    """Return the folder's and recently opened recordings, newest first, then the bundled one; none is opened yet."""
    changed: dict[Path, float] = {}
    for file in [*_files(folder, (".rfs",)), *(Path(line) for line in LineHistory(path("recordings")).lines)]:
        with suppress(OSError, RuntimeError):      # RuntimeError: a loop of links, before Python 3.13
            changed[file.resolve()] = file.stat().st_mtime
    newest = sorted(changed, key=lambda file: -changed[file])[:MAX_RECORDINGS]
    made = [_recording(file, folder, changed[file]) for file in newest if file != bundled.resolve()]
    return [*made, Item("bundled example", file=bundled, words=BUNDLED, effect="Enter opens it at a third of its run",
                        more=(("", ""), ("comes with rfview", "")))]


def _recording(file: Path, folder: Path, changed: float) -> Item:
    shown = str(file.relative_to(folder.resolve())) if file.is_relative_to(folder.resolve()) else str(file)
    return Item(visible(Path(shown).name), file=file,
                words=("replay", shown), effect=f"Enter opens {shown} where you left it",
                more=(("", ""), (ago(time.time() - changed), "")))


def opened(file: str) -> None:
    """Remember a recording that was opened."""
    LineHistory(path("recordings")).add(os.path.abspath(file))


def read(item: Item) -> Item:
    """Return a recording's item with what its file says."""
    from rfview.sessions import open_session      # start-up: after the first frame

    assert item.file is not None
    try:
        with open_session(str(item.file)) as session:
            info, timeline = session.info, session.timeline
            overview = session.overview(min(BUCKETS, max(1, timeline.last - timeline.first)))
            names = [stall.code for stall in info.stalls if stall.family == "register_file"]
            waits = overview.states.sum(axis=1)
            lost = overview.states[:, names].sum(axis=1) / waits.clip(min=1)
            what = f"{info.name or info.kernel} · {info.design} {info.scheduler}"
            cycles = plural(timeline.last - timeline.first, "cycle")
            return replace(item, right=cycles, more=((visible(what), _left_at(item.file)), *item.more[1:]),
                           issued=tuple(overview.issue_rate.tolist()), lost=tuple(lost.tolist()))
    except RfviewError as error:
        return replace(item, more=((visible(str(error)), ""), *item.more[1:]), words=(), effect=str(error))


def _left_at(file: Path) -> str:
    """Return where a recording was left: "at 2,001"; "" if unknown."""
    try:
        cycle = files.read_json(file.with_name(file.name + ".view.json"))["cycle"]
        return f"at {cycle:,}" if isinstance(cycle, int) else ""
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def lessons() -> list[Item]:
    """Return the guided tours; finished ones are marked."""
    from rfview.learn.tours import TOURS

    done = set(LineHistory(path("lessons")).lines)
    return [Item(tour.title, tour.sentence, f"{len(tour.pages)} pages", ("learn", tour.name),
                 f"Enter begins: {tour.sentence}", is_done=tour.name in done) for tour in TOURS.values()]


def kernels(design: str) -> list[Item]:
    """Return the bundled kernels; Enter runs one on a design."""
    from rfview.commands.kernels import listing

    return [Item(row["name"], row["description"], words=("debug", row["name"], "--design", design),
                 effect=f"Enter runs it on {design}: {row['description']}") for row in listing()]


def own(folder: Path) -> list[Item]:
    """Return what rfview can run in this folder, then how to run other programs."""
    items = []
    for file in _files(folder, (".toml", *KERNELS)):
        text = _head(file)
        if file.suffix == ".toml":
            if LAUNCH.search(text):
                items.append(Item(visible(file.name), "a launch file", words=("debug", file.name), effect="Enter runs it"))
        elif file.suffix != ".py" or FRAMEWORKS.search(text):
            items += [_kernel(file, *found) for found in dict(KERNELS[file.suffix].findall(text)).items()]
    return [*items, *(Item(command, text, effect=f"in a shell: {command}{more}") for command, text, more in OWN)]


def _kernel(file: Path, name: str, parameters: str) -> Item:
    target = shlex.quote(f"{file.name}::{name}")
    named = [_argument(one) for one in parameters.split(",") if PARAMETER.search(one.strip())]
    words = f"--grid N --block N {' '.join(f'--arg {argument}' for argument in named)}" if named else ARGUMENTS
    return Item(visible(f"{file.name}::{name}"), "needs sizes and arguments",
                effect=f"in a shell: rfview debug {visible(target)} {visible(words)}")


def _argument(text: str) -> str:
    """Return a first guess at an argument, for its user to change: an array for what is or may be a pointer."""
    text = text.strip()
    found = PARAMETER.search(text)
    assert found is not None
    name, kind = found[1], text[: found.start(1)] + text[found.end(1) :]
    if "*" in text or "[" in text or not re.search(r"\w", kind):
        return f"{name}={'i4' if WHOLE.search(kind) else 'f4'}[1024]:random"
    return f"{name}={'1024' if WHOLE.search(kind) else '1.0'}"


def _files(folder: Path, suffixes: tuple[str, ...]) -> list[Path]:
    """Return the regular files of a folder with one of the suffixes, by name."""
    def looked_at() -> Iterator[Path]:
        with suppress(OSError), os.scandir(folder) as entries:
            for number, entry in enumerate(entries):
                if number >= MAX_FILES:
                    return
                if entry.name.endswith(suffixes) and entry.is_file():
                    yield folder / entry.name

    return sorted(looked_at())


def _head(file: Path) -> str:
    """Return the beginning of a file, "" if it cannot be read."""
    with suppress(OSError), open(file, "rb") as held:
        return held.read(LOOKED_AT).decode(errors="replace")
    return ""


def ago(seconds: float) -> str:
    """Return how long ago something was, in words."""
    if seconds < 90:
        return "just now"
    if seconds < 3600:
        return f"{seconds / 60:.0f} minutes ago"
    if seconds < 36 * 3600:
        return f"{seconds / 3600:.0f} hours ago"
    if seconds < 30 * 86400:
        return f"{seconds / 86400:.0f} days ago"
    return time.strftime("%d %b %Y", time.localtime(time.time() - seconds))
