"""Paints a page of a guided tour: text and question, then the progress towards the answer, then the answer."""

from __future__ import annotations

from textwrap import wrap

from rfview.engine.wording import plural
from rfview.keys import Keys
from rfview.learn.tour import Shown
from rfview.render.text import Line, Row, blank, cut, hint_row, progress

NARROW = 70     # below this width, only the most important keys are described


def has_passed(shown: Shown, cycle: int) -> bool:
    """Return whether the reader has reached or passed the cycle of the page's answer."""
    forward = shown.target >= shown.start
    return cycle >= shown.target if forward else cycle <= shown.target


def page_lines(shown: Shown, tour: str, width: int, cycle: int, chosen: int, keys: Keys, message: str = "",
               after: str = "", more: str = "") -> list[Line]:
    """Return a page; chosen: the reader's choice, 0 = none yet; message: a message to the reader in the last row.

    after: the name of the tour that Enter begins on the last page, "" for none. more: the action that shows the rest of a
    page that does not fit, next_page or previous_page.

    ▌The drain stall (hrf)   1 of 3   Two buffers take turns                                   cycle 10
      STT-RAM hardly leaks, but a write takes it 4 cycles. So results go into a small SRAM buffer. ...
      HRF section 4.3: the whole pipeline needs to stall
    ? After how many cycles does the pipeline continue?
      1  1      ▸2  when the entry is written: 2 to 4       3  more than 4
      s steps there  ━━━━━╌╌╌  2 of 3 cycles   Enter jumps

    Once the answer is reached, it replaces the text: ✓ marks the right choice, ✕ a wrong one.
    """
    head = Row(width, "band").add("▌", "title").add(tour, "title").add(f"   {shown.number} of {shown.count}   ", "tinfo")
    head.add(cut(shown.title, width - head.x), "title").right(width - 1, f"cycle {cycle:,}", "tinfo")
    lines = [head.line()]
    answered = bool(chosen) and has_passed(shown, cycle)
    if not answered:
        lines += _paragraph(shown.text, width, "text")
        lines += _paragraph(shown.source, width, "dim")
    if shown.question:
        lines += _paragraph(shown.question, width, "bold", "?")
        for number in range(1, len(shown.choices) + 1):
            lines += _choice(shown, number, width, chosen, answered)
    if answered:
        lines += _paragraph(shown.answer, width, "text", "=")
        lines += _paragraph(shown.source, width, "dim")
    elif chosen:
        done, total = abs(cycle - shown.start), abs(shown.target - shown.start)
        names = ("step", "step_10", "step_100") if shown.target > shown.start else ("back", "back_10", "back_100")
        one, *more_at_once = map(keys.first, names)
        row = Row(width).add("  ").add(one, "key").add(" steps there", "dim")
        if width >= NARROW:
            row.add(", ", "dim").add(" ".join(more_at_once), "key").add(" in tens and hundreds", "dim")
        row.add("  ").add(progress(done, total, 16 if width >= NARROW else 6), "p:moving")
        lines.append(row.add(f"  {done:,} of {plural(total, 'cycle')}", "text").line())
    return [*lines, blank(width), _foot(shown, width, chosen, answered, keys, message, after, more)]


def _paragraph(text: str, width: int, role: str, mark: str = " ") -> list[Line]:
    lines = []
    for index, part in enumerate(wrap(text, max(20, width - 4))):
        lines.append(Row(width).add(" ").add(mark if index == 0 else " ", "title").add(" ").add(part, role).line())
    return lines


def _choice(shown: Shown, number: int, width: int, chosen: int, answered: bool) -> list[Line]:
    mark, role = (" ", "text") if number != chosen else ("▸", "bold")
    if answered and number == shown.right:
        mark, role = "✓", "p:good"
    elif answered and number == chosen:
        mark, role = "✕", "bad"
    first, *rest = wrap(shown.choices[number - 1], max(20, width - 7))
    row = Row(width).add(f"  {mark}", role).add(f"{number}", "key").add(f"  {first}", role)
    return [row.line(), *(Row(width).to(6).add(part, role).line() for part in rest)]


def _foot(shown: Shown, width: int, chosen: int, answered: bool, keys: Keys, message: str, after: str,
          more: str) -> Line:
    if shown.question and not chosen:
        hints = [(f"1–{len(shown.choices)}", "your prediction")]
    elif not answered and shown.question:
        hints = keys.hints(("open", "jumps there"))
    else:
        end = f"next tour: {after}" if after else "end of the tour"
        hints = keys.hints(("open", "next page" if shown.number < shown.count else end))
    if more:        # before the end, reading on comes first; at the end, the next step
        is_before = more == "next_page"
        hints.insert(0 if is_before else 1, (keys.first(more), "more" if is_before else "above"))
    leaving = keys.hints(("close", "leave the tour"), "page_before", ("explain", "what is this"))
    return hint_row(width, (*hints, *leaving), "band", message)
