"""A marked text is the same after it is restored from a store."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.intake import MarkedText, read_post
from mathsetu.intake.posts import PostFacts
from mathsetu.markup import split
from mathsetu.records import Formula, Post

PIECES = [
    "$x^2$",
    "$$y$$",
    r"\(z\)",
    r"\$5",
    "`code`",
    "$",
    "\\",
    "words ",
    "\n\n",
    r"\[\]",
    "é$a$b",
]
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=8)).map("".join)


@given(TEXTS)
def test_stored_places_restore_the_same_spans(text: str) -> None:
    places = json.loads(json.dumps(MarkedText(text).places()))
    assert MarkedText.placed(text, places).spans == tuple(split(text))


@given(st.lists(TEXTS, max_size=4))
def test_joined_texts_have_the_formulas_of_all(texts: list[str]) -> None:
    marked = [MarkedText(text) for text in texts]
    joined = MarkedText.joined(marked)
    assert joined.text == "\n\n".join(text for text in texts if text)
    assert joined.formulas == tuple(latex for one in marked for latex in one.formulas)


@pytest.mark.parametrize(
    "places", [[2], [99], [[5, 1, 4]], [["x"]], [[3, "script", "", False, ""]], [None], [[]]]
)
def test_invalid_places_are_refused(places: list[object]) -> None:
    with pytest.raises((ValueError, TypeError, IndexError)):
        MarkedText.placed("Is $x^2$ even?", places)


@pytest.mark.parametrize(
    "formulas",
    [
        (),
        (Formula("7:body:0", "x", post_id="7", where="body", start=4),),
        (Formula("q_1", "x", "v_1", "7", "body"),),
    ],
)
def test_a_stored_post_is_restored_with_its_formulas(
    formulas: tuple[Formula, ...],
) -> None:
    post = Post(id="7", body="Let $x$ be even.", language="en", formulas=formulas)
    facts = read_post(post)
    stored, known = facts.stored()
    back = PostFacts.restored(stored, json.loads(json.dumps(known)))
    assert back.post == post
    assert back.all_formulas == facts.all_formulas
    assert [formula.latex for formula in back.all_formulas] == ["x"]
