"""Custom keys: read from a file, checked, merged with the built-in ones, and shown wherever keys are shown."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rfview.engine.errors import InputError
from rfview import cli, keymap
from rfview.actions import ACTIONS, ANY, BY_NAME, MAIN, tokens_of
from rfview.keys import KeyReader, Keys, Pressed, token_of
from rfview.render.footer import footer_hints
from rfview.render.help import help_rows
from rfview.render.panel import Panel, Place
from rfview.render.panels import PANELS
from rfview.render.scene import Scene
from rfview.learn.tours import TOURS
from rfview.learn.window import TourWindow
from rfview.screens.compare.screen import CompareScreen, MultiplesScreen
from rfview.screens.windows.heat import HeatWindow
from rfview.screens.windows.help import HelpScreen
from rfview.screens.windows.image import ImageWindow
from rfview.screens.windows.popup import ExplainWindow, Popup
from rfview.start.screen import StartScreen
from rfview.widgets.keyed import Keyed
from tests.rfview.keyboard import bytes_of, typed
from tests.rfview.pilots import Driven, drive

REPOSITORY = Path(__file__).parents[2]


def loaded(tmp_path: Path, text: str) -> dict[str, str]:
    """Return the keymap of a key file."""
    file = tmp_path / "keys.toml"
    file.write_text(text, encoding="utf-8")
    return keymap.load(file)


def test_the_file_lies_in_the_configuration_folder() -> None:
    assert keymap.path({"XDG_CONFIG_HOME": "/c"}) == Path("/c/rfview/keys.toml")
    assert keymap.path({"HOME": "/h"}) == Path("/h/.config/rfview/keys.toml")


def test_without_a_file_nothing_changes(tmp_path: Path) -> None:
    assert keymap.load(tmp_path / "none.toml") == {}


def test_actions_and_commands_name_what_a_key_does(tmp_path: Path) -> None:
    own = loaded(tmp_path, '[keys]\n"ctrl+s" = "step"\n"x" = "why"\n"]  !" = "quit"\n"space" = "none"\n"+" = "step 10"\n')
    assert own == {"ctrl+s": "step", "x": "why", "]!": "quit", "space": "none", "+": "step_10"}
    reader = KeyReader(own)
    assert reader.feed("x") == Pressed("why") and reader.feed("ctrl+s") == Pressed("step")
    assert reader.feed("]") is None and reader.feed("!") == Pressed("quit")
    assert reader.feed("space") is None and reader.feed("s") == Pressed("step") and reader.feed("+") == Pressed("step_10")


def test_only_digits_that_are_numbers_begin_a_count() -> None:
    reader = KeyReader()
    assert reader.feed("\u2786") is None and reader.feed("\u2070") is None and reader.feed("s") == Pressed("step")
    assert reader.feed("2") is None and reader.feed("s") == Pressed("step", 2)


WRONG = [
    ('[keys]\n"x" = "wyh"\n', "did you mean 'why'?"),
    ('[keys]\n"x" = "nothing at all"\n', "rfview help keymap"),
    ('[keys]\n"spacebar" = "why"\n', "did you mean 'space'?"),
    ('[keys]\n"crtl+x" = "why"\n', r"no terminal sends 'crtl\+x'; did you mean 'ctrl\+x'\?"),
    ('[keys]\n"5" = "why"\n', "a digit begins a count"),
    ('[keys]\n"" = "why"\n', "is empty"),
    ('[keys]\n"ctrl+c" = "why"\n', "always leaves"),
    ('[keys]\n"x" = 3\n', "no action 3"),
    ('[kes]\n"x" = "why"\n', r"'kes': expected one table \[keys\]"),
    ('keys = 3\n', r"'keys': expected one table \[keys\]"),
    ('[keys\n', "keys.toml: "),
    ('\ufffe', "keys.toml: "),
]


@pytest.mark.parametrize("text,message", WRONG)
def test_what_cannot_be_meant_is_one_clear_error(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as error:
        loaded(tmp_path, text)
    assert "keys.toml" in str(error.value)


def test_a_wrong_key_file_stops_the_command_before_the_screen(tmp_path: Path) -> None:
    (tmp_path / "rfview").mkdir()
    (tmp_path / "rfview" / "keys.toml").write_text('[keys]\n"x" = "wyh"\n', encoding="utf-8")
    done = subprocess.run([sys.executable, "-m", "rfview", "replay", str(TOURS["first"].recording)], cwd=REPOSITORY,
                          env={**os.environ, "XDG_CONFIG_HOME": str(tmp_path)}, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and not done.stdout and done.stderr.count("\n") == 1 and "did you mean 'why'" in done.stderr


def test_every_built_in_key_can_be_written_in_the_file(tmp_path: Path) -> None:
    for action in ACTIONS:
        for key in action.keys:
            if key not in keymap.NEVER and "*" not in key and not key[0].isdigit():
                assert keymap.check_key(key, tmp_path) == key


def test_help_and_footer_show_the_keys_in_force() -> None:
    own = {"x": "why", "e": "none", "S": "play", "g": "step"}
    keys = Keys(own)
    assert keys.keys_of("why") == ["x"] and keys.first("play") == "S"
    assert "gg" not in keys.keys_of("start")
    assert ("x", "why", "why") in footer_hints("warps", 120, keys=keys)
    assert any(keys.startswith("x") and "blocked" in text for _, keys, text in help_rows("", keys))
    taken = dict.fromkeys(BY_NAME["why"].keys, "none")
    assert not any(name == "why" for _, _, name in footer_hints("warps", 120, keys=Keys(taken)))
    assert footer_hints("warps", 120) == footer_hints("warps", 120, keys=Keys({}))


def test_the_help_command_lists_own_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                         capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "rfview").mkdir()
    (tmp_path / "rfview" / "keys.toml").write_text('[keys]\n"ctrl+y" = "why"\n', encoding="utf-8")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert cli.main(["help", "keys"]) == 0 and "ctrl+y  e" in capsys.readouterr().out
    assert cli.main(["help", "keymap"]) == 0
    out = capsys.readouterr().out
    assert "XDG_CONFIG_HOME" in out and all(action.name in out for action in ACTIONS)


def test_own_keys_work_on_the_screen_and_show_there() -> None:
    async def test(app: Driven) -> None:
        await app.press("x")
        assert app.cycle == 151
        await app.press("s")
        assert app.cycle == 151
        assert "x " in app.screen_text().splitlines()[-1]
        await app.press("?")
        assert "x" in app.window_text()

    drive(test, keymap={"x": "step", "s": "none"})


def test_sentences_name_the_keys_in_force() -> None:
    async def test(app: Driven) -> None:
        assert "Y help" in app.screen_text().splitlines()[-2] and "x S step" in app.screen_text().splitlines()[-2]
        assert "F2 opens" in app.screen_text()
        app.app.main.say("word " * 60)
        await app.drain()
        assert app.screen_text().splitlines()[-2].rstrip().endswith("…  F3 shows all")
        await app.press("f3")
        assert "MESSAGE" in app.window_text()

    drive(test, goto="start", keymap={"x": "step", "s": "none", "Y": "help", "?": "none", "f1": "none", "f2": "why",
                                      "e": "none", "f3": "message", "M": "none"})


@pytest.mark.parametrize("name", list(BY_NAME))
def test_the_keys_of_every_action_arrive_as_terminals_send_them(name: str) -> None:
    for token in {token for key in BY_NAME[name].keys for token in tokens_of(key) if token != ANY}:
        assert [token_of(event.key, event.character) for event in typed(bytes_of(token))] == [token], token


def test_what_terminals_send_for_alt_is_alt_everywhere() -> None:
    assert [event.key for event in typed(b"\x1b5\x1bf\x1b=\x1b[53;3u")] == ["alt+5", "alt+f", "alt+=", "alt+5"]
    assert [event.key for event in typed(b"\x1b[H\x1bOH\x1b[1~\x1bOA\x1b[1;5D")] == ["home"] * 3 + ["up", "ctrl+left"]
    assert [event.character for event in typed("∞£".encode())] == ["∞", "£"]


SCREENS = list(dict.fromkeys((*Popup.__subclasses__(), TourWindow, ExplainWindow, HeatWindow, ImageWindow, HelpScreen,
                              CompareScreen, MultiplesScreen, StartScreen)))


@pytest.mark.parametrize("screen", SCREENS, ids=lambda screen: screen.__name__)
def test_a_key_of_ones_own_holds_on_every_screen_that_has_its_action(screen: type[Keyed]) -> None:
    for name in screen.HANDLERS:
        if BY_NAME[name].takes_letter:
            continue
        old = [tokens_of(key) for key in BY_NAME[name].keys if ANY not in key and key != "Z"]
        own = {**dict.fromkeys(BY_NAME[name].keys, "none"), "Z": name}
        keys = KeyReader(own, screen.HANDLERS)
        assert keys.feed("Z") == Pressed(name) and keys.first(name) == "Z"
        assert not [key for key in old if keys.table.get(key) == name]


@pytest.mark.parametrize("screen", SCREENS, ids=lambda screen: screen.__name__)
def test_every_action_of_a_screen_has_a_key_there(screen: type[Keyed]) -> None:
    keys = KeyReader(names=screen.HANDLERS)
    without = {"open_sentence", "to_holder"}       # Enter does these in their panels
    assert [name for name in screen.HANDLERS if not keys.keys_of(name) and name not in without] == []
    assert set(screen.WORDS) <= set(screen.HANDLERS)


def test_own_keys_step_in_windows_and_tours_whose_hints_show_them() -> None:
    async def test(app: Driven) -> None:
        await app.press("#")
        assert "z S step" in app.window_text()
        await app.press("z", "z")
        assert app.cycle == 152
        await app.press("s")
        assert app.cycle == 152 and "s does nothing here; ? lists the keys" in app.scene.message
        await app.press("3", "0", "z")
        assert app.cycle == 182
        await app.press("?")
        assert "z S →" in app.window_text() and "one cycle on / back" in app.window_text()
        await app.press("escape", "escape", "?")
        assert "z S" in app.window_text()

    drive(test, keymap={"s": "none", "z": "step"})


def test_alt_with_a_digit_opens_the_panel_of_that_number() -> None:
    async def test(app: Driven) -> None:
        await app.press("alt+2")
        assert app.scene.panel == "lens" and app.scene.message == "REGISTER FILE"
        await app.press("alt+0")
        assert app.scene.panel == "pipeline"

    drive(test)


def test_what_requests_answer_names_the_keys_in_force() -> None:
    async def test(app: Driven) -> None:
        await app.press("B")
        assert "none: y sets one" in app.window_text() and "w watches" not in app.window_text()
        await app.press("escape", "y")
        assert app.scene.message.endswith("; c and Z go there")
        await app.press("V")
        assert app.scene.message == "a range begins at cycle 150; V ends it; Esc drops it"

    drive(test, keymap={"y": "break_here", "b": "none", "f9": "none", "w": "none", "Z": "reverse_continue"})


@pytest.mark.parametrize("panel", list(PANELS.values()), ids=lambda panel: panel.name)
def test_what_a_panel_says_of_its_keys_are_actions_of_the_main_screen(panel: Panel) -> None:
    place = Place(panel.name, 0, 0, 60, 20)
    hits = [panel.at(Scene(panel=panel.name), place, x, y) for x in (0, 30) for y in range(20)]
    named = {panel.enter, *panel.hints, *(panel.steps or ()), *(hit.single[0] for hit in hits), *(hit.double[0] for hit in hits)}
    assert named - {""} <= set(MAIN)
    for spot in panel.spots.values():
        assert bool(spot.grants) != bool(spot.beside)
    assert panel.title or not panel.spots
