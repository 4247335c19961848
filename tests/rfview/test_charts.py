"""Charts: lengths of bars and parts, the reference line, the SVG as XML; the files that commands and the screen write."""

from __future__ import annotations

import csv
import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from rfview.engine.errors import InputError
from rfview import charts, cli
from rfview.commands import compare_output
from tests.rfview.pilots import Driven, drive

SVG = "{http://www.w3.org/2000/svg}"
STACKED = charts.Chart("shares", (charts.Bar("a", 100.0, (("x", 25.0), ("y", 75.0))), charts.Bar("b", 50.0, (("y", 50.0),))),
                       "%", ".0f", (75.0, "paper"))


def test_bars_are_as_long_as_their_values() -> None:
    lines = charts.text(charts.of("t", ["one", "half", "none", "less"], [2.0, 1.0, 0.0, -1.0], form=".1f")).splitlines()
    assert [line.count("█") for line in lines[1:]] == [charts.BAR_CELLS, charts.BAR_CELLS // 2, 0, 0]
    assert [line.split()[-1] for line in lines[1:]] == ["2.0", "1.0", "0.0", "-1.0"]


def test_parts_fill_the_bar_and_the_line_stands_at_its_value() -> None:
    first, second, line, legend = charts.text(STACKED).splitlines()[1:]
    cells = charts.BAR_CELLS
    assert (first.count("█"), first.count("▓") + 1) == (cells // 4, cells * 3 // 4)      # one of them is under the line
    assert second.count("▓") == cells // 2
    assert first.index("┃") == second.index("│") == line.index("│") and "paper, 75" in line and "█ x  ▓ y" in legend


def test_the_svg_is_xml_with_a_rectangle_per_part() -> None:
    root = ElementTree.fromstring(charts.svg(STACKED))
    boxes = [box for box in root.iter(f"{SVG}rect") if box.find(f"{SVG}title") is not None]
    widths = [float(box.get("width", "0")) for box in boxes]
    assert widths == pytest.approx([charts.WIDE / 4, charts.WIDE * 3 / 4, charts.WIDE / 2], abs=0.1)
    assert float(boxes[1].get("x", "0")) == pytest.approx(charts.LEFT + charts.WIDE / 4, abs=0.1)
    assert next(root.iter(f"{SVG}text")).text == "shares, %" and charts.svg(STACKED) == charts.svg(STACKED)


def test_compare_writes_csv_chart_and_svg(small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["compare", str(small), "--designs", "sram,stt", "--schedulers", "gto,lrr", "--workers", "1"]
    assert cli.main([*words, "--csv", str(tmp_path / "t.csv"), "--plot", "stalls", "--svg", str(tmp_path / "t.svg")]) == 0
    printed = capsys.readouterr().out
    assert "share of resident warp-cycles" in printed and "█ issued" in printed and "stt lrr" in printed
    with (tmp_path / "t.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["design"] + row["scheduler"] for row in rows] == ["sramgto", "sttgto", "sramlrr", "sttlrr"]
    for row in rows:
        states = list(row)[list(row).index("issued"):]
        assert sum(int(row[name]) for name in states) == int(row["warp_cycles"]) and row["same_bits"] == "True"
    ElementTree.parse(tmp_path / "t.svg")
    assert cli.main([*words, "--csv", "-"]) == 0
    assert capsys.readouterr().out == (tmp_path / "t.csv").read_text()


@pytest.mark.parametrize("metric", ["ipc", "cycles", "energy"])
def test_every_metric_has_a_bar_per_row(metric: str, small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["compare", str(small), "--designs", "sram,stt", "--workers", "1", "--plot", metric]) == 0
    chart = capsys.readouterr().out.partition(compare_output.METRICS[metric] + ", copy")[2].splitlines()
    assert [line.split()[0] for line in chart[1:3]] == ["sram", "stt"]


def test_a_row_is_opened_with_the_tables_machine(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["compare", str(small), "--designs", "sram,hrf", "--workers", "1", "--open", "sram"]) == 0
    screen = capsys.readouterr().out.partition(" rfview  copy")[2].splitlines()[0]
    assert "sram gto" in screen and "cycle 0" in screen
    assert compare_output.row_of("stt[stall=bank]:lrr", ["stt[stall=bank]"], ["gto", "lrr"]) == ("stt[stall=bank]", "lrr")
    assert compare_output.row_of("stt[stall=bank]", ["stt[stall=bank]"], ["gto", "lrr"]) == ("stt[stall=bank]", "gto")
    with pytest.raises(InputError, match="there are sram:gto"):
        compare_output.row_of("hrf", ["sram"], ["gto"])


def test_outputs_of_a_table_are_refused_for_two_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["compare", "a.rfs", "b.rfs", "--csv", "x.csv"]) == 2
    assert "--csv: only for one kernel" in capsys.readouterr().err


def test_a_figure_has_a_bar_per_kernel_and_the_papers_value(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["reproduce", "--figure", "hrf-stt-ipc", "--kernels", "reduction", "--workers", "1"]
    assert cli.main([*words, "-o", str(tmp_path / "f.svg")]) == 0
    printed = capsys.readouterr().out
    assert "hrf-stt-ipc" in printed and "reduction" in printed and "│ paper, " in printed and "over all" in printed
    ElementTree.parse(tmp_path / "f.svg")
    assert cli.main([*words, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert list(data["kernels"]) == ["reduction"] and data["value"] == pytest.approx(data["kernels"]["reduction"])
    assert cli.main(["reproduce", "--figure", "list"]) == 0
    assert "hrf-stt-ipc" in capsys.readouterr().out


@pytest.mark.parametrize(("words", "said"), [
    (["--figure", "hcrf-icp"], "did you mean hcrf-ipc"), (["-o", "x.svg"], "only with --figure"),
    (["--figure", "hcrf-ipc", "--exact"], "leave out --exact"),
    (["--figure", "hcrf-ipc", "-o", "/nowhere/x.svg"], "no folder"),
])
def test_wrong_figures_are_named(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["reproduce", *words]) == 2
    assert said in capsys.readouterr().err


def test_the_screen_is_written_as_svg_and_as_text(tmp_path: Path) -> None:
    async def test(app: Driven) -> None:
        for name in ("a.svg", "a.txt"):
            await app.press(":")
            await app.type(f"screenshot {tmp_path / name}")
            assert app.scene.message == f"written: {tmp_path / name}"
        root = ElementTree.parse(tmp_path / "a.svg").getroot()
        assert "WARPS" in "".join(root.itertext()) and "rfview replay" in "".join(root.itertext()).replace("\xa0", " ")
        rows = (tmp_path / "a.txt").read_text().splitlines()
        assert len(rows) == 40 and "WARPS" in rows[6]
        assert rows[:38] == [row.rstrip() for row in app.screen_text().splitlines()][:38]
        for name, said in (("a.png", ".svg or .txt"), ("/nowhere/a.svg", "there is no folder")):
            await app.press(":")
            await app.type(f"screenshot {name}")
            assert said in app.scene.message and app.scene.message_kind == "error"

    drive(test)
