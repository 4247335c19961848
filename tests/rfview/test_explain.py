"""Everything on the screens is explained in place, with its source; no fact is written down twice."""

from __future__ import annotations

import importlib
import pkgutil

import pytest
from msgspec import structs

from rfview.engine.info import DesignSpec
from rfview.engine.stalls import Stall
from rfview.engine import config, defaults, plugin as designs, stalls
from rfview.engine.errors import InputError
import rfview
from rfview import cli, palette
from rfview.glossary import focus as focused, sources, terms
from rfview.render.panels import FOCUSABLE, PANELS
from rfview.screens.compare.runs import RunsScreen
from rfview.screens.handlers import focus
from rfview.screens.windows.popup import Popup
from rfview.start.screen import StartScreen
from rfview.widgets.keyed import HELP, Keyed
from tests.rfview.fakes import make_info
from tests.rfview.pilots import Driven, drive


def test_every_state_has_a_source_a_colour_and_a_meaning() -> None:
    for stall in stalls.STALLS:
        assert stall.source and stall.meaning and stall.name in palette.STATES, stall.name
    for stall in designs.stalls().values():     # a design's may have its family's colour and its design's source
        assert {stall.name, stall.family} & set(palette.STATES), stall.name
    codes = [stall.code for stall in stalls.STALLS]
    assert codes == list(range(len(codes))), "engine/stalls.py: a code is an index into STALLS"


def test_no_two_states_of_the_machine_and_the_bundled_designs_share_a_code_a_name_or_a_mark() -> None:
    rows = {*stalls.STALLS, *(stall for name in designs.BUILT_IN for stall in designs.design(name).stalls)}
    for what in ("code", "name", "short", "glyph", "ascii"):
        values = sorted(getattr(stall, what) for stall in rows)
        assert len(set(values)) == len(values), f"{what}: {values}"
    own = [stall.code for stall in rows if stall not in stalls.STALLS]
    assert stalls.FIRST_DESIGN_CODE <= min(own) and max(own) < stalls.FIRST_FOREIGN_CODE


def test_every_panel_and_the_frame_around_them_is_explained_with_columns() -> None:
    for name in (*FOCUSABLE, "status"):
        assert PANELS[name].paint.__doc__.strip() and PANELS[name].source and PANELS[name].columns, name
    for name, view in sources.VIEWS.items():
        assert view.text or importlib.import_module(f"rfview.render.{view.painter}").render.__doc__.strip(), name


def screens(above: type = Keyed) -> list[type]:
    """Return the screens and windows that users see: all that paint, without the base classes."""
    below = above.__subclasses__()
    return [one for sub in below for one in screens(sub)] if below else [above]


def test_every_screen_and_window_lists_its_keys_and_explains_itself() -> None:
    for module in pkgutil.walk_packages(rfview.__path__, "rfview."):
        if ".screens" in module.name or module.name in ("rfview.start.screen", "rfview.learn.window"):
            importlib.import_module(module.name)
    for screen in screens():
        if screen.__module__.startswith("rfview"):
            assert {"help", "explain"} <= set(screen.HANDLERS), screen
    for screen in (*screens(RunsScreen), *screens(Popup), StartScreen):
        if screen.HANDLERS["explain"] is HELP["explain"]:
            assert len(terms.of_window(screen.ABOUT)) > 2, f"{screen}: rfview/glossary/sources.py says how to read it"


def test_every_parameter_number_and_energy_is_a_term_with_its_source() -> None:
    known = {(term.name, term.kind) for term in terms.all_terms()}
    for name in designs.BUILT_IN:
        design = designs.design(name)
        for entry in design.parameters:
            assert (f"{name}.{entry.name}", f"parameter of {name}") in known
        for key in design.technology or {}:
            assert (f"{name}: {key}", f"technology of {name}") in known
    for preset in defaults.preset_names():
        machine = config.load_preset(preset)
        for name in machine.numbers:
            assert machine.reads(name) == ((name, f"number of the machine, preset {preset}") in known), (preset, name)


@pytest.mark.parametrize("term", terms.all_terms(), ids=lambda term: f"{term.kind}: {term.name}")
def test_no_term_is_without_explanation_and_source(term: terms.Term) -> None:
    assert term.text.strip() and term.source.strip(), term
    assert all(len(line) <= 132 for line in term.lines()) and term.lines()[-1].strip()


def test_words_are_found_exactly_then_by_part_then_in_the_text() -> None:
    assert [term.name for term in terms.find("wb_drain")] == ["wb_drain"]
    assert {term.name for term in terms.find("write_cycles")} >= {"hrf.write_cycles", "stt.write_cycles"}
    assert any(term.name == "sm.num_banks" for term in terms.find("num_ban"))
    assert any("retention" in term.name for term in terms.find("retention"))
    assert terms.find("") == [] and terms.find("xyzzy") == []
    with pytest.raises(InputError, match="did you mean 'wb_drain'"):
        terms.text_of("wb_drian")


def test_numbers_in_force_are_told_from_those_of_the_preset() -> None:
    info = make_info()
    info.parameters["sm.num_collectors"] = 8
    found = {term.name: term for term in terms.numbers(info)}
    assert found["sm.num_collectors"].text == "8 units" and "fermi has 16" in found["sm.num_collectors"].source
    assert "changed" not in found["sm.num_banks"].source


def test_a_foreign_state_names_its_design() -> None:
    info = structs.replace(make_info(), design_source="Doe et al., 2030")
    info.stalls.append(Stall(32, "tide", "tide", "~", "~", "register_file", "The tide is out."))
    tide = list(terms.states(info))[-1]
    assert tide.name == "tide" and "The tide is out." in tide.text and "Doe et al., 2030" in tide.source


def explained(panel: str, size: tuple[int, int] = (120, 40)) -> str:
    """Press K in a panel, scroll and leave its window; return the window's whole text."""
    found: list[str] = []

    async def test(app: Driven) -> None:
        focus.give_keys(app.app.main, panel)
        await app.press("K")
        whole = "\n".join(app.app.screen.text)
        assert max(map(len, app.app.screen.text)) <= size[0] - 4
        found.append(whole)
        shown = app.window_text()
        await app.press("j")
        assert app.window_text() != shown or len(app.app.screen.text) <= size[1] - 5
        await app.press("escape")
        assert app.app.screen is app.app.main

    drive(test, size=size)
    return found[0]


@pytest.mark.parametrize("panel,wanted", [
    ("warps", ["WARPS", "waits for", "warp state"]),
    ("lens", ["register-file design", "energy of sram", "HRF Table 1"]),
    ("collectors", ["operand collector", "HC-RF section IV"]),
    ("why", ["warp state"]),
    ("code", ["instruction, PTX line", "CODE"]),
    ("stalls", ["issued", "wb_drain", "HRF section 4.3"]),
    ("overview", ["OVERVIEW", "issue rate"]),
    ("registers", ["REGISTERS", "32 threads"]),
])
def test_k_explains_what_has_the_focus(panel: str, wanted: list[str]) -> None:
    text = explained(panel)
    assert not [word for word in [*wanted, "source: "] if word not in text]


def test_k_explains_in_a_small_terminal() -> None:
    text = explained("warps", (80, 24))
    assert "WARPS" in text and "source: " in text


@pytest.mark.parametrize(("word", "said"), [
    ("row_waking", "◔ (k)  The row wakes."), ("wake_cycles", "drowsy.wake_cycles   (parameter of the run)"),
    ("wakes", "event.wakes   (event of the run's design)"), ("wb_drain", "HRF section 4.3"),
])
def test_words_of_a_recorded_design_that_is_not_here_are_explained(word: str, said: str) -> None:
    stall = Stall(32, "row_waking", "wake", "◔", "k", "register_file", "The row wakes.")
    info = structs.replace(make_info("drowsy"), stalls=[stall], parameters={"drowsy.wake_cycles": 1}, design_events=["wakes"])
    assert said in "\n".join(terms.text_of(word, info=info))


def test_the_prompt_explains_a_term() -> None:
    async def test(app: Driven) -> None:
        await app.press(":")
        await app.type("explain rfc_flush")
        assert "RFC section 3.3" in app.window_text()
        await app.press("escape", ":")
        await app.type("help inst.last_use")
        assert "the last read of its register" in app.window_text()
        await app.press("escape", ":")
        await app.type("explain xyzzy")
        assert "nothing explains it" in app.scene.message and app.scene.message_kind == "error"

    drive(test)


@pytest.mark.parametrize("words,wanted", [
    (["wb_drain"], "HRF section 4.3"), (["hrf.write_cycles"], "HRF Table 1"), (["sm.num_banks"], "HC-RF Table III"),
    (["waits", "for"], "column of WARPS"), (["retention"], "512 cycles"), (["two_level"], "RFC section 3.2"),
    (["/reverse"], "commands"), (["collectors"], "operand"),
])
def test_the_command_line_explains_terms(words: list[str], wanted: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["help", *words]) == 0
    assert wanted in capsys.readouterr().out


def test_the_lens_is_explained_as_this_design_shows_it() -> None:
    from rfview.render.scene import Scene

    unknown = structs.replace(make_info("hrf"), design="nowhere", design_spec=DesignSpec(chain=["nowhere"], values={}, locates=False))
    elsewhere = "\n".join(focused.at_focus(Scene(info=unknown, panel="lens")))
    assert "nowhere   (register-file design)" in elsewhere and "--save-designs DIR" in elsewhere
    text = "\n".join(focused.at_focus(Scene(info=make_info("hrf"), panel="lens")))
    assert "two buffers" in text and "A fills   w12" in text and "16 banks × 64 rows" not in text


@pytest.mark.parametrize("name", ["first", "drain", "dead", "shift", "refresh"])
def test_what_is_in_focus_is_told_in_figures_of_the_session(name: str) -> None:
    """K on a warp, a bank, an instruction, a register and the states, against the session's own values."""
    from rfview.learn.tours import TOURS
    from rfview.sessions.machine import Machine
    from rfview.render.scene import Scene
    from rfview.sessions import open_session

    with open_session(TOURS[name].recording) as session:
        session.goto("40%")
        snapshot = session.snapshot()
        warp = next(w for w in range(len(snapshot.sm["warp"])) if int(snapshot.sm["resident"]) >> w & 1)
        scene = Scene(now=Machine.of(snapshot), info=session.info, warp=warp, bank=1, reg=1, lane=3)
        told = {panel: dict(PANELS[panel].facts(scene)) for panel in FOCUSABLE}
        assert told["warps"][f"w{warp}"] == f"at cycle {session.cycle:,}"
        record = snapshot.sm["warp"][warp]
        assert f"since {int(record['state_since_cycle']):,}" in told["warps"]["state"]
        assert told["warps"]["issued"].startswith(f"{int(record['num_issued']):,} instruction")
        program = session.info.program
        assert told["warps"]["next"].startswith(program[int(record["pc"])].text)
        assert told["code"][f"pc {int(record['pc'])}"].endswith(f"line {program[int(record['pc'])].line}")
        assert f"0x{int(session.value(f'w{warp}.R1[3]')):08x}" in told["registers"]["lane 3"]
        counts = {text.split(" ", 1)[1]: int(figure) for text, figure in told["stalls"].items() if text != "warps now"}
        assert sum(counts.values()) == session.info.num_warps
        assert all(int(session.value(f"stall.{state}")) == count for state, count in counts.items())
        assert told["lens"]["now"].split()[0] in ("idle", "reads", "writes", "is") and told["lens"]["holds"]
        for field in (one for one in told["lens"] if one.startswith("rf.")):
            assert told["lens"][field].split()[0] == str(int(snapshot.rf[field[3:]][1].ravel()[0]))
        assert told["overview"] == {}


def test_the_window_stands_beside_what_it_explains_and_goes_with_time() -> None:
    async def test(app: Driven) -> None:
        await app.press("K")
        window = app.app.screen
        assert window.styles.align_horizontal == "right" and f"at cycle {app.cycle:,}" in app.window_text()
        assert "  0 ↓ rcp" not in app.window_text(), "the panel's sample is not shown where the panel is"
        await app.press("s")
        assert f"at cycle {app.cycle:,}" in app.window_text()
        await app.press("escape", "tab")
        assert app.scene.panel == "lens"
        await app.press("K")
        assert app.app.screen.styles.align_horizontal == "left" and "bank 0" in app.window_text()

    drive(test, size=(120, 40))
