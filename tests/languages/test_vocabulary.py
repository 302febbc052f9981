"""Which words a language knows."""

import pytest

from mathsetu.languages.vocabulary import known_share


@pytest.mark.parametrize(
    ("text", "code", "share"),
    [
        ("equação quadrática", "pt", 1.0),  # terms
        ("comprou", "pt", 1.0),  # another form of one
        ("byaj", "pl", 0.0),  # somewhere in parallel text, where many a typing error is
        ("número qwzx", "es", 6 / 10),
    ],
)
def test_words_are_known_by_the_terms_of_a_language(text: str, code: str, share: float) -> None:
    assert known_share(text, [code], lambda terms: False) == pytest.approx(share)


def test_a_word_that_posts_use_is_known() -> None:
    assert known_share("byaj", ["pl"], lambda terms: terms == ["byaj"]) == 1.0
