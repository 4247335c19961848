"""Messages of the Debug Adapter Protocol over two byte streams: a Content-Length header and JSON each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, BinaryIO

from rfview.engine.errors import InputError

LONGEST_HEADER = 256
LARGEST_MESSAGE = 1 << 26


class EditorGone(BrokenPipeError):
    """The editor no longer reads the answers."""


class Wire:
    """Reads requests and writes responses and events, which are numbered in order."""

    def __init__(self, source: BinaryIO, target: BinaryIO):
        self._source, self._target = source, target
        self._number = 0

    def messages(self) -> Iterator[dict[str, Any]]:
        """Yield the messages until the stream ends; raises InputError for anything else."""
        while line := self._source.readline(LONGEST_HEADER):
            length = None
            while line := line.strip():
                name, _, value = line.partition(b":")
                is_length = name.lower() == b"content-length"
                if is_length and value.strip().isdigit():
                    length = int(value)
                elif is_length or not value:
                    raise InputError(f"dap: expected `Content-Length: N` from the editor, found {line[:40]!r}")
                line = self._source.readline(LONGEST_HEADER)
            if length is None:
                raise InputError("dap: expected `Content-Length: N` from the editor, found a header without it")
            if length > LARGEST_MESSAGE:
                raise InputError(f"dap: a message of {length:,} bytes, at most {LARGEST_MESSAGE:,} are read")
            data = self._source.read(length)
            if len(data) < length:
                return
            try:
                message = json.loads(data)
            except ValueError as error:
                raise InputError(f"dap: a message is not JSON ({error})") from None
            except RecursionError:
                raise InputError("dap: a message is nested too deeply") from None
            if not isinstance(message, dict):
                raise InputError("dap: a message is not a JSON object")
            yield message

    def _send(self, message: dict[str, Any]) -> None:
        """Write one message; raises EditorGone if the editor no longer reads."""
        self._number += 1
        data = json.dumps({"seq": self._number, **message}).encode()
        try:
            self._target.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
            self._target.flush()
        except OSError as error:
            raise EditorGone(error.errno, "the editor does not read its answers") from None

    def respond(self, request: dict[str, Any], body: dict[str, Any] | None = None, *, error: str = "") -> None:
        """Respond to a request; error: why it failed, for the editor to show."""
        number, command = request.get("seq"), request.get("command")
        message = {"type": "response", "request_seq": number if isinstance(number, int) else 0,
                   "command": command if isinstance(command, str) else "",
                   "success": not error, "body": body or {}}
        if error:
            message |= {"message": error, "body": {"error": {"id": 1, "format": error, "showUser": True}}}
        self._send(message)

    def event(self, name: str, **body: Any) -> None:
        """Send an event to the editor."""
        self._send({"type": "event", "event": name, "body": body})
