"""Correction of misspelt words, edit distance, and the index of prefixes."""

import pytest

from mathsetu.library.prefix_index import PrefixIndex, folded
from mathsetu.library.spelling import Spelling, edits


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("groub", "group"),
        ("grop", "group"),
        ("gro", ""),  # too short
        ("grxxp", ""),  # two letters of a short word
        ("polynom1al", "polynomial"),
        ("polinomyal", "polynomial"),
        ("polinomyel", ""),  # three letters
        ("groups", ""),  # an ending
        ("groupp", "group"),  # a letter typed twice
        ("polynomialss", ""),  # two letters at the end
        ("polynomialx", "polynomial"),
        ("polynomia", "polynomial"),
        ("integrl", "integral"),
        ("intxgrl", ""),  # seven letters may have one wrong
        ("intxgrml", "integral"),  # eight may have two
        ("intgeral", "integral"),
    ],
)
def test_one_wrong_letter_is_corrected_and_two_in_a_long_word(typed: str, meant: str) -> None:
    known = Spelling({"group": 3, "polynomial": 2, "integral": 1})
    assert known.nearest(typed) == meant


def test_equally_near_words_are_ordered_by_common_letters_then_by_frequency() -> None:
    assert Spelling({"trap": 5, "ramp": 9, "trim": 20}).nearest("tramp") == "ramp"
    assert Spelling({"cart": 9, "calm": 1}).nearest("clam") == "calm"
    assert Spelling({"bats": 1, "cats": 5, "rats": 3}).nearest("xats") == "cats"
    assert Spelling({}).nearest("group") == ""


@pytest.mark.parametrize(
    ("one", "other", "most", "count"),
    [
        ("abcd", "abcd", 2, 0),
        ("abcd", "abdc", 2, 1),
        ("abcd", "badc", 2, 2),
        ("abcd", "bad", 2, 2),
        ("abcd", "xbcy", 2, 2),
        ("abcd", "wxyz", 2, 3),
        ("abcd", "wxyz", 1, 2),
        ("abcd", "a", 2, 3),
        ("abc", "abcde", 2, 2),
        ("", "ab", 2, 2),
        ("ab", "", 2, 2),
        ("ca", "abc", 3, 3),
    ],
)
def test_edits_are_counted_up_to_one_more_than_the_limit(
    one: str, other: str, most: int, count: int
) -> None:
    assert edits(one, other, most) == edits(other, one, most) == count


def test_texts_that_start_with_the_prefix_come_first_then_shorter_ones() -> None:
    texts = ["A long text on primes", "On primes", "Primes and more", "Primes", "Prime $x$ numbers"]
    table = PrefixIndex(texts)
    assert len(table) == 5
    assert table.find("prim", 9) == [3, 4, 2, 1, 0]
    assert table.find("prim", 2) == table.find("prim", 9)[:2]
    assert table.find("primes ", 9) == [2]
    assert table.find("primes and", 9) == [2]
    assert table.find("prime numb", 9) == [4]
    assert table.find("", 9) == table.find("rimes", 9) == []
    assert table.words().count("primes") == 4
    assert len(PrefixIndex([])) == 0
    assert PrefixIndex([]).find("a", 1) == []
    assert PrefixIndex(["", "b"]).find("b", 1) == [1]


def test_long_prefixes_are_compared_in_full() -> None:
    same = "a" * 40
    table = PrefixIndex([f"{same} x", f"{same} y", f"{same[:31]} z"])
    assert table.find(f"{same} y", 5) == [1]
    assert table.find(same[:32], 5) == [0, 1]
    assert table.find(same[:31], 5) == [2, 0, 1]
    assert folded("Ä $x$ B") == "a b"
