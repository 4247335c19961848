"""The sentences about a finished run: each rule fires for one small kernel and stays silent for another."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import rfview
from rfview.cli import main
from rfview.engine import kernels, plugin
from rfview.engine import simulator as simulator_module
from rfview.engine.errors import InputError
from rfview.engine.launch import load_launch_file
from rfview.sessions import open_session
from rfview.sessions.branches.fork import fork
from rfview.sessions.commands.table import execute
from rfview.sessions.reports import held
from rfview.sessions.reports.statistics import stats
from rfview.sessions.summary import lifts, summarise as summarise_module
from rfview.sessions.summary.floors import design_floors
from rfview.sessions.summary.rules import RESULTS, RULES
from rfview.sessions.summary.summarise import MOST, Summary, facts_of, of_simulator, summarise, summary_of

HEAD = """.version 7.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 data)
{
 .reg .pred %p<3>; .reg .b32 %r<48>; .reg .f32 %f<48>; .reg .b64 %d<9>;
 .shared .align 4 .b8 room[4096];
 ld.param.u64 %d1, [data];
 mov.u32 %r1, %tid.x;
 mul.wide.u32 %d2, %r1, 4;
 add.s64 %d3, %d1, %d2;
 cvt.rn.f32.u32 %f1, %r1;
"""
STORE = " st.global.f32 [%d3], %f1;\n"
CHAIN = " fma.rn.f32 %f1, %f1, %f1, %f1;\n" * 12
FAR = " and.b32 %r2, %r1, 31;\n mul.wide.u32 %d4, %r2, 128;\n add.s64 %d5, %d1, %d4;\n"
FAR_LOADS = FAR + "".join(f" ld.global.f32 %f{k}, [%d5+{4 * k}];\n add.f32 %f1, %f1, %f{k};\n" for k in range(2, 10))
NEAR_LOADS = "".join(f" ld.global.f32 %f{k}, [%d3+{128 * k}];\n add.f32 %f1, %f1, %f{k};\n" for k in range(2, 10))
SIN = " sin.approx.f32 %f1, %f1;\n" * 8


def shared(step: int) -> str:
    """Return loads of shared memory, `step` bytes from lane to lane."""
    loads = "".join(f" ld.shared.f32 %f{k}, [%r4];\n add.f32 %f1, %f1, %f{k};\n" for k in range(2, 10))
    return f" and.b32 %r2, %r1, 31;\n mov.u32 %r3, room;\n mad.lo.u32 %r4, %r2, {step}, %r3;\n{loads}"


def alive(count: int) -> str:
    """Return code with `count` values alive at once."""
    made = "".join(f" add.f32 %f{k}, %f1, 0f3F8000{k:02X};\n" for k in range(2, count))
    return made + "".join(f" mul.f32 %f1, %f1, %f{k};\n" for k in range(2, count))


BRANCH = f" and.b32 %r2, %r1, 31;\n setp.gt.u32 %p1, %r2, 3;\n @%p1 bra THERE;\n{CHAIN}THERE:\n"
LATE = f" setp.gt.u32 %p1, %r1, 31;\n @%p1 bra THERE;\n{SIN}THERE:\n"
FEW_BANKS = {"sm.num_banks": 2, "sm.rows_per_bank": 512}
FEW_ACTIVE: dict[str, Any] = {"scheduler": "two_level", "settings": {"scheduler.active_set": 2}}
# rule: (body, threads, options) of the kernel for which it fires, and of the one for which it must not
KERNELS: dict[str, tuple[tuple[str, int, dict[str, Any]], tuple[str, int, dict[str, Any]]]] = {
    "floor": ((FAR_LOADS + STORE, 512, {}), (CHAIN + STORE, 32, {})),
    "uncoalesced": ((FAR_LOADS + STORE, 128, {}), (NEAR_LOADS + STORE, 128, {})),
    "shared_conflicts": ((shared(128) + STORE, 128, {}), (shared(4) + STORE, 128, {})),
    "contention": ((" red.global.add.u32 [%d1], 1;\n", 256, {}), (" red.global.add.u32 [%d3], 1;\n", 256, {})),
    "operand_banks": ((CHAIN + STORE, 512, {"settings": FEW_BANKS}), (CHAIN + STORE, 32, {})),
    "spills": ((alive(40) + STORE, 128, {"settings": {"kernel.max_registers": 20}}), (alive(40) + STORE, 128, {})),
    "occupancy": ((CHAIN + STORE, 64, {}), (CHAIN + STORE, 1024, {"grid": 2, "settings": {"sm.num_warps": 32}})),
    "latency": ((NEAR_LOADS + STORE, 32, {}), (FAR_LOADS + STORE, 512, {})),
    "divergence": ((BRANCH + STORE, 128, {}), (CHAIN + STORE, 128, {})),
    "barriers": ((f"{LATE} bar.sync 0;\n{STORE}", 128, {}), (LATE + STORE, 128, {})),
    "register_file": ((CHAIN + STORE, 128, {"design": "stt"}), (CHAIN + STORE, 128, {})),
    "active_set": ((CHAIN + STORE, 512, FEW_ACTIVE), (CHAIN + STORE, 512, {})),
}


def run(body: str, block: int, options: dict[str, Any]) -> Any:
    """Return the session of a kernel at its end."""
    options = dict(options)
    session = rfview.launch(f"{HEAD}{body} ret;\n}}\n", options.pop("grid", 1), block, [np.zeros(8192, np.float32)], **options)
    session.run()
    return session


def fired(summary: Summary) -> list[str]:
    return [one.rule for one in summary.sentences]


@pytest.mark.parametrize("name", KERNELS)
def test_a_rule_fires_for_its_kernel_and_not_for_the_other(name: str) -> None:
    summaries = [summarise(run(*case)) for case in KERNELS[name]]
    assert [name in fired(one) for one in summaries] == [True, False], [one.text() for one in summaries]
    for summary in summaries:
        assert 1 <= len(summary.sentences) <= MOST
        ranked = [one.share for one in summary.sentences]
        assert ranked == sorted(ranked, reverse=True) and all("%" in one.text or one.rule == "occupancy" for one in summary.sentences)


ILL_WORDED = re.compile(r"\b1 (warps|CTAs|lines|words)\b|nobody|\b0\.0%|code without|: \d+\.\d% of the warp-cycles \(")


@pytest.mark.parametrize("name", KERNELS)
def test_sentences_are_sentences_and_no_two_are_about_one_state(name: str) -> None:
    for case in KERNELS[name]:
        summary = summarise(run(*case))
        for one in summary.sentences:
            assert (one.text[0].isupper() or one.text[0].isdecimal()) and one.text.endswith(".") and one.text.count("..") == 0
            assert not ILL_WORDED.search(f"{one.text} {one.lift}"), one
        about = {one.rule: one.text for one in summary.sentences}
        if "latency" in about and "state" in about:
            states = [name for name in RESULTS if name in about["state"].split(";")[0]]
            assert not states, "the sentence about latency has said it"


LOADED = " ld.global.u32 %r5, [%d3];\n and.b32 %r5, %r5, 1023;\n"
COMPUTED = " mul.lo.u32 %r5, %r1, 32;\n and.b32 %r5, %r5, 1023;\n"
ROOM = " shl.b32 %r6, %r5, 2;\n mov.u32 %r7, room;\n add.u32 %r6, %r6, %r7;\n"
CHOSEN = {"histogram": ROOM + " red.shared.add.u32 [%r6], 1;\n" * 6,
          "table": f"{ROOM} ld.shared.u32 %r7, [%r6];\n st.global.u32 [%d3], %r7;\n",
          "gather": " mul.wide.u32 %d4, %r5, 4;\n add.s64 %d5, %d1, %d4;\n ld.global.f32 %f1, [%d5];\n"}


@pytest.mark.parametrize("body", CHOSEN)
def test_accesses_whose_addresses_were_loaded_get_no_advice_about_their_layout(body: str) -> None:
    """The same accesses, with words that the data choose, and with words that the thread's number gives."""
    data = np.random.default_rng(7).integers(0, 1024, 8192).astype(np.uint32)
    lifts = []
    for index in (LOADED, COMPUTED):
        session = rfview.launch(f"{HEAD}{index}{CHOSEN[body]}{STORE} ret;\n}}\n", 1, 128, [data])
        session.run()
        rule = "uncoalesced" if body == "gather" else "shared_conflicts"
        lifts += [one.lift for one in summarise(session).sentences if one.rule == rule]
    loaded, computed = lifts
    assert "loaded data choose" in loaded and "at most" in loaded and "pad the rows" not in loaded
    assert ("contention" in loaded and "for each warp" in loaded) == (body == "histogram")
    assert ("neighbouring addresses" if body == "gather" else "pad the rows") in computed and "loaded" not in computed


@pytest.mark.parametrize(("options", "lift"), [
    ({"grid": 1}, "a larger grid"), ({"grid": 99}, "larger CTAs"), ({"grid": 99, "block": 256, "body": alive(30)},
                                                                     "fewer registers a thread (`--set kernel.max_registers="),
    ({"grid": 99, "block": 128, "body": " st.shared.f32 [room], %f1;\n", "settings": {"sm.shared_bytes": 9000}},
     "less shared memory a CTA"), ({"grid": 99, "block": 800}, "smaller CTAs"),
])
def test_what_fills_more_warp_slots_is_what_limits_them(options: dict[str, Any], lift: str) -> None:
    options = dict(options)
    body, block = options.pop("body", CHAIN), options.pop("block", 32)
    facts = facts_of(run(body + STORE, block, options))
    unused, why, found = facts.unused_slots
    assert unused > 0 and found.startswith(lift), (why, found)
    if "max_registers=" in found:
        more = int(found.split("=")[1].split("`")[0])
        assert facts_of(run(body + STORE, block, {**options, "settings": {"kernel.max_registers": more}})).unused_slots[0] < unused


def test_on_a_design_with_another_scheduler_the_one_of_its_paper_is_named() -> None:
    for scheduler, is_named in (("gto", True), ("switch_on_stall", False)):
        facts = facts_of(run(CHAIN + STORE, 128, {"design": "hrf", "scheduler": scheduler}))
        (found,) = [one for one in summary_of(replace(facts, totals={**facts.totals, "wb_drain": facts.resident})).sentences
                    if one.rule == "register_file"]
        assert ("--scheduler switch_on_stall" in found.lift) is ("may cost more" in found.lift) is is_named


def cycles_of(lift: str, body: str, block: int, options: dict[str, Any]) -> int:
    """Return the cycles of a run with the first setting or scheduler that a sentence advises."""
    word, _, advice = lift[lift.index("`--") + 1:].partition("`")[0].partition(" ")
    changed = dict(options)
    if word == "--scheduler":
        changed["scheduler"] = advice
    else:
        key, _, value = advice.partition("=")
        changed["settings"] = {**options.get("settings", {}), key: value}
    return facts_of(run(body, block, changed)).cycles


def test_more_warps_are_no_advice_where_an_active_set_keeps_ready_ones_out() -> None:
    """16 warps in two active sets of one: 7 others of each wait, which a larger grid would only join."""
    for options, setting in ((FEW_ACTIVE, "scheduler.active_set=4"), ({"scheduler": "switch_on_stall"}, "--scheduler gto")):
        session = run(CHAIN + STORE, 512, options)
        (slots,), (found,) = ([one for one in summarise(session).sentences if one.rule == name] for name in ("occupancy", "active_set"))
        assert "the active set keeps ready warps out already" in slots.text and not slots.lift
        assert "1 warp at a time" in found.text and setting in found.lift
        assert cycles_of(found.lift, CHAIN + STORE, 512, options) < 0.8 * facts_of(session).cycles
        assert not any("more warps" in one.lift for one in summarise(session).sentences)
    assert "design's paper has this scheduler" not in found.lift, "sram's is gto"


@pytest.mark.parametrize(("design", "said"), [
    ("sram", "sm.bank_ports=2"), ("racetrack", "sm.max_banks_per_cycle=0"), ("rfc", "rfc.write_ports=2"), ("rfc[main=stt]", "rfc.write_ports=2"),
    ("edram", "more banks"), ("single_buffer", "rfview relief"), ("hrf", "rfview relief"),
])
def test_what_lifts_bank_conflicts_is_what_the_design_can_change(design: str, said: str) -> None:
    """Other ports change nothing where a design arbitrates itself, and eDRAM's banks have two already."""
    facts = facts_of(run(CHAIN + STORE, 512, {"design": design}))
    (found,) = [one for one in summary_of(replace(facts, totals={**facts.totals, "bank_conflict": facts.resident})).sentences
                if one.rule == "operand_banks"]
    assert said in found.lift and ("sm.bank_ports" in found.lift) is (design == "sram")


def test_the_advice_for_a_shifting_tape_shortens_the_run() -> None:
    options = {"design": "racetrack"}
    facts = facts_of(run(alive(30) + STORE, 512, options))
    (found,) = [one for one in summary_of(facts).sentences if one.rule == "register_file"]
    assert "in shift" in found.text and cycles_of(found.lift, alive(30) + STORE, 512, options) < 0.95 * facts.cycles
    mapped = facts_of(run(alive(30) + STORE, 512, {**options, "settings": {"racetrack.mapping": "spread-16"}}))
    assert not lifts.of_design(mapped, "shift")


def test_a_full_write_port_of_the_cache_is_said_and_what_widens_it() -> None:
    """Two schedulers issue two instructions in a cycle, of which the cache takes one result."""
    options = {"design": "rfc"}
    body = "".join(f" add.f32 %f{k}, %f1, 0f3F8000{k:02X};\n" for k in range(2, 26)) * 4 + STORE
    session = run(body, 512, options)
    found = summarise(session).sentences[0]
    assert found.text.startswith("The write port of the cache limits this run") and "less of that work, or" in found.lift
    assert cycles_of(found.lift, body, 512, options) < 0.8 * facts_of(session).cycles
    units = [floor.unit for floor in facts_of(session).floors]
    assert "register banks" in units, "those of the main file"


def test_a_designs_wrong_answer_about_lifts_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = facts_of(run(CHAIN + STORE, 32, {}))
    monkeypatch.setattr(lifts.plugin, "find", lambda name: SimpleNamespace(lifts=lambda values, config: ["faster"]))
    with pytest.raises(InputError, match=r"sram: its lifts\(\) returns \['faster'\], expected"):
        lifts.of_design(facts, "wait")


def test_a_slip_in_a_designs_floors_loses_no_run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(plugin.find("stt"), "floors", lambda counts, values, config: counts["stt_writes"])
    drain = Path(__file__).resolve().parents[2] / "rfview" / "learn" / "recorded" / "drain.rfs"
    monkeypatch.setattr(plugin.find("hrf"), "floors", lambda counts, values, config: counts["stt_write"])
    for command, shown in ((["run", "gaussian", "--design", "stt"], "verified: every expected"), (["info", str(drain)], "design")):
        for more in ([], ["--json"]):
            assert main([*command, *more]) == 2
            captured = capsys.readouterr()
            assert "floors: KeyError" in captured.err.splitlines()[-1] and captured.err.count("error") == 1, captured.err
            assert json.loads(captured.out)["summary"] is None if more else shown in captured.out


def test_waits_for_spilled_registers_are_not_called_latency() -> None:
    summary = summarise(run(*KERNELS["spills"][0]))
    shares = {one.rule: one.share for one in summary.sentences}
    waits = sum(summary.states.get(name, 0) for name in ("long_scoreboard", "short_scoreboard", "wait")) / summary.resident
    assert waits > 0.5 and fired(summary)[0] in ("spills", "floor") and shares.get("latency", 0) < waits / 2
    assert any("kernel.max_registers=63" in one.lift for one in summary.sentences), "20 are what it has"


def test_contended_atomics_are_counted_lane_by_lane_and_not_called_latency() -> None:
    """8 warps, whose 32 lanes change one word: 256 steps; half of the lanes another word: 8 x 16; two lanes a word: none."""
    (found,) = [one for one in summarise(run(*KERNELS["contention"][0])).sentences if one.rule == "contention"]
    assert "32.0 lanes of an access change the same word" in found.text and ": 256 steps in" in found.text
    for shift, steps in ((4, 128), (1, 0)):
        body = f" shr.u32 %r2, %r1, {shift};\n mul.wide.u32 %d4, %r2, 4;\n add.s64 %d5, %d1, %d4;\n red.global.add.u32 [%d5], 1;\n"
        facts = summarise(run(body, 256, {}))
        assert [f": {steps} steps in" in one.text for one in facts.sentences if one.rule == "contention"] == [True] * (steps > 0)
    for block, is_latency in ((32, True), (256, False)):      # 256 steps, and 2,048 in hardly more cycles
        longer = summarise(run(NEAR_LOADS + " cvt.rzi.u32.f32 %r2, %f1;\n red.global.add.u32 [%d1], %r2;\n" * 8, block, {}))
        assert longer.states["long_scoreboard"] > longer.resident / 2
        assert "contention" in fired(longer) and ("latency" in fired(longer)) is is_latency


def test_every_rule_has_its_kernels_and_its_source() -> None:
    assert {rule.name for rule in RULES} == {*KERNELS, "allocate", "state"}
    assert all(rule.fires and rule.source for rule in RULES)


def test_waits_in_allocate_name_what_refused_most() -> None:
    reuse = Path(__file__).resolve().parents[2] / "rfview" / "learn" / "recorded" / "reuse.rfs"
    with open_session(reuse) as session:
        facts = facts_of(session)
    assert "allocate" not in fired(summary_of(facts)) and facts.counts["bank_conflict_wait_cycles"] > 0
    many = replace(facts, totals={**facts.totals, "dispatch_stall": facts.resident})
    (found,) = [one for one in summary_of(many).sentences if one.rule == "allocate"]
    assert "(dispatch_stall); 100% of the refusals are bank_conflict" in found.text and "read_ports" in found.lift
    queued = replace(many, counts={**many.counts, "bank_conflict_wait_cycles": 0})
    assert "allocate" not in fired(summary_of(queued)), "Control waits for a unit, not for the register file"


def test_the_sentence_about_far_accesses_names_place_ideal_and_gain() -> None:
    summary = summarise(run(*KERNELS["uncoalesced"][0]))
    (found,) = [one for one in summary.sentences if one.rule == "uncoalesced"]
    assert "PTX line" in found.text and "sends 32.0 cache lines per access, where 1 would do" in found.text
    assert found.lift.endswith("(estimate)")


def test_a_simulator_gives_the_same_floors_and_states_by_its_counts_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    session = run(*KERNELS["floor"][0])
    whole, alone = summarise(session), of_simulator(session.timeline.simulator, with_lines=False)
    assert whole.floors == alone.floors and whole.resident == alone.resident
    assert fired(alone)[0] == "floor" and "uncoalesced" not in fired(alone)
    assert whole.floors[0].cycles <= whole.cycles
    monkeypatch.setattr(summarise_module, "LOOK", whole.cycles)
    assert of_simulator(session.timeline.simulator) == whole, "a run that is short enough is counted as a whole"


def test_a_finished_fork_is_summarised_beside_the_run_that_it_left() -> None:
    session = run(*KERNELS["latency"][0])
    assert summarise(session).runs == ()
    session.goto(1)
    made = fork(session, "later", {})
    made.timeline.run_to_end(None, "test")
    main, later = summarise(made).runs
    assert (main.name, main.is_this, later.name, later.is_this) == ("main", False, "later", True)
    assert main.cycles == session.timeline.last and main.unit == summarise(session).floors[0].unit


def test_lines_of_a_long_run_are_those_of_a_part_which_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    session = run(*KERNELS["floor"][0])
    monkeypatch.setattr(summarise_module, "LOOK", 200)
    found = of_simulator(session.timeline.simulator)
    first, last = found.window
    assert last - first == 200 and 0 <= first <= (found.cycles - 200) // 2
    assert f"lines: counted in the cycles {first:,} to {last:,}" in found.text() and "uncoalesced" in fired(found)


def test_a_copy_on_the_way_gives_the_same_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulator_module, "MARK_CYCLES", 1500)
    monkeypatch.setattr(summarise_module, "EARLIER_CHUNKS", 2)      # so that the part begins within the run
    simulator, marks = simulator_module.Simulator(load_launch_file(kernels.path("vectoradd"))), []
    simulator.run(marks)
    expected = of_simulator(simulator)
    assert [mark.cycle for mark in marks[:2]] == [1500, 3000] and of_simulator(simulator, marks=marks) == expected
    assert expected.window is not None and simulator.cycle == expected.window[1], "the simulator itself has gone back"


def test_the_command_and_rfview_run_give_the_sentences(capsys: pytest.CaptureFixture[str]) -> None:
    session = run(*KERNELS["barriers"][0])
    answer = execute(session, "summary")
    assert answer.text.lstrip().startswith("1  ") and "100 % =" in answer.text
    assert json.loads(json.dumps(answer.data))["summary"]["sentences"][0]["share"] > 0
    assert main(["run", "vectoradd", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)["summary"]
    assert said["sentences"] and said["floors"][0]["unit"]


@pytest.mark.parametrize("design", ["stt", "hrf"])
def test_a_design_gives_its_own_floor_in_place_of_plain_banks(design: str) -> None:
    summary = summarise(run(CHAIN + STORE, 128, {"design": design}))
    units = {floor.unit: floor.cycles for floor in summary.floors}
    assert "register banks" not in units and 0 < units["STT banks" if design == "stt" else "STT writes"] <= summary.cycles


def test_the_floors_of_a_design_are_those_of_the_core_that_ran_it() -> None:
    """hrf: 800 writes of 4 cycles take two banks 1,600 cycles, the sub-cores' eight 400; 1,200 reads at 3 ports 200, at 1 150.

    rfc's single write port and racetrack's four places are Fermi's (B12.7, B12.8).
    """
    counts = {"stt_writes": 800, "stt_reads": 1200, "rfc_writes": 50, "rm_reads": 50, "rm_writes": 50, "shifts": 60}
    values = {"hrf.write_cycles": 4, "hrf.read_ports": 3, "rfc.write_ports": 1, "racetrack.shift_steps": 2, "racetrack.shift_cycles": 1,
              "core.read_ports": 1}
    fermi = {"hrf": {"num_banks": 2}, "rfc": {"num_banks": 16}, "racetrack": {"num_banks": 16, "max_banks_per_cycle": 4}}
    expected = {"hrf": ([("STT writes", 1600), ("STT reads", 200)], [("STT writes", 400), ("STT reads", 150)]),
                "rfc": ([("write port of the cache", 50)], []), "racetrack": ([("bank places", 32)], [])}
    for name, wanted in expected.items():
        for core, config, rows in (("collector", fermi[name], wanted[0]), ("subcore", {"num_banks": 8}, wanted[1])):
            found = design_floors(name, counts, {**values, "sm.core": core}, config)
            assert [(floor.unit, floor.cycles) for floor in found] == rows, (name, core)


def test_info_of_a_finished_recording_has_the_sentences_of_run(capsys: pytest.CaptureFixture[str]) -> None:
    drain = Path(__file__).resolve().parents[2] / "rfview" / "learn" / "recorded" / "drain.rfs"
    assert main(["info", str(drain), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    found = facts["summary"]
    assert all(len(facts[name]) == 16 for name in ("configuration_hash", "program_hash")) and facts["source_hash"]
    assert found["ended"] and "The register file limits this run" in found["sentences"][0]["text"]
    assert main(["info", str(drain)]) == 0
    said = capsys.readouterr().out
    assert all(one["text"] in said for one in found["sentences"])
    assert any(one["place"] for one in found["sentences"]), "the line is named"


def test_statistics_name_the_lines_that_caused_most_and_why() -> None:
    with open_session(Path(__file__).resolve().parents[2] / "rfview" / "learn" / "recorded" / "shift.rfs") as session:
        session.goto("end")
        counted = stats(session)
        costs, resident = held.costs_of(session, 0, session.cycle)
        assert counted.holders and resident == counted.resident
        assert counted.holders[0].causes == max(cost.causes for _, cost in costs)
        assert "1.0 cache lines per access, ideal 1.0" in counted.holders[0].text
        text = execute(session, "stats").text
        assert "caused by" in text and counted.holders[0].text in text
        assert held.holders(session, 0, held.FARTHEST + 1) is None


def test_info_stalls_has_the_one_denominator() -> None:
    with open_session(Path(__file__).resolve().parents[2] / "rfview" / "learn" / "recorded" / "drain.rfs") as session:
        session.goto("60%")
        answer = execute(session, "info stalls")
        rows = {row["state"]: row for row in answer.data["stalls"]}
        shares = [row["share"] for row in rows.values() if row["share"] is not None]
        resident = stats(session).resident
        assert sum(shares) == pytest.approx(1) and f"100 % = {resident:,} warp-cycles of resident warps" in answer.text
        assert rows["wb_drain"]["share"] == pytest.approx(rows["wb_drain"]["total"] / resident)
        assert rows["no_cta"]["share"] is None and rows["no_cta"]["total"] > 0
