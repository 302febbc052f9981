"""Training pairs from judgments and threads, and balanced epochs."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.errors import InputError
from mathsetu.records import Judgment, Post, Query
from mathsetu.training.epochs import Epochs, batches_without_repeats
from mathsetu.training.pairs import (
    TrainingPair,
    judged_pairs,
    split_topics,
    thread_pairs,
    unlike_negatives,
)

labels = st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=40)


def answer(number: int, *tags: str, score: int | None = None) -> Post:
    return Post(
        str(number), f"answer {number}", question=f"question {number}", tags=tags, score=score
    )


def test_judged_posts_become_pairs_from_the_relevant_grade_on() -> None:
    queries = {"A.1": Query("A.1", "asked")}
    posts = {str(grade): answer(grade) for grade in range(4)}
    judgments = [Judgment("A.1", str(grade), grade) for grade in range(4)]
    pairs = judged_pairs(queries, posts.get, judgments)
    assert [pair.label for pair in pairs] == [0.0, 0.0, 1.0, 1.0]
    assert {pair.question for pair in pairs} == {"asked"}


def test_judgments_of_unknown_topics_and_posts_are_skipped() -> None:
    judgments = [Judgment("A.9", "1", 3), Judgment("A.1", "9", 3)]
    assert judged_pairs({"A.1": Query("A.1", "asked")}, {"1": answer(1)}.get, judgments) == []


def test_only_answers_with_enough_votes_are_examples() -> None:
    posts = [answer(1, score=49), answer(2, score=50), answer(3)]
    assert [pair.text for pair in thread_pairs(posts)] == ["answer 2"]
    assert len(thread_pairs(posts, minimum_score=None)) == 3


def test_accepted_answers_are_examples_regardless_of_their_votes() -> None:
    posts = [replace(answer(1, score=60), accepted_id="2"), replace(answer(2), accepted_id="2")]
    assert [pair.text for pair in thread_pairs(posts, accepted=True)] == ["answer 2"]


def test_negatives_are_the_most_similar_answers_without_a_shared_tag() -> None:
    similar = [answer(2, "algebra"), answer(3, "sets"), answer(4), answer(5, "groups", "sets")]
    found = unlike_negatives(answer(1, "algebra"), similar, count=5)
    assert [pair.text for pair in found] == ["answer 3", "answer 5"]
    assert len(unlike_negatives(answer(1, "algebra"), similar, count=1)) == 1


def test_added_positive_and_negative_pairs_have_the_same_form() -> None:
    asked = answer(1, "algebra", score=60)
    [right], [wrong] = thread_pairs([asked]), unlike_negatives(asked, [answer(2, "sets")])
    assert right.question == wrong.question == "question 1"
    assert (right.text, wrong.text) == ("answer 1", "answer 2")


@given(labels, st.integers(0, 9), st.integers(0, 9))
def test_an_epoch_has_all_judged_pairs_and_as_many_others_and_is_balanced(
    judged: list[float], threads: int, epoch: int
) -> None:
    pairs = [TrainingPair("asked", str(number), label) for number, label in enumerate(judged)]
    further = [TrainingPair("thread", str(number), 1.0) for number in range(threads)]
    epochs = Epochs(
        pairs, further, [answer(n, "x") for n in range(20)], lambda post: [answer(77, "y")]
    )
    if not threads and 1.0 not in judged:
        with pytest.raises(InputError, match="belong together"):
            epochs(epoch)
        return
    found = epochs(epoch)
    assert len(found) == 2 * len(pairs)
    assert sum(pair.label for pair in found) == len(pairs)
    assert set(pairs) <= set(found)
    assert found == epochs(epoch)


def test_each_epoch_searches_negatives_of_other_questions() -> None:
    asked: list[list[str]] = []

    def similar(post: Post) -> list[Post]:
        asked[-1].append(post.id)
        return [answer(77, "y")]

    epochs = Epochs(
        [TrainingPair("q", "a", 1.0), TrainingPair("q", "b", 0.0)],
        asked=[answer(number, "x") for number in range(100)],
        similar=similar,
    )
    for number in range(2):
        asked.append([])
        epochs(number)
    assert [len(set(ids)) for ids in asked] == [10, 10]
    assert set(asked[0]) != set(asked[1])


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), unique=True, max_size=60),
    st.integers(2, 5),
)
def test_no_question_and_no_text_occurs_twice_in_a_batch(
    numbers: list[tuple[int, int]], size: int
) -> None:
    pairs = [TrainingPair(f"q{question}", f"t{text}", 1.0) for question, text in numbers]
    for batch in batches_without_repeats(pairs, size, seed=1, number=0):
        assert len({pair.question for pair in batch}) == len(batch) <= size
        assert len({pair.text for pair in batch}) == len(batch)


def test_a_topic_is_either_used_for_training_or_held_out() -> None:
    judgments = [Judgment(f"A.{n % 10}", str(n), n % 4) for n in range(100)]
    learn, check = split_topics(judgments, 0.2, seed=3)
    assert len(learn) + len(check) == 100
    assert len({judgment.query_id for judgment in check}) == 2
    assert not {j.query_id for j in learn} & {j.query_id for j in check}
    assert (learn, check) == split_topics(judgments, 0.2, seed=3)


def test_one_topic_cannot_be_split() -> None:
    with pytest.raises(InputError, match="1 topic cannot be split"):
        split_topics([Judgment("A.1", "7", 3)], 0.2, seed=1)
