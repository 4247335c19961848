"""Errors in expressions as one sentence: where the expression is wrong, and what was probably meant."""

from __future__ import annotations

import re

from rfview.engine.errors import InputError

UNFINISHED = re.compile(r"(?:\b(?:and|or|not|in)|[-+*/%&|^~<>=!.]+)\Z")
# % is the remainder, so a PTX name with it reads as an operator without its left side
PTX_NAME = re.compile(r"(?:\A|[^\w)\]\s]|\b(?:and|or|not|in)\b)\s*%([A-Za-z_]\w*)")
ASSIGNMENT = re.compile(r"(?<![<>=!:])=(?!=)")
# operators of other languages, and their equivalents here
FOREIGN = {"&&": "and", "||": "or", "<>": "!="}


class ExpressionError(InputError):
    """A wrong expression. problem: what is wrong, for use where the expression has already been quoted."""

    def __init__(self, text: str, position: int, problem: str):
        super().__init__(f"expression `{text}`: position {position}: {problem}")
        self.problem = problem if position == 1 else f"{problem} (position {position} of the expression)"


def unreadable(text: str, error: SyntaxError) -> ExpressionError:
    """Return the error for text that is not an expression."""
    at = min(error.offset or 1, max(1, len(text)))
    if not text:
        return ExpressionError(text, 1, "it is empty")
    if end := UNFINISHED.search(text):
        return ExpressionError(text, len(text), f"it ends after `{end[0]}`, where a value is missing")
    for sign, word in FOREIGN.items():
        if sign in text:
            return ExpressionError(text, text.index(sign) + 1, f"`{sign}` is not an operator; did you mean `{word}`?")
    if name := PTX_NAME.search(text):
        return ExpressionError(text, name.start(1), f"write PTX names without %, after their warp, as in w0.{name[1]}")
    if single := ASSIGNMENT.search(text):
        return ExpressionError(text, single.start() + 1, "`=` is not an operator; did you mean `==`?")
    problem = error.msg if error.msg != "invalid syntax" else f"`{text[at - 1 :][:20]}` is not expected here"
    return ExpressionError(text, at, problem)
