"""The racetrack tools: grouping and arrangement against brute force, table files, the profile and the TLP search."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rfview.engine.config import load_preset
from rfview.engine.designs import racetrack
from rfview.engine.errors import InputError
from rfview.engine.tools import mapping, profiling, tlp
from rfview.cli import main
from tests.conftest import WITHOUT_JIT
from tests.harness import Assembly, Machine

traces = st.lists(st.integers(0, 7), min_size=8, max_size=40)
periodic = st.builds(lambda part, times: (part * times)[:40], st.lists(st.integers(0, 7), min_size=2, max_size=10),
                     st.integers(4, 12))


def assignments(registers: int, ports: int) -> Iterator[list[int]]:
    """Yield every assignment of offsets to registers, `ports` registers per offset."""
    offsets = registers // ports

    def extend(chosen: list[int]) -> Iterator[list[int]]:
        if len(chosen) == registers:
            yield chosen
            return
        for offset in range(offsets):
            if chosen.count(offset) < ports:
                yield from extend([*chosen, offset])

    yield from extend([])


ALL = np.array(list(assignments(8, 2)))
DISTANCES = np.abs(ALL[:, :, None] - ALL[:, None, :])


def cost(trace: list[int], positions: Any, per_port: int) -> int:
    """Return the shifts of a trace, counted access by access."""
    offsets = [position % per_port for position in positions]
    return sum(abs(offsets[a] - offsets[b]) for a, b in itertools.pairwise(trace))


@settings(max_examples=150, deadline=None)
@given(st.one_of(traces, periodic))
def test_mapping_is_near_brute_force_and_never_worse_than_identity(trace: list[int]) -> None:
    # 8 registers, 2 ports, 8..40 accesses: S <= S(identity), <= 2.5x brute force, 0 where that is 0.
    moves = mapping.count_moves(trace, 8)
    found = mapping.optimise(moves, 2, 8)
    best = int((DISTANCES * moves).sum(axis=(1, 2)).min())
    assert sorted(found.positions) == list(range(8))
    assert found.shifts == cost(trace, found.positions, 4) <= found.identity_shifts == cost(trace, range(8), 4)
    assert found.shifts <= 2.5 * best


def test_figure_7_the_exchange_of_two_registers_is_the_optimum() -> None:
    # Liang & Wang Fig. 7: 12 shifts with identity, 6 with R0 and R4 exchanged.
    trace = [0, 3, 1, 4, 1, 2]
    costs = [cost(trace, order, 5) for order in itertools.permutations(range(5))]
    assert min(costs) == 6 == mapping.optimise(mapping.count_moves(trace, 5), 1, 5).shifts
    assert cost(trace, [4, 1, 2, 3, 0], 5) == 6 and cost(trace, range(5), 5) == 12


def test_groups_grow_by_the_heaviest_single_or_pair_and_ties_go_to_the_lowest() -> None:
    moves = np.zeros((7, 7), np.int64)
    moves[5, 6] = 9
    moves[6, 2] = 4
    moves[0, 1] = 5
    assert mapping.group(moves, 3) == [[5, 6, 2], [0, 1, 3], [4]]
    assert mapping.group(moves, 4) == [[5, 6, 0, 1], [2, 3, 4]], "the pair weighs 5, R2 adds 4"
    assert mapping.group(np.zeros((5, 5), np.int64), 2) == [[0, 1], [2, 3], [4]]
    assert mapping.group(moves, 8) == [list(range(7))]
    assert moves.sum() == 18, "the caller's moves stay as they are"


def test_figure_8_twelve_registers_and_four_ports_are_three_groups() -> None:
    trace = [index % 3 + 3 * (index // 3 % 4) for index in range(60)]
    positions = mapping.algorithm_positions(mapping.count_moves(trace, 12), 4, 12)
    assert sorted(positions) == list(range(12))
    for offset in range(3):
        ports = {position // 3 for position in positions if position % 3 == offset}
        assert ports == {0, 1, 2, 3}


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 7), st.integers(0, 1 << 30))
def test_arrangement_is_the_best_of_all_orders(number: int, seed: int) -> None:
    weight = np.random.RandomState(seed).randint(0, 9, (number, number))
    offsets = mapping.arrange(weight)
    assert sorted(offsets) == list(range(number))
    best = min(mapping.shifts_of(weight, order) for order in itertools.permutations(range(number)))
    assert mapping.shifts_of(weight, offsets) == best


def test_sixteen_groups_are_arranged_exactly() -> None:
    # A path through the groups has one best order, up to reversal: along the path, 15 unit steps.
    order = random.Random(3).sample(range(16), 16)
    weight = np.zeros((16, 16), np.int64)
    for a, b in itertools.pairwise(order):
        weight[a, b] = 7
    assert mapping.shifts_of(weight, mapping.arrange(weight)) == 15 * 7
    with pytest.raises(ValueError, match="17 groups, but at most 16"):
        mapping.arrange(np.zeros((17, 17), np.int64))


def test_registers_that_are_not_in_use_take_what_is_left() -> None:
    moves = mapping.count_moves([0, 3, 0, 3, 1, 2, 1, 2], 4)
    found = mapping.optimise(moves, 2, 16)
    assert sorted(found.positions) == list(range(16))
    offsets = [position % 8 for position in found.positions]
    assert offsets[0] == offsets[3] and offsets[1] == offsets[2] and found.shifts == 1
    assert mapping.optimise(np.zeros((0, 0), np.int64), 8, 128).positions == tuple(range(128))


# --- tables ---------------------------------------------------------------------------------------------------------


def some_table(path: Path, banks: int = 16, rows: int = 128) -> list[list[int]]:
    """Write a table of random permutations and return it."""
    draw = random.Random(5)
    positions = [draw.sample(range(rows), rows) for _ in range(banks)]
    path.write_text(mapping.table_text([mapping.Mapping(tuple(bank), 1, 2) for bank in positions], "k", 8))
    return positions


def test_a_table_is_read_as_it_was_written(tmp_path: Path) -> None:
    positions = some_table(tmp_path / "map.toml")
    assert mapping.load_table(tmp_path / "map.toml") == positions
    codes = mapping.codes_of(str(tmp_path / "map.toml"))
    assert all(codes[row * 16 + bank] ^ row == positions[bank][row] for bank in range(16) for row in range(128))
    assert mapping.codes_of(codes) == codes and mapping.codes_of("identity") == "identity"


@pytest.mark.parametrize(("ports", "offsets"), [(16, 8), (8, 16)])
def test_spread_registers_take_one_offset_more_for_each_round_of_the_ports(ports: int, offsets: int) -> None:
    """B5.13, Fig. 6: with 8 ports 32 registers of a bank take 4 offsets, 64 take 8; in order they take 16 and 16."""
    codes = mapping.codes_of(f"spread-{ports}")
    for bank in (0, 15):
        positions = [codes[row * 16 + bank] ^ row for row in range(128)]
        assert sorted(positions) == list(range(128))
        for rows in (32, 64, 128):
            assert len({position % offsets for position in positions[:rows]}) == rows // ports
    assert mapping.codes_of(codes) == codes
    for text in ("spread-", "spread-x", "spread-0", "spread-129", "spread-7", "spread-1000000000"):
        with pytest.raises(ValueError, match="ports"):
            mapping.codes_of(text)


@pytest.mark.parametrize(("text", "message"), [
    ("format = 2", "format 2, expected 1"),
    ("positions = [[0]]", "format None"),
    ("format = 1", "positions: expected a list of lists"),
    ("format = 1\npositions = [[0, 1], [0, 0]]", "bank 1 is not a permutation of 0..1"),
    ("format = 1\npositions = [[0, 1], [0]]", "bank 1 is not a permutation"),
    ("format = 1\npositions = [[0.5]]", "bank 0 is not a permutation"),
    ("format =", "not a mapping table"),
    (f"format = 1\npositions = [{list(range(5000))}]", "5000 registers, at most 4096"),
])
def test_a_bad_table_is_one_clear_error(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "map.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=f"racetrack.mapping=.*{message}"):
        Machine(Assembly().exit(), design="racetrack", settings={"racetrack.mapping": str(path)})


def test_a_table_moves_every_register_where_it_says(tmp_path: Path) -> None:
    positions = some_table(tmp_path / "map.toml")
    given_settings = {"racetrack.mapping": str(tmp_path / "map.toml")}
    machine = Machine(Assembly().copy(1, 16).exit(), registers=40, design="racetrack", settings=given_settings)
    simulator = machine.simulator
    for row in range(128):
        for bank in range(16):
            offset = racetrack.offset_of(simulator.sm, simulator.spec_record, row * 16 + bank)
            assert int(offset) == positions[bank][row] % 8
    kept = simulator.info.design_spec.values["racetrack.mapping"]
    assert kept == mapping.codes_of(str(tmp_path / "map.toml")), "a recording needs no file"
    machine.run()
    assert int(machine.snapshots[-1].rf.tape[0].shifts) == positions[0][1] % 8


# --- the profile ----------------------------------------------------------------------------------------------------


def ping_pong(times: int) -> Assembly:
    """Return a program that reads R0 and R48 in turn: rows 0 and 3 of bank 0."""
    program = Assembly()
    for _ in range(times):
        program.add(1, 0, 48)
    return program.exit()


def test_the_profile_counts_moves_in_the_order_in_which_banks_are_asked() -> None:
    machine = Machine(ping_pong(5), registers=60, design="racetrack[profile=1]")
    moves = profiling.moves(machine.simulator)
    assert moves[0, 0, 3] == 5 and moves[0, 3, 0] == 4 and moves[0].sum() == 9
    assert moves[1, 0, 0] == 4 and moves[1].sum() == 4, "five results for R1, one after the other"
    assert moves[2:].sum() == 0
    assert mapping.rows_in_use(machine.simulator)[:2] == [30, 30], "8 CTAs of 60 registers"


def test_the_profile_of_a_longer_run_matches_the_bank_accesses() -> None:
    program = ping_pong(3)
    machine = Machine(program, registers=60, warps=2, ctas=4, design="racetrack[profile=1]", scheduler="lrr")
    moves = profiling.moves(machine.simulator)
    requests = machine.count("rf_reads") + machine.count("rf_writes")
    banks_used = sum(bool(bank.any()) for bank in moves)
    assert requests == 8 * 3 * 3 and moves.sum() == requests - banks_used


def test_a_mapping_made_from_a_profile_saves_its_shifts() -> None:
    more = {"registers": 60, "settings": {"sm.max_ctas": 1}}
    simulator = Machine(ping_pong(6), design="racetrack[profile=1,preshift=0]", **more).simulator
    found = mapping.optimise_banks(profiling.moves(simulator), mapping.rows_in_use(simulator), 8)
    assert (found[0].identity_shifts, found[0].shifts) == (33, 0)
    assert simulator.counts()["shifts"] == 33
    codes = [found[slot % 16].positions[slot // 16] ^ (slot // 16) for slot in range(2048)]
    more["settings"]["racetrack.mapping"] = codes
    mapped = Machine(ping_pong(6), design="racetrack[preshift=0]", **more).run()
    assert mapped.count("shifts") <= 15, "the way from offset 0 to the first group at most"


# --- TLP ------------------------------------------------------------------------------------------------------------


def test_equation_2_and_ties_to_the_fewest_ctas() -> None:
    # Liang & Wang, section 4.2: P(N) = P_cache(N) - (P_ideal(N) - P_RM(N))
    points = [tlp.Point(1, 0.5, 0.75, 0.5), tlp.Point(2, 0.75, 1.0, 0.75), tlp.Point(3, 1.0, 1.5, 1.0)]
    assert [point.ipc for point in points] == [0.25, 0.5, 0.5]
    assert tlp.best(points).ctas == 2


def test_the_search_runs_every_number_of_ctas_that_fits() -> None:
    program = ping_pong(4 if WITHOUT_JIT else 20)
    machine = Machine(program, registers=60, warps=2, ctas=4, design="racetrack")
    points = tlp.curve(machine.simulator.spec, module=machine.simulator.module, settings={"sm.max_ctas": 3})
    assert [point.ctas for point in points] == [1, 2, 3]
    for point in points:
        assert point.cache_ipc > 0 and point.ideal_ipc >= point.racetrack_ipc > 0
        assert point.ipc == pytest.approx(point.cache_ipc - point.ideal_ipc + point.racetrack_ipc)
    assert points[2].cache_ipc > points[0].cache_ipc


def test_an_ideal_l1_makes_every_load_a_hit() -> None:
    hit = load_preset("fermi")["memory.l1_hit_cycles"]
    program = Assembly().ld(1).ld(2, offset=512).ld(3, offset=1024).add(4, 1, 3).exit()
    machine = Machine(program, settings=tlp.IDEAL_L1).run()
    issued = {text: cycle for cycle, text in machine.issues()}
    done = next(cycle for text, cycle in issued.items() if text.startswith("add"))
    last_load = max(cycle for text, cycle in issued.items() if text.startswith("ld"))
    assert hit <= done - last_load <= hit + 6


# --- the commands ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("words", "message"), [
    (["map", "vectoradd", "--design", "sram"], "rfview map is about racetrack memory"),
    (["tlp", "vectoradd", "--design", "rfc"], "rfview tlp is about racetrack memory"),
    (["map", "vectoradd", "--set", "racetrack.mapping=x.toml"], "begins with the identity"),
    (["tlp", "vectoradd", "--design", "racetrack[mapping=x.toml]"], "begins with the identity"),
    (["map", "vectoradd", "--set", "sm.mapping=gpgpusim"], "sequential placement"),
    (["map", "vectoradd", "-o", "nowhere/x.toml"], "there is no folder"),
])
def test_what_the_commands_cannot_do_is_one_line(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1


@pytest.mark.slow
@pytest.mark.skipif(WITHOUT_JIT, reason="whole kernels")
def test_map_writes_a_table_that_saves_shifts_and_run_takes_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = str(tmp_path / "t.toml")
    assert main(["map", "histogram", "-o", table, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["mapped"]["shifts"] < facts["identity"]["shifts"]
    assert all(bank["shifts"] <= bank["identity_shifts"] for bank in facts["banks"])
    assert main(["run", "histogram", "--design", "racetrack", "--scheduler", "lrr", "--set", f"racetrack.mapping={table}",
                 "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["cycles"] == facts["mapped"]["cycles"]
    assert main(["map", "histogram", "-o", table]) == 0
    assert "all banks" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.skipif(WITHOUT_JIT, reason="whole kernels")
def test_tlp_prints_a_row_for_every_number_of_ctas(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tlp", "histogram", "--set", "sm.max_ctas=3", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert [point["ctas"] for point in facts["points"]] == [1, 2, 3] and facts["scheduler"] == "lrr"
    assert all(point["p"] == pytest.approx(point["p_cache"] - point["p_ideal"] + point["p_rm"]) for point in facts["points"])
    assert facts["best"] == max(facts["points"], key=lambda point: point["p"])["ctas"]
    assert main(["tlp", "histogram", "--set", "sm.max_ctas=2"]) == 0
    assert "best:" in capsys.readouterr().out
