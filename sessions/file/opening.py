"""Open a session file, and save what can be saved of a damaged one; say what a file holds."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, BinaryIO

import msgpack

from rfview.engine.errors import InputError
from rfview.sessions.file import format, heap
from rfview.sessions.file.format import Damage
from rfview.sessions.timeline.replay import RecordedTimeline, lost_summary

# Files up to this size are checked whole when opened (about 1 GB/s); chunks of larger ones when they are reached.
CHECK_AT_OPEN_BYTES = 64 << 20


def is_recording(path: Path) -> bool:
    """Say whether a file begins like a session file."""
    try:
        with open(path, "rb") as file:
            return file.read(len(format.MAGIC)) == format.MAGIC
    except OSError:
        return False


def open_recording(path: str | Path, *, check: bool | None = None) -> RecordedTimeline:
    """Open a session file; damage that leaves something to show becomes warnings of the timeline.

    check: read and check the whole file now; None = files up to 64 MiB. Raises InputError when the file is missing, is
    no session file, has a newer format, or holds no whole chunk.
    """
    path = Path(path)
    try:
        file = open(path, "rb")  # noqa: SIM115 - kept open by the timeline
    except OSError as error:
        raise InputError(f"{path}: cannot open the recording ({error.strerror})") from None
    heap.keep_freed()
    try:
        return _open(path, file, check)
    except BaseException:
        file.close()
        raise


def _open(path: Path, file: BinaryIO, check: bool | None) -> RecordedTimeline:
    size = os.fstat(file.fileno()).st_size
    if file.read(len(format.MAGIC)) != format.MAGIC:
        raise InputError(f"{path}: not an rfview recording, or its first bytes are damaged")
    try:
        _, payload, begin = format.read_frame(file, len(format.MAGIC), format.HEAD)
    except Damage as error:
        raise InputError(f"{path}: the header is damaged or cut off ({error}); nothing can be shown") from None
    header = format.Header.unpack(payload, path)
    warnings: list[str] = []
    try:
        index_offset = format.read_trailer(file, size)
        _, payload, end = format.read_frame(file, index_offset, format.INDEX)
        if end + format.TRAILER.size != size:
            raise Damage("is not at the end of the file")
        index = format.Index.unpack(payload)
    except Damage as error:
        index, stopped = _scan(file, begin, size)
        last = index.first[-1] + index.num[-1] if index.first else 0
        warnings.append(f"{path}: the index is missing or damaged ({error}); rebuilt from the chunks, up to cycle "
                        f"{last:,}{stopped}")  # fmt: skip
    else:
        if check or (check is None and size <= CHECK_AT_OPEN_BYTES):
            _check_chunks(path, file, begin, index_offset, index, warnings)
    if not index.first:
        raise InputError(f"{path}: holds no whole chunk; nothing can be shown")
    return RecordedTimeline(path, file, header, index, warnings)


def _scan(file: BinaryIO, begin: int, size: int) -> tuple[format.Index, str]:
    """Rebuild the index from the chunks; return it and why the scan ended early, or ''."""
    index = format.Index()
    offset = begin
    stopped = ""
    while offset < size:
        try:
            tag, payload, behind = format.read_frame(file, offset)
            if tag == format.INDEX:
                break
            if tag == format.CHUNK:
                index.add(msgpack.unpackb(payload, strict_map_key=False), offset)
            if tag == format.SUMMARY:
                index.summary.append(offset)
        except (Damage, KeyError, TypeError, ValueError, msgpack.UnpackException) as error:
            stopped = f" (chunk {len(index.first)}: {error})"
            break
        offset = behind
    return index, stopped


def _check_chunks(path: Path, file: BinaryIO, begin: int, end: int, index: format.Index, warnings: list[str]) -> None:
    """Check every chunk's and summary's sum; shorten the session to the chunks before the first damaged one, and warn."""
    known = sorted([*((offset, format.CHUNK, number) for number, offset in enumerate(index.offset)),
                    *((offset, format.SUMMARY, number) for number, offset in enumerate(index.summary)),
                    (end, format.INDEX, 0)])  # fmt: skip
    offset = begin
    chunk = 0
    for place, (expected, tag, number) in enumerate(known):
        try:
            while offset < expected:
                offset = format.read_frame(file, offset)[2]
            if offset != expected:
                raise Damage("lies elsewhere than the index says")
            if tag != format.INDEX:
                offset = format.read_frame(file, offset, tag)[2]
            chunk += tag == format.CHUNK
        except Damage as error:
            if tag == format.SUMMARY and offset == expected:
                warnings.append(lost_summary(path, number, error))
                index.summary[number], offset = -1, known[place + 1][0]
                continue
            number = min(chunk, len(index.offset) - 1)
            index.cut(number)
            last = index.first[-1] + index.num[-1] if number else 0
            warnings.append(f"{path}: chunk {number} is damaged ({error}); the session ends at cycle {last:,}")
            return


def describe(path: str | Path) -> dict[str, Any]:
    """Return what a session file holds and whether it is whole, as plain data; the whole file is checked.

    Raises InputError as `open_recording` does.
    """
    from rfview.engine.plugin import origin

    timeline = open_recording(path, check=True)
    info, size = timeline.info, os.path.getsize(path)
    cycles = timeline.last - timeline.first
    starts = timeline.chunk_starts()
    total = timeline.totals(len(starts)) - timeline.totals(0)
    summary = timeline.end.get("summary") or {}
    facts = {
        "file": str(path),
        "format": timeline.header.number,
        "bytes": size,
        "kernel": info.get("kernel"),
        "launches": info.get("num_launches"),
        "design": info.get("design"),
        "design_files": list(origin.kept(info.get("design_spec", {}))),
        "scheduler": info.get("scheduler"),
        "preset": info.get("preset"),
        "seed": info.get("seed"),
        "engine_version": info.get("engine_version"),
        "first_cycle": timeline.first,
        "last_cycle": timeline.last,
        "cycles": cycles,
        "chunks": len(starts),
        "bytes_per_cycle": round(size / max(1, cycles), 2),
        "warp_instructions": int(total[0]),
        "finished": timeline.end.get("finished"),
        "verified": summary.get("verified"),
        "fault": timeline.fault,
        "warnings": timeline.warnings,
    }
    timeline.close()
    return facts
