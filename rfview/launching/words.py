"""The launch options of the command line, --grid, --block, --shared, --arg, and the launch file made from them."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rfview.commands import options
from rfview.engine import files
from rfview.engine.errors import InputError

if TYPE_CHECKING:
    from rfview.engine.progress import Progress
    from rfview.launching.text import Extent

KINDS = (".cu", ".py", ".ptx", ".cubin", ".sass")
EPILOG = """a kernel of your own, without a launch file: CUDA C++ (by nvcc, or without a toolkit by NVRTC: pip install
'rfview[cuda]'), PTX, machine code (.cubin, .sass), or a numba-cuda or Triton kernel in a Python file:
  rfview debug kernel.cu::saxpy --grid 8 --block 128 --arg x=f4[1024]:random --arg y=f4[1024] --arg a=2.0 --arg n=1024
DTYPE[SHAPE]:FILL is an array (FILL: zeros, arange, random, random:LOW:HIGH or a number; zeros by default), FILE.npy an
array from a file, DTYPE:NUMBER a number of that type. Arguments are matched by name if the file has the parameters'
names (.py), else by order."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    group = parser.add_argument_group("a kernel of your own (FILE.cu, .ptx, .cubin, .sass or .py, followed by ::KERNEL)")
    group.add_argument("--grid", metavar="X[,Y[,Z]]", help="CTAs in the grid (default 1)")
    group.add_argument("--block", metavar="X[,Y[,Z]]", help="threads per CTA (default: what the kernel requires)")
    group.add_argument("--shared", metavar="BYTES", help="dynamic shared memory (default: what the compiler says, else 0)")
    group.add_argument("--arg", metavar="NAME=VALUE", action="append", default=[], dest="arguments",
                       help="an argument, such as x=f4[1024]:random, x=data.npy, n=1024, p=null")
    if not any("--python" in action.option_strings for action in parser._actions):
        group.add_argument("--python", metavar="PYTHON", help="the Python that has numba-cuda or Triton, for FILE.py")


def is_meant(args: argparse.Namespace, target: str) -> bool:
    """Say whether a target is a user's kernel with its arguments; raises InputError for options without a kernel."""
    given = [name for name, value in (("--grid", args.grid), ("--block", args.block), ("--shared", args.shared),
                                      ("--arg", args.arguments)) if value]
    file, colons, _ = target.partition("::")
    if (colons or given) and Path(file).suffix in KINDS:
        return True
    if given:
        raise InputError(f"{given[0]}: expected FILE.cu::KERNEL, FILE.ptx::KERNEL or FILE.py::KERNEL with it, got "
                         f"{target or 'nothing'}; a launch file gives these itself")
    return False


class Again:
    """The target of a command line as an `Origin` of its session. file: what its user edits."""

    def __init__(self, args: argparse.Namespace):
        """Take the target as it was typed, before a launch file is made of it, and its options."""
        self.args = argparse.Namespace(**vars(args))
        self.target = str(args.target or "")
        self._folders: list[tempfile.TemporaryDirectory[str]] = []      # launch files are read again, so they stay
        self.file = Path(self.target.partition("::")[0])        # a bundled kernel's name is none, and so is never edited
        self._seen = {self.file: changed_at(self.file)}

    def saved(self, sources: Iterable[str]) -> str:
        """Return what to say if the file or a source of the program was written since this was last asked, else ""."""
        now = {file: at for file in (self.file, *map(Path, sources)) if (at := changed_at(file))}
        written = [file for file, at in now.items() if self._seen.get(file, at) != at]
        self._seen |= now
        return self.said_of(written[0]) if written else ""

    def said_of(self, file: Path) -> str:
        """Return what to say of a file that was written."""
        return f"{file.name} was saved"

    def launch_file(self, target: str = "", report: Progress | None = None) -> Path:
        """Make a target (default: the session's own) anew, and return its launch file; raises InputError.

        target: as on the command line, with the session's --grid, --block and --arg where none are given. report: told of
        what takes long; what it raises ends that.
        """
        given = _read(target, self.args) if target else self.args
        name = given.target
        if not is_meant(given, name):
            return options.launch_path(os.path.expanduser(name))
        return write(given, name, self.folder())

    def folder(self) -> Path:
        """Return a new folder for the launch file; what has been written until now is what it is made of."""
        folder = tempfile.TemporaryDirectory(prefix="rfview-")
        self._folders = [*self._folders[-1:], folder]       # the baseline's is loaded, the last one may be read again
        self._seen = {self.file: changed_at(self.file)}
        return Path(folder.name)


def changed_at(file: Path) -> float:
    """Return when a file was last written, 0 if there is none."""
    with suppress(OSError):
        return file.stat().st_mtime
    return 0.0


def _read(text: str, args: argparse.Namespace) -> argparse.Namespace:
    """Return the target and options typed after `kernel`; raises InputError."""
    parser = argparse.ArgumentParser(add_help=False, exit_on_error=False)
    parser.add_argument("target")
    add_arguments(parser)
    try:
        given, unknown = parser.parse_known_args(shlex.split(text))
    except (argparse.ArgumentError, ValueError) as error:
        raise InputError(f"kernel {text}: {error}") from None
    if unknown:
        raise InputError(f"kernel {text}: unexpected {shlex.join(unknown)}; expected NAME, FILE.toml, or "
                         "FILE.cu::KERNEL with --grid, --block and --arg")
    mine = {name: value for name, value in vars(given).items() if value}
    if is_meant(given, given.target) and "::" in given.target:
        return argparse.Namespace(**{**vars(args), **mine})
    return given


@contextmanager
def as_launch_file(args: argparse.Namespace) -> Iterator[None]:
    """Make args.target a launch file; for a user's kernel, a temporary one that exists until the context ends.

    args.typed: the words typed, for `rfview` command lines that are shown. args.origin: makes the target again after an
    edit. Raises InputError.
    """
    args.origin = Again(args)
    with launch_files(args, [args.target or ""]) as written:
        for kernel, file in written.items():
            args.typed, args.target = typed(args, kernel), file
        yield


def takes_kernels(run: Callable[[argparse.Namespace], int]) -> Callable[[argparse.Namespace], int]:
    """Let a command that runs launch files also run a user's kernel with its arguments."""
    @wraps(run)
    def of_any_target(args: argparse.Namespace) -> int:
        with as_launch_file(args):
            return run(args)

    return of_any_target


@contextmanager
def launch_files(args: argparse.Namespace, targets: Iterable[str]) -> Iterator[dict[str, str]]:
    """Give {target: its launch file} for the users' kernels among the targets, which all take the same arguments.

    The files exist until the context ends, and errors do not name their folders. Raises InputError.
    """
    kernels = [target for target in dict.fromkeys(targets) if is_meant(args, target)]
    with ExitStack() as folders:
        made = {kernel: folders.enter_context(_temporary()) for kernel in kernels}
        try:
            yield {kernel: str(write(args, kernel, Path(folder))) for kernel, folder in made.items()}
        except InputError as error:
            text = str(error)
            for folder in made.values():
                text = text.replace(f"{folder}/", "")
            error.args = (text,)
            raise


def _temporary() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="rfview-")


def typed(args: argparse.Namespace, kernel: str) -> list[str]:
    """Return the words that name a kernel and its arguments."""
    words = [kernel]
    for option, value in (("--grid", args.grid), ("--block", args.block), ("--shared", args.shared),
                          ("--python", args.python)):
        if value:
            words += [option, value]
    for argument in args.arguments:
        words += ["--arg", argument]
    return words


def write(args: argparse.Namespace, kernel: str, folder: Path) -> Path:
    """Write the launch file, PTX and arrays of a launch to a folder; return the launch file. Raises InputError."""
    return written(args, kernel, folder)[-1]


def written(args: argparse.Namespace, kernel: str, folder: Path) -> list[Path]:
    """Do so, and return all files written, the launch file last; the folder is created once everything else is right."""
    from rfview.engine.launch.sources import texts_to_copy
    from rfview.launching import sources
    from rfview.launching.arguments import from_words
    from rfview.launching.session import block_of
    from rfview.launching.text import Call, launch_text

    grid = extent(args.grid, "--grid") if args.grid else (1,)
    block = extent(args.block, "--block") if args.block else None
    given = [from_words(text, place) for place, text in enumerate(args.arguments)]
    source = sources.source_of(kernel, given, python=args.python,
                               tell=lambda text: print(f"rfview: {text}", file=sys.stderr))
    call = Call(grid, block_of(block, source), _bytes(args.shared, source.shared_bytes), source.arguments)
    head = f"# {shlex.join(['rfview', 'run', *typed(args, kernel)])}".replace("\n", " ")
    text = launch_text(call, source.kernel, source.formals, source.file, head)
    contents: dict[str, str | np.ndarray] = {}
    for argument, stem in zip(call.arguments, files.stems_of(argument.name for argument in call.arguments), strict=True):
        if argument.array is not None:
            file = f"{stem}.npy"
            contents[file] = argument.array
            table = f'\n[buffers."{argument.name}"]\n'
            text = text.replace(table, f'{table}file = "{file}"\n')
    contents[source.file] = source.ptx
    if source.folder is not None:
        contents |= texts_to_copy(source.ptx, [source.folder])
    contents[f"{files.stem_of(source.name)}.toml"] = text
    options.writable_folder(str(folder))
    read = [kernel.partition("::")[0], *(value.partition("=")[2] for value in args.arguments)]
    for name, content in contents.items():
        if not isinstance(content, str):
            with files.writing(folder / name, inputs=read) as out:
                np.save(out, content)
        elif not _is_there(folder / name, content):     # PTX may be captured into its own folder
            files.write(folder / name, content, inputs=read)
    return [folder / name for name in contents]


def _is_there(path: Path, text: str) -> bool:
    """Return whether a file has this text already."""
    try:
        return files.read(path) == text.encode("utf-8", "backslashreplace")
    except OSError:
        return False


def extent(text: str, option: str) -> Extent:
    """Read 8 or 8,4,2; raises InputError."""
    parts = text.replace(" ", "").replace("x", ",").split(",")
    if not 1 <= len(parts) <= 3 or not all(part.isdecimal() and int(part) >= 1 for part in parts):
        raise InputError(f"{option} {text}: expected 1 to 3 whole numbers of at least 1, as in 8 or 8,4")
    return tuple(int(part) for part in parts)


def _bytes(text: str | None, standard: Any) -> int:
    if text is None:
        return int(standard)
    plain = text.replace(",", "").replace("_", "")
    if not plain.isdecimal():
        raise InputError(f"--shared {text}: expected a number of bytes")
    return int(plain)
