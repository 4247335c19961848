"""Reads a PTX module token by token: names, numbers, constant expressions, addresses and operands of instructions."""

from __future__ import annotations

from rfview.engine.errors import PtxError
from rfview.engine.ptx.parse import constants
from rfview.engine.ptx.parse.lexer import DIRECTIVE, END, NUMBER, PUNCT, STRING, WORD, Tokens, number_value
from rfview.engine.ptx.parse.source import Source
from rfview.engine.ptx.parse.syntax import Address, Group, Minus, Name, Negated, Number, Operand, Pair, Vector

_OPENING, _CLOSING = frozenset("{[("), frozenset("}])")
MAX_DEPTH = 200


class Operands:
    """Recursive descent over the token lists: each method begins at its first token and ends after its last.

    at: index of the next token; its kind and text are kinds[at] and texts[at], which always exist: the last token is END.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        tokens = Tokens(source)
        self.tokens, self.kinds, self.texts = tokens, tokens.kinds, tokens.texts
        self.at = 0

    def check_nesting(self) -> None:
        """Raise PtxError if brackets nest deeper than any kernel needs, before the parser recurses into them."""
        depth = 0
        for at, text in enumerate(self.texts):
            if text in _OPENING:
                depth += 1
                if depth > MAX_DEPTH:
                    raise self.source.error(self.tokens.line(at), f"brackets are nested more than {MAX_DEPTH} deep")
            elif text in _CLOSING:
                depth -= 1

    # -- small steps --------------------------------------------------------------------------------------------

    @property
    def line(self) -> int:
        return self.tokens.line(self.at)

    def fail(self, expected: str, at: int | None = None) -> PtxError:
        """Make the error "expected X, found Y" at a token; a missing ';' is reported on the previous token's line."""
        at = self.at if at is None else at
        line = self.tokens.line(at)
        if at and self.tokens.line(at - 1) != line and expected.startswith("';'"):
            line = self.tokens.line(at - 1)
        return self.source.error(line, f"expected {expected}, found {self.texts[at]!r}")

    def accept(self, text: str) -> bool:
        if self.texts[self.at] == text and self.kinds[self.at] != END:
            self.at += 1
            return True
        return False

    def expect(self, text: str) -> None:
        if not self.accept(text):
            raise self.fail(f"{text!r}")

    def word(self, what: str) -> str:
        if self.kinds[self.at] != WORD:
            raise self.fail(what)
        self.at += 1
        return self.texts[self.at - 1]

    def integer(self, what: str, above: int = 0) -> int:
        value = self.expression(above)
        if not isinstance(value, Number) or value.kind != "int":
            raise self.fail(what)
        return value.value

    def integers(self) -> list[int]:
        values = [self.integer("a number")]
        while self.accept(","):
            values.append(self.integer("a number"))
        return values + [1] * (3 - len(values))

    # -- operands ------------------------------------------------------------------------------------------------

    def call_operand(self) -> Operand:
        if self.texts[self.at] == "(":
            return Group(self.list_until(")"))
        return self.operand()

    def operand(self) -> Operand:
        first = self.simple_operand()
        if self.texts[self.at] == "|":
            self.at += 1
            return Pair(first, self.simple_operand())
        return first

    def simple_operand(self) -> Operand:
        kind, text = self.kinds[self.at], self.texts[self.at]
        if kind == WORD and text != "WARP_SZ":
            self.at += 1
            follows = self.texts[self.at]
            if follows in ("+", "-") and self.kinds[self.at] == PUNCT:
                return Name(text, self.integer("an offset"))
            return Name(text)
        if text == "[":
            return self.address()
        if text == "{":
            return Vector(self.list_until("}"))
        if text == "!" and self.kinds[self.at + 1] == WORD:
            self.at += 1
            return Negated(Name(self.word("a predicate")))
        if text == "-" and self.kinds[self.at + 1] == WORD and self.texts[self.at + 1] != "WARP_SZ":
            self.at += 1
            return Minus(Name(self.word("a register")))
        if kind in (NUMBER, WORD) or text in ("-", "~", "+", "!", "("):
            at, value = self.at, self.expression()
            if isinstance(value, Name):     # in parentheses
                raise self.fail("a constant expression", at + 1)
            return value
        raise self.fail("';' or an operand")

    def list_until(self, close: str) -> list[Operand]:
        self.at += 1
        items: list[Operand] = []
        while not self.accept(close):
            items.append(self.operand())
            if not self.accept(",") and self.texts[self.at] != close:
                raise self.fail(f"',' or {close!r}")
        return items

    def address(self) -> Operand:
        self.at += 1
        if self.kinds[self.at] == WORD:
            base, offset = Name(self.texts[self.at]), 0
            self.at += 1
            if self.texts[self.at] in ("+", "-"):
                offset = self.integer("an offset")
                if not -1 << 63 <= offset < 1 << 63:
                    raise self.fail("an offset of at most 63 bits", self.at - 1)
        else:
            base, offset = None, self.integer("a register, symbol or number as the address")
        if self.accept("]"):
            return Address(base, offset)
        if self.texts[self.at] == ",":  # tex.2d [texture, {x, y}]: stored as a group
            items: list[Operand] = [base or Number("int", offset)]
            while self.accept(","):
                items.append(self.operand())
            self.expect("]")
            return Group(items)
        raise self.fail("']'")

    # -- constant expressions -----------------------------------------------------------------------------------

    def expression(self, above: int = 0) -> Number | Name:
        """Read an expression of operators that bind more tightly than `above`; or `symbol + n`, `generic(symbol) + n`."""
        value = self.term()
        while constants.PRECEDENCE.get(self.texts[self.at], 0) > above:
            at, operator = self.at, self.texts[self.at]
            self.at += 1
            right = self.expression(constants.PRECEDENCE[operator])
            if not isinstance(right, Number) or right.kind != "int":
                raise self.fail("an integer in the constant expression", at + 1)
            if isinstance(value, Name) and operator in "+-":
                sum_ = self.combined(operator, Number("int", value.addend), right, at + 1)
                value = Name(value.text, sum_.value)
            elif isinstance(value, Number) and value.kind == "int":
                value = self.combined(operator, value, right, at + 1)
            else:
                raise self.fail("an integer constant expression", at - 1)
        return self.choice(value) if self.texts[self.at] == "?" and not above else value

    def choice(self, condition: Number | Name) -> Number | Name:
        """Read `? a : b` after a condition."""
        if not isinstance(condition, Number) or condition.kind != "int":
            raise self.fail("an integer as the condition", self.at - 1)
        self.at += 1
        first = self.expression()
        self.expect(":")
        second = self.expression()
        return first if condition.value else second

    def combined(self, operator: str, left: Number, right: Number, at: int) -> Number:
        """Compute `left operator right`, whose right operand starts at token `at`."""
        if operator in constants.SHIFTS and not 0 <= right.value < 64:
            raise self.fail("a shift by 0 to 63 bits", at)
        if operator in constants.DIVISIONS and not right.value:
            raise self.fail("a divisor other than 0", at)
        return constants.combined(operator, left, right)

    def in_64_bits(self, value: int) -> int:
        """Return `value` if it fits in 64 bits, signed or unsigned, else raise PtxError at the previous token."""
        if not -1 << 63 <= value < 1 << 64:
            raise self.fail("a number of at most 64 bits", self.at - 1)
        return value

    def term(self) -> Number | Name:
        kind, text = self.kinds[self.at], self.texts[self.at]
        self.at += 1
        if kind == NUMBER:
            try:
                form, number = number_value(text)
            except ValueError:
                raise self.fail("a number of at most 64 bits", self.at - 1) from None
            return Number(form, self.in_64_bits(number), number >= 1 << 63 or text.endswith(("U", "u")))
        if kind == STRING:
            raise self.fail("a number", self.at - 1)
        if text in ("-", "+", "~", "!"):
            return self.signed(text)
        if text == "(":
            if self.kinds[self.at] == DIRECTIVE:
                return self.cast()
            value = self.expression()
            self.expect(")")
            return value
        if kind == WORD:
            if text == "WARP_SZ":
                return Number("int", 32)
            if text == "generic" and self.accept("("):
                value = self.expression()
                self.expect(")")
                return value
            return Name(text)
        raise self.fail("a number", self.at - 1)

    def cast(self) -> Number:
        target = self.texts[self.at]
        if target not in (".s64", ".u64"):
            raise self.fail(".s64 or .u64 as the type of a constant")
        self.at += 1
        self.expect(")")
        at = self.at
        value = self.term()
        if not isinstance(value, Number) or value.kind != "int":
            raise self.fail("an integer", at)
        return Number("int", value.value, target == ".u64")

    def signed(self, sign: str) -> Number:
        at = self.at
        value = self.term()
        if not isinstance(value, Number):
            raise self.fail("a number", at)
        if value.kind == "f64" and sign == "-":
            return Number("f64", value.value ^ (1 << 63))
        if value.kind == "f32" and sign == "-":
            return Number("f32", value.value ^ (1 << 31))
        if value.kind != "int":
            raise self.fail("an integer", at)
        return constants.signed(sign, value)
