"""From the options of a run to its machine: the design, the scheduler, and all numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from rfview.engine.config import Config, load_preset
from rfview.engine.defaults import OF_CORE, PAPER, SCHEDULER
from rfview.engine.errors import InputError
from rfview.engine.machine.schedulers import SCHEDULERS
from rfview.engine.plugin.description import Design
from rfview.engine.plugin.finding import find
from rfview.engine.plugin.variants import SUBCORE, Built, build, parse_variant


class Selection(NamedTuple):
    """A machine that can be built: `built` holds the design's parameters, `config` all other numbers."""

    design: Design
    built: Built
    scheduler: str
    config: Config


def scheduler_of(variant: str, scheduler: str) -> str:
    """Return the scheduler that a word means for a variant: `paper` is the one of the design's paper."""
    return find(parse_variant(variant)[0]).DESIGN.paper_scheduler if scheduler == PAPER else scheduler


def select(variant: str, scheduler: str, preset: str, settings: Mapping[str, Any], beneath: Mapping[str, Any] | None = None,
           engine_hash: str = "") -> Selection:
    """Return the machine that options select.

    scheduler, preset: "paper" means the one of the design's paper. settings: {"section.key": value}, of the preset or the
    design; beneath: of the preset only, which the design's own and `settings` override. Another number of banks keeps
    the register file's size unless rows are set as well. Raises InputError.
    """
    design = find(parse_variant(variant)[0]).DESIGN
    preset = design.paper_preset if preset == PAPER else preset
    scheduler = scheduler_of(variant, scheduler)
    config = load_preset(preset)
    if config.core == SUBCORE:
        if scheduler not in (SCHEDULER, OF_CORE) and scheduler != design.paper_scheduler:
            raise InputError(f"--scheduler {scheduler}: preset {preset} has a scheduler of its own ({OF_CORE}: greedy, else "
                             "the youngest warp); leave out --scheduler")
        scheduler = OF_CORE
    elif scheduler not in SCHEDULERS:
        raise InputError(f"--scheduler {scheduler}: there are {', '.join(SCHEDULERS)}")
    sections = config.sections
    own = {key: value for key, value in settings.items() if key.split(".")[0] not in sections}
    built = build(variant, own, engine_hash, config.core)
    for key in own:
        if key not in built.values:
            raise InputError(f"--set {key}: neither the preset nor the design {variant} has such a parameter")
    # a launch file's options for PTX do not concern machine code
    beneath = {key: value for key, value in (beneath or {}).items() if not config.fixed(key)}
    given = {**beneath, **built.settings, **settings}
    before = config
    for key, value in given.items():
        if key not in own:
            config = config.with_setting(key, value)
    for key, value in built.settings.items():
        before = before.with_setting(key, value)
    if "sm.rows_per_bank" not in {**beneath, **settings} and config["sm.num_banks"] != before["sm.num_banks"]:
        config = before.keeping_rows(config)
    config.check()
    return Selection(design, built, scheduler, config)
