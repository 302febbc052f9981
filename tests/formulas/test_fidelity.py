"""What the comparison with LaTeXML compares, and what it leaves out."""

from collections import Counter

import pytest

from benchmarks.formula_fidelity import Agreement, flaw, part_held


def mathml(alttext: str, shown: str) -> str:
    return f'<math alttext="{alttext}"><mi>{shown}</mi><annotation-xml>…</annotation-xml></math>'


def test_of_an_alignment_only_the_cell_that_the_reference_holds_is_compared():
    aligned = r"\begin{align} p &= q+r \\ &= 7 \end{align}"
    assert part_held(aligned, mathml(r"\displaystyle p", "p")) == r"\displaystyle p"


def test_of_a_text_only_the_formula_that_the_reference_holds_is_compared():
    assert part_held(r"\text{where $k$ is odd}", mathml("k", "k")) == "k"


@pytest.mark.parametrize(
    ("latex", "alttext"),
    [
        (r"\begin{align} p=q \end{align}", r"\displaystyle p=q"),
        (r"\begin{pmatrix} p & q \end{pmatrix}", r"\begin{pmatrix}p&amp;q\end{pmatrix}"),
        ("p + q", "p"),
    ],
)
def test_what_the_reference_holds_whole_or_lost_for_no_reason_is_compared_whole(
    latex: str, alttext: str
):
    assert part_held(latex, mathml(alttext, "pq")) == latex


def test_references_that_are_no_trees_are_told_by_kind():
    text = mathml(r"\begin{equation}p=q\end{equation}", "(1)Equation 1")
    assert "plain text" in str(flaw("p=q", text))
    assert "lost" in str(flaw("p+q+r+s", mathml("p+q+r+s", "p")))
    assert flaw("p+q", mathml("p+q", "pq")) is None


def test_a_long_formula_weighs_more_in_the_sum_and_no_more_in_the_mean():
    agreement = Agreement()
    assert agreement.add(Counter("pq"), Counter("pq")) == 1.0
    assert agreement.add(Counter("klmnrstu"), Counter("")) == 0.0
    assert agreement.row() == "0.3333 0.5000"
