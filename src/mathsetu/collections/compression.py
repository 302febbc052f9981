"""Members of archives and zstd compression, for the functions that open files.

Every reader of files imports this module; `mathsetu.collections.trees` opens the archives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO

from mathsetu.errors import MissingExtra

if TYPE_CHECKING:
    from mathsetu.collections.trees import Tree


class Member(str):
    """A file in a tree, passed to readers in place of a path; its text is its name in messages."""

    __slots__ = ("name", "tree")
    tree: Tree
    name: str

    @classmethod
    def of(cls, tree: Tree, name: str) -> Member:
        """Return the member of a tree with this name."""
        member = cls(tree.shown(name))
        member.tree, member.name = tree, name
        return member


def open_zstd(file: BinaryIO) -> Any:
    """Open a stream compressed with zstd."""
    try:
        from compression import zstd
    except ImportError:
        try:
            from backports import zstd
        except ImportError:
            raise MissingExtra("reading .zst files", "archives") from None

    class Checked(zstd.ZstdFile):  # type: ignore[misc]
        """Raises EOFError for broken data, as the other decompressors do."""

        def read(self, size: int | None = -1) -> bytes:
            try:
                data: bytes = super().read(size)
            except zstd.ZstdError as error:
                raise EOFError(str(error)) from None
            return data

        def readline(self, size: int | None = -1) -> bytes:
            try:
                data: bytes = super().readline(size)
            except zstd.ZstdError as error:
                raise EOFError(str(error)) from None
            return data

    return Checked(file)
