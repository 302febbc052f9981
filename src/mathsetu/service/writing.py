"""Adds, replaces and removes posts over HTTP, if the server has a key for writing.

Posts are JSON Lines, read and written by the same functions as on the command line: a change takes
effect completely or not at all, with one writer at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Literal, TypeVar

from fastapi import APIRouter, Depends, Query, Request
from fastapi.concurrency import run_in_threadpool
from pydantic import Field

from mathsetu.answers.describe import older_posts_notes
from mathsetu.collections.jsonl import OWN_LINE, read_posts
from mathsetu.collections.rows import BadRows
from mathsetu.collections.seen_ids import SeenIds
from mathsetu.collections.tally import Tally
from mathsetu.errors import DamagedLibrary, InputError
from mathsetu.library import Library, add_posts, remove_posts
from mathsetu.records import Post
from mathsetu.service.api import PROBLEMS, known_parameters
from mathsetu.service.engine import Engine
from mathsetu.service.requests import Name

Result = TypeVar("Result")
# Ids that one request may remove, at most.
_MAX_REMOVED = 100
_BODY = {
    "requestBody": {
        "required": True,
        "description": "Posts as JSON Lines, one per line (docs/formats.md).",
        "content": {"application/x-ndjson": {"schema": {"type": "string"}}},
    }
}
Ids = Annotated[
    list[Name],
    Field(min_length=1, max_length=_MAX_REMOVED),
    Query(
        alias="id",
        description="The ids of posts (repeatable). The name of a file stands for all of its "
        "sections or rows, that of an archive for the files in it.",
    ),
]


Form = Annotated[
    Literal["text", "markdown", "latex", "html"] | None,
    Query(
        description="The form of titles, questions and bodies; text (default) has formulas in "
        "dollars."
    ),
]


@dataclass(frozen=True, slots=True)
class Added:
    """The result of adding posts.

    Attributes:
        added: How many were added.
        replaced: How many of these replaced older ones.
        notes: Warnings: HTML tags in bodies without a form, and older posts in the library of
            files whose posts were added.
    """

    added: int
    replaced: int
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Removed:
    """The result of removing posts.

    Attributes:
        removed: How many posts were removed, including all sections or rows of files.
        unknown: The ids that no post, file or archive has.
    """

    removed: int
    unknown: tuple[str, ...]


def writing_router(engine: Engine, place: str) -> APIRouter:
    """The routes that change a library.

    Args:
        engine: The engine that searches the library; it is refreshed after each change.
        place: The folder of the library, or its address on a cluster.
    """
    api = APIRouter(prefix="/v1", responses=PROBLEMS, dependencies=[Depends(known_parameters)])

    @api.put("/posts", summary="Add or replace posts", tags=["writing"], openapi_extra=_BODY)
    async def put(request: Request, form: Form = None) -> Added:
        body = await request.body()
        add = partial(_add, place, body, form or "")
        return await run_in_threadpool(_changed, engine, place, add)

    @api.delete("/posts", summary="Remove posts", tags=["writing"])
    def delete(ids: Ids) -> Removed:
        return _changed(engine, place, lambda: _remove(place, ids))

    return api


def _changed(engine: Engine, place: str, change: Callable[[], Result]) -> Result:
    """Change a library; errors do not reveal its path on the server."""
    try:
        result = change()
    except DamagedLibrary:
        raise  # its response to the client names no file
    except InputError as error:
        raise InputError(str(error).replace(place, "the library")) from error
    engine.refresh()
    return result


def _add(place: str, body: bytes, form: str) -> Added:
    with TemporaryDirectory(prefix="mathsetu-posts-") as folder:
        path = Path(folder) / "posts.jsonl"
        path.write_bytes(body)
        bad = BadRows(ids=SeenIds(), form=form, notes=[])
        # Read all posts before writing any: most mistakes are found here.
        try:
            posts = list(read_posts(path, bad))
        except InputError as error:
            problem = _of_body(str(error).replace(f"{path} line", "line"), path)
            if problem.endswith(OWN_LINE):
                problem += " (curl: --data-binary)"
            raise InputError(problem) from error
    if not posts:
        raise InputError("there are no posts in the body; send one as JSON on each line")
    with Library(place) as library:
        known = library.present(post.id for post in posts)
        # A body, unlike a file, has no name for a collection: use those known for its posts.
        kept = library.kept_collections(posts)
        posts = [
            replace(post, collection=kept[post.id]) if post.id in kept else post for post in posts
        ]
        count = add_posts(place, posts, processes=1)
        library.refresh()
        older = library.older_posts(_tally_of(posts))
    odd = (_of_body(note, path).replace("--form html", "form=html") for note in bad.notes or ())
    left = older_posts_notes(older)
    if left:
        left.append(
            f"to remove what a file no longer has, DELETE it (id={next(iter(older))}), then PUT "
            "all of it again"
        )
    return Added(count, len(known), (*odd, *left))


def _tally_of(posts: Iterable[Post]) -> Tally:
    tally = Tally()
    for post in posts:
        tally.add_source(post)
    return tally


def _of_body(message: str, path: Path) -> str:
    """Name the body in a message instead of the temporary file that it was read from."""
    return message.replace(str(path), "the body")


def _remove(place: str, ids: list[str]) -> Removed:
    with Library(place) as library:
        named = library.posts_named(ids)
    known = set().union(*named.values())
    unknown = tuple(one for one in dict.fromkeys(ids) if one not in named)
    return Removed(remove_posts(place, known) if known else 0, unknown)
