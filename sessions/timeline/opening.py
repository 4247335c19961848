"""Open a session file, recover what is possible from a damaged one, and describe a file's contents."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any, BinaryIO

from rfview.engine import files
from rfview.engine.compilation import words_of_run
from rfview.engine.errors import InputError
from rfview.engine.plugin import origin
from rfview.sessions.codec import limits, streams
from rfview.sessions.file import framing, keyframe
from rfview.sessions.file.header import FORMAT, Header
from rfview.sessions.file.index import Index
from rfview.sessions.file.framing import Damage
from rfview.sessions.file.writer import partials
from rfview.sessions.guard import consistent
from rfview.sessions.timeline.replay import RecordedTimeline, lost_zone_map

# Files up to this size are checked completely when opened (about 1 GB/s); chunks of larger ones when they are read.
CHECK_AT_OPEN_BYTES = 64 << 20


def is_recording(path: Path) -> bool:
    """Return whether a file begins like a session file, including those from before format 1."""
    try:
        with files.opened(path) as file:
            return file.read(len(framing.MAGIC)) in (framing.MAGIC, framing.OLD_MAGIC)
    except OSError:
        return False


def open_recording(path: str | Path, *, check: bool | None = None) -> RecordedTimeline:
    """Open a session file; damage that leaves something to show becomes a warning of the timeline.

    check: whether to read and check the whole file now; None = for files up to 64 MiB. Raises InputError if the file
    is missing, is not a session file, has a newer format, or has no complete chunk. The partial file of a run
    that did not end is opened by the name that the recording would have had, with a warning.
    """
    path, warnings = Path(path), []
    try:
        file = files.opened(path)      # kept open by the timeline
    except OSError as error:
        left = partials(path) if isinstance(error, FileNotFoundError) else []
        if not left:
            raise InputError(f"{path}: cannot open the recording ({error.strerror})") from None
        others = f"; older ones: {', '.join(one.name for one in left[1:])}" if left[1:] else ""
        warnings.append(f"{path}: does not exist; this is {left[0].name}, left by a run that did not end{others}")
        path = left[0]
        file = files.opened(path)
    try:
        timeline = _open(path, file, check)
    except OSError as error:
        file.close()
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
    except InputError as error:
        file.close()
        if path.name in str(error):
            raise
        raise InputError(f"{path}: {error}") from None      # from looking up fields, which does not know the file
    except BaseException:
        file.close()
        raise
    timeline.warnings[:0] = warnings
    return timeline


def _open(path: Path, file: BinaryIO, check: bool | None) -> RecordedTimeline:
    size = os.fstat(file.fileno()).st_size
    magic = file.read(len(framing.MAGIC))
    if magic == framing.OLD_MAGIC:
        raise InputError(f"{path}: a recording of an earlier rfview, from before session format {FORMAT}; "
                         "record the run again")
    if magic != framing.MAGIC:
        raise InputError(f"{path}: not an rfview recording, or its first bytes are damaged")
    try:
        head = framing.read_frame(file, len(framing.MAGIC), framing.HEAD)
    except Damage as error:
        raise InputError(f"{path}: the header is damaged or cut off ({error}); nothing can be shown") from None
    header = Header.unpack(head.payload, path)
    walk = Walk(path, file, head, header)
    checks = size <= CHECK_AT_OPEN_BYTES if check is None else check
    try:
        index_offset = framing.read_trailer(file, size)
        found = framing.read_frame(file, index_offset, framing.INDEX)
        if found.end + framing.TRAILER.size != size:
            raise Damage("is not at the end of the file")
        index = Index.unpack(found.payload)
    except Damage as error:
        index = walk.rebuilt(trusts=not checks)
        walk.warnings.insert(0, f"{path}: the index is missing or damaged ({error}); rebuilt from the chunks, up to cycle "
                                f"{index.last:,}{walk.stopped}")
        base = walk.base(index)
    else:
        base = walk.base(index)
        if checks:
            walk.check(index, index_offset)
    if not index.first and not index.key_cycle:
        raise InputError(f"{path}: contains no complete chunk; nothing can be shown")
    try:
        return RecordedTimeline(path, file, header, index, walk.warnings, base)
    except ValueError as error:         # more cycles than there can be
        raise InputError(f"{path}: cannot be opened: {error}") from None


class Walk:
    """Walks through a file frame by frame, starting after the header, and checks them.

    head: the HEAD frame. header: what it says. stopped: why `rebuilt` ended early, or ''. warnings: what was found.
    """

    def __init__(self, path: Path, file: BinaryIO, head: framing.Frame, header: Header):
        self.path, self.file, self.head, self.header = path, file, head, header
        self.stopped = ""
        self.warnings: list[str] = []

    def base(self, index: Index) -> Header:
        """Return the header with the values that the chunks of an index begin with; without these, drop the chunks."""
        try:
            if index.base:
                return self.header.based(framing.read_frame(self.file, index.base, framing.BASE).payload)
        except Damage as error:
            index.without_chunks()
            self.warnings.append(f"{self.path}: what its chunks begin with is damaged ({error}); all cycles are simulated "
                                 "again")
        return self.header

    def _begin(self, index: Index) -> tuple[int, tuple[int, int]]:
        """Return the first cycle of the first chunk of an index, and what its head follows; raises Damage."""
        if not index.base:
            return self.header.first, (0, self.head.crc)
        frame = framing.read_frame(self.file, index.base, framing.BASE)
        return self.header.based(frame.payload).first, (0, frame.crc)

    def rebuilt(self, trusts: bool = False) -> Index:
        """Return an index of the chunks up to the first one that is damaged, missing or out of order.

        trusts: whether to take what the parts of the index say that were written during the run, without reading its chunks.
        """
        index, offset, before = (self._parts() if trusts else None) or (Index(), self.head.end, (0, self.head.crc))
        first = self._begin(index)[0]
        try:
            while True:
                tag, payload, end, crc = framing.read_frame(self.file, offset)
                if tag == framing.INDEX:
                    break
                if tag == framing.CHUNK:
                    head, content = framing.ChunkHead.split(payload)
                    head.check(len(index.first), index.chunks_end if index.first else first, before)
                    index.add(head, limits.unpacked(content, "a chunk", limits.ARRAYS), offset)
                    before = head.chain, crc
                if tag == framing.BASE and not index.first:
                    index.base = offset
                    first, before = self._begin(index)
                if tag == framing.ZONE:
                    index.zones.append(offset)
                if tag == framing.KEYFRAME:
                    self._add_keyframe(index, payload, offset)
                offset = end
        except (Damage, *streams.DAMAGE) as error:
            if offset != os.fstat(self.file.fileno()).st_size:
                self.stopped = f" (chunk {len(index.first)}: {error})"
        return index

    def _add_keyframe(self, index: Index, payload: bytes, offset: int) -> None:
        """Add a keyframe's frame to an index; raises Damage."""
        _, number, cycle, packed = keyframe.split(payload)
        body = keyframe.body_of(packed)
        if number != len(index.key_cycle) + 1 or cycle <= max([self.header.first, *index.key_cycle[-1:]]):
            raise Damage(f"keyframe {number} of cycle {cycle:,} is not in its place")
        index.add_keyframe(cycle, body.totals, body.printed, offset)

    def _parts(self) -> tuple[Index, int, tuple[int, int]] | None:
        """Return the index up to its last part, that part's end, and chain and CRC of its last chunk; None if unusable."""
        try:
            frame = framing.last_frame(self.file, framing.PART)
            if frame is None:
                return None
            end, parts = frame.end, [Index.unpack(frame.payload, is_part=True)]
            most = end // framing.FRAME.size - len(parts[0].first)      # a chunk has at least a frame
            while before := parts[-1].before:
                at = frame.end - len(frame.payload) - framing.FRAME.size
                if before >= at or most < 0:
                    raise Damage("a part of the index has no place in the file")
                frame = framing.read_frame(self.file, before, framing.PART)
                parts.append(Index.unpack(frame.payload, is_part=True))
                most -= len(parts[-1].first) + len(parts[-1].key_cycle)
            index = Index.joined(parts[::-1])
            first, follows = self._begin(index)
            if not index.first:
                return index, end, follows
            if index.first[0] != first:
                raise Damage("the index begins elsewhere than the file")
            last = framing.read_frame(self.file, index.offset[-1], framing.CHUNK)
            head = framing.ChunkHead.split(last.payload)[0]
            index.check(len(index.first) - 1, head)
        except Damage:
            return None
        return index, end, (head.chain, last.crc)

    def _skipped(self, offset: int, expected: int) -> int:
        """Return the offset after the frames before `expected` that the index does not name; damage in them is no loss."""
        while offset < expected:
            try:
                offset = framing.read_frame(self.file, offset).end
            except Damage as error:
                self.warnings.append(f"{self.path}: damaged at byte {offset:,} ({error}), where there is nothing to show")
                return expected
        return offset

    def check(self, index: Index, end: int) -> None:
        """Check every frame; cut the index before the first chunk that is damaged or in a wrong place, and warn.

        end: offset of the index. A damaged zone map is removed.
        """
        known = sorted([*((offset, framing.CHUNK, number) for number, offset in enumerate(index.offset)),
                        *((offset, framing.ZONE, number) for number, offset in enumerate(index.zones)),
                        *((offset, framing.KEYFRAME, number) for number, offset in enumerate(index.key_offset)),
                        (end, framing.INDEX, 0)])
        offset, chunk, before = self.head.end, 0, self._begin(index)[1]
        for place, (expected, tag, number) in enumerate(known):
            try:
                offset = self._skipped(offset, expected)
                if offset != expected:
                    raise Damage("is not where the index places it")
                if tag != framing.INDEX:
                    _, payload, offset, crc = framing.read_frame(self.file, offset, tag)
                if tag == framing.CHUNK:
                    head = framing.ChunkHead.split(payload)[0]
                    index.check(number, head)
                    head.check(number, head.first, before)
                    chunk, before = chunk + 1, (head.chain, crc)
            except Damage as error:
                following = known[place + 1][0] if place + 1 < len(known) else expected
                if tag == framing.ZONE and offset == expected:
                    self.warnings.append(lost_zone_map(self.path, number, error))
                    index.zones[number], offset = -1, following
                    continue
                if tag == framing.KEYFRAME and offset == expected:
                    self.warnings.append(f"{self.path}: the keyframe of cycle {index.key_cycle[number]:,} is damaged "
                                         f"({error}); cycles after it are simulated from an earlier one")
                    offset = following
                    continue
                number = max(0, min(chunk, len(index.offset) - 1))
                index.cut(number)
                self.warnings.append(f"{self.path}: chunk {number} is damaged ({error}); the session ends at cycle "
                                     f"{index.last:,}")
                return


def describe(path: str | Path) -> dict[str, Any]:
    """Return the contents and condition of a session file as plain data; the whole file is checked.

    Raises InputError as `open_recording` does.
    """
    timeline = open_recording(path, check=True)
    try:
        with consistent(timeline):
            return _facts(timeline)
    finally:
        timeline.close()


def hashed(what: Any) -> str:
    """Return a short hash of plain data: the same for the same text, whatever the machine and version."""
    return hashlib.sha256(json.dumps(what).encode()).hexdigest()[:16]


def _facts(timeline: RecordedTimeline) -> dict[str, Any]:
    """Return the same for an open recording."""
    info, size = timeline.info, os.path.getsize(timeline.path)      # of a partial file if that was opened
    cycles = timeline.last - timeline.first
    starts = timeline.chunk_starts()
    total = timeline.totals(len(starts)) - timeline.totals(0)
    return {
        "file": str(timeline.path),
        "format": timeline.header.number,
        "bytes": size,
        "kernel": info.kernel,
        "launches": info.num_launches,
        "design": info.design,
        "design_files": list(origin.texts_of(info.design_spec)),
        "scheduler": info.scheduler,
        "preset": info.preset,
        "isa": info.isa,
        "compilation": words_of_run(info.parameters) or "off",
        "compilation_notes": info.compile_notes,
        "registers_per_thread": info.registers_per_thread,
        "register_limit": info.register_limit,
        "spilled_words": info.spilled_words,
        "setting_notes": info.setting_notes,
        "seed": info.seed,
        "engine_version": info.engine_version,
        "source_hash": info.source_hash,
        "configuration_hash": hashed(sorted((name, str(value)) for name, value in info.parameters.items())),
        "program_hash": hashed([text.text for text in info.ptx]),
        "first_cycle": timeline.first,
        "last_cycle": timeline.last,
        "cycles": cycles,
        "chunks": timeline.stored_chunks,
        "chunks_begin": timeline.stored_from,
        "chunks_end": timeline.stored_until,
        "keyframes": len(timeline.keyframe_cycles),
        "bytes_per_cycle": round(size / max(1, cycles), 2),
        "warp_instructions": int(total[timeline.issued]),
        "finished": timeline.end.finished,
        "verified": timeline.end.verified,
        "fault": timeline.fault,
        "warnings": timeline.warnings,
    }
