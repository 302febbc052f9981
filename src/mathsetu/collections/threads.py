"""Joins answers with their questions, for collections that store the two separately.

In a dump, an answer has only the id of its question. An index of answers and training pairs need
answers with the text of their questions. They are joined in bounded memory: questions and waiting
answers are stored in a temporary file.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace

from mathsetu.collections.jsonl import from_json, to_json
from mathsetu.markup import extract, split
from mathsetu.records import Formula, Post, has_question_text

_TABLES = """
CREATE TABLE questions (id TEXT PRIMARY KEY, post BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE waiting (number INTEGER PRIMARY KEY, post BLOB NOT NULL);
"""


def with_questions(posts: Iterable[Post]) -> Iterator[Post]:
    """Yield all posts; each answer gets the title, text, tags and formulas of its question.

    Fields that an answer already has are kept. Answers that precede their questions come at the
    end; an answer without its question is yielded unchanged.

    >>> question = Post("3", "Why is it $1$?", title="A limit", tags=("limits",), accepted_id="7")
    >>> answer = Post("7", "By squeezing.", kind="answer", parent_id="3")
    >>> _, joined = with_questions([question, answer])
    >>> joined.title, joined.question, joined.tags, is_accepted(joined)
    ('A limit', 'Why is it $1$?', ('limits',), True)
    """
    # A database without a name is a temporary file, deleted on close.
    with closing(sqlite3.connect("", isolation_level=None)) as database:
        database.executescript(f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; {_TABLES}")
        database.execute("BEGIN")
        for post in posts:
            if not post.parent_id:
                _keep(database, "INSERT OR IGNORE INTO questions VALUES (?, ?)", post.id, post)
                yield post
            elif has_question_text(post):
                yield post
            elif (question := _question(database, post)) is not None:
                yield with_question(post, question)
            else:
                _keep(database, "INSERT INTO waiting VALUES (?, ?)", None, post)
        for (packed,) in database.execute("SELECT post FROM waiting ORDER BY number"):
            post = _unpacked(packed)
            question = _question(database, post)
            yield post if question is None else with_question(post, question)


def with_question(answer: Post, question: Post) -> Post:
    """Return an answer with the title, tags, text and formulas of its question.

    Formulas of the question keep their ids and their post id.
    """
    told = () if answer.question else _question_formulas(question, with_title=not answer.title)
    own = answer.formulas or extract(split(answer.body), answer.id, "body")
    return replace(
        answer,
        title=answer.title or question.title,
        tags=answer.tags or question.tags,
        question=answer.question or question.body,
        language=answer.language or question.language,
        formulas=told + own,
        accepted_id=answer.accepted_id or question.accepted_id,
    )


def is_accepted(post: Post) -> bool:
    """Whether a post is the answer that the asker accepted.

    >>> is_accepted(Post("7", "Yes.", accepted_id="7")), is_accepted(Post("7", "Yes."))
    (True, False)
    """
    return bool(post.accepted_id) and post.accepted_id == post.id


def _question_formulas(question: Post, *, with_title: bool) -> tuple[Formula, ...]:
    """Return the formulas of a question as formulas of an answer, with the field they are in."""
    fields = {"title": "title", "body": "question"} if with_title else {"body": "question"}
    return tuple(
        replace(formula, where=fields[formula.where], post_id=formula.post_id or question.id)
        for formula in question.formulas
        if formula.where in fields
    )


def _keep(database: sqlite3.Connection, statement: str, key: object, post: Post) -> None:
    # JSON escapes a lone surrogate, so it can be stored here; a store refuses it later.
    packed = zlib.compress(json.dumps(to_json(post)).encode(), 1)
    database.execute(statement, (_plain(key), packed))


def _question(database: sqlite3.Connection, answer: Post) -> Post | None:
    key = (_plain(answer.parent_id),)
    row = database.execute("SELECT post FROM questions WHERE id = ?", key).fetchone()
    return None if row is None else _unpacked(row[0])


def _unpacked(packed: bytes) -> Post:
    return from_json(json.loads(zlib.decompress(packed)), Post)


def _plain(key: object) -> object:
    """Encode an id as bytes, because SQLite cannot store a text with a lone surrogate."""
    return key.encode("utf-8", "surrogatepass") if isinstance(key, str) else key
