"""`why`: golden chains on hand-made programs, jumps, the command, and foreign designs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from rfview.engine import isa, plugin as designs
from rfview.engine.errors import InputError
from rfview.engine.machine.cores.subcore.stalls import STALLS as SUBCORE_STALLS
from rfview.engine.state import INFLIGHT
from rfview.engine.plugin.explaining import Refusal
from rfview.sessions import Session, open_session
from rfview.sessions.timeline.opening import open_recording
from rfview.sessions.commands.table import execute
from rfview.sessions.why import EXPLAINERS, Past, banks, explain, units, why
from rfview.sessions.machine import Flight
from rfview.sessions.why.trail import Trail
from tests.engine import plugin_skeleton
from tests.harness import Assembly, added
from tests.sessions import why_programs
from tests.sessions.why_programs import CASES, explained, stalled_at
from tests.conftest import PATIENCE_S, WITHOUT_JIT

ROOT = Path(__file__).resolve().parents[2]
FIRST = ROOT / "sessions" / "recorded" / "first.rfs"
GOLDEN = dict(
    part.split("\n", 1)
    for part in (ROOT / "tests/sessions/golden/why.txt").read_text(encoding="utf-8").removeprefix("## ").split("\n\n## ")
)


@pytest.mark.parametrize("name", CASES)
def test_the_chain_is_the_one_that_follows_from_the_program(name: str) -> None:
    chain = explained(name)
    assert chain.text() == GOLDEN[name].strip()
    assert (chain.resource is None) == (name == "issued")
    assert json.loads(json.dumps(chain.data()))["state"] == chain.state == CASES[name][2]
    for link in chain.links:
        assert link.target is not None and 0 <= link.target.cycle <= chain.cycle
        assert link.since <= chain.cycle and (link.until < 0 or link.until >= link.since)


def test_every_stall_reason_has_a_chain() -> None:
    of_subcore = {stall.name for stall in SUBCORE_STALLS}       # test_subcore.py asks about these
    assert {state for _, _, state in CASES.values()} == set(designs.stalls()) - of_subcore
    assert set(GOLDEN) == set(CASES)


def test_what_would_have_blocked_as_well_is_said() -> None:
    program = Assembly().sfu(2, 1).sfu(3, 2).sfu(4, 1).exit()
    over = why_programs.session(program, settings={"sm.sfu_queue": 1})
    chain = why(over, 0, stalled_at(over, 0, "pipe_throttle"))
    assert chain.losers == () and chain.resource is not None and chain.resource.kind == "queue"
    one = why_programs.session(program, settings={"sm.sfu_queue": 1, "sm.num_collectors": 1})
    chain = why(one, 0, stalled_at(one, 0, "short_scoreboard"))
    early = [why(one, 0, cycle) for cycle in range(2, chain.cycle + 1)]
    assert any(set(found.losers) == {"pipe_throttle", "collector_full"} for found in early)
    assert any("also true: pipe_throttle, collector_full" in found.text() for found in early)


def test_a_chain_follows_the_past_to_what_delayed_an_access() -> None:
    # six lines through one MSHR: the last load was queued in and before LD/ST far longer than its own line takes
    program = Assembly()
    for reg in range(6):
        program.ld(reg, offset=128 * reg)
    over = why_programs.session(program.add(7, 5, imm=1).exit(), settings={"memory.mshrs": 1})
    last = stalled_at(over, 0, "long_scoreboard", at_end=True)
    chain = why(over, 0, last)
    said = [link.sentence for link in chain.links]
    assert "after its issue" in said[3] and said[-1].startswith("all 1 MSHRs have been taken since")
    assert chain.resource is not None and chain.resource.kind == "MSHRs"
    target = chain.links[-1].target
    assert target is not None and target.cycle < last - 200, "the jump leads back to when it was full"


def test_a_load_past_l1_ends_where_its_data_is() -> None:
    past = isa.FLAG_PAST_L1
    over = why_programs.session(Assembly().ld(1, flags=past).add(2, 1, imm=1).ld(3, flags=past).add(4, 3, imm=1).exit())
    found = [why(over, 0, cycle) for cycle in (100, 300)]
    assert [chain.resource.kind for chain in found if chain.resource] == ["DRAM", "L2"]
    # the first load issues in 1, enters LD/ST in 3, and its line is asked for in 4
    assert found[0].links[-1].sentence == "it has been in memory since 4"


def test_the_command_in_text_and_as_data() -> None:
    with open_session(FIRST) as session:
        session.goto("50%")
        longest = execute(session, "why")
        assert longest.stop is None and session.cycle == execute(session, "when").data["cycle"]
        named = execute(session, f"why w{longest.data['warp']} {session.cycle:,}")
        assert named.text == longest.text and named.data["links"] == longest.data["links"]
        assert named.data["command"].startswith("why w")
        assert why(session, longest.data["warp"]).data() == {k: v for k, v in longest.data.items() if k != "command"}
        for line, says in {"why x": "not a warp", "why 99": "why: there is no warp 99; the machine has warps 0..47", "why 1 x": "why: cycle x: expected a whole number", "why 1 2 3": "at most",
                           "why 1 999999999": "outside"}.items():
            with pytest.raises(InputError, match=says):
                execute(session, line)


def test_a_private_past_gives_the_same_chains() -> None:
    with open_session(FIRST) as session:
        timeline = session.timeline
        for cycle in range(timeline.last // 3, timeline.last // 3 + 600, 97):
            near = Past.around(timeline, cycle)
            moment = near.at(cycle)
            assert moment is not None and Past(timeline.info).at(cycle) is None
            for warp in range(0, 48, 7):
                assert explain(near, moment, warp) == why(session, warp, cycle)


def test_replay_explains_without_numba() -> None:
    code = (
        "import sys; from rfview.sessions import open_session; from rfview.sessions.why import EXPLAINERS, why; s = open_session(sys.argv[1]); s.goto('50%'); "
        "assert why(s, 3).links; parts = [m.split('.') for m in sys.modules]; "
        "loaded = [p for p in parts if p[0] in ('numba', 'textual', 'rich') "
        "or p[0] == 'rfview' and p[1:] and p[1] not in ('engine', 'sessions')]; "
        "assert not loaded, loaded"
    )
    subprocess.run([sys.executable, "-c", code, str(FIRST)], cwd=ROOT, check=True, timeout=PATIENCE_S)


# foreign designs, run as plain Python alone: links are sought by the host, and the skeleton would have to be compiled
FOREIGN = pytest.mark.skipif(not WITHOUT_JIT, reason="a compile, for what plain Python shows as well")


@pytest.fixture
def skeleton() -> Iterator[None]:
    """Make the skeleton design known for a test."""
    with added("skeleton", plugin_skeleton):
        yield


def foreign() -> tuple[Session, int]:
    """Return a session in which the skeleton keeps a warp in the active set, and the cycle."""
    program = Assembly().mov(1, 3).ld(2).add(3, 2, imm=1).exit()
    over = why_programs.session(program, design="skeleton", **why_programs.TWO_LEVEL,
                                settings={"memory.fixed_memory_cycles": 4, "skeleton.leave_cycles": 40})
    return over, stalled_at(over, 0, "rfc_flush", at_end=True)


@FOREIGN
@pytest.mark.nojit
@pytest.mark.usefixtures("skeleton")
def test_a_foreign_design_ends_at_its_register_file_by_default() -> None:
    over, cycle = foreign()
    chain = why(over, 0, cycle)
    assert chain.resource is not None and chain.resource.name.startswith("register file skeleton+sram")
    assert "writes its live registers back" in chain.text()


@FOREIGN
@pytest.mark.nojit
@pytest.mark.usefixtures("skeleton")
def test_a_foreign_design_may_bring_its_own_links(monkeypatch: pytest.MonkeyPatch) -> None:
    def own(trail: Trail, moment: object, rf: object, refusal: object) -> bool:
        began = int(rf["left_cycle"][refusal.warp])  # type: ignore[index, attr-defined]
        trail.add("the copy is forgotten", f"since {began}", since=began, until=began + 40)
        trail.end("copy", "the one copied value", {"skeleton.leave_cycles": 1})
        return True

    monkeypatch.setattr(plugin_skeleton, "why", own, raising=False)
    over, cycle = foreign()
    chain = why(over, 0, cycle)
    assert chain.resource is not None and dict(chain.resource.relief) == {"skeleton.leave_cycles": 1}
    assert chain.links[-1].sentence == "the copy is forgotten"

    def misspelt(trail: Trail, moment: object, rf: object, refusal: object) -> bool:
        own(trail, moment, rf, refusal)
        trail.reopen()
        trail.end("copy", "the one copied value", {"skeleton.leave": 1})
        return True

    monkeypatch.setattr(plugin_skeleton, "why", misspelt, raising=False)
    said = why(over, 0, cycle).text()
    assert "the relief skeleton.leave, which is not a parameter" in said and "writes its live registers back" in said


def test_a_recording_of_a_design_that_is_not_installed_still_explains(tmp_path: Path) -> None:
    with open_session(FIRST) as session:
        session.timeline.info.design_spec.chain[:] = ["not_installed"]
        for cycle in range(2000, 2400, 40):
            assert why(session, None, cycle).resource is not None


def test_open_recording_and_session_agree() -> None:
    timeline = open_recording(FIRST)
    session = Session(timeline)
    session.goto(timeline.last // 2)
    assert why(session, 0).cycle == timeline.last // 2
    timeline.close()


def test_a_reason_of_a_designs_own_is_not_blamed_on_the_banks_ports() -> None:
    entry = SimpleNamespace(code=32, name="bank_waking", sentence="The bank was drowsy and is waking.")
    info = SimpleNamespace(stalls=[entry], design="drowsy", parameters={})
    fields = {"until_cycle": 0, "since_cycle": 0, "queue": 2, "owner_warp": 1, "owner_reg": 3}
    moment: Any = SimpleNamespace(info=info, num_banks=16, num_warps=48, ran=9, cycle=10,
                                  name=lambda code: "bank_waking", owner=lambda bank: "w1 R3",
                                  bank=lambda bank, field: fields[field])
    for until, sentence in ((0, "the bank was drowsy and is waking"), (12, "bank 3 busy: bank waking of w1 R3")):
        fields["until_cycle"] = until
        trail = Trail(cast(Any, None), moment, EXPLAINERS)
        banks.explain(trail, moment, Refusal("write", 32, 0, 1, 3))
        assert [link.sentence for link in trail.links] == [sentence]
        resource = trail.links[-1].resource
        assert resource is not None and resource.name == "register file drowsy, bank 3: bank waking" and not resource.relief


def test_an_end_is_unknown_up_to_the_issue() -> None:
    table = np.zeros(1, INFLIGHT)
    flight = Flight(cast(Any, SimpleNamespace(inflight=table)), 0)
    table["issue_cycle"] = 70
    for done, known in ((0, False), (70, False), (71, True)):
        table["done_cycle"] = done
        assert flight.end_is_known == known, done


def test_before_the_first_cycle_nothing_has_been_dispatched() -> None:
    over = why_programs.session(Assembly().mov(1, 3).exit())
    over.goto(0)
    said = why(over, 0).text()
    assert said.startswith("w0 is empty at 0") and "the run has not begun" in said and "-1" not in said


def test_a_relief_names_the_latency_class_that_the_machine_gave_the_instruction() -> None:
    session = why_programs.session(Assembly().mov(1, 3).exit())
    program = session.info.program
    assert [entry.latency_class for entry in program][:1] == ["int_add"]
    flight = Flight(cast(Any, SimpleNamespace(inflight=np.zeros(1, INFLIGHT), instruction=lambda pc: program[pc])), 0)
    for cycles, relief in ((1, {}), (2, {"initiation.int_add": 1})):
        trail = cast(Any, SimpleNamespace(value=lambda name, cycles=cycles: {"initiation.int_add": cycles}[name]))
        assert units.initiation_relief(trail, flight) == relief
