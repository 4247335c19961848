"""Figures of sweeps: levelled machines, ratios and their means by hand, nothing averaged unnamed, tables, SVG and PDF."""

from __future__ import annotations

import csv
import io
import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from statistics import geometric_mean
from typing import Any

import pytest

from rfview import cli
from rfview.engine import plugin as designs
from rfview.engine.errors import InputError
from rfview.engine.plugin import files
from rfview.engine.plugin.assumed import assumed_entries, mark
from rfview.sweep import columns, dataset, drawing, grouping, plan, plot, tables
from tests.rfview.test_sweep_files import written

pytest.importorskip("pyarrow", reason="sweeps are kept by pyarrow")
CYCLES = {("k1", "sram"): 100, ("k1", "stt"): 200, ("k1", "rfc"): 80, ("k2", "sram"): 1000, ("k2", "stt"): 4000, ("k2", "rfc"): 500}
LEVEL = {"sm.num_schedulers": "1"}


def filled(folder: Path, *rows: dict[str, Any], **common: Any) -> Path:
    """Return a dataset of two kernels and three designs, and of more rows."""
    usual = dict.fromkeys(columns.BY_NAME) | {
        "scheduler": "gto", "preset": "fermi", "outcome": "ok", "stalls": {}, "counts": {}, "settings": {}, "level": LEVEL,
        "max_cycles": 10**6, "engine": "e", "version": "1", "energy_assumed": "", "node_nm": 32} | common
    with dataset.writing(folder / "results") as held:
        for number, ((kernel, design), cycles) in enumerate(CYCLES.items()):
            held.add([usual | {"key": str(number), "kernel": kernel, "launch": f"/{kernel}.toml", "design": design,
                               "cycles": cycles, "energy_pj": 10.0 * cycles}])
        for number, row in enumerate(rows):
            held.add([usual | {"key": f"more{number}", "launch": f"/{row['kernel']}.toml"} | row])
    return folder / "results"


def groups(folder: Path, text: str = "kernel,speed,design", **options: Any) -> grouping.Groups:
    return grouping.groups_of(folder, grouping.parse(text, **options))


def test_jobs_are_levelled_as_compare_levels_unless_the_file_says_otherwise(tmp_path: Path) -> None:
    levelled = plan.load(written(tmp_path, designs='["sram", "hrf", "racetrack"]'))
    assert {dict(one.level or ())["sm.num_schedulers"] for one in levelled.jobs} == {1}
    assert all(dict(one.job.settings)["sm.max_banks_per_cycle"] == 4 for one in levelled.jobs)
    assert any("every design runs with sm.num_schedulers = 1" in note for note in levelled.notes)
    own = plan.load(written(tmp_path, designs='["sram", "hrf", "racetrack"]', level="false"))
    assert {one.level for one in own.jobs} == {None} and {one.job.settings for one in own.jobs} == {()}
    assert any("not levelled" in note for note in own.notes)
    assert {one.level for one in plan.load(written(tmp_path, presets='["paper"]')).jobs} == {None}


def test_a_swept_parameter_is_not_levelled_away(tmp_path: Path) -> None:
    found = plan.load(written(tmp_path, "sm.num_schedulers = [1, 2]", designs='["sram", "hrf"]')).jobs
    assert {dict(one.job.settings)["sm.num_schedulers"] for one in found} == {1, 2}
    assert all("sm.num_schedulers" not in dict(one.level or ()) for one in found)


def test_speeds_and_geometric_means_are_those_computed_by_hand(tmp_path: Path) -> None:
    made = groups(filled(tmp_path), base="sram", geomean=True)
    assert made.series == ("rfc", "stt") and made.places == ("k1", "k2")      # the base itself is the line at 1
    assert {pair: cell.value for pair, cell in made.cells.items()} == {
        ("k1", "stt"): 0.5, ("k2", "stt"): 0.25, ("k1", "rfc"): 1.25, ("k2", "rfc"): 2.0}
    assert made.means == {"stt": pytest.approx(0.125**0.5), "rfc": pytest.approx(2.5**0.5)}
    assert made.base == {"k1": 100.0, "k2": 1000.0}
    assert "geometric mean of 2" in made.notes and "sm.num_schedulers = 1" in made.notes[0]


def test_a_kernel_that_lacks_a_bar_is_named_and_left_out_of_every_mean(tmp_path: Path) -> None:
    folder = filled(tmp_path, {"kernel": "k3", "design": "sram", "cycles": 10}, {"kernel": "k3", "design": "stt", "cycles": 40})
    made = groups(folder, base="sram", geomean=True)
    assert "geometric mean of 2, without k3, which lack a bar" in made.notes
    assert made.means["stt"] == pytest.approx(0.125**0.5)


def test_nothing_is_averaged_over_a_dimension_that_nobody_named(tmp_path: Path) -> None:
    rows = [{"kernel": "k1", "design": "mine", "cycles": 50 * n, "settings": {"mine.width": str(n)}} for n in (1, 2, 4)]
    folder = filled(tmp_path, *rows)
    with pytest.raises(InputError, match=r"mine\.width has 3 values for k1 mine \(1, 2, 4\): fix it with --where"):
        groups(folder, "kernel,cycles,design")
    with pytest.raises(InputError, match="kernel has 2 values for sram"):
        groups(folder, "design,cycles", where=["scheduler=gto"])
    fixed = groups(folder, "kernel,cycles,design", where=["mine.width=2"])
    assert {pair: cell.value for pair, cell in fixed.cells.items()} == {("k1", "mine"): 100.0}
    shown = groups(folder, "kernel,speed,design+mine.width", base="sram")
    assert ("k1", "mine width=4") in shown.cells and ("k1", "stt") in shown.cells
    named = groups(folder, "kernel,speed,design", base="sram", means=["mine.width"])
    cell = named.cells["k1", "mine"]
    assert (cell.value, cell.low, cell.high) == (pytest.approx(geometric_mean([2.0, 1.0, 0.5])), 0.5, 2.0)
    assert any("geometric mean over mine.width" in note for note in named.notes)


def test_a_facet_is_a_figure_for_each_value_relative_to_the_base_that_lacks_it(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"kernel": "k1", "design": "mine", "cycles": 50 * n, "settings": {"mine.width": str(n)}} for n in (1, 2, 10)]
    folder = str(filled(tmp_path, *rows))
    words = ["sweep", folder, "--relative-to", "sram", "--facet", "mine.width"]
    assert cli.main([*words, "--svg", str(tmp_path / "f.svg"), "--json"]) == 0
    facets = json.loads(capsys.readouterr().out)["facets"]
    assert [one["facet"] for one in facets] == [{"mine.width": value} for value in ("1", "2", "10")], "numbers in order"
    assert [cell["value"] for one in facets for cell in one["cells"]] == pytest.approx([2.0, 1.0, 0.2])
    assert sorted(path.name for path in tmp_path.glob("f*.svg")) == ["f-1.svg", "f-10.svg", "f-2.svg"]
    assert cli.main([*words, "--table", "md"]) == 0
    assert capsys.readouterr().out.count("mine.width = ") >= 3
    assert cli.main(["sweep", folder, "--relative-to", "sram", "--facet", "mine.wdth"]) == 2
    assert "did you mean 'mine.width'" in capsys.readouterr().err


def test_a_design_without_the_parameter_is_named_and_the_base_is_no_series_of_its_own(tmp_path: Path) -> None:
    more = [{"kernel": kernel, "design": "my", "cycles": cycles * times, "settings": {"my.slow": str(times)}}
            for kernel, cycles in (("k1", 100), ("k2", 1000)) for times in (1, 2)]
    where = filled(tmp_path, *more)
    plain = groups(where, "kernel,cycles,my.slow")
    assert set(plain.series) == {"slow=1", "slow=2", "sram", "stt", "rfc"} and plain.series[:2] == ("slow=1", "slow=2")
    assert plain.cells["k1", "sram"].value == 100 and plain.cells["k2", "rfc"].value == 500
    ratios = groups(where, "kernel,speed,my.slow", base="sram", geomean=True)
    assert set(ratios.series) == {"slow=1", "slow=2", "stt", "rfc"} and ratios.means["slow=2"] == pytest.approx(0.5)
    assert "sram" not in groups(where, "my.slow,speed,kernel", base="sram").places


def test_rows_of_another_engine_or_level_are_not_mixed(tmp_path: Path) -> None:
    folder = filled(tmp_path, {"kernel": "k1", "design": "stt", "cycles": 7, "engine": "other"})
    with pytest.raises(InputError, match="engine has 2 values for k1 stt"):
        groups(folder, "kernel,cycles,design")


def test_machines_that_are_not_levelled_have_no_ratio_and_say_so(tmp_path: Path) -> None:
    folder = filled(tmp_path, level=None)
    with pytest.raises(InputError, match="not levelled"):
        groups(folder, base="sram")
    assert "not levelled" in groups(folder, "kernel,cycles,design").notes[0]


def test_assumed_energies_are_shown_beside_and_never_as_a_gain(tmp_path: Path) -> None:
    folder = filled(tmp_path, {"kernel": "k1", "design": "mine", "cycles": 5, "energy_pj": 1.0, "energy_assumed": "rf_reads"})
    made = groups(folder, "kernel,energy_pj,design")
    assert made.hatched == {"mine"}
    text = tables.table(made, "md")
    assert "mine (energy assumed)" in text and "assumed" in plot.chart_of(made).bars[0].label
    assert "mine (energy assumed)" in drawing.svg(drawing.figure_of(made))
    with pytest.raises(InputError, match="energies of mine are assumed, so that they are no gain"):
        groups(folder, "kernel,energy_pj,design", base="sram")
    other = filled(tmp_path / "b", {"kernel": "k1", "design": "mine", "cycles": 5, "energy_pj": 1.0, "node_nm": 40})
    with pytest.raises(InputError, match="energies at 32 nm, 40 nm cannot be compared"):
        groups(other, "kernel,energy_pj,design", base="sram")


def test_assumed_entries_are_those_of_the_design_and_of_what_it_is_built_over(tmp_path: Path) -> None:
    files.write_new(tmp_path / "my_rf.py")
    assert assumed_entries(("sram",), "collector") == ()
    assert assumed_entries(("edram",), "collector") == ("row_refreshes", "low_refreshes")
    own = designs.build(str(tmp_path / "my_rf.py"), {}, "").chain
    assert {"rf_reads", "rf_writes", "leakage"} <= {*assumed_entries(own, "collector")}
    assert mark(("rf_reads", "leakage")) == "assumed: rf_reads, leakage" and mark(()) == ""


def test_every_energy_on_a_sub_core_is_assumed() -> None:
    assert "Fermi" in mark(assumed_entries(("sram",), "subcore"))


def test_tables_have_the_same_numbers_in_each_format(tmp_path: Path) -> None:
    made = groups(filled(tmp_path), base="sram", geomean=True)
    assert "| k2 | 1,000 | 2.00 | 0.25 |" in tables.table(made, "md")
    assert "| **geometric mean** |  | **1.58** | **0.35** |" in tables.table(made, "md")
    latex = tables.table(made, "latex")
    assert r"k2 & 1,000 & 2.00 & 0.25 \\" in latex and r"\toprule" in latex and latex.count(r"\midrule") == 2
    assert tables.latex("a_b & 50 %") == r"a\_b \& 50 \%"
    rows = list(csv.reader(io.StringIO(tables.table(made, "csv"))))
    assert rows[0] == ["kernel", "sram cycles", "rfc", "stt"] and float(rows[-1][2]) == pytest.approx(2.5**0.5)


def test_the_figure_has_a_labelled_bar_per_cell_as_high_as_its_value(tmp_path: Path) -> None:
    made = groups(filled(tmp_path), base="sram", geomean=True)
    figure = drawing.figure_of(made)
    bars = {shape.title: shape.height for shape in figure.shapes if isinstance(shape, drawing.Box) and shape.title}
    assert len(bars) == 6 and bars["k2 rfc: 2.00"] == pytest.approx(8 * bars["k2 stt: 0.25"])
    words = [shape.text for shape in figure.shapes if isinstance(shape, drawing.Words)]
    assert {"k1", "k2", "geo. mean", "rfc", "stt", "kernel", "speed, cycles of sram ÷ cycles"} <= {*words}
    tree = ElementTree.fromstring(drawing.svg(figure))
    texts = [element.text for element in tree.iter("{http://www.w3.org/2000/svg}text")]
    assert texts == words and drawing.svg(figure) == drawing.svg(drawing.figure_of(made))
    assert all(0 <= shape.x <= figure.width and 0 <= shape.y <= figure.height for shape in figure.shapes)


def test_averages_have_whiskers_and_axes_reach_beyond_every_value(tmp_path: Path) -> None:
    rows = [{"kernel": "k1", "design": "mine", "cycles": 50 * n, "settings": {"mine.width": str(n)}} for n in (1, 2, 4)]
    made = groups(filled(tmp_path, *rows), base="sram", means=["mine.width"])
    plain = groups(filled(tmp_path / "b"), base="sram")
    counts = [sum(isinstance(shape, drawing.Stroke) for shape in drawing.figure_of(one).shapes) for one in (made, plain)]
    assert counts[0] == counts[1] + 3       # one whisker: a line with two ends
    for value in (0.003, 0.7, 1.0, 1.05, 3.0, 99.0, 101.0, 5e6):
        step, most = drawing._axis(value)
        assert 0.999 * value <= most <= 2 * value and most / step < drawing.TICKS + 0.001


def test_nudged_runs_give_a_bar_its_whiskers(tmp_path: Path) -> None:
    nudged = {"kernel": "k3", "nudges": 4, "cycles_lowest": 8, "cycles_highest": 10}
    folder = filled(tmp_path, nudged | {"design": "sram", "cycles": 10}, nudged | {
        "design": "stt", "cycles": 40, "cycles_lowest": 32, "cycles_highest": 50}, nudges=0)
    made = groups(folder, base="sram")
    found, sure = made.cells["k3", "stt"], made.cells["k1", "stt"]
    assert (found.low, found.value, found.high) == (10 / 50, 10 / 40, 10 / 32) and sure.low == sure.high
    assert "whiskers: range of the run and its 4 nudged ones" in made.notes


def test_no_text_of_a_figure_reaches_into_another_or_beyond_the_page(tmp_path: Path) -> None:
    """Checked: names along x, the notes below, and the legend."""
    more = [{"kernel": f"a kernel with a long name {n}", "design": design, "cycles": n + 1}
            for n in range(24) for design in ("sram", "stt", "rfc")]
    for folder, extra in (("few", []), ("many", more)):
        figure = drawing.figure_of(groups(filled(tmp_path / folder, *extra), base="sram", geomean=True))
        names = [one for one in figure.shapes if isinstance(one, drawing.Words)]
        for one in names:
            wide = drawing._wide(one.text, one.size)
            if one.upright:
                assert one.y - (wide if one.anchor == "start" else 0) > -1 and one.y + (wide if one.anchor == "end" else 0) <= figure.height
            else:
                left = one.x - {"start": 0.0, "middle": wide / 2, "end": wide}[one.anchor]
                assert left >= 0 and left + wide <= figure.width + 1, one
        below = sorted((one.x, drawing._wide(one.text, one.size)) for one in names
                       if one.anchor == "middle" and not one.upright and one.size == drawing.SMALL)
        assert all(x + wide / 2 <= other - other_wide / 2 for (x, wide), (other, other_wide) in zip(below, below[1:]))


def test_a_file_decides_the_order_of_words_and_a_folder_without_rows_says_so(tmp_path: Path) -> None:
    folder = filled(tmp_path)
    turned = grouping.groups_of(folder, grouping.parse("kernel,speed,design", base="sram"), ["5", "4", "3", "1", "2", "0"])
    assert (turned.places, turned.series) == (("k2", "k1"), ("rfc", "stt"))
    with pytest.raises(InputError, match="no row of a finished run yet"):
        grouping.groups_of(folder, grouping.parse("kernel,cycles"), ["none"])


def test_a_pdf_has_one_page_and_embeds_its_fonts(tmp_path: Path) -> None:
    pytest.importorskip("reportlab", reason="an extra: rfview[figures]")
    data = drawing.pdf(drawing.figure_of(groups(filled(tmp_path), base="sram", geomean=True)))
    assert data.startswith(b"%PDF") and data.count(b"/FontFile2") >= 1 and data.count(b"/Type /Page\n") == 1


def test_a_cell_opens_as_the_run_it_stands_for(tmp_path: Path) -> None:
    folder = filled(tmp_path, {"kernel": "k1", "design": "mine", "cycles": 5, "settings": {"mine.width": "2"}})
    assert plot.run_of(folder, "kernel=k1,design=mine") == [
        "debug", "/k1.toml", "--design", "mine", "--scheduler", "gto", "--preset", "fermi", "--set", "sm.num_schedulers=1",
        "--set", "mine.width=2"]
    with pytest.raises(InputError, match=r"2 runs have these values; add kernel \(k1, k2\)"):
        plot.run_of(folder, "design=stt")
    with pytest.raises(InputError, match="no run with these values; kernel is k1, k2"):
        plot.run_of(folder, "design=stt,kernel=k9")


def test_the_command_line_draws_all_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(filled(tmp_path))
    figure = tmp_path / "figure.svg"
    assert cli.main(["sweep", folder, "--relative-to", "sram", "--geomean", "--svg", str(figure), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["geometric_means"]["stt"] == pytest.approx(0.125**0.5) and figure.read_text().startswith("<svg")
    assert [cell["command"] for cell in data["cells"]][0].startswith("rfview debug /k1.toml --design")
    assert cli.main(["sweep", folder, "--relative-to", "sram", "--table", "md"]) == 0
    assert capsys.readouterr().out.startswith("speed, cycles of sram ÷ cycles (gto, fermi, sm.num_schedulers = 1")
    for words, said in ((("--geomean",), "--geomean: belongs to a figure"),
                        (("--plot", "kernel,speed,design"), "add --relative-to"),
                        (("--plot", "kernel,ipc", "--geomean"), "a geometric mean is of ratios"),
                        (("--plot", "kernel,cycles", "--where", "x"), "expected NAME=VALUE"),
                        (("--relative-to", "srm"), "did you mean 'sram'")):
        assert cli.main(["sweep", folder, *words]) == 2
        assert said in capsys.readouterr().err


@pytest.mark.parametrize("name", [one.name for one in columns.COLUMNS if one.kind in grouping.NUMBERS])
def test_every_number_of_a_run_can_be_drawn(tmp_path: Path, name: str) -> None:
    row = {"kernel": "k3", "design": "sram", **{one.name: 3 for one in columns.COLUMNS if one.kind in grouping.NUMBERS}}
    made = groups(filled(tmp_path, row), f"kernel,{name},design", where=("kernel=k3",))
    assert made.cells["k3", "sram"].value == 3


def test_a_facet_that_cannot_be_drawn_keeps_the_others_from_being_written(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = filled(tmp_path, {"kernel": "k3", "design": "lame", "cycles": None})
    words = ["sweep", str(folder), "--plot", "kernel,cycles", "--facet", "design", "--svg", str(tmp_path / "f.svg")]
    assert cli.main(words) == 2
    out, err = capsys.readouterr()
    assert "no rows with these columns" in err and not out and not list(tmp_path.glob("f*.svg"))
