import pytest

from mathsetu.formulas.labels import normalise, normalise_label
from mathsetu.formulas.tree import Tree


@pytest.mark.parametrize(
    ("label", "plain"),
    [("V!𝑥", "V!x"), ("V!ℎ", "V!h"), ("V!𝜋", "V!π"), ("V!italic-ϕ", "V!ϕ"), ("-!y", "V!y")],
)
def test_italic_letters_become_plain(label: str, plain: str):
    assert normalise_label(label) == plain


@pytest.mark.parametrize("label", ["V!ℝ", "V!𝐀", "U!plus", "N!2", "+", "", "V!x"])
def test_other_labels_are_not_changed(label: str):
    assert normalise_label(label) == label


def test_normalising_copies_the_tree_and_keeps_its_symbols():
    tree = Tree("U!plus", (Tree("V!𝑎", symbol=0), Tree("N!1", symbol=2)), ("0", "1"), symbol=1)
    copy = normalise(tree)
    assert [(n.label, n.symbol) for n in copy.walk()] == [("U!plus", 1), ("V!a", 0), ("N!1", 2)]
    assert tree.children[0].label == "V!𝑎"


def test_deep_trees_do_not_overflow():
    tree = Tree("V!𝑥")
    for _ in range(5000):
        tree = Tree("F!sin", (tree,), ("0",))
    assert sum(1 for _ in normalise(tree).walk()) == 5001
