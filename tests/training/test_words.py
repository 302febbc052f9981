"""Training on words alone uses the same texts as a reranker on words in search."""

from mathsetu.ranking.rerank.model_input import candidate_text, question_text
from mathsetu.records import Formula, Judgment, Post, Query
from mathsetu.training.pairs import judged_pairs, thread_pairs
from mathsetu.training.words import post_words, query_words

POST = Post(
    "7",
    "By\nsqueezing $\\frac{\\sin x}{x}$ between.",
    title="A limit of $x$",
    question="Why is $\\frac{\\sin x}{x}$ near 1?",
    score=60,
    formulas=(Formula("7:1", "x"),),
)
QUERY = Query("A.1", "What is $\\lim x$ there?", title="Limits $x$", formulas=(Formula("q", "x"),))


def test_training_pairs_of_words_equal_the_input_of_the_reranker() -> None:
    posts, queries = {"7": post_words(POST)}, {"A.1": query_words(QUERY)}
    [pair] = judged_pairs(queries, posts.get, [Judgment("A.1", "7", 3)])
    assert pair.question == question_text(QUERY, "words")
    assert pair.text == candidate_text(POST, text="words")
    assert "$" not in pair.question + pair.text
    assert "\\" not in pair.question + pair.text


def test_formulas_are_removed_from_threads() -> None:
    [pair] = thread_pairs([post_words(POST)])
    assert pair.text == "By squeezing between."
    assert pair.question == "A limit of\nWhy is near 1?"
    assert post_words(POST).formulas == query_words(QUERY).formulas == ()
