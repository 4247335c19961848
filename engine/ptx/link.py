"""Links PTX modules into one, as the device linker does for separately compiled programs (nvcc -rdc=true).

A declaration in one part resolves to the definition in another; one definition of a weak name is kept; local names that
clash are renamed; files are renumbered.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rfview.engine.errors import PtxError
from rfview.engine.ptx.parse.lexer import DIRECTIVE, END, PUNCT, WORD, Tokens
from rfview.engine.ptx.parse.source import Source

_HEADERS = (".version", ".target", ".address_size", ".file")
_LINKAGES = (".extern", ".weak", ".common", ".visible")        # from weakest to strongest


@dataclass(frozen=True)
class _Item:
    """A declaration, function, file or section: tokens `first` to `end` (exclusive).

    strength: the linkage's index in _LINKAGES, -1 if local to its part.
    """

    kind: str
    name: str
    strength: int
    has_body: bool
    first: int
    end: int

    @property
    def defines(self) -> bool:
        """Whether this is a definition, not just a declaration."""
        return self.has_body if self.kind == "function" else self.strength != 0


class _Part:
    """One module: its tokens and items."""

    def __init__(self, text: str, number: int) -> None:
        self.tokens, self.number = Tokens(Source(text, f"part {number}")), number
        self.items = list(self._items())
        self.own = {item.name for item in self.items if item.strength < 0} | set(self._labels())
        self.names = self.own | {item.name for item in self.items}

    def texts(self, item: _Item) -> list[str]:
        """Return an item's tokens."""
        return self.tokens.texts[item.first : item.end]

    def written(self, item: _Item, names: dict[str, str], first_file: int) -> str:
        """Return an item's text with names replaced and `first_file` added to its file numbers."""
        tokens, out = self.tokens, []
        for k in range(item.first, item.end):
            text = names.get(tokens.texts[k], tokens.texts[k]) if tokens.kinds[k] == WORD else tokens.texts[k]
            if k and tokens.texts[k - 1] in (".loc", ".file", "inlined_at") and text.isdecimal():
                text = str(int(text) + first_file)
            end = tokens.offsets[k] + len(tokens.texts[k])
            out += [text, tokens.source.text[end : tokens.offsets[k + 1]] if k + 1 < item.end else "\n"]
        return "".join(out)

    def _items(self) -> Iterator[_Item]:
        kinds, texts, first = self.tokens.kinds, self.tokens.texts, 0
        while kinds[first] != END:
            head = texts[first]
            if head in _HEADERS:
                end = next(k for k in range(first + 1, len(kinds)) if kinds[k] in (DIRECTIVE, END))
                yield _Item(head, "", 0, False, first, end)
            else:
                end, has_body, before = self._end(first)
                name = next((texts[k] for k in before if kinds[k] == WORD), "")
                words = {texts[k] for k in before}
                strength = max((_LINKAGES.index(word) for word in words & set(_LINKAGES)), default=-1)
                kind = "function" if words & {".func", ".entry"} else "variable"
                yield (_Item("section", "", 0, True, first, end) if head == ".section" else
                       _Item(kind, name, strength, has_body, first, end))
            first = end

    def _end(self, first: int) -> tuple[int, bool, list[int]]:
        """Return the end of the item at `first`, whether it has a body, and the indices of its tokens outside brackets."""
        depth, is_initialised = 0, False
        outside: list[int] = []
        for k in range(first, len(self.tokens.kinds)):
            text = self.tokens.texts[k]
            is_punct = self.tokens.kinds[k] == PUNCT
            if is_punct and text in ("}", ")"):
                depth -= 1
                if text == "}" and not depth and not is_initialised:
                    return k + 1, True, outside
            if not depth:
                outside.append(k)
                is_initialised = is_initialised or text == "="
                if text == ";":
                    return k + 1, False, outside
            depth += is_punct and text in ("{", "(")
        raise self.tokens.source.error(self.tokens.line(first), "unterminated declaration")

    def _labels(self) -> Iterator[str]:
        """Yield the labels in sections."""
        for item in self.items:
            texts = self.texts(item) if item.kind == "section" else []
            yield from (one for one, after in zip(texts, texts[1:]) if after == ":")


def link(texts: Sequence[str]) -> str:
    """Link the parts of a program into one module; raises PtxError if a text is not PTX or a name is defined twice."""
    if len(texts) == 1:
        return texts[0]
    parts = [_Part(text, number) for number, text in enumerate(texts, 1)]
    definitions = _definitions(parts)
    versions = [part.texts(item)[1:] for part in parts for item in part.items if item.kind == ".version"]
    targets = [part.written(item, {}, 0) for part in parts for item in part.items if item.kind == ".target"]
    if not targets or [] in (versions or [[]]):
        raise PtxError("the program's parts are not PTX: they do not begin with .version and .target")
    version = max((words[0] for words in versions), key=_numbers)
    written: dict[str, list[str]] = {kind: [] for kind in (".file", "variable", "function", "section")}
    files = 0
    taken = {name for part in parts for name in part.names}
    for part in parts:
        others = {name for other in parts if other is not part for name in other.names}
        names = {}
        for name in sorted(part.own & others):
            names[name] = _unlike(f"{name}${part.number}", taken)
            taken.add(names[name])
        for item in part.items:
            if item.kind in written and (item.strength < 0 or not item.name or
                                         definitions[item.name] == (part.number, item.first)):
                written[item.kind].append(part.written(item, names, files))
        files += sum(item.kind == ".file" for item in part.items)
    body = "".join(line for kind in written.values() for line in kind)
    return f".version {version}\n{targets[0]}.address_size 64\n{body}"


def _unlike(name: str, taken: set[str]) -> str:
    """Return a name that is not taken: nvcc numbers names in the same way, so part 2 may have $str and $str$2."""
    while name in taken:
        name += "$"
    return name


def _numbers(version: str) -> list[int]:
    return [int(word) for word in version.split(".") if word.isdecimal()]


def _definitions(parts: list[_Part]) -> dict[str, tuple[int, int]]:
    """Return (part, first token) of the item to keep for each non-local name: the first of the strongest definitions."""
    strongest: dict[str, tuple[int, tuple[int, int]]] = {}
    for part in parts:
        for item in part.items:
            if item.strength < 0 or not item.name:
                continue
            strength = item.strength if item.defines else 0
            held = strongest.get(item.name)
            if held is not None and held[0] == strength == _LINKAGES.index(".visible"):
                raise PtxError(f"two parts of the program define '{item.name}'")
            if held is None or strength > held[0]:
                strongest[item.name] = (strength, (part.number, item.first))
    return {name: place for name, (_, place) in strongest.items()}
