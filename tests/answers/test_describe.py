r"""Hits and posts as users get them: literal text stays literal, formulas can be typeset.

Programs write a formula of a piece between ``\(`` and ``\)``, and compare it with the matched ones.
"""

from hypothesis import example, given
from hypothesis import strategies as st

from mathsetu.answers.describe import found, marked, pieces, whole_post
from mathsetu.answers.values import Piece
from mathsetu.markup import plain, to_marked_text
from mathsetu.records import Evidence, Hit, Post, Reason

EQUATION = r"\begin{equation} a=b+1 \label{sum} \end{equation}"
PARTS = [*r"\ ( ) [ ] $ $$ \( \) \begin{ align} } x `".split(), " "]
TEXTS = st.lists(st.sampled_from(PARTS), max_size=12).map("".join)


def test_a_matched_environment_has_the_same_text_in_the_snippet_and_the_formulas() -> None:
    post = Post("7", f"So {EQUATION} holds.", title=r"About \begin{align}x&=1\end{align}")
    evidence = Evidence("formula", asked=r"\begin{align}a&=b\end{align}", found=EQUATION)
    reasons = (Reason("formulas", 1.0, "", (evidence,)),)
    shown = found(Hit("7", 1.0, reasons=reasons), post, 1, typeset=True)
    assert Piece("formula", "a=b+1", display=True) in shown.snippet
    assert shown.title_pieces[1].text == r"\begin{aligned}x&=1\end{aligned}"
    (formula,) = shown.formulas
    assert (formula.asked, formula.found) == (r"\begin{aligned}a&=b\end{aligned}", "a=b+1")
    assert "<math" in formula.mathml


def test_delimiters_in_code_are_shown_as_they_were_written() -> None:
    post = Post("7", to_marked_text(r"<p>Type <code>\(x\)</code> for $5, then $y$.</p>", "html"))
    assert [piece.text for piece in whole_post(post).body] == [
        r"Type \(x\) for $5, then ", "y", ".",
    ]  # fmt: skip
    assert plain(post.body) == r"Type \(x\) for $5, then $y$."


@given(TEXTS)
@example(r"\($\)")
def test_formulas_are_the_same_after_pieces_become_text_and_pieces_again(text: str) -> None:
    once = pieces(text)
    again = pieces(marked(once))
    assert [piece.text for piece in again if piece.kind == "formula"] == [
        piece.text for piece in once if piece.kind == "formula"
    ]
