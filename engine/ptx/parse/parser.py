"""Tokens to the syntax tree of a PTX module; statements end at `;`, never at a line end."""

from __future__ import annotations

import difflib
import re

from rfview.engine.ptx.parse.declarations import Declarations
from rfview.engine.ptx.parse.lexer import DIRECTIVE, END, NUMBER, WORD
from rfview.engine.ptx.parse.source import Source
from rfview.engine.ptx.parse.syntax import BranchTargets, Function, Instruction, Label, Scope, SyntaxModule, Variable
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


class _Parser(Declarations):
    """Adds modules, functions and their statements."""

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
