"""The table of messages: both sides in Python, and the header that C++ compiles, have the same layouts."""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from rfview.capture import messages
from rfview.capture.device import Device
from rfview.capture.messages import MESSAGES, Layout, cpp_header
from rfview.capture.protocol import Reply
from rfview.capture.server import Server
from tests.capture.driven import NAME, SAXPY


def test_a_layout_packs_its_fields_in_order_and_refuses_other_lengths() -> None:
    layout = Layout("a:u4 b:u8*2", "a name")
    body = layout.pack(1, 2, 3, rest=b"xy")
    assert body == struct.pack("<IQQ", 1, 2, 3) + b"xy" and layout.unpack(body) == (1, 2, 3, b"xy")
    for wrong in (b"", body[:19]):
        with pytest.raises(struct.error):
            layout.unpack(wrong)
    with pytest.raises(struct.error):
        Layout("a:u4").unpack(bytes(5))
    with pytest.raises(struct.error):
        Layout("a:u4").pack(1, rest=b"x")


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_the_header_has_every_layout_without_padding(tmp_path: Path) -> None:
    (tmp_path / "messages.h").write_text(cpp_header())
    checks = ['#include "messages.h"', "#include <stddef.h>", "using namespace rfview;"]
    for one in MESSAGES.values():
        checks.append(f"static_assert({one.name}::OPERATION == {one.number}, \"\");")
        for name, layout in ((one.name, one.request), (f"{one.name}Result", one.result)):
            offset = 0
            for field, kind, count in layout.fields():
                checks.append(f"static_assert(offsetof({name}, {field}) == {offset}, \"\");")
                offset += count * struct.calcsize(messages.TYPES[kind][0])
            assert offset == layout.head.size
            checks.append(f"static_assert(sizeof({name}) == {max(offset, 1)}, \"\");")       # an empty struct has one byte
    (tmp_path / "checks.cpp").write_text("\n".join(checks))
    done = subprocess.run(["g++", "-std=c++17", "-Wall", "-Werror", "-fsyntax-only", tmp_path / "checks.cpp"], check=False,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_every_reply_has_the_layout_of_its_operation_or_no_result_whatever_its_status() -> None:
    server = Server(Device({}), lambda text: None)

    def sent(message: messages.Message, *values: int, rest: bytes = b"") -> Reply:
        reply = server.answer(message.number, message.request.pack(*values, rest=rest))
        if reply.result:
            message.result.unpack(reply.result)
        return reply

    for one in MESSAGES.values():           # bodies of zeros, one byte too short, and with bytes behind them
        for body in (bytes(one.request.head.size), bytes(max(one.request.head.size - 1, 0)), bytes(one.request.head.size + 9)):
            reply = server.answer(one.number, body)
            assert not reply.result or one.result.unpack(reply.result) is not None
    module = messages.LOAD.result.unpack(sent(messages.LOAD, messages.FORM_PTX, rest=SAXPY.encode()).result)[0]
    one_thread = (module, 1, 1, 1, 1, 1, 1, 0, 0, len(NAME))
    fault = sent(messages.LAUNCH, *one_thread, rest=NAME.encode() + struct.pack("<QQI", 8, 8, 1))
    assert fault.status and messages.LAUNCH.result.unpack(fault.result)[0] > 0 and fault.text
    later = sent(messages.LAUNCH, *one_thread, rest=NAME.encode() + bytes(20))
    assert later.status == fault.status and not later.result and "an earlier launch" in later.text
