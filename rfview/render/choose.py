"""Lists to choose from: register-file designs with a scheduler and bundled kernels, for another run; all actions."""

from __future__ import annotations

from collections.abc import Sequence

from rfview.render.text import Line, Row, cut, fill, hint_row, list_row, title, visible_from

NAME_CELLS = 16
COMMAND_CELLS, KEY_CELLS = 18, 9


def designs(rows: Sequence[tuple[str, str]], now: str, scheduler: str, is_current: bool, follow: str, selected: int,
            width: int, height: int, hints: Sequence[tuple[str, str]] = ()) -> list[Line]:
    """Return the list of designs, and what Enter will do with the chosen one. rows: (name, title).

    ▌ANOTHER DESIGN  the same kernel anew, from cycle 0
     ● sram             banked SRAM, the baseline
     ▸ hrf              hybrid SRAM and STT-RAM with two write buffers
     scheduler ‹ gto, as now ›        then go to: the same instruction of w3
     Enter runs  ← → scheduler  m place  Esc

    ● is the design in use. is_current: the scheduler shown is the current one. follow: the place that the new run goes to.
    """
    lines = [title(width, "ANOTHER DESIGN", "rerun of this kernel; this run stays as a branch", focus=True)]
    lines += _rows([(name, text, "●" if name == now else " ") for name, text in rows], selected, width, height - 3)
    row = Row(width).add(" scheduler ", "dim").add("‹ ", "key").add(scheduler, "bold").add(" ›", "key")
    row.add("  as now" if is_current else "", "dim")
    lines.append(row.at(min(38, width // 2), "then to ", "dim").add(follow, "bold").line())
    lines.append(hint_row(width, hints))
    return fill(lines, width, height)


def kernels(rows: Sequence[tuple[str, str]], now: str, selected: int, width: int, height: int,
            hints: Sequence[tuple[str, str]] = (), typed: str = "") -> list[Line]:
    """Return the list of bundled kernels and the keys. rows: (name, description).

    ▌ANOTHER KERNEL  on this machine, from cycle 0
     ● vectoradd        c = a + b, streaming
     ▸ gemm             tiled matrix multiplication
     Enter runs  f a file  Esc
    """
    lines = [title(width, "ANOTHER KERNEL", typed or "on this machine, from cycle 0", focus=True,
                   right=f"{len(rows)} ")]
    lines += _rows([(name, text, "●" if name == now else " ") for name, text in rows], selected, width, height - 2)
    lines.append(hint_row(width, hints))
    return fill(lines, width, height)


def palette(rows: Sequence[tuple[str, str, str]], needle: str, selected: int, width: int, height: int,
            hints: Sequence[tuple[str, str]] = ()) -> list[Line]:
    """Return the actions that match what was typed, and the keys. rows: (name, key, sentence).

    ▌EVERY ACTION  st▏
      step               s         one cycle on
     ▸reverse-step       S         one cycle back
     letters narrow  ↑ ↓ choose  Enter does it  Esc
    """
    lines = [title(width, "EVERY ACTION", f"{needle}▏", focus=True, right=f"{len(rows)} ")]
    room = height - 2
    first = visible_from(selected, len(rows), room)
    for index, (name, key, sentence) in enumerate(rows[first : first + room], first):
        chosen = index == selected
        row = Row(width, "focus" if chosen else "").add("▸ " if chosen else "  ", "bold")
        row.add(f"{name:<{COMMAND_CELLS}} ", "bold").add(f"{key:<{KEY_CELLS}} ", "key")
        lines.append(row.add(cut(sentence, width - row.x - 1), "text").line())
    if not rows:
        lines.append(Row(width).add("  no action has these words", "dim").line())
    return [*fill(lines, width, height - 1), hint_row(width, (("a .. z", "narrow"), *hints))]


def _rows(rows: Sequence[tuple[str, str, str]], selected: int, width: int, height: int) -> list[Line]:
    """Return `height` of the (name, text, sign) rows, the selected one among them."""
    first = visible_from(selected, len(rows), height)
    lines = []
    for index in range(first, min(len(rows), first + height)):
        name, text, sign = rows[index]
        chosen = index == selected
        row = list_row(width, chosen).add(f"{sign} ", "good")
        lines.append(row.add(f"{name:<{NAME_CELLS}} ", "bold").add(cut(text, width - row.x - 1), "text").line())
    return fill(lines, width, height)
