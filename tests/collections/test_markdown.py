"""The front matter of Markdown notes."""

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
def test_tags_are_read_from_the_front_matter(front: str, tags: tuple[str, ...]) -> None:
    assert markdown._tags(front) == tags


def test_quotes_around_a_value_are_removed() -> None:
    for text, plain in (("'a'", "a"), ('"a"', "a"), ("'a\"", "'a\""), ("'", "'"), ("''", "")):
        assert markdown._unquoted(f" {text} ") == plain
