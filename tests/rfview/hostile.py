"""A recording with right checksums in which every text, the file name included, has terminal control characters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgpack
from msgspec import Struct, structs

from rfview.sessions.file import framing
from rfview.sessions.file.header import Header
from rfview.sessions.file.index import Index

EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31m\x7f\u202e\u2066[red]a[/red]"
RECORDED = Path(__file__).resolve().parents[2] / "rfview" / "learn" / "recorded" / "first.rfs"
# keys whose values the program looks up in tables
NAMES = frozenset({"design", "chain", "scheduler", "dtype", "kind", "field", "op", "unit", "engine_version", "source_hash",
                   "glyph", "ascii", "family", "wait_class", "sm.mapping", "label"})
REQUIRED = ("issued", "no_cta", "finished")     # states without which a run is refused


def evil(data: Any) -> Any:
    """Return the data with EVIL appended to every text, except values of NAMES."""
    if isinstance(data, str):
        return data + EVIL
    if isinstance(data, dict):
        return {key: value if key in NAMES else evil(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [evil(value) for value in data]
    if isinstance(data, Struct):
        return structs.replace(data, **{name: getattr(data, name) if name in NAMES else evil(getattr(data, name))
                                       for name in data.__struct_fields__})
    return data


def clean(text: str) -> bool:
    """Say whether a text has only printable characters, line ends and tabs."""
    return all(char.isprintable() or char in "\n\t" for char in text)


def recording(folder: Path, name: str = f"a{EVIL.replace('/', '')}.rfs") -> Path:
    """Write the recording into a folder and return its path."""
    target = folder / name
    with open(RECORDED, "rb") as source, open(target, "wb", buffering=0) as out:
        old = Index.unpack(framing.read_frame(source, framing.read_trailer(source, RECORDED.stat().st_size)).payload)
        index, before, offset = Index(), (0, 0), len(framing.MAGIC)
        framing.write_all(out, framing.MAGIC)
        while True:
            frame = framing.read_frame(source, offset)
            offset = frame.end
            if frame.tag == framing.INDEX:
                break
            if frame.tag == framing.HEAD:
                header = Header.unpack(bytes(frame.payload), RECORDED)
                header.info = structs.replace(evil(header.info), stalls=[
                    stall if stall.name in REQUIRED else evil(stall) for stall in header.info.stalls])
                before = 0, framing.write_frame(out, framing.HEAD, header.pack())[1]
            elif frame.tag == framing.CHUNK:
                head, packed = framing.ChunkHead.split(frame.payload)
                chunk = msgpack.unpackb(packed, strict_map_key=False)
                chunk["printed"] = [[head.first, "said " + EVIL]]
                head = framing.ChunkHead.following(head.number, head.num, head.first, before)
                place, crc = framing.write_frame(out, framing.CHUNK, head.pack(), msgpack.packb(chunk))
                before = head.chain, crc
                index.add(head, chunk, place)
            else:
                index.zones.append(framing.write_frame(out, frame.tag, bytes(frame.payload))[0])
        index.totals, index.end = old.totals, evil(old.end)
        framing.write_trailer(out, framing.write_frame(out, framing.INDEX, index.pack())[0])
    return target
