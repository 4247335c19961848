"""The status row: what runs, where in time, how fast, and whether every warp is accounted for."""

from __future__ import annotations

from rfview.engine.plugin.assumed import ASSUMED
from rfview.render.panel import Panel
from rfview.render.scene import RATE_WINDOW, Scene
from rfview.render.text import Line, Row, cut, number, percent, shorten
from rfview.sessions.expressions.ptx_names import kernel_name

BADGE_ROLES = {"live": "live", "past": "past", "playing": "busy", "busy": "busy", "fault": "busy"}

DROP_ORDER = ("preset", "rfview", "launch", "scheduler", "kernel", "design")      # what a short row leaves out first


def render(scene: Scene, width: int, height: int = 1) -> list[Line]:
    """Return the status row.

     rfview  gemm_tile 2×5 · 256  sram gto · fermi      ● LIVE   cycle 184,213 100.0 %   IPC 0.87   RF 31.2 mW   Σ 48 ✓

    Kernel, grid · block; design, the branch of a fork (underlined), scheduler · preset; badge; cycle and its share of the
    run; warp instructions per cycle and power of the register file over the last 1,024 cycles; Σ: the warp slots in exactly
    one state, ✓ if that is all of them and warp-cycles and energy add up, else a red ✕ after what does not.
    """
    tail = _tail(scene, width)
    tail_width = sum(len(text) for text, _ in tail)
    place = _place(scene, width)
    place_width = sum(len(text) for text, _ in place)
    for left_out in range(len(DROP_ORDER) + 1):       # the place in time is never left out
        row = Row(width, "band")
        _what(row, scene, width, DROP_ORDER[:left_out])
        if row.x + place_width + 2 <= width:
            break
    if row.x + place_width + 1 > width:
        place = place[:-1]
    wanted = 54 if width >= 120 else 42 if width >= 100 else 26
    row.to(max(row.x + 1, min(wanted, width - place_width - tail_width - 3)))
    row.parts(*place)
    if row.x + tail_width + 2 > width:      # power is the first to go
        tail = _tail(scene, width, with_power=False)
        tail_width = sum(len(text) for text, _ in tail)
    if row.x + tail_width + 2 <= width:
        row.to(width - 1 - tail_width).parts(*tail)
    return [row.line()]


def _what(row: Row, scene: Scene, width: int, without: tuple[str, ...]) -> None:
    """Write kernel, launch, design, scheduler and preset; without: those of DROP_ORDER that are left out."""
    gap = 2 if width >= 100 else 1
    if "rfview" not in without:
        row.add(" rfview", "title")
    info = scene.info
    kernel = info.kernel
    if scene.now is not None and info.launches:
        index = min(int(scene.now.sm["launch"]["index"]), len(info.launches) - 1)
        launch = info.launches[index]
        kernel = launch.kernel
    else:
        launch = None
    kernel = kernel_name(kernel)
    room = 16 if width >= 120 else 14 if width >= 100 else 9
    if "kernel" not in without:
        row.to(row.x + gap).add(shorten(kernel, room), "text")
    if launch is not None and width >= 120 and "launch" not in without:
        block = 1
        for size in launch.block:
            block *= int(size)
        row.add(f" {_grid(launch.grid)} · {block}", "text")
    design = info.design
    if "design" in without:
        return
    row.to(row.x + gap).add(design if len(design) <= 14 else design[:13] + "…", "title")
    if scene.branch:
        row.add(f" {cut(scene.branch, 12)}", "changed")
    scheduler, preset = info.scheduler, info.preset
    if "scheduler" not in without:
        row.add(f" {scheduler}" + (f" · {preset}" if preset and width >= 100 and "preset" not in without else ""), "tinfo")


def _grid(grid: list[int]) -> str:
    """Return a grid as 2×5, without trailing ones."""
    sizes = [int(size) for size in grid]
    while len(sizes) > 1 and sizes[-1] == 1:
        sizes.pop()
    return "×".join(map(str, sizes))


def _place(scene: Scene, width: int) -> list[tuple[str, str]]:
    """Return badge, cycle and share of the run."""
    badge = scene.badge
    text = f" {badge.text} "
    parts = [(text, BADGE_ROLES.get(badge.kind, "past")), ("  " if width >= 100 else " ", "text")]
    if scene.now is None:
        return parts
    share = percent(scene.cycle - scene.first, scene.last - scene.first)
    return [*parts, ("cycle ", "tinfo"), (number(scene.cycle), "title"), (f" {share}", "tinfo")]


def _tail(scene: Scene, width: int, with_power: bool = True) -> list[tuple[str, str]]:
    """Return the distance to the end (if not at it), IPC, power and the accounting badge."""
    if scene.now is None:
        return []
    parts: list[tuple[str, str]] = []
    left = scene.last - scene.cycle
    if left and width >= 130:
        parts.append((f"{number(left)} before the end   ", "tinfo"))
    window = min(scene.cycle, RATE_WINDOW)
    parts += [(f"last {number(window)}  " if width >= 120 else "", "tinfo"), (f"IPC {scene.ipc:.2f}", "text"),
              (" in 1k" if width < 120 and window == RATE_WINDOW else "", "tinfo")]
    gap = ("   " if width >= 100 else "  ", "text")
    if scene.power_mw is not None and width >= 120 and with_power:
        parts += [gap, (f"RF {scene.power_mw:.1f} mW", "text"), (f" {ASSUMED}" if scene.power_assumed else "", "tinfo")]
    total = sum(scene.now.count)
    if not scene.problems:
        return [*parts, gap, (f"Σ {total} ✓", "text")]
    wrong = "Σ pJ ✕" if all("energy" in problem for problem in scene.problems) else f"Σ {total} ✕"
    return [*parts, gap, (wrong, "bad")]


PANEL = Panel(
    name="status", paint=render, is_axis=True,
    source="our assumption: IPC counts warp instructions over the last 1,024 cycles",
    columns=(
        ("IPC", "warp instructions issued per cycle over the last 1,024 cycles", "our assumption: the window"),
        ("Σ", "warp slots that are in exactly one state in this cycle; ✓ when all are", "our assumption: the check"),
        ("badge", "LIVE: the machine's newest cycle; PAST: an earlier one; END: a recording's last", "our assumption"),
    ),
)
