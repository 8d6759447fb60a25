"""The shape of the project: who may import whom, what is heavy stays where it belongs."""

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import engine

ROOT = Path(__file__).parents[1]

# From the bottom up: a part may import itself and the parts below, not those in its own row.
LAYERS = (
    {"errors"},
    {"kernels"},
    {"backgammon"},
    {"evaluation"},
    {"cube"},
    {"bot"},
    {"players"},
    {"arena", "records"},
    {"interfaces"},
    {"training"},
)
LEVELS = {part: level for level, parts in enumerate(LAYERS) for part in parts}

PUBLIC = {
    "AcepointError",
    "Bot",
    "Candidate",
    "Play",
    "Position",
    "legal_plays",
    "match_id",
    "read_id",
}

SOURCES = sorted([*ROOT.glob("engine/**/*.py"), *ROOT.glob("training/**/*.py")])
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in SOURCES
}


def imports(module: str) -> Iterator[str]:
    """The modules that a module imports anywhere, functions and type checking included."""
    for node in ast.walk(ast.parse(MODULES[module].read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0 and node.module, f"{module}: import by the full name"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield whole if whole in MODULES else node.module


def part(module: str) -> str:
    """The part of the project that a module belongs to, a key of LEVELS."""
    parts = module.split(".")
    return parts[0] if parts[0] == "training" else parts[1]


GRAPH = {module: sorted(set(imports(module))) for module in MODULES}


@pytest.mark.parametrize("module", sorted(set(MODULES) - {"engine"}))
def test_imports_go_downwards(module):
    for imported in GRAPH[module]:
        if imported.split(".")[0] not in {"engine", "training"}:
            continue
        assert imported in MODULES, f"{module} imports {imported}, which does not exist"
        if imported == "engine":
            assert part(module) == "training", f"{module} imports its own public face"
            continue
        same = part(imported) == part(module)
        assert same or LEVELS[part(imported)] < LEVELS[part(module)], f"{module} -> {imported}"


def test_there_is_no_cycle():
    ours = {module: [name for name in GRAPH[module] if name in MODULES] for module in MODULES}
    assert list(TopologicalSorter(ours).static_order())


@pytest.mark.parametrize(
    ("package", "home"),
    [
        ("torch", "training"),
        ("tensorboard", "training"),
        ("matplotlib", "training"),
        ("numba", "engine.kernels"),
    ],
)
def test_a_heavy_package_is_imported_in_one_place(package, home):
    users = {
        module
        for module, imported in GRAPH.items()
        if any(name.split(".")[0] == package for name in imported)
    }
    assert all(user == home or user.startswith(f"{home}.") for user in users), users


def test_the_arena_knows_no_backgammon():
    for module in MODULES:
        if module.startswith("engine.arena"):
            ours = [name for name in GRAPH[module] if name.startswith("engine")]
            assert all(part(name) in {"arena", "errors"} for name in ours), (module, ours)


def modules_loaded_by(code: str) -> set[str]:
    """The top-level modules of a fresh Python after running `code`, whatever it prints."""
    report = "import json, sys; print('\\n' + json.dumps(sorted(sys.modules)), file=sys.__stdout__)"
    shown = subprocess.run(
        [sys.executable, "-c", f"try:\n {code}\nfinally:\n {report}"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    return set(json.loads(shown.stdout.splitlines()[-1]))


def command(*arguments: str) -> str:
    """Code that runs a command line as the installed command does."""
    argv = ["acepoint", *arguments]
    return f"import sys; sys.argv = {argv!r}; from engine.interfaces.cli.main import main; main()"


def test_import_engine_loads_no_torch():
    assert "torch" not in modules_loaded_by("import engine; engine.Bot; engine.legal_plays")


def test_acepoint_move_loads_no_torch(small_net):
    loaded = modules_loaded_by(command("move", "4HPwATDgc/ABMA", "31", "--net", str(small_net)))
    assert "numba" in loaded
    assert "torch" not in loaded


@pytest.mark.parametrize("arguments", [["--help"], ["move", "--help"], ["train", "--help"]])
def test_help_loads_neither_numba_nor_torch(arguments):
    loaded = modules_loaded_by(command(*arguments))
    assert "engine.interfaces.cli.move" in loaded
    assert not loaded & {"numba", "torch"}


def test_a_command_loads_what_it_needs_and_no_other_command(small_net):
    asked = ("cube", "4HPwATDgc/ABMA", "--json", "--net", str(small_net))
    loaded = modules_loaded_by(command(*asked))
    assert "engine.interfaces.cli.cube" in loaded
    others = {"move", "tournament", "bearoff"}
    assert not loaded & {f"engine.interfaces.cli.{name}" for name in others}
    assert not loaded & {"engine.cube.rollout", "rich", "tqdm"}


@pytest.mark.parametrize("path", [*SOURCES, *sorted(ROOT.glob("tests/**/*.py"))], ids=str)
def test_a_file_has_one_concern(path):
    assert len(path.read_text().splitlines()) < 400


def test_the_public_names_of_the_engine():
    assert set(engine.__all__) == PUBLIC
    assert all(hasattr(engine, name) for name in PUBLIC)
