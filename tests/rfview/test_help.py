"""The help: topics generated from the code they describe, and a search for keys, commands, states and terms."""

from __future__ import annotations

import tomllib
from itertools import takewhile
from pathlib import Path

import pytest

from rfview.engine import state
from rfview.engine.designs import hrf
from rfview.engine.machine.schedulers import SCHEDULERS
from rfview import cli, manual
from rfview.actions import ACTIONS
from rfview.commands import help as help_command
from rfview.commands.export import SUFFIX
from rfview.palette import THEMES
from rfview.sessions import expressions
from rfview.sessions.commands.table import VERBS
from rfview.sessions.export import FORMATS
from tests.rfview.pilots import Driven, drive


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Return the output of `rfview help`."""
    assert cli.main(["help", *words]) == 0
    return capsys.readouterr().out


def test_expressions_are_explained_by_their_compiler(capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(capsys, "expressions")
    language, _, modules = (expressions.__doc__ or "").strip().rpartition("\n\n")
    assert "any(w.state == barrier)" in language and language in out and modules not in out
    names = (*expressions.FUNCTIONS, *(state.WARP.names or ()), *(state.BANK.names or ()))
    assert all(name in out for name in names if name != "pad") and ", pad" not in out


@pytest.mark.parametrize(("topic", "table"), [("launch", "module"), ("compile", "[compile]"), ("keymap", "[keys]")])
def test_the_files_that_topics_show_are_toml(topic: str, table: str, capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, topic).splitlines()
    first = next(number for number, line in enumerate(lines) if line.lstrip().startswith(table) and line.startswith(" "))
    shown = tomllib.loads("\n".join(takewhile(lambda line: not line or line.startswith(" "), lines[first:])))
    assert shown
    if topic == "compile":
        assert {name: str(value) for name, value in shown["compile"].items()} == {
            "schedule": "True", "addresses": "32", "numbering": "banks", "registers": "24", "isa": "sm_121"}


def test_help_for_a_design_says_where_the_rest_is(capsys: pytest.CaptureFixture[str]) -> None:
    said = printed(capsys, "hrf")
    assert "`rfview designs hrf` lists its parameters" in said
    first = " ".join((hrf.end_cycle.__doc__ or "").split()[:8])
    assert f"  end_cycle      {first}" in said
    assert "on_join" not in said and "sram has no hooks of its own" in printed(capsys, "sram")
    assert "rfview designs" not in printed(capsys, "wb_drain")


@pytest.mark.parametrize(("word", "said"), [
    ("inst.last_use", "bit k: row slot k is the last read of its register"), ("sm.warp[w].pc", "the next instruction to issue"),
    ("sm.collector_regs", "sm.collector_regs\n"), ("sm.config.num_banks", "sm.num_banks"), ("Trail", "def add(self, sentence"),
    ("Refusal", "kind: str"), ("rf.buffer", "(state of hrf)"), ("goto", "goto|g|run N|+N"), ("tb", "tbreak|tb (as break)"),
])
def test_fields_arguments_and_debugger_commands_have_help(word: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert said in printed(capsys, word)


def test_a_glyph_of_the_screens_is_a_word_of_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    said = printed(capsys, "p")
    assert "print|p EXPR" in said and "pipe_throttle   (warp state)" in said
    assert printed(capsys, "▼").startswith("stt_write")
    assert printed(capsys, "scoreboard").startswith("scoreboard   (word)")


@pytest.mark.parametrize("word", ["occupancy", "spills", "bank conflicts", "contention", "divergence",
                                  "latency", "floors", "resident", "SFU", "LD/ST", "coalescing"])
def test_what_the_sentences_of_a_run_say_is_a_word_of_the_help(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "   (word)" in printed(capsys, word).splitlines()[0]


@pytest.mark.parametrize(("word", "near"), [
    ("inst.lastuse", "inst.last_use"), ("sm.warp.pcc", "sm.warp.pc"), ("event.rf_raeds", "event.rf_reads"),
    ("rf.bufer", "rf.buffer"), ("tbraek", "tbreak"),
])
def test_a_misspelt_field_event_or_command_gets_a_hint(word: str, near: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["help", word]) == 2
    assert f"did you mean {near!r}?" in capsys.readouterr().err


def test_a_design_lists_its_state_and_its_events(capsys: pytest.CaptureFixture[str]) -> None:
    said = printed(capsys, "rfc")
    assert "state, rf.NAME: holding, " in said and "events, event.NAME: rfc_lookups, " in said


def test_every_scheduler_and_export_is_named_where_it_is_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("run", "compare"):
        assert ", ".join(SCHEDULERS) in " ".join(printed(capsys, command).split()), f"--scheduler of {command} names all"
    assert list(SUFFIX) == list(FORMATS), "rfview/commands/export.py has a suffix for each of sessions/export's formats"


def test_a_topic_is_found_without_its_plural(capsys: pytest.CaptureFixture[str]) -> None:
    for word in ("scheduler", "stall", "key", "command", "expression", "hook", "rule", "tour"):
        assert printed(capsys, word) == printed(capsys, f"{word}s")


def test_every_command_and_key_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(capsys, "commands")
    assert all(name in out for name in VERBS)
    keys = printed(capsys, "keys")
    assert all(action.sentence in keys for action in ACTIONS)


def test_environment_names_themes_and_no_color(capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(capsys, "environment")
    assert "RFVIEW_THEME" in out and "NO_COLOR" in out and "keys.toml" in out and all(theme in out for theme in THEMES)


def test_a_theme_that_is_none_is_bad_input(monkeypatch: pytest.MonkeyPatch) -> None:
    from rfview.engine.errors import InputError
    from rfview.palette import choose_theme

    with pytest.raises(InputError, match="RFVIEW_THEME: theme 'blue' is not one of dark, light, dark256, ansi16, mono"):
        choose_theme(None, {"RFVIEW_THEME": "blue"})


def test_states_come_with_glyph_sentence_and_source(capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(capsys, "stalls")
    assert "↓ (D)" in out and "No write buffer is free" in out and "HRF section 4.3" in out
    assert "g (g)  lg_throttle" in out and "math_pipe_throttle" in out      # of the sub-core


@pytest.mark.parametrize("topic", list(help_command.TOPICS))
def test_topics_fit_a_wide_terminal(topic: str, capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(capsys, topic)
    assert out.strip() and max(map(len, out.splitlines())) <= 190


def test_a_search_goes_through_all_topics(capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(capsys, "/breakpoint")
    assert "commands" in out and "keys" in out


def test_the_help_screen_finds_terms_with_their_source() -> None:
    async def test(app: Driven) -> None:
        await app.press("?", "/", *"wb_dra")
        assert "WHAT IS" in app.window_text() and "HRF section 4.3" in app.window_text()
        await app.press("escape", "/", *"qqqq", "enter")
        assert "nothing contains" in app.window_text()
        await app.press("escape", "escape")
        assert app.app.screen is app.app.main

    drive(test)


@pytest.mark.parametrize("size", [(80, 24), (100, 30), (120, 40), (160, 60)])
def test_every_row_of_the_help_can_be_reached(size: tuple[int, int]) -> None:
    async def test(app: Driven) -> None:
        await app.press("?")
        seen = set()
        for _ in range(30):
            seen |= set(app.window_text().split())
            await app.press("pagedown")
        text = " ".join(seen)
        assert all(word in text for word in ("MOVE", "STOP", "ASK", "SCREEN", "drain", "Esc"))
        assert any("explain" in word or word == "K" for word in seen)

    drive(test, size=size)


def test_every_hint_of_the_footer_does_its_action_when_clicked() -> None:
    from rfview.render.footer import hints_that_fit

    async def test(app: Driven) -> None:
        footer = app.app.main.views["footer"]
        done: list[str] = []
        app.app.main.act = lambda pressed: done.append(pressed.action)
        hints = hints_that_fit(footer.hints, app.app.size.width)
        for start, end, _, _, name in hints:
            await app.pilot.click(footer, offset=(end - 1, 0))
            await app.drain()
            assert done[-1] == name, (start, name)
        assert len(done) == len(hints) > 6
        start, _, keys, _, _ = next(hint for hint in hints if hint[4] == "step")
        await app.pilot.click(footer, offset=(start + keys.index(" ") + 1, 0))
        await app.drain()
        assert done[-1] == "back"

    drive(test)


@pytest.mark.parametrize("keys", ["?", "K", "E", "M", "V", "v", "#", "'"])
def test_windows_open_in_a_terminal_of_any_size(keys: str) -> None:
    """Found by fuzzing keys: the help was wrapped to a negative width in a terminal of one column."""
    async def test(app: Driven) -> None:
        await app.press(keys)
        assert app.app.return_code is None and app.app.is_running

    drive(test, size=(1, 1))


def test_the_manual_page_is_the_one_that_the_tables_give() -> None:
    root = Path(__file__).parents[2]
    made = manual.page()
    assert (root / "rfview" / "rfview.1").read_text(encoding="utf-8") == made, "python -m rfview.manual > rfview/rfview.1"
    assert all(rf"\fB{name}\fR" in made for name in cli.COMMANDS) and "TERM" in made and "barrier deadlock" in made
