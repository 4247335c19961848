"""Sessions in notebooks: the example notebook cell by cell, escaped HTML, charts."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rfview.engine import html
from rfview.engine.errors import InputError
from rfview.sessions import Session, open_session

NOTEBOOK = Path(__file__).parent / "session.ipynb"
RECORDED = Path(__file__).parents[2] / "rfview" / "learn" / "recorded"


class Balanced(HTMLParser):
    """Parses HTML and allows only what notebooks need: a few balanced tags, no attribute but style."""

    def __init__(self, text: str):
        super().__init__()
        self.open: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in ("div", "b", "table", "tr", "th", "td", "pre") and all(name == "style" for name, _ in attrs)
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture
def session() -> Session:
    return open_session(RECORDED / "drain.rfs")


def run_cell(source: str, names: dict[str, Any]) -> Any:
    """Run a cell and return what it shows: the value of its last line if that is an expression."""
    tree = ast.parse(source)
    shown = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    return eval(compile(ast.Expression(shown.value), "cell", "eval"), names) if shown is not None else None


@pytest.mark.slow
def test_every_cell_of_the_example_notebook_runs_and_shows_something() -> None:
    cells = [cell for cell in json.loads(NOTEBOOK.read_text())["cells"] if cell["cell_type"] == "code"]
    names: dict[str, Any] = {}
    kinds = []
    for cell in cells:
        source = "".join(cell["source"])
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            shown = run_cell(source, names)
        kinds += [kind.__name__ for kind in type(shown).__mro__]
        assert shown is not None or printed.getvalue(), source
        if hasattr(shown, "_repr_html_"):
            assert Balanced(shown._repr_html_()).text
    assert {"Session", "Stop", "Snapshot", "Chain", "Comparison", "list"} <= set(kinds)


def test_a_session_shows_its_run_and_the_states_at_the_cursor(session: Session) -> None:
    stop = session.goto(100)
    shown = Balanced(session._repr_html_()).text
    assert session.info.kernel in shown and "100 of 0 to" in shown
    names = {int(entry.code): entry.name for entry in session.info.stalls}
    counts = {name: int(count) for name, count in re.findall(r"(\w+) (\d+)(?:, |cycle|$)", shown.split("warps")[-1])}
    states = session.timeline.states(100, 101)[0].tolist()
    assert counts == {names[code]: states.count(code) for code in set(states)}
    assert "cycle 100" in Balanced(stop._repr_html_()).text


def test_a_snapshot_shows_every_resident_warp_and_its_next_instruction(session: Session) -> None:
    session.goto(100)
    snapshot = session.snapshot()
    shown = snapshot._repr_html_()
    assert Balanced(shown).text and shown.count("<tr>") == 1 + int(snapshot.sm["resident"]).bit_count()
    pc = int(snapshot.sm["warp"][0]["pc"])
    assert html.text(session.info.program[pc].text) in shown


def test_what_programs_say_cannot_become_html() -> None:
    evil = "<script>alert(1)</script>\x1b[2J\u202e&"
    for shown in (html.table(evil, [evil], [[evil, 1]], evil), html.lines(evil, f"{evil}\n{evil}")):
        assert "<script" not in shown and "\x1b" not in shown and "\u202e" not in shown
        assert "<script>alert(1)</script>" in Balanced(shown).text


def held(chart: Any) -> list[dict[str, Any]]:
    """Return a chart's rows."""
    (rows,) = chart.to_dict()["datasets"].values()
    return rows


def test_charts_hold_the_sessions_numbers(session: Session) -> None:
    rows = held(session.plot(points=50))
    names = {entry.name for entry in session.info.stalls}
    assert {row["state"] for row in rows} <= names and all(row["warps"] >= 0 for row in rows)
    span = session.overview(50).edges
    width = dict(zip(span[:-1].tolist(), np.diff(span).tolist(), strict=True))
    issued = sum(row["warps"] * width[row["cycle"]] for row in rows if row["state"] == "issued")
    assert issued == pytest.approx(int(session.timeline.stall_totals(session.timeline.last)[0]), rel=1e-3)
    rows = held(session.plot("stall.issued", "any(w.state == wait)", points=10))
    assert len(rows) == 20
    first, second = (row["cycle"] for row in rows[:2])
    want = np.mean([session.value("stall.issued", cycle) for cycle in range(first, second)])
    assert rows[0]["value"] == pytest.approx(want, abs=1e-5)
    with pytest.raises(InputError, match="has .* values"):
        session.plot("bank.queue")
    with pytest.raises(InputError, match="1 to 5,000"):
        session.plot(points=0)


def test_a_chart_is_shown_as_a_picture_that_needs_no_network(session: Session) -> None:
    pytest.importorskip("vl_convert", reason="an extra: rfview[notebook]")
    shown = session.plot("stall.issued", points=10).properties(width=200)._repr_mimebundle_()
    picture = ElementTree.fromstring(shown["image/svg+xml"])
    assert picture.tag.endswith("svg") and any("stall.issued" in (part.text or "") for part in picture.iter())
    assert "<script" not in shown["image/svg+xml"] and "text/html" not in shown


def test_a_chart_finds_states_by_their_codes_which_may_have_gaps(session: Session) -> None:
    whole = held(session.plot(points=50))
    gone = session.info.stalls.pop(1)
    assert held(session.plot(points=50)) == [row for row in whole if row["state"] != gone.name]
