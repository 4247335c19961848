"""Checks of a header's run constants before anything relies on them: types, ranges, and consistency."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from rfview.sessions.layout import Layout

Check = Callable[[Any, str], None]
# most entries of a list; programs have the longest
MOST = 1 << 20


def _wrong(what: str, value: Any, expected: str) -> ValueError:
    shown = repr(value)
    return ValueError(f"{what} is {shown[:40] + '..' if len(shown) > 42 else shown}, expected {expected}")


def text(value: Any, what: str) -> None:
    """Accept a string."""
    if not isinstance(value, str):
        raise _wrong(what, value, "text")


def flag(value: Any, what: str) -> None:
    """Accept a truth value."""
    if not isinstance(value, bool):
        raise _wrong(what, value, "true or false")


def scalar(value: Any, what: str) -> None:
    """Accept a parameter's value."""
    if not isinstance(value, str | int | float) or (isinstance(value, float) and not math.isfinite(value)):
        raise _wrong(what, value, "a number or a word")


def number(value: Any, what: str) -> None:
    """Accept a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise _wrong(what, value, "a number")


def whole(low: int, high: int) -> Check:
    """Accept an integer within low..high."""

    def check(value: Any, what: str) -> None:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise _wrong(what, value, f"a whole number from {low} to {high}")

    return check


def each(check: Check, least: int = 0, most: int = MOST) -> Check:
    """Accept a list whose entries all pass."""

    def of_list(value: Any, what: str) -> None:
        if not isinstance(value, list) or not least <= len(value) <= most:
            raise _wrong(what, value, f"a list of {least} to {most} entries")
        for place, entry in enumerate(value):
            check(entry, f"{what}[{place}]")

    return of_list


def mapping(check: Check) -> Check:
    """Accept a map from text to values that pass."""

    def of_map(value: Any, what: str) -> None:
        if not isinstance(value, dict) or len(value) > MOST:
            raise _wrong(what, value, "a map")
        for key, entry in value.items():
            text(key, f"a key of {what}")
            check(entry, f"{what}.{key}")

    return of_map


def record(**fields: Check) -> Check:
    """Accept a map with these fields; names that end in _ are optional."""

    def of_record(value: Any, what: str) -> None:
        if not isinstance(value, dict):
            raise _wrong(what, value, "a map")
        for name, check in fields.items():
            key = name.removesuffix("_")
            if key in value:
                check(value[key], f"{what}.{key}")
            elif not name.endswith("_"):
                raise ValueError(f"{what} has no {key}")

    return of_record


def either(check: Check) -> Check:
    """Accept None, or what passes."""
    return lambda value, what: None if value is None else check(value, what)


def anything(value: Any, what: str) -> None:
    """Accept anything: its users check it."""


SMALL, COUNT, LARGE = whole(0, 255), whole(0, 1 << 31), whole(0, (1 << 64) - 1)
EXTENT = each(whole(0, (1 << 31) - 1), 3, 3)
VARIABLE = record(name=text, address=LARGE, word=COUNT, bytes=LARGE, dtype_=text, shape_=each(LARGE, 0, 32))
INSTRUCTION = record(pc=COUNT, kernel=text, line=COUNT, text=text, mnemonic=text, op=text, unit=text, latency_class_=text,
                     wait_class=SMALL, dst=each(SMALL, 0, 64), src=each(SMALL, 0, 64))
STALL = record(code=whole(0, 63), name=text, short=text, glyph=text, ascii=text, family=text, sentence=text)


def virtual(value: Any, what: str) -> None:
    """Accept a PTX register: its name, and where it is live."""
    each(anything, 5, 5)(value, what)
    text(value[0], f"{what}[0]")
    for entry in value[1:]:
        whole(-(1 << 31), 1 << 31)(entry, what)


INFO = record(
    kernel=text, kernels=each(text, 1), name_=text, num_launches=COUNT,
    launches=each(record(kernel=text, grid=EXTENT, block=EXTENT, registers=SMALL, entry_pc=COUNT, resident_ctas=SMALL,
                         shared_bytes=COUNT), 1),
    design=text, design_title_=text, design_source_=text, design_spec=record(chain=each(text, 1, 8), values=mapping(scalar),
                                                                files_=mapping(record(file=text, code=text, text_=text))),
    scheduler=text, preset=text, parameters=mapping(scalar), seed=whole(-(1 << 63), (1 << 64) - 1), engine_version=text,
    source_hash_=text, num_warps=whole(1, 64), num_banks=whole(1, 64), num_schedulers=whole(1, 8), clock_mhz_=number,
    registers_per_thread=SMALL, stalls=each(STALL, 1, 64), events=each(text), design_events_=each(text),
    activities_=each(text, 0, 8), panels_=each(mapping(anything), 0, 64), energy_pj_=mapping(each(anything, 2, 2)),
    technology_=mapping(each(anything, 1, 8)),
    program=each(INSTRUCTION, 1), ptx=each(record(path=text, text=text)), sources_=each(record(path=text, text=text)),
    virtual_=mapping(each(virtual)),
    buffers=each(VARIABLE), symbols=each(VARIABLE), launch_toml=text,
    main_rows_=COUNT, recorded_rows_=COUNT, arena_words_=COUNT, shared_words_=COUNT, global_word_=COUNT, local_word_=COUNT,
    param_word_=COUNT,
)

END = record(finished_=either(flag), fault_=either(text), summary_=either(mapping(anything)))


def check(info: Any, layout: Layout, rows: int, words: int) -> None:
    """Raise ValueError unless a run's info is valid. rows, words: recorded rows and memory words in the file."""
    INFO(info, "its run")
    for name, field in (("num_warps", "sm.warp[*].state"), ("num_banks", "sm.bank[*].queue")):
        there = layout.field(field).shape[0]
        if info[name] > there:
            raise ValueError(f"its run has {name} {info[name]}, but its states hold {there}")
    if len(info["events"]) + len(info.get("design_events", ())) > layout.field("sm.events[*]").shape[0]:
        raise ValueError("its run has more events than its states count")
    if info.get("recorded_rows", rows) > rows:
        raise ValueError(f"its run has {info['recorded_rows']} recorded rows, but the file holds {rows}")
    for variable in (*info["buffers"], *info["symbols"]):
        if variable["word"] + -(-variable["bytes"] // 4) > words:
            raise ValueError(f"{variable['name']} is outside the {words} words of memory that the file holds")
