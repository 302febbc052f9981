"""The share of words that a language knows."""

import pytest

from mathsetu.languages.vocabulary import known_share


@pytest.mark.parametrize(
    ("text", "code", "share"),
    [
        ("equação quadrática", "pt", 1.0),  # terms
        ("comprou", "pt", 1.0),  # another form of a term
        ("byaj", "pl", 0.0),  # only in parallel text, which has typing errors
        ("número qwzx", "es", 6 / 10),
    ],
)
def test_the_known_share_counts_words_of_terms_of_the_language(
    text: str, code: str, share: float
) -> None:
    assert known_share(text, [code], lambda terms: False) == pytest.approx(share)


def test_a_word_that_occurs_in_posts_is_known() -> None:
    assert known_share("byaj", ["pl"], lambda terms: terms == ["byaj"]) == 1.0
