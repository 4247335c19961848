"""One instruction as lowering sees it: opcode, modifiers, and operands by their roles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from rfview.engine.sass.operands import Operand, operand_of

# roles of operands, and the kinds that may stand there; with a ? in the table the operand may be missing
KINDS = {
    "d": ("R", "UR"),                               # register written
    "q": ("P", "UP"),                               # predicate written
    "a": ("R", "UR", "c", "n", "f", "s"),           # sources
    "b": ("R", "UR", "c", "n", "f", "s"),
    "c": ("R", "UR", "c", "n", "f", "s"),
    "p": ("P", "UP"),                               # predicate read
    "r": ("R",),                                    # a register that is no uniform one
    "v": ("R", "UR", "c"),                          # a source that is no number
    "u": ("UR",),                                   # a uniform register
    "m": ("m", "c"),                                # address; of LDC, in a constant bank
    "n": ("n",),                                    # number
    "k": ("n",),                                    # mask of wanted components
    "B": ("B",),                                    # convergence barrier
    "w": ("w",),                                # another word, such as SR_TID.X
    "t": ("n", "w"),                                # target of a branch: an offset, or a function
}

ANY = "*"       # as roles: whatever the operands are, they have no effect


class NotExecuted(Exception):
    """What rfview does not execute of an instruction, as the end of "... is not executed"."""


@dataclass
class Form:
    """An instruction with its operands by role, in order of the words.

    base: opcode without its U and its modifiers. is_uniform: whether it is the U-twin. target_of: the pc of a target.
    """

    text: str
    base: str
    is_uniform: bool
    modifiers: tuple[str, ...]
    pc: int
    first_pc: int
    target_of: Callable[[str], int]
    operands: dict[str, list[Operand]] = field(default_factory=dict)

    def has(self, *modifiers: str) -> bool:
        """Return whether the instruction has one of these modifiers."""
        return any(modifier in self.modifiers for modifier in modifiers)

    def pick(self, known: dict[str, int], default: int | None = None) -> int:
        """Return the value of the first modifier that is among `known`; raises NotExecuted if none is."""
        for modifier in self.modifiers:
            if modifier in known:
                return known[modifier]
        if default is None:
            raise NotExecuted("without one of ." + " .".join(known))
        return default

    def all(self, role: str) -> list[Operand]:
        """Return the operands of a role."""
        return self.operands.get(role, [])

    def one(self, role: str) -> Operand | None:
        """Return the operand of a role, None if it is missing."""
        return next(iter(self.all(role)), None)

    def __getattr__(self, role: str) -> Operand:
        """Return the first operand of a role that must be there."""
        if role not in KINDS:
            raise AttributeError(role)
        if not self.operands.get(role):
            raise NotExecuted("with so few operands")
        return self.operands[role][0]


def assign(form: Form, roles: str, texts: tuple[str, ...]) -> None:
    """Give the operands their roles; raises NotExecuted if they do not fit."""
    try:
        operands = [operand_of(text) for text in texts]
    except ValueError as problem:
        raise NotExecuted(f"with {problem}") from None
    if roles == ANY:
        return
    fitted = _fitted(roles.split(), operands)
    if fitted is None:
        raise NotExecuted(f"with operands {', '.join(texts) or 'missing'}")
    for role, operand in zip(fitted, operands):
        form.operands.setdefault(role, []).append(operand)


def _fitted(roles: list[str], operands: list[Operand]) -> list[str] | None:
    """Return each operand's role; of several possibilities the one in which the first optional operands are there."""
    if not roles:
        return None if operands else []
    role, optional = roles[0][0], roles[0].endswith("?")
    if operands and operands[0].kind in KINDS[role]:
        rest = _fitted(roles[1:], operands[1:])
        if rest is not None:
            return [role, *rest]
    return _fitted(roles[1:], operands) if optional else None
