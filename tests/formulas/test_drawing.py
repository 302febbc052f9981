"""Drawings of formula trees: well-formed, complete, without overlaps."""

import xml.etree.ElementTree as ElementTree
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.formulas.drawing import draw_layout_tree, draw_operator_tree
from mathsetu.formulas.notation import read_tree
from mathsetu.formulas.tree import POSITIONS, Tree

SVG = "{http://www.w3.org/2000/svg}"
FRACTION = "[O!divide[=[V!x,a[N!2],b[V!i]]],o[V!a[+[V!b]]],u[V!c]]"
VECTOR = "[M!()1x3[+[V!y]],a[N!2],w[V!x[&comma;],b[N!1],e[V!x[&comma;],b[N!2],e[V!x]]]]"


def rectangles(svg: str) -> list[tuple[float, float, float, float]]:
    found = []
    for rect in ElementTree.fromstring(svg).iter(f"{SVG}rect"):
        x, y, width, height = (float(rect.attrib[a]) for a in ("x", "y", "width", "height"))
        found.append((x, y, x + width, y + height))
    return found


def overlap(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def trees(edges: str) -> st.SearchStrategy[Tree]:
    labels = st.sampled_from(["V!x", "N!12", "O!divide", "T!a long text here", "∑", "", "T!中文字"])

    def node(inner: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
        return st.lists(inner, max_size=5).flatmap(
            lambda children: st.builds(
                lambda label, names: Tree(label, tuple(children), tuple(names[: len(children)])),
                labels,
                st.permutations(list(edges)),
            )
        )

    return st.recursive(st.builds(Tree, labels), node, max_leaves=25)


@given(trees("nabcdouwe"))
def test_no_two_nodes_of_a_layout_tree_overlap(tree: Tree) -> None:
    boxes = rectangles(draw_layout_tree(tree))
    assert len(boxes) == sum(1 for _ in tree.walk())
    assert not any(overlap(a, b) for a, b in combinations(boxes, 2))


@given(trees("".join(POSITIONS[:5])))
def test_no_two_nodes_of_an_operator_tree_overlap(tree: Tree) -> None:
    boxes = rectangles(draw_operator_tree(tree))
    assert len(boxes) == sum(1 for _ in tree.walk())
    assert not any(overlap(a, b) for a, b in combinations(boxes, 2))


@pytest.mark.parametrize("text", [FRACTION, VECTOR])
def test_all_nodes_are_inside_the_picture(text: str) -> None:
    svg = draw_layout_tree(read_tree(text))
    root = ElementTree.fromstring(svg)
    for left, top, right, bottom in rectangles(svg):
        assert min(left, top) >= 0
        assert right <= float(root.attrib["width"])
        assert bottom <= float(root.attrib["height"])


def test_a_superscript_is_drawn_above_and_a_denominator_below() -> None:
    base, script = rectangles(draw_layout_tree(read_tree("[V!x,a[N!2]]")))
    assert script[3] < base[1]
    assert script[0] >= base[2]
    boxes = rectangles(draw_layout_tree(read_tree("[O!divide,o[V!a],u[V!b]]")))
    fraction = max(boxes, key=lambda box: box[2] - box[0])
    above, below = sorted((box for box in boxes if box != fraction), key=lambda box: box[1])
    assert above[3] < fraction[1]
    assert below[1] > fraction[3]


def test_only_matched_nodes_are_coloured() -> None:
    tree = read_tree("[U!plus,0[V!x],1[V!x]]")
    svg = draw_operator_tree(tree, matched=[tree.children[1]])
    kinds = [rect.get("class") for rect in ElementTree.fromstring(svg).iter(f"{SVG}rect")]
    assert kinds.count("matched") == 1


def test_labels_cannot_become_markup() -> None:
    label = "T!</text><script>alert('x')</script>\x00\ud800"
    root = ElementTree.fromstring(draw_operator_tree(Tree(label)))
    assert {element.tag for element in root.iter()} == {
        SVG + name for name in ("svg", "style", "g", "title", "rect", "text")
    }


@pytest.mark.thorough
def test_five_thousand_levels_are_drawn() -> None:
    tree = Tree("V!x")
    for _ in range(5000):
        tree = Tree("O!minus", (tree,), ("0",))
    assert draw_operator_tree(tree).count("<rect") == 5001
    line = Tree("V!x")
    for _ in range(5000):
        line = Tree("V!x", (line,), ("n",))
    assert draw_layout_tree(line).count("<rect") == 5001
