"""Settings are in their ranges and never clipped; what follows from another setting, and spilled words, are said."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rfview.engine import config, kernels, state
from rfview.engine.config import FOLLOWS, load_preset
from rfview.engine.errors import InputError
from rfview.engine.launch import load_launch_file
from rfview.engine.plugin.selection import select
from rfview.engine.simulator import Simulator
from rfview.sessions.branches import swap

NUMBERS = [(preset, name) for preset in config.preset_names() for name in load_preset(preset).numbers
           if name not in config.CHOICES and not load_preset(preset).fixed(name)]
SUBCORES = [name for name in config.preset_names() if load_preset(name).core == "subcore"]


@pytest.mark.parametrize(("preset", "name"), NUMBERS)
def test_the_largest_value_of_every_setting_reaches_the_machine_and_the_next_is_refused(preset: str, name: str) -> None:
    high = config.MAXIMA.get(name, 1 << 30)
    found = load_preset(preset).with_setting(name, high)
    record = np.zeros((), state.CONFIG).view(np.recarray)
    found.fill(record, "gto")
    section, _, key = name.partition(".")
    if section in ("sm", "memory") and key in (state.CONFIG.names or ()):
        assert int(record[key]) == high
    elif section in ("latency", "initiation"):
        assert int(record[f"{section}_cycles"][config.LATENCY_CLASSES.index(key)]) == high
    elif name == "kernel.max_registers":
        assert found.compilation().limit == high
    for wrong in (high + 1, -1, "nan", "inf", 10**30):
        with pytest.raises(InputError, match="expected"):
            load_preset(preset).with_setting(name, wrong)


@pytest.mark.parametrize("preset", SUBCORES)
def test_a_number_that_a_sub_core_does_not_read_is_refused_and_not_ignored(preset: str) -> None:
    machine, fermi = load_preset(preset), load_preset("fermi")
    assert config.COLLECTORS_NUMBERS | config.PTX_OPTIONS | config.SUBCORES_LAYOUT <= fermi.numbers.keys()
    for name, number in machine.numbers.items():
        assert machine.with_setting(name, number.value)[name] == number.value       # what it is anyway
        if name in config.CHOICES:
            other = next(value for value in config.CHOICES[name] if value != number.value)
        else:
            other = number.value - 1 if number.value == config.MAXIMA.get(name) else number.value + 1
        if name == "sm.core" or not machine.reads(name):
            with pytest.raises(InputError, match="the core is the preset's|Fermi's core"):
                machine.with_setting(name, other)
    with pytest.raises(InputError, match="two banks each"):
        select("sram", "gto", preset, {"sm.num_banks": 16})
    with pytest.raises(InputError, match="-maxrregcount"):
        select("sram", "gto", preset, {"kernel.max_registers": 32})
    taken = select("sram", "gto", preset, {}, beneath={"kernel.schedule": "on"}).config     # a launch file's
    assert taken["kernel.schedule"] == "off"


def test_the_sub_core_reads_none_of_the_numbers_that_are_said_to_be_of_fermis_core() -> None:
    """The timing of what every sub-core executes is the same when they change; Fermi's core reads all of them."""
    spec = load_launch_file(kernels.path("histogram"))
    usual = load_preset("ampere")
    odd = {name: replace(number, value=number.value * 2 + 1) if name in config.COLLECTORS_NUMBERS and name != "sm.mapping"
           or name.startswith(("latency", "initiation")) else number for name, number in usual.numbers.items()}
    changed = replace(usual, numbers={**odd, "memory.const_sets": replace(usual.numbers["memory.const_sets"], value=4)})
    cycles = []
    for machine in (usual, changed):
        simulator = Simulator(spec, preset="ampere")
        machine.fill(simulator.sm.config, "gto")
        simulator.run()
        cycles.append(simulator.cycle)
    assert cycles[0] == cycles[1]


def shape(design: str, **settings: int) -> tuple[int, int, list[str]]:
    """Return (banks, rows per bank, what is said) of a machine; in settings, _ stands for sm."""
    found = select(design, "gto", "fermi", {f"sm.{name}": value for name, value in settings.items()}).config
    return found["sm.num_banks"], found["sm.rows_per_bank"], found.notes()


def test_another_number_of_banks_keeps_the_size_of_the_register_file_and_says_so() -> None:
    assert shape("sram") == (16, 64, []) and shape("sram", num_banks=16) == (16, 64, [])
    assert shape("sram", num_banks=4) == (4, 256, ["sm.rows_per_bank 64 -> 256 follows from sm.num_banks"])
    assert shape("sram", num_banks=32)[:2] == (32, 32)
    assert shape("sram", num_banks=12) == (12, 85, ["sm.rows_per_bank 64 -> 85 follows from sm.num_banks"])
    assert shape("sram", num_banks=4, rows_per_bank=64) == (4, 64, [])
    assert shape("sram", rows_per_bank=32) == (16, 32, [])
    # designs with a shape of their own: hrf has 2 banks of 512 rows, racetrack 16 of 128
    assert shape("hrf") == (2, 512, []) and shape("hrf", num_banks=8)[:2] == (8, 128)
    assert shape("racetrack") == (16, 128, []) and shape("racetrack", num_banks=8)[:2] == (8, 256)


def test_a_launch_files_settings_beneath_count_as_set() -> None:
    found = select("sram", "gto", "fermi", {}, beneath={"sm.num_banks": 8}).config
    assert (found["sm.num_banks"], found["sm.rows_per_bank"]) == (8, 128) and FOLLOWS in found.notes()[0]
    both = select("sram", "gto", "fermi", {"sm.num_banks": 8}, beneath={"sm.rows_per_bank": 64}).config
    assert both["sm.rows_per_bank"] == 64 and not both.notes()


def test_what_a_run_says_of_itself_runs_again_as_the_same_machine() -> None:
    machine = Simulator(load_launch_file(kernels.path("vectoradd")), design="sram", settings={"sm.num_banks": 4})
    again = select("sram", "gto", "fermi", {name: value for name, value in machine.info.parameters.items()
                                            if name.startswith("sm.")}).config
    assert again["sm.rows_per_bank"] == machine.config["sm.rows_per_bank"] == 256 and machine.main_rows == 1024
    assert machine.info.setting_notes == ["sm.rows_per_bank 64 -> 256 follows from sm.num_banks"]


def test_spilled_words_are_said_with_the_registers_and_the_limit() -> None:
    free = Simulator(load_launch_file(kernels.path("sgemm")), design="sram")
    assert free.info.spilled_words == 0 and not free.info.compile_notes and free.info.register_limit == 63
    tight = Simulator(load_launch_file(kernels.path("sgemm")), design="sram", settings={"kernel.max_registers": 16})
    words = tight.info.spilled_words
    assert words > 0 and tight.info.register_limit == 16
    assert [f"{words} words spilled to local memory; 16 registers per thread, the limit is 16" in note
            for note in tight.info.compile_notes] == [True]


@pytest.mark.parametrize(("settings", "rows"), [
    ({"sm.num_banks": 4}, 512),                             # racetrack has 16 banks of 128 rows
    ({"sm.num_banks": 4, "sm.rows_per_bank": 64}, 64), ({"sm.rows_per_bank": 32}, 32)])
def test_a_swapped_design_keeps_the_rows_that_were_chosen_and_derives_others_anew(settings: dict[str, int], rows: int) -> None:
    base = Simulator(load_launch_file(kernels.path("vectoradd")), design="sram", settings=settings)
    chosen = swap.chosen_settings(base, ())
    assert select("racetrack", "gto", "fermi", chosen).config["sm.rows_per_bank"] == rows
