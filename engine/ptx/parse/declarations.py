"""Reads declarations of variables, parameters and registers, with their types, sizes and initial values."""

from __future__ import annotations

from rfview.engine.ptx.parse import constants
from rfview.engine.ptx.parse.lexer import DIRECTIVE, END
from rfview.engine.ptx.parse.operands import Operands
from rfview.engine.ptx.parse.syntax import TYPE_BYTES, AddressByte, Name, Number, RegisterDeclaration, Variable

_BYTE_MASKS = [0xFF << 8 * byte for byte in range(8)]
# largest array in each space, in bytes: what the largest GPUs have; elsewhere, more than a run here can use
MAX_ARRAY = {"shared": 227 << 10, "local": 512 << 10, "param": 1 << 32}
MAX_OTHER_ARRAY, MAX_INITIALISED = 2 << 30, 64 << 20
_OPAQUE = {"texref", "samplerref", "surfref"}


class Declarations(Operands):
    """Adds declarations to the reader of operands."""

    def parameters(self) -> list[Variable]:
        self.expect("(")
        parameters: list[Variable] = []
        while not self.accept(")"):
            parameters.append(self.parameter())
            if not self.accept(",") and self.texts[self.at] != ")":
                raise self.fail("',' or ')' in the parameter list")
        return parameters

    def parameter(self) -> Variable:
        if self.texts[self.at] not in (".param", ".reg"):
            raise self.fail("'.param'")
        is_register = self.texts[self.at] == ".reg"
        self.at += 1
        variable = Variable(self.line, "param", "", "", is_register=is_register)
        self.attributes(variable)
        if self.accept(".ptr"):
            while self.kinds[self.at] == DIRECTIVE:
                if self.accept(".align"):
                    self.alignment()
                else:
                    self.at += 1
        variable.line = self.line
        variable.name = self.word("a parameter name")
        self.dimensions(variable)
        return variable

    def attributes(self, variable: Variable) -> None:
        """Read .align N, .v2 / .v4, .attribute(...) and the type."""
        while self.kinds[self.at] == DIRECTIVE:
            text = self.texts[self.at]
            if text == ".align":
                self.at += 1
                variable.align = self.alignment()
                continue
            if text == ".attribute":
                while not self.accept(")"):
                    self.at += 1
                continue
            if text in (".v2", ".v4", ".v8"):
                variable.vector = int(text[2:])
            elif text[1:] in TYPE_BYTES:
                variable.type = text[1:]
            else:
                break
            self.at += 1
        if not variable.type:
            raise self.fail("a type such as .u32")

    def alignment(self) -> int:
        align = self.integer("an alignment")
        if align < 1 or align & align - 1:
            raise self.fail("an alignment that is a power of two", self.at - 1)
        return align

    def dimensions(self, variable: Variable) -> list[int]:
        extents: list[int] = []
        while self.accept("["):
            variable.is_array = True
            extents.append(0 if self.texts[self.at] == "]" else self.integer("an array size"))
            if extents[-1] < 0:
                raise self.source.error(variable.line, f"'{variable.name}' has the array size {extents[-1]}")
            self.expect("]")
        variable.count = 1
        for extent in extents:
            variable.count *= extent
        most = MAX_ARRAY.get(variable.space, MAX_OTHER_ARRAY)
        if self.texts[self.at] == "=":
            most = min(most, MAX_INITIALISED)
        if (size := variable.count * variable.vector * TYPE_BYTES.get(variable.type, 0)) > most:
            raise self.source.error(variable.line, f"'{variable.name}' takes {size:,} bytes; in .{variable.space} at most "
                                                   f"{most:,} are available")
        return extents

    def variables(self, is_extern: bool = False) -> list[Variable]:
        space = self.texts[self.at][1:]
        self.at += 1
        head = Variable(self.line, space, "", "", is_extern=is_extern)
        self.attributes(head)
        if head.type == "pred":
            raise self.source.error(head.line, f"a predicate cannot be in .{space}; declare it in .reg, or store an integer")
        if space == "tex":  # PTX 1.x: .tex .u64 name
            space, head.type = "global", "texref"
        variables: list[Variable] = []
        while True:
            line = self.line
            variable = Variable(line, space, head.type, self.word("a variable name"), align=head.align,
                                vector=head.vector, is_extern=is_extern)
            extents = self.dimensions(variable)
            if head.type in _OPAQUE and self.accept("="):
                self.skip_braces()
            elif self.accept("="):
                if space not in ("global", "const") or is_extern:
                    where = "of another module" if is_extern else f"in .{space}"
                    raise self.source.error(line, f"'{variable.name}', {where}, cannot have an initial value")
                variable.init = self.initialiser(extents[1:])
                if variable.count == 0:
                    variable.count = len(variable.init)
            variables.append(variable)
            if not self.accept(","):
                break
        if not self.accept(";"):
            raise self.fail("';' after the declaration")
        return variables

    def initialiser(self, inner: list[int]) -> list[object]:
        """Read an initialiser as a flat list of Number and Name; short rows of nested braces are zero-filled."""
        if not self.accept("{"):
            return [self.initial_value()]
        row = 1
        for extent in inner:
            row *= extent
        values: list[object] = []
        while not self.accept("}"):
            if self.texts[self.at] == "{":
                part = self.initialiser(inner[1:])
                values += part + [Number("int", 0)] * (row - len(part))
            else:
                values.append(self.initial_value())
            if not self.accept(",") and self.texts[self.at] != "}":
                raise self.fail("',' or '}' in the initialiser")
        return values

    def initial_value(self) -> Number | Name | AddressByte:
        """Read an expression, or one byte of an address: `0xFF00(symbol + 4)`."""
        at, value = self.at, self.expression()
        if not isinstance(value, Number) or self.texts[self.at] != "(":
            return value
        if value.value not in _BYTE_MASKS:
            raise self.fail("a mask of one byte, such as 0xFF00", at)
        address = self.expression()
        if not isinstance(address, Name):
            raise self.fail("a symbol in parentheses", at + 1)
        return AddressByte(address, _BYTE_MASKS.index(value.value))

    def register_declaration(self, names: set[str]) -> list[RegisterDeclaration]:
        self.at += 1
        head = Variable(self.line, "reg", "", "")
        self.attributes(head)
        declarations: list[RegisterDeclaration] = []
        while True:
            line, name, count = self.line, self.word("a register name"), -1
            if self.accept("<"):
                count = self.integer("a register count", constants.PRECEDENCE[">"])
                if count < 0:
                    raise self.source.error(line, f"register '{name}' has the count {count}")
                self.expect(">")
            key = name if count < 0 else f"{name}<>"
            if key in names:
                raise self.source.error(line, f"register '{name}' is declared twice in this scope")
            names.add(key)
            declarations.append(RegisterDeclaration(line, head.type, name, count, head.vector))
            if not self.accept(","):
                break
        if not self.accept(";"):
            raise self.fail("';' after the register declaration")
        return declarations

    def skip_braces(self) -> None:
        """Skip `{ ... }`: a debug section, or the properties of a texture or sampler."""
        self.expect("{")
        while not self.accept("}"):
            if self.kinds[self.at] == END:
                raise self.fail("'}'")
            self.at += 1
