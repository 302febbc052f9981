"""Errors keep their message and kind on the way from a worker process."""

import pickle

import pytest

from mathsetu import errors
from mathsetu.errors import MathSetuError

MADE = [
    errors.MathSetuError("something"),
    errors.InputError("posts.jsonl: cannot be read"),
    errors.RowError("posts.jsonl", 17, '"body" is missing'),
    errors.HeaderError("posts.csv", 1, "no column for the body"),
    errors.UnknownFormat("docx", ["jsonl", "clmir"]),
    errors.DamagedLibrary("words/terms.npy", "its content has changed"),
    errors.NoPosts("no text in it: void.md"),
    errors.NotRegistered("object:mine: no encoder has this name"),
    errors.UnknownPost("q7"),
    errors.OutOfTime(),
    errors.Unavailable("qdrant://db:6333/math: the posts cannot be reached"),
    errors.Replaced("qdrant://db:6333/math: was replaced"),
    errors.NotationError("[V!x", 4, "']' expected"),
    errors.MissingExtra("translation with NLLB", "neural"),
]


def kinds(base: type[MathSetuError]) -> set[type[MathSetuError]]:
    return {base}.union(*(kinds(kind) for kind in base.__subclasses__()))


def test_every_kind_of_error_is_tested() -> None:
    ours = {kind for kind in kinds(MathSetuError) if kind.__module__ == errors.__name__}
    assert {type(error) for error in MADE} == ours


@pytest.mark.parametrize("error", MADE, ids=lambda error: type(error).__name__)
def test_an_error_from_a_worker_keeps_its_kind_message_and_attributes(error: MathSetuError) -> None:
    here = pickle.loads(pickle.dumps(error))
    assert type(here) is type(error)
    assert str(here) == str(error)
    assert vars(here) == vars(error)
