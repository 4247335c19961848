"""Lowering of the video instructions: vadd etc. on one byte, half or word of each operand, vadd2 and vadd4 etc. on all.

Every element is computed in 64 bits, saturated, then added to, compared with or merged into operand c, as described in
the PTX manual under scalar and SIMD video instructions.
"""

from __future__ import annotations

from rfview.engine.ptx.lower.context import Lowering
from rfview.engine.ptx.lower.steps import Steps
from rfview.engine.ptx.parse.syntax import Instruction, Minus, Name, Operand, Vector

SCALAR = ("vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vmad", "vset")
PACKED = tuple(f"{base}{count}" for base in ("vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax", "vset") for count in "24")
_SECOND = ("add", "min", "max")
_PARTS = {f"b{place}": (8 * place, 8) for place in range(4)} | {f"h{place}": (16 * place, 16) for place in range(2)}


def lower_video(low: Lowering, statement: Instruction) -> None:
    """Lower one video instruction."""
    base = statement.opcode.split(".")[0]
    form = _Form(low, statement)
    if base in PACKED:
        form.packed(int(base[-1]))
    else:
        form.scalar()


class _Form:
    """One video instruction: its modifiers, and the steps that replace it."""

    def __init__(self, low: Lowering, statement: Instruction) -> None:
        self.low, self.statement, self.steps = low, statement, Steps(low, statement)
        base, *words = statement.opcode.split(".")
        self.base = base.rstrip("24")
        types = ["u32"] * (self.base == "vset") + [word for word in words if word in ("u32", "s32")]
        self.result, self.signs = types[0], (types[1][0], types[2][0])
        self.saturates, self.wraps, self.plus_one = ("sat" in words), ("wrap" in words), ("po" in words)
        self.scale = 7 * ("shr7" in words) + 15 * ("shr15" in words)
        self.comparison = words[0]
        self.second = next((word for word in words if word in _SECOND), "")

    def scalar(self) -> None:
        """Extract both parts, compute, then apply the second operation or merge the result into operand c."""
        operands = self.statement.operands
        target, place = self._selected(operands[0])
        merges = place != (0, 32)
        has_third = self.base == "vmad" or bool(self.second) or merges
        minus = [isinstance(operand, Minus) for operand in operands]
        operands = [operand.name if isinstance(operand, Minus) else operand for operand in operands]
        a, b = (self._extended(operand, sign) for operand, sign in zip(operands[1:3], self.signs, strict=True))
        third = operands[3] if has_third else None
        if self.base == "vmad":
            assert third is not None
            is_minus = minus[1] != minus[2]
            is_signed = "s" in self.signs or is_minus
            addend = self._extended(third, "s" if is_signed else self.result[0] if not minus[3] else "u")
            if is_minus:
                a = self.steps.value("neg.s64", a, bits=64)
            if minus[3]:
                addend = self.steps.value("neg.s64", addend, bits=64)
            value = self.steps.value("mad.lo.s64", a, b, addend, bits=64)
            if self.plus_one:
                value = self.steps.value("add.s64", value, 1, bits=64)
            if self.scale:
                value = self.steps.value(f"shr.{'s' if is_signed or minus[3] else 'u'}64", value, self.scale, bits=64)
        else:
            value = self._computed(a, b)
        low_word: Operand = self._low_word(self._saturated(value, place[1]))
        if self.second:
            assert third is not None
            low_word = self.steps.value(f"{self.second}.{self.result}", low_word, third)
        elif merges:
            assert third is not None
            low_word = self.steps.value("bfi.b32", low_word, third, *place)
        self.steps.emit("mov.b32", target, low_word)

    def packed(self, count: int) -> None:
        """Compute the elements that the result's mask selects; the others are those of operand c. .add sums instead."""
        operands = self.statement.operands
        bits = 32 // count
        target, chosen = self._elements(operands[0], range(count))
        first, first_places = self._elements(operands[1], range(count))
        second, second_places = self._elements(operands[2], range(count, 2 * count))
        words, places = (first, second), (first_places, second_places)
        total: Operand = self.steps.value("mov.b32", operands[3])
        for element in chosen:
            a, b = (self._wide(words[place[element] // count], sign, (place[element] % count * bits, bits))
                    for place, sign in zip(places, self.signs, strict=True))
            value = self._low_word(self._saturated(self._computed(a, b), bits))
            total = self.steps.value("add.u32", total, value) if self.second else \
                self.steps.value("bfi.b32", value, total, element * bits, bits)
        self.steps.emit("mov.b32", target, total)

    def _elements(self, operand: Operand, usual: range) -> tuple[Operand, list[int]]:
        """Return an operand without its selector, and the elements that it selects, the lowest first.

        usual: the elements without a selector. A source selects among those of a and, above them, of b.
        """
        name, part = self._parted(operand)
        return name, [int(digit) for digit in reversed(part[1:])] if part else list(usual)

    def _selected(self, operand: Operand) -> tuple[Operand, tuple[int, int]]:
        """Return an operand without its selector, and the first bit and number of bits that it selects."""
        name, part = self._parted(operand)
        return name, _PARTS[part] if part else (0, 32)

    def _parted(self, operand: Operand) -> tuple[Operand, str]:
        """Split a selector from an operand; "" if it has none."""
        if not isinstance(operand, Name) or self.low.names.find(operand.text) is not None:
            return operand, ""
        name, dot, part = operand.text.rpartition(".")
        return (Name(name), part) if dot and self.low.names.find(name) is not None else (operand, "")

    def _extended(self, operand: Operand, sign: str) -> Name:
        whole, place = self._selected(operand)
        return self._wide(whole, sign, place)

    def _wide(self, operand: Operand, sign: str, place: tuple[int, int]) -> Name:
        """Extend part of an operand to 64 bits."""
        if place != (0, 32):
            operand = self.steps.value(f"bfe.{sign}32", operand, *place)
        return self.steps.value(f"cvt.{sign}64.{sign}32", self.steps.value("mov.b32", operand), bits=64)

    def _computed(self, a: Name, b: Name) -> Name:
        """Compute one element in 64 bits."""
        steps, base = self.steps, self.base
        if base == "vset":
            chosen = steps.value(f"setp.{self.comparison}.s64", a, b, bits=1)
            return steps.value("selp.b64", 1, 0, chosen, bits=64)
        if base in ("vshl", "vshr"):
            by = self._low_word(b)
            by = steps.value("and.b32", by, 31) if self.wraps else steps.value("min.u32", by, 32)
            return steps.value("shl.b64" if base == "vshl" else "shr.s64", a, by, bits=64)
        if base == "vavrg":
            total = steps.value("add.s64", a, b, bits=64)
            up = steps.value("selp.b64", 1, 0, steps.value("setp.ge.s64", total, 0, bits=1), bits=64)
            return steps.value("shr.s64", steps.value("add.s64", total, up, bits=64), 1, bits=64)
        operation = {"vabsdiff": "sub"}.get(base, base[1:])
        value = steps.value(f"{operation}.s64", a, b, bits=64)
        return steps.value("abs.s64", value, bits=64) if base == "vabsdiff" else value

    def _saturated(self, value: Name, bits: int) -> Name:
        """With .sat, clamp to the range of the result's type and width."""
        if not self.saturates:
            return value
        is_signed = self.result == "s32"
        least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if is_signed else (0, (1 << bits) - 1)
        return self.steps.value("min.s64", self.steps.value("max.s64", value, least, bits=64), most, bits=64)

    def _low_word(self, value: Name) -> Name:
        word = self.steps.new()
        self.steps.emit("mov.b64", Vector([word, Name("_")]), value)
        return word
