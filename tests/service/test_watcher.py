"""A running server whose library is rebuilt, damaged, removed or replaced, in one process."""

import gc
import json
import logging
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("fastapi")

from fastapi.testclient import TestClient

from mathsetu.library import Library, build_library
from mathsetu.library.manifest import checksum, signed
from mathsetu.records import Post
from mathsetu.service import reloading_library
from mathsetu.service.app import create_app
from mathsetu.service.engine import Engine
from mathsetu.service.metrics import Metrics
from mathsetu.service.settings import Settings
from tests.light import LIGHT

OFTEN = 0.02


def build(folder: Path, *ids: str) -> None:
    posts = [Post(id=name, body="A circle of radius $r$.", language="en") for name in ids]
    build_library(folder, posts, LIGHT, processes=1)


@contextmanager
def serving(folder: Path, shared: Path) -> Iterator[TestClient]:
    settings = Settings(str(folder), refresh=OFTEN, shared=str(shared))
    with TestClient(create_app(settings)) as client:
        yield client


def found(client: TestClient) -> set[str]:
    response = client.get("/v1/search?q=circle")
    assert response.status_code == 200, response.text
    return {hit["id"] for hit in response.json()["hits"]}


def metric(client: TestClient, name: str) -> float:
    response = client.get("/v1/metrics")
    assert response.status_code == 200, response.text
    lines = [line.split() for line in response.text.splitlines()]
    return next((float(line[1]) for line in lines if line[0] == name), 0.0)


def becomes(holds: Callable[[], bool], seconds: float = 10.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(OFTEN)
    return False


def fails_to_reload(client: TestClient) -> bool:
    """Whether several reloads in a row fail."""
    before = metric(client, "mathsetu_reload_failures_total")
    return becomes(lambda: metric(client, "mathsetu_reload_failures_total") > before + 3)


def damage(folder: Path, file: str, content: bytes) -> None:
    """Overwrite the beginning of a file, and its checksum in the manifest."""
    [segment] = (folder / "segments").iterdir()
    path = segment / file
    path.write_bytes(content + path.read_bytes()[len(content) :])
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    manifest["segments"][0]["files"][file] = [path.stat().st_size, checksum(path)]
    (folder / "manifest.json").write_text(json.dumps(signed(manifest)), encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "library"
    build(folder, "old")
    return folder


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    shared = tmp_path / "shared"
    shared.mkdir()
    return shared


@pytest.mark.thorough
def test_a_full_temporary_folder_does_not_stop_the_watcher(folder: Path, shared: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no device that is always full")
    part = shared / f"metrics-{os.getpid()}.part"
    part.symlink_to("/dev/full")  # before the watcher starts, which often writes there
    with serving(folder, shared) as client:
        time.sleep(5 * OFTEN)
        assert metric(client, "mathsetu_library_posts") == 1
        build(folder, "new")
        assert becomes(lambda: found(client) == {"new"})
        assert not part.with_suffix(".json").exists()
        part.unlink()
        assert becomes(lambda: part.with_suffix(".json").exists())


@pytest.mark.thorough
def test_a_removed_temporary_folder_does_not_stop_the_watcher(folder: Path, shared: Path) -> None:
    with serving(folder, shared) as client:
        shutil.rmtree(shared)
        time.sleep(5 * OFTEN)
        build(folder, "new")
        assert becomes(lambda: found(client) == {"new"})


# Headers of arrays that numpy refuses with errors of several kinds.
HEADERS = [
    b"\x93NUMPY\x01\x00\x76\x00" + b"{'descr': [" + b"(" * 90,
    b"\x93NUMPY\x01\x00\x76\x00" + b"{'descr': '<i8', 'fortran_order': False, 'shape': (-1,), }",
    b"\x93NUMPY\x01\x00\x76\x00" + b"\xff" * 100,
    b"\x93NUMPY\x01\x00\x76\x00" + b"{'descr': '|O', 'fortran_order': False, 'shape': (3,), }",
    b"no array at all",
]


@pytest.mark.thorough
@pytest.mark.parametrize("header", range(len(HEADERS)))
def test_with_a_damaged_array_the_old_library_stays_in_use_until_a_good_one_replaces_it(
    folder: Path, shared: Path, header: int
) -> None:
    with serving(folder, shared) as client:
        bad = folder.with_name("bad")
        build(bad, "bad")
        damage(bad, "words/documents.npy", HEADERS[header])
        folder.rename(folder.with_name("before"))
        bad.rename(folder)
        assert fails_to_reload(client)
        assert found(client) == {"old"}
        assert metric(client, "mathsetu_reload_ok") == 0
        assert metric(client, "mathsetu_reload_age_seconds") > OFTEN
        build(folder, "new")
        assert becomes(lambda: found(client) == {"new"})
        assert becomes(lambda: metric(client, "mathsetu_reload_ok") == 1)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "error",
    [MemoryError(), RecursionError("deep"), OSError(24, "Too many open files"), KeyError(0)],
)
def test_the_old_library_stays_in_use_when_opening_the_new_one_fails(
    folder: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    events: list[str] = []
    engine = Engine(folder, note=events.append)

    def cannot(_: Path) -> Library:
        raise error

    build(folder, "new")
    monkeypatch.setattr(reloading_library, "Library", cannot)
    assert not engine.refresh()
    assert engine.reload_state()["reload_ok"] == 0
    assert engine.search("circle").hits[0].id == "old"
    monkeypatch.setattr(reloading_library, "Library", Library)
    assert engine.refresh()
    assert engine.search("circle").hits[0].id == "new"
    assert events == ["reload_failures", "reloaded"]


@pytest.mark.thorough
def test_a_library_that_opens_but_cannot_be_searched_is_not_served(folder: Path) -> None:
    engine = Engine(folder)
    build_library(folder, [Post("bad", "A prime number.", language="en")], LIGHT, processes=1)
    [segment] = (folder / "segments").iterdir()
    documents = np.load(segment / "words" / "documents.npy")
    written = BytesIO()
    np.save(written, np.full_like(documents, np.iinfo(documents.dtype).max))
    damage(folder, "words/documents.npy", written.getvalue())
    assert not engine.refresh()
    assert engine.search("circle").hits[0].id == "old"
    build(folder, "new")
    assert engine.refresh()
    assert engine.search("circle").hits[0].id == "new"


@pytest.mark.thorough
def test_each_problem_is_logged_once(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    engine = Engine(folder)
    with caplog.at_level(logging.WARNING, "mathsetu.service"):
        for content in ("{}", "[]", "{}", "[]"):
            (folder / "manifest.json").write_text(content, encoding="utf-8")
            for _ in range(5):
                assert not engine.refresh()
        assert len(caplog.messages) == 2
        build(folder, "new")
        assert engine.refresh()
        (folder / "manifest.json").write_text("{}", encoding="utf-8")
        assert not engine.refresh()
        assert len(caplog.messages) == 3


def test_a_problem_is_logged_once_even_if_numbers_in_its_message_change(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    engine = Engine(folder)
    build(folder, "new")
    [segment] = (folder / "segments").iterdir()
    with caplog.at_level(logging.WARNING, "mathsetu.service"):
        for _ in range(5):  # as while the file is being copied
            with (segment / "words" / "documents.npy").open("ab") as file:
                file.write(b"more")
            assert not engine.refresh()
    [message] = caplog.messages
    assert "bytes instead of" in message


@pytest.mark.thorough
def test_a_library_that_is_removed_and_rebuilt_is_opened(folder: Path, shared: Path) -> None:
    with serving(folder, shared) as client:
        shutil.rmtree(folder)
        assert fails_to_reload(client)
        assert found(client) == {"old"}
        build(folder, "new")
        assert becomes(lambda: found(client) == {"new"})


@pytest.mark.thorough
def test_a_new_library_is_opened_when_a_link_to_the_library_changes(
    folder: Path, tmp_path: Path, shared: Path
) -> None:
    build(tmp_path / "other", "new")
    link = tmp_path / "link"
    link.symlink_to(folder)
    with serving(link, shared) as client:
        assert found(client) == {"old"}
        (tmp_path / "next").symlink_to(tmp_path / "other")
        (tmp_path / "next").replace(link)
        assert becomes(lambda: found(client) == {"new"})


def test_a_changed_manifest_with_the_same_time_and_size_is_detected(folder: Path) -> None:
    engine = Engine(folder)
    manifest = folder / "manifest.json"
    before = manifest.stat()
    build(folder, "new")
    os.utime(manifest, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert manifest.stat().st_size == before.st_size
    assert engine.refresh()
    assert engine.search("circle").hits[0].id == "new"


@pytest.mark.thorough
def test_an_identical_rebuilt_library_is_opened_again(folder: Path) -> None:
    """The manifest is identical, but the files that were open may have been damaged."""
    engine = Engine(folder)
    manifest = (folder / "manifest.json").read_bytes()
    shutil.rmtree(folder)
    build(folder, "old")
    assert (folder / "manifest.json").read_bytes() == manifest
    assert engine.refresh()
    assert not engine.refresh()


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="counts open files in /proc")
def test_replaced_libraries_close_their_files(folder: Path) -> None:
    def open_files() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    engine = Engine(folder)
    engine.search("circle")
    gc.collect()
    before = open_files()
    gc.disable()
    try:
        for number in range(3):
            build(folder, f"new-{number}")
            assert engine.refresh()
            engine.search("circle")
        assert not engine.refresh()
        assert open_files() <= before
    finally:
        gc.enable()


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b'{"mathsetu_refused_total": "x"}', b"\xff\xfe",
     b'{"mathsetu_refused_total": ' + b"9" * 400 + b"}", b"[" * 100_000,
     b'{"mathsetu_refused_total\\n": 1}'],
)  # fmt: skip
def test_damaged_counts_of_another_worker_do_not_stop_the_metrics(
    tmp_path: Path, content: bytes
) -> None:
    one, other = Metrics(str(tmp_path)), Metrics(str(tmp_path))
    other._file = tmp_path / "metrics-0.json"
    other.count("refused")
    other.publish()
    assert "mathsetu_refused_total 1" in one.text({})
    other._file.write_bytes(content)
    # Counts never decrease: the last valid counts of the other worker are kept.
    assert "mathsetu_refused_total 1\n" in one.text({})
    other._file.unlink()
    other._file.mkdir()
    assert "mathsetu_refused_total 1\n" in one.text({})


def large(folder: Path, count: int) -> None:
    """Build a library with files that are not read completely when it is opened."""
    posts = [Post(id=f"{n}", body=f"A circle number{n} " * 20, language="en") for n in range(count)]
    build_library(folder, posts, LIGHT, processes=1)


def turned(folder: Path) -> Path:
    """Flip a bit of the largest array."""
    path = max(folder.rglob("words/*.npy"), key=lambda one: one.stat().st_size)
    assert path.stat().st_size > 1 << 16
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    return path


@pytest.mark.thorough
def test_a_new_library_with_damage_that_opening_does_not_detect_is_not_served(
    tmp_path: Path,
) -> None:
    large(tmp_path / "library", 2)
    large(tmp_path / "new", 9_000)
    turned(tmp_path / "new")
    with serving(tmp_path / "library", tmp_path) as client:
        shutil.rmtree(tmp_path / "library")
        (tmp_path / "new").rename(tmp_path / "library")
        assert fails_to_reload(client)
        assert metric(client, "mathsetu_library_posts") == 2
        assert len(found(client)) == 2


@pytest.mark.thorough
def test_damage_of_the_library_is_reported_to_clients_without_names_of_files(
    tmp_path: Path,
) -> None:
    large(tmp_path / "library", 9_000)
    path = turned(tmp_path / "library")
    with TestClient(create_app(Settings(str(tmp_path / "library")))) as client:
        response = client.get("/v1/search?q=circle")
        assert response.status_code == 500
        assert "the library of this server is damaged" in response.json()["error"]
        assert path.name not in response.text
