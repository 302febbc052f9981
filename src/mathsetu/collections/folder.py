r"""Reads folders, archives and single files into posts.

Documents are split into sections (`mathsetu.collections.documents`); files in another format of
posts are read in that format. Files that cannot be read are counted by reason.
"""

from __future__ import annotations

import io
import os
import posixpath
from collections.abc import Callable, Iterator
from pathlib import Path

from mathsetu.collections.compression import Member
from mathsetu.collections.documents import (
    KINDS,
    Document,
    Kind,
    kind_by_content,
    kind_by_name,
    read_document,
)
from mathsetu.collections.documents.latex import included, is_main, main_file, read_with_files
from mathsetu.collections.files import given_name
from mathsetu.collections.rows import REFUSE, BadRows
from mathsetu.collections.trees import (
    BROKEN,
    Entry,
    FolderTree,
    Tree,
    compression,
    open_archive,
)
from mathsetu.errors import InputError, MissingExtra, RowError, reason
from mathsetu.limits import LONGEST_DOCUMENT
from mathsetu.places import is_library
from mathsetu.plain_files import open_plain
from mathsetu.records import Post, archives_of

_HEAD = 4096
# Levels of archives read below the source (arXiv's bulk files hold an archive for each paper).
_DEEPEST = 2
_COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
_ARCHIVES = (".zip", ".tar", ".tgz", ".tbz2", ".txz", ".7z", *_COMPRESSED)

#: Why a file is not read in another format: it is a document, or its type is unknown.
DOCUMENT, UNKNOWN = "a document", "unsupported file type"
EMPTY = "an empty file"
#: Given a path and the name of the file in ids, returns a reader of its posts, or a text that says
#: why the file has none.
Others = Callable[[str | Path, str], Callable[[BadRows], Iterator[Post]] | str]


def read_posts(
    path: str | Path, bad: BadRows = REFUSE, *, language: str = "", others: Others | None = None
) -> Iterator[Post]:
    r"""Read every file in a folder and its subfolders, in order of their paths.

    Hidden files and folders, libraries and links are skipped; a link may lead out of the folder.
    A file that cannot be read is a bad row.

    >>> from tempfile import mkdtemp
    >>> folder = Path(mkdtemp())
    >>> _ = (folder / "sums.md").write_text("# Sums\n\nAdd $a$.\n\n## A trick\n\nUse $b$.")
    >>> [(post.id, post.title, post.body) for post in read_posts(folder)]
    [('sums.md#sums', 'Sums', 'Add $a$.'), ('sums.md#a-trick', 'Sums › A trick', 'Use $b$.')]
    """
    root = Path(path)
    if not root.is_dir():
        raise InputError(f"{path}: is not a folder")
    if is_library(root):
        raise InputError(
            f"{path}: is a library; give the files that it was built from, or export its posts "
            f"first: mathsetu convert {path} posts.jsonl"
        )
    yield from _TreeReader(bad, language, others).read(FolderTree(root), prefix_of(root))


def prefix_of(root: Path) -> str:
    """Return the prefix of the ids of a folder's posts; "" if they do not name the folder.

    >>> prefix_of(Path("./notes/")), prefix_of(Path("../notes")), prefix_of(Path("."))
    ('notes/', '', '')
    """
    # The same prefix as for a single file of the folder, so that reading the file alone and
    # reading the folder replace each other's posts.
    leads_down = not root.is_absolute() and ".." not in root.parts
    return "".join(f"{part}/" for part in root.parts) if leads_down else ""


def has_file(root: Path, file: str) -> bool:
    """Whether a folder has a file that posts came from, whether or not it can be read.

    Args:
        root: The folder.
        file: The name of the file, with the folder's prefix. The file may be compressed. If it is
            in an archive, only the existence of the archive is checked.
    """
    prefix = prefix_of(root)
    place = root / file.removeprefix(prefix)
    return any(os.path.lexists(f"{place}{ending}") for ending in ("", *_COMPRESSED)) or any(
        (root / name.removeprefix(prefix)).is_file() for name in archives_of(file)
    )


def read_archive(
    path: str | Path, bad: BadRows = REFUSE, *, language: str = "", others: Others | None = None
) -> Iterator[Post]:
    """Read every file in an archive: zip, tar (also compressed), 7z, or one compressed file."""
    _check_is_file(path, "an archive")
    name = given_name(path)
    gathering = _TreeReader(bad, language, others)
    with open_archive(path, str(path)) as tree:
        if tree is not None:
            yield from gathering.read(tree, f"{name}/")
            return
    packed = FolderTree(Path(path).parent, _label(Path(path))).read(Path(path).name)
    yield from gathering.single(name, str(path), _unpacked(packed, str(path)))


def read_file(
    path: str | Path, bad: BadRows = REFUSE, *, language: str = "", kind: Kind | None = None
) -> Iterator[Post]:
    """Read one document. Files that it includes (LaTeX) are searched for in its folder.

    If a LaTeX file is part of a document in its folder or in the parent folder, it is read as that
    document includes it. A file of unknown kind is read as plain text.
    """
    _check_is_file(path, "a document")
    place = Path(path)
    try:
        with open_plain(path, follow_links=True) as file:
            is_empty = not file.read(1)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({reason(error)})") from None
    if is_empty:
        bad.add_ignored(path, EMPTY)
        return
    tree = FolderTree(place.parent, _label(place))
    # A link that the user names is followed.
    name = place.name
    if place.is_symlink():
        tree = FolderTree(place.resolve().parent, _label(place))
        name = place.resolve().name
    given = given_name(path)
    prefix = given[: -len(place.name)] if given.endswith(place.name) else ""
    found = kind or _kind(tree, name) or kind_by_name(place.name) or KINDS["text"]
    document = Document(tree, name, prefix, language)
    try:
        _check_name(name)
        if found is KINDS["latex"] and not place.is_symlink():
            document = _whole(document, path, bad)
        yield from read_document(document, found, bad)
    except RowError as error:
        bad.report(error)
    except OSError as error:
        bad.report(_unreadable(error, str(path)))
    except ValueError as error:
        bad.report(RowError(path, 0, str(error)))


def _whole(part: Document, path: str | Path, bad: BadRows) -> Document:
    """Return the LaTeX document that includes a file, limited to this file; else the file."""
    if is_main(part.tree, part.name):
        return part
    folder = Path(os.path.abspath(path)).parent
    for above, name in ((folder, part.name), (folder.parent, f"{folder.name}/{part.name}")):
        place = Path(os.path.relpath(above)) if not Path(path).is_absolute() else above
        tree = FolderTree(place, _label(place / part.name))
        try:
            names = sorted(one.name for one in above.iterdir() if _is_latex(one.name))
        except OSError:
            continue
        main = main_file(tree, name, [one for one in names if tree.has(one)])
        if main is None:
            continue
        if not part.id.endswith(name):  # its sections would have other ids there
            bad.note(f"{path}: is a part of {tree.shown(main)}; add that file or its folder")
            return part
        bad.note(f"{path}: its sections are read as {tree.shown(main)} includes them")
        return Document(tree, main, part.id.removesuffix(name), part.language, only=name)
    return part


def document_kind(path: str | Path) -> Kind | None:
    """Return the kind of a document, by its name or its first bytes."""
    place = Path(path)
    return _kind(FolderTree(place.parent), place.name) if place.is_file() else None


class _TreeReader:
    """Reads all files of a tree, each in its format."""

    def __init__(self, bad: BadRows, language: str, others: Others | None) -> None:
        self._bad = bad
        self._language = language
        self._others = others
        self._known: set[str] = set()

    def read(self, tree: Tree, prefix: str, depth: int = 0) -> Iterator[Post]:
        """The posts of a tree."""
        names = []
        for entry in tree.entries(self._bad):
            if entry.size:
                names.append(entry.name)
            else:
                self._bad.add_ignored(tree.shown(entry.name), EMPTY)
        latex = [name for name in names if _is_latex(name)]
        taken_in = included(tree, latex)
        read: set[str] = set()
        for name in names:
            if name not in taken_in:
                yield from self._read_safely(tree, name, prefix, depth, read)
        for name in latex:  # files that include each other
            if name in taken_in and name not in read:
                yield from self._read_safely(tree, name, prefix, depth, read)

    def single(self, name: str, shown: str, data: bytes) -> Iterator[Post]:
        """Read one compressed file, given its decompressed content."""
        kind = kind_by_name(_without_packing(name)) or kind_by_content(data[:_HEAD], data)
        if kind is None:
            raise InputError(f"{shown}: the compressed file is of an unsupported type")
        tree = _OneFile(_without_packing(posixpath.basename(name)), data, shown)
        prefix = name[: -len(posixpath.basename(name))]
        yield from self._document(tree, tree.name, prefix, kind, set())

    def _read_safely(
        self, tree: Tree, name: str, prefix: str, depth: int, read: set[str]
    ) -> Iterator[Post]:
        """Read a file; report it as a bad row if it cannot be read, and note a missing extra."""
        try:
            _check_name(name)
            yield from self._file(tree, name, prefix, depth, read)
        except MissingExtra as error:
            reason = str(error).removeprefix(f"{tree.shown(name)}: ")
            self._bad.add_ignored(tree.shown(name), reason)
            self._bad.note(str(error))
        except RowError as error:
            self._bad.report(error)
        except OSError as error:
            self._bad.report(_unreadable(error, tree.shown(name)))
        except (InputError, *BROKEN) as error:
            problem = str(error).removeprefix(f"{tree.shown(name)}: ")
            self._bad.report(RowError(tree.shown(name), 0, problem))

    def _file(
        self, tree: Tree, name: str, prefix: str, depth: int, read: set[str]
    ) -> Iterator[Post]:
        kind = kind_by_name(name)
        if kind is not None and kind.name != "text":
            yield from self._document(tree, name, prefix, kind, read)
            return
        path = tree.path(name) if isinstance(tree, FolderTree) else Member.of(tree, name)
        other = self._others(path, f"{prefix}{name}") if self._others is not None else UNKNOWN
        if not isinstance(other, str):
            yield from other(self._bad)
            return
        if kind is not None and other in (DOCUMENT, UNKNOWN):
            yield from self._document(tree, name, prefix, kind, read)
        elif kind is not None:  # plain text that is a list of results or judgments
            self._bad.add_ignored(tree.shown(name), other)
        elif name.lower().endswith(_ARCHIVES):
            yield from self._archive(tree, name, prefix, depth)
        else:
            with tree.open(name) as file:
                head = file.read(_HEAD)
            kind = kind_by_content(head)
            if kind is not None:
                yield from self._document(tree, name, prefix, kind, read)
            else:
                self._bad.add_ignored(tree.shown(name), other if head.strip() else EMPTY)

    def _document(
        self, tree: Tree, name: str, prefix: str, kind: Kind, read: set[str]
    ) -> Iterator[Post]:
        document = Document(tree, name, prefix, self._language, self._known)
        if kind is KINDS["latex"]:
            posts, files = read_with_files(document, self._bad)
            read.update(files)
            kind = kind._replace(read=lambda document, bad: posts)
        yield from read_document(document, kind, self._bad)

    def _archive(self, tree: Tree, name: str, prefix: str, depth: int) -> Iterator[Post]:
        shown = tree.shown(name)
        if depth >= _DEEPEST:
            self._bad.add_ignored(shown, "an archive inside archives")
            return
        if isinstance(tree, FolderTree):
            path: str | Path = tree.path(name)
            data = None
        else:
            path, data = shown, tree.read(name)
        with open_archive(path, shown, data) as inner:
            if inner is not None:
                yield from self.read(inner, f"{prefix}{name}/", depth + 1)
                return
        if data is None:
            data = tree.read(name)
        unpacked = _unpacked(data, shown)
        kind = kind_by_name(_without_packing(name)) or kind_by_content(unpacked[:_HEAD], unpacked)
        if kind is None:
            self._bad.add_ignored(shown, UNKNOWN)
            return
        one = _OneFile(posixpath.basename(_without_packing(name)), unpacked, shown)
        folder = posixpath.dirname(name)
        yield from self._document(
            one, one.name, prefix + (f"{folder}/" if folder else ""), kind, set()
        )


class _OneFile(Tree):
    """A tree of one file, whose content is in memory."""

    def __init__(self, name: str, data: bytes, shown: str) -> None:
        self.name = name
        self._data = data
        self._shown = shown

    def entries(self, bad: BadRows) -> Iterator[Entry]:
        """Return the only file."""
        return iter((Entry(self.name, len(self._data)),))

    def has(self, name: str) -> bool:
        """Whether the name is that of the file."""
        return name == self.name

    def open(self, name: str) -> io.BytesIO:
        """Return its content as a stream."""
        return io.BytesIO(self._data)

    def shown(self, name: str) -> str:
        """Return the name for messages: that of the compressed file."""
        return self._shown


def _kind(tree: FolderTree, name: str) -> Kind | None:
    kind = kind_by_name(name)
    if kind is not None and kind.name != "text":
        return kind
    try:
        with tree.open(name) as file:
            head = file.read(_HEAD)
        whole = tree.read(name) if head.startswith(b"PK") else None
    except (OSError, InputError):
        return kind
    return kind_by_content(head, whole) or kind


def _is_latex(name: str) -> bool:
    kind = kind_by_name(name)
    return kind is not None and kind.name == "latex"


def _unpacked(data: bytes, shown: str) -> bytes:
    """Return the content of a compressed file; refuse one longer than a document may be."""
    unpack = compression(data[:16])
    if unpack is None:
        raise InputError(f"{shown}: is not a known archive format")
    try:
        with unpack(io.BytesIO(data)) as file:
            whole: bytes = file.read(LONGEST_DOCUMENT + 1)
    except (OSError, *BROKEN) as error:
        raise InputError(f"{shown}: the compressed data is corrupt ({error})") from None
    if len(whole) > LONGEST_DOCUMENT:
        raise InputError(f"{shown}: unpacks to more than {LONGEST_DOCUMENT >> 20} MiB")
    return whole


def _without_packing(name: str) -> str:
    """Return a file name without the ending of its compression.

    >>> _without_packing("2101.00001.gz"), _without_packing("notes.md")
    ('2101.00001', 'notes.md')
    """
    stem, dot, ending = name.rpartition(".")
    return stem if dot and f".{ending.lower()}" in _COMPRESSED else name


def _label(place: Path) -> str:
    folder = os.fspath(place.parent)
    return "" if folder == "." else folder


def _unreadable(error: OSError, shown: str) -> RowError:
    """Return the error for a file that cannot be read: a document, or a file it includes."""
    return RowError(error.filename or shown, 0, f"cannot be read ({reason(error)})")


def _check_is_file(path: str | Path, what: str) -> None:
    """Refuse standard input, because the file name gives the kind and the ids of posts."""
    if str(path) == "-":
        raise InputError(f"{what} cannot be read from standard input; give the name of its file")


def _check_name(name: str) -> None:
    """Refuse a name that is not UTF-8, because it becomes part of the ids of posts."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        raise RowError(name, 0, "the name of the file is not UTF-8 (rename it)") from None
