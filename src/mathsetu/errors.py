"""The exceptions that MathSetu raises on purpose.

Each message is one line for a person: what was wrong, where, and what to do.

    MathSetuError
    ├── InputError            a file, row or argument that the user gave is wrong
    │   ├── RowError          one row of a file, with its line
    │   │   └── HeaderError   the columns of a table, and so all of its rows
    │   ├── UnknownFormat     a format name or file extension that no reader handles
    │   ├── DamagedLibrary    a file of a library differs from what was written
    │   ├── NoPosts           the sources contain nothing to index
    │   ├── NotRegistered     a recipe names a model object that is not registered
    │   └── UnknownPost       an id that no post of the library has
    ├── OutOfTime             the time limit has passed
    ├── Unavailable           a server, or a cluster or a part of it, does not answer
    │   └── Replaced          the version that was read no longer exists; a newer one may
    ├── NotationError         a tree written in Tangent's text form does not parse
    └── MissingExtra          an optional dependency is not installed
"""

from __future__ import annotations

import errno
from collections.abc import Iterable
from pathlib import Path
from typing import Any

_LONGEST_PROBLEM = 400


class MathSetuError(Exception):
    """Base class of all exceptions that MathSetu raises on purpose."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Pickled with the finished message, because the constructor's arguments are not kept.
        return _handed_on, (type(self), str(self), vars(self))


def _handed_on(kind: type[MathSetuError], message: str, facts: dict[str, Any]) -> MathSetuError:
    error = kind.__new__(kind, message)
    vars(error).update(facts)
    return error


class InputError(MathSetuError):
    """The user's input cannot be used; the message says what to change."""


def place_in(path: str | Path, line: int) -> str:
    """How a line of a file appears in messages; line 0 means the file as a whole.

    >>> place_in("posts.jsonl", 17), place_in("notes.tex", 0)
    ('posts.jsonl line 17', 'notes.tex')
    """
    return f"{path} line {line}" if line else str(path)


class RowError(InputError):
    """One row of a file is wrong; line 0 means the file as a whole.

    >>> print(RowError("posts.jsonl", 17, '"body" is missing'))
    posts.jsonl line 17: "body" is missing
    >>> print(RowError("posts.jsonl", 0, "cannot be read (permission denied)"))
    posts.jsonl: cannot be read (permission denied)
    """

    def __init__(self, path: str | Path, line: int, problem: str) -> None:
        if len(problem) > _LONGEST_PROBLEM:  # it quotes the row, and a row may be megabytes long
            half = _LONGEST_PROBLEM // 2
            problem = f"{problem[:half]}…{problem[-half:]}"
        super().__init__(f"{place_in(path, line)}: {problem}")
        self.path = str(path)
        self.line = line
        self.problem = problem


class HeaderError(RowError):
    """The columns of a table do not give posts; no row of it can be read."""


class UnknownFormat(InputError):
    """A format name that no reader or writer handles; the message lists the known ones.

    >>> print(UnknownFormat("docx", ["jsonl", "clmir"]))
    unknown format 'docx' (known: clmir, jsonl)
    """

    def __init__(self, name: str, known: Iterable[str]) -> None:
        super().__init__(f"unknown format {name!r} (known: {', '.join(sorted(known))})")


class DamagedLibrary(InputError):
    """A file of a library differs from what was written; the library must be built again.

    >>> print(DamagedLibrary("my.library/words/terms.npy", "its content has changed"))
    my.library/words/terms.npy: its content has changed; build the library again
    """

    def __init__(self, path: str | Path, problem: str) -> None:
        super().__init__(f"{path}: {problem}; build the library again")
        self.path = str(path)


class NoPosts(InputError):
    """The sources contain nothing to index.

    >>> print(NoPosts("no text in it: void.md"))
    there are no posts in the sources (no text in it: void.md)
    """

    def __init__(self, why: str = "") -> None:
        super().__init__("there are no posts in the sources" + (f" ({why})" if why else ""))


class NotRegistered(InputError):
    """A recipe names a model object that this program has not registered."""


class UnknownPost(InputError):
    """An id that no post of the library has.

    >>> print(UnknownPost("q7"))
    there is no post 'q7'
    """

    def __init__(self, post_id: str) -> None:
        super().__init__(f"there is no post {post_id!r}")


class OutOfTime(MathSetuError):
    """The time limit has passed (`mathsetu.deadline`)."""

    def __init__(self) -> None:
        super().__init__("time limit reached")


class Unavailable(MathSetuError):
    """A server, or a cluster or a part of it, does not answer; the message says why."""


class Replaced(Unavailable):
    """The version that was read no longer exists; a newer one, if any, can be read."""


class NotationError(MathSetuError):
    """A formula tree in text form is broken.

    >>> print(NotationError("[V!x", 4, "']' expected"))
    '[V!x' at character 4: ']' expected
    """

    def __init__(self, source: str, position: int, problem: str) -> None:
        shown = source if len(source) <= 60 else source[:57] + "..."
        super().__init__(f"{shown!r} at character {position}: {problem}")
        self.position = position


class MissingExtra(MathSetuError):
    """An optional dependency is missing; the message contains the command to install it.

    >>> print(MissingExtra("translation with NLLB", "neural"))  # doctest: +ELLIPSIS
    translation with NLLB needs an optional dependency: ...install ...[neural]'...
    """

    def __init__(self, purpose: str, extra: str) -> None:
        from mathsetu.installed import install_command  # slow to import, and seldom needed

        super().__init__(f"{purpose} needs an optional dependency: {install_command(extra)}")


def reason(error: OSError) -> str:
    """The system's message of an error, in lower case.

    >>> reason(PermissionError(13, "Permission denied", "my.library"))
    'permission denied'
    """
    return (error.strerror or str(error)).lower()


# Messages of C libraries that run out of memory; they share no exception type.
_MEMORY = ("failed to map segment", "cannot allocate memory", "bad_alloc", "bad allocation",
           "failed to allocate", "unable to allocate")  # fmt: skip
# Not every system defines EDQUOT.
_FULL = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))


def shortage(error: BaseException) -> str:
    """The resource whose shortage caused an error, and a remedy; empty for other errors.

    >>> shortage(MemoryError())
    'out of memory; close other programs, or raise the limit (ulimit -v)'
    >>> shortage(ValueError("a mistake of ours"))
    ''
    """
    code = error.errno if isinstance(error, OSError) else None
    text = str(error)
    if (
        isinstance(error, MemoryError)
        or code == errno.ENOMEM
        or any(sign in text.lower() for sign in _MEMORY)
    ):
        return "out of memory; close other programs, or raise the limit (ulimit -v)"
    if text == "can't start new thread" or (code == errno.EAGAIN and "temporarily" in text):
        return "no more threads or processes can be started; raise the limits (ulimit -u, -v)"
    if code == errno.EMFILE:
        return "too many open files; raise the limit (ulimit -n)"
    if "No usable temporary directory" in text:
        return "no folder for temporary files can be written; free some space, or set TMPDIR"
    if isinstance(error, OSError) and code in _FULL:
        file = error.filename or "a temporary file"
        return f"{file}: cannot be written ({reason(error)}); free some space, or set TMPDIR"
    return ""
