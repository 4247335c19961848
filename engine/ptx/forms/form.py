"""One form of the table as the functions that choose its opcode see it, and what they return."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

from rfview.engine.isa import (FLAG_FTZ, FLAG_INT_ROUND, FLAG_NAN, FLAG_RELU, FLAG_SAT, ROUND_RM, ROUND_RN, ROUND_RP,
                               ROUND_RZ, ROUND_SHIFT)
from rfview.engine.program import LAT_OTHER, UNIT_SFU, UNIT_SP, WAIT_FIXED, WAIT_SHORT

Value = TypeVar("Value")
_ROUNDS = {"n": ROUND_RN, "z": ROUND_RZ, "m": ROUND_RM, "p": ROUND_RP}
_FLAGS = {"ftz": FLAG_FTZ, "sat": FLAG_SAT, "relu": FLAG_RELU, "NaN": FLAG_NAN} \
    | {f"r{letter}": mode << ROUND_SHIFT for letter, mode in _ROUNDS.items()} \
    | {f"r{letter}i": FLAG_INT_ROUND | mode << ROUND_SHIFT for letter, mode in _ROUNDS.items()}
FLOATS = frozenset({"f16", "bf16", "f16x2", "bf16x2", "f32", "f64"})


class OpInfo(NamedTuple):
    """What the front end copies into an INST, and the types of its operands; see the package docstring."""

    op: int
    flags: int
    aux: int
    unit: int
    latency_class: int
    wait_class: int
    src_types: tuple[str, ...]
    dst_type: str | None
    num_pdst: int
    num_psrc: int
    is_float: bool


class Chosen(NamedTuple):
    """The opcode of a form, without its operands; waits for the special-function unit count as short, others as fixed."""

    op: int
    latency: int = LAT_OTHER
    unit: int = UNIT_SP
    flags: int = 0
    aux: int = 0
    is_float: bool = False

    @property
    def wait(self) -> int:
        return WAIT_SHORT if self.unit == UNIT_SFU else WAIT_FIXED


class Spelling(NamedTuple):
    """A form's name in the table ("mul.wide"), its other modifiers, and its types, both in order."""

    name: str
    words: tuple[str, ...]
    types: tuple[str, ...]

    @property
    def base(self) -> str:
        return self.name.partition(".")[0]

    @property
    def type(self) -> str:
        """The first type; "" if it has none."""
        return self.types[0] if self.types else ""

    @property
    def flags(self) -> int:
        """The flags of the rounding mode, .ftz, .sat, .relu and .NaN."""
        return sum(_FLAGS.get(word, 0) for word in self.words)

    def value(self, values: dict[str, Value], default: Value) -> Value:
        """Return the value of the modifier that is among `values`."""
        return next((values[word] for word in self.words if word in values), default)
