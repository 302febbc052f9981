"""Files of a release: workflows, policy and citation agree with the repository."""

import re
import runpy
import tomllib
from pathlib import Path

import pytest

import mathsetu
from mathsetu.library.manifest import FORMAT

CHECKOUT = Path(__file__).parent.parent
WORKFLOWS = sorted((CHECKOUT / ".github" / "workflows").glob("*.yml"))
yaml = pytest.importorskip("yaml", reason="a package of the development environment")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_call_existing_targets_with_few_permissions(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    # YAML 1.1 reads the key "on" as true.
    assert workflow.keys() >= {"name", True, "permissions", "jobs"}
    assert workflow["permissions"] == {"contents": "read"}
    makefile = (CHECKOUT / "Makefile").read_text(encoding="utf-8")
    for job in workflow["jobs"].values():
        for step in job["steps"]:
            for target in re.findall(r"\bmake ([a-z-]+)", step.get("run", "")):
                assert f"\n{target}:" in makefile, target
            for file in re.findall(r"(?:^|\s)((?:\.ci|requirements)/[\w.]+)", step.get("run", "")):
                assert (CHECKOUT / file).is_file(), file
            assert "@" in step.get("uses", "@"), "an action needs a version"


def test_tests_run_on_three_systems_and_all_supported_versions_of_python() -> None:
    path = CHECKOUT / ".github" / "workflows" / "tests.yml"
    matrix = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]["quick"]["strategy"]["matrix"]
    assert {name.split("-")[0] for name in matrix["system"]} == {"ubuntu", "macos", "windows"}
    assert matrix["python"] == ["3.11", "3.12", "3.13", "3.14"]
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))
    built = [name.removesuffix("-*") for name in project["tool"]["cibuildwheel"]["build"]]
    assert built == [f"cp{version.replace('.', '')}" for version in matrix["python"]]


@pytest.mark.parametrize(
    "path", sorted((CHECKOUT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")), ids=lambda p: p.name
)
def test_issue_templates_are_valid(path: Path) -> None:
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    if path.name != "config.yml":
        assert {"name", "description", "body"} <= content.keys()


def test_the_citation_names_this_version() -> None:
    citation = yaml.safe_load((CHECKOUT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == mathsetu.__version__
    assert citation["license"] == "Apache-2.0"


def test_the_policy_of_formats_lists_the_current_one_last() -> None:
    policy = (CHECKOUT / "docs" / "versions.md").read_text(encoding="utf-8")
    listed = [int(number) for number in re.findall(r"(?m)^\| (\d+) \|", policy)]
    assert listed == list(range(1, FORMAT + 1))


def test_the_script_that_tries_a_wheel_runs_on_this_installation() -> None:
    tried = runpy.run_path(str(CHECKOUT / ".ci" / "try_wheel.py"))
    assert tried["speed"](0.05) > 100
