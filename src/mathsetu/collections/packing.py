"""What files are packed in, for those who open one: members of archives, and zstd.

Loaded by whoever reads any file; archives themselves are opened in `mathsetu.collections.trees`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO

from mathsetu.errors import MissingExtra

if TYPE_CHECKING:
    from mathsetu.collections.trees import Tree


class Member(str):
    """A file in a tree, given to readers that take a path; its text is how it is shown."""

    __slots__ = ("name", "tree")
    tree: Tree
    name: str

    @classmethod
    def of(cls, tree: Tree, name: str) -> Member:
        """The member of a tree."""
        member = cls(tree.shown(name))
        member.tree, member.name = tree, name
        return member


def open_zstd(file: BinaryIO) -> Any:
    """A file compressed by zstd, read on the way."""
    try:
        from compression import zstd
    except ImportError:
        try:
            from backports import zstd
        except ImportError:
            raise MissingExtra("reading .zst files", "archives") from None

    class Checked(zstd.ZstdFile):  # type: ignore[misc]
        """Says what is broken as the other compressions do."""

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
