"""The wheel: the same files give the same bytes, and it contains only the package."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

CHECKOUT = Path(__file__).parent.parent
#: The inner loops of search, compiled; their place in the wheel and below ``src``.
EXTENSION = "mathsetu/retrieval/kernels/_compiled.abi3.so"
needs_compiler = pytest.mark.skipif(
    not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="there is no C compiler"
)

pytestmark = pytest.mark.thorough
pytest.importorskip("hatchling", reason="requirements/build.txt is not installed")


def tracked() -> list[str]:
    """The files that the repository has."""
    command = ["git", "ls-files", "--", "src", "pyproject.toml", "hatch_build.py", "README.md"]
    done = subprocess.run(
        [*command, "LICENSE"], cwd=CHECKOUT, capture_output=True, text=True, timeout=60
    )
    if done.returncode:
        pytest.skip("not a checkout of the repository")
    return [name for name in done.stdout.splitlines() if (CHECKOUT / name).is_file()]


def copy(folder: Path, mask: int) -> None:
    """Make a fresh copy, whose files have new dates and the given permissions."""
    for name in tracked():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(CHECKOUT / name, folder / name)
        (folder / name).chmod(0o666 & ~mask)


def build(folder: Path, mask: int, **environment: str) -> Path:
    """Build from a fresh copy."""
    copy(folder, mask)
    # Stray files in the folder of a developer do not get into the wheel.
    (folder / "src/mathsetu/__pycache__").mkdir()
    (folder / "src/mathsetu/__pycache__/stray.pyc").write_bytes(b"stray")
    (folder / "notes.txt").write_text("stray")
    # An extension compiled by an editable install, perhaps for another machine.
    (folder / "src" / EXTENSION).write_bytes(b"stray")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel"],
        cwd=folder,
        env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000", **environment},
        check=True,
        capture_output=True,
        timeout=300,
    )
    [wheel] = (folder / "dist").iterdir()
    return wheel


def runs_compiled(folder: Path, sources: Path) -> bool:
    """Whether the package of a folder runs its compiled loops."""
    code = "from mathsetu.retrieval import kernels; print(kernels.is_compiled(), kernels.__file__)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(sources)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    compiled, _, place = done.stdout.strip().partition(" ")
    assert Path(place).is_relative_to(sources)
    return compiled == "True"


def packages_of(wheel: Path) -> set[str]:
    """The files in a wheel, except its metadata."""
    packed = set(ZipFile(wheel).namelist())
    about = {name for name in packed if ".dist-info/" in name}
    facts = {name.partition("/")[2] for name in about if "/licenses/" not in name}
    assert facts == {"METADATA", "WHEEL", "RECORD", "entry_points.txt"}
    return packed - about


def sources() -> set[str]:
    return {name.removeprefix("src/") for name in tracked() if name.startswith("src/")}


@pytest.mark.exhaustive
def test_a_wheel_has_the_same_bytes_each_time_and_only_the_package(tmp_path: Path) -> None:
    first = build(tmp_path / "first", 0o022, MATHSETU_COMPILE="0")
    second = build(tmp_path / "second", 0o077, MATHSETU_COMPILE="0")
    assert first.name == second.name
    assert first.read_bytes() == second.read_bytes()
    assert first.name.endswith("-py3-none-any.whl")
    assert packages_of(first) == sources()


@needs_compiler
@pytest.mark.exhaustive
def test_a_wheel_with_compiled_loops_has_the_same_bytes_each_time(tmp_path: Path) -> None:
    first, second = build(tmp_path / "first", 0o022), build(tmp_path / "second", 0o077)
    assert "-cp311-abi3-" in first.name
    assert first.name == second.name
    assert first.read_bytes() == second.read_bytes()
    assert packages_of(first) == sources() | {EXTENSION}
    # The extension is the compiled one, and it runs without the sources.
    with ZipFile(first) as wheel:
        wheel.extractall(tmp_path / "installed")
    assert runs_compiled(tmp_path, tmp_path / "installed")


@needs_compiler
def test_an_editable_install_compiles_the_loops_beside_their_source(tmp_path: Path) -> None:
    copy(tmp_path / "checkout", 0o022)
    code = "import sys; from hatchling.build import build_editable; build_editable(sys.argv[1])"
    subprocess.run(
        [sys.executable, "-c", code, tmp_path],
        cwd=tmp_path / "checkout",
        check=True,
        capture_output=True,
        timeout=300,
    )
    [wheel] = tmp_path.glob("*.whl")
    assert EXTENSION not in ZipFile(wheel).namelist()
    assert (tmp_path / "checkout" / "src" / EXTENSION).is_file()
    assert runs_compiled(tmp_path, tmp_path / "checkout" / "src")


def test_a_wheel_built_without_a_compiler_fits_every_machine(tmp_path: Path) -> None:
    wheel = build(tmp_path / "first", 0o022, CC="no-such-compiler")
    assert wheel.name.endswith("-py3-none-any.whl")
    assert packages_of(wheel) == sources()
