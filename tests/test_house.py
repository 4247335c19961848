"""Rules of the code base: imports between packages, README, docstrings, no private paths; test_rooms has more."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
PACKAGES = ("engine", "sessions", "rfview")
# What views and the command line may import from the engine without loading numba: names, tables and plain data.
ENGINE_FOR_VIEWS = {f"rfview.engine.{name}" for name in (
    "batch", "check.findings", "check.rules", "check.undefined_map",
    "compilation", "compile.bits", "config", "defaults", "designs", "errors", "escapes", "events", "files", "hooks", "info", "isa", "kernels", "launch.spec", "launch", "sass.listing",
    "machine.registers", "machine.schedulers", "papers", "plugin", "program", "progress", "snapshot", "stalls", "state", "tools", "wording")}
# Commands that run or compile a machine themselves; they import modules that load numba inside functions.
RUNS_THE_MACHINE = {f"rfview/commands/{name}.py": {"rfview.engine.simulator"}
                    for name in ("run", "record", "map", "compare_recordings")}
RUNS_THE_MACHINE["rfview/commands/check.py"] = {"rfview.engine.check"}
for _name in ("run", "record"):
    RUNS_THE_MACHINE[f"rfview/commands/{_name}.py"] |= {"rfview.engine.check"}
RUNS_THE_MACHINE["rfview/learn/make.py"] = {"rfview.engine.simulator"}
RUNS_THE_MACHINE["rfview/commands/warm.py"] = {"rfview.engine.compile.warm"}
RUNS_THE_MACHINE["rfview/capture/fatbin.py"] = {"rfview.engine.sass"}
RUNS_THE_MACHINE["rfview/capture/modules.py"] = {"rfview.engine.modules", "rfview.engine.ptx", "rfview.engine.simulator"}
RUNS_THE_MACHINE["rfview/capture/device.py"] = {"rfview.engine.simulator", "rfview.engine.functional", "rfview.engine.fault_codes"}
RUNS_THE_MACHINE["rfview/capture/estimate.py"] = {"rfview.engine.simulator"}
RUNS_THE_MACHINE["rfview/capture/block.py"] = {"rfview.engine.simulator"}
RUNS_THE_MACHINE["rfview/capture/standin.py"] = {"rfview.engine.compile.cache"}
RUNS_THE_MACHINE["rfview/capture/textures.py"] = {"rfview.engine.textures"}
RUNS_THE_MACHINE["rfview/launching/session.py"] = {"rfview.engine.simulator"}
RUNS_THE_MACHINE["rfview/commands/run.py"] |= {"rfview.engine.functional"}
RUNS_THE_MACHINE["rfview/launching/sources.py"] = {"rfview.engine.ptx", "rfview.engine.modules"}
RUNS_THE_MACHINE["rfview/commands/new_launch.py"] = {"rfview.engine.ptx"}     # reads and places PTX, but does not run it
TOP_LEVEL = {
    ".ci", ".github", ".gitignore", "ARCHITECTURE.md", "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE",
    "README.md", "engine", "pyproject.toml", "rfview", "screenshots", "sessions", "setup.py", "tests",
}
BYTES_ALONE = REPOSITORY / "rfview" / "dap" / "wire.py"
MACHINE_PATH = re.compile(rb"/(?:home|Users|root|work|tmp/[a-z]+-[a-z0-9]+)/[A-Za-z0-9_.-]+")


def tracked(*options: str) -> list[Path]:
    """Return the files that git tracks, or all files if there is no git; options: of git ls-files."""
    listed = subprocess.run(["git", "ls-files", "-z", *options], cwd=REPOSITORY, capture_output=True, check=False)
    if listed.returncode == 0 and listed.stdout:
        paths = [REPOSITORY / name for name in listed.stdout.decode().split("\0") if name]
    else:
        paths = [path for name in sorted(TOP_LEVEL) for path in [REPOSITORY / name, *(REPOSITORY / name).rglob("*")]]
    return [path for path in paths if path.is_file() and "__pycache__" not in path.parts]


def sources(*packages: str) -> list[Path]:
    """Return the Python files of packages, including new ones that git does not track yet."""
    return [path for path in tracked("--cached", "--others", "--exclude-standard")
            if path.suffix == ".py" and path.relative_to(REPOSITORY).parts[0] in (packages or (*PACKAGES, "tests"))]


@cache
def tree_of(path: Path) -> ast.Module:
    """Return a file's syntax tree; callers must not change it."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def nodes_of(path: Path) -> list[ast.AST]:
    """Return all nodes of a file's syntax tree."""
    return list(ast.walk(tree_of(path)))


@cache
def imports(path: Path) -> list[tuple[str, bool]]:
    """Return (module, only for types) for every import in a file, at any level."""
    for_types = {id(child) for node in nodes_of(path)
                 if isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")
                 for statement in node.body for child in ast.walk(statement)}
    found = []
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            found += [(alias.name, id(node) in for_types) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            for alias in node.names:
                parts = f"{node.module}.{alias.name}".split(".")
                inside = (REPOSITORY / Path(*parts[parts[0] == "rfview" and parts[1] in PACKAGES :])).with_suffix(".py")
                is_module = inside.is_file() or inside.with_suffix("").is_dir()
                found.append((f"{node.module}.{alias.name}" if is_module else str(node.module), id(node) in for_types))
    return found


def package_of(module: str) -> str:
    """Return the package that a dotted name belongs to, "engine" for rfview.engine.isa; for others, its first part."""
    first, *rest = module.split(".")
    return rest[0] if first == "rfview" and rest and rest[0] in PACKAGES else first


def name_of(path: Path) -> str:
    """Return a file's path inside the repository."""
    return path.relative_to(REPOSITORY).as_posix()


def test_the_engine_knows_neither_sessions_nor_views() -> None:
    wrong = [f"{name_of(path)}: {module}" for path in sources("engine") for module, _ in imports(path)
             if package_of(module) in ("sessions", "rfview", "textual", "rich", "msgpack", "zstandard", "tests")]
    assert not wrong


def test_sessions_know_no_views() -> None:
    wrong = [f"{name_of(path)}: {module}" for path in sources("sessions") for module, _ in imports(path)
             if package_of(module) in ("rfview", "textual", "rich", "tests")]
    assert not wrong


def test_views_know_only_names_and_plain_data_of_the_engine() -> None:
    wrong = []
    for path in sources("rfview"):
        allowed = ENGINE_FOR_VIEWS | RUNS_THE_MACHINE.get(name_of(path), set())
        wrong += [f"{name_of(path)}: {module}" for module, for_types in imports(path)
                  if package_of(module) == "engine" and module != "rfview.engine" and not for_types
                  and not any(module == name or module.startswith(f"{name}.") for name in allowed)]
    assert not wrong, "views import neither the machine nor numba; a command that runs the machine is in RUNS_THE_MACHINE"


def test_what_is_drawn_knows_no_widgets() -> None:
    wrong = [f"{name_of(path)}: {module}" for path in sources("rfview") if "render" in path.parts
             for module, _ in imports(path)
             if module.startswith(("rfview.widgets", "rfview.screens", "rfview.app", "textual.app"))]
    assert not wrong


def test_designs_know_neither_stages_nor_each_other() -> None:
    from rfview.engine.plugin import BUILT_IN

    forbidden = ("rfview.engine.machine.stages", "rfview.engine.simulator", "rfview.engine.machine.cycle",
                 *(f"rfview.engine.designs.{name}" for name in BUILT_IN))
    wrong = [f"{name_of(path)}: {module}" for path in sources("engine")
             if path.parent.name == "designs" and path.stem in BUILT_IN
             for module, _ in imports(path) if module.startswith(forbidden)]
    assert not wrong


def test_tests_are_imported_by_nothing_but_tests() -> None:
    wrong = [f"{name_of(path)}: {module}" for path in sources(*PACKAGES) for module, _ in imports(path)
             if package_of(module) == "tests"]
    assert not wrong


@pytest.mark.parametrize("statement", [
    "import rfview",
    "import rfview.cli",
    "import rfview.sessions",
    "import rfview.cli; rfview.cli.main(['kernels'])",
    "import rfview.cli; rfview.cli.main(['designs'])",
    "import rfview.cli; rfview.cli.main(['help', 'stalls'])",
    "import rfview.cli; rfview.cli.main(['replay', '--help'])",
])
def test_what_needs_no_machine_never_loads_numba(statement: str) -> None:
    code = f"{statement}\nimport sys\nassert 'numba' not in sys.modules and 'llvmlite' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_starting_imports_nothing_heavy() -> None:
    code = ("import sys, rfview, rfview.cli\n"
            "assert not {'numpy', 'textual', 'msgpack'} & set(sys.modules), sorted(sys.modules)")
    done = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_top_level_holds_what_the_house_plan_says() -> None:
    assert {path.relative_to(REPOSITORY).parts[0] for path in tracked()} <= TOP_LEVEL


def public_definitions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    """Yield what other files can use: module-level functions and classes, and the methods of those classes."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            yield node
            if isinstance(node, ast.ClassDef):
                yield from public_definitions(node)


def test_every_public_function_of_the_library_has_a_docstring() -> None:
    by_convention = ("on_", "action_", "watch_", "compose", "render_line", "compute_", "validate_")
    wrong = [f"{name_of(path)}: {node.name}" for path in sources("sessions", "rfview")
             for node in public_definitions(tree_of(path))
             if not ast.get_docstring(node) and not node.name.startswith(by_convention)]
    assert not wrong


def test_no_file_names_a_folder_of_someones_machine() -> None:
    wrong = [f"{name_of(path)}: {found.group().decode()}" for path in tracked() if path.suffix not in (".npy", ".rfs")
             and path.name != "test_house.py" for found in [MACHINE_PATH.search(path.read_bytes())] if found]
    assert not wrong


def test_nothing_is_left_for_later() -> None:
    words = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")
    wrong = [f"{name_of(path)}: {found.group()}" for path in tracked()
             if path.suffix in (".py", ".md", ".toml", ".cu", ".tcss", "")
             for found in [words.search(path.read_text(encoding="utf-8", errors="replace"))] if found]
    assert not wrong


def test_every_rule_that_the_sources_name_stands_in_the_list_of_rules() -> None:
    rules = set(re.findall(r"\*\*(B\d\.\d+)\*\*", (REPOSITORY / "engine" / "RULES.md").read_text(encoding="utf-8")))
    wrong = [f"{name_of(path)}: {rule}" for path in sources()
             for rule in re.findall(r"\bB\d\.\d+\b", path.read_text(encoding="utf-8")) if rule not in rules]
    assert not wrong


def blocks() -> list[str]:
    """Return the README's fenced sh blocks."""
    return re.findall(r"^```sh\n(.*?)^```", (REPOSITORY / "README.md").read_text(encoding="utf-8"), re.S | re.M)


def test_the_readme_begins_with_two_blocks_that_set_up_a_virtual_environment_and_end_in_rfview_and_the_tests() -> None:
    first, second = (block.strip() for block in blocks()[:2])
    assert "venv" in first and first.endswith("rfview") and len(first.splitlines()) == 1      # one line to copy
    assert second == ".ci/run"


def test_every_rfview_command_in_the_readme_exists() -> None:
    from rfview.cli import COMMANDS

    text = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    spoken = " ".join(re.findall(r"`(rfview [^`]+)`", text))
    used = set(re.findall(r"\brfview ([a-z]+)", "\n".join([*blocks(), spoken])))
    assert used <= set(COMMANDS)


def test_pictures_and_files_that_the_readme_links_to_exist() -> None:
    text = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    for link in re.findall(r"\]\((?!https?:)([^)#]+)\)", text):
        assert (REPOSITORY / link).exists(), link


@pytest.mark.parametrize("guide", ["README.md", "CONTRIBUTING.md", ".ci/run"])
def test_files_that_a_guide_names_exist(guide: str) -> None:
    text = (REPOSITORY / guide).read_text(encoding="utf-8")
    named = set(re.findall(rf"(?<![\w/.~])(?:\.ci|tests|screenshots|{'|'.join(PACKAGES)})/[\w./*-]*[\w/*]", text))
    examples = {name for name in named if "NAME" in name}
    modules = {name.replace(".", "/") for name in re.findall(r"python -m ((?:tests|rfview)[\w.]*)", text)}
    inside = {name.removeprefix("rfview/") if name.startswith(("rfview/engine", "rfview/sessions")) else name
              for name in modules}
    wrong = [name for name in named - examples if not list(REPOSITORY.glob(name))]
    wrong += [Path(name).parent.as_posix() for name in examples if not list(REPOSITORY.glob(Path(name).parent.as_posix()))]
    wrong += [name for name in inside if not (REPOSITORY / f"{name}.py").is_file() and not (REPOSITORY / name).is_dir()]
    assert named and not wrong


def test_the_version_is_said_once() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" in project["project"]["dynamic"]
    import rfview

    assert f"## {rfview.__version__}" in (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\nversion: {rfview.__version__}\n" in (REPOSITORY / "CITATION.cff").read_text(encoding="utf-8")


def test_every_command_explains_itself() -> None:
    from rfview.cli import COMMANDS

    for name in COMMANDS:
        assert (REPOSITORY / "rfview" / "commands" / f"{name}.py").is_file()


@pytest.mark.parametrize("name", ["bench.__main__", "check.kernels", "compile_options", "corpus.make", "full_size",
                                  "properties.__main__", "robustness.__main__", "sessions.why_programs",
                                  "why_counterfactual", "why_everywhere"])
def test_the_programs_that_no_other_test_starts_can_be_imported(name: str) -> None:
    program = importlib.import_module(f"tests.{name}")
    assert program.__doc__ and inspect.getmembers(program, inspect.isfunction), "it has a usage and something to run"


def test_numbers_get_their_nouns_from_one_function() -> None:
    by_hand = re.compile(r"""[a-z]\{['"]e?s['"] (?:\*|if [^}]*(?:!=|>) 1)""")
    wrong = [f"{name_of(path)}: {found.group()}" for path in sources(*PACKAGES)
             for found in [by_hand.search(path.read_text(encoding="utf-8"))] if found]
    assert not wrong, "use rfview.engine.wording.plural"


def test_texts_are_numbers_only_if_int_can_read_them() -> None:
    """str.isdigit is also true for digits such as superscripts, which int refuses; of bytes it is true for 0 to 9 alone."""
    assert [path for path in sources(*PACKAGES) if ".isdigit(" in path.read_text() and path != BYTES_ALONE] == []
