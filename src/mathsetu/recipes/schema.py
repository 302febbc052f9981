"""The schema of recipes, with clear errors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from mathsetu.errors import InputError
from mathsetu.ranking.hybrid import NORMALISATIONS, Calibration, preference
from mathsetu.ranking.rerank import Rerank
from mathsetu.recipes.tables import parse_toml, read_table

if TYPE_CHECKING:
    from mathsetu.ranking.fusion import Fusion

_LONGEST_NAME = 60
# The number of hits if neither the caller nor the recipe sets one.
_HITS = 50
#: Settings of a recipe file that derive its table from another recipe (`recipe_table`).
FOR_TABLES = BASED_ON, USE = "based_on", "use"
#: Sections that hold tables by name, and the setting that each of these tables needs.
MEMBERS = {"parts": "kind", "systems": "weights"}


@dataclass(frozen=True)
class Selection:
    """Which posts are indexed.

    Attributes:
        minimum_words: Posts with fewer words are left out.
        need_words: Whether posts that consist of formulas only are left out.
        kinds: Only posts of these kinds (``answer``); empty for all. Answers keep the content of
            their questions even if the questions are left out.
    """

    minimum_words: int = 0
    need_words: bool = False
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True)
class Preparation:
    """How a query is prepared before the parts get it.

    Attributes:
        translate: The language that queries in other languages are translated into, their
            formulas masked and put back; empty leaves queries as they are.
        backend: The translator: ``glossary``, ``apertium``, ``nllb``, ``mbart``, ``ctranslate2``,
            or ``object:NAME`` (`mathsetu.register`).
        model: The backend's model, a folder or a name on the hub; its default unless given.

    >>> Preparation("en", backend="babelfish")
    Traceback (most recent call last):
    mathsetu.errors.InputError: no translation backend 'babelfish' \
(there are: glossary, apertium, nllb, mbart, ctranslate2)
    """

    translate: str = ""
    backend: str = "glossary"
    model: str = ""

    def __post_init__(self) -> None:
        if not (self.translate or self.model) and self.backend == "glossary":
            return
        # Imported here, since most recipes translate nothing.
        from mathsetu.languages.table import LANGUAGES, language
        from mathsetu.languages.translate import open_translator

        if not self.backend:
            raise InputError('backend is empty; to leave queries as they are: translate = ""')
        if self.translate and language(self.translate).code not in LANGUAGES:
            known = ", ".join(LANGUAGES)
            raise InputError(f"translate is {self.translate!r}, which is not a language of {known}")
        open_translator(self.backend, self.model, remember=False)


@dataclass(frozen=True)
class Ranking:
    """How the scores of the parts are combined into one ranking.

    Attributes:
        weights: The share of each part; they add up to 1. The first part breaks ties.
        candidates: How many candidates each retrieving part returns.
        candidates_from: The parts that retrieve; the others only score. Empty: all retrieve.
        rescored: For how many of the best posts every part computes an exact score; before, it may
            have estimated the score, or not have returned the post. 0 for none.
        k: The number of hits unless the caller gives one; None if the recipe does not say.
        normalise: ``minmax``, ``rank`` or ``none``.
        full_scores: For some parts the lowest score that ``minmax`` maps to 1. If the best score of
            a part is lower, all its scores count less.
        adaptive: Whether the weight of parts that find nothing to search for in the query, or do
            not finish in time, is given to the other parts.
        fuse: A fusion method instead of the weighted sum: ``{method = "rrf", k = 60}``. It fuses
            the systems of the recipe, or its parts if there are no systems; ``weights`` are then
            theirs, and equal unless given.
        formula_context: In searches for formulas (ARQMath's task 2), the weights of parts that
            compare the words of the query with the posts that contain a formula; their scores are
            added to the formula's similarity without normalisation. Empty: only formulas count.
        exact: The bonus of a post that contains the query's formulas or words exactly as written
            (less if it contains only some); 0 for none.
        own_language: How strongly posts in the user's language are preferred: ``off``, ``weak``,
            ``normal`` or ``strong``. Runs for evaluation have no preference.
        group: Whether versions of a post in several languages are one hit.
        calibration: Converts scores to probabilities (`Calibration`); without it, scores are
            unchanged.
    """

    weights: dict[str, float] = field(default_factory=dict)
    candidates: int = 500
    candidates_from: tuple[str, ...] = ()
    rescored: int = 0
    k: int | None = None
    normalise: str = "minmax"
    full_scores: dict[str, float] = field(default_factory=dict)
    adaptive: bool = True
    fuse: dict[str, Any] = field(default_factory=dict)
    formula_context: dict[str, float] = field(default_factory=dict)
    exact: float = 0.0
    own_language: str = "off"
    group: bool = False
    calibration: Calibration | None = None

    def __post_init__(self) -> None:
        preference(self.own_language)

    @property
    def hits(self) -> int:
        """The number of hits unless the caller gives one."""
        return min(_HITS, self.candidates) if self.k is None else self.k


@dataclass(frozen=True)
class System:
    """One system of an ensemble: some of the recipe's parts, and optionally a reranker.

    Attributes:
        weights: The share of each part; they add up to 1.
        normalise: ``minmax``, ``rank`` or ``none``.
        rerank: The reranker of the system's posts, applied before the fusion.
    """

    weights: dict[str, float]
    normalise: str = "minmax"
    rerank: Rerank | None = None


@dataclass(frozen=True)
class Recipe:
    """A search system: its parts, their combined ranking, and the steps before and after it."""

    name: str
    description: str
    parts: dict[str, dict[str, Any]]
    ranking: Ranking
    posts: Selection = field(default_factory=Selection)
    query: Preparation = field(default_factory=Preparation)
    systems: dict[str, System] = field(default_factory=dict)
    rerank: Rerank | None = None

    @property
    def members(self) -> list[str]:
        """The names in ``ranking.weights``: the systems if there are any, else the parts."""
        return list(self.systems or self.parts)

    def member(self, name: str) -> Recipe:
        """A member of the fusion, a system or a part, as a separate recipe."""
        system = self.systems.get(name) or System({name: 1.0})
        return replace(
            self,
            name=name,
            parts={part: self.parts[part] for part in system.weights},
            ranking=replace(
                self.ranking,
                weights=system.weights,
                normalise=system.normalise,
                candidates_from=(),
                fuse={},
                exact=0.0,
                calibration=None,
            ),
            systems={},
            rerank=system.rerank,
        )

    def fusion(self, weights: Mapping[str, float], source: str = "") -> Fusion:
        """The method that fuses the rankings of the members, given in the order of the weights."""
        from mathsetu.ranking.fusion import METHODS, settings_of

        where = f"{source or self.name}: ranking.fuse"
        table = dict(self.ranking.fuse)
        method = table.pop("method", "")
        if not isinstance(method, str) or method not in METHODS:
            raise InputError(f"{where}: method is {method!r} (known: {', '.join(METHODS)})")
        if "weights" in table:
            raise InputError(f"{where}: set the weights in ranking.weights, not here")
        if "weights" in settings_of(method):
            table["weights"] = list(weights.values())
        if "coefficients" in table:
            table["coefficients"] = _by_name(table["coefficients"], weights, where)
        elif "coefficients" in settings_of(method):
            raise InputError(
                f"{where}: {method} needs coefficients, which are learned from judgments "
                "('mathsetu reproduce' learns them)"
            )
        made: Fusion = read_table(METHODS[method].kind, table, where)
        return made


def parse_recipe(text: str, source: str) -> Recipe:
    r"""Read a recipe from TOML.

    >>> recipe = parse_recipe('''
    ... name = "tiny"
    ... description = "Words alone."
    ... [parts.words]
    ... kind = "lexical"
    ... [ranking]
    ... weights = { words = 1.0 }
    ... ''', "tiny.toml")
    >>> recipe.ranking.k, recipe.ranking.hits
    (None, 50)
    """
    return parse_table(parse_toml(text, source), source)


def _switched_on(rerank: Rerank | None) -> Rerank | None:
    """A reranker, unless it is switched off by an empty model (``rerank.model=``)."""
    return rerank if rerank is not None and rerank.model else None


def parse_table(table: Mapping[str, Any], source: str) -> Recipe:
    """Make a recipe from its table, and check it."""
    recipe = read_table(Recipe, table, source, also_known=FOR_TABLES)
    systems = {
        name: replace(system, rerank=_switched_on(system.rerank))
        for name, system in recipe.systems.items()
    }
    recipe = replace(recipe, rerank=_switched_on(recipe.rerank), systems=systems)
    if recipe.ranking.fuse and not recipe.ranking.weights:
        equal = dict.fromkeys(recipe.members, 1 / max(len(recipe.members), 1))
        recipe = replace(recipe, ranking=replace(recipe.ranking, weights=equal))
    _check(recipe, source)
    return recipe


def _check(recipe: Recipe, source: str) -> None:
    if not recipe.parts:
        raise InputError(f"{source}: [parts] is empty; a recipe needs at least one part")
    for name, part in recipe.parts.items():
        # The name of a part is also the name of its folder.
        if not name.replace("-", "_").isidentifier() or len(name) > _LONGEST_NAME:
            raise InputError(f"{source}: {name!r} cannot be the name of a part; use letters")
        if not isinstance(part.get("kind"), str):
            raise InputError(f"{source}: parts.{name} needs a kind")
    ranking = recipe.ranking
    kind = "system" if recipe.systems else "part"
    _check_names(ranking.weights, recipe.members, kind, f"{source}: ranking")
    _check_names(ranking.candidates_from, list(recipe.parts), "part", f"{source}: ranking")
    missing = [name for name in recipe.members if name not in ranking.weights]
    if missing:
        raise InputError(f"{source}: ranking.weights lacks {', '.join(missing)}")
    _check_shares(ranking, f"{source}: ranking")
    for name, system in recipe.systems.items():
        where = f"{source}: systems.{name}"
        _check_names(system.weights, list(recipe.parts), "part", where)
        _check_shares(system, where)
    if not 1 <= ranking.hits <= ranking.candidates:
        raise InputError(f"{source}: ranking needs 1 <= k <= candidates")
    if ranking.rescored < 0:
        raise InputError(f"{source}: ranking.rescored is {ranking.rescored}; it must be 0 or more")
    _check_names(ranking.full_scores, list(recipe.parts), "part", f"{source}: full_scores")
    if not all(0 <= score < float("inf") for score in ranking.full_scores.values()):
        raise InputError(f"{source}: ranking.full_scores must be numbers, none of them below 0")
    _check_names(ranking.formula_context, list(recipe.parts), "part", f"{source}: formula_context")
    if not all(0 <= weight < float("inf") for weight in ranking.formula_context.values()):
        raise InputError(f"{source}: ranking.formula_context must hold weights, none below 0")
    if not 0 <= ranking.exact < float("inf"):
        raise InputError(f"{source}: ranking.exact is {ranking.exact:g}; it cannot be less than 0")
    if ranking.calibration and ranking.fuse:
        raise InputError(f"{source}: ranking.calibration is for a weighted sum, not for a fusion")
    if ranking.calibration:
        _check_names(ranking.calibration.half, list(recipe.parts), "part", f"{source}: calibration")
    if recipe.systems and not ranking.fuse:
        raise InputError(f'{source}: systems need ranking.fuse, such as {{method = "rrf"}}')
    # Coefficients that are not learned yet are reported only when they are needed.
    if ranking.fuse and (ranking.fuse.get("method") != "rbc" or "coefficients" in ranking.fuse):
        recipe.fusion(ranking.weights, source)


def _check_names(names: Iterable[str], known: list[str], kind: str, where: str) -> None:
    for name in names:
        if name not in known:
            raise InputError(
                f"{where} names {name!r}, which is not a {kind} ({kind}s: {', '.join(known)})"
            )


def _check_shares(ranked: Ranking | System, where: str) -> None:
    total = sum(ranked.weights.values())
    if below := [name for name, weight in ranked.weights.items() if weight < 0]:
        raise InputError(f"{where}.weights must not be negative ({', '.join(below)})")
    if not abs(total - 1) <= 1e-6:
        raise InputError(f"{where}.weights must add up to 1, not {total:g}")
    if ranked.normalise not in NORMALISATIONS:
        known = ", ".join(NORMALISATIONS)
        raise InputError(f"{where}.normalise is {ranked.normalise!r} (known: {known})")


def _by_name(table: Any, names: Iterable[str], where: str) -> list[Any]:
    """The coefficients of each member, in the order of the names."""
    wanted = list(names)
    if not isinstance(table, dict) or any(name not in table for name in wanted):
        raise InputError(f"{where}: coefficients must be a table of {', '.join(wanted)}")
    return [table[name] for name in wanted]
