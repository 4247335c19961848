"""A TOML table that knows its file and key, and the error that names both and what was expected there."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from rfview.engine import files
from rfview.engine.errors import InputError
from rfview.engine.wording import did_you_mean

# A name becomes NAME.npy under --save-buffers, so it must not be a path.
NAME_PATTERN = re.compile(r"[A-Za-z0-9_$%][A-Za-z0-9_$%.-]*\Z")
MAX_BITS = 8192         # digits of a number in TOML: Python refuses to write out longer ones, even in an error


class LaunchError(InputError, ValueError):
    """Say which launch file and which key is wrong, and what was expected there."""


class Table:
    """A TOML table that knows its file and key, so that every error can name them."""

    def __init__(self, file: str, key: str, value: Any):
        self.file, self.key = file, key
        if not isinstance(value, dict):
            self.fail("", f"expected a table, got {shown(value)}")
        self.values: dict[str, Any] = value

    def fail(self, key: str, problem: str) -> NoReturn:
        """Raise the LaunchError for `key` of this table ('' for the table itself)."""
        full = cut(".".join(part for part in (self.key, key) if part))
        raise LaunchError(f"{self.file}: {full}: {problem}" if full else f"{self.file}: {problem}")

    def allow(self, *keys: str) -> None:
        """Refuse keys that are not in `keys`, suggesting the nearest one."""
        for key in self.values:
            if key not in keys:
                self.fail(key, f"unknown key{did_you_mean(key, keys)}; expected one of {', '.join(keys)}")

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def take(self, key: str, kinds: tuple[type, ...], expected: str, default: Any = ...) -> Any:
        """Return the value of `key` if it has one of the types `kinds`; bool counts as bool only, never as int."""
        if key not in self.values:
            if default is ...:
                self.fail(key, f"missing; expected {expected}")
            return default
        value = self.values[key]
        if type(value) not in kinds:
            self.fail(key, f"expected {expected}, got {shown(value)}")
        return value

    def inner(self, key: str, value: Any) -> Table:
        """Return the table under `key`."""
        return Table(self.file, f"{self.key}.{key}", value)

    def name_in(self, kind: str, known: Mapping[str, Any]) -> str:
        """Return the value of the key `kind`, which must be among the [`kind`s.NAME] tables."""
        name: str = self.text(kind)
        if name not in known:
            self.fail(kind, f"expected the name of a [{kind}s.NAME] table ({', '.join(known) or 'none is defined'}), "
                            f"got {name!r}{did_you_mean(name, known)}")
        return name

    def integer(self, key: str, low: int, high: int, default: Any = ...) -> Any:
        """Return an integer in low..high."""
        expected = f"an integer in {low}..{high}"
        value = self.take(key, (int,), expected, default)
        if value is not default and not low <= value <= high:
            self.fail(key, f"expected {expected}, got {value}")
        return value

    def number(self, key: str, default: Any = ..., expected: str = "a finite number") -> float:
        """Return an integer or float as a finite float."""
        value = self.take(key, (int, float), expected, default)
        try:
            converted = float(value)
        except OverflowError:
            converted = math.inf
        if not math.isfinite(converted):
            self.fail(key, f"expected {expected}, got {shown(value)}")
        return converted

    def text(self, key: str, default: Any = ...) -> Any:
        """Return a string that is not empty."""
        value = self.take(key, (str,), "a string", default)
        if value is not default and not value:
            self.fail(key, "expected a string that is not empty")
        return value

    def tables(self, key: str) -> dict[str, Table]:
        """Return the sub-tables under `key` by name; none if `key` is missing."""
        outer = Table(self.file, key, self.take(key, (dict,), f"tables [{key}.NAME]", {}))
        for name in outer.values:
            if not NAME_PATTERN.match(name):
                outer.fail(name, "expected a name of letters, digits, _ $ % . - that does not begin with . or -")
        return {name: Table(self.file, f"{key}.{name}", value) for name, value in outer.values.items()}


def read_toml(path: Path, what: str) -> tuple[dict[str, Any], str]:
    """Return the parsed TOML of a file, called `what` in errors, and its text; any failure is a LaunchError."""
    try:
        text = files.read_text(path)
        return loads(text), text
    except FileNotFoundError:
        raise LaunchError(f"{path}: no such {what}") from None
    except OSError as error:
        raise LaunchError(f"{path}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise LaunchError(f"{path}: expected TOML in UTF-8: {error.reason} at byte {error.start}") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise LaunchError(f"{path}: expected TOML: {error or 'nested too deeply'}") from None
    except ValueError as error:  # a null byte in the path, an integer of thousands of digits
        raise LaunchError(f"{path}: cannot be read: {error}") from None


def loads(text: str) -> dict[str, Any]:
    """Return parsed TOML. Raises ValueError, also for a number too long to appear in a message, and RecursionError."""
    content = tomllib.loads(text)
    pending: list[Any] = [content]
    while pending:
        value = pending.pop()
        if isinstance(value, dict | list):
            pending.extend(value.values() if isinstance(value, dict) else value)
        elif isinstance(value, int) and value.bit_length() > MAX_BITS:
            raise ValueError(f"a number of {value.bit_length():,} bits; expected 64 at most")
    return content


def shown(value: Any) -> str:
    """Return a value short enough for one line of an error."""
    return cut(repr(value))


def cut(text: str) -> str:
    """Return a text, cut to 60 characters."""
    return text if len(text) <= 60 else text[:57] + "..."
