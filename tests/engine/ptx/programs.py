"""Random PTX kernels for property tests: every variable is initialized, every loop is bounded, everything is stored."""

from __future__ import annotations

from hypothesis import strategies as st

HEAD = """.version 9.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 x)
{
.reg .pred %p<9>;
.reg .b32 %r<99>;
.reg .b64 %rd<99>;
.reg .b32 %s<99>;
.reg .b64 %t<99>;
.reg .pred %q<99>;
"""


@st.composite
def kernels(draw) -> str:
    """Draw a kernel over a few 32-bit and 64-bit variables, with branches, loops and guards."""
    num_words, num_doubles = draw(st.integers(2, 9)), draw(st.integers(1, 6))
    writer = _Writer(draw, num_words, num_doubles)
    writer.set_up()
    writer.statements(draw(st.integers(1, 12)), 0)
    writer.store_all()
    return HEAD + "\n".join(writer.lines) + "\nret;\n}\n"


class _Writer:
    def __init__(self, draw, num_words: int, num_doubles: int) -> None:
        self.draw, self.lines, self.labels = draw, [], 0
        self.words = [f"%r{k}" for k in range(num_words)]
        self.doubles = [f"%rd{k}" for k in range(1, num_doubles + 1)]
        self.predicates = [f"%p{k}" for k in range(4)]
        self.fresh = {"r": [], "d": [], "p": []}   # names with one definition, readable in their scope
        self.num_fresh = 0

    def set_up(self) -> None:
        self.lines += ["ld.param.u64 %rd0, [out];", "ld.param.u64 %rd1, [x];"]
        self.lines += [f"mov.u32 {name}, {self.number()};" for name in self.words]
        self.lines += [f"mov.u64 {name}, {self.number()};" for name in self.doubles[1:]]
        self.lines += [f"setp.lt.u32 {name}, {self.words[0]}, {self.number()};" for name in self.predicates]

    def pick(self, names: list[str]) -> str:
        return self.draw(st.sampled_from(names))

    def number(self) -> int:
        return self.draw(st.sampled_from([0, 1, 2, 7, 255, 65537, 0x7FFFFFFF]))

    def word(self) -> str:
        return str(self.number()) if self.draw(st.integers(0, 4)) == 0 else self.pick(self.words + self.fresh["r"])

    def double(self) -> str:
        return self.pick(self.doubles + self.fresh["d"])

    def condition(self) -> str:
        return self.pick(self.predicates + self.fresh["p"])

    def new(self, kind: str) -> str:
        self.num_fresh += 1
        return {"r": "%s", "d": "%t", "p": "%q"}[kind] + str(self.num_fresh)

    def guard(self) -> str:
        if self.draw(st.integers(0, 3)):
            return ""
        return f"@{self.draw(st.sampled_from(['', '!']))}{self.condition()} "

    def statements(self, count: int, depth: int) -> None:
        """Write statements; names defined once in them can be read only until their end."""
        outer = {kind: list(names) for kind, names in self.fresh.items()}
        for _ in range(count):
            kind = self.draw(st.integers(0, 17))
            if kind >= 14:
                self.definition(kind)
            elif kind == 12 and depth < 2:
                self.branch(depth)
            elif kind == 13 and depth < 2:
                self.loop(depth)
            else:
                self.instruction(kind)
        self.fresh = outer

    def definition(self, kind: int) -> None:
        """Define a new name by a copy, so that there are copies and constants to propagate."""
        if kind == 14:
            name, text = self.new("p"), f"{self.draw(st.sampled_from(['not', 'mov']))}.pred {{}}, {self.condition()};"
            self.fresh["p"].append(name)
        elif kind == 15:
            name, text = self.new("d"), self.draw(st.sampled_from([
                f"mov.u64 {{}}, {self.double()};", f"mov.b64 {{}}, {{{{{self.word()}, {self.word()}}}}};"]))
            self.fresh["d"].append(name)
        else:
            name, text = self.new("r"), f"mov.u32 {{}}, {self.word()};"
            self.fresh["r"].append(name)
        self.lines.append(text.format(name))

    def instruction(self, kind: int) -> None:
        w, d, p = self.pick(self.words), self.pick(self.doubles), self.pick(self.predicates)
        a, b, e = self.word(), self.word(), self.double()
        v, u, q = self.pick(self.words), self.double(), self.condition()
        texts = [
            f"add.s32 {w}, {a}, {b};", f"xor.b32 {w}, {a}, {b};", f"mul.lo.s32 {w}, {a}, {b};", f"mov.u32 {w}, {a};",
            f"selp.b32 {w}, {a}, {b}, {q};", f"setp.lt.u32 {p}, {a}, {b};", f"add.s64 {d}, {e}, {u};",
            f"mov.b64 {d}, {{{a}, {b}}};", f"cvt.u64.u32 {d}, {v};", f"mov.u64 {d}, {e};",
            f"add.cc.u32 {w}, {a}, {b};\naddc.u32 {v}, {b}, {a};", f"not.pred {p}, {q};",
            f"ld.global.u32 {w}, [%rd0+{4 * self.draw(st.integers(0, 9))}];", f"sub.s64 {d}, {e}, {u};",
        ]
        text = texts[kind if kind < 12 else self.draw(st.integers(0, len(texts) - 1))]
        if self.draw(st.integers(0, 7)) == 0 and len(self.words) > 2:
            first, second = self.draw(st.permutations(self.words))[:2]
            text = self.draw(st.sampled_from([
                f"mov.b64 {{{first}, {second}}}, {d};", f"ld.global.v2.u32 {{{first}, {second}}}, [%rd0+64];",
                f"st.global.v2.u32 [%rd0+256], {{{first}, {second}}};"]))
        self.lines.append(text if "\n" in text else self.guard() + text)

    def branch(self, depth: int) -> None:
        self.labels += 1
        label = self.labels
        self.lines.append(f"@{self.condition()} bra ELSE{label};")
        self.statements(self.draw(st.integers(0, 4)), depth + 1)
        self.lines += [f"bra END{label};", f"ELSE{label}:"]
        self.statements(self.draw(st.integers(0, 4)), depth + 1)
        self.lines.append(f"END{label}:")

    def loop(self, depth: int) -> None:
        self.labels += 1
        label, counter = self.labels, f"%r{50 + self.labels}"
        self.lines += [f"mov.u32 {counter}, 0;", f"LOOP{label}:"]
        self.statements(self.draw(st.integers(1, 5)), depth + 1)
        self.lines += [f"add.s32 {counter}, {counter}, 1;", f"setp.lt.u32 %p8, {counter}, 3;", f"@%p8 bra LOOP{label};"]

    def store_all(self) -> None:
        self.lines += [f"st.global.u32 [%rd0+{4 * k}], {name};" for k, name in enumerate(self.words)]
        self.lines += [f"st.global.u64 [%rd0+{128 + 8 * k}], {name};" for k, name in enumerate(self.doubles)]
        self.lines += [f"selp.b32 %r90, 1, 0, {name};\nst.global.u32 [%rd0+512], %r90;" for name in self.predicates]
