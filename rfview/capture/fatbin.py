"""Extracts PTX, or else machine code, from the fat binaries that nvcc embeds: for many targets, plain, zstd or LZ4.

A container is {u4 magic, u2 version, u2 header bytes, u8 size}, then entries {u2 kind, u2 version, u4 header bytes, u8
payload bytes, ...}; in an entry's header, the packed size is at 16, the target at 28, flags at 40, the plain size at 56.
The file may contain anything: sizes are checked before memory is allocated.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from rfview.engine.compilation import ISAS, executes
from rfview.engine.errors import InputError

MAGIC = 0xBA55ED50
CONTAINER = struct.Struct("<IHHQ")
ENTRY = struct.Struct("<HHIQ")
KIND_PTX, KIND_CUBIN = 1, 2
FLAG_LZ4, FLAG_ZSTD = 0x2000, 0x8000
MIN_HEADER = 48                 # of an entry: up to and including its flags
MAX_TEXT = 256 << 20            # bytes of one module's code; the largest in CUDA's own libraries are a tenth of that
MAX_ENTRIES = 4096
BEYOND = 90                     # from this target on, kernels may use features that earlier SMs lack


def ptx_of(blob: bytes) -> tuple[int, str]:
    """Return (target, text) of the PTX that suits the machine best; raises InputError if there is none or it is damaged.

    That is the newest text for a target below 90, else the oldest of the others.
    """
    entries = entries_of(blob, KIND_PTX)
    if not entries:
        raise InputError(f"this program contains no PTX, {_compiled_for(blob)}")
    target, packed = max(entries, key=lambda entry: entry[0] if entry[0] < BEYOND else -entry[0])
    return target, unpacked(*packed).rstrip(b"\0").decode("utf-8", "replace").replace("\r\n", "\n")


def parts_of(blob: bytes, gpu: int = 0) -> list[str]:
    """Return the texts of the modules of consecutive containers: the PTX of those that have any, else machine code.

    The last container has the machine code that is linked from the others'. gpu: as in cubin_of. Raises InputError.
    """
    parts = [blob[first:end] for first, _, end in _containers(blob)]
    return [ptx_of(one)[1] for one in parts if entries_of(one, KIND_PTX)] or [text_of(parts[-1], gpu)]


def text_of(blob: bytes, gpu: int = 0) -> str:
    """Return the text of a module: its PTX, or if it has none the listing of its machine code. gpu: as in cubin_of.

    Raises InputError.
    """
    if entries_of(blob, KIND_PTX) or not entries_of(blob, KIND_CUBIN):
        return ptx_of(blob)[1]
    from rfview.engine.sass.load import listing_of_cubin    # start-up: most programs have PTX

    target, cubin = cubin_of(blob, gpu)
    return listing_of_cubin(cubin, f"the program's machine code for sm_{target}")


def cubin_of(blob: bytes, gpu: int = 0) -> tuple[int, bytes]:
    """Return (target, cubin) of the newest machine code that a GPU, 86 for sm_86, executes, else of the newest of all.

    Raises InputError if none can be executed.
    """
    entries = [entry for entry in entries_of(blob, KIND_CUBIN) if f"sm_{entry[0]}" in ISAS]
    if not entries:
        raise InputError(f"this program contains no PTX, {_compiled_for(blob)}; machine code is executed for "
                         f"{', '.join(ISAS[1:])}")
    target, packed = max(entries, key=lambda entry: (executes(gpu, entry[0]), entry[0]))
    return target, unpacked(*packed)


def _compiled_for(blob: bytes) -> str:
    """Return what a program without PTX contains, and how to compile it."""
    targets = sorted({target for target, _ in entries_of(blob, KIND_CUBIN)})
    what = f"only kernels compiled for {', '.join(f'sm_{one}' for one in targets)}" if targets else "nor compiled kernels"
    return f"{what}: add -gencode arch=compute_80,code=compute_80 to nvcc's options, or leave out -gencode"


def entries_of(blob: bytes, kind: int) -> list[tuple[int, tuple[bytes, int, int]]]:
    """Return (target, (bytes, flags, plain size)) of every entry of a kind in consecutive containers."""
    found: list[tuple[int, tuple[bytes, int, int]]] = []
    for _, here, end in _containers(blob):
        while here < end:
            here, entry = _entry(blob, here, end, kind)
            found += [entry] if entry is not None else []
            if len(found) > MAX_ENTRIES:
                raise InputError(f"a fatbin of more than {MAX_ENTRIES:,} texts")
    return found


def _containers(blob: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield the offsets of each of consecutive containers, of its first entry, and of its end."""
    at = 0
    while at < len(blob) or at == 0:
        if len(blob) - at < CONTAINER.size:
            raise InputError(f"a fatbin that ends within its header, after {len(blob) - at} of {CONTAINER.size} bytes")
        magic, _version, header, size = CONTAINER.unpack_from(blob, at)
        if magic != MAGIC:
            raise InputError(f"a fatbin begins with 0x{MAGIC:08x}; what the program registers as its kernels has "
                             f"0x{magic:08x} there")
        if header < CONTAINER.size or at + header + size > len(blob):
            raise InputError(f"a fatbin whose header says {header + size:,} bytes, of which {len(blob) - at:,} are there")
        yield at, at + header, at + header + size
        at += header + size


def _entry(blob: bytes, here: int, end: int, wanted: int) -> tuple[int, tuple[int, tuple[bytes, int, int]] | None]:
    """Return the offset of the next entry, and this one if it is of the kind, else None."""
    if here + MIN_HEADER > end:
        raise InputError(f"a fatbin's entry ends after {end - here} bytes; its header has {MIN_HEADER}")
    kind, _version, header, payload = ENTRY.unpack_from(blob, here)
    if header < MIN_HEADER or here + header + payload > end:
        raise InputError(f"a fatbin's entry of {payload:,} bytes extends past its end")
    following = here + header + payload
    if kind != wanted:
        return following, None
    (packed,) = struct.unpack_from("<I", blob, here + 16)
    (target,) = struct.unpack_from("<I", blob, here + 28)
    (flags,) = struct.unpack_from("<Q", blob, here + 40)
    plain = struct.unpack_from("<Q", blob, here + 56)[0] if header >= 64 else 0
    if packed > payload:
        raise InputError(f"a fatbin's entry of {payload:,} bytes claims {packed:,} packed bytes")
    data = blob[here + header : here + header + (packed or payload)]
    return following, (target, (data, flags, plain))


def unpacked(data: bytes, flags: int, plain: int) -> bytes:
    """Return an entry's content; plain: its size in bytes, if it is packed. Raises InputError if it is damaged."""
    if flags & (FLAG_ZSTD | FLAG_LZ4):
        if not 0 < plain <= MAX_TEXT:
            raise InputError(f"a fatbin's code that says it has {plain:,} bytes unpacked; expected 1 to {MAX_TEXT:,}")
        data = _zstd(data, plain) if flags & FLAG_ZSTD else lz4_block(data, plain)
        if len(data) < plain:
            raise InputError(f"a fatbin's code ends after {len(data):,} of {plain:,} bytes")
    if len(data) > MAX_TEXT:
        raise InputError(f"a fatbin's code of {len(data):,} bytes; at most {MAX_TEXT:,} are read")
    return data


def _zstd(data: bytes, plain: int) -> bytes:
    import zstandard

    try:
        with zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(data) as stream:
            found = stream.read(plain + 1)
    except zstandard.ZstdError as error:
        raise InputError(f"a fatbin's code cannot be unpacked: {error}") from None
    if len(found) > plain:
        raise InputError(f"a fatbin's code is longer than the {plain:,} bytes that it says")
    return bytes(found)


def lz4_block(data: bytes, plain: int) -> bytes:
    """Decompress an LZ4 block to at most `plain` bytes; raises InputError if it is not one."""
    out, at = bytearray(), 0
    try:
        while at < len(data):
            token = data[at]
            literals, at = _length(data, at + 1, token >> 4)
            if at + literals > len(data) or len(out) + literals > plain:
                raise InputError("a fatbin's code is not an LZ4 block: literals beyond its end")
            out += data[at : at + literals]
            at += literals
            if at == len(data):
                break
            back = data[at] | data[at + 1] << 8
            length, at = _length(data, at + 2, token & 15)
            length += 4
            if not 0 < back <= len(out) or len(out) + length > plain:
                raise InputError("a fatbin's code is not an LZ4 block: a copy from before its beginning or beyond its end")
            _copy_back(out, back, length)
    except IndexError:
        raise InputError("a fatbin's code is not an LZ4 block: it ends too soon") from None
    return bytes(out)


def _length(data: bytes, at: int, count: int) -> tuple[int, int]:
    """Return a length, which is continued while bytes are 255, and the offset after it."""
    if count == 15:
        while True:
            more = data[at]
            at += 1
            count += more
            if more != 255:
                break
    return count, at


def _copy_back(out: bytearray, back: int, length: int) -> None:
    """Append `length` bytes copied from `back` bytes before the end; source and copy may overlap."""
    begin = len(out) - back
    part = bytes(out[begin : begin + length])
    out += (part * (length // back + 1))[:length]
