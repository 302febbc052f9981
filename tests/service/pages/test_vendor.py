"""Third-party files that we ship: each has its licence, which is part of the package."""

import re
import tomllib
from hashlib import sha256
from pathlib import Path

CHECKOUT = Path(__file__).parents[3]
VENDOR = CHECKOUT / "src/mathsetu/service/pages/vendor"


def test_every_third_party_licence_is_part_of_the_package() -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
    named = {file for pattern in project["license-files"] for file in CHECKOUT.glob(pattern)}
    works = [folder for folder in VENDOR.iterdir() if folder.is_dir()]
    assert works
    assert {folder / "LICENSE" for folder in works} <= named


def test_every_third_party_work_states_its_name_version_licence_and_origin() -> None:
    works = tomllib.loads((VENDOR / "VENDORED.toml").read_text(encoding="utf-8"))
    assert set(works) == {folder.name for folder in VENDOR.iterdir() if folder.is_dir()}
    for name, work in works.items():
        assert work["name"] in (VENDOR / name / "README.md").read_text(encoding="utf-8")
        assert re.fullmatch(r"[0-9.]+", work["version"]), name
        assert work["licence"] in ("MIT", "OFL-1.1"), name
        assert re.fullmatch(r"https://github\.com/[\w-]+/[\w-]+", work["home"]), name
        assert re.fullmatch(r"[@/\w-]+ [0-9.]+ \(npm\)", work["package"]), name


def test_every_third_party_file_is_listed_and_has_the_listed_checksum() -> None:
    works = tomllib.loads((VENDOR / "VENDORED.toml").read_text(encoding="utf-8"))
    listed = {
        f"{work}/{file}": facts["sha256"]
        for work, about in works.items()
        for file, facts in about["files"].items()
    }
    ours = {"VENDORED.toml", *(f"{work}/README.md" for work in works)}
    found = {
        path.relative_to(VENDOR).as_posix(): sha256(path.read_bytes()).hexdigest()
        for path in VENDOR.rglob("*")
        if path.is_file()
    }
    assert listed == {name: digest for name, digest in found.items() if name not in ours}


def test_all_minified_scripts_are_in_the_vendor_folder() -> None:
    sources = (CHECKOUT / "src").rglob("*")
    strays = [path for path in sources if ".min." in path.name and VENDOR not in path.parents]
    assert strays == []
