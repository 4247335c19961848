"""The rooms of the code base: every file and folder states its duty, imports have no cycles, functions stay short."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.test_house import PACKAGES, REPOSITORY, imports, name_of, nodes_of, package_of, sources, tree_of

LONGEST = 50     # lines of a function, its docstring included
# The longer ones; a new one must be split, and one that has become short must be removed from this list.
LONG = {
    "engine/describe/__init__.py: describe", "engine/tools/synthetic.py: ptx",
    "engine/values/arithmetic.py: integer",
    "engine/designs/hcrf.py: _transfer", "engine/designs/racetrack.py: _tape",
}
OLD_NAMES = ("engine", "sessions")     # of the folders, which are at the top level only in a checkout


def module_name(path: Path) -> str:
    """Return the dotted name under which a file of the packages is imported."""
    parts = list(path.relative_to(REPOSITORY).with_suffix("").parts)
    parts = parts if parts[0] == "rfview" else ["rfview", *parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def test_the_arrows_between_packages_see_imports_by_their_one_name() -> None:
    names = ("rfview", "rfview.cli", "rfview.engine", "rfview.engine.isa", "rfview.sessions.why", "textual.app")
    assert [package_of(name) for name in names] == ["rfview", "rfview", "engine", "engine", "sessions", "textual"]
    known = {name: {package_of(module) for path in sources(name) for module, _ in imports(path)} for name in PACKAGES}
    assert "engine" in known["sessions"] and {"engine", "sessions"} <= known["rfview"]


def text_after_switch(node: ast.AST, switch: str) -> Iterator[str]:
    """Yield the constant strings after a switch such as "-m" in a list or tuple of a command's words."""
    if isinstance(node, ast.List | ast.Tuple):
        words = [word.value if isinstance(word, ast.Constant) else None for word in node.elts]
        yield from (str(after) for before, after in zip(words, words[1:]) if before == switch and after)


def old_names(path: Path) -> Iterator[str]:
    """Yield what a file imports by a folder's name alone: in statements, in code in strings, and as modules to run."""
    in_text = re.compile(rf"(?:^|[;\n])\s*(?:from|import)\s+(?:{'|'.join(OLD_NAMES)})(?:\.|\s+import\b|\s*$|\s*[;\n,])")
    a_module = re.compile(rf"(?:{'|'.join(OLD_NAMES)})(?:\.[a-z_0-9]+)+")
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] in OLD_NAMES)
        elif isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] in OLD_NAMES:
            yield str(node.module)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from (found.group().strip() for found in in_text.finditer(node.value))
            whole = a_module.fullmatch(node.value)
            inside = REPOSITORY.joinpath(*node.value.split(".")[:2]) if whole else None
            if inside and (inside.is_dir() or inside.with_suffix(".py").is_file()):
                yield node.value
        yield from (after for after in text_after_switch(node, "-m") if after.split(".")[0] in OLD_NAMES)


@pytest.mark.parametrize(("line", "found"), [
    ("import engine", True), ("from sessions.why import x", True), ("import engine.isa as isa", True),
    ("run('-c', 'import sys; import engine.isa')", True), ("run(['-m', 'engine.warm'])", True),
    ("code = 'x\\nfrom engine import isa\\n'", True), ("patch('sessions.targets.open_session')", True),
    ("from rfview.engine import isa", False), ("text = 'import engine errors'", False),
    ("run(['-m', 'rfview.engine.compile.warm'])", False), ("name = 'engine.toml'", False),
])
def test_imports_by_a_folders_name_are_found(tmp_path: Path, line: str, found: bool) -> None:
    (tmp_path / "example.py").write_text(line)
    assert bool(list(old_names(tmp_path / "example.py"))) == found


def test_nobody_imports_by_a_folders_name() -> None:
    exempt = {"tests/test_rooms.py", "tests/engine/test_design_files.py"}     # they test what such an import leads to
    wrong = [f"{name_of(path)}: {name}" for path in sources(*PACKAGES, "tests", "screenshots")
             if name_of(path) not in exempt for name in old_names(path)]
    assert not wrong


def test_every_file_says_its_duty_in_its_first_line() -> None:
    wrong = []
    for path in sources():
        first = (ast.get_docstring(tree_of(path)) or "").partition("\n")[0]
        if len(first) < 20 or not first.endswith((".", ":")):
            wrong.append(f"{name_of(path)}: {first or 'no docstring'}")
    assert not wrong, f"the first line of a file says its duty, in 20 characters or more, and ends in a full stop: {wrong}"


def listed_in_tables() -> dict[str, set[str]]:
    """Return folder -> names of modules that are listed in a table, so that adding one takes a file and a line."""
    from rfview.cli import COMMANDS
    from rfview.engine.plugin import BUILT_IN
    from rfview.learn.tours import TOURS

    return {"engine/designs": set(BUILT_IN), "rfview/commands": set(COMMANDS), "rfview/learn/tours": set(TOURS)}


def unnamed(folder: Path) -> list[str]:
    """Return the modules and rooms of a folder that its `__init__` does not name."""
    document = ast.get_docstring(tree_of(folder / "__init__.py")) or ""
    inside = {path.stem for path in folder.glob("*.py")} | {path.parent.name for path in folder.glob("*/__init__.py")}
    by_table = listed_in_tables().get(name_of(folder), set())
    return sorted(name for name in inside - by_table
                  if not name.startswith("__") and not re.search(rf"\b{name}\b", document))


def test_every_folder_names_its_modules_and_rooms() -> None:
    missing = {name_of(path.parent): unnamed(path.parent) for path in sources(*PACKAGES) if path.name == "__init__.py"}
    tables = dict.fromkeys(listed_in_tables(), " or the table that CONTRIBUTING.md names")
    assert not [f"not named in {folder}/__init__.py{tables.get(folder, '')}: {', '.join(names)}"
                for folder, names in missing.items() if names]


def test_functions_stay_short() -> None:
    found = {f"{name_of(path)}: {node.name}" for path in sources(*PACKAGES) for node in nodes_of(path)
             if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
             and (node.end_lineno or 0) - node.lineno + 1 > LONGEST}
    wrong = [f"{name} is longer than {LONGEST} lines" for name in sorted(found - LONG)]
    wrong += [f"{name} is short or gone: take it off LONG" for name in sorted(LONG - found)]
    assert not wrong


def imported_at_once(node: ast.AST, in_functions: bool = False) -> Iterator[str]:
    """Yield the modules imported when a file is imported, or those in functions as well; imports for types are left out."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            yield from (f"{child.module}.{alias.name}" for alias in child.names)
        elif isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            for other in child.orelse:
                yield from imported_at_once(other, in_functions)
        elif in_functions or not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from imported_at_once(child, in_functions)


def arrows(in_functions: bool = False) -> dict[str, set[str]]:
    """Return module -> modules of the packages that it imports; a name imported from a module counts as the module."""
    files = {module_name(path): path for path in sources(*PACKAGES)}
    found: dict[str, set[str]] = {}
    for module, path in files.items():
        targets = (name if name in files else name.rpartition(".")[0] for name in imported_at_once(tree_of(path), in_functions))
        found[module] = {name for name in targets if name in files and name != module}
    return found


def circles(graph: dict[str, set[str]]) -> list[set[str]]:
    """Return the sets of modules that all import one another, directly or indirectly (Kosaraju's two traversals)."""
    order: list[str] = []
    back: dict[str, set[str]] = {name: set() for name in graph}
    for name, others in graph.items():
        for other in others:
            back[other].add(name)

    def walk(start: str, edges: dict[str, set[str]], seen: set[str]) -> Iterator[str]:
        path = [(start, iter(edges[start]))]
        seen.add(start)
        while path:
            name, others = path[-1]
            onward = next((other for other in others if other not in seen), None)
            if onward is None:
                path.pop()
                yield name
            else:
                seen.add(onward)
                path.append((onward, iter(edges[onward])))

    seen: set[str] = set()
    for name in graph:
        if name not in seen:
            order += walk(name, graph, seen)
    seen = set()
    groups = [set(walk(name, back, seen)) for name in reversed(order) if name not in seen]
    return [group for group in groups if len(group) > 1]


def test_circles_are_found() -> None:
    graph = {"a": {"b"}, "b": {"c", "d"}, "c": {"a"}, "d": {"e"}, "e": set(), "f": {"g"}, "g": {"f", "a"}}
    assert sorted(map(sorted, circles(graph))) == [["a", "b", "c"], ["f", "g"]]


def test_no_import_goes_in_a_circle() -> None:
    graph = arrows()
    assert len(graph) > 300 and graph["rfview.sessions.targets"]
    assert not circles(graph)


def test_no_import_in_a_function_hides_a_circle() -> None:
    found = [" ".join(sorted(group)) for group in circles(arrows(in_functions=True))]
    assert not found


def test_the_compile_hash_covers_all_that_the_machine_and_the_designs_import() -> None:
    from rfview.engine.compile import jit
    from rfview.engine.plugin import BUILT_IN

    graph = arrows()
    hashed = {module_name(path) for path in jit.engine_files()}
    designs = {f"rfview.engine.designs.{name}" for name in BUILT_IN}     # each is hashed together with its own machine
    to_see, seen = ["rfview.engine.machine.cycle", "rfview.engine.machine.journal.recorder", *designs], set()
    while to_see:
        module = to_see.pop()
        if module not in seen and not module.startswith("rfview.engine.plugin"):     # runs on the host only
            seen.add(module)
            to_see += graph[module]
    assert len(seen) > 40
    # the host raises errors, reads files and a design's parameters, and defers signals
    assert seen - hashed - designs <= {f"rfview.engine.{name}" for name in ("errors", "files", "interrupts", "tools.mapping")}
