"""Loads a module: of PTX, which ptxas may compile to machine code; a cubin; or a listing of machine code."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from rfview.engine import files, ptx
from rfview.engine.compilation import ISAS, PTX, Compilation
from rfview.engine.errors import PtxError, SassError
from rfview.engine.program import Module
from rfview.engine.sass.cubin import is_cubin
from rfview.engine.sass.listing import digest, is_listing

SUFFIX = ".sass"
LISTING_LINES = 20      # within which a listing says what it was made of


def decode_module(text: str, path: str, *, how: Compilation = Compilation()) -> Module:
    """Return the module of a PTX text or of a listing's; path: for errors. Raises PtxError or SassError."""
    if how.isa == PTX and not is_listing(text):
        return ptx.decode_module(text, path, how=how)
    from rfview.engine.sass.module import module_of_listing     # start-up, as in the functions below

    if is_listing(text):
        return module_of_listing(text, path)
    return module_of_listing(_compiled(text, how.isa, path), path)


def load_module(path: str | Path, *, how: Compilation = Compilation()) -> Module:
    """Read a file of PTX, a cubin or a listing. Raises PtxError or SassError.

    PTX for which machine code is asked for is compiled by ptxas, unless its listing lies beside it: for k.ptx and sm_86,
    k.sm_86.sass, or with how.takes_older k.sm_80.sass, if that was made of the same text.
    """
    path = Path(path)
    try:
        raw = files.read(path)
    except OSError as problem:
        raise PtxError(f"{path}: cannot read PTX: {problem.strerror or problem}") from None
    if is_cubin(raw):
        return decode_module(_disassembled(raw, str(path)), str(path))
    if is_listing(raw[:64].decode("utf-8", "replace")):
        return decode_module(raw.decode("utf-8", "replace"), str(path))
    if how.isa == PTX:
        return ptx.load_module(path, how=how)
    text = ptx.text_of(raw, path)
    beside = next(filter(None, (listing_beside(path, isa, text) for isa in _candidates(how))), None)
    return decode_module(text if beside is None else beside, str(path), how=how)


def check_tools(how: Compilation) -> None:
    """Raise SassError if PTX is to be compiled to machine code and ptxas or nvdisasm is missing."""
    if how.isa != PTX:
        from rfview.engine.sass.tools import WHEELS, tool       # start-up

        for name in WHEELS:
            tool(name)


def _candidates(how: Compilation) -> list[str]:
    """Return the architectures whose listings will do, the best first."""
    generation = how.isa[:-1]       # sm_8 of sm_86
    older = [isa for isa in reversed(ISAS) if isa.startswith(generation) and isa < how.isa and len(isa) == len(how.isa)]
    return [how.isa, *(older if how.takes_older else ())]


def listing_beside(path: Path, isa: str, text: str) -> str | None:
    """Return the listing that lies beside a PTX file, if it was made of this text."""
    try:
        listing = files.read_text(path.with_suffix(f".{isa}{SUFFIX}"))
    except (OSError, UnicodeDecodeError):
        return None
    head = listing.split("\n", LISTING_LINES)[:LISTING_LINES]
    return listing if is_listing(listing) and f".made_of {digest(text)}" in head else None


@lru_cache(maxsize=8)
def _compiled(text: str, isa: str, path: str) -> str:
    """Return the listing of a PTX text; tools take tenths of seconds, and a command may need the same again."""
    from rfview.engine.sass import load     # start-up

    if not isa.startswith("sm_"):
        raise SassError(f"{path}: expected an architecture such as sm_80, got {isa}")
    return load.listing_of_ptx(text, int(isa.removeprefix("sm_")), path)


@lru_cache(maxsize=8)
def _disassembled(raw: bytes, path: str) -> str:
    from rfview.engine.sass import load     # start-up

    return load.listing_of_cubin(raw, path)
