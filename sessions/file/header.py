"""The header of a session file: the run's constants, and the state at the first cycle."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import msgpack
import msgspec
import numpy as np

from rfview.engine.errors import InputError
from rfview.engine.info import RunInfo
from rfview.sessions.codec import limits, streams
from rfview.sessions.file import run_info
from rfview.sessions.file.framing import Damage
from rfview.sessions.layout import Layout

FORMAT, LAYOUT = 1, 5
# arrays of the header, one blob each
VALUES = ("state", "memory", "rows")
HEADER_LEVEL = 3


def dtype_to_json(dtype: np.dtype) -> Any:
    """Return a dtype as plain data: a format string, or a map of itemsize and fields."""
    if dtype.names is None:
        return dtype.str
    fields = []
    for name in dtype.names:
        inner, offset = dtype.fields[name][:2]  # type: ignore[index]
        entry: dict[str, Any] = {"name": name, "offset": offset, "format": dtype_to_json(inner.base)}
        if inner.shape:
            entry["shape"] = list(inner.shape)
        fields.append(entry)
    return {"itemsize": dtype.itemsize, "fields": fields}


def dtype_from_json(stored: Any) -> np.dtype:
    """Return the dtype described by the data from `dtype_to_json`."""
    if isinstance(stored, str):
        dtype = np.dtype(stored)
        if dtype.kind not in "uif":
            raise ValueError(f"a field cannot be {stored!r}")
        return dtype
    names = [entry["name"] for entry in stored["fields"]]
    formats = [(dtype_from_json(entry["format"]), tuple(entry.get("shape", ()))) for entry in stored["fields"]]
    offsets = [entry["offset"] for entry in stored["fields"]]
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": stored["itemsize"]})


@dataclass
class Header:
    """The run's constants in a session file, and its format number.

    state, memory: (words,) u4, rows: (n, 32) u4, all at cycle `first`. inputs: what memory is that the file does not hold;
    `memory` then has its size only, and is 0.
    """

    layout: Layout
    info: RunInfo
    first: int
    state: np.ndarray
    memory: np.ndarray
    rows: np.ndarray
    chunk_cycles: int
    number: int = FORMAT
    inputs: run_info.Inputs | None = None

    def pack(self) -> bytes:
        """Return the HEAD payload."""
        body = {
            "sm_dtype": dtype_to_json(self.layout.sm_dtype),
            "rf_dtype": dtype_to_json(self.layout.rf_dtype),
            "info": msgspec.to_builtins(self.info),
            "first": self.first,
            "chunk_cycles": self.chunk_cycles,
            **({} if self.inputs is None else {"inputs": msgspec.to_builtins(self.inputs)}),
        }
        values = self._values()
        if self.inputs is not None:
            del values["memory"]
        packed = streams.compress_map(body, HEADER_LEVEL)
        return msgpack.packb({"format": FORMAT, "layout": LAYOUT, "body": packed, **values})

    def _values(self) -> dict[str, bytes]:
        return {name: streams.compress(np.ascontiguousarray(getattr(self, name), "<u4").data) for name in VALUES}

    def pack_base(self) -> bytes:
        """Return the BASE payload: only `first` and the values there."""
        return msgpack.packb({"first": self.first, **self._values()})

    def based(self, payload: bytes) -> Header:
        """Return the header with the values of a BASE payload; raises Damage."""
        try:
            outer = limits.unpacked(payload, "a base", limits.ARRAYS)
            first = run_info.typed(outer["first"], run_info.Cycle, "its cycle")
            values: dict[str, Any] = {name: np.frombuffer(streams.decompress(outer[name], limits.ARRAYS), "<u4")
                                      for name in VALUES}
            if any(array.size != getattr(self, name).size for name, array in values.items()):
                raise ValueError("its values are not those of this machine")
        except (*streams.DAMAGE, InputError) as error:
            raise Damage(f"cannot be read ({streams.reason(error)})") from None
        return replace(self, first=first, inputs=None, **{**values, "rows": values["rows"].reshape(-1, 32)})

    @staticmethod
    def unpack(payload: bytes, path: Any) -> Header:
        """Read the HEAD payload; raises InputError for an unknown format or an invalid header."""
        try:
            outer = limits.unpacked(payload, "the header", limits.ARRAYS)
            number = outer["format"]
            if number != FORMAT:
                raise InputError(f"{path}: session format {number}, this rfview reads format {FORMAT}; update it")
            if outer.get("layout") != LAYOUT:
                raise InputError(f"{path}: a recording in layout {outer.get('layout', 1)} of session format {FORMAT}, this "
                                 f"rfview reads layout {LAYOUT}; record the run again")
            body = run_info.typed(streams.decompress_map(outer["body"], f"{path}: header"), run_info.HeadBody, "it")
            layout = Layout(dtype_from_json(body.sm_dtype), dtype_from_json(body.rf_dtype))
            if layout.sm_dtype.itemsize % 4 or layout.rf_dtype.itemsize % 4:
                raise ValueError("its states are not made of whole words")
            named = 0 if body.inputs is None else 4 * body.inputs.words
            here = VALUES if body.inputs is None else [name for name in VALUES if name != "memory"]
            limits.allow(sum((streams.size_of(outer[name]) for name in here), named), limits.ARRAYS,
                         "state, memory and registers")
            values: dict[str, np.ndarray] = {
                name: np.frombuffer(streams.decompress(outer[name], limits.ARRAYS), "<u4") for name in here
            }
            if body.inputs is not None:
                values["memory"] = np.broadcast_to(np.uint32(0), body.inputs.words)
            if len(values["state"]) != layout.num_words:
                raise ValueError(f"its first state has {len(values['state'])} words, expected {layout.num_words}")
            values["rows"] = values["rows"].reshape(-1, 32)
            info = run_info.run_info(body.info, layout, len(values["rows"]), len(values["memory"]))
            return Header(layout, info, body.first, **values, chunk_cycles=body.chunk_cycles, number=number,
                          inputs=body.inputs)
        except streams.DAMAGE as error:
            raise InputError(f"{path}: the header cannot be used ({streams.reason(error)}); record the run again") from None
