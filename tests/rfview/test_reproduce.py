"""`rfview reproduce`: its text, page and counts, from hand-made findings; one small run of the command."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from rfview import cli
from rfview.commands import reproduce_page, reproduce_text
from rfview.engine import papers
from rfview.engine.papers import Claim, Number, verdicts


def finding(number: Number | None, own: tuple[str, ...] = (), **changes: Any) -> verdicts.Finding:
    """Return the finding of a claim of 40 % whose paper names two kernels."""
    base = {"id": "hcrf-x", "paper": "hcrf", "section": "V", "design": "hcrf", "baseline": "sram", "quantity": "ipc loss",
            "value": 40.0, "unit": "%", "kind": "simulated", "how": "", "sort": "effect", "named": 2}
    return verdicts.check(Claim(**{**base, **changes}), None if number is None else lambda: number, "no kernel", own)


FOUND = [
    finding(Number(44.0, "as here", {"a": 30.0, "b": 58.0}), ("a",)),
    finding(Number(12.0, "less", {"a<b>": -5.0, "c": 29.0}), id="hcrf-y", cause="memory & <latency>"),
    finding(None, id="hcrf-z"),
    finding(Number(1.0), id="rm-q", paper="racetrack_jcst16", sort="pass", value=1.0),
]


class Page(HTMLParser):
    """Collects the addresses that a page refers to, and the tags left open."""

    VOID = {"meta"}

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.asked: list[tuple[str, str | None]] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag, and its attributes that refer to something outside the page."""
        self.tags.append(tag)
        if tag not in self.VOID and not self.get_starttag_text().endswith("/>"):  # type: ignore[union-attr]
            self.open.append(tag)
        self.asked += [pair for pair in attrs if pair[0] in ("src", "href", "xlink:href", "action", "data", "srcset")]

    def handle_endtag(self, tag: str) -> None:
        """Close the innermost open tag."""
        if self.open and self.open[-1] == tag:
            self.open.pop()


def test_the_text_has_value_ours_kernels_spread_verdict_and_cause() -> None:
    text = reproduce_text.text_of([], FOUND, 7)
    first, second = text.split("hcrf-y")
    assert "within 25 %        hcrf-x" in first and "HC-RF" in first and "cause" not in first
    assert "paper (V) 40 %, measured 44 % over 2 kernels, the paper names 2 (30 a .. 58 b; 2 values)" in first
    assert "(other kernels)" in second and "cause: memory & <latency>" in second and "no kernel" in second
    assert "7 runs of kernels" in text


def test_counts_by_paper_are_steps_of_each_other() -> None:
    """hcrf: one within on its own kernels, one direction on others, one not tested; racetrack: one in words."""
    counted = reproduce_text.tallies(FOUND)["simulated"]
    hcrf = counted["hcrf"]
    assert [hcrf[key] for key in ("judged", "direction or better", "within or better", "not tested")] == [2, 2, 1, 1]
    assert [hcrf[key] for key in ("own judged", "own direction or better", "own within or better")] == [1, 1, 1]
    assert (hcrf["by cancelling"], hcrf["words only"]) == (0, 0)
    assert counted["racetrack"]["words only"] == 1 and counted["all"]["judged"] == 3
    line = next(line for line in reproduce_text.count_lines(FOUND) if line.startswith("all "))
    assert line.split() == ["all", "3", "3", "1", "0", "1", "1", "1", "1", "0", "0", "1"]


def test_the_page_asks_for_nothing_and_everything_in_it_is_escaped() -> None:
    html = reproduce_page.page(FOUND, 7, "1 <b>")
    page = Page()
    page.feed(html)
    assert page.open == [] and page.asked == [] and "script" not in page.tags and "b" in page.tags
    assert "default-src &#x27;none&#x27;" in html or "default-src 'none'" in html
    assert not re.search(r"https?:|url\(|@import", html)
    assert "a&lt;b&gt;" in html and "a<b>" not in html and "memory &amp; &lt;latency&gt;" in html and "1 &lt;b&gt;" in html


def test_the_page_shows_what_experiments_gave() -> None:
    other = papers.experiments()["transfers-undone"]
    claim = finding(Number(12.0), id="hcrf-y", experiments=(other,))
    shown = {"hcrf-y": {"value": 12.0, "unit": "%", "experiments": [
        {"what": "memory at <20> cycles", "reading": "", "with": "memory.fixed_memory_cycles=20", "value": 31.0,
         "moved": "nearer to the paper"},
        {"what": other.what, "reading": other.reading, "with": "hcrf.pending_writes=collector", "value": 9.0, "moved": "further"}]}}
    html = reproduce_page.page([claim], 7, "1", shown)
    assert "memory at &lt;20&gt; cycles" in html and "memory.fixed_memory_cycles=20" in html and "31 %" in html
    assert html.count("nearer to the paper") == 1 and "Measured as:" in html
    page = Page()
    page.feed(html)
    assert page.asked == [("href", "#B3.6")] and 'id="B3.6"' in html and "not being read or written or swapped" in html
    unmeasured = reproduce_page.page([claim], 7, "1")
    assert 'which --why hcrf-y measures: transfers that a result in flight may undo are started (<a href="#B3.6">' in unmeasured


def test_a_number_close_to_its_bound_is_printed_on_its_side_of_it() -> None:
    """0.96958 is below 0.97, 0.969999 too; 0.98 needs no more digits."""
    assert [reproduce_text.beside(value, 0.97, 1.03) for value in (0.96958, 0.969999, 0.98, 0.97)] == [
        "0.9696", "0.969999", "0.98", "0.97"]
    direction = papers.Direction("x", "hcrf", "IPC", "x", "0.97 to 1.03", Number(0.96958), False, (0.97, 1.03))
    assert "0.9696 x" in reproduce_text.direction_lines(direction)[0]
    close = finding(Number(49.99), value=50.0, sort="bound", bound="least")
    assert (close.verdict, "measured 49.99 %" in reproduce_text.values(close)) == (verdicts.DIRECTION, True)


def test_a_figure_has_a_bar_per_kernel_from_no_effect_and_the_papers_line() -> None:
    """Values -5 and 29, 12 over all, the paper's 40: the axis goes from -5 to 40 over WIDE pixels."""
    root = ElementTree.fromstring(reproduce_page.figure(FOUND[1]))
    bars = [(float(box.get("x", "")), float(box.get("width", ""))) for box in root.iter("rect")]
    step, left = reproduce_page.WIDE / 45, reproduce_page.LEFT
    wanted = [(left, 5 * step), (left + 5 * step, 29 * step), (left + 5 * step, 12 * step)]
    assert bars == [pytest.approx(one, abs=0.06) for one in wanted]
    lines = {line.get("class"): float(line.get("x1", "")) for line in root.iter("line")}
    assert lines == pytest.approx({"none": left + 5 * step, "paper": left + reproduce_page.WIDE}, abs=0.06)
    assert reproduce_page.figure(FOUND[2]) == "" and reproduce_page.figure(FOUND[3]) == ""


def test_the_command_writes_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "p.html"
    assert cli.main(["reproduce", "--exact", "--json", "--html", str(target)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["counts"]["exact"]["all"]["exact"] == 41 and found["counts"]["exact"]["hrf"]["contradicts itself"] == 1
    html = target.read_text()
    assert all(f'id="{claim.id}"' in html for claim in papers.load().values() if claim.kind == papers.EXACT)
    assert cli.main(["reproduce", "--directions", "--html", str(target)]) == 2
    assert cli.main(["reproduce", "--exact", "--html", str(tmp_path / "no" / "p.html")]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 2


def test_every_cause_is_of_a_claim_that_is_judged() -> None:
    for claim in papers.load().values():
        assert not (claim.cause and (claim.not_derivable or claim.contradicts)), claim.id
