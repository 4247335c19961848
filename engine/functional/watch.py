"""What may watch the functional loop: calls that do nothing here, and that the checker implements (engine/check).

They are bound by the type of `spec`, as a design's hooks are; `count` is the number of instructions that the warp has
executed, the current one included.
"""

from __future__ import annotations

from rfview.engine.compile.device import declare
from rfview.engine.hooks import DESIGNS, hook


@hook
def on_start(sm, rf, spec):
    """Note the launch and the CTAs that have started."""


@hook
def on_control(sm, rf, spec, insts, warp, pc, lanes, active, count):
    """Note a control instruction that has just executed."""


@hook
def on_step(sm, rf, spec, warp, pc, lanes, active, count):
    """Note any other instruction before it executes."""


@hook
def on_result(sm, rf, spec, rows, inst, arena, warp, pc, lanes, took_part):
    """Note an instruction that has computed its results or accessed memory; its operands are still in their rows.

    took_part: of a collective, `lanes` and those that execute it at another place.
    """


def is_watched(sm, rf, spec):
    """Return whether anything watches: all operands and addresses are then left where the machine has them, too."""
    return _is_watched(spec.dtype)


def _is_watched(spec):
    """Return it for the type of a parameter record."""
    name = next(name[7:] for name in spec.fields if name.startswith("design_"))
    return hasattr(DESIGNS[name], on_result.__name__)


# a constant in compiled code
declare(is_watched, lambda sm, rf, spec: ((lambda sm, rf, spec: True) if _is_watched(spec)
                                          else (lambda sm, rf, spec: False)))
