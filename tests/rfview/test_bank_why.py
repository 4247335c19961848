"""`e` on a bank of the lens explains a warp that the bank keeps waiting or serves, not the warp that had the focus."""

from __future__ import annotations

from pathlib import Path

import pytest

from rfview.engine import state
from rfview.render.lenses import banks
from rfview.screens.windows.why import WhyWindow
from rfview.sessions import open_session
from tests.rfview.pilots import Driven, drive

RECORDED = Path(__file__).parents[2] / "rfview" / "learn" / "recorded"


@pytest.mark.parametrize("name", ["first", "dead", "shift", "refresh"])
def test_why_on_a_bank_is_of_a_warp_that_has_to_do_with_it(name: str) -> None:
    async def test(app: Driven) -> None:
        await app.settle()
        asked = 0
        for cycle in range(100, 160, 4):
            await app.go(cycle)
            machine = app.scene.now
            wants: dict[int, list[int]] = {}
            for bank, _, warp in banks.requests(machine):
                wants.setdefault(bank, []).append(warp)
            for bank, held in enumerate(machine.banks):
                if held["activity"] != state.BANK_IDLE and held["owner_warp"] < machine.num_warps:
                    wants.setdefault(bank, []).append(held["owner_warp"])
            for bank, warps in list(wants.items())[:1]:
                stranger = next(warp for warp in range(machine.num_warps) if warp not in warps)
                app.app.main.change(panel="lens", bank=bank, warp=stranger)
                await app.press("e")
                assert isinstance(app.app.screen, WhyWindow) and app.scene.warp == warps[0]
                await app.press("escape")
                app.app.main.change(panel="lens", bank=bank, warp=warps[-1])
                await app.press("e")
                assert app.scene.warp == warps[-1]
                await app.press("escape")
                asked += 1
        assert asked

    drive(test, opener=lambda report: open_session(RECORDED / f"{name}.rfs"))


def test_a_bank_with_nobody_leaves_the_focus_as_it_is() -> None:
    async def test(app: Driven) -> None:
        await app.settle()
        machine = app.scene.now
        idle = next(bank for bank, held in enumerate(machine.banks) if held["activity"] == state.BANK_IDLE
                    and bank not in {which for which, _, _ in banks.requests(machine)})
        app.app.main.change(panel="lens", bank=idle, warp=3)
        await app.press("e")
        assert app.scene.warp == 3 and isinstance(app.app.screen, WhyWindow)

    drive(test, opener=lambda report: open_session(RECORDED / "first.rfs"))
