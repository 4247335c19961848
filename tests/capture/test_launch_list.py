"""The table of a program's launches as text: a line each, or a line for each kernel of a program with many."""

from __future__ import annotations

from rfview.capture.launches import Entry, Launches
from rfview.commands.launches import LISTED, table


def of(*counts: tuple[str, int], bad: int | None = None) -> Launches:
    """Return a list of launches: so many of each kernel in turn; bad: the number of one that ended in a fault."""
    launches = Launches()
    names = [(name, nth) for name, count in counts for nth in range(count)]
    for number, (name, nth) in enumerate(names):
        result = "reads what no buffer holds" if number == bad else ""
        launches.entries.append(Entry(number, name.partition("<")[0], nth, (1 + nth % 2 * (name == "b"), 1, 1), (64, 1, 1),
                                      1000 if name == "b" else 10, result, 0.0, 0.0, label=f"{name}:{nth}"))
    launches.total = len(names)
    return launches


def test_up_to_two_hundred_launches_have_a_line_each() -> None:
    lines = table(of(("a<int>", LISTED - 1), ("b", 1))).splitlines()
    assert len(lines) == LISTED + 2 and lines[1].split()[:2] == ["0", "a<int>:0"] and lines[-2].split()[1] == "b:0"


def test_more_launches_have_a_line_for_each_kernel_and_those_that_failed_their_own() -> None:
    lines = table(of(("a<int>", LISTED), ("a<float>", 3), ("b", 20), bad=LISTED + 1)).splitlines()
    rows = [line.split() for line in lines]
    assert rows[1] == ["b", "20", "203", "2", "sizes", "64", "0", "20,000", "91%", "fine"]
    assert rows[2] == ["a<int>", "200", "0", "1", "64", "0", "2,000", "9%", "fine"]
    assert rows[3] == ["a<float>", "3", "200", "1", "64", "0", "30", "0%", "1", "not", "fine"]
    assert rows[6][:2] == ["201", "a<float>:1"] and lines[6].endswith("reads what no buffer holds")
    assert len(lines) == 8 and lines[7].startswith("223 launches") and "--json" in lines[7]
