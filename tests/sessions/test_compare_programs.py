"""Comparing two versions of a program: which lines belong together, what each waits, what is said, and where that ends."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest

from rfview.engine.stalls import NO_STALL
from rfview.launching import words
from rfview.sessions import open_session
from rfview.sessions.compare import edits, launches
from rfview.sessions.compare.programs import Programs, data_of, speed_sentence
from rfview.sessions.compare.programs_text import programs_text
from rfview.sessions.compare.runs import compared
from rfview.sessions.timeline.base import Timeline
from tests.two_versions import ARGUMENTS, SOURCE, write

Run = Callable[..., Timeline]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return a function that runs a version of the kernel to its end."""
    number = iter(range(100))

    def run(arguments: tuple[str, ...] = ARGUMENTS, **version: object) -> Timeline:
        folder = tmp_path_factory.mktemp(f"run{next(number)}")
        parser = argparse.ArgumentParser()
        words.add_arguments(parser)
        ptx = write(folder, **version)  # type: ignore[arg-type]
        launch = words.write(parser.parse_args(arguments), f"{ptx}::k", folder)
        session = open_session(str(launch))
        session.timeline.run_to_end(None, "test")
        return session.timeline

    return run


def edited(line: int, text: str) -> str:
    lines = SOURCE.splitlines()
    return "\n".join([*lines[: line - 1], text, *lines[line:]]) + "\n"


def rows(programs: Programs) -> list[tuple[int, int]]:
    return [(row.pair.a.line if row.pair.a else 0, row.pair.b.line if row.pair.b else 0) for row in programs.rows]


def test_an_edited_line_stands_above_its_new_version_and_equal_lines_pair(run: Run) -> None:
    programs = Programs(run(), run(slow=5, source=edited(4, "    float x = slow(i * 3);")))
    assert programs.alignment.by == edits.SOURCE
    assert rows(programs) == [(3, 3), (4, 0), (0, 4), (5, 5), (6, 6)]
    assert programs.alignment.edited == 1
    assert programs.memory_equal is True


def test_added_lines_move_those_below_them(run: Run) -> None:
    before = run()
    source = SOURCE.replace("    out[i]", "    // a comment\n\n    out[i]")
    body = run(source=source.replace("\n\n", "\n"), lines=True)
    programs = Programs(before, body)
    assert (0, 5) in rows(programs) and (4, 4) in rows(programs)     # the comment is shown near its neighbours


def test_blanks_are_no_edit(run: Run) -> None:
    programs = Programs(run(), run(source=SOURCE.replace("    float", "\tfloat")))
    assert programs.alignment.edited == 0


def test_waits_of_all_lines_are_those_of_the_run(run: Run) -> None:
    a, b = run(), run(slow=5)
    programs = Programs(a, b)
    for at, timeline in enumerate((a, b)):
        costs = [cost for row in programs.rows if (cost := (row.a, row.b)[at]) is not None]
        totals = timeline.stall_totals(timeline.last)
        waited = sum(int(totals[code]) for code, name in timeline.info.stall_names.items() if name not in NO_STALL)
        assert sum(cost.waits for cost in costs) == waited > 0
        assert 0 < sum(cost.causes for cost in costs) <= waited     # the rest is held up by no instruction
        assert sum(cost.issued for cost in costs) == int(totals[timeline.issued])
        assert all(sum(cost.states.values()) == cost.waits for cost in costs)


def test_issues_of_the_slower_line_are_counted_by_hand(run: Run) -> None:
    programs = Programs(run(), run(slow=5))
    line = next(row for row in programs.rows if row.pair.a and row.pair.a.line == 4)
    assert line.a is not None and line.b is not None
    assert (line.a.issued, line.b.issued) == (4 * 1, 4 * 6)          # 2 CTAs of 2 warps; 1 and 6 multiplications
    assert line.change > 0 and programs.is_changed(line)


def test_first_issue_and_first_wait_are_those_of_every_cycle(run: Run) -> None:
    a, b = run(), run(slow=5)
    programs = Programs(a, b)
    for row in programs.rows:
        for at, timeline in enumerate((a, b)):
            side, cost = (row.pair.a, row.pair.b)[at], (row.a, row.b)[at]
            assert side is not None and cost is not None
            pcs = np.flatnonzero(programs.alignment.places[at] == side.place)
            issues = [(int(warp["last_issue_cycle"]), slot) for cycle in range(1, timeline.last + 1)
                      for slot, warp in enumerate(timeline.at(cycle).sm["warp"])
                      if warp["num_issued"] and warp["last_issue_cycle"] == cycle - 1 and warp["last_pc"] in pcs]
            issue = programs.first_issue(row, at)
            assert issue is not None and issue.cycle == min(issues)[0]
            wait = programs.first_wait(row, at)
            assert (wait is None) == (cost.waits == 0)
            if wait is not None:
                warp = timeline.at(wait[0]).sm["warp"][wait[1]]
                assert timeline.info.stall_names[int(warp["state"])] == next(iter(cost.states)) and int(warp["pc"]) in pcs


def test_without_source_lines_the_ptx_is_compared_whatever_its_registers_are_called(run: Run) -> None:
    programs = Programs(run(lines=False), run(lines=False, extra="  add.u32 %r2, %r2, 0;\n"))
    assert programs.alignment.by == "PTX line"
    assert [row.pair.text.strip() for row in programs.rows if row.pair.edited] == ["add.u32 %r2, %r2, 0;"]
    assert edits._without_numbers("  add.s64 %rd12, %rd3, 4; // x") == edits._without_numbers("add.s64 %rd7, %rd9, 4;")
    assert edits._without_numbers("mul.lo.u32 %r1, %r2, 3;") != edits._without_numbers("mul.lo.u32 %r1, %r2, 4;")


def test_versions_that_share_no_line_are_compared_by_kernel(run: Run) -> None:
    programs = Programs(run(), open_ended("vectoradd"))
    assert programs.alignment.by == edits.KERNEL
    (row,) = programs.rows      # the only kernel of each
    assert row.pair.a is not None and row.pair.b is not None and (row.pair.a.text, row.pair.b.text) == ("k", "vectoradd")
    assert programs.memory_equal is None and any("buffers differ" in note for note in programs.notes)


def open_ended(kernel: str) -> Timeline:
    session = open_session(kernel)
    session.timeline.run_to_end(None, "test")
    return session.timeline


def test_another_grid_is_said_and_not_refused(run: Run) -> None:
    programs = Programs(run(), run(("--grid", "1", "--block", "64", "--arg", "out=u4[128]")))
    assert programs.notes == ["k has grid 2x1x1 in A, 1x1x1 in B"]
    assert programs.memory_equal is True        # every CTA writes the same elements


def test_sentences_say_how_fast_which_line_and_what_limits_now(run: Run) -> None:
    first, *others = Programs(run(slow=40), run()).sentences()
    assert "B is" in first and "times as fast" in first
    assert others[0].startswith("k.cu:4 holds up") and "less" in others[0]
    assert [speed_sentence(*pair) for pair in ((100, 100), (300, 100), (100, 90), (100, 125))] == [
        "B takes as many cycles as A, 100.", "B is 3.0 times as fast.", "B takes 10.0% fewer cycles.",
        "B takes 25.0% more cycles."]
    assert [speed_sentence(*pair, (700, 1400)) for pair in ((300, 100), (100, 100), (100, 400))] == [
        "B takes 66.7% fewer cycles; at 1,400 MHz instead of 700 it is 6.0 times as fast.",
        "B takes as many cycles as A, 100; at 1,400 MHz instead of 700 it is 2.0 times as fast.",
        "B takes 300.0% more cycles; at 1,400 MHz instead of 700 it is 0.50 times as fast."]


def test_the_cost_of_an_edited_line_is_compared_with_that_of_its_new_version(run: Run) -> None:
    same = Programs(run(), run(source=edited(4, "    float x = 3 * i;"))).sentences()
    assert same[0].startswith("B takes as many cycles") and not any("holds up" in text for text in same)
    before, after = run(slow=40), run(slow=20, source=edited(4, "    float x = less(i * 3);"))
    held = {row.pair.b is not None: cost.causes for row in Programs(before, after).rows for cost in (row.a, row.b)
            if cost is not None and row.pair.edited}
    assert f"k.cu:4 holds up {held[False] - held[True]:,} warp-cycles less." in Programs(before, after).sentences()


def test_text_and_data_agree_and_the_same_program_is_compared_by_instruction(run: Run) -> None:
    a, b = run(), run(slow=5, source=edited(4, "    float x = slow(i * 3);"))
    programs = Programs(a, b)
    data = data_of(programs, ("a", "b"))
    text = programs_text(programs, data)
    assert "−    4" in text and "float x = slow(i * 3);" in text and data["by"] == "source line"
    assert [row["waits_more"] for row in data["lines"]] == [row.change for row in programs.rows]
    same, same_data = compared(a, a, ("a", "a"))
    assert "first divergence   none" in same and same_data["first_divergence"] is None


def test_launches_correspond_by_kernel_and_order_and_then_by_order_alone() -> None:
    def launched(*kernels: str, grid: tuple[int, ...] = (4, 1, 1)) -> list[SimpleNamespace]:
        return [SimpleNamespace(kernel=kernel, grid=grid, block=(32, 1, 1)) for kernel in kernels]

    ours, theirs = launched("init", "step", "step", "old"), launched("step", "init", "step", "new", "more")
    assert launches.paired(ours, theirs) == [(0, 1), (1, 0), (2, 2), (3, 3), (None, 4)]
    assert launches.notes(ours, theirs) == ["only B launches more"]
    assert launches.notes(launched("step"), launched("step", grid=(2, 1, 1))) == ["step has grid 4x1x1 in A, 2x1x1 in B"]
    assert launches.notes(launched("a", "b"), launched("b")) == ["only A launches a"]
