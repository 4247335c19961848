"""Which design file a run came from, and whether it is at hand, as a recording or recipe wants to know later.

A run's `design_spec` holds under "files", for each design of its chain that is a file of somebody's own, the file's name
(no folder: the same run gives the same recording anywhere) and a hash of its code.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from engine import designs
from engine.designs import files
from engine.errors import InputError


def of_chain(chain: Iterable[str]) -> dict[str, Any]:
    """Return {"files": {name: {"file", "code"}}} of the designs in a chain that do not come with rfview, {} without any."""
    own = {name: _origin(name) for name in chain if name not in designs.BUILT_IN}
    return {"files": own} if own else {}


def _origin(name: str) -> dict[str, str]:
    path = Path(str(designs.find(name).__file__))
    code = designs.compiled_part(path, path.read_text(encoding="utf-8"))
    return {"file": path.name, "code": hashlib.sha256(code.encode()).hexdigest()[:16]}


def missing(spec: Mapping[str, Any], for_what: str) -> str:
    """Return a sentence on the first design of a run that is not at hand, "" where all are; for_what: "its energy"."""
    for name in spec.get("chain", ()):
        try:
            designs.find(name)
        except InputError as error:
            if name not in spec.get("files", {}):
                return f"{for_what} needs the design: {error}"
            file = spec["files"][name]["file"]
            return (f"{for_what} needs the design file {file}, with which this was run: "
                    f"name it, as in {files.ENVIRONMENT}=./{file}")  # fmt: skip
    return ""


def require(spec: Mapping[str, Any], for_what: str) -> None:
    """Raise InputError where `missing` has something to say."""
    if said := missing(spec, for_what):
        raise InputError(said)


def edited(spec: Mapping[str, Any]) -> str:
    """Return a sentence on the first design file whose code is another one than in the run, "" where there is none."""
    for name, was in spec.get("files", {}).items():
        if _origin(name)["code"] != was["code"]:
            return f"the design file {designs.find(name).__file__} is not as it was then"
    return ""
