"""The WHY panel and its popup: the chain of reasons for the focused warp."""

from __future__ import annotations

from collections.abc import Sequence

from rfview.render import warps
from rfview.render.chain import Link, chain_of, links_of
from rfview.render.panel import LEFT, REST, RIGHT, Grant, Hit, Panel, Shape, Spot
from rfview.render.scene import Scene
from rfview.render.text import Line, Row, closes, cut, fill, hint_row, number, title, wrap


def heading(scene: Scene) -> str:
    """Return "WHY w31 does not issue", or what else it does."""
    if scene.now is None or scene.warp >= scene.now.num_warps:
        return "WHY"
    name = scene.look(scene.now.state[scene.warp]).name
    word = {"issued": "issues", "finished": "has ended", "no_cta": "is empty"}.get(name, "does not issue")
    return f"WHY w{scene.warp} {word}"


def render(scene: Scene, width: int, height: int) -> list[Line]:
    """Return the WHY panel.

     WHY w31 does not issue  e opens
     1 L w31 waits for R12
     2   ld.global at PC 98 writes it, issued 184,166
     3   it missed L1 at 184,170; its cache line is on the way
         back at 184,242 (in 29): DRAM, 100 cycles behind an L2 of 120

    Each line is the cause of the one above; the glyph is the state it is counted under. The last line names the hardware
    at the end of the chain, and when the wait will be over, if that is already known. Long sentences wrap into spare rows,
    the last one's first; rows still left show the evidence below the sentences. If rows are few, links after the first are
    left out, and the title names them ("e shows 2–3"): the end of the chain is the cause.
    """
    key, opens = scene.key("why"), "opens"
    links, rows = dict(enumerate(links_of(scene, scene.warp)[0])), height - 1
    if (out := len(links) - rows) > 0 and rows > 1:
        links = {0: links[0], **dict([*links.items()][1 - rows :])}
        opens = "shows 2" if out == 1 else f"shows 2–{1 + out}"
    lines = [title(width, heading(scene), f"{key} {opens}" if key else "", focus=scene.panel == "why")]
    room, spare = width - 6, max(0, rows - len(links))
    texts: dict[int, list[str]] = {}
    for index in sorted([*links][:rows], key=lambda index: not links[index].conclusion):
        link = links[index]
        text = link.brief if link.brief and not spare and len(link.text) > room else link.text
        texts[index] = _wrapped(text, room, 1 + spare)
        spare -= len(texts[index]) - 1
    for index in sorted(texts):
        lines += _short(scene, links[index], index, width, texts[index])
        evidence = links[index].evidence
        if spare > 0 and evidence and (links[index].conclusion or not _fits_beside(links[index], texts[index], width)):
            parts = _wrapped(evidence, room, min(2, spare))
            spare -= len(parts)
            lines += [Row(width).to(5).add(part, "dim").line() for part in parts]
    return fill(lines, width, height)


def _fits_beside(link: Link, texts: list[str], width: int) -> bool:
    """Say whether a link's evidence fits on the row of its sentence."""
    return width >= 58 and len(texts) == 1 and 5 + len(texts[0]) + 2 + len(link.evidence) <= width - 1


def _since(link: Link) -> str:
    """Return since when a link applies, "" if its text says so already or it is unknown."""
    return f"since {number(link.since)}" if link.since >= 0 and number(link.since) not in link.text + link.evidence else ""


def _wrapped(text: str, room: int, rows: int) -> list[str]:
    """Return a sentence on as many rows as it needs, at most `rows`; what does not fit is cut."""
    texts = wrap(text, room) or [""]
    return texts if len(texts) <= rows else [*texts[: rows - 1], cut(" ".join(texts[rows - 1 :]), room)]


def _short(scene: Scene, link: Link, index: int, width: int, texts: list[str]) -> list[Line]:
    """Return a link's rows: number, glyph and sentence, which continues below its first row."""
    row = Row(width)
    role = "p:good" if link.conclusion else "bold" if index == 0 else "text"
    if not link.conclusion:
        row.add(" ").add(str(index + 1), "dim").to(3)
        if link.code >= 0:
            look = scene.look(link.code)
            row.add(look.glyph, "st:" + look.role)
    row.to(5).add(texts[0], role)
    if not link.conclusion and link.evidence and _fits_beside(link, texts, width):
        row.add("  ").add(link.evidence, "dim")
    if not link.conclusion and (since := _since(link)) and row.x + len(since) + 3 <= width:
        row.right(width - 1, since, "dim")
    return [row.line(), *(Row(width).to(5).add(text, role).line() for text in texts[1:])]


class _Axis:
    """The time axis to the right of a wide popup: from where the first link starts to where the last one ends."""

    WIDTH = 32

    def __init__(self, scene: Scene, links: list[Link], width: int):
        self.now, self.width = scene.cycle, width
        starts = [link.since for link in links if 0 <= link.since <= self.now] or [self.now]
        ends = [link.until for link in links if self._ends_soon(link)]
        self.first, self.last = min(*starts, max(0, self.now - 8)), max([self.now, *ends])
        self.at = width - self.WIDTH - 2
        self.here = min(self.WIDTH - 1, self._x(self.now))

    def _ends_soon(self, link: Link) -> bool:
        return self.now < link.until < self.now + 100_000

    def _x(self, cycle: int) -> int:
        return (cycle - self.first) * self.WIDTH // max(1, self.last - self.first)

    def beside(self, link: Link) -> bool:
        """Say whether a link has a bar: on a wide popup, unless it is the conclusion."""
        return self.width >= 80 and not link.conclusion

    def scale(self) -> Row:
        """Return the row of the axis's cycles."""
        row, first, now = Row(self.width, "popup"), number(self.first), number(self.now)
        if self.width >= 80:
            if self.here > len(first) + len(now) + 2:
                row.at(self.at, first, "faint")
            row.right(max(row.x + 1, self.at + self.here + 1), f"{now} ▼", "bold")
            if self.last > self.now:
                row.right(self.at + self.WIDTH, number(self.last), "faint")
        return row

    def bar(self, link: Link) -> list[tuple[str, str]]:
        """Return the cells of one link's bar."""
        cells = [(" ", "text")] * self.WIDTH
        if link.since >= 0:
            start = max(0, self._x(link.since))
            end = min(self.WIDTH, self._x(link.until)) if self._ends_soon(link) else self.here + 1
            for x in range(start, min(self.WIDTH, max(end, start + 1))):
                cells[x] = ("━" if x <= self.here else "╌", "p:moving" if link.code >= 10 else "p:fast")
        if cells[self.here][0] == " ":
            cells[self.here] = ("│", "faint")
        return cells


def render_popup(scene: Scene, width: int, height: int, selected: int = 0, below: Sequence[Line] = (),
                 hints: Sequence[tuple[str, str]] = ()) -> list[Line]:
    """Return the whole chain with its evidence and, on the right, when each link applies.

    ▌WHY w31 does not issue at 184,213                                   Esc closes
                                              184,166      184,213 ▼
    ▸1 L w31 waits for R12                            ━━━━━━━━━━━━━━━╌╌╌╌╌╌╌╌
         14 cycles, since 184,199; fma.rn.f32 R13, R12              │

    ━ so far, ╌ known to follow, │ now. Digits, j and k choose a link, Enter goes to the cycle in which it began; f tries the
    setting without which the resource would not delay it.

    below: rows under the chain, such as the result of a relief; hints: the keys of the last row.
    """
    links, losers = links_of(scene, scene.warp)
    height -= len(below)
    top = Row(width, "popup").add("▌", "title").add(f"{heading(scene)} at {number(scene.cycle)}", "title")
    axis = _Axis(scene, links, width)
    lines = [top.right(width - 1, closes(scene.key("close")), "tinfo").line(), axis.scale().line()]
    step = 2 if height >= 2 * len(links) + 3 else 1
    spare = height - 3 - bool(losers) - step * len(links)
    for index, link in enumerate(links):
        rows = _link_rows(scene, axis, link, index, index == selected, step == 2, max(0, spare))
        spare -= len(rows) - step
        lines += rows
    if losers:
        row = Row(width, "popup").add("  would also have blocked  ", "dim")
        for code in losers:
            look = scene.look(code)
            row.add(look.glyph, "st:" + look.role).add(f" {look.short}  ", "text")
        lines.append(row.line())
    blank = Row(width, "popup").line()
    lines = lines[: height - 1]
    lines += [blank] * (height - 1 - len(lines))
    count = sum(not link.conclusion for link in links)
    digits = (f"1–{count}" if count > 1 else "1", "link")
    return [*lines, *below, hint_row(width, (digits, *hints), "popup")]


def _link_rows(scene: Scene, axis: _Axis, link: Link, index: int, chosen: bool, has_evidence: bool,
               spare: int) -> list[Line]:
    """Return a link's rows in the popup: its sentence with its bar, then the evidence; spare: rows that it may wrap into."""
    width = axis.width
    row = Row(width, "popup")
    row.add("▸" if chosen else " ", "bold").add(str(index + 1) if not link.conclusion else " ", "dim").to(3)
    if link.code >= 0:
        look = scene.look(link.code)
        row.add(look.glyph, "st:" + look.role)
    has_bar = axis.beside(link)
    room = (axis.at if has_bar else width) - 6
    role = "p:good" if link.conclusion else "bold" if chosen else "text"
    texts = _wrapped(link.text, room, 1 + spare)
    row.to(5).add(texts[0], role)
    if has_bar:
        row.to(axis.at).cells(axis.bar(link))
    lines = [row.line(), *(Row(width, "popup").to(5).add(text, role).line() for text in texts[1:])]
    if has_evidence:
        parts = _wrapped(link.evidence, room - 2 if has_bar else width - 8, 1 + max(0, spare + 1 - len(texts)))
        under = Row(width, "popup").to(6).add(parts[0], "dim")
        if has_bar:
            under.at(axis.at + axis.here, "│", "faint")
        lines += [under.line(), *(Row(width, "popup").to(6).add(part, "dim").line() for part in parts[1:])]
    return lines


def rows_wanted(scene: Scene, width: int) -> int:
    """Return how many rows the popup needs, so that no sentence is cut; with a blank one before the hints."""
    links, losers = links_of(scene, scene.warp)
    axis = _Axis(scene, links, width)
    rows = (_link_rows(scene, axis, link, 0, False, True, len(link.text + link.evidence)) for link in links)
    return 4 + bool(losers) + sum(map(len, rows))


def as_text(scene: Scene) -> str:
    """Return the chain as plain text, for the clipboard."""
    chain = chain_of(scene, scene.warp)
    return f"{heading(scene)} at {number(scene.cycle)}\n{chain.text()}" if chain else heading(scene)


PANEL = Panel(
    name="why", title="WHY", paint=render, enter="why", facts=warps.facts, terms="state", terms_first=True,
    at=lambda scene, place, x, y: Hit(double=("why", "")),
    spots={
        Shape.NARROW: Spot(RIGHT, 4, (Grant(1, 5), Grant(2, 6), Grant(9, REST))),
        Shape.MEDIUM: Spot(RIGHT, 3, (Grant(1, 5), Grant(3, 7, whole=True), Grant(5, 9), Grant(10, REST))),
        Shape.LOW: Spot(RIGHT, 4, (Grant(1, 5), Grant(3, 8), Grant(9, REST))),
        Shape.NORMAL: Spot(LEFT, 2, (Grant(2, 5), Grant(9, REST))),
        Shape.WIDE: Spot(RIGHT, 3, (Grant(1, 8),)),
        Shape.TALL: Spot(LEFT, 2, (Grant(2, 12),)),
    },
    source="our assumption: one chain, the first reason in the order in which the machine checks them",
    columns=(
        ("number", "the distance from the warp: 1 is what it waits for, 2 what that waits for", "our assumption"),
        ("ready again", "the cycle in which the last link ends, if it is already known", "our assumption"),
    ),
)
