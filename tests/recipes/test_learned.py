"""The learned parameters of a fusion: stored in a file, read back, and used by recipes."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.errors import InputError
from mathsetu.ranking.fusion import RBC, WIBC, Linear
from mathsetu.recipes import load_recipe
from mathsetu.recipes.learned import LearnedFusion, learned_from, learned_text, read_learned

ROWS = st.lists(st.floats(0, 9), min_size=3, max_size=3).map(tuple)


@given(st.dictionaries(st.text(min_size=1), ROWS, min_size=1, max_size=4), st.floats(-3, 3))
def test_a_learned_regression_is_read_back_unchanged(
    tmp_path_factory: pytest.TempPathFactory, rows: dict[str, tuple[float, ...]], start: float
) -> None:
    fusion = RBC(tuple(rows.values()), start)
    path = tmp_path_factory.mktemp("learned") / "rbc.toml"
    path.write_text(learned_text(learned_from("rbc", fusion, list(rows)), "from a test"), "utf-8")
    assert read_learned(path).fusion(list(rows)) == fusion


def test_learned_weights_belong_to_the_names_of_runs_in_any_order() -> None:
    learned = learned_from("wibc", WIBC(weights=(0.7, 0.3)), ["words", "formulas"])
    assert learned.fusion(["formulas", "words"]) == WIBC(weights=(0.3, 0.7))
    with pytest.raises(InputError, match="was learned for words, formulas, not for words, other"):
        learned.fusion(["words", "other"])
    with pytest.raises(InputError, match="not different"):
        learned_from("wibc", WIBC(weights=(0.7, 0.3)), ["words", "words"])


def test_learned_parameters_can_be_applied_to_a_recipe() -> None:
    rbc = load_recipe("msm-ens-17")
    learned = learned_from("rbc", RBC(((0.1, 0.2, 0.3), (1.0, 0.0, 0.0)), 0.5), rbc.members)
    changed = learned.applied(rbc)
    assert changed.fusion(changed.ranking.weights) == learned.fusion(rbc.members)
    linear = learned_from("linear", Linear(weights=(3.0, 1.0)), rbc.members).applied(rbc)
    assert linear.ranking.weights == {"msm-4": 0.75, "mirmu-1": 0.25}
    with pytest.raises(InputError, match="was learned for msm-4, mirmu-1, not for"):
        learned.applied(load_recipe("msm-ens-13"))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "method is None"),
        ('method = "rrf"\n[weights]\na = 1', "method is 'rrf'"),
        ('method = "rbc"', "no table of coefficients or weights"),
        ('method = "rbc"\n[coefficients]\na = "x"', "coefficients"),
        ('method = "rbc"\n[coefficients]\na = [1, 2]', "each run has 3 numbers"),
        ('method = "rbc"\n[coefficients]\na = [1, 2, nan]', "each run has 3 numbers"),
        ('method = "rbc"\nintercept = inf\n[coefficients]\na = [1, 2, 3]', "intercept"),
        ('method = "linear"\n[weights]\na = -1', "none may be negative"),
        ('method = "linear"\nmagic = 1\n[weights]\na = 1', "unknown setting 'magic'"),
        ("method = ", "is not valid TOML"),
    ],
)
def test_an_invalid_file_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "learned.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=r"learned\.toml: ") as refused:
        read_learned(path)
    assert problem in str(refused.value)


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_learned(tmp_path / "nowhere.toml")


def test_names_and_numbers_are_written_as_toml() -> None:
    odd = LearnedFusion("linear", "weights", {'a "b"\n\\': 1.5}, {"normalisation": "spread"})
    assert '"a \\"b\\"\\u000a\\\\" = 1.5' in learned_text(odd)
