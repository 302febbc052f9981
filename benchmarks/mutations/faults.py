"""Hand-written faults that once passed all tests; the tests must detect them now.

Each fault replaces a text in a file, as a careless edit might. It is an error if the text is no
longer in the file: then adapt the fault.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """A change of one file.

    Attributes:
        name: The effect of the fault.
        path: The file, under ``src/mathsetu``.
        before: The text to replace, which occurs once.
        after: The replacement.
        tests: The tests that should detect it.
    """

    name: str
    path: str
    before: str
    after: str
    tests: tuple[str, ...]


FAULTS = (
    Fault(
        "BM25 without length normalisation",
        "retrieval/weighting.py",
        "saturation = self.k1 * (1 - self.b + self.b * lengths / collection.average_length)",
        "saturation = self.k1 * np.ones_like(lengths)",
        ("tests/retrieval/test_weighting.py",),
    ),
    Fault(
        "k1 + 1 as k1",
        "retrieval/weighting.py",
        "frequencies * (self.k1 + 1) / (saturation + frequencies)",
        "frequencies * self.k1 / (saturation + frequencies)",
        ("tests/retrieval/test_weighting.py",),
    ),
    Fault(
        "the worker pool returns chunks as they finish",
        "pool.py",
        "            while waiting:\n                yield from waiting.popleft().result()",
        "            from concurrent.futures import as_completed\n"
        "            for one in as_completed(waiting):\n"
        "                yield from one.result()",
        ("tests/test_pool.py",),
    ),
    Fault(
        "the worker pool returns a late chunk first",
        "pool.py",
        "                    yield from waiting.popleft().result()\n            while",
        "                    yield from waiting.pop().result()\n            while",
        ("tests/test_pool.py",),
    ),
    Fault(
        "unmatched formulas above matched ones",
        "retrieval/formula.py",
        "return joined, float(np.float32(min(joined.values()))) / least",
        "return joined, 1.0",
        ("tests/retrieval/test_formula.py",),
    ),
    Fault(
        "unmatched formulas as high as the best matched one",
        "retrieval/formula.py",
        "min(joined.values())",
        "max(joined.values())",
        ("tests/retrieval/test_formula.py",),
    ),
    Fault(
        "two letters mapped to one, where letters meet",
        "formulas/matching/unification.py",
        "        elif theirs in self._taken:\n            return 0.0\n",
        "",
        ("tests/formulas/test_matching.py",),
    ),
    Fault(
        "two letters mapped to one, where letters are chosen",
        "formulas/matching/unification.py",
        "                self._taken.add(theirs)\n",
        "",
        ("tests/formulas/test_matching.py",),
    ),
    Fault(
        "no other part finds candidates when those that should are silent",
        "library/candidates.py",
        "if silent.issuperset(lists):",
        "if False:",
        ("tests/library/test_stages.py",),
    ),
    Fault(
        "weights are lost when all parts are silent",
        "ranking/hybrid.py",
        "    if not speaking:\n        return dict(weights)\n",
        "    if not speaking:\n        return dict.fromkeys(weights, 0.0)\n",
        ("tests/ranking/test_hybrid.py",),
    ),
    Fault(
        "an answer loses its own title in the store",
        "intake/posts.py",
        'self.texts["title"] if post.title else question.texts["title"]',
        'question.texts["title"]',
        ("tests/library/test_answers.py",),
    ),
    Fault(
        "an answer loses its own title in a collection",
        "collections/threads.py",
        "title=answer.title or question.title",
        "title=question.title or answer.title",
        ("tests/library/test_answers.py",),
    ),
)
