"""The sampler is complete, balanced and correct, as far as a program can check."""

from collections import Counter, defaultdict
from pathlib import Path

import pytest

from mathsetu.collections import sampler
from mathsetu.languages.detect import detect
from mathsetu.languages.scripts import dominant_script
from mathsetu.languages.table import language
from mathsetu.markup import split

LANGUAGES = {"en", "hi", "es", "cs", "hr", "fa"}
POSTS = {post.id: post for post in sampler.posts()}
QUERIES = {query.id: query for query in sampler.queries()}
JUDGMENTS = list(sampler.judgments())
SCRIPTS = {"hi": ("\u0900", "\u097f"), "fa": ("\u0600", "\u06ff")}


def test_at_least_forty_topics_have_posts_in_all_six_languages() -> None:
    languages = defaultdict(set)
    for post in POSTS.values():
        assert post.id == f"{post.thread_id}.{post.language}"
        languages[post.thread_id].add(post.language)
    assert sum(known == LANGUAGES for known in languages.values()) >= 40


def test_every_language_has_a_topic_that_exists_in_no_other_language() -> None:
    posts = Counter(post.thread_id for post in POSTS.values())
    alone = {post.language for post in POSTS.values() if posts[post.thread_id] == 1}
    assert alone == LANGUAGES


def test_every_post_has_a_title_tags_and_one_to_five_formulas() -> None:
    for post in POSTS.values():
        assert post.title, post.id
        assert 2 <= len(post.tags) <= 4, post.id
        assert 1 <= sum(formula.where == "body" for formula in post.formulas) <= 5, post.id


def test_prose_is_written_in_the_script_of_its_language() -> None:
    for post in POSTS.values():
        prose = "".join(span.content for span in split(post.body) if span.kind == "text")
        letters = [char for char in prose if char.isalpha()]
        first, last = SCRIPTS.get(post.language, ("A", "\u024f"))
        native = sum(first <= char <= last for char in letters)
        assert native / len(letters) > 0.9, post.id


def test_no_delimiter_is_left_in_the_prose() -> None:
    for post in POSTS.values():
        for span in split(f"{post.title}\n\n{post.body}"):
            if span.kind == "text":
                assert not {"$", "\\", "`"} & set(span.content), post.id


def test_no_longer_formula_occurs_in_all_posts_of_a_topic() -> None:
    """The posts of a topic use different letters and different but equal forms."""
    for topic in {post.thread_id for post in POSTS.values()}:
        told = [
            {"".join(formula.latex.split()) for formula in post.formulas if len(formula.latex) > 3}
            for post in POSTS.values()
            if post.thread_id == topic
        ]
        if len(told) > 1:
            shared = Counter(latex for formulas in told for latex in formulas)
            assert max(shared.values()) < len(told), topic


def test_queries_cover_every_language_and_kind() -> None:
    assert len(QUERIES) >= 60
    pairs = Counter((query.language, query.kind) for query in QUERIES.values())
    assert set(pairs) == {
        (lang, kind) for lang in LANGUAGES for kind in ("words", "formula", "both")
    }


def test_the_content_of_a_query_matches_its_kind() -> None:
    for query in QUERIES.values():
        kinds = {span.kind for span in split(query.text) if span.content.strip()}
        expected = {"words": {"text"}, "formula": {"formula"}, "both": {"text", "formula"}}
        assert kinds == expected[query.kind], query.id


def test_judgments_name_existing_queries_and_posts_once() -> None:
    seen = Counter((judgment.query_id, judgment.id) for judgment in JUDGMENTS)
    assert max(seen.values()) == 1
    assert {query for query, _ in seen} == set(QUERIES)
    assert {post for _, post in seen} <= set(POSTS)
    assert {judgment.grade for judgment in JUDGMENTS} == {0, 1, 2, 3}


def test_every_query_has_an_answer_and_some_only_in_another_language() -> None:
    answers = defaultdict(set)
    for judgment in JUDGMENTS:
        if judgment.grade == 3:
            answers[judgment.query_id].add(POSTS[judgment.id].language)
    assert set(answers) == set(QUERIES)
    elsewhere = [query for query in QUERIES if QUERIES[query].language not in answers[query]]
    assert len(elsewhere) >= 10


FURTHER_QUERIES = list(sampler.further_queries())


def test_queries_in_ten_further_languages_have_the_kind_and_formulas_of_the_originals() -> None:
    languages = {query.language for query in FURTHER_QUERIES}
    assert len(languages) >= 10
    assert not languages & LANGUAGES
    for query in FURTHER_QUERIES:
        original, _, code = query.id.rpartition(".")
        assert code == query.language
        assert query.kind == QUERIES[original].kind, query.id
        formulas = [
            [span.content for span in split(one.text) if span.kind == "formula"]
            for one in (query, QUERIES[original])
        ]
        assert formulas[0] == formulas[1], query.id


@pytest.mark.thorough
def test_a_further_query_is_written_in_the_script_of_its_language_and_recognised() -> None:
    for query in FURTHER_QUERIES:
        words = "".join(span.content for span in split(query.text) if span.kind == "text")
        assert dominant_script(words) in (language(query.language).script, "Hani"), query.id
    missed = [
        query.id for query in FURTHER_QUERIES if detect(query.text).language != query.language
    ]
    assert len(missed) <= len(FURTHER_QUERIES) // 20, missed


def test_a_further_query_has_the_judgments_of_its_original() -> None:
    further = {(one.query_id, one.id, one.grade) for one in sampler.further_judgments()}
    for query in FURTHER_QUERIES:
        original = query.id.rpartition(".")[0]
        wanted = {(query.id, one.id, one.grade) for one in JUDGMENTS if one.query_id == original}
        assert wanted
        assert wanted <= further


def test_the_sampler_is_copied_into_any_folder(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    for _ in range(2):
        written = sampler.export(folder)
        assert written == [folder / name for name in sampler.FILES]
    assert (folder / "judgments.txt").read_text().startswith("S.01 0 ")


def test_a_line_of_the_sampler_is_recognised() -> None:
    assert sampler.has_line('{"mathsetu": "posts"}\nS.01 0 vedic-multiplication.hi 3')
    assert not sampler.has_line("")
    assert not sampler.has_line("01 0 vedic-multiplication.hi 3")
