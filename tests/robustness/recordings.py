"""Fuzzes recordings: bytes changed without new checksums, whole frames, and contents with recomputed checksums.

A case is one file, which is opened and queried. If its checksums were not recomputed, every state shown must be the true
one, or a warning or error says what is wrong. With correct checksums it is a different recording; it must be read within
the limits, or refused with one error.
"""

from __future__ import annotations

import contextlib
import functools
import io
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgpack
import zstandard

from rfview.app import render_text
from rfview.engine import kernels
from rfview.engine.errors import InputError, RfviewError
from rfview.engine.launch import load_launch_file
from rfview.engine.simulator import Simulator
from rfview.engine.snapshot import Snapshot
from rfview.sessions import Session
from rfview.sessions.codec import limits
from rfview.sessions.commands.table import execute
from rfview.sessions.file import framing, keyframe
from rfview.sessions.file.index import Index
from rfview.sessions.guard import consistent
from rfview.sessions.file.writer import Budget, record
from rfview.sessions.timeline.opening import describe, open_recording
from tests.robustness.found import keep

SHORT = Path(__file__).resolve().parents[1] / "sessions" / "golden" / "format1.rfs"
SHIPPED = Path(__file__).resolve().parents[2] / "sessions" / "recorded" / "first.rfs"
SLOW_S = 10.0
# for sizes and offsets: zero, boundary values and numbers that are too large
NUMBERS = (0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 127, 128, 255, 256, 65535, 65536, (1 << 26) + 1, (1 << 31) - 1, 1 << 31,
           (1 << 32) - 1)


@functools.cache
def samples() -> tuple[tuple[bytes, dict[int, Snapshot]], ...]:
    """Return the files to change, with their true states.

    A short one of ten chunks, the bundled one, one with keyframes, and one whose chunks begin with a BASE frame, in the run.
    """
    found, folder = [], tempfile.TemporaryDirectory()
    keyed, part = (Path(folder.name) / name for name in ("keyed.rfs", "part.rfs"))
    spec = load_launch_file(kernels.path("hotspot"))
    record(Simulator(spec), keyed, budget=Budget(cycles=4096))
    record(Simulator(spec), part, budget=Budget(first=2048, last=4096))
    for path in (SHORT, SHIPPED, keyed, part):
        with closing(open_recording(path)) as timeline:
            truth = {}
            for cycle in range(timeline.first, timeline.last + 1, max(1, (timeline.last - timeline.first) // 60)):
                truth[cycle] = timeline.at(cycle)
                len(truth[cycle].rows), len(truth[cycle].memory)
            found.append((path.read_bytes(), truth))
    folder.cleanup()
    return tuple(found)


def frames_of(data: bytes) -> list[tuple[bytes, bytes]]:
    """Return (tag, payload) of the frames of a complete file."""
    file, at, found = io.BytesIO(data), len(framing.MAGIC), []
    while at < len(data) - framing.TRAILER.size:
        frame = framing.read_frame(file, at)
        found.append((frame.tag, frame.payload))
        at = frame.end
    return found


def changed_bytes(chance: random.Random, data: bytes) -> bytes:
    """Return a file with a few bytes changed, deleted, inserted or overwritten."""
    out = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 2, 4, 16))):
        at = chance.randrange(len(out))
        how = chance.randrange(5)
        if how == 0:
            out[at] ^= 1 << chance.randrange(8)
        elif how == 1:
            out[at : at + 4] = chance.choice(NUMBERS).to_bytes(4, "little")
        elif how == 2:
            del out[at : at + chance.choice((1, 4, 100, 10_000))]
        elif how == 3:
            out[at:at] = chance.randbytes(chance.choice((1, 8, 200)))
        else:
            other = chance.randrange(len(out))
            out[at : at + 64] = out[other : other + 64]
        if len(out) < 64:
            break
    return bytes(out)


def changed_frames(chance: random.Random, data: bytes) -> bytes:
    """Return a file of intact frames, some of which are dropped, doubled or swapped, or the index is missing."""
    frames = frames_of(data)
    for _ in range(chance.choice((1, 1, 2, 3))):
        at, other = chance.randrange(1, len(frames)), chance.randrange(1, len(frames))
        how = chance.randrange(4)
        if how == 0 and len(frames) > 2:
            del frames[at]
        elif how == 1:
            frames.insert(other, frames[at])
        elif how == 2:
            frames[at], frames[other] = frames[other], frames[at]
        else:
            frames = [frame for frame in frames if frame[0] != framing.INDEX]
            frames = frames if len(frames) > 1 else frames_of(data)
    out = io.BytesIO()
    out.write(framing.MAGIC)
    offset = 0
    for tag, payload in frames:
        offset, _ = framing.write_frame(out, tag, payload)
    if frames[-1][0] == framing.INDEX:
        framing.write_trailer(out, offset)
    return out.getvalue()


def rebuilt(chance: random.Random, data: bytes) -> bytes:
    """Return a file with changed contents, but correct checksums, consecutive chunks and a matching index."""
    frames = frames_of(data)
    chunks = [number for number, (tag, _) in enumerate(frames) if tag in (framing.CHUNK, framing.BASE)]
    chosen = {chance.choice((0, len(frames) - 1, *chunks, *chunks)) for _ in range(chance.choice((1, 1, 2)))}
    out, index, before = io.BytesIO(), Index(), (0, 0)
    out.write(framing.MAGIC)
    for number, (tag, payload) in enumerate(frames):
        if tag == framing.INDEX:
            old = Index.unpack(payload)
            index.totals.append(old.totals[-1])
            index.end = old.end
            body = index.pack()
            if number in chosen:
                body = changed_map(chance, body)
            framing.write_trailer(out, framing.write_frame(out, tag, body)[0])
        elif tag == framing.CHUNK:
            head, content = framing.ChunkHead.split(payload)
            packed = bytes(content)
            if number in chosen:
                packed = changed_map(chance, packed)
                head = head if chance.random() < 0.8 else head.__class__(
                    head.number, max(1, min(limits.MAX_CYCLES, chance.choice(NUMBERS))), head.first, head.chain)
            first = index.last if index.first else head.first
            head = framing.ChunkHead.following(len(index.first), head.num, first, before)
            offset, crc = framing.write_frame(out, tag, head.pack(), packed)
            before = head.chain, crc
            try:
                index.add(head, msgpack.unpackb(content), offset)
            except (KeyError, TypeError, ValueError):
                break
        else:
            if number in chosen:
                payload = changed_map(chance, payload)
            offset, crc = framing.write_frame(out, tag, payload)
            if tag in (framing.HEAD, framing.BASE):
                before = 0, crc
                index.base = offset if tag == framing.BASE else 0
            elif tag == framing.KEYFRAME:
                _, _, cycle, content = keyframe.split(payload)
                index.add_keyframe(cycle, keyframe.body_of(content).totals, [], offset)
            elif tag == framing.ZONE:
                index.zones.append(offset)
    return out.getvalue()


def changed_map(chance: random.Random, packed: bytes) -> bytes:
    """Return a msgpack value with changes inside; blobs are decompressed, changed and compressed again."""
    content = msgpack.unpackb(packed, strict_map_key=False)
    for _ in range(chance.choice((1, 1, 2, 4))):
        content = _changed(chance, content, 0)
    return msgpack.packb(content, default=str)


def _changed(chance: random.Random, value: Any, depth: int) -> Any:
    if isinstance(value, dict) and value and depth < 8 and chance.random() < 0.95:
        key = chance.choice(list(value))
        if chance.random() < 0.08:
            return {name: inner for name, inner in value.items() if name != key}
        return {**value, key: _changed(chance, value[key], depth + 1)}
    if isinstance(value, list) and value and depth < 8 and chance.random() < 0.9:
        at = chance.randrange(len(value))
        how = chance.random()
        if how < 0.1:
            return value[:at]
        if how < 0.2:
            return value + value[: at + 1]
        return [*value[:at], _changed(chance, value[at], depth + 1), *value[at + 1 :]]
    if isinstance(value, bytes):
        return _changed_blob(chance, value)
    if isinstance(value, str) and chance.random() < 0.5:
        return chance.choice((value[:-1], value * 2, "<f8", "<u8", "\x1b[2J", "O8", "x" * 10_000, ""))
    return chance.choice((None, True, -1, 0, 1.5, float("nan"), "", "text", b"", [], {}, [[]] * 3, *NUMBERS, (1 << 63) - 1,
                          value, _deep()))


def _deep() -> Any:
    value: Any = 0
    for _ in range(300):
        value = [value]
    return value


def _changed_blob(chance: random.Random, blob: bytes) -> bytes:
    try:
        inside = bytearray(zstandard.ZstdDecompressor().decompress(blob, max_output_size=1 << 26))
    except zstandard.ZstdError:     # a number list's planes
        return changed_bytes(chance, blob + bytes(64))[: len(blob) + chance.choice((0, 0, 1, -1))]
    how = chance.random()
    if how < 0.02:
        return zstandard.ZstdCompressor(1).compress(bytes(chance.choice((1 << 26, 1 << 28, (1 << 28) + 1))))
    try:
        if how < 0.4:
            return zstandard.ZstdCompressor(1).compress(changed_map(chance, bytes(inside)))
    except (TypeError, ValueError, msgpack.UnpackException):
        pass
    for _ in range(chance.choice((1, 1, 2, 8))):
        # the first words contain counts
        at = 4 * chance.randrange(max(1, min(len(inside) // 4, chance.choice((8, 24, len(inside) // 4)))))
        if chance.random() < 0.8:
            inside[at : at + 4] = chance.choice(NUMBERS).to_bytes(4, "little")
        elif inside:
            inside[at % len(inside)] ^= 1 << chance.randrange(8)
        if chance.random() < 0.1:
            del inside[chance.randrange(len(inside) + 1) :]
    return zstandard.ZstdCompressor(1).compress(bytes(inside))


KINDS: dict[str, Callable[[random.Random, bytes], bytes]] = {
    "bytes": changed_bytes, "frames": changed_frames, "contents": rebuilt,
}


def questions(chance: random.Random) -> list[Callable[[Session], Any]]:
    """Return a few queries for a session."""
    def place(session: Session) -> int:
        timeline = session.timeline
        return chance.randint(timeline.first, max(timeline.first, timeline.last))

    warp, register = chance.randrange(8), chance.randrange(4)
    lines = ("info warps", "info stalls", "info registers 1", "info banks", f"print w{warp}.R1", f"trace w{warp}.pc", "info time",
             f"last w{warp}.R{register}", f"until w{warp}.pc == {chance.randrange(16)}", f"find w{warp}.R1[3] > 1000",
             f"rf w{warp}.R1[3] > {chance.randrange(1 << 20)}", "next stall", "next rf", f"why {warp}", "stats", "goto 50%",
             f"watch w{warp}.state", "c", "rc", "info launches", "info memory a", "info program", "follow", "next issue 3")

    def asked(session: Session) -> None:
        for line in chance.sample(lines, 3):
            with contextlib.suppress(RfviewError):
                execute(session, line)

    every: list[Callable[[Session], Any]] = [
        lambda session: session.timeline.states(session.timeline.first, session.timeline.last + 1),
        lambda session: session.overview(16), lambda session: session.timeline.printed(place(session)),
        lambda session: session.timeline.memory_column(chance.randrange(500), session.timeline.first, session.timeline.last),
        lambda session: (session.goto(place(session)), render_text(session, chance.choice((80, 120, 200)), 40)),
        lambda session: session.timeline.stall_totals(place(session)), asked, asked, asked,
    ]
    return chance.sample(every, 3)


def tried(path: Path, kind: str, truth: dict[int, Snapshot], chance: random.Random) -> tuple[str, str]:
    """Return the outcome of reading a file: refused, warned or done, else what is wrong; and details."""
    try:
        timeline = open_recording(path)
    except InputError as error:
        return ("refused", "") if path.name in str(error) else ("unnamed", str(error))
    with Session(timeline) as session:
        said = False
        for cycle in chance.sample(sorted(truth), 6) if kind != "contents" else [timeline.first, timeline.last]:
            if not timeline.first <= cycle <= timeline.last:
                continue
            try:
                shown = timeline.at(cycle)
                len(shown.rows), len(shown.memory)
            except RfviewError:
                said = True
                continue
            if kind != "contents" and not shown.same_as(truth[cycle]):
                return "wrong", f"cycle {cycle} is shown with another state"
        if kind != "contents" and timeline.last < max(truth) and not timeline.warnings:
            return "wrong", f"ends at {timeline.last} without a warning"
        for question in questions(chance):
            try:
                with consistent(timeline):
                    question(session)
            except RfviewError:
                said = True
        return "warned" if timeline.warnings or said else "done", ""


def cases(seed: int, first: int, count: int) -> Iterator[tuple[int, str, str]]:
    """Try files first..first + count - 1 of a seed; yield (number, outcome, detail)."""
    with tempfile.TemporaryDirectory() as folder:
        for number in range(first, first + count):
            chance = random.Random(f"recordings {seed} {number}")
            kind = chance.choice(list(KINDS))
            which = chance.random()
            data, truth = samples()[1 if which < 0.25 else 3 if which > 0.95 else 2 if which > 0.9 else 0]
            path = Path(folder) / "case.rfs"
            path.write_bytes(KINDS[kind](chance, data))
            began = time.process_time()
            try:
                outcome, detail = tried(path, kind, truth, chance)
                if outcome != "wrong" and chance.random() < 0.02:
                    describe(path)
            except InputError:
                pass
            except Exception as error:
                outcome, detail = "traceback", f"{kind}: {type(error).__name__}: {error} {_where(error)}"
            if time.process_time() - began > SLOW_S:
                outcome, detail = "slow", f"{kind}: {time.process_time() - began:.1f} s; {detail}"
            if path.exists():
                keep(outcome, f"recordings.{kind}.{seed}-{number}.rfs", path.read_bytes())
            yield number, outcome, detail


def _where(error: BaseException) -> str:
    trace = error.__traceback__
    places = []
    while trace is not None:
        places.append(f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}")
        trace = trace.tb_next
    return " < ".join(places[:-5:-1])
