"""The result of a relief, below the chain that named it: the whole run first, then this wait, and what would wait next."""

from __future__ import annotations

from rfview.engine.batch.nudge import Chance
from rfview.engine.plugin.assumed import ASSUMED
from rfview.engine.wording import energy_text, signed
from rfview.render.operation import compact_text
from rfview.render.text import Line, Row, cut, number, percent
from rfview.sessions.branches.relief import MAX_LATER, Relief

BEFORE, AFTER = 28, 14     # cells from the right at which the numbers as it ran, and with it, end


def lines(relief: Relief, width: int, chance: Chance | None = None) -> list[Line]:
    """Return the rows.

     RELIEF  hrf.write_cycles 4 → 1   branch relief2, forked at 690              as it ran   with it    change
       the run, cycles                                                             3,177     2,356   −25.8 %
       by chance: −0.1 % to +0.3 %
       w11's instruction 4, mad R0 R0 R1 R2, issues at                               723       702       −21
       warp-cycles lost to the register file until then                              967       164   −83.0 %
       warp-cycles waited until then                                               1,115       232   −79.2 %
       then: wb_drain, w11 waits for R2

    = measured: both runs were simulated to that instruction. − is better, + is worse. chance: what nudged runs do; None if
    that is not known. Only a change of the whole run beyond twice its range is coloured as a gain: a wait that ends earlier
    often is another one.
    """
    what = ", ".join(change.text for change in relief.changes)
    where = "simulated again" if relief.from_start else f"forked at {number(relief.begin)}"
    head = Row(width, "band").add(" RELIEF", "title").add(f"  {what}", "text")
    if head.x < width - BEFORE - 10:
        head.right(width - BEFORE, "as it ran", "tinfo").right(width - AFTER, "with it", "tinfo")
        out = [head.right(width - 1, "= change", "tinfo").line()]
    else:       # the settings take the row: the heads come below them
        below = Row(width, "band").right(width - BEFORE, "as it ran", "tinfo").right(width - AFTER, "with it", "tinfo")
        out = [head.line(), below.right(width - 1, "= change", "tinfo").line()]
    out += _whole(relief, width, chance)
    text = compact_text(relief.text)
    gain = relief.gain
    change = "" if gain is None else signed(-gain)
    after = number(relief.issued[1]) if relief.issued[1] is not None else f"> {MAX_LATER:,} later"
    name = f"w{relief.warp}'s instruction {relief.n} issues at  {text}"
    out.append(_row(width, name, number(relief.issued[0]), after, change, 0))
    out.append(_share(width, "lost to the register file until then", relief.lost))
    out.append(_share(width, "warp-cycles waited until then", relief.waited))
    next_one = f"then it would be {relief.next_state}: {relief.next_cause}" if relief.next_cause else \
        "then it would issue earlier than the cycle of this question" if gain and gain > 0 else ""
    tail = Row(width).add(f"   branch {relief.branch}, {where}", "dim")
    if next_one:
        tail.add(cut(f"   {next_one}", width - tail.x - 1), "text")
    return [*out, tail.line()]


def _whole(relief: Relief, width: int, chance: Chance | None) -> list[Line]:
    """Return the rows of both whole runs, and of chance."""
    whole = relief.whole
    if whole is None:
        return [Row(width).add("   the whole run: not measured yet", "dim").line()]
    change = percent(whole.cycles[1] - whole.cycles[0], whole.cycles[0]).replace("-", "−")
    is_beyond = chance is not None and chance.cycles == whole.cycles[0] and chance.is_beyond(whole.cycles[1])
    out = [_row(width, "the run, cycles", number(whole.cycles[0]), number(whole.cycles[1]), change,
                whole.cycles[0] - whole.cycles[1] if is_beyond else 0)]
    known = chance.text.replace("-", "−") if chance is not None else "not measured"
    claim = "" if is_beyond else "; no claim" if chance is not None and chance.is_known else "; no gain is called one yet"
    out.append(Row(width).add(f"     by chance: {known}{claim}", "dim").line())
    out += [_share(width, "the run, lost to the register file", whole.lost)]
    before, after = whole.energy_pj
    if before and after is not None:
        change = ASSUMED if whole.energy_assumed else f"{100 * (after - before) / before:+.1f} %".replace("-", "−")
        out.append(_row(width, "register file energy", energy_text(before), energy_text(after), change, 0))
    if whole.same_output is False:
        out.append(Row(width).add("   ✕ the output differs", "bad").line())
    return out


def _share(width: int, name: str, pair: tuple[int, int]) -> Line:
    """Return a row of two counts and their change in percent."""
    change = percent(pair[1] - pair[0], pair[0]).replace("-", "−")
    sign = "+" if pair[1] > pair[0] else ""
    return _row(width, name, number(pair[0]), number(pair[1]), f"{sign}{change}" if pair[0] else "", 0)


def _row(width: int, name: str, before: str, after: str, change: str, better: float) -> Line:
    """Return a row of numbers; better: above 0 if the change is an improvement."""
    row = Row(width).add("   ").add(cut(name, width - 42), "text")
    row.right(width - BEFORE, before, "text").right(width - AFTER, after, "changed" if before != after else "text")
    return row.right(width - 1, change, "good" if better > 0 else "p:moving" if better < 0 else "dim").line()
