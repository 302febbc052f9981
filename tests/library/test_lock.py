"""The write lock: one writer of a library at a time."""

import io
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from mathsetu.errors import InputError
from mathsetu.library import lock
from mathsetu.library.lock import LOCK, writing_alone


def test_a_second_writer_is_refused_until_the_first_has_finished(tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.mkdir()
    with (
        writing_alone(library),
        pytest.raises(InputError, match="is locked by another writer"),
        writing_alone(tmp_path / "." / "library"),
    ):
        pass
    with writing_alone(library):
        assert (library / LOCK).is_file()
    assert (library / LOCK).is_file()


def test_a_new_folder_in_which_nothing_was_built_is_removed(tmp_path: Path) -> None:
    library = tmp_path / "deep" / "library"
    with writing_alone(library):
        (library / "segments").mkdir()
    assert not library.exists()
    with writing_alone(library):
        (library / "manifest.json").write_text("{}")
    assert (library / "manifest.json").exists()
    with writing_alone(library):
        (library / "manifest.json").unlink()
    assert library.exists()


def test_a_link_or_folder_instead_of_the_lock_file_is_refused(tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.mkdir()
    (library / LOCK).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="is a link; remove it"), writing_alone(library):
        pass
    (library / LOCK).unlink()
    (library / LOCK).mkdir()
    with pytest.raises(InputError, match="is not a plain file; remove it"), writing_alone(library):
        pass


def test_a_lock_file_that_was_removed_meanwhile_gives_no_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = tmp_path / "library"
    library.mkdir()
    real = lock._locked

    def removed(file: object) -> bool:
        (library / LOCK).unlink()
        return real(file)  # type: ignore[arg-type]

    monkeypatch.setattr(lock, "_locked", removed)
    with (
        pytest.raises(InputError, match="is locked by another writer"),
        writing_alone(library),
    ):
        pass


def test_an_error_of_the_operating_system_becomes_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path) -> object:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(lock, "open_to_lock", full)
    with (
        pytest.raises(InputError, match=r"library: cannot be written \(.*space left"),
        writing_alone(tmp_path / "library"),
    ):
        pass


def test_windows_locks_the_first_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[int, int, int]] = []
    windows = SimpleNamespace(LK_NBLCK=2, locking=lambda *given: calls.append(given))
    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", windows)
    with (tmp_path / LOCK).open("w+b") as file:
        assert lock._locked(file)
        assert calls == [(file.fileno(), 2, 1)]

        def taken(*given: int) -> None:
            raise OSError(13, "Permission denied")

        windows.locking = taken
        assert not lock._locked(file)
    monkeypatch.setitem(sys.modules, "msvcrt", None)
    assert lock._locked(io.BytesIO())
