"""Words whose stem collides with that of a mathematical term.

Snowball gives "equator" the stem of "equation", and "factory" that of "factorial". Endings do not
distinguish these from related words ("operator" and "operation" have the same two endings), so the
collisions are listed with their inflected forms. The English ones were found by reading the 20,000
most frequent words; the few of other languages were found in use.

>>> [is_stem_collision(word, "en") for word in ("Equator", "equations")]
[True, False]
>>> is_stem_collision("equator", "de")
False
"""

from __future__ import annotations

from typing import Final

#: The words, by language.
STEM_COLLISIONS: Final = {
    "en": frozenset(
        # equation, several, information, factorial, converse, numerator
        "equator equators severe severely severity informal informally factory factories "
        "conversation conversations conversational numerous "
        # important, respectively, incenter, orientable, transitive, vertices
        "import imports imported importer importers importing "
        "respect respects respected respectful respectfully respecting incentive incentives "
        "oriental transit vertical vertically verticals "
        # commutator, integral, experiment, application, ordinal
        "commuter commuters integrity experience experiences applicant applicants "
        "ordinance ordinances ordination "
        # discrete, optimization, minor, discriminant, periodic, tori, direction
        "discretion optimism minority minorities discriminate discriminates "
        "discriminated discriminating discrimination periodicals tory directive directives "
        # simplices, relation, object, deposit, correct, conformal
        "simplicity relatives relativity objection objections deposition depositions "
        "correctional conformity conformance".split()
    ),
    "de": frozenset(
        # kleinste (least), Größe (size)
        "klein kleine kleinem kleinen kleiner kleines kleinere kleinerem kleineren kleinerer "
        "kleineres groß große großem großen großer großes größer größere größerem größeren "
        "größerer größeres".split()
    ),
    # suma (sum): "a lo sumo" is "at most"
    "es": frozenset(["sumo"]),
    # calcul (calculation): forms of the verb
    "fr": frozenset(
        "calcule calculer calcules calculez calculant calculé calculée calculées calculés".split()
    ),
}


def is_stem_collision(word: str, language: str) -> bool:
    """Whether a word shares a stem with a word of the glossary that has another meaning."""
    return word.lower() in STEM_COLLISIONS.get(language, ())
