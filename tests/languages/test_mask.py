"""Masking: formulas are kept when a text is translated."""

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.shared import arqmath_posts
from mathsetu.languages.mask import Masked, Unmasked, mask, unmask
from mathsetu.markup import split

PIECES = st.sampled_from(
    [*"$x$ $$y^2$$ \\(a\\) QZ7 Q Z q QZ 5 १२ - word मान \u200c \\$".split(" "), "qz 3", " "]
)
TEXTS = st.lists(PIECES).map("".join)


@given(TEXTS)
def test_masking_and_unmasking_restores_a_text_with_formulas(text: str) -> None:
    back = unmask(mask(text).text, mask(text))
    assert (back.text, back.lost) == (text, ())


@given(st.text())
def test_masking_and_unmasking_restores_any_text(text: str) -> None:
    assert unmask(mask(text).text, mask(text)).text == text


def test_text_that_looks_like_a_mask_is_restored() -> None:
    text = "The key QZ7 is $k$, not qz 1."
    assert "QZ7" not in mask(text).text
    assert unmask(mask(text).text, mask(text)).text == text


def test_very_long_numbers_after_a_mask_are_harmless() -> None:
    text = "QZ" + "9" * 10_000 + " and $x$"
    assert unmask(mask(text).text, mask(text)).text == text
    assert unmask("QZ" + "1" * 10_000, mask("$x$")).text == "$x$" + "1" * 9_999


def test_digits_attached_to_a_mask_belong_to_the_longest_number_that_exists() -> None:
    two, twelve = mask("$a$ $b$"), mask(" ".join(f"$x_{{{n}}}$" for n in range(1, 13)))
    assert twelve.hidden[11] == "$x_{12}$"
    assert unmask("QZ12", twelve).text.startswith("$x_{12}$ $x_{1}$")
    # There is no mask 13: this is mask 1 with a 3 attached.
    assert unmask("QZ13", twelve).text.startswith("$x_{1}$3 $x_{2}$")
    assert unmask("QZ12 QZ2", two) == Unmasked("$a$2 $b$", ())


def test_a_repeated_mask_is_removed_and_an_unknown_mask_is_kept() -> None:
    hidden = mask("$a$ $b$")
    assert unmask("QZ1 and QZ1, QZ2", hidden) == Unmasked("$a$ and , $b$", ())
    assert unmask("QZ2 QZ2", hidden) == Unmasked("$b$  $a$", ("$a$",))
    assert unmask("QZ0 QZ3", hidden) == Unmasked("QZ0 QZ3 $a$ $b$", ("$a$", "$b$"))


HOSTILITIES = {
    "lower case": str.lower,
    "spaces inside": lambda name: f"QZ {name[2:]}",
    "letters apart": lambda name: f"Q Z {name[2:]}",
    "Devanagari digits": lambda name: "QZ" + name[2:].translate(_digits("०")),
    "Persian digits": lambda name: "QZ" + name[2:].translate(_digits("۰")),
    "half-space": lambda name: f"QZ\u200c{name[2:]}",
    "hyphen": lambda name: f"QZ-{name[2:]}",
    "punctuation": lambda name: f"«{name}»,",
    "repeated": lambda name: f"{name} {name}",
    "glued to a word": lambda name: f"{name}को",
    "untouched": str,
}


def _digits(zero: str) -> dict[int, int]:
    return {ord("0") + n: ord(zero) + n for n in range(10)}


@given(
    formulas=st.lists(st.sampled_from(["$a$", "$b_1$", "$$c$$", "$d+1$"]), min_size=1, max_size=12),
    seed=st.integers(0, 10_000),
)
def test_a_hostile_translator_loses_no_formula(formulas: list[str], seed: int) -> None:
    generator = random.Random(seed)
    masked = mask(" और ".join(f"शब्द {formula}" for formula in formulas))
    lost = {n for n in range(1, len(formulas) + 1) if generator.random() < 0.15}
    hostilities = list(HOSTILITIES.values())
    words = [
        generator.choice(hostilities)(f"QZ{number}")
        for number in range(1, len(formulas) + 1)
        if number not in lost
    ]
    back = unmask(" शब्द ".join(words), masked)
    restored = [span.raw for span in split(back.text) if span.kind == "formula"]
    kept = [formula for number, formula in enumerate(formulas, 1) if number not in lost]
    # Formulas whose masks survived are in place and in order; the others are at the end.
    assert restored == kept + [formulas[number - 1] for number in sorted(lost)]
    assert back.lost == tuple(formulas[number - 1] for number in sorted(lost))


@pytest.mark.parametrize("hostility", HOSTILITIES)
def test_each_kind_of_hostile_change_alone_loses_no_formula(hostility: str) -> None:
    masked = mask("let $x$ be and $y$ too")
    change = HOSTILITIES[hostility]
    back = unmask(f"{change('QZ1')} ; {change('QZ2')}", masked)
    assert back.lost == ()
    assert back.text.count("$x$") == back.text.count("$y$") == 1
    assert back.text.index("$x$") < back.text.index(";") < back.text.index("$y$")


@pytest.mark.thorough
@pytest.mark.shared
def test_masking_and_unmasking_restores_every_topic_of_every_language(shared_data: Path) -> None:
    texts = 0
    for file in sorted((shared_data / "crossmath" / "topics").glob("*.tsv")):
        for line in file.read_text(encoding="utf-8").splitlines():
            masked = mask(line)
            assert unmask(masked.text, masked).text == line
            texts += 1
    assert texts > 1_000


@pytest.mark.shared
@pytest.mark.thorough
@pytest.mark.exhaustive
def test_masking_and_unmasking_restores_every_real_post(shared_data: Path) -> None:
    texts = 0
    for post in arqmath_posts(shared_data):
        for text in (post.title, post.question, post.body):
            masked = mask(text)
            assert unmask(masked.text, masked).text == text
            texts += 1
    assert texts > 10_000


def test_only_digits_directly_after_a_formula_are_hidden_with_it() -> None:
    assert mask("$a$ $b$ $c$57 d") == Masked("QZ1 QZ2 QZ3 d", ("$a$", "$b$", "$c$57"))
    assert mask("57 $a$ 57") == Masked("57 QZ1 57", ("$a$",))


def test_a_formula_with_repeated_masks_is_restored_once_and_unknown_masks_are_kept() -> None:
    masked = mask("$a$ $b$")
    assert unmask("QZ2 QZ2 QZ1 QZ1", masked).text == "$b$  $a$ "
    assert unmask("QZ0 QZ3 QZ1 QZ2", masked).text == "QZ0 QZ3 $a$ $b$"


def test_digits_after_code_are_not_hidden_with_the_formula_before_it() -> None:
    assert mask("$x$ and `c`5 more") == Masked("QZ1 and `c`5 more", ("$x$",))


def test_the_digits_after_a_repeated_mask_are_kept() -> None:
    assert unmask("QZ1 und QZ15", mask("Let $x$ be")).text == "$x$ und 5"
