"""The design files of a run, whether they are available, and their texts, for recordings.

A run's DesignSpec has in `files`, for each design of its chain that is a user's file, the file's name
(without folder: the same run gives the same recording anywhere), its text, and a hash of its code. The text is meant to be
extracted (`save`) and read; nothing runs it from a recording.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rfview.engine import plugin as designs
from rfview.engine.plugin import files
from rfview.engine.errors import InputError
from rfview.engine.files import write
from rfview.engine.info import DesignFile, DesignSpec

FILE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\.py")


def spec_of(chain: Iterable[str], values: Mapping[str, Any], is_on_subcore: bool = False) -> DesignSpec:
    """Return what a run says of its designs, with their parameters; on the sub-core values are in their rows (B12.1)."""
    chain = list(chain)
    return DesignSpec(chain=chain, values=dict(values), locates=designs.locates(chain) and not is_on_subcore,
                      files={name: _origin(name) for name in chain if name not in designs.BUILT_IN})


def _origin(name: str) -> DesignFile:
    module = designs.find(name)
    path, text = Path(str(module.__file__)), files.text_of(module)
    code = designs.compiled_part(path, text)
    return DesignFile(file=path.name, code=hashlib.sha256(code.encode()).hexdigest()[:16], text=text)


def missing(spec: DesignSpec, for_what: str) -> str:
    """Return a sentence about the first design of a run that is missing, "" if none is. for_what: "its energy"."""
    for name in spec.chain:
        try:
            designs.find(name)
        except InputError as error:
            if name not in spec.files:
                return f"{for_what} needs the design: {error}"
            file = spec.files[name].file
            return (f"{for_what} needs the design file {file} with which this was run: name it, as in "
                    f"{files.ENVIRONMENT}=./{file}; `rfview info FILE --save-designs DIR` writes it")
    return ""


def require(spec: DesignSpec, for_what: str) -> None:
    """Raise InputError with what `missing` returns, if anything."""
    if problem := missing(spec, for_what):
        raise InputError(problem)


def edited(spec: DesignSpec) -> str:
    """Return a sentence about the first design file whose code has changed since the run, "" if there is none."""
    for name, was in spec.files.items():
        if _origin(name).code != was.code:
            return f"the design file {designs.find(name).__file__} has changed since the run"
    return ""


def texts_of(spec: DesignSpec) -> dict[str, str]:
    """Return file name -> text for the design files in a run's constants."""
    # a recording may come from anyone: names must not contain folders
    return {Path(entry.file).name: entry.text for entry in spec.files.values()}


def save(spec: DesignSpec, folder: str | Path) -> list[Path]:
    """Write a run's design files into a new or empty folder; return their paths. They are not run.

    All or none are written. Raises InputError if the run has none, one is not named like a Python module, the folder
    contains anything but these files, or nothing can be written.
    """
    if not texts_of(spec):
        raise InputError(f"--save-designs: the recording contains no design file; {'+'.join(spec.chain)} came with rfview "
                         "or with a package")
    for name in texts_of(spec):
        if not FILE_NAME.fullmatch(name):
            raise InputError(f"--save-designs: the recording contains a file {name!r}, which is not the name of a design "
                             "file; nothing was written")
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
        there = {path.name: path.is_file() and not path.is_symlink() and path.read_text("utf-8", "replace")
                 for path in place.iterdir()}
    except OSError as error:
        raise InputError(f"--save-designs: {error.filename or place} cannot be used ({error.strerror or error})") from None
    other = [name for name, text in there.items() if texts_of(spec).get(name) != text]
    if other:
        raise InputError(f"--save-designs: {place} already contains {other[0]!r}; name a new or an empty folder")
    for name, text in texts_of(spec).items():
        write(place / name, text)
    return [place / name for name in texts_of(spec)]
