"""Filters and baselines of the checker: what is shown, what is known, and files that are none."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from rfview.engine.check.findings import Finding, Findings
from rfview.engine.check.selection import Filters, key_of, read_baseline, select, write_baseline
from rfview.engine.errors import InputError

OWN = Finding("race-shared", "races", "_ZN3app4scanEPf", 11, 35, "@P0 ld.shared.u32 R2, [R2]", 0, 0, 1, 1, 0, 42, 128, 0x7c,
              "shared+0x7c", 8, 32, "st.shared.u32 [R6], R5", 0, 0, 31, 30, source="scan.cu:9", other_source="scan.cu:7",
              frames=(("/src/scan.cu:9", ""), ("/src/scan.cu:7", "")))
LIBRARY = Finding("unwritten-register", "reads", "_ZN3cub6detail4sortEPf", 20, 50, "and.b32 R0, R1, 1", 0, 0, 0, 0, 8, 77, 8,
                  source="agent.cuh:407", frames=(("/src/app.cu:3", "_ZN3Odd5isOddEi"), ("/cuda/cub/agent.cuh:407", "")))
PLAIN = replace(LIBRARY, kernel="plain", source="", frames=(), line=12)
ALL = (OWN, LIBRARY, PLAIN)


@pytest.mark.parametrize(("patterns", "shown"), [
    ({}, (0, 1, 2)), ({"kernel": ["scan"]}, (0,)), ({"kernel": ["app::scan"]}, (0,)), ({"kernel": ["_ZN3app4scanEPf"]}, (0,)),
    ({"kernel": ["cub::*", "plain"]}, (1, 2)), ({"kernel": ["!cub::*"]}, (0, 2)), ({"kernel": ["*", "!cub::*", "!plain"]}, (0,)),
    ({"kernel": ["SCAN"]}, ()), ({"file": ["scan.cu"]}, (0,)), ({"file": ["app.cu"]}, (1,)), ({"file": ["/cuda/*"]}, (1,)),
    ({"file": ["!*.cuh"]}, (0, 2)), ({"function": ["Odd::*"]}, (1,)), ({"function": ["*"]}, (1,)),
    ({"kind": ["race-*"]}, (0,)), ({"kind": ["unwritten-register"], "kernel": ["plain"]}, (2,)),
])
def test_a_finding_is_shown_if_it_matches_one_pattern_of_each_kind_and_none_that_excludes(patterns: dict, shown: tuple) -> None:
    selection = select(ALL, Filters(patterns), [])
    assert (selection.shown, selection.filtered) == (shown, 3 - len(shown))


@pytest.mark.parametrize("patterns", [{"kernel": [""]}, {"file": ["!"]}, {"kind": ["races"]}])
def test_a_pattern_that_can_match_nothing_is_an_error(patterns: dict) -> None:
    with pytest.raises(InputError):
        Filters(patterns)


def test_known_findings_are_silent_and_those_that_are_gone_are_named(tmp_path: Path) -> None:
    write_baseline(tmp_path / "known.json", [OWN, PLAIN])
    known = read_baseline(tmp_path / "known.json")
    moved = replace(OWN, pc=99, line=350, address=4, place="shared+0x4", text="@!P3 ld.shared.u32 R7, [R9]", cycle=9)
    selection = select([moved, LIBRARY], Filters(), known)
    assert (selection.shown, selection.known, selection.gone) == ((1,), 1, (key_of(PLAIN),))
    assert "no longer found: unwritten-register in plain, PTX line 12: and.b32" in selection.as_text(Filters(), "known.json")
    assert select([LIBRARY], Filters({"kernel": ["scan"]}), known).filtered == 1


@pytest.mark.parametrize("changed", [{"kind": "race-global"}, {"kernel": "other"}, {"source": "scan.cu:10"},
                                     {"other_source": "scan.cu:8"}, {"text": "st.shared.u32 [R2], R2"}])
def test_a_finding_of_another_kind_kernel_place_or_opcode_is_new(changed: dict) -> None:
    assert select([replace(OWN, **changed)], Filters(), [key_of(OWN)]).shown == (0,)


@pytest.mark.parametrize("content", [
    b"", b"{", b"[]", b"\xff\xfe", b"[" * 100_000, b'{"rfview_baseline": 2, "findings": []}', b'{"findings": []}',
    b'{"rfview_baseline": 1, "findings": {}}', b'{"rfview_baseline": 1, "findings": [7]}', b'{"rfview_baseline": 1' + b"0" * 5000,
    b'{"rfview_baseline": 1, "findings": [{"kind": 3}]}', b'{"rfview_baseline": 1, "findings": [{}]}',
    json.dumps({"rfview_baseline": 1, "findings": [dict.fromkeys(
        ("kind", "kernel", "place", "opcode", "other_place", "other_opcode"), ["x"])]}).encode(),
])
def test_a_file_that_is_no_baseline_is_one_error(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "known.json").write_bytes(content)
    with pytest.raises(InputError, match=r"known\.json"):
        read_baseline(tmp_path / "known.json")


def test_a_baseline_that_is_not_a_file_is_one_error(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "absent.json"):
        with pytest.raises(InputError, match="cannot be read"):
            read_baseline(path)


def test_findings_are_the_same_after_json() -> None:
    found = Findings(ALL, 100, False, None)
    assert Findings.of_dict(json.loads(json.dumps(found.as_dict()))) == found
