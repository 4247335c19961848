"""How a kernel's PTX is compiled: our options, as settings of a run and as words for users.

Options are numbers in section [kernel] of every preset, so that recordings, forks and sweeps keep them like
all other parameters. A launch file's [compile] table and `--compile` are other ways to give them. All are off by default.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rfview.engine.errors import InputError
from rfview.engine.program import MAX_REGS, NUM_LATENCY_CLASSES
from rfview.engine.wording import did_you_mean, suggest

OFF = "off"
PTX = "ptx"     # as kernel.isa: PTX is what is executed
ISAS = (PTX, "sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_100", "sm_103", "sm_110", "sm_120",
        "sm_121")


@dataclass(frozen=True)
class Option:
    """One option. setting: in the preset. usual: its value if the option is off. choices: the words, () = a number.

    bare: the value meant by the option's name alone, "" if a value must be given.
    """

    setting: str
    usual: Any
    choices: tuple[str, ...]
    bare: str
    unit: str
    what: str


OPTIONS: dict[str, Option] = {
    "schedule": Option(
        "kernel.schedule", OFF, (OFF, "on"), "on", "off: in the order of the PTX",
        "instructions of a basic block ordered by the preset's latencies"),
    "addresses": Option(
        "kernel.addresses", "64", ("64", "32"), "", "64: as in the PTX",
        "32: addresses of global memory in one register instead of two, unless more is needed"),
    "numbering": Option(
        "kernel.numbering", "lowest", ("lowest", "banks"), "", "lowest: the first that is free",
        "banks: registers numbered so that the sources of an instruction are in different banks"),
    "registers": Option(
        "kernel.aim_registers", 0, (), "", "registers per thread, 0 = as few as possible",
        "target for registers per thread: values beyond are spilled, values below spread over all"),
    "isa": Option(
        "kernel.isa", PTX, ISAS, "", "ptx: as rfview compiles it",
        "machine code of an architecture, made of the PTX by ptxas; --isa is short for it"),
}


def executes(gpu: int, code: int) -> bool:
    """Return whether a GPU executes machine code of an architecture, 80 for sm_80: that of its generation, up to its own."""
    return code // 10 == gpu // 10 and code <= gpu


@dataclass(frozen=True)
class Latencies:
    """Cycles from issue to result, for the list scheduler.

    classes: by latency class of rfview.engine.program. memory: a global, local or texture access that misses all caches.
    """

    classes: tuple[int, ...] = (1,) * NUM_LATENCY_CLASSES
    shared: int = 1
    const: int = 1
    param: int = 1
    memory: int = 1


@dataclass(frozen=True)
class Compilation:
    """What the PTX front end does in addition to lowering, clean-up and allocation.

    max_registers: per thread before spilling. registers: target per thread, 0 for as few as possible. banks: of the
    register file, for numbering registers, 0 for the lowest numbers. addresses_32: whether addresses of global
    memory take one register if that suffices. takes_older: whether a listing that lies beside the PTX may be for an
    older GPU of isa's generation, whose code it runs as well.
    """

    max_registers: int = MAX_REGS
    optimize: bool = True
    schedule: bool = False
    latencies: Latencies = field(default_factory=Latencies)
    registers: int = 0
    banks: int = 0
    addresses_32: bool = False
    isa: str = PTX
    takes_older: bool = False

    @property
    def limit(self) -> int:
        """Return the number of registers per thread beyond which values are spilled."""
        return min(self.max_registers, self.registers or self.max_registers)


def words_of(get: Callable[[str], Any]) -> str:
    """Return the options in effect as `--compile` takes them, "" if all are off. get: a setting's value by its name."""
    words = []
    for name, option in OPTIONS.items():
        value = str(get(option.setting))
        if value != str(option.usual):
            words.append(name if value == option.bare else f"{name}={value}")
    return ",".join(words)


def words_of_run(parameters: Mapping[str, Any]) -> str:
    """Return the options in a run's parameters; missing ones are off. On the sub-core, machine code is not one of them."""
    usual = {option.setting: option.usual for option in OPTIONS.values()}
    own = usual | {name: value for name, value in parameters.items() if name in usual}
    return words_of({**own, "kernel.isa": PTX}.get if parameters.get("sm.core") == "subcore" else own.get)


def settings_of(text: str) -> dict[str, str]:
    """Return the settings given by the words of `--compile`, such as "schedule,addresses=32"; "off" resets all.

    Raises InputError for an unknown option or a value that it does not take.
    """
    where = f"--compile {text}"
    if text.strip() == OFF:
        return {option.setting: str(option.usual) for option in OPTIONS.values()}
    settings: dict[str, str] = {}
    for word in text.split(","):
        name, equals, value = (part.strip() for part in word.partition("="))
        if name not in OPTIONS:
            raise InputError(f"{where}: expected some of {', '.join(usage())}, or off{suggest(name, OPTIONS)}")
        option = OPTIONS[name]
        if not equals and not option.bare:
            raise InputError(f"{where}: {name} needs a value, for example {usage()[list(OPTIONS).index(name)]}")
        settings[option.setting] = checked(where, name, value if equals else option.bare)
    return settings


def settings_of_table(values: Mapping[str, Any], fail: Callable[[str, str], Any]) -> dict[str, str]:
    """Return the settings given by a launch file's [compile] table. fail(key, problem) raises its error."""
    settings: dict[str, str] = {}
    for name, value in values.items():
        if name not in OPTIONS:
            fail(name, f"unknown key{did_you_mean(name, OPTIONS)}; expected one of {', '.join(OPTIONS)}")
        option = OPTIONS[name]
        if isinstance(value, bool) and option.choices[:1] == (OFF,):
            value = option.choices[int(value)]
        try:
            if type(value) not in (str, int):
                raise InputError(f": expected {expected(option)}, got {value!r}")
            settings[option.setting] = checked("", name, str(value))
        except InputError as problem:
            fail(name, str(problem).partition(": ")[2])
    return settings


def checked(where: str, name: str, value: str) -> str:
    """Return the value, checked to be one that the option takes; raises InputError, which begins with `where`."""
    option = OPTIONS[name]
    is_number = not option.choices and value.isascii() and value.isdecimal() and len(value) < 9 and int(value) <= MAX_REGS
    if value not in option.choices and not is_number:
        raise InputError(f"{where}: {name}: expected {expected(option)}, got {value[:60]!r}" if where else
                         f": expected {expected(option)}, got {value[:60]!r}")
    return value


def expected(option: Option) -> str:
    """Return a description of the values that an option takes."""
    return f"one of {', '.join(option.choices)}" if option.choices else f"a whole number of 0..{MAX_REGS}, 0 = off"


def usage() -> list[str]:
    """Return how each option is written."""
    return [name if option.bare else f"{name}={option.choices[-1] if option.choices else 'N'}"
            for name, option in OPTIONS.items()]
