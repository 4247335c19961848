"""The arguments of a request as sent by an editor: each is read with its required type, or refused by name."""

from __future__ import annotations

from typing import Any

from rfview.engine.errors import InputError

LARGEST_NUMBER = 1 << 53    # up to here, JSON's numbers are exact


class Arguments:
    """One JSON object of a request. where: its name in errors, as "stackTrace" or "setBreakpoints: breakpoints[0]"."""

    def __init__(self, where: str, given: Any):
        if given is None:
            given = {}
        if not isinstance(given, dict):
            raise InputError(f"{where}: expected an object, found {_kind(given)}")
        self._where, self._given = where, given

    def __contains__(self, name: str) -> bool:
        return self._given.get(name) is not None

    def number(self, name: str, default: int | None = None) -> int:
        """Return a whole number; raises InputError for anything else, or if it is missing without a default."""
        value = self._needed(name, default)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or abs(value) > LARGEST_NUMBER:
            raise self._wrong(name, "a whole number")
        return value

    def text(self, name: str, default: str | None = None) -> str:
        """Return a text; raises InputError for anything else, or if it is missing without a default."""
        value = self._needed(name, default)
        if not isinstance(value, str):
            raise self._wrong(name, "a string")
        return _checked(value, f"{self._where}: {name}")

    def flag(self, name: str, default: bool) -> bool:
        """Return true or false; raises InputError for anything else."""
        value = self._needed(name, default)
        if not isinstance(value, bool):
            raise self._wrong(name, "true or false")
        return value

    def texts(self, name: str) -> list[str]:
        """Return a list of texts, empty if it is missing; raises InputError for anything else."""
        return [Arguments(self._where, {f"{name}[{index}]": value}).text(f"{name}[{index}]")
                for index, value in enumerate(self._list(name))]

    def objects(self, name: str) -> list[Arguments]:
        """Return a list of objects, empty if it is missing; raises InputError for anything else."""
        return [Arguments(f"{self._where}: {name}[{index}]", value) for index, value in enumerate(self._list(name))]

    def inner(self, name: str) -> Arguments:
        """Return an object, empty if it is missing; raises InputError for anything else."""
        return Arguments(f"{self._where}: {name}", self._given.get(name))

    def settings(self, name: str) -> dict[str, str | int | float]:
        """Return an object of texts, numbers and flags by name; raises InputError for lists and objects in it."""
        inner = self.inner(name)
        for key, value in inner._given.items():
            if not isinstance(value, (str, int, float)):
                raise inner._wrong(key, "a string or a number")
            _checked(f"{key}{value}" if isinstance(value, str) else key, inner._where)
            if isinstance(value, (int, float)) and not abs(value) <= LARGEST_NUMBER:
                raise inner._wrong(key, "a number")
        return dict(inner._given)

    def _list(self, name: str) -> list[Any]:
        value = self._needed(name, [])
        if not isinstance(value, list):
            raise self._wrong(name, "a list")
        return value

    def _needed(self, name: str, default: Any) -> Any:
        value = self._given.get(name)
        value = default if value is None else value
        if value is None:
            raise InputError(f"{self._where}: {name} is missing")
        return value

    def _wrong(self, name: str, expected: str) -> InputError:
        return InputError(f"{self._where}: {name[:80]}: expected {expected}, found {_kind(self._given[name])}")


def _checked(text: str, where: str) -> str:
    """Return a text that can be encoded in UTF-8 and passed to the operating system; raises InputError for others."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError(f"{where}: contains an unpaired surrogate") from None
    if "\0" in text:
        raise InputError(f"{where}: contains a NUL character")
    return text


def _kind(value: Any) -> str:
    """Name the kind of a JSON value, briefly whatever its size."""
    kinds = {dict: "an object", list: "a list", str: "a string", bool: "true or false", type(None): "null"}
    if isinstance(value, int) and abs(value) > LARGEST_NUMBER:
        return "a number out of range"
    return kinds.get(type(value)) or f"the number {value:.6g}"
