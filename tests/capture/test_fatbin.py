"""PTX from fatbins: all three packings unpack completely, and a change of any byte causes at most one clear error."""

from __future__ import annotations

import struct
from typing import Any

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from rfview.capture import fatbin
from rfview.engine.errors import InputError

TEXT = b".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }\n" * 3


def literals(data: bytes) -> bytes:
    """Return data as an LZ4 block of literals only."""
    rest = len(data) - 15
    return bytes([0xF0]) + b"\xff" * (rest // 255) + bytes([rest % 255]) + data


PACKED = {
    "plain": (0, TEXT), "zstd": (fatbin.FLAG_ZSTD, zstandard.compress(TEXT)), "lz4": (fatbin.FLAG_LZ4, literals(TEXT)),
}


def container(*entries: tuple[int, int, int, bytes]) -> bytes:
    """Return a fatbin of (kind, target, flags, packed bytes)."""
    body = b""
    for kind, target, flags, data in entries:
        header = fatbin.ENTRY.pack(kind, 0x101, 64, len(data)) + struct.pack("<II", len(data) if flags else 0, 0)
        header = header.ljust(28, b"\0") + struct.pack("<I", target)
        header = header.ljust(40, b"\0") + struct.pack("<Q", flags)
        body += header.ljust(56, b"\0") + struct.pack("<Q", len(TEXT)) + data
    return fatbin.CONTAINER.pack(fatbin.MAGIC, 1, fatbin.CONTAINER.size, len(body)) + body


@pytest.mark.parametrize("packing", sorted(PACKED))
def test_a_text_comes_out_as_it_was_packed(packing: str) -> None:
    flags, data = PACKED[packing]
    assert fatbin.ptx_of(container((fatbin.KIND_PTX, 75, flags, data))) == (75, TEXT.decode())


def test_the_newest_text_that_the_machine_can_run_is_taken() -> None:
    texts = [(fatbin.KIND_PTX, target, 0, TEXT) for target in (52, 100, 80)]
    assert fatbin.ptx_of(container(*texts))[0] == 80
    assert fatbin.ptx_of(container(*texts[1:2]))[0] == 100


def test_code_for_other_architectures_is_one_sentence_that_says_how_to_compile() -> None:
    with pytest.raises(InputError, match="only kernels compiled for sm_70, sm_130: add -gencode.*executed for sm_75, sm_80"):
        fatbin.text_of(container(*((fatbin.KIND_CUBIN, target, 0, b"code") for target in (130, 70))))
    with pytest.raises(InputError, match="no PTX, nor compiled kernels: add -gencode"):
        fatbin.text_of(container((99, 75, 0, b"neither")))


def test_without_ptx_the_newest_machine_code_that_can_be_executed_is_taken() -> None:
    entries = [(fatbin.KIND_CUBIN, target, flags, data)
               for target, (flags, data) in zip((75, 90, 130), (PACKED["plain"], PACKED["zstd"], PACKED["plain"]))]
    assert fatbin.cubin_of(container(*entries)) == (90, TEXT)
    assert fatbin.text_of(container(*entries, (fatbin.KIND_PTX, 75, 0, b"the PTX"))) == "the PTX"


@pytest.mark.parametrize(("gpu", "taken"), [(0, 120), (75, 75), (86, 80), (87, 87), (90, 90), (103, 120)])
def test_without_ptx_a_gpu_gets_the_newest_machine_code_that_it_executes(gpu: int, taken: int) -> None:
    entries = [(fatbin.KIND_CUBIN, target, 0, f"{target}".encode()) for target in (80, 75, 120, 87, 90)]
    assert fatbin.cubin_of(container(*entries), gpu) == (taken, f"{taken}".encode())


def test_parts_that_follow_one_another_each_give_their_text() -> None:
    code = container((fatbin.KIND_CUBIN, 70, 0, b"code"))
    parts = [container((fatbin.KIND_PTX, 75, 0, text)) for text in (b"one", b"two")]
    assert fatbin.parts_of(b"".join([parts[0], code, parts[1]])) == ["one", "two"]
    with pytest.raises(InputError, match="no PTX"):
        fatbin.parts_of(code)


@pytest.mark.parametrize(("damage", "says"), [
    (lambda blob: blob[:9], "ends within its header, after 9 of 16 bytes"), (lambda blob: b"", "after 0 of 16"),
    (lambda blob: b"\x7fELF" + blob[4:], "has 0x464c457f there"), (lambda blob: blob[:-1], "of which"),
    (lambda blob: blob + bytes(16), "has 0x00000000 there"), (lambda blob: blob + blob[:8], "ends within its header"),
    (lambda blob: blob[:8] + struct.pack("<Q", 40) + blob[16:56], "ends after 40 bytes"),
    (lambda blob: blob[:24] + struct.pack("<Q", 1 << 62) + blob[32:], "extends past its end"),
    (lambda blob: blob[:72] + bytes(8) + blob[80:], "says it has 0 bytes unpacked"),
    (lambda blob: blob[:80] + b"?" + blob[81:], "cannot be unpacked"),
])
@pytest.mark.parametrize("read", [fatbin.ptx_of, fatbin.parts_of])
def test_a_damaged_fatbin_is_one_sentence(damage: Any, says: str, read: Any) -> None:
    whole = container((fatbin.KIND_PTX, 75, *PACKED["zstd"]))
    with pytest.raises(InputError, match=says):
        read(damage(whole))


@pytest.mark.parametrize("flag", [fatbin.FLAG_ZSTD, fatbin.FLAG_LZ4])
def test_a_text_that_ends_before_it_says_is_refused(flag: int) -> None:
    data = zstandard.compress(TEXT)[:-9] if flag == fatbin.FLAG_ZSTD else literals(TEXT[:-9])
    with pytest.raises(InputError, match="cannot be unpacked|ends after"):
        fatbin.unpacked(data, flag, len(TEXT))


def test_a_text_longer_than_it_says_is_refused() -> None:
    bomb = zstandard.compress(bytes(1 << 24))
    with pytest.raises(InputError, match="longer than"):
        fatbin.ptx_of(container((fatbin.KIND_PTX, 75, fatbin.FLAG_ZSTD, bomb)))


@settings(max_examples=400, deadline=None)
@given(packing=st.sampled_from(sorted(PACKED)), where=st.floats(0, 1), value=st.integers(0, 255), cut=st.floats(0, 1))
def test_a_changed_or_cut_container_gives_a_text_or_one_error(packing: str, where: float, value: int, cut: float) -> None:
    flags, data = PACKED[packing]
    blob = bytearray(container((fatbin.KIND_PTX, 75, flags, data)))
    blob[min(len(blob) - 1, int(where * len(blob)))] = value
    for broken in (bytes(blob), bytes(blob[: int(cut * len(blob))])):
        try:
            assert isinstance(fatbin.ptx_of(broken)[1], str)
        except InputError as error:
            assert str(error) and "\n" not in str(error)


@settings(max_examples=400, deadline=None)
@given(data=st.binary(max_size=200))
def test_any_bytes_are_an_lz4_block_or_one_error(data: bytes) -> None:
    try:
        assert len(fatbin.lz4_block(data, 4096)) <= 4096
    except InputError as error:
        assert str(error)
