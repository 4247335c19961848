"""Custom keys: read from a file, checked, merged with the built-in ones, and shown wherever keys are shown."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rfview.engine.errors import InputError
from rfview import cli, keymap
from rfview.actions import ACTIONS, BY_NAME, help_rows, keys_of
from rfview.keys import KeyReader, Pressed
from rfview.render.footer import footer_hints
from rfview.learn.tours import TOURS
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
    own = loaded(tmp_path, '[keys]\n"ctrl+s" = "step"\n"x" = "why"\n"Z  Z" = "quit"\n"space" = "none"\n"+" = "step 10"\n')
    assert own == {"ctrl+s": "step", "x": "why", "ZZ": "quit", "space": "none", "+": "step_10"}
    reader = KeyReader(own)
    assert reader.feed("x") == Pressed("why") and reader.feed("ctrl+s") == Pressed("step")
    assert reader.feed("Z") is None and reader.feed("Z") == Pressed("quit")
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
    assert keys_of(BY_NAME["why"], own) == ("x",) and keys_of(BY_NAME["play"], own)[0] == "S"
    assert "g g" not in keys_of(BY_NAME["start"], own)
    assert ("x", "why", "why") in footer_hints("warps", 120, own=own)
    assert any(keys.startswith("x") and "blocked" in text for _, keys, text in help_rows("", own))
    taken = dict.fromkeys(BY_NAME["why"].keys, "none")
    assert not any(name == "why" for _, _, name in footer_hints("warps", 120, own=taken))
    assert footer_hints("warps", 120) == footer_hints("warps", 120, own={})


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
