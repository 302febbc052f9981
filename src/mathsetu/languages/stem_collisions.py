"""Words that the stemmer takes for forms of a mathematical term, although they mean something else.

Snowball gives "equator" the stem of "equation", and "factory" that of "factorial". Endings do not
tell these from true relatives ("operator" and "operation" have the same two), so they are listed:
those that reading the 20,000 most used English words has found. Each is there with its forms.

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
    )
}


def is_stem_collision(word: str, language: str) -> bool:
    """Whether a word has the stem of a term of its language, but not its meaning."""
    return word.lower() in STEM_COLLISIONS.get(language, ())
