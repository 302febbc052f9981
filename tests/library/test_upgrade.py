"""Libraries of older formats, or with vectors of other models, are refused and can be upgraded."""

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from mathsetu.collections.jsonl import read_posts, to_json
from mathsetu.encoders.builtin import own_folder
from mathsetu.errors import DamagedLibrary, InputError
from mathsetu.library import Library, add_posts, build_library
from mathsetu.library import write as write_module
from mathsetu.library.manifest import FORMAT, read_manifest, signed
from mathsetu.library.upgrade import upgrade_library
from mathsetu.models import model_fingerprint
from mathsetu.recipes.schema import Recipe
from mathsetu.records import Post
from tests.command import Mathsetu
from tests.light import LIGHT, LIGHT_TOML

POSTS = [
    Post(id="ask", kind="question", title="Primes", body="Infinitely many primes?", language="en"),
    Post(id="tell", kind="answer", parent_id="ask", body="Take $p_1 p_2 + 1$.", language="en"),
    Post(id="gone", body="A removed ring.", language="en"),
    Post(id="circle", title="Circle", body="Its area is $\\pi r^2$.", tags=("geometry",)),
]

# The tables as the first version wrote them.
FIRST_FORMAT = """
CREATE TABLE posts (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    language TEXT NOT NULL,
    collection TEXT NOT NULL,
    parent_id TEXT NOT NULL,
    record TEXT NOT NULL
);
CREATE TABLE tags (tag TEXT NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (tag, number))
WITHOUT ROWID;
"""


def recipe_table(recipe: Recipe = LIGHT) -> dict[str, Any]:
    return json.loads(json.dumps(write_module._plain(write_module.asdict(recipe))))


def write_first_format(library: Path, recipe: dict[str, Any], number: int = 1) -> Path:
    """A library as the first version wrote it, as far as it is read."""
    segment = library / "segments" / "000001"
    segment.mkdir(parents=True)
    with closing(sqlite3.connect(segment / "posts.sqlite")) as connection:
        connection.executescript(FIRST_FORMAT)
        for place, post in enumerate(POSTS):
            record = json.dumps(to_json(post), ensure_ascii=False)
            row = (place, post.id, post.language or "en", "first", post.parent_id, record)
            connection.execute("INSERT INTO posts VALUES (?, ?, ?, ?, ?, ?)", row)
        connection.commit()
    content = {
        "mathsetu": "library",
        "format": number,
        "recipe": recipe,
        "segments": [{"name": "000001", "posts": len(POSTS), "files": {}, "removed": [2]}],
        "languages": {"en": 4},
        "version": "0.1",
    }
    (library / "manifest.json").write_text(json.dumps(content))
    return library


@pytest.fixture
def old(tmp_path: Path) -> Path:
    return write_first_format(tmp_path / "old", recipe_table())


def test_an_old_library_is_refused_with_the_command_that_converts_it(old: Path) -> None:
    command = f"mathsetu upgrade {old}"
    with pytest.raises(InputError, match=f"format 1, .* reads format {FORMAT}; .*{command}"):
        Library(old)


def test_an_old_library_is_converted_in_place_from_its_own_posts(old: Path) -> None:
    done = upgrade_library(old, processes=1)
    assert (done.former, done.posts, done.recipe, done.changed) == (1, 3, "light", True)
    library = Library(old)
    assert {hit.id for hit in library.search("ring removed", 5)} == set()
    assert library.search("$\\pi r^2$", 1)[0].id == "circle"
    # The answer is still found by its question.
    assert {hit.id for hit in library.search("primes", 5)} == {"ask", "tell"}
    assert [segment.name for segment in (old / "segments").iterdir()] == ["000002"]
    assert library.post("circle").tags == ("geometry",)
    assert not upgrade_library(old, processes=1).changed


def test_the_posts_of_an_old_library_are_exported(mathsetu: Mathsetu, old: Path) -> None:
    before = (old / "manifest.json").read_bytes()
    assert mathsetu("convert", old, old.parent / "posts.jsonl").code == 0
    assert [post.id for post in read_posts(old.parent / "posts.jsonl")] == ["ask", "tell", "circle"]
    assert (old / "manifest.json").read_bytes() == before
    newer = write_first_format(old.parent / "newer", recipe_table(), FORMAT + 1)
    refused = mathsetu.refuses("convert", newer, old.parent / "posts.jsonl")
    assert "by a newer version of MathSetu" in refused


def test_a_converted_library_answers_as_one_built_from_the_same_posts(
    old: Path, tmp_path: Path
) -> None:
    upgrade_library(old, processes=1)
    kept = [post for post in POSTS if post.id != "gone"]
    build_library(tmp_path / "new", kept, LIGHT, collection="first", processes=1)

    def found(library: Path) -> list[tuple[str, float]]:
        hits = Library(library).search("area of primes $\\pi r^2$", 5)
        return [(hit.id, hit.score) for hit in hits]

    assert found(old) == found(tmp_path / "new")
    assert read_manifest(old).languages == read_manifest(tmp_path / "new").languages


def test_a_failed_conversion_keeps_the_old_library_and_can_be_repeated(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = (old / "manifest.json").read_bytes()
    real: Callable[..., None] = write_module.write_manifest

    def no_power(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(write_module, "write_manifest", no_power)
    with pytest.raises(InputError, match="no space left"):
        upgrade_library(old, processes=1)
    assert (old / "manifest.json").read_bytes() == before
    assert (old / "segments" / "000001" / "posts.sqlite").is_file()
    monkeypatch.setattr(write_module, "write_manifest", real)
    assert upgrade_library(old, processes=1).posts == 3
    assert Library(old).search("primes", 1)[0].id == "ask"


def test_unknown_settings_of_a_shipped_recipe_do_not_stop_a_conversion(
    tmp_path: Path,
) -> None:
    table = recipe_table() | {"name": "formula", "parts": {"formulas": {"kind": "formula", "x": 1}}}
    old = write_first_format(tmp_path / "old", table)
    done = upgrade_library(old, processes=1)
    assert done.recipe == "formula"
    assert "was stored with settings that this version does not know" in done.note
    assert Library(old).search("$\\pi r^2$", 1)[0].id == "circle"


def test_an_unreadable_recipe_is_named_and_another_can_be_given(tmp_path: Path) -> None:
    old = write_first_format(tmp_path / "old", {"name": "mine", "parts": 7})
    with pytest.raises(InputError, match=r"its recipe 'mine' cannot be read .* --recipe"):
        upgrade_library(old, processes=1)
    (tmp_path / "light.toml").write_text(LIGHT_TOML)
    assert upgrade_library(old, recipe=str(tmp_path / "light.toml"), processes=1).posts == 3


def test_a_library_that_cannot_be_converted_is_refused_with_the_reason(
    tmp_path: Path, old: Path
) -> None:
    newer = write_first_format(tmp_path / "newer", recipe_table(), FORMAT + 1)
    with pytest.raises(InputError, match="by a newer version of MathSetu"):
        upgrade_library(newer)
    with pytest.raises(InputError, match="install a newer version"):
        Library(newer)
    with pytest.raises(InputError, match="has no manifest"):
        upgrade_library(tmp_path)
    with pytest.raises(InputError, match="on a cluster is published again"):
        upgrade_library("qdrant://localhost:6333/posts")
    with closing(sqlite3.connect(old / "segments/000001/posts.sqlite")) as connection:
        connection.execute("UPDATE posts SET record = 'no JSON' WHERE number = 3")
        connection.commit()
    with pytest.raises(DamagedLibrary, match="has a post that cannot be read"):
        upgrade_library(old, processes=1)
    with closing(sqlite3.connect(old / "segments/000001/posts.sqlite")) as connection:
        connection.executescript(
            "ALTER TABLE posts RENAME TO p; CREATE VIEW posts AS SELECT * FROM p"
        )
    with pytest.raises(DamagedLibrary, match="expected tables"):
        upgrade_library(old, processes=1)
    shutil.rmtree(old / "segments")
    with pytest.raises(DamagedLibrary, match="is missing"):
        upgrade_library(old, processes=1)


def test_the_upgrade_command_reports_what_it_did(mathsetu: Mathsetu, old: Path) -> None:
    done = mathsetu("upgrade", str(old), "--processes", "1")
    assert f"3 posts converted from format 1 to {FORMAT}" in done.out
    again = json.loads(mathsetu("upgrade", str(old), "--json").out)
    assert (again["changed"], again["posts"], again["format"]) == (False, 3, FORMAT)


def recorded_by_another(library: Path) -> None:
    """Change a manifest to say that another model made the vectors."""
    path = library / "manifest.json"
    content = json.loads(path.read_text())
    content["models"] = {"meaning": "0123456789abcdef01234567"}
    path.write_text(json.dumps(signed(content)))


@pytest.mark.thorough
def test_a_library_records_its_models_and_refuses_others(library: Path) -> None:
    assert read_manifest(library).models == {"meaning": model_fingerprint(own_folder())}
    recorded_by_another(library)
    match = r"part 'meaning' were made by another model \(0123456789abcdef01234567, .* upgrade"
    with pytest.raises(InputError, match=match):
        Library(library)
    with pytest.raises(InputError, match=match):
        add_posts(library, [Post(id="new", body="A new post.")], processes=1)
    done = upgrade_library(library, processes=1)
    assert (done.changed, done.former) == (True, FORMAT)
    assert Library(library).search("prime numbers", 1)[0].id == "primes"


def test_a_library_without_vectors_records_no_model(old: Path) -> None:
    upgrade_library(old, processes=1)
    assert read_manifest(old).models == {}


def test_the_fingerprint_of_a_model_depends_on_its_files_but_not_on_its_readme(
    tmp_path: Path,
) -> None:
    model = tmp_path / "model"
    model.mkdir()
    (model / "config.json").write_text("{}")
    (model / "model.safetensors").write_bytes(b"weights" * 50_000)
    name = model_fingerprint(model)
    (model / "README.md").write_text("A card.")
    assert model_fingerprint(model) == name
    (model / "model.safetensors").write_bytes(b"weights" * 49_999 + b"weight!")
    assert model_fingerprint(model) != name
    (model / "model.json").write_text('{"sha256": {}}')
    listed = model_fingerprint(model)
    (model / "config.json").write_text("{} ")
    assert model_fingerprint(model) == listed
