"""Hostile recipes: a few hundred changed ones; no file outside of one is read, and no code in one is run but PTX."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import msgpack
import pytest

from rfview.engine.errors import InputError
from rfview.sessions.codec import streams
from rfview.sessions.file import framing
from rfview.sessions.timeline import recipe, recipe_filling
from tests.robustness import recipes
from tests.robustness.__main__ import GOOD, tally


def test_changed_recipes_are_refused_or_run_as_they_are() -> None:
    outcomes, _ = tally("recipes", seed=24, first=0, count=500, minutes=None)
    assert set(outcomes) <= GOOD and {"refused", "done", "ended"} <= set(outcomes), outcomes


def test_each_kind_of_change_reaches_the_machine_or_is_refused() -> None:
    for kind in recipes.KINDS:
        made = [recipes.made(random.Random(f"{kind} {number}"), kind) for number in range(5)]
        assert len(set(made)) > 1, kind


def refused(path: Path, change: Any, match: str) -> None:
    """Check that opening a recipe with this change of its body is one error; the file contains no more than that."""
    body = recipes.copy.deepcopy(recipes.sample()[1])
    change(body)
    with open(path, "wb") as file:
        file.write(recipe.MAGIC)
        framing.write_frame(file, recipe.RECIPE, msgpack.packb({"format": 1, "body": streams.compress_map(body)}))
    with pytest.raises(InputError, match=match) as error:
        recipe_filling.live(recipe.open_recipe(path))
    assert str(error.value).startswith(f"{path}: ") and "\n" not in str(error.value)


def test_no_design_or_mapping_that_a_recipe_names_by_its_path_is_opened(tmp_path: Path) -> None:
    marker, evil = tmp_path / "marker", tmp_path / "evil.py"
    evil.write_text(f"open({str(marker)!r}, 'w')\n")
    case = tmp_path / "case.rfr"
    refused(case, lambda body: body["info"]["design_spec"].update(chain=[str(evil)]), r"info\.design_spec\.chain\[0\]: expected `str`")
    text = {"file": "evil.py", "code": "0", "text": evil.read_text()}
    refused(case, lambda body: body["info"]["design_spec"].update(chain=["evil"], files={"evil": text}),
            "needs the design file evil.py with which this was run: name it")
    mapping = {"racetrack.mapping": str(tmp_path / "map.toml")}
    refused(case, lambda body: (body["info"]["design_spec"].update(chain=["racetrack"]), body["info"]["parameters"].update(mapping)),
            r"parameters\.racetrack\.mapping: expected the content of a file, not its name")
    assert not marker.exists()


def test_memory_that_a_recipe_asks_for_is_limited_before_it_is_taken(tmp_path: Path) -> None:
    def large(body: dict[str, Any]) -> None:
        part = body["info"]["ptx"][0]
        part["text"] = part["text"].replace(".visible", ".global .b8 g[2000000000];\n.visible", 1)

    refused(tmp_path / "case.rfr", large, r"takes 2,000,[\d,]+ bytes of memory, .* at most 134,217,728 are available; --limit")
