"""A keyframe of a session file: the whole machine at one cycle, as the pages that changed, under a seal.

A keyframe is restored into compiled code, which trusts what it finds there. The seal says that this user's rfview has
written it: a keyed hash with a key from the folder of compiled code, which is trusted alike. A keyframe without it is
only ever compared with a machine that has run up to it.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import stat
import struct
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import msgpack
import msgspec
import numpy as np
from msgspec import Meta, Struct

from rfview.engine import designs
from rfview.sessions.codec import limits, streams
from rfview.sessions.codec.pages import PAGE, PAGE_WORDS
from rfview.sessions.file import run_info
from rfview.sessions.file.framing import Damage

HEAD = struct.Struct("<32sIQ")      # seal, number, cycle
ARRAYS = ("sm", "rf", "rows", "arena")      # of a Checkpoint, in the order of their pages
KEY_BYTES, KEY_FILE = 32, "recordings.key"
PLACE_BYTES = 4


class Body(Struct, frozen=True):
    """What a keyframe says besides pages; as in Checkpoint. totals: stall totals. printed: lines since the last keyframe."""

    launch_index: Annotated[int, Meta(ge=-1, le=1 << 31)]
    finished: bool
    num_printed: Annotated[int, Meta(ge=0, le=1 << 31)]
    totals: list[int]
    printed: list[tuple[int, str]]
    pages: bytes


@dataclass(frozen=True, eq=False)
class Keyframe:
    """A keyframe as stored. places: (k,) u4 numbers of pages, ascending. contents: (k, PAGE_WORDS) u8, not in the body."""

    number: int
    cycle: int
    body: Body
    places: np.ndarray
    contents: np.ndarray

    def pack(self, key: bytes, run: bytes) -> list[bytes]:
        """Return the KEYF payload in two parts. key: of the seal. run: hash of the HEAD payload."""
        pages = streams.compress(np.ascontiguousarray(self.places, "<u4").tobytes() + self.contents.tobytes())
        body = msgpack.packb({**msgspec.to_builtins(self.body), "pages": pages})
        seal = seal_of(key, run, self.number, self.cycle, body)
        return [HEAD.pack(seal, self.number, self.cycle), body]


def split(payload: bytes) -> tuple[bytes, int, int, memoryview]:
    """Return seal, number, cycle and the packed body of a KEYF payload; raises Damage."""
    if len(payload) < HEAD.size:
        raise Damage("a keyframe without a head")
    return (*HEAD.unpack_from(payload), memoryview(payload)[HEAD.size :])


def body_of(packed: memoryview | bytes) -> Body:
    """Return a packed body; raises Damage."""
    try:
        content = limits.unpacked(packed, "a keyframe", limits.ARRAYS)
        return run_info.typed(content, Body, "a keyframe")
    except streams.DAMAGE as error:
        raise Damage(f"a keyframe cannot be read ({streams.reason(error)})") from None


def unpack(payload: bytes, most: int) -> Keyframe:
    """Return the keyframe in a KEYF payload; raises Damage. most: pages of the machine."""
    _, number, cycle, packed = split(payload)
    body = body_of(packed)
    try:
        data = streams.decompress(body.pages, limits.ARRAYS)
        count, rest = divmod(len(data), PLACE_BYTES + PAGE)
        places = np.frombuffer(data, "<u4", count)
        if rest or (count and (places[-1] >= most or (np.diff(places.astype(np.int64)) <= 0).any())):
            raise ValueError("its pages do not fit the machine")
        contents = np.frombuffer(data, "<u8", count * PAGE_WORDS, PLACE_BYTES * count).reshape(count, PAGE_WORDS)
    except streams.DAMAGE as error:
        raise Damage(f"a keyframe cannot be read ({streams.reason(error)})") from None
    return Keyframe(number, cycle, msgspec.structs.replace(body, pages=b""), places, contents)


def hash_of(head: bytes) -> bytes:
    """Return the hash of a HEAD payload, to which seals bind keyframes."""
    return hashlib.blake2b(head, digest_size=32).digest()


def seal_of(key: bytes, run: bytes, number: int, cycle: int, body: bytes | memoryview) -> bytes:
    """Return the seal of a keyframe; zeros without a key."""
    if not key:
        return bytes(KEY_BYTES)
    return hashlib.blake2b(run + struct.pack("<IQ", number, cycle) + body, key=key, digest_size=32).digest()


def is_sealed(payload: bytes, key: bytes, run: bytes) -> bool:
    """Return whether this user's rfview has written a keyframe, for the run of this header."""
    seal, number, cycle, body = split(payload)
    return bool(key) and hmac.compare_digest(seal, seal_of(key, run, number, cycle, body))


def own_key() -> bytes:
    """Return the key of this user and these sources of the machine; b"" if there is none to be trusted: nothing is sealed.

    It is made on first use.
    """
    from rfview.engine.compile import cache         # imports numba, as does whatever needs a key

    path = cache.cache_root() / KEY_FILE
    sources = cache.source_hash([*cache.engine_files(), *sorted(Path(designs.__file__).parent.glob("*.py"))])
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileExistsError):
            made = path.with_name(f"{KEY_FILE}.{secrets.token_hex(4)}")
            with open(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(secrets.token_bytes(KEY_BYTES))
            try:
                os.link(made, path)         # complete, or not at all; the first of several processes wins
            finally:
                made.unlink()
        with open(path, "rb") as file:
            status: Any = os.fstat(file.fileno())
            is_private = not hasattr(os, "getuid") or (status.st_uid == os.getuid() and not status.st_mode & 0o077)
            key = file.read(KEY_BYTES + 1)
            if is_private and stat.S_ISREG(status.st_mode) and len(key) == KEY_BYTES:
                return hashlib.blake2b(sources.encode(), key=key, digest_size=KEY_BYTES).digest()
    return b""
