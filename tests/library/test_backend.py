"""Opening a library in a folder: retries, errors, and renewal."""

from pathlib import Path

import pytest

from mathsetu.errors import DamagedLibrary, InputError
from mathsetu.library import backend
from mathsetu.library.backend import open_backend
from mathsetu.library.manifest import read_manifest


def test_opening_is_tried_up_to_five_times_while_the_manifest_changes(
    library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = read_manifest(library)
    read = 0
    opened = 0

    def changing(folder: Path) -> object:
        nonlocal read
        read += 1
        return read

    class Replaced:
        def __init__(self, folder: Path, manifest: object, settings: tuple[str, ...]) -> None:
            nonlocal opened
            opened += 1
            if opened < 5:
                raise DamagedLibrary(folder, "is missing")
            self.manifest = manifest

    monkeypatch.setattr(backend, "read_manifest", changing)
    monkeypatch.setattr(backend, "FolderBackend", Replaced)
    assert open_backend(library, ()).manifest == 9  # type: ignore[attr-defined]
    opened = -1
    with pytest.raises(DamagedLibrary):
        open_backend(library, ())
    assert opened == 4
    # If the manifest does not change, damage is reported at once.
    monkeypatch.setattr(backend, "read_manifest", lambda folder: manifest)
    opened = 0
    with pytest.raises(DamagedLibrary):
        open_backend(library, ())
    assert opened == 1


def test_an_error_of_the_operating_system_becomes_one_line(
    library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*given: object) -> object:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(backend, "FolderBackend", refused)
    with pytest.raises(InputError, match=rf"^{library}: cannot be read \(.*ermission denied\)$"):
        open_backend(library, ())


def test_an_open_backend_is_not_renewed_while_its_folder_is_unchanged(library: Path) -> None:
    opened = open_backend(library, ())
    assert opened.now() is opened
    assert opened.renew(opened.now()) is False
    assert opened.refreshed() is None
    assert opened.now().version == ""
    opened.close()


def test_a_part_that_was_built_from_other_posts_is_damaged(
    library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        backend.CachedPosts, "__init__", lambda self, *given: setattr(self, "count", 9)
    )
    monkeypatch.setattr(backend.CachedPosts, "close", lambda self: None)
    with pytest.raises(DamagedLibrary, match="was built from other posts"):
        open_backend(library, ())
