"""Checks a statement against the table of forms: its modifiers, its operands, and what it needs of the module's target.

What passes here is lowered without further checks of its form; the statements that lowering itself makes do not come here.
"""

from __future__ import annotations

from rfview.engine.ptx.forms.grammar import Form, Row
from rfview.engine.ptx.forms.operands import kind_of, may_be_missing
from rfview.engine.ptx.forms.table import forms_of, nearest, reason_of
from rfview.engine.ptx.lower.context import Lowering
from rfview.engine.ptx.lower.operand_kinds import wrong
from rfview.engine.ptx.parse.syntax import Instruction, Minus

_HINT = ".L2::cache_hint"


def checked(low: Lowering, statement: Instruction) -> tuple[Instruction, Row]:
    """Return a statement with its modifiers in the manual's order, and its row of the table.

    Raises PtxError if the statement is not PTX, or not supported.
    """
    opcode, nearest_miss, furthest = statement.opcode, "", -2
    for form in forms_of(opcode):
        problem, place = mismatch(low, form, statement.operands)
        if not problem:
            problem, place = unmet(low, form), len(statement.operands) + 1
        if not problem:
            if form.refusal:
                raise low.fail(f"'{opcode}' is not supported by rfview: {form.refusal}")
            operands = statement.operands
            if _HINT in form.opcode:        # a policy changes no value
                form, operands = form._replace(opcode=form.opcode.replace(_HINT, "")), operands[:-1]
            if form.opcode == opcode:
                return statement, form.row
            return Instruction(statement.line, form.opcode, operands, statement.guard, statement.guard_negate), form.row
        if place >= furthest:
            nearest_miss, furthest = problem, place
    if nearest_miss:
        raise low.fail(f"'{opcode}' {nearest_miss}")
    if reason := reason_of(opcode):
        raise low.fail(f"'{opcode}': {reason}")
    raise low.fail(f"unsupported instruction '{opcode}'; nearest supported form: '{nearest(opcode)}'")


def unmet(low: Lowering, form: Form) -> str:
    """Return what a form needs that the module does not declare, "" if nothing."""
    needs, module = form.needs, low.module
    if low.version < needs.version:
        return f"needs PTX {needs.version[0]}.{needs.version[1]}, this module is of PTX {module.version}"
    if low.architecture < needs.target or needs.is_special and module.target[-1] not in "af":
        return f"needs the target sm_{needs.target}{'a' * needs.is_special}, this module is for {module.target}"
    if form.row.base.startswith("cvta") and form.opcode.endswith(".u32") and module.address_size == 64:
        return "converts addresses of 32 bits, those of this module have 64"
    if low.version > needs.last_version and low.architecture > needs.last_target % 999:
        return f"is not part of PTX {module.version} for {module.target}; nearest supported form: '{nearest(form.opcode)}'"
    return ""


def mismatch(low: Lowering, form: Form, operands: list) -> tuple[str, int]:      # type: ignore[type-arg]
    """Return what is wrong with the operands of a form, "" if nothing, and how many are right."""
    kinds = form.operands
    if len(operands) > len(kinds) or len(operands) < len(kinds) and not may_be_missing(kinds[len(operands)]):
        least = next((place for place, kind in enumerate(kinds) if may_be_missing(kind)), len(kinds))
        count = "no" if not kinds else str(len(kinds)) if least == len(kinds) else f"{least} to {len(kinds)}"
        return f"takes {count} {'operand' if count == '1' else 'operands'}, found {len(operands)}", -1
    for place, (kind, operand) in enumerate(zip(kinds, operands, strict=False)):
        problem = wrong(low, kind_of(kind), operand, form)
        if problem:
            return problem, place - problem.startswith("takes a vector of parts")
    minus = [type(operand) is Minus for operand in operands]
    if any(minus) and minus[3] and minus[1] != minus[2]:
        return "takes a sign of the product or of the addend, not of both", len(operands)
    return "", len(operands)
