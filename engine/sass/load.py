"""A cubin, or PTX compiled by ptxas, to the text of a listing: what takes NVIDIA's tools."""

from __future__ import annotations

from rfview.engine.sass.disassemble import disassemble
from rfview.engine.sass.tools import assemble
from rfview.engine.sass.write import text_of


def listing_of_cubin(raw: bytes, path: str, ptx: str = "") -> str:
    """Return the text of a cubin's listing. ptx: what it was compiled from. Raises SassError."""
    return text_of(disassemble(raw, path, ptx))


def listing_of_ptx(ptx: str, sm: int, path: str) -> str:
    """Return the text of the listing of a PTX module, compiled by ptxas for an architecture. Raises SassError."""
    return listing_of_cubin(assemble(ptx, sm, path), path, ptx)

