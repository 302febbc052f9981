"""The heat map: a cell for each pair, a frame around the best of each row, long names cut."""

import re

from mathsetu.evaluation.heatmap import heat_map, is_heat_map


def test_cells_have_colours_by_their_values_and_the_best_of_a_row_is_framed() -> None:
    drawn = heat_map(["a<b", "c"], ["x", "y", "z"], [[0.0, 1.0, 0.5], [0.25, 0.0, 2.0]])
    cells = re.findall(r'fill="(#[0-9a-f]{6})"( stroke="black")?><title>([^<]*)</title>', drawn)
    titles = [title for _, _, title in cells]
    assert titles == [
        "a&lt;b ~ x: 0.00", "a&lt;b ~ y: 1.00", "a&lt;b ~ z: 0.50",
        "c ~ x: 0.25", "c ~ y: 0.00", "c ~ z: 2.00",
    ]  # fmt: skip
    assert [title[-7:] for _, framed, title in cells if framed] == ["y: 1.00", "z: 2.00"]
    colours = [colour for colour, _, _ in cells]
    assert colours[0] == "#ffffff"
    # Values above 1 are as dark as 1.
    assert colours[1] == colours[5]
    assert len({*colours[:4]}) == 4


def test_a_long_name_is_cut_to_28_characters() -> None:
    drawn = heat_map(["x" * 28, "y" * 29], ["c"], [[1.0], [1.0]])
    assert f">{'x' * 28}<" in drawn
    assert f">{'y' * 27}…<" in drawn


def test_labels_are_above_their_columns_and_beside_their_rows() -> None:
    drawn = heat_map(["a", "b"], ["x", "y", "z"], [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])
    cells = re.findall(r'<rect x="(\d+)" y="(\d+)" width="20" height="20"', drawn)
    lefts, tops = ([int(cell[side]) for cell in cells] for side in (0, 1))
    across = [int(place) for place in re.findall(r"translate\((\d+),", drawn)]
    # A label is turned, so that its baseline is right of the middle of its column.
    assert [place - left for place, left in zip(across, lefts[:3], strict=True)] == [14] * 3
    assert 'viewBox="0 0 264 242" width="264" height="242"' in drawn
    assert max(lefts) + 20 < 264
    assert max(tops) + 20 < 242
    down = [int(place) for place in re.findall(r'y="(\d+)" text-anchor="end"', drawn)]
    assert [place - top for place, top in zip(down, tops[::3], strict=True)] == [14] * 2


def test_a_heat_map_is_recognised_by_its_first_line() -> None:
    drawn = heat_map(["a"], ["x"], [[0.5]])
    assert is_heat_map(drawn)
    assert not is_heat_map("\n" + drawn)
    assert not is_heat_map('<svg width="1">\n</svg>')
