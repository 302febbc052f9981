"""Trees as text, in Tangent's form."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.errors import NotationError
from mathsetu.formulas.notation import read_tree, write_tree
from mathsetu.formulas.tree import POSITIONS, Tree

LABELS = st.text(min_size=1, max_size=5).filter(
    lambda text: text.strip() == text and "&" not in text
)


def trees(edges: str) -> st.SearchStrategy[Tree]:
    def node(children: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
        lists = st.lists(children, max_size=4)
        return st.builds(
            lambda label, below: Tree(label, tuple(below), tuple(edges[: len(below)])),
            LABELS,
            lists,
        )

    return st.recursive(st.builds(Tree, LABELS), node, max_leaves=12)


@given(trees("nabo"))
def test_written_layout_trees_are_read_back_unchanged(tree: Tree) -> None:
    assert read_tree(write_tree(tree)) == tree


@given(trees("".join(POSITIONS[:4])))
def test_written_operator_trees_are_read_back_unchanged(tree: Tree) -> None:
    assert read_tree(write_tree(tree)) == tree


def test_special_characters_are_written_as_entities() -> None:
    tree = Tree("M![]1x2", (Tree(","), Tree("?x")), ("w", "e"))
    assert write_tree(tree) == "[M!&lsqb;&rsqb;1x2,w[&comma;],e[&quest;x]]"


def test_trees_with_csv_quotes_are_read() -> None:
    assert read_tree('"[V!x,a[V!""]]"') == Tree("V!x", (Tree('V!"'),), ("a",))


@pytest.mark.thorough
def test_deep_trees_are_read_and_written() -> None:
    text = "[a" * 20_000 + "]" * 20_000
    assert write_tree(read_tree(text)) == text


@pytest.mark.parametrize("text", ["", "x", "[a", "[a]]", "[a][b]", "a]", ",a[b]", "[a,b]"])
def test_malformed_text_is_refused(text: str) -> None:
    with pytest.raises(NotationError):
        read_tree(text)
