"""The Python interface of a library: hits, `repr`, `refresh`, and clear errors."""

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from mathsetu.errors import InputError
from mathsetu.library import Library, add_posts, build_library, remove_posts
from mathsetu.records import Hit, Post


def test_hits_have_the_fields_of_their_posts_and_can_be_printed(sampler_library: Library) -> None:
    answer = sampler_library.answer("integral $\\int_0^\\infty e^{-x^2}dx$", 3)
    hits = sampler_library.search("integral $\\int_0^\\infty e^{-x^2}dx$", 3)
    assert hits == answer.hits
    for hit in (*hits, *answer.hits):
        post = sampler_library.post(hit.id)
        assert (hit.title, hit.language, hit.url) == (post.title, post.language, post.url)
        assert hit.place
        assert 0 < len(hit.snippet) < 300
        assert str(hit).startswith(f"{hit.title}  [{hit.language}] {hit.score:.3f}")
    lines = str(answer).split("\n")
    assert lines[0].endswith("posts found")
    assert lines[1].startswith(f"1. {hits[0].title}")
    later = str(sampler_library.answer("integral", 1, offset=6))
    assert later.split("\n")[1].startswith("7. ")


def test_printed_hits_contain_no_control_characters() -> None:
    evil = "a\x1b[2J\nb\u202e"
    post = Post(id=evil, body=evil, title=evil, language=evil, url=evil)
    for hit in (Hit(evil, 1.0), Hit(evil, 1.0, post=post)):
        assert not {"\x1b", "\u202e"} & set(str(hit))
        assert str(hit).count("\n") == (hit.post is not None)


def test_the_repr_describes_the_library(library: Path) -> None:
    with Library(library) as opened:
        said = f"<Library {str(library)!r}: 4 posts, languages en, recipe default>"
        assert repr(opened) == said


@pytest.mark.parametrize(
    ("posts", "problem"),
    [
        (Post("1", "One."), "posts is Post("),
        ("1", "posts is '1' (str); give a list of posts"),
        ([{"id": "1"}], "post 1 is {'id': '1'} (dict); give a Post"),
        ([Post("1", "One."), Post(2, "Two.")], "post 2: id is 2 (int); give a text"),  # type: ignore[arg-type]
        ([Post("1", None)], "post 1: body is None (NoneType); give a text"),  # type: ignore[arg-type]
        ([Post("1", "One.", tags="a")], "post 1: tags is 'a' (str); give a tuple of texts"),  # type: ignore[arg-type]
    ],
)
def test_posts_of_a_wrong_type_are_refused_and_change_nothing(
    library: Path, tmp_path: Path, posts: Any, problem: str
) -> None:
    with pytest.raises(InputError, match=re.escape(problem)):
        build_library(tmp_path / "new", posts, processes=1)
    assert not (tmp_path / "new").exists()
    with pytest.raises(InputError, match=re.escape(problem)):
        add_posts(library, posts, processes=1)
    assert len(Library(library)) == 4


def test_a_text_instead_of_a_list_of_ids_is_refused(library: Path) -> None:
    with pytest.raises(InputError, match=r"ids is 'primes' \(str\); give a list of ids"):
        remove_posts(library, "primes")


@pytest.mark.thorough
def test_refresh_shows_changes_while_other_threads_search(library: Path) -> None:
    opened = Library(library)
    assert opened.refresh() is False
    with ThreadPoolExecutor(4) as pool:
        under_way = [pool.submit(opened.search, "prime numbers", 1) for _ in range(8)]
        add_posts(library, [Post("twin", "Twin primes differ by two.")], processes=1)
        assert len(opened) == 4
        assert opened.refresh()
        under_way += [pool.submit(opened.search, "twin primes", 1) for _ in range(4)]
        found = [job.result()[0].id for job in under_way]
    assert found == ["primes"] * 8 + ["twin"] * 4
    assert not opened.refresh()
    remove_posts(library, ["twin"])
    assert opened.refresh()
    assert len(opened) == 4
    opened.close()


@pytest.mark.parametrize(
    ("arguments", "options", "problem"),
    [
        ((5,), {}, "the query is 5 (int); give a text or a Query"),
        ((None,), {}, "the query is None (NoneType); give a text or a Query"),
        (("x", "5"), {}, "k is '5' (str); give an integer"),
        (("x", 2.5), {}, "k is 2.5 (float); give an integer"),
        (("x",), {"where": "en"}, "where is 'en' (str); give a Filter"),
        (("x",), {"language": 5}, "language is 5 (int); give a code such as 'hi'"),
        (("x",), {"offset": "1"}, "offset is '1' (str); give an integer"),
        (("x",), {"min_score": "1"}, "min_score is '1' (str); give a number"),
        (("x",), {"weights": ["words"]}, "weights is ['words'] (list); give a table"),
    ],
)
def test_arguments_of_a_wrong_type_are_refused_with_a_clear_message(
    sampler_library: Library, arguments: tuple[Any, ...], options: dict[str, Any], problem: str
) -> None:
    with pytest.raises(InputError) as caught:
        sampler_library.answer(*arguments, **options)
    assert problem in str(caught.value)
