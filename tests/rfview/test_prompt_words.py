"""Completion at the prompt: commands first, then a line's last word; Tab cycles through all candidates."""

from __future__ import annotations

from pathlib import Path

from msgspec import structs

from rfview.engine.info import Variable
from rfview.prompt_words import Words, choices
from rfview.sessions import open_session
from tests.rfview.fakes import make_info
from tests.rfview.pilots import Driven, drive

SHIFTING = Path(__file__).parents[2] / "rfview" / "learn" / "recorded" / "shift.rfs"


def known(app: Driven) -> Words:
    words: Words = app.app.main.prompt.words
    return words


def test_a_pasted_line_of_any_length_is_not_searched_for_a_word_to_complete() -> None:
    words = Words(["stats"])
    assert words.completions("print " + "x" * 1_000_000) == [] and words.completions("st") == ["stats"]


def test_the_last_word_is_a_parameter_a_field_or_a_state() -> None:
    async def test(app: Driven) -> None:
        await app.settle()
        words = known(app)
        for line, wanted in (("rerun b set sm.num_b", "rerun b set sm.num_banks="),
                             ("fork b set sm.num_b", "fork b set sm.num_b"),      # it determines the machine's layout
                             ("print w3.sta", "print w3.state"),
                             ("until bank.que", "until bank.que"), ("until b2.que", "until b2.queue"),
                             ("print stall.iss", "print stall.issued"),
                             ("until w0.state == long_s", "until w0.state == long_scoreboard"),
                             ("until any(w.sta", "until any(w.state")):
            found = words.completions(line)
            assert (wanted in found) == (wanted != line), (line, found[:5])
        assert words.completions("") == [] and words.completions("nonsens") == []
        registers = app.session.info.registers_per_thread
        assert f"print w3.R{registers - 1}" in words.completions("print w3.R")
        assert all(line.startswith("print w3.") for line in words.completions("print w3."))
        preshift, = words.completions("swap racetrack[pres")
        assert preshift.startswith("swap racetrack[preshift=")
        assert all("[ports=4,p" in line for line in words.completions("swap racetrack[ports=4,p"))
        assert words.completions("swap nothing[p") == []
        assert words.completions("fork b set rac") and all("set racetrack." in line for line in words.completions("fork b set rac"))

    drive(test, opener=lambda report: open_session(SHIFTING))


def test_what_f_u_and_capital_e_offer_goes_on_with_tab() -> None:
    async def test(app: Driven) -> None:
        await app.settle()
        for key, begin, some in (("f", "fork b1 set ", "="), ("E", "trace w0.state at ", "== long_scoreboard"),
                                 ("u", "heat w0.R0", "heat w0.R1")):
            await app.press(key)
            prompt = app.app.main.prompt
            assert prompt.is_open and prompt.value == begin
            assert any(some in line for line in known(app).completions(begin)), key
            await app.press("tab")
            assert prompt.value != begin and prompt.value.startswith(begin[:-1])
            await app.press("escape")

    drive(test, opener=lambda report: open_session(SHIFTING))


def test_another_kernel_takes_its_words_along() -> None:
    words = Words(["heat", "step"])
    for name in ("left", "right"):
        buffer = Variable(name=name, address=0, word=0, bytes=32, dtype="f4", shape=[8])
        words.learn([f"heat {name}[0..7]"], structs.replace(make_info(), buffers=[buffer]))
    assert words.completions("heat ") == ["heat right[0..7]"]
    assert words.completions("find lef") == [] and words.completions("find rig") == ["find right"]


def test_a_command_offers_what_it_may_begin_with() -> None:
    words = Words(choices())
    assert {"break cycle ", "break pc ", "break stall ", "break unbalanced", "break if "} <= set(words.completions("break "))
    assert "info stalls" in words.completions("info st") and words.completions("break xyz") == []


def test_tab_goes_through_all_completions_and_round() -> None:
    async def test(app: Driven) -> None:
        prompt = app.app.main.prompt
        wanted = known(app).completions("fo")
        assert {"follow", "fork"} <= set(wanted)
        await app.press(":", *"fo")
        seen = []
        for _ in wanted:
            await app.press("tab")
            seen.append(prompt.value)
        assert seen == wanted
        await app.press("tab")
        assert prompt.value == wanted[0]
        await app.press("backspace", "tab")
        assert prompt.value.startswith(wanted[0][:-1]) and prompt.is_open
        await app.press("ctrl+u", *"goto 7", "tab", "7", "enter")
        assert app.cycle == 77

    drive(test)


def test_the_window_of_designs_hands_parameters_to_the_prompt() -> None:
    async def test(app: Driven) -> None:
        await app.press("v", "j", "p")
        prompt = app.app.main.prompt
        assert prompt.is_open and prompt.value.startswith("swap ") and prompt.value.endswith("[")
        await app.press("tab")
        assert "=" in prompt.value

    drive(test)


def test_letters_narrow_the_window_of_kernels() -> None:
    async def test(app: Driven) -> None:
        await app.press("O", "/", *"image", "enter")
        window = app.app.screen
        assert 0 < len(window.rows) < 20 and all("image" in " ".join(row) for row in window.rows)
        assert "/image" in app.window_text()
        await app.press("/", *"zzz", "enter", "enter")
        assert window.rows == [] and app.app.screen is window
        await app.press("/", "escape")
        assert len(window.rows) == len(window.all)

    drive(test)
