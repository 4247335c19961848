"""The engine's modules and rooms import each other without circles, also inside functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

ENGINE = Path(__file__).parents[2] / "engine"
# imports inside functions, and why a circle there does no harm
ALLOWED = {("tools.profiling", "designs.racetrack"): "what a racetrack leaves for its own tool, read by names of its file"}
# rooms are the folders; a module outside them is a room by itself, except these
ROOM = {"hooks": "machine",                     # the interface of the machine's register files, and its defaults
        "plugin.check_design": "check_design"}  # a command: it runs the machine on a design
INNER = ["machine", "schedulers"]    # as the front end's, rooms of their own: the configuration names schedulers


def modules() -> dict[str, Path]:
    """Return the engine's modules by name, without `rfview.engine.`; those of kernels are left out."""
    found = {}
    for file in sorted(ENGINE.rglob("*.py")):
        parts = file.relative_to(ENGINE).with_suffix("").parts
        if parts[0] != "kernels":
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def imports(nodes: Iterator[ast.AST] | list[ast.stmt], known: Mapping[str, Path], in_functions: bool) -> Iterator[tuple[str, int]]:
    """Yield (module, line) of each import of an engine module, except those for types only."""
    for node in nodes:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rfview.engine"):
            base = (node.module or "").removeprefix("rfview.engine").removeprefix(".")
            for each in node.names:
                name = f"{base}.{each.name}".removeprefix(".")
                yield (name if name in known else base), node.lineno
        elif isinstance(node, ast.Import):
            yield from ((each.name.removeprefix("rfview.engine."), node.lineno) for each in node.names
                        if each.name.startswith("rfview.engine."))
        elif in_functions or not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from imports(ast.iter_child_nodes(node), known, in_functions)


def arrows(*, in_functions: bool) -> dict[str, set[str]]:
    """Return the set of modules that each module imports."""
    known = modules()
    return {name: {target for target, _ in imports(ast.parse(file.read_text()).body, known, in_functions)
                   if target in known and target != name and (name, target) not in ALLOWED}
            for name, file in known.items()}


def circle(graph: Mapping[str, set[str]]) -> list[str]:
    """Return the nodes of a circle; an empty list if there is none."""
    done: set[str] = set()

    def follow(node: str, path: list[str]) -> list[str]:
        if node in path:
            return path[path.index(node):] + [node]
        if node in done:
            return []
        for target in sorted(graph.get(node, ())):
            if found := follow(target, [*path, node]):
                return found
        done.add(node)
        return []

    return next((found for node in sorted(graph) if (found := follow(node, []))), [])


def room_of(name: str) -> str:
    """Return a module's folder, for the front end and INNER the inner one; for modules outside folders, the module itself."""
    if name in ROOM:
        return ROOM[name]
    parts = name.split(".")
    inner = parts[:2] if parts[0] == "ptx" or parts[:2] == INNER else parts[:1]
    return ".".join(inner)


def test_a_circle_is_found() -> None:
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]
    assert circle({"a": {"b", "c"}, "b": {"c"}}) == []


def test_no_module_imports_itself_by_way_of_others() -> None:
    graph = arrows(in_functions=True)
    assert len(graph) > 100 and graph["simulator"] and not circle(graph)


def test_rooms_form_floors() -> None:
    rooms: dict[str, set[str]] = {}
    for name, targets in arrows(in_functions=False).items():
        rooms.setdefault(room_of(name), set()).update(room_of(target) for target in targets)
    graph = {room: targets - {room} for room, targets in rooms.items()}
    assert {"machine", "values", "compile", "ptx.lower", "ptx.allocate"} <= set(graph) and not circle(graph)


def test_an_import_in_a_function_says_why() -> None:
    silent, known = [], modules()
    for name, file in known.items():
        tree, lines = ast.parse(file.read_text()), file.read_text().splitlines()
        outside = {line for _, line in imports(tree.body, known, False)}
        for _, line in imports(tree.body, known, True):
            around = lines[line - 2 : line]
            if line not in outside and not any("  #" in text for text in around):
                silent.append(f"{name}:{line}: {lines[line - 1].strip()}")
    assert not silent, f"{silent}: start-up cost, or an optional dependency: which?"
