"""The comparison with LaTeXML: what is compared, and what is left out."""

from collections import Counter

import pytest

from benchmarks.formula_fidelity import Agreement, flaw, part_held


def mathml(alttext: str, shown: str) -> str:
    return f'<math alttext="{alttext}"><mi>{shown}</mi><annotation-xml>…</annotation-xml></math>'


def test_only_the_cell_of_an_alignment_that_the_reference_has_is_compared():
    aligned = r"\begin{align} p &= q+r \\ &= 7 \end{align}"
    assert part_held(aligned, mathml(r"\displaystyle p", "p")) == r"\displaystyle p"


def test_only_the_formula_in_a_text_that_the_reference_has_is_compared():
    assert part_held(r"\text{where $k$ is odd}", mathml("k", "k")) == "k"


@pytest.mark.parametrize(
    ("latex", "alttext"),
    [
        (r"\begin{align} p=q \end{align}", r"\displaystyle p=q"),
        (r"\begin{pmatrix} p & q \end{pmatrix}", r"\begin{pmatrix}p&amp;q\end{pmatrix}"),
        ("p + q", "p"),
    ],
)
def test_any_other_formula_is_compared_as_a_whole(latex: str, alttext: str):
    assert part_held(latex, mathml(alttext, "pq")) == latex


def test_the_flaw_of_an_unusable_reference_is_reported():
    text = mathml(r"\begin{equation}p=q\end{equation}", "(1)Equation 1")
    assert "plain text" in str(flaw("p=q", text))
    assert "lost" in str(flaw("p+q+r+s", mathml("p+q+r+s", "p")))
    assert flaw("p+q", mathml("p+q", "pq")) is None


def test_a_long_formula_has_more_weight_in_the_sum_but_not_in_the_mean():
    agreement = Agreement()
    assert agreement.add(Counter("pq"), Counter("pq")) == 1.0
    assert agreement.add(Counter("klmnrstu"), Counter("")) == 0.0
    assert agreement.row() == "0.3333 0.5000"
