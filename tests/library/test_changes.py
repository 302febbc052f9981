"""Building and rebuilding libraries; adding and removing posts."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from mathsetu.collections import sampler
from mathsetu.errors import InputError
from mathsetu.library import Filter, Library, add_posts, build, build_library, remove_posts, store
from mathsetu.library.manifest import is_ours, read_manifest
from mathsetu.library.write import _next_name
from mathsetu.recipes import load_recipe
from mathsetu.records import Post
from tests.light import LIGHT


def content(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def ids(library: Path, query: str) -> list[str]:
    return [hit.id for hit in Library(library).search(query)]


# Building


@pytest.mark.thorough
def test_the_same_posts_give_the_same_bytes_with_any_number_of_processes(tmp_path: Path) -> None:
    posts = list(sampler.posts())[:20]
    for processes in (1, 2):
        build_library(tmp_path / str(processes), posts, collection="c", processes=processes)
    assert content(tmp_path / "1") == content(tmp_path / "2")


def test_a_rebuild_replaces_all_posts_and_segments(library: Path, posts: list[Post]) -> None:
    build_library(library, posts[:1], processes=1)
    assert len(Library(library)) == 1
    assert not ids(library, "matrix")
    assert [path.name for path in (library / "segments").iterdir()] == ["000002"]


@pytest.mark.thorough
def test_an_open_library_answers_unchanged_during_and_after_a_rebuild(
    library: Path, posts: list[Post]
) -> None:
    opened = Library(library)
    before = opened.search("geometric series $q^k$")
    during: list[object] = []

    def watch(what: str, number: int) -> None:
        during.append(opened.search("geometric series $q^k$"))

    build_library(library, posts[:1], processes=1, progress=watch)
    assert all(found == before for found in during)
    assert opened.search("geometric series $q^k$") == before
    assert opened.search("matrix $A$")[0].id == "matrix"
    assert opened.post("matrix").title == "Matrix"
    assert not Library(library).search("matrix")


def test_answers_are_indexed_with_the_words_of_their_question(tmp_path: Path) -> None:
    posts = [
        Post(id="q", title="Eigenvalues of a rotation", body="Which?", language="en"),
        Post(id="a", body="They are complex.", parent_id="q", kind="answer", language="en"),
    ]
    build_library(tmp_path / "l", posts, processes=1)
    assert set(ids(tmp_path / "l", "eigenvalues")) == {"q", "a"}


def test_a_recipe_selects_posts_by_kind_and_by_words(tmp_path: Path) -> None:
    posts = [
        Post(id="short", body="Two words", kind="answer", language="en"),
        Post(id="formulas", body="$x$ $y$ $z$", kind="answer", language="en"),
        Post(id="question", body="Five words stand in here", kind="question", language="en"),
        Post(id="answer", body="Five words stand here too", kind="answer", language="en"),
    ]
    settings = ["posts.kinds=['answer']", "posts.minimum_words=3", "posts.need_words=true"]
    build_library(tmp_path / "l", posts, load_recipe("msm-bm25", settings), processes=1)
    assert len(Library(tmp_path / "l")) == 1
    assert Library(tmp_path / "l").post("answer")


def test_answers_keep_the_fields_of_questions_that_the_recipe_leaves_out(tmp_path: Path) -> None:
    posts = [
        Post(id="early", body="It is $1$ indeed.", kind="answer", parent_id="q", language="en"),
        Post(
            id="q",
            title="Eigenvalues",
            body="Of which matrix?",
            tags=("algebra",),
            kind="question",
            language="en",
        ),
        Post(id="late", body="Of any matrix.", kind="answer", parent_id="q", language="en"),
        Post(id="bare", body="$x$", kind="answer", parent_id="q", language="en"),
    ]
    settings = ["posts.kinds=['answer']", "posts.need_words=true"]
    build_library(tmp_path / "l", posts, load_recipe("msm-bm25", settings), processes=1)
    opened = Library(tmp_path / "l")
    assert sorted(hit.id for hit in opened.search("eigenvalues")) == ["early", "late"]
    assert opened.post("early").question == "Of which matrix?"
    assert opened.post("late").tags == ("algebra",)
    # An addition keeps these fields.
    add_posts(tmp_path / "l", [Post("new", "Rings.", kind="answer", language="en")], processes=1)
    assert sorted(ids(tmp_path / "l", "eigenvalues")) == ["early", "late"]


# Adding


def test_added_posts_and_old_posts_are_found(library: Path) -> None:
    graph = Post(id="graph", body="A planar graph satisfies $V-E+F=2$.", language="en")
    assert add_posts(library, [graph], collection="second", processes=1) == 1
    assert ids(library, "planar graph")[0] == "graph"
    assert ids(library, "invertible matrix")[0] == "matrix"
    assert len(Library(library)) == 5


def test_an_added_answer_has_the_language_of_its_question_in_the_library(tmp_path: Path) -> None:
    build_library(tmp_path, [Post("q", "Why?", language="hi")], LIGHT, processes=1)
    add_posts(tmp_path, [Post("a", "$x$", parent_id="q", kind="answer")], processes=1)
    assert Library(tmp_path).post("a").language == "hi"


@pytest.mark.thorough
def test_a_filter_can_select_the_collection_of_added_posts(library: Path) -> None:
    ring = Post(id="ring", body="The ring of all numbers of a series", language="en")
    add_posts(library, [ring], collection="second", processes=1)
    opened = Library(library)
    second = opened.search("series numbers", where=Filter(collection="second"))
    first = opened.search("series numbers", where=Filter(collection="first"))
    assert [hit.id for hit in second] == ["ring"]
    assert "ring" not in {hit.id for hit in first}


def test_a_post_with_a_known_id_replaces_the_old_one(library: Path) -> None:
    new = Post(id="circle", body="A circle has circumference $2\\pi r$.", language="en")
    add_posts(library, [new], processes=1)
    opened = Library(library)
    assert len(opened) == 4
    assert opened.post("circle") == new
    assert [hit.id for hit in opened.search("circle")].count("circle") == 1
    # What the new text does not say is found by its meaning at most.
    assert "words" not in {r.part for hit in opened.search("radius") for r in hit.reasons}


@pytest.mark.thorough
def test_scores_after_additions_equal_those_of_a_full_build(
    tmp_path: Path, posts: list[Post]
) -> None:
    build_library(tmp_path / "full", posts, processes=1)
    build_library(tmp_path / "parts", posts[:2], processes=1)
    for post in posts[2:]:
        add_posts(tmp_path / "parts", [post], processes=1)
    full, parts = Library(tmp_path / "full"), Library(tmp_path / "parts")
    for query in ("prime series", "$\\pi r^2$", "closed form $\\sum_{k=0}^m x^k$", "all matrix"):
        expected, found = full.search(query), parts.search(query)
        assert [hit.id for hit in found] == [hit.id for hit in expected]
        assert [hit.score for hit in found] == pytest.approx([hit.score for hit in expected])
        assert [[reason.detail for reason in hit.reasons] for hit in found] == [
            [reason.detail for reason in hit.reasons] for hit in expected
        ]


def test_an_addition_that_fails_changes_nothing(library: Path, posts: list[Post]) -> None:
    before = read_manifest(library)
    new = replace(posts[0], id="new")
    with pytest.raises(InputError, match="two posts have the id 'new'"):
        add_posts(library, [new, new], processes=1)
    with pytest.raises(InputError, match="there are no posts in the sources"):
        add_posts(library, [], processes=1)
    assert read_manifest(library) == before
    assert len(Library(library)) == 4


@pytest.mark.parametrize("change", [lambda f: add_posts(f, []), lambda f: remove_posts(f, ["x"])])
def test_a_change_of_a_missing_library_creates_no_folder(tmp_path: Path, change: object) -> None:
    with pytest.raises(InputError, match="there is no such library"):
        change(tmp_path / "missing")  # type: ignore[operator]
    assert not (tmp_path / "missing").exists()


# Removing


def test_removed_posts_are_no_longer_found(library: Path) -> None:
    assert remove_posts(library, ["circle", "nobody"]) == 1
    opened = Library(library)
    assert len(opened) == 3
    # What the new text does not say is found by its meaning at most.
    assert "words" not in {r.part for hit in opened.search("radius") for r in hit.reasons}
    assert not any(hit.id == "circle" for hit in opened.search("$\\pi r^2$"))
    with pytest.raises(InputError, match="there is no post 'circle'"):
        opened.post("circle")


def test_formulas_that_occur_only_in_removed_posts_are_not_found(library: Path) -> None:
    with Library(library) as before:
        ranked = before.formulas("\\pi r^2", 50)
        kept = [one.latex for one in ranked if before.posts_with(one, 2) != ("circle",)]
    assert 0 < len(kept) < len(ranked)
    remove_posts(library, ["circle"])
    with Library(library) as after:
        assert [one.latex for one in after.formulas("\\pi r^2", 50)] == kept
        assert len(after.formulas("\\pi r^2", 1)) == 1


def test_a_removed_post_can_be_added_again(library: Path, posts: list[Post]) -> None:
    remove_posts(library, ["circle"])
    add_posts(library, [posts[1]], processes=1)
    assert Library(library).post("circle") == posts[1]
    assert ids(library, "radius") == ["circle"]


def test_additions_and_removals_update_the_counts_of_languages(library: Path) -> None:
    add_posts(library, [Post(id="kruh", body="Obsah kruhu", language="cs")], processes=1)
    assert read_manifest(library).languages == {"cs": 1, "en": 4}
    remove_posts(library, ["kruh"])
    assert read_manifest(library).languages == {"en": 4}


def test_removing_an_unknown_post_changes_nothing(library: Path) -> None:
    before = (library / "manifest.json").read_bytes()
    assert remove_posts(library, ["nobody"]) == 0
    assert (library / "manifest.json").read_bytes() == before


def test_removing_all_posts_is_refused(library: Path, posts: list[Post]) -> None:
    with pytest.raises(InputError, match="remove the folder instead"):
        remove_posts(library, [post.id for post in posts])


# Builds that are refused


def test_a_build_without_posts_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there are no posts in the sources"):
        build_library(tmp_path / "l", [], processes=1)


def test_the_error_names_the_setting_that_leaves_out_all_posts(
    tmp_path: Path, posts: list[Post]
) -> None:
    recipe = load_recipe("msm-bm25", ["posts.kinds=['answers']"])
    message = rf"msm-bm25: all posts are left out by the recipe \(posts.kinds {len(posts)}\)"
    with pytest.raises(InputError, match=message):
        build_library(tmp_path / "l", posts, recipe, processes=1)


def test_a_failed_build_keeps_the_old_library(library: Path, posts: list[Post]) -> None:
    def broken() -> Iterator[Post]:
        yield posts[0]
        raise InputError("the source is broken")

    with pytest.raises(InputError, match="the source is broken"):
        build_library(library, broken(), processes=1)
    assert len(Library(library)) == 4
    assert [folder.name for folder in (library / "segments").iterdir()] == ["000001"]


def test_a_post_with_an_unpaired_surrogate_is_refused_by_id(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="post '7' contains an invalid character"):
        build_library(tmp_path / "l", [Post(id="7", body="\ud800")], processes=1)


def test_a_folder_with_other_files_is_refused_and_kept(tmp_path: Path, posts: list[Post]) -> None:
    for name in ("thesis.tex", "manifest.json"):
        folder = tmp_path / name.replace(".", "-")
        folder.mkdir()
        (folder / name).write_text('{"name": "an app"}', encoding="utf-8")
        with pytest.raises(InputError, match="is not a library and not empty"):
            build_library(folder, posts, processes=1)
        assert [path.name for path in folder.iterdir()] == [name]


def test_a_file_instead_of_a_folder_is_refused_and_kept(tmp_path: Path, posts: list[Post]) -> None:
    target = tmp_path / "file"
    target.write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="is a file; choose a folder"):
        build_library(target, posts, processes=1)
    with pytest.raises(InputError, match=r"cannot be written \(not a directory\)"):
        build_library(target / "below", posts, processes=1)
    assert target.read_text(encoding="utf-8") == "mine"


# Questions and their answers

QUESTION = Post("q", "Why are zebras striped?", title="Zebras", tags=("animals",), language="en")
REPLY = Post("a", "Because of flies.", parent_id="q", language="en", kind="answer")
ANSWERS_NOTHING = Post("c", "Something else altogether.", language="en")
OTHER = Post("b", "Nobody knows it.", parent_id="q", language="en", collection="own")


def found(library: Path, query: str) -> list[str]:
    with Library(library) as opened:
        return sorted(hit.id for hit in opened.search(query, explain=False))


@pytest.mark.thorough
def test_answers_that_are_added_later_do_not_inherit_from_a_removed_question(
    tmp_path: Path,
) -> None:
    build_library(tmp_path, [QUESTION, ANSWERS_NOTHING], LIGHT, processes=1)
    remove_posts(tmp_path, ["q"])
    add_posts(tmp_path, [REPLY], processes=1)
    assert found(tmp_path, "zebras") == []
    assert found(tmp_path, "flies") == ["a"]


@pytest.mark.thorough
def test_answers_that_are_added_later_inherit_only_from_the_new_question(tmp_path: Path) -> None:
    build_library(tmp_path, [QUESTION, ANSWERS_NOTHING], LIGHT, processes=1)
    changed = replace(QUESTION, title="Horses", body="Why are horses not striped?")
    add_posts(tmp_path, [changed], processes=1)
    add_posts(tmp_path, [REPLY], processes=1)
    assert found(tmp_path, "zebras") == []
    assert found(tmp_path, "horses") == ["a", "q"]


@pytest.mark.thorough
def test_answers_are_not_found_by_the_words_of_a_removed_question(tmp_path: Path) -> None:
    build_library(tmp_path, [QUESTION, REPLY, ANSWERS_NOTHING], LIGHT, processes=1)
    add_posts(tmp_path, [OTHER], processes=1)
    assert found(tmp_path, "zebras") == ["a", "b", "q"]
    assert remove_posts(tmp_path, ["q", "unknown"]) == 1
    assert found(tmp_path, "zebras") == found(tmp_path, "animals") == []
    assert found(tmp_path, "flies") == ["a"]
    with Library(tmp_path) as library:
        assert len(library) == 3
        assert [hit.id for hit in library.search("nobody", where=Filter(collection="own"))] == ["b"]


@pytest.mark.thorough
def test_answers_are_found_by_a_question_that_is_added_or_changed_later(tmp_path: Path) -> None:
    build_library(tmp_path, [REPLY, ANSWERS_NOTHING], LIGHT, processes=1)
    assert add_posts(tmp_path, [QUESTION], processes=1) == 1
    assert found(tmp_path, "zebras") == ["a", "q"]
    changed = replace(QUESTION, title="Horses", body="Why are horses not striped?")
    assert add_posts(tmp_path, [changed], processes=1) == 1
    assert found(tmp_path, "zebras") == []
    assert found(tmp_path, "horses") == ["a", "q"]
    with Library(tmp_path) as library:
        assert len(library) == 3


def test_the_folder_of_a_new_segment_is_marked_and_synced_to_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[Path] = []
    monkeypatch.setattr(build, "sync_tree", synced.append)
    build.make_marked(tmp_path / "segments" / "000001")
    assert synced == [tmp_path / "segments" / "000001"]
    assert is_ours(synced[0])


@pytest.mark.parametrize(
    ("has_manifest", "named", "chosen", "left"),
    [
        # Without a manifest, no segment is complete.
        (False, set(), "000001", ["other"]),
        # An unreadable manifest may name the complete segment.
        (True, set(), "000002", ["000001", "other"]),
        (True, {"000001"}, "000002", ["000001", "other"]),
        (True, {"000007"}, "000008", ["other"]),
    ],
)
def test_leftovers_of_builds_are_removed_before_a_new_segment_is_named(
    tmp_path: Path, has_manifest: bool, named: set[str], chosen: str, left: list[str]
) -> None:
    for name in ("000001", "000005.building"):
        build.make_marked(tmp_path / "segments" / name)
    (tmp_path / "segments" / "other").mkdir()
    if has_manifest:
        (tmp_path / "manifest.json").write_text("{")
    assert _next_name(tmp_path, named) == chosen
    assert sorted(folder.name for folder in (tmp_path / "segments").iterdir()) == left


def test_titles_that_are_read_in_batches_are_listed_once_each(
    library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "_BATCH", 2)
    titles = [title for _, title in Library(library).titles(10)]
    assert titles == ["Primes", "Circle", "Series", "Matrix"]


def test_ids_that_contain_or_resemble_a_mistyped_id_are_suggested(library: Path) -> None:
    opened = Library(library)
    assert opened.ids_like("ri") == ["primes", "series", "matrix"]
    assert opened.ids_like("ri", 1) == ["primes"]
    assert opened.ids_like("ri", but={"primes"}) == ["series", "matrix"]
    assert opened.ids_like("cirlce") == ["circle"]
    assert opened.ids_like("cirlce" * 100) == []


def test_the_posts_of_a_document_are_found_by_its_name(tmp_path: Path) -> None:
    posts = [
        Post(f"notes.md#{number}", "On primes.", thread_id="notes.md", language="en")
        for number in range(3)
    ]
    other = Post("1", "Primes.", language="en")
    build_library(tmp_path / "l", [*posts, other], LIGHT, processes=1)
    opened = Library(tmp_path / "l")
    assert opened.posts_named(["notes.md", "nowhere.md", "1"]) == {
        "notes.md": {"notes.md#0", "notes.md#1", "notes.md#2"},
        "1": {"1"},
    }
    assert opened.sizes_of_documents(["notes.md"]) == {"notes.md": 3}
