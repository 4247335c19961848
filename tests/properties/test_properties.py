"""The property set on small inputs, 8 kernels on all designs under alternating schedulers; its checks detect errors."""

from __future__ import annotations

import pytest

from rfview.engine.designs import racetrack
from rfview.engine.simulator import Simulator
from rfview.engine.machine.schedulers import SCHEDULERS
from rfview.engine.state import BANK_IDLE
from tests.harness import Assembly, Machine
from tests.properties import __main__ as properties
from tests.properties.designs import checks_of
from tests.properties.runs import DESIGNS
from tests.properties.sums import wrong_sums
from tests.properties.watch import Watch


def chain() -> Assembly:
    """Return a program that writes and reads a few registers over and over."""
    program = Assembly().mov(1, 5).mov(2, 7)
    for _ in range(6):
        program.add(3, 1, 2).add(1, 3, 2).add(2, 3, 1)
    return program.exit()


def watched(simulator: Simulator, cycles: int = 400) -> Watch:
    """Run a machine under all checks and return their messages."""
    watch = Watch(simulator)
    go_on(watch, cycles)
    return watch


def go_on(watch: Watch, cycles: int) -> None:
    """Run further cycles under all checks."""
    checks = checks_of(watch)
    for _ in range(cycles):
        for check in checks:
            check.before()
        if not watch.step():
            break
        for check in checks:
            check.after()


@pytest.mark.slow
def test_kernels_on_all_designs_and_these_under_all_schedulers_on_small_inputs() -> None:
    names = properties.kernels.CORE[::3]    # `python -m tests.properties` takes all kernels, at full size
    outcomes = properties.check(names, DESIGNS, SCHEDULERS, small=True, pairs=True)
    print("\n".join(properties.summary(outcomes, small=True)))
    cases = [one.case for one in outcomes]
    assert len(cases) == len(names) * (len(DESIGNS) - 1 + len(SCHEDULERS))
    assert len({(case.kernel, case.design) for case in cases}) == len(names) * len(DESIGNS)
    assert len({(case.design, case.scheduler) for case in cases}) == len(DESIGNS) * len(SCHEDULERS)
    assert len({(case.kernel, case.scheduler, case.design == "sram") for case in cases}) == 2 * len(names) * len(SCHEDULERS)
    assert not [(one.case.kernel, one.case.design, one.case.scheduler, one.wrong) for one in outcomes if one.wrong]
    assert all(one.watched and one.reads and one.writes for one in outcomes)


@pytest.mark.nojit
def test_a_sound_machine_passes() -> None:
    watch = watched(Machine(chain(), warps=2).simulator)
    watch.check_events()
    watch.check_places(watch.held())
    assert not watch.wrong and watch.simulator.finished and watch.reads >= 36 * 2 and watch.writes == 20 * 2


@pytest.mark.nojit
def test_a_lost_write_is_seen_when_it_is_read() -> None:
    watch = watched(Machine(chain()).simulator, 60)
    watch.simulator.rows.u[1:4, 9] ^= 4                 # R1 to R3 of warp 0, lane 9: one of them is read next
    go_on(watch, 400)
    assert any("newest value" in text for text in watch.wrong)


@pytest.mark.nojit
def test_a_lost_write_is_seen_where_it_lies() -> None:
    watch = watched(Machine(chain(), warps=2).simulator, 60)
    reg = next(reg for warp, reg in watch.held() if watch.settled(warp, reg))
    watch.simulator.rows.u[reg, 0] ^= 1
    watch.check_place(0, reg)
    assert len(watch.wrong) == 1 and f"R{reg}" in watch.wrong[0]


@pytest.mark.nojit
def test_a_grant_too_many_and_an_uncounted_one_are_seen() -> None:
    watch = watched(Machine(chain()).simulator, 30)
    watch.served_banks, watch.written_banks = {3: 1}, {3: 1, 4: 2}
    watch._write_ports()
    assert [("one port" in text, "2 writes" in text) for text in watch.wrong] == [(True, False), (False, True)]
    watch.main_reads += 1
    watch.check_events()
    assert "counted" in watch.wrong[-1]


@pytest.mark.nojit
def test_an_access_with_the_tape_elsewhere_is_seen() -> None:
    watch = Watch(Machine(chain(), design="racetrack").simulator)
    (check,) = checks_of(watch)
    tape = watch.simulator.rf.tape
    while not (tape["activity"] == racetrack.READ).any():
        check.before()
        assert watch.step()
        check.after()
    assert not watch.wrong
    tape["current"][tape["activity"] == racetrack.READ] += 1
    check.after()
    assert any("with its tape at" in text for text in watch.wrong)


@pytest.mark.nojit
def test_a_refresh_that_does_not_come_is_seen() -> None:
    watch = Watch(Machine(chain(), design="edram[precise_only=1]").simulator)
    (check,) = checks_of(watch)
    watch.step()
    check.after()
    assert not watch.wrong
    watch.simulator.sm.bank["activity"][0] = BANK_IDLE
    check.after()
    assert len(watch.wrong) == 1 and "refresh" in watch.wrong[0]


@pytest.mark.nojit
def test_sums_that_do_not_add_up_are_said() -> None:
    simulator = Machine(chain()).simulator
    simulator.run()
    summary = simulator.summary()
    assert not wrong_sums(summary, simulator.built.chain, {})
    summary["counts"]["rf_reads"] += 1
    summary["stalls"]["wait"] += 1
    assert len(wrong_sums(summary, simulator.built.chain, {})) == 3
