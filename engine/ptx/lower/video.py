"""Lowering of the video instructions: vadd etc. on one byte, half or word of each operand, vadd2 and vadd4 etc. on all.

Every element is computed in 64 bits, saturated, then added to, compared with or merged into operand c, as described in
the PTX manual under scalar and SIMD video instructions.
"""

from __future__ import annotations

from rfview.engine.ptx.lower.context import Lowering
from rfview.engine.ptx.lower.steps import Steps
from rfview.engine.ptx.parse.syntax import Instruction, Minus, Name, Operand, Vector

_SCALAR = ("vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vmad", "vset")
_PACKED = tuple(f"{base}{count}" for base in ("vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax", "vset") for count in "24")
_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
_SECOND = ("add", "min", "max")
_PARTS = {f"b{place}": (8 * place, 8) for place in range(4)} | {f"h{place}": (16 * place, 16) for place in range(2)}


def is_video(opcode: str) -> bool:
    """Return whether an opcode is lowered here."""
    return opcode.split(".")[0] in (*_SCALAR, *_PACKED)


def lower_video(low: Lowering, statement: Instruction) -> None:
    """Lower one video instruction."""
    base, *parts = statement.opcode.split(".")
    types = [part for part in parts if part in ("u32", "s32")]
    others = [part for part in parts if part not in ("u32", "s32")]
    form = _Form(low, statement, base.rstrip("24"), others)
    if base.startswith("vset"):
        types.insert(0, "u32")
    form.result, form.signs = types[0], (types[1][0], types[2][0])
    if base in _PACKED:
        form.packed(int(base[-1]))
    else:
        form.scalar()


class _Form:
    """One video instruction: its modifiers, and the steps that replace it."""

    def __init__(self, low: Lowering, statement: Instruction, base: str, others: list[str]) -> None:
        self.low, self.statement, self.base, self.steps = low, statement, base, Steps(low, statement)
        self.result, self.signs = "u32", ("u", "u")
        self.saturates = self._take(others, "sat")
        self.wraps, clamps = self._take(others, "wrap"), self._take(others, "clamp")
        self.scale = 7 * self._take(others, "shr7") + 15 * self._take(others, "shr15")
        self.plus_one = self._take(others, "po")
        self.comparison = next((part for part in _COMPARISONS if self._take(others, part)), "")
        self.second = next((part for part in _SECOND if self._take(others, part)), "")
        is_shift = base in ("vshl", "vshr")
        if others or (self.wraps or clamps) != is_shift or bool(self.comparison) != (base == "vset") \
                or (self.scale or self.plus_one) and base != "vmad":
            raise low.fail(f"unsupported instruction '{statement.opcode}'; nearest supported form: '{base}.u32.u32.u32'")

    @staticmethod
    def _take(others: list[str], part: str) -> bool:
        if part in others:
            others.remove(part)
            return True
        return False

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
        if self.second not in ("", "add"):
            raise self.low.fail(f"'{self.statement.opcode}': packed elements are added up or put side by side")
        bits = 32 // count
        target, chosen = self._elements(operands[0], count, range(count))
        first, first_places = self._elements(operands[1], count, range(count), count)
        second, second_places = self._elements(operands[2], count, range(count, 2 * count), count)
        words, places = (first, second), (first_places, second_places)
        total: Operand = self.steps.value("mov.b32", operands[3])
        for element in chosen:
            a, b = (self._wide(words[place[element] // count], sign, (place[element] % count * bits, bits))
                    for place, sign in zip(places, self.signs, strict=True))
            value = self._low_word(self._saturated(self._computed(a, b), bits))
            total = self.steps.value("add.u32", total, value) if self.second else \
                self.steps.value("bfi.b32", value, total, element * bits, bits)
        self.steps.emit("mov.b32", target, total)

    def _elements(self, operand: Operand, count: int, usual: range, needed: int = 0) -> tuple[Operand, list[int]]:
        """Return an operand without its selector, and the elements that it selects, the lowest first.

        usual: the elements without a selector. needed: how many a source selects, among those of a and, above them, of
        b; 0 for the result, whose mask selects some in descending order.
        """
        name, dot, part = operand.text.rpartition(".") if isinstance(operand, Name) else ("", "", "")
        if not dot or self.low.names.find(name) is None:
            return operand, list(usual)
        digits = [ord(digit) - ord("0") for digit in reversed(part[1:])]
        fits = len(digits) == needed if needed else digits and digits == sorted({*digits})
        known = range(2 * count if needed else count)
        if part[0] != ("h" if count == 2 else "b") or not fits or any(digit not in known for digit in digits):
            raise self.low.fail(f"'{self.statement.opcode}': the selector '.{part}' is not supported")
        return Name(name), digits

    def _selected(self, operand: Operand) -> tuple[Operand, tuple[int, int]]:
        """Return an operand without its selector, and the first bit and number of bits that it selects."""
        if isinstance(operand, Name):
            name, dot, part = operand.text.rpartition(".")
            if dot and self.low.names.find(name) is not None:
                if part not in _PARTS:
                    raise self.low.fail(f"'{self.statement.opcode}': the selector '.{part}' is not supported")
                return Name(name), _PARTS[part]
        return operand, (0, 32)

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
