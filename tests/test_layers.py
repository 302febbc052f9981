"""A package imports only from lower layers."""

import ast
import re
from pathlib import Path

import mathsetu

PACKAGE = Path(mathsetu.__file__).parent
LAYERS = {
    "records": 0,
    "plain_files": 0,
    "errors": 0,
    "installed": 0,
    "limits": 0,
    "deadline": 0,
    "models": 0,
    "own_models": 0,
    "parent": 0,
    "pool": 0,
    "printable": 0,
    "places": 0,
    "npy": 0,
    "markup": 0,
    "formulas": 1,
    "languages": 1,
    "evaluation": 1,
    "collections": 2,
    "encoders": 2,
    "graphs": 2,
    "intake": 2,
    "retrieval": 3,
    "ranking": 3,
    "library": 4,
    "cluster": 4,
    "recipes": 4,
    "training": 5,
    "answers": 5,
    "papers": 5,
    "cli": 6,
    "client": 6,
    "integrations": 6,
    "service": 6,
    "__main__": 7,
}
# Packages of one layer that may import each other, and why.
NEIGHBOURS = {
    ("markup", "records"),  # spans become formulas
    ("records", "markup"),  # a hit makes its snippet on request
    ("records", "printable"),  # and can be printed
    ("records", "errors"),  # invalid records are refused
    ("markup", "errors"),
    ("markup", "limits"),
    ("errors", "installed"),  # a hint names the right install command
    ("deadline", "errors"),
    ("models", "errors"),
    ("own_models", "errors"),
    ("places", "plain_files"),  # the files of a folder show whether it is a library
    ("pool", "errors"),
    ("pool", "parent"),  # its workers end with their parent
    ("cli", "service"),  # both interfaces give the same answers, and one opens the other
    ("encoders", "graphs"),  # the graph encoder reads graphs
    ("library", "recipes"),  # a recipe determines how a library is built and opened
    ("cluster", "recipes"),  # the same on a cluster
    ("cluster", "library"),  # the library on a cluster was built in a folder
    ("library", "cluster"),  # a library is opened in a folder or on a cluster
}


def package_of(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else ""


# Parsing only the imports takes a twentieth of the time of parsing whole modules.
_IMPORT = re.compile(
    r"^[ \t]*((?:from[ \t]+\S+[ \t]+)?import[ \t]+(?:\([^)]*\)|[^\n]*))", re.MULTILINE
)


def imports(file: Path) -> set[str]:
    names = set()
    statements = "\n".join(_IMPORT.findall(file.read_text(encoding="utf-8")))
    for node in ast.parse(statements).body:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name for name in names if name.startswith("mathsetu.")}


def test_no_package_imports_from_its_own_layer_or_above() -> None:
    wrong = []
    for file in sorted(PACKAGE.rglob("*.py")):
        package = file.relative_to(PACKAGE).parts[0].removesuffix(".py")
        if package == "__init__":
            continue
        for name in imports(file):
            other = package_of(name)
            if other == package or other not in LAYERS or (package, other) in NEIGHBOURS:
                continue
            if LAYERS[other] >= LAYERS[package]:
                wrong.append(f"{file.relative_to(PACKAGE)} imports {name}")
    assert wrong == []


def test_every_package_has_a_layer() -> None:
    packages = {path.name.removesuffix(".py") for path in PACKAGE.iterdir()}
    packages -= {"__init__", "__pycache__", "py.typed"}
    assert packages <= set(LAYERS)


def test_torch_is_imported_only_where_it_is_allowed() -> None:
    allowed = (
        "encoders/graph/",
        "encoders/sentence.py",
        "ranking/rerank",
        "languages/translate/",
        "training/",
    )
    for file in PACKAGE.rglob("*.py"):
        place = file.relative_to(PACKAGE).as_posix()
        if not place.startswith(allowed):
            text = file.read_text(encoding="utf-8")
            assert "import torch" not in text, place
            assert "from torch" not in text, place


def test_only_one_module_starts_processes_for_parallel_work() -> None:
    starting = [
        file.relative_to(PACKAGE).as_posix()
        for file in sorted(PACKAGE.rglob("*.py"))
        if "ProcessPoolExecutor" in file.read_text(encoding="utf-8")
    ]
    assert starting == ["pool.py"]


def test_only_one_module_loads_the_onnx_runtime() -> None:
    loading = re.compile(
        r"^\s*(?:import|from) onnxruntime|import_module\(.onnxruntime", re.MULTILINE
    )
    found = [
        file.name
        for file in PACKAGE.rglob("*.py")
        if loading.search(file.read_text(encoding="utf-8"))
    ]
    assert found == ["models.py"]
