"""An open library: its posts, files and collections, and the options of its methods."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from mathsetu.collections.tally import Tally
from mathsetu.errors import InputError, Unavailable, UnknownPost
from mathsetu.library import Filter, Library, add_posts, build_library, remove_posts
from mathsetu.library import library as module
from mathsetu.library.query_translation import LONGEST_QUERY
from mathsetu.library.reproduction import same_recipe
from mathsetu.records import Post, Query
from mathsetu.retrieval.lexical import LexicalRetriever
from tests.light import LIGHT

POSTS = [
    Post("notes.md", "A preface on primes.", title="Notes", thread_id="notes.md", url="notes.md",
         kind="section", language="en", collection="school"),
    Post("notes.md#one", "The first prime is $2$.", title="One", thread_id="notes.md",
         url="notes.md#one", kind="section", language="en", collection="school"),
    Post("notes.md#two", "The second prime is $3$.", title="Two", thread_id="notes.md",
         url="notes.md#two", kind="section", language="en"),
    Post("books.zip/a.md#x", "A matrix $A$.", title="X", thread_id="books.zip/a.md",
         url="books.zip/a.md#x", kind="section", language="en", collection="books"),
    Post("q7", "Which prime is even?", title="Even primes", thread_id="q7", kind="question",
         language="en", tags=("primes",)),
    Post("a8", "Only $2$ is.", thread_id="q7", kind="answer", parent_id="q7", language="en"),
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("library") / "lib"
    build_library(made, POSTS, LIGHT, processes=1)
    return made


@pytest.fixture(scope="module")
def library(folder: Path) -> Iterator[Library]:
    with Library(folder) as opened:
        yield opened


def test_a_library_reports_its_folder_and_its_content(library: Library, folder: Path) -> None:
    assert (library.folder, library.manifest.posts, library.version) == (folder, 6, "")
    assert len(library) == 6
    assert library.languages == {"en": 6}
    assert repr(library) == f"<Library {str(folder)!r}: 6 posts, languages en, recipe light>"
    assert library.present(["q7", "q8"]) == {"q7"}
    assert list(library.titles(2)) == [(0, "Notes"), (1, "One")]
    assert library.titles_of([4, 0]) == ["Even primes", "Notes"]
    assert library.tags(5) == {"primes": 1}
    assert library.post("a8").question == "Which prime is even?"
    with pytest.raises(UnknownPost):
        library.post("a9")
    with pytest.raises(InputError, match=r"^the id is 7 \(int\); give a text$"):
        library.post(7)  # type: ignore[arg-type]


def test_names_of_posts_documents_and_archives_select_posts(library: Library) -> None:
    names = ["notes.md", "books.zip", "books.zip/a.md", "q7", "a8", "gone.md", "notes.md#one"]
    assert library.posts_named(names) == {
        "notes.md": {"notes.md", "notes.md#one", "notes.md#two"},
        "books.zip": {"books.zip/a.md#x"},
        "books.zip/a.md": {"books.zip/a.md#x"},
        "q7": {"q7"},
        "a8": {"a8"},
        "notes.md#one": {"notes.md#one"},
    }
    assert library.sizes_of_documents(["notes.md", "books.zip", "gone.md"]) == {
        "notes.md": 3,
        "books.zip": 1,
    }
    assert library.files_below("") == ["books.zip", "books.zip/a.md", "notes.md"]
    assert library.files_below("notes") == ["notes.md"]


def test_a_thread_whose_question_was_removed_selects_no_posts(folder: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    remove_posts(copy, ["q7"])
    with Library(copy) as opened:
        assert opened.posts_named(["q7"]) == {}
        assert len(opened) == 5


def test_posts_of_a_file_that_were_not_replaced_are_counted_as_older(library: Library) -> None:
    tally = Tally()
    tally.add_source(POSTS[1])
    assert library.older_posts(tally) == {"notes.md": 2}
    tally.add_source(POSTS[2])
    assert library.older_posts(tally) == {"notes.md": 1}
    tally.posts_of_files["notes.md"] = 3
    assert library.older_posts(tally) == {}


def test_new_posts_of_a_file_get_the_collection_of_that_file(library: Library) -> None:
    assert library.has_collection("school")
    assert not library.has_collection("home")
    new = Post("notes.md#new", "x", thread_id="notes.md", url="notes.md#new", kind="section")
    archived = Post("books.zip/b.md#y", "x", thread_id="books.zip/b.md", url="books.zip/b.md#y",
                    kind="section")  # fmt: skip
    stated = replace(new, id="notes.md#own", url="notes.md#own", collection="own")
    other = Post("9", "x")
    assert library.kept_collections(
        [new, archived, stated, other, replace(POSTS[3], collection="")]
    ) == {
        "notes.md#new": "school",
        "books.zip/b.md#y": "books",
        "books.zip/a.md#x": "books",
    }


def test_ids_similar_to_a_mistyped_id_are_found(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert library.ids_like("notes.md#") == ["notes.md#one", "notes.md#two"]
    assert library.ids_like("notes.md#", 1) == ["notes.md#one"]
    assert library.ids_like("notes.md#", but={"notes.md#one"}) == ["notes.md#two"]
    assert library.ids_like("note.md#one")[0] == "notes.md#one"
    assert library.ids_like("zzzz") == []
    monkeypatch.setattr(module, "_LONGEST_COMPARED", 10)
    assert library.ids_like("note.md#one") == []
    assert library.ids_like("otes.md#tw") == ["notes.md#two"]


def test_a_library_knows_whether_its_posts_contain_a_word(library: Library) -> None:
    assert library.has_words(["matrix"])
    assert not library.has_words(["zebra"])


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"k": 0}, "k is 0; it must be at least 1"),
        ({"k": "5"}, r"k is '5' \(str\); give an integer"),
        ({"k": True}, r"k is True"),
        ({"where": "en"}, r"where is 'en' \(str\); give a Filter"),
        ({"language": 7}, "language is 7"),
    ],
)
def test_wrong_options_of_a_search_are_refused(
    library: Library, options: dict[str, object], problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        library.search("prime", **options)  # type: ignore[arg-type]


def test_a_query_record_that_is_too_long_is_refused(library: Library) -> None:
    with pytest.raises(InputError, match="query 1 has 600,000 characters; at most"):
        library.search(Query("1", "prime " * LONGEST_QUERY))


def test_a_search_respects_k_explain_and_where(library: Library) -> None:
    assert len(library.search("prime", 1)) == 1
    everyone = library.search("prime", 50)
    assert len(everyone) == 5
    assert [hit.id for hit in library.search("prime", 2)] == [hit.id for hit in everyone[:2]]
    assert all(hit.reasons for hit in everyone)
    assert not any(hit.reasons for hit in library.search("prime", explain=False))
    assert {hit.id for hit in library.search("prime", where=Filter(tags=["primes"]))} == {"q7"}


def test_only_posts_of_a_pool_are_ranked(library: Library) -> None:
    pools = {"1": ["q7", "gone", "notes.md#one"], "2": ["gone"]}
    queries = [Query("1", "prime"), Query("2", "prime")]
    run = library.run(queries, pools=pools)
    assert {hit.id for hit in run.rankings["1"]} == {"q7", "notes.md#one"}
    assert run.rankings["2"] == ()
    assert len(library.run(queries[:1], 1, pools=pools).rankings["1"]) == 1


def test_a_run_has_no_reasons_unless_they_are_requested(library: Library) -> None:
    query = Query("1", "prime")
    assert not any(hit.reasons for hit in library.run([query], 3).rankings["1"])
    assert all(hit.reasons for hit in library.run([query], 3, explain=True).rankings["1"])


def test_an_unavailable_part_is_named_unless_nothing_else_finds_a_post(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise Unavailable("the words cannot be reached")

    monkeypatch.setattr(LexicalRetriever, "ask", fail)
    answer = library.answer("$2$")
    assert answer.hits
    assert answer.missing == {"words": "the words cannot be reached"}
    with pytest.raises(Unavailable, match="words is missing from the answer"):
        library.answer("prime")


def test_formula_instances_name_the_posts_that_contain_them(library: Library) -> None:
    found = library.formula_instances(Query("1", "$2$"), 5, every=True)
    assert [one.formula.post_id for one in found if one.formula.latex == "2"] == [
        "notes.md#one",
        "a8",
    ]
    assert len(library.formula_instances(Query("1", "$2$"), 1)) == 1
    with pytest.raises(InputError, match="has 100,"):
        library.formula_instances(Query("1", f"$2$ {'x' * 100_000}"), 5)


def test_a_heat_map_needs_a_recipe_with_a_graph_index(library: Library) -> None:
    with pytest.raises(InputError, match=r"^the recipe light has no graph index$"):
        library.heat_map("prime", "q7")


def test_answers_that_are_indexed_again_do_not_count_as_added(folder: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    changed = replace(POSTS[4], body="Which even number is prime?")
    assert add_posts(copy, [changed, Post("n", "New words.", language="en")], processes=1) == 2
    with Library(copy) as opened:
        assert len(opened) == 7
        assert opened.post("a8").question == "Which even number is prime?"
    assert remove_posts(copy, ["n", "gone"]) == 1
    assert remove_posts(copy, ["n"]) == 0
    with pytest.raises(
        InputError, match="this would remove all of its posts; remove the folder instead"
    ):
        remove_posts(copy, [post.id for post in POSTS])


def test_a_library_knows_whether_it_was_built_with_a_recipe(folder: Path, tmp_path: Path) -> None:
    assert same_recipe(folder, LIGHT)
    assert not same_recipe(folder, replace(LIGHT, name="other"))
    assert not same_recipe(tmp_path, LIGHT)


def test_refresh_returns_whether_the_folder_has_changed(tmp_path: Path) -> None:
    build_library(tmp_path / "lib", POSTS, LIGHT, processes=1)
    with Library(tmp_path / "lib") as opened:
        assert opened.refresh() is False
        add_posts(tmp_path / "lib", [Post("new", "A prime.")], processes=1)
        assert len(opened) == len(POSTS)
        assert opened.refresh() is True
        assert len(opened) == len(POSTS) + 1


def test_closing_a_library_closes_the_store_of_every_segment(tmp_path: Path) -> None:
    build_library(tmp_path / "lib", POSTS, LIGHT, processes=1)
    add_posts(tmp_path / "lib", [Post("new", "A prime.")], processes=1)
    opened = Library(tmp_path / "lib")
    stores = opened._backend.now().stored_posts._stores  # type: ignore[attr-defined]
    assert [store.number_of("new") is None for store in stores] == [True, False]
    opened.close()
    for store in stores:
        with pytest.raises(Exception, match="closed"):
            store.number_of("new")
