"""Tokens to the syntax tree of a PTX module; statements end at `;`, never at a line end."""

from __future__ import annotations

import difflib
import re

from rfview.engine.errors import PtxError
from rfview.engine.ptx.parse import constants
from rfview.engine.ptx.parse.lexer import DIRECTIVE, END, NUMBER, PUNCT, STRING, WORD, Tokens, number_value
from rfview.engine.ptx.parse.source import Source
from rfview.engine.ptx.parse.syntax import (TYPE_BYTES, Address, AddressByte, BranchTargets, Function, Group, Instruction,
                                            Label, Minus, Name, Negated, Number, Operand, Pair, RegisterDeclaration, Scope,
                                            SyntaxModule, Variable, Vector)
from rfview.engine.ptx.paused import collector_paused

_VERSION = re.compile(r"[1-9]\.\d+|1\d\.\d+")      # 9.x is the newest that is known; later ones are not refused
_TARGET = re.compile(r"(?:sm|compute)_(\d+)[af]?")
_TARGET_OPTIONS = ("texmode_unified", "texmode_independent", "debug", "map_f64_to_f32")
_ARCHITECTURES = (10, 11, 12, 13, 20, 21, 30, 32, 35, 37, 50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 88, 89, 90,
                  100, 101, 103, 110, 120, 121)
_NEXT_ARCHITECTURES = range(122, 200)      # not known yet, and not refused
_LINKAGE = {".visible", ".extern", ".weak", ".common"}
_VARIABLE_SPACES = {".global", ".const", ".shared", ".local", ".param", ".tex"}
_TUNING = {".minnctapersm", ".maxnreg", ".maxnctapersm", ".maxclusterrank", ".abi_preserve",
           ".abi_preserve_control"}
_TUNING_FLAGS = {".noreturn", ".blocksareclusters", ".explicitcluster", ".unified"}
_BYTE_MASKS = [0xFF << 8 * byte for byte in range(8)]
_OPENING, _CLOSING = frozenset("{[("), frozenset("}])")
MAX_DEPTH = 200
# largest array in each space, in bytes: what the largest GPUs have; elsewhere, more than a run here can use
MAX_ARRAY = {"shared": 227 << 10, "local": 512 << 10, "param": 1 << 32}
MAX_OTHER_ARRAY, MAX_INITIALISED = 2 << 30, 64 << 20
_OPAQUE = {"texref", "samplerref", "surfref"}


@collector_paused()
def parse_module(source: Source) -> SyntaxModule:
    """Parse a whole module. Raises PtxError for anything that is not PTX."""
    parser = _Parser(source)
    parser.check_nesting()
    try:
        return parser.module()
    except RecursionError:      # many signs, as in - - - 1
        raise source.error(parser.line, "expressions are nested too deeply") from None


def take_parameters(function: Function, body: Scope) -> None:
    """Make the .param variables in an entry's body its parameters, as PTX 1.0 to 1.3 declares them."""
    parameters = [item for item in body.items if isinstance(item, Variable) and item.space == "param"]
    function.params += parameters
    body.items = [item for item in body.items if item not in parameters]


class _Parser:
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

    # -- module scope -------------------------------------------------------------------------------------------

    def module(self) -> SyntaxModule:
        module = SyntaxModule()
        while self.accept(";"):
            pass
        if self.texts[self.at] != ".version":
            raise self.source.error(1, "expected '.version' at the start of a PTX module")
        while self.kinds[self.at] != END:
            self.module_item(module)
        if not module.target:
            raise self.source.error(1, "expected '.target' after '.version'")
        return module

    def module_item(self, module: SyntaxModule) -> None:
        text = self.texts[self.at]
        if text == ".version":
            self.at += 1
            if self.kinds[self.at] != NUMBER or not _VERSION.fullmatch(self.texts[self.at]):
                raise self.fail("a version such as 8.0")
            module.version = self.texts[self.at]
            self.at += 1
        elif text == ".target":
            self.at += 1
            module.target = self.target()
            while self.accept(","):
                if self.texts[self.at] not in _TARGET_OPTIONS and not _TARGET.fullmatch(self.texts[self.at]):
                    raise self.fail(f"a target option ({', '.join(_TARGET_OPTIONS)})")
                self.at += 1
        elif text == ".address_size":
            self.at += 1
            module.address_size = self.integer("32 or 64")
            if module.address_size not in (32, 64):
                raise self.fail("32 or 64", self.at - 1)
        elif text in (".file", ".loc"):
            self.skip_line_directive()
        elif text == ".section":
            self.skip_section()
        elif text in (".pragma", ".alias"):
            self.skip_to_semicolon()
        elif text == ";":
            self.at += 1
        else:
            self.declaration(module)

    def target(self) -> str:
        """Read the name of a GPU's architecture, with 'a' or 'f' after those whose features are not carried forward."""
        name = self.word("a target such as sm_75")
        match = _TARGET.fullmatch(name)
        if match is None or int(match[1]) not in (*_ARCHITECTURES, *_NEXT_ARCHITECTURES):
            near = difflib.get_close_matches(name, [f"sm_{number}" for number in _ARCHITECTURES], n=1, cutoff=0.0)[0]
            raise self.fail(f"a target such as {near}", self.at - 1)
        return name

    def declaration(self, module: SyntaxModule) -> None:
        is_extern = False
        while self.texts[self.at] in _LINKAGE:
            is_extern |= self.texts[self.at] in (".extern", ".common")
            self.at += 1
        text = self.texts[self.at]
        if text == ".local":
            raise self.fail("a declaration; .local variables are declared in functions")
        if text in (".entry", ".func"):
            self.function(module)
        elif text in _VARIABLE_SPACES:
            for variable in self.variables(is_extern):
                old = module.variables.get(variable.name)
                if old is not None and not (old.is_extern or variable.is_extern):
                    raise self.source.error(variable.line, f"'{variable.name}' is declared twice (line {old.line})")
                if old is None or not variable.is_extern:
                    module.variables[variable.name] = variable
        else:
            raise self.fail("a module directive (.entry, .func, .global, .const, .shared ...)")

    def skip_line_directive(self) -> None:
        """Skip .file / .loc: numbers, strings, `function_name`, `inlined_at` up to the end of the line."""
        line = self.line
        while self.kinds[self.at] != END and self.line == line and self.texts[self.at] not in "{}":
            self.at += 1

    def skip_section(self) -> None:
        self.at += 2
        self.skip_braces()

    def skip_braces(self) -> None:
        """Skip `{ ... }`: a debug section, or the properties of a texture or sampler."""
        self.expect("{")
        while not self.accept("}"):
            if self.kinds[self.at] == END:
                raise self.fail("'}'")
            self.at += 1

    def skip_to_semicolon(self) -> None:
        while not self.accept(";"):
            if self.kinds[self.at] == END or self.texts[self.at] in "{}":
                raise self.fail("';'")
            self.at += 1

    # -- functions ----------------------------------------------------------------------------------------------

    def function(self, module: SyntaxModule) -> None:
        is_entry = self.texts[self.at] == ".entry"
        self.at += 1
        if is_entry and self.texts[self.at] == "(":
            raise self.fail("a kernel's name; kernels return no values")
        returns = self.parameters() if self.texts[self.at] == "(" else []
        line = self.line
        function = Function(line, self.word("a function name"), is_entry, returns=returns)
        if self.texts[self.at] == "(":
            function.params = self.parameters()
        self.tuning(function)
        if not self.accept(";"):
            if self.texts[self.at] != "{":
                raise self.fail("'{' or ';' after the function head")
            function.body = self.scope()
            if is_entry and module.version.startswith("1."):
                take_parameters(function, function.body)
            self.take_symbols(module, function.body)
        self.add_function(module, function)

    def take_symbols(self, module: SyntaxModule, body: Scope) -> None:
        """Move the .global and .const variables of a body to the module: all calls share them."""
        for variable in [item for item in body.items if isinstance(item, Variable) and item.space in ("global", "const")]:
            if variable.name in module.variables:
                raise self.source.error(variable.line, f"'{variable.name}' is declared twice")
            module.variables[variable.name] = variable
            body.items.remove(variable)

    def add_function(self, module: SyntaxModule, function: Function) -> None:
        old = module.functions.get(function.name)
        if old is not None and old.body is not None:
            if function.body is not None:
                raise self.source.error(function.line, f"'{function.name}' is defined twice (line {old.line})")
            return
        seen: set[str] = set()
        for param in function.params + function.returns:
            if param.name in seen:
                raise self.source.error(param.line, f"parameter '{param.name}' is declared twice")
            seen.add(param.name)
        module.functions[function.name] = function

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

    def tuning(self, function: Function) -> None:
        while True:
            text = self.texts[self.at]
            if text in (".maxntid", ".reqntid"):
                self.at += 1
                extents = self.integers()
                if min(extents) < 1:
                    raise self.fail("at least one thread in each direction", self.at - 1)
                function.max_threads = extents[0] * extents[1] * extents[2]
                if text == ".reqntid":
                    function.required = (extents[0], extents[1], extents[2])
            elif text == ".reqnctapercluster":
                self.at += 1
                extents = self.integers()
                function.ctas_per_cluster = extents[0] * extents[1] * extents[2]
            elif text in _TUNING:
                self.at += 1
                self.integers()
            elif text == ".pragma":
                self.skip_to_semicolon()
            elif text in _TUNING_FLAGS:
                self.at += 1
            else:
                return

    def integers(self) -> list[int]:
        values = [self.integer("a number")]
        while self.accept(","):
            values.append(self.integer("a number"))
        return values + [1] * (3 - len(values))

    # -- declarations -------------------------------------------------------------------------------------------

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

    # -- statements ---------------------------------------------------------------------------------------------

    def scope(self) -> Scope:
        scope = Scope(self.line)
        self.expect("{")
        names: set[str] = set()
        while not self.accept("}"):
            if self.kinds[self.at] == END:
                raise self.source.error(scope.line, "'{' without its '}'")
            self.statement(scope, names)
        return scope

    def statement(self, scope: Scope, names: set[str]) -> None:
        kind, text = self.kinds[self.at], self.texts[self.at]
        if kind == WORD:
            if self.texts[self.at + 1] == ":":
                self.label(scope, names)
            else:
                scope.items.append(self.instruction())
        elif text == "@":
            scope.items.append(self.instruction())
        elif text == "{":
            scope.items.append(self.scope())
        elif text == ";":
            self.at += 1
        elif kind == DIRECTIVE:
            self.body_directive(scope, names)
        else:
            raise self.fail("an instruction, label or directive")

    def label(self, scope: Scope, names: set[str]) -> None:
        line, name = self.line, self.texts[self.at]
        self.at += 2
        if name in names:
            raise self.source.error(line, f"'{name}' is defined twice in this scope")
        names.add(name)
        if self.texts[self.at] == ".branchtargets":
            self.at += 1
            targets = [self.word("a label")]
            while self.accept(","):
                targets.append(self.word("a label"))
            if not self.accept(";"):
                raise self.fail("';'")
            scope.items.append(BranchTargets(line, name, targets))
        elif self.texts[self.at] in (".callprototype", ".calltargets"):
            self.skip_to_semicolon()
        else:
            scope.items.append(Label(line, name))

    def body_directive(self, scope: Scope, names: set[str]) -> None:
        text = self.texts[self.at]
        is_extern = False
        while text in _LINKAGE:
            is_extern |= text == ".extern"
            self.at += 1
            text = self.texts[self.at]
        if text == ".reg":
            scope.items += self.register_declaration(names)
        elif text in _VARIABLE_SPACES:
            for variable in self.variables(is_extern):
                if variable.name in names:
                    raise self.source.error(variable.line, f"'{variable.name}' is declared twice in this scope")
                names.add(variable.name)
                scope.items.append(variable)
        elif text in (".loc", ".file"):
            self.skip_line_directive()
        elif text == ".pragma":
            self.skip_to_semicolon()
        elif text == ".section":
            self.skip_section()
        else:
            raise self.fail("a directive allowed in a function (.reg, .shared, .local, .param, .loc, .pragma)")

    def instruction(self) -> Instruction:
        guard, negate = "", False
        if self.accept("@"):
            negate = self.accept("!")
            guard = self.word("a guard predicate")
        line = self.line
        instruction = Instruction(line, self.word("an instruction"), [], guard, negate)
        operands, texts = instruction.operands, self.texts
        take = self.call_operand if instruction.opcode.partition(".")[0] == "call" else self.operand
        if texts[self.at] != ";":
            operands.append(take())
            while self.accept(","):
                operands.append(take())
            if texts[self.at] != ";":
                raise self.fail("';' or ',' after the operand")
        self.at += 1
        return instruction

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
