"""The one place where the service interfaces query the library."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Lock, Thread
from typing import TYPE_CHECKING

from mathsetu.answers.describe import (
    all_found,
    found,
    languages_note,
    matched_formula,
    pieces,
    read_query,
    rendered,
    rendered_formula,
    search_answer,
    whole_post,
)
from mathsetu.answers.values import (
    ExplainAnswer,
    FormulaAnswer,
    FoundFormula,
    HeatMap,
    LibraryAnswer,
    PostAnswer,
    PostTranslation,
    RenderAnswer,
    SearchAnswer,
    SimilarAnswer,
    TranslateAnswer,
)
from mathsetu.deadline import Clock
from mathsetu.errors import InputError, MathSetuError, NotRegistered, Unavailable
from mathsetu.intake.question import Question
from mathsetu.intake.typed import formula_as_latex
from mathsetu.languages.detect import detect
from mathsetu.library import Filter, Library
from mathsetu.library.query_translation import check_asks
from mathsetu.library.suggestions import Suggestion
from mathsetu.markup import Span
from mathsetu.service.limits import Limits
from mathsetu.service.reloading_library import OpenLibrary, ReloadingLibrary

if TYPE_CHECKING:
    from mathsetu.languages.translate import Translator

# Posts that are listed for a formula.
_POSTS = 5
# A query that every part of a recipe can search for.
_TRIAL = "$x$ x^2 prime number समाकल"


class Engine:
    """Answers every interface from one library, in a folder or on a cluster.

    It is safe for use by many threads, also while `refresh` opens a rebuilt library. ``note`` is
    called with the names of events: ``reloaded``, ``reload_failures``, ``unfinished``.

    Example:
        >>> from tempfile import mkdtemp
        >>> from mathsetu.collections import sampler
        >>> from mathsetu.library import build_library
        >>> folder = Path(mkdtemp()) / "library"
        >>> primes = [post for post in sampler.posts() if "prime" in post.id]
        >>> build_library(folder, primes, "default", processes=1)
        >>> engine = Engine(folder)
        >>> [hit] = engine.search("अभाज्य संख्या", k=1, where=Filter("en")).hits
        >>> hit.id, hit.words[0].asked, hit.words[0].translation
        ('infinitely-many-primes.en', 'अभाज्य संख्या', 'primes')
    """

    def __init__(
        self,
        folder: str | Path,
        limits: Limits | None = None,
        translator: Translator | None = None,
        note: Callable[[str], None] = lambda event: None,
    ) -> None:
        self.limits = limits or Limits()
        self._note = note
        self._reloading = ReloadingLibrary(folder, _try_out)
        self._translator = translator
        #: Whether sentences can be translated, not only terms.
        self.has_translator = translator is not None
        self._preparing = Lock()
        self._prepared: OpenLibrary | None = None

    def close(self) -> None:
        """Close the library when the last request is done."""
        self._reloading.close()

    def warm_up(self) -> None:
        """Load what the first search needs, so that no request waits for it.

        Raises:
            NotRegistered: If searches need a model object that is not registered.
        """
        with self._reloading.using() as opened:
            try:
                _try_out(opened.library)
            except NotRegistered:
                raise
            except (InputError, Unavailable):
                pass  # What a search needs, such as a Qdrant server, may become available later.

    def refresh(self) -> bool:
        """Open the library again if it was rebuilt or changed; return whether it was.

        If it cannot be opened, the error is logged and counted, and the old one stays in use.
        """
        is_new = self._reloading.refresh()
        if is_new:
            self._note("reloaded")
        elif not self._reloading.is_current:
            self._note("reload_failures")
        return is_new

    def reload_state(self) -> dict[str, float]:
        """Whether the last check of the library's folder succeeded, and how long ago one did."""
        return {
            "reload_ok": float(self._reloading.is_current),
            "reload_age_seconds": self._reloading.seconds_since_look,
        }

    def search(
        self,
        query: str,
        k: int = 10,
        *,
        language: str = "",
        where: Filter | None = None,
        weights: Mapping[str, float] | None = None,
        explain: bool = True,
        typeset: bool = True,
        as_words: bool = False,
        page: str = "",
        own_language: str | None = None,
        group: bool | None = None,
        offset: int = 0,
        min_score: float | None = None,
        facets: bool = False,
    ) -> SearchAnswer:
        """The best posts for a query: words in any language, and formulas as they are typed.

        Without ``typeset``, matched formulas are given in LaTeX only. With ``as_words``, only
        delimited text is read as a formula. ``page`` is the language of the page that the query was
        typed into. The others are as in `Library.answer`.

        Answers are cached (`AnswerCache`), except unfinished ones, which may be better next time.
        """
        self.limits.check_hits(k)
        self.limits.check_offset(offset)
        if where is not None:
            self.limits.check_filter(where, self.languages)
        asked_for = (query, k, language, where, None if weights is None else (*weights.items(),),
                     explain, typeset, as_words, page, own_language, group, offset, min_score,
                     facets)  # fmt: skip
        with self._reloading.using() as opened:
            known = opened.answers.get(asked_for)
            if known is not None:
                return known
            question = self.question(query, language, as_words=as_words, page=page)
            check_asks(question)
            answer = opened.library.answer(
                question,
                k,
                where=where,
                explain=explain,
                weights=weights,
                seconds=self.limits.seconds,
                own_language=own_language,
                group=group,
                offset=offset,
                min_score=min_score,
                facets=facets,
            )
            note = languages_note(where, opened.languages)
        shown = search_answer(answer, typeset=typeset, note=note)
        if answer.unfinished:
            self._note("unfinished")
        else:
            opened.answers.keep(asked_for, shown)
        return shown

    def explain(
        self,
        query: str,
        post_id: str,
        *,
        language: str = "",
        weights: Mapping[str, float] | None = None,
        as_words: bool = False,
        page: str = "",
    ) -> ExplainAnswer:
        """Why a post is, or would be, a hit of a query."""
        self.limits.check_names("id", [post_id])
        question = self.question(query, language, as_words=as_words, page=page)
        with self._reloading.using() as opened:
            post = opened.library.post(post_id)
            hit = opened.library.explain(question, post_id, weights=weights)
        return ExplainAnswer(read_query(question), found(hit, post, rank=0, typeset=True))

    def heat_map(
        self,
        query: str,
        post_id: str,
        *,
        language: str = "",
        as_words: bool = False,
        page: str = "",
    ) -> HeatMap:
        """The similarity of the parts of a query and a post, if the recipe has a graph index."""
        self.limits.check_names("id", [post_id])
        question = self.question(query, language, as_words=as_words, page=page)
        with self._reloading.using() as opened:
            rows, columns, cosines = opened.library.heat_map(question, post_id)
        numbers = (tuple(row) for row in cosines.round(4).astype(float).tolist())
        return HeatMap(post_id, tuple(rows), tuple(columns), tuple(numbers))

    def similar(self, post_id: str, k: int = 10) -> SimilarAnswer:
        """The posts most similar to a post."""
        self.limits.check_names("id", [post_id])
        self.limits.check_hits(k)
        with self._reloading.using() as opened:
            answer = opened.library.similar(post_id, k, seconds=self.limits.seconds)
        return SimilarAnswer(post_id, all_found(answer, typeset=True), answer.unfinished)

    def formulas(self, latex: str, k: int = 10) -> FormulaAnswer:
        """The formulas of the library most similar to one; ``?x`` matches any sub-expression."""
        self.limits.check_formula(latex)
        self.limits.check_hits(k)
        latex = formula_as_latex(latex)
        clock = Clock(self.limits.seconds)
        hits: list[FoundFormula] = []
        with self._reloading.using() as opened:
            work = partial(opened.library.formulas, latex, k)
            for rank, likely in enumerate(clock.attempt("formulas", work, 2) or (), start=1):
                compare = partial(matched_formula, latex, likely.latex, f"hit-{rank}")
                matched = clock.attempt("matching", compare)
                if matched is None:
                    break
                posts = opened.library.posts_with(likely, _POSTS)
                hits.append(FoundFormula(rank, likely.score, matched, posts))
        if clock.unfinished:
            self._note("unfinished")
        if not hits and clock.unavailable:
            raise Unavailable(next(iter(clock.unavailable.values())))
        shown = rendered_formula(Span("formula", latex, latex), 0, "asked")
        return FormulaAnswer(shown, tuple(hits), clock.unfinished)

    def post(self, post_id: str) -> PostAnswer:
        """One post."""
        self.limits.check_names("id", [post_id])
        with self._reloading.using() as opened:
            return whole_post(opened.library.post(post_id))

    def render(self, text: str, *, trees: bool = False) -> RenderAnswer:
        """A text with formulas between dollars, ready for display."""
        self.limits.check_text(text)
        return RenderAnswer(rendered(text, trees))

    def render_formula(self, latex: str, *, trees: bool = False) -> RenderAnswer:
        """One formula without delimiters, ready for display."""
        self.limits.check_formula(latex)
        span = Span("formula", latex, latex)
        return RenderAnswer((rendered_formula(span, 0, "formula-0", trees),))

    def translate(self, text: str, target: str, source: str = "") -> TranslateAnswer:
        """A text in another language, with unchanged formulas."""
        self.limits.check_text(text)
        self.limits.check_language(source)
        self.limits.check_language(target)
        if not text.strip():
            raise InputError("text: is empty; give something to translate")
        source = source or detect(text).language
        if not source:
            raise InputError("source: the language of the text could not be detected; name it here")
        return self._translated(text, source, target)

    def translate_post(self, post_id: str, target: str) -> PostTranslation:
        """A post in another language."""
        self.limits.check_language(target)
        self.limits.check_names("id", [post_id])
        with self._reloading.using() as opened:
            post = opened.library.post(post_id)
        if not post.language:
            raise InputError(f"the language of the post {post_id!r} is not known")
        return PostTranslation(
            post_id,
            self._translated(post.title, post.language, target),
            self._translated(post.question[: self.limits.text], post.language, target),
            self._translated(post.body[: self.limits.text], post.language, target),
        )

    @property
    def own_language(self) -> str:
        """How strongly the recipe prefers posts in the user's language."""
        return self._reloading.opened.library.recipe.ranking.own_language

    @property
    def has_heat_maps(self) -> bool:
        """Whether the recipe has a graph index, which `heat_map` needs."""
        return self._reloading.opened.library.has_heat_maps

    @property
    def example_id(self) -> str:
        """The id of a post, for examples; "" if none is known."""
        return next(iter(self._reloading.opened.library.ids_like("", 1)), "")

    @property
    def languages(self) -> Mapping[str, int]:
        """How many posts the library has in each language, including unknown languages."""
        return self._reloading.opened.languages

    def describe(self) -> LibraryAnswer:
        """A summary of the library."""
        from mathsetu import __version__

        opened = self._reloading.opened
        library = opened.library
        return LibraryAnswer(
            posts=opened.posts,
            recipe=library.recipe.name,
            description=library.recipe.description,
            parts=dict(library.recipe.ranking.weights),
            languages=opened.languages,
            tags=opened.tags,
            version=__version__,
        )

    def question(
        self, query: str, language: str = "", *, as_words: bool = False, page: str = ""
    ) -> Question:
        """Analyse a query."""
        self.limits.check_query(query)
        self.limits.check_language(language)
        library = self._reloading.opened.library
        return library.question(query, language, as_words=as_words, page=page)

    def suggest(self, text: str, languages: Sequence[str] = ()) -> list[Suggestion]:
        """Suggestions for a text that is being typed, up to the cursor.

        The first call starts to read the titles in the background; until then, only terms of the
        glossary and tags are suggested.
        """
        self.limits.check_query(text)
        with self._reloading.using() as opened:
            self._prepare(opened)
            return opened.suggestions.find(text, languages)

    def corrected(self, question: Question) -> str:
        """A question with misspelt words corrected; "" if there are none."""
        with self._reloading.using() as opened:
            return opened.suggestions.corrected(question)

    def _prepare(self, opened: OpenLibrary) -> None:
        """Read the titles of a library once, in the background."""
        with self._preparing:
            if self._prepared is opened:
                return
            self._prepared = opened
        Thread(target=self._read_titles, daemon=True).start()

    def _read_titles(self) -> None:
        # Searches report a library that was closed or damaged meanwhile.
        with suppress(MathSetuError), self._reloading.using() as opened:
            opened.suggestions.prepare()

    def _translated(self, text: str, source: str, target: str) -> TranslateAnswer:
        if self._translator is None:
            from mathsetu.languages.translate import open_translator

            self._translator = open_translator()
        [done] = self._translator.translate([text], source, target)
        return TranslateAnswer(
            done.text, pieces(done.text), source, target, done.backend, done.model, done.lost
        )


def _try_out(library: Library) -> None:
    """Search once, to load what searches need, and to raise the errors that they would raise."""
    library.answer(_TRIAL, k=1)
