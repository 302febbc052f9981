"""Markdown as its writers' tools read it."""

import pytest

from mathsetu.collections.documents import markdown


@pytest.mark.parametrize(
    ("front", "tags"),
    [
        ("keywords: a, b, a", ("a", "b")),
        ("tags:\n- '#a'\n-  \"b c\"\nother:\n- d", ("a", "b c")),
        ("tags: []", ()),
        ("title: x", ()),
    ],
)
def test_tags_of_the_front_matter(front: str, tags: tuple[str, ...]) -> None:
    assert markdown._tags(front) == tags


def test_quotes_around_a_value_go() -> None:
    for text, plain in (("'a'", "a"), ('"a"', "a"), ("'a\"", "'a\""), ("'", "'"), ("''", "")):
        assert markdown._unquoted(f" {text} ") == plain
