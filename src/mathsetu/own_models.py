"""Registers encoders, rerankers and translators given as objects, so that recipes can name them.

A recipe names its models, and a library stores its recipe. An object has no name on disk, so it
gets one: after ``register("mine", encoder=…)`` a recipe can contain ``model = "object:mine"``.
Register the object again before opening the library; otherwise an error names what is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from mathsetu.errors import InputError, NotRegistered

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: The prefix by which a recipe names an object.
PREFIX = "object:"
_KINDS = ("encoder", "reranker", "translator")
_registered: dict[tuple[str, str], Any] = {}


class OwnEncoder(Protocol):
    """Encodes texts as vectors, which need not be normalised: only their direction matters."""

    @property
    def dimensions(self) -> int:
        """The number of dimensions; if left out, a text is encoded to find it."""
        ...

    def encode(self, texts: Sequence[str]) -> Any:
        """One vector for each text: an array, or lists of numbers."""
        ...


class OwnReranker(Protocol):
    """Scores texts for a question, reading question and text together."""

    def score(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """One score for each text; higher is better."""
        ...


class OwnTranslator(Protocol):
    """Translates sentences.

    A sentence is one line. Its formulas are replaced by placeholders such as QZ1 and restored
    afterwards, even if the translator changes the placeholders.
    """

    def translate(self, sentences: Sequence[str], source: str, target: str) -> Sequence[str]:
        """The translation of each sentence, in the same order."""
        ...


def register(
    name: str,
    *,
    encoder: OwnEncoder | Any = None,
    reranker: OwnReranker | Any = None,
    translator: OwnTranslator | Any = None,
) -> str:
    """Register a model object under a name, and return the name by which recipes refer to it.

    An object with the same name is replaced for libraries that are opened from now on.

    Args:
        name: The name; letters, digits, ``-``, ``_`` and ``.``.
        encoder: An `OwnEncoder`, or a model of sentence-transformers.
        reranker: An `OwnReranker`, or a cross-encoder of sentence-transformers.
        translator: An `OwnTranslator`.

    >>> class Shortest:
    ...     def score(self, question, texts):
    ...         return [-float(len(text)) for text in texts]
    >>> register("shortest", reranker=Shortest())
    'object:shortest'
    """
    if not isinstance(name, str) or not name or not all(c.isalnum() or c in "-_." for c in name):
        raise InputError(f"the name is {name!r:.60}; use letters, digits, '-', '_' and '.'")
    given = {"encoder": encoder, "reranker": reranker, "translator": translator}
    chosen = [kind for kind, one in given.items() if one is not None]
    if len(chosen) != 1:
        raise InputError(f"{name}: give one object, as {', '.join(_KINDS[:-1])} or {_KINDS[-1]}")
    [kind] = chosen
    made = _ADAPTERS[kind](name, given[kind])
    _registered[kind, name] = made
    return PREFIX + name


def is_object(model: str) -> bool:
    """Whether a model's name means a registered object."""
    return model.startswith(PREFIX)


def registered(kind: str, model: str) -> Any:
    """The object that a recipe names.

    >>> registered("encoder", "object:nobody")
    Traceback (most recent call last):
    mathsetu.errors.NotRegistered: object:nobody: no encoder has this name; \
call mathsetu.register('nobody', encoder=…) first
    """
    name = model.removeprefix(PREFIX)
    found = _registered.get((kind, name))
    if found is None:
        raise NotRegistered(
            f"{model}: no {kind} has this name; call mathsetu.register({name!r}, {kind}=…) first"
        )
    return found


class _Encoder:
    """Wraps an encoder: checks its vectors and scales them to unit length."""

    def __init__(self, name: str, own: Any) -> None:
        _check_method(name, own, "encode", "encode(texts)")
        self._name, self._own = name, own
        self._dimensions = 0

    @property
    def dimensions(self) -> int:
        """The number of dimensions."""
        if not self._dimensions:
            said = getattr(self._own, "dimensions", None)
            if not isinstance(said, int) or isinstance(said, bool):
                said = self._vectors(["x"]).shape[1]
            self._dimensions = said
        return self._dimensions

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row of unit length for each text; zeros for a blank text."""
        import numpy as np

        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        spoken = [place for place, text in enumerate(texts) if text.strip()]
        if spoken:
            made = self._vectors([texts[place] for place in spoken])
            if made.shape[1] != self.dimensions:
                raise InputError(
                    f"{PREFIX}{self._name}: gave vectors of {made.shape[1]} dimensions, and says "
                    f"that it gives {self.dimensions}"
                )
            lengths = np.linalg.norm(made, axis=1, keepdims=True)
            vectors[spoken] = made / np.where(lengths > 0, lengths, 1)
        return vectors

    def _vectors(self, texts: list[str]) -> NDArray[np.float64]:
        import numpy as np

        try:
            made = np.asarray(self._own.encode(texts), dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"{PREFIX}{self._name}: gave no array of numbers ({error})") from error
        if made.ndim != 2 or len(made) != len(texts) or not made.shape[1]:
            raise InputError(
                f"{PREFIX}{self._name}: gave an array of shape {made.shape} for {len(texts)} "
                "texts; one row per text is expected"
            )
        if not np.isfinite(made).all():
            raise InputError(f"{PREFIX}{self._name}: gave numbers that are not finite")
        return made


class _Reranker:
    """Wraps a reranker and checks its scores."""

    def __init__(self, name: str, own: Any) -> None:
        self._pairs = not hasattr(own, "score") and hasattr(own, "predict")
        _check_method(name, own, "predict" if self._pairs else "score", "score(question, texts)")
        self._name, self._own = name, own

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """One score for each text."""
        try:
            if self._pairs:  # the interface of cross-encoders of sentence-transformers
                said = self._own.predict([(question, text) for text in texts])
            else:
                said = self._own.score(question, list(texts))
            scores = [float(score) for score in said]
        except (TypeError, ValueError) as error:
            raise InputError(f"{PREFIX}{self._name}: gave no list of scores ({error})") from error
        if len(scores) != len(texts):
            raise InputError(
                f"{PREFIX}{self._name}: gave {len(scores)} scores for {len(texts)} texts"
            )
        return scores


class _Translator:
    """Wraps a translator in the interface that `mathsetu.languages.translate` expects."""

    chunk = 100

    def __init__(self, name: str, own: Any) -> None:
        _check_method(name, own, "translate", "translate(sentences, source, target)")
        self.name, self._own = PREFIX + name, own

    def model_for(self, source: str, target: str) -> str:
        """The name of the object, for all languages."""
        return self.name

    def translate(self, sentences: Sequence[str], source: str, target: str) -> list[str]:
        """The translation of each sentence."""
        made = self._own.translate(list(sentences), source, target)
        if isinstance(made, str) or not all(isinstance(one, str) for one in made):
            raise InputError(f"{self.name}: gave no list of sentences")
        return list(made)


_ADAPTERS: dict[str, Any] = {
    "encoder": _Encoder,
    "reranker": _Reranker,
    "translator": _Translator,
}


def _check_method(name: str, own: Any, method: str, wanted: str) -> None:
    if isinstance(own, type):
        raise InputError(f"{name}: is the class {own.__name__}; give an object of it")
    # A string also has a method translate, but it would name a backend, which is not registered.
    if isinstance(own, str) or not callable(getattr(own, method, None)):
        raise InputError(f"{name}: a {type(own).__name__} has no method {wanted}")
