"""The learned parameters of a fusion, stored in a small file for later use.

The file is TOML: the method, its settings, and the learned values by name of run or system.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mathsetu.errors import InputError, reason
from mathsetu.plain_files import open_plain
from mathsetu.recipes.schema import Recipe
from mathsetu.recipes.tables import parse_toml, read_table
from mathsetu.recipes.writing import toml_value

if TYPE_CHECKING:
    from mathsetu.ranking.fusion import Fusion

_LONGEST_FILE = 1_000_000
# The parameters that methods learn, one value for each run.
_LEARNED = ("coefficients", "weights")


@dataclass(frozen=True)
class LearnedFusion:
    """A fusion with learned parameters.

    Attributes:
        method: Its name: ``rbc``, ``wibc`` or ``linear``.
        learned: The learned parameter of each run: ``coefficients`` or ``weights``.
        values: The values by the names of the runs.
        settings: The method's other settings.
        source: The file that it comes from.
    """

    method: str
    learned: str
    values: Mapping[str, Any]
    settings: Mapping[str, Any]
    source: str = ""

    def fusion(self, names: Sequence[str]) -> Fusion:
        """The method for runs of these names, in this order."""
        from mathsetu.ranking.fusion import METHODS

        self._check_names(names)
        values = [self.values[name] for name in names]
        table = {**self.settings, self.learned: values}
        made: Fusion = read_table(METHODS[self.method].kind, table, self.source or self.method)
        return made

    def applied(self, recipe: Recipe) -> Recipe:
        """A recipe that fuses its systems with the learned parameters."""
        self._check_names(recipe.members)
        fuse: dict[str, Any] = {"method": self.method, **self.settings}
        values = {name: self.values[name] for name in recipe.members}
        weights = recipe.ranking.weights
        if self.learned == "coefficients":
            fuse["coefficients"] = values
        else:
            weights = {name: value / sum(values.values()) for name, value in values.items()}
        ranking = replace(recipe.ranking, weights=weights, fuse=fuse)
        return replace(recipe, ranking=ranking)

    def _check_names(self, names: Sequence[str]) -> None:
        where = self.source or self.method
        if len(set(names)) != len(names):
            raise InputError(f"{where}: the runs must have different names, not {', '.join(names)}")
        if set(names) != set(self.values):
            raise InputError(
                f"{where}: was learned for {', '.join(self.values)}, not for {', '.join(names)}"
            )


def learned_from(method: str, fusion: Fusion, names: Sequence[str]) -> LearnedFusion:
    """The parameters that a fitted fusion learned for runs of these names.

    >>> from mathsetu.ranking.fusion import Linear
    >>> learned_from("linear", Linear(weights=(0.7, 0.3)), ["words", "formulas"]).values
    {'words': 0.7, 'formulas': 0.3}
    """
    if len(set(names)) != len(names) or not all(names):
        raise InputError(
            f"what is learned is kept by the names of runs, and these are not different: "
            f"{', '.join(map(repr, names))}"
        )
    settings = asdict(fusion)  # type: ignore[call-overload]
    learned = next(name for name in _LEARNED if name in settings)
    rows = (list(row) if isinstance(row, tuple) else row for row in settings.pop(learned))
    values = dict(zip(names, rows, strict=True))
    return LearnedFusion(method, learned, values, settings)


def learned_text(learned: LearnedFusion, about: str = "") -> str:
    """The content of the file of a learned fusion.

    >>> print(learned_text(LearnedFusion("linear", "weights", {"a": 0.7, "b c": 0.3}, {})))
    method = "linear"
    <BLANKLINE>
    [weights]
    "a" = 0.7
    "b c" = 0.3
    <BLANKLINE>
    """
    comment = [f"# {' '.join(about.split())}"] if about else []
    settings = [f"{name} = {toml_value(value)}" for name, value in learned.settings.items()]
    values = [f"{toml_value(name)} = {toml_value(value)}" for name, value in learned.values.items()]
    lines = [*comment, f"method = {toml_value(learned.method)}", *settings]
    return "\n".join([*lines, "", f"[{learned.learned}]", *values, ""])


def read_learned(path: Path) -> LearnedFusion:
    """Read and check the file of a learned fusion."""
    from mathsetu.ranking.fusion import METHODS, WIBC, Linear

    try:
        with open_plain(path, follow_links=True) as file:
            content = file.read(_LONGEST_FILE + 1)
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8 ({error.reason})") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({reason(error)})") from error
    if len(content) > _LONGEST_FILE:
        raise InputError(f"{path}: is longer than {_LONGEST_FILE:,} bytes")
    table = parse_toml(text, str(path))
    method = table.pop("method", None)
    can = [name for name, row in METHODS.items() if row.learner]
    if method not in can:
        raise InputError(f"{path}: method is {method!r} (these are learned: {', '.join(can)})")
    for learned in _LEARNED:
        values = table.pop(learned, None)
        if isinstance(values, dict) and values:
            found = LearnedFusion(method, learned, values, table, str(path))
            fusion = found.fusion(list(values))
            if isinstance(fusion, Linear | WIBC):
                _check_weights(fusion.weights, path)
            return found
    raise InputError(f"{path}: has no table of coefficients or weights")


def _check_weights(weights: tuple[float, ...], path: Path) -> None:
    from mathsetu.ranking.fusion.weights import checked

    try:
        checked(weights, len(weights))
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
