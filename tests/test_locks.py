"""The lock files: all installed packages are pinned, have hashes, and meet the requirements."""

import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

CHECKOUT = Path(__file__).parent.parent
LOCKS = CHECKOUT / "requirements"
PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = PROJECT["project"]["optional-dependencies"]
GROUPS = PROJECT["dependency-groups"]
#: A package with its version, the platforms it is for, and the hashes of its files.
ENTRY = re.compile(
    r"(?P<name>[a-z0-9-]+)==(?P<version>[\w.+]+)( ; [^\\\n]+)?(?P<hashes>( \\\n    --hash=\S+)+)\n"
)


def entries(name: str) -> dict[str, tuple[str, list[str]]]:
    """The version and the hashes of each package in a lock file, which has nothing else."""
    text = (LOCKS / f"{name}.txt").read_text(encoding="utf-8")
    header, _, body = text.partition("\n")
    assert header == "# Made by 'make lock' from pyproject.toml and constraints.txt."
    assert ENTRY.sub("", body) == "", name
    return {
        match["name"]: (match["version"], re.findall(r"--hash=(\S+)", match["hashes"]))
        for match in ENTRY.finditer(body)
    }


def constraints() -> dict[str, str]:
    lines = (CHECKOUT / "constraints.txt").read_text(encoding="utf-8").split()
    return {canonicalize_name(name): version for name, version in (x.split("==") for x in lines)}


def wanted() -> Iterator[tuple[str, list[str], list[str]]]:
    """Each file, the files installed together with it, and the requirements that they must meet."""
    yield "core", ["core"], PROJECT["project"]["dependencies"]
    for name, requirements in EXTRAS.items():
        yield name, ["core", name, "torch"], requirements
    for name, requirements in GROUPS.items():
        yield name, [name], requirements


def test_there_is_a_lock_file_for_each_extra_and_each_group() -> None:
    files = {path.stem for path in LOCKS.glob("*.txt")}
    assert files == {"core", "torch", "torch-cpu", *EXTRAS, *GROUPS}


@pytest.mark.parametrize("name", sorted(path.stem for path in LOCKS.glob("*.txt")))
def test_every_package_has_a_hash_and_no_address(name: str) -> None:
    found = entries(name)
    assert found
    for package, (_, hashes) in found.items():
        assert hashes, package
        assert all(re.fullmatch("sha256:[0-9a-f]{64}", one) for one in hashes), package
        assert len({*hashes}) == len(hashes), package


@pytest.mark.parametrize(("name", "files", "requirements"), list(wanted()))
def test_the_locked_versions_meet_the_requirements_of_the_project(
    name: str, files: list[str], requirements: list[str]
) -> None:
    found = {package: pin for file in files for package, pin in entries(file).items()}
    for text in requirements:
        requirement = Requirement(text)
        if requirement.name == "mathsetu":
            asked = [Requirement(one) for extra in requirement.extras for one in EXTRAS[extra]]
        else:
            asked = [requirement]
        for one in asked:
            version, _ = found[canonicalize_name(one.name)]
            assert one.specifier.contains(version), f"{name}: {one}"


def test_the_lock_files_pin_exactly_the_versions_of_the_constraints() -> None:
    found = {
        (package, version.removesuffix("+cpu"))
        for path in LOCKS.glob("*.txt")
        for package, (version, _) in entries(path.stem).items()
    }
    assert found == {*constraints().items()}


def test_the_build_requirements_are_locked() -> None:
    assert {*PROJECT["build-system"]["requires"]} <= {*GROUPS["build"]}
    text = (CHECKOUT / "hatch_build.py").read_text(encoding="utf-8")
    assert f"return [{', '.join(map(repr, GROUPS['compile']))}]".replace("'", '"') in text


def test_nothing_is_installed_without_hashes() -> None:
    files = ["Makefile", "Dockerfile", "requirements/install", ".ci/run"]
    files += [str(path) for path in (CHECKOUT / ".ci").glob("*.py")]
    for file in files:
        text = (CHECKOUT / file).read_text(encoding="utf-8").replace("\\\n", " ")
        for line in text.splitlines():
            if re.search(r"\bpip\b.*\b(install|wheel)\b", line) and not line.startswith("#"):
                # The project itself comes from the checkout; --no-deps installs nothing else.
                own = "--no-build-isolation" in line or "--no-index" in line
                assert "--no-deps" in line, f"{file}: {line}"
                assert "--require-hashes" in line or own, f"{file}: {line}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with an empty environment, a wheel, and the installer."""
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "env"], check=True, timeout=120)
    (tmp_path / "requirements").mkdir()
    shutil.copy(LOCKS / "install", tmp_path / "requirements")
    with ZipFile(tmp_path / "tiny-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("tiny.py", "")
        about = "tiny-1.0.dist-info"
        wheel.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", "tiny.py,,\n")
    return tmp_path


def install(folder: Path, line: str) -> subprocess.CompletedProcess[str]:
    (folder / "requirements" / "core.txt").write_text(line + "\n")
    # Without pip's own settings, so that only the wheel in this folder can be found.
    settings = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder), "PIP_CONFIG_FILE": os.devnull}
    return subprocess.run(
        [folder / "requirements" / "install", folder / "env", "core"],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.thorough
def test_a_package_without_the_locked_hash_is_not_installed(folder: Path) -> None:
    digest = sha256((folder / "tiny-1.0-py3-none-any.whl").read_bytes()).hexdigest()
    installed = next(folder.glob("env/lib/*/site-packages")) / "tiny.py"
    for line in ("tiny==1.0", "tiny==1.0 --hash=sha256:" + "0" * 64):
        refused = install(folder, line)
        assert refused.returncode != 0
        assert "hash" in refused.stderr.lower()
        assert not installed.exists()
    taken = install(folder, f"tiny==1.0 --hash=sha256:{digest}")
    assert taken.returncode == 0, taken.stderr
    assert installed.exists()


@pytest.mark.thorough
def test_an_unknown_extra_is_refused_in_one_line(tmp_path: Path) -> None:
    command = [LOCKS / "install", tmp_path / "env", "core", "webb"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (2, "requirements/install: there is no webb.txt\n")


def test_locking_normalises_names_of_packages_like_the_index() -> None:
    pins = runpy.run_path(str(CHECKOUT / ".ci" / "lock.py"))["pins"]
    assert pins("Jinja2==3.1.6\ntyping_extensions==4.16.0  # why\n\n") == {
        "jinja2": "3.1.6",
        "typing-extensions": "4.16.0",
    }
