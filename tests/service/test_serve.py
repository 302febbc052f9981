"""``mathsetu serve`` as a process: it starts, answers, reloads and stops without lost requests."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import mathsetu
from mathsetu import own_models
from mathsetu.cli import main
from mathsetu.library import build_library
from mathsetu.recipes.schema import parse_recipe
from mathsetu.records import Post
from tests.light import LIGHT
from tests.processes import processes_with

pytestmark = pytest.mark.thorough

START = "from mathsetu.cli import main; main()"
CIRCLE = "A circle of radius $r$ has the area $\\pi r^2$."
OWN = """
    name = "own"
    description = "An encoder that ends with its program"
    [parts.vectors]
    kind = "dense"
    model = "object:passing"
    [ranking]
    weights = { vectors = 1.0 }
"""


class Passing:
    dimensions = 2

    def encode(self, texts: list[str]) -> list[list[float]]:
        return [[1.0, 0.0] for _ in texts]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def fetch(url: str, **headers: str) -> tuple[int, str]:
    try:
        request = urllib.request.Request(url, headers=headers)
        with urllib.request.urlopen(request, timeout=30) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


@contextmanager
def serving(
    *options: str, port: int = 0, **environment: str
) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    port = port or free_port()
    server = subprocess.Popen(
        [sys.executable, "-c", START, "serve", *options, "--port", str(port)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, **environment},
    )
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            try:
                fetch(f"{url}/v1/health")
                break
            except OSError:
                assert server.poll() is None, server.communicate()[0]
                time.sleep(0.1)
        yield url, server
    finally:
        server.kill()
        server.communicate()


def test_without_a_library_the_server_serves_the_sampler_and_removes_it_at_the_end(
    tmp_path: Path,
) -> None:
    with serving(TMPDIR=str(tmp_path)) as (url, server):
        assert len(list(tmp_path.glob("mathsetu-*"))) == 2
        assert json.loads(fetch(f"{url}/v1/library")[1])["posts"] == 248
        # A page of another site cannot reach the server by DNS rebinding.
        assert fetch(f"{url}/v1/library", Host="rebound.example")[0] == 400
        server.send_signal(signal.SIGTERM)
        assert server.wait(30) == 0
        assert list(tmp_path.glob("mathsetu-*")) == []


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="Windows has no such signal")
@pytest.mark.parametrize("workers", ["1", "2"])
def test_sighup_ends_the_server_unless_it_ignores_the_signal(tmp_path: Path, workers: str) -> None:
    with serving("--workers", workers, TMPDIR=str(tmp_path)) as (_, server):
        server.send_signal(signal.SIGHUP)
        assert server.wait(30) == 0
        assert list(tmp_path.glob("mathsetu-*")) == []
    ignored = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    try:
        with serving("--workers", workers, TMPDIR=str(tmp_path)) as (url, server):
            server.send_signal(signal.SIGHUP)
            time.sleep(1)
            assert fetch(f"{url}/v1/health")[0] == 200
            assert server.poll() is None
            server.terminate()
            assert server.wait(30) == 0
    finally:
        signal.signal(signal.SIGHUP, ignored)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_the_server_reports_that_it_is_running_when_it_can_answer(
    tmp_path: Path, workers: str
) -> None:
    build_library(tmp_path / "library", [Post("1", CIRCLE, language="en")], LIGHT, processes=1)
    port = free_port()
    options = (str(tmp_path / "library"), "--workers", workers, "--port", str(port))
    with subprocess.Popen(
        [sys.executable, "-c", START, "serve", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        try:
            assert server.stdout is not None
            assert "is running at" in server.stdout.readline()
            assert fetch(f"http://127.0.0.1:{port}/v1/health")[0] == 200
        finally:
            server.terminate()


def test_a_stopped_server_answers_the_requests_it_has_begun(tmp_path: Path) -> None:
    build_library(tmp_path / "library", [Post("1", CIRCLE, language="en")], LIGHT, processes=1)
    with serving(str(tmp_path / "library"), "--workers", "2") as (url, server):
        statuses: list[int] = []
        ends: list[OSError] = []

        def keep_asking() -> None:
            try:
                while True:
                    statuses.append(fetch(f"{url}/v1/search?q=circle")[0])
            except OSError as error:
                ends.append(getattr(error, "reason", error))

        threads = [threading.Thread(target=keep_asking) for _ in range(4)]
        for thread in threads:
            thread.start()
        while len(statuses) < 20:
            time.sleep(0.01)
        server.send_signal(signal.SIGTERM)
        output = server.communicate(timeout=30)[0]
        for thread in threads:
            thread.join(30)
    assert set(statuses) == {200}
    assert "Traceback" not in output
    # The server accepts no new connections; the system refuses or resets late ones.
    assert {type(end) for end in ends} <= {ConnectionRefusedError, ConnectionResetError}


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_workers_of_a_killed_server_end_and_leave_the_address_free(tmp_path: Path) -> None:
    build_library(tmp_path / "library", [Post("1", CIRCLE, language="en")], LIGHT, processes=1)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    options = (str(tmp_path / "library"), "--workers", "2")
    port, mark = free_port(), f"MATHSETU_TEST={tmp_path}"
    variables = {"TMPDIR": str(temporary), "MATHSETU_TEST": str(tmp_path)}
    with serving(*options, port=port, **variables) as (url, server):
        workers = processes_with(mark) - {server.pid}
        assert len(workers) >= 2
        assert fetch(f"{url}/v1/search?q=circle")[0] == 200
        server.kill()
        killed = time.monotonic()
        server.wait(10)
        while processes_with(mark) and time.monotonic() < killed + 10:
            time.sleep(0.02)
        seconds = time.monotonic() - killed
        left = processes_with(mark)
        for number in left:
            os.kill(number, signal.SIGKILL)
        assert left == set()
        assert seconds < 6
        assert list(temporary.iterdir()) == []
    with serving(*options, port=port, **variables) as (url, server):
        assert fetch(f"{url}/v1/search?q=circle")[0] == 200
        server.terminate()
        assert server.wait(30) == 0


def test_a_rebuilt_library_is_served_without_a_restart(tmp_path: Path) -> None:
    folder = tmp_path / "library"
    build_library(folder, [Post("old", CIRCLE, language="en")], LIGHT, processes=1)
    with serving(str(folder)) as (url, _):
        assert '"id":"old"' in fetch(f"{url}/v1/search?q=circle")[1]
        build_library(folder, [Post("new", CIRCLE, language="en")], LIGHT, processes=1)
        seen = set()
        end = time.monotonic() + 20
        while time.monotonic() < end and "new" not in seen:
            status, text = fetch(f"{url}/v1/search?q=circle")
            assert status == 200
            seen.add(json.loads(text)["hits"][0]["id"])
            time.sleep(0.05)
        assert seen == {"old", "new"}
        assert "mathsetu_reloaded_total 1" in fetch(f"{url}/v1/metrics")[1]


def test_the_key_can_come_from_the_environment_and_is_never_printed(tmp_path: Path) -> None:
    folder = tmp_path / "library"
    build_library(folder, [Post("1", CIRCLE, language="en")], LIGHT, processes=1)
    with serving(str(folder), MATHSETU_KEY="secretkey") as (url, server):
        assert fetch(f"{url}/v1/library")[0] == 401
        assert fetch(f"{url}/v1/library", Authorization="Bearer secretkey")[0] == 200
        server.terminate()
        assert "secretkey" not in server.communicate(timeout=30)[0]


def test_the_health_check_of_the_container_does_not_depend_on_the_host_name(
    sampler_folder: Path,
) -> None:
    dockerfile = (Path(__file__).parents[2] / "Dockerfile").read_text(encoding="utf-8")
    [check] = re.findall(r"^HEALTHCHECK .*? CMD (\[.*?\])$", dockerfile, re.MULTILINE | re.DOTALL)
    _, *arguments = json.loads(check.replace("\\\n", ""))
    with serving(str(sampler_folder), "--name", "search.example.org") as (url, _):
        assert fetch(f"{url}/v1/library")[0] == 400
        port = url.rpartition(":")[2]
        environment = {**os.environ, "MATHSETU_PORT": port}
        subprocess.run([sys.executable, *arguments], env=environment, check=True, timeout=30)
        environment["MATHSETU_PORT"] = str(free_port())
        assert subprocess.run(
            [sys.executable, *arguments], env=environment, capture_output=True, timeout=30
        ).returncode


def refuses(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as ended:
        main(["serve", *arguments])
    assert ended.value.code == 2
    [*_, line] = capsys.readouterr().err.strip().splitlines()
    return line


def test_serve_refuses_wrong_arguments_with_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = str(tmp_path / "missing")
    assert "there is no such library" in refuses(capsys, missing)
    (tmp_path / "posts.jsonl").write_text("{}")
    refused = refuses(capsys, str(tmp_path / "posts.jsonl"))
    assert "is a file, not a library (build one from it: mathsetu index my.library " in refused
    folder = str(tmp_path / "library")
    build_library(folder, [Post("1", CIRCLE, language="en")], LIGHT, processes=1)
    mathsetu.register("passing", encoder=Passing())
    build_library(tmp_path / "own", [Post("1", CIRCLE)], parse_recipe(OWN, "tests"), processes=1)
    monkeypatch.setattr(own_models, "_registered", {})
    refused = refuses(capsys, str(tmp_path / "own"), "--port", str(free_port()))
    assert refused.startswith("mathsetu: object:passing: no encoder has this name; call mathsetu.")
    assert "--origin ftp" in refuses(capsys, folder, "--origin", "ftp://x")
    assert "--files-at ftp" in refuses(capsys, folder, "--files-at", "ftp://x")
    assert "--proxy nginx" in refuses(capsys, folder, "--proxy", "nginx")
    for name in ("http://a.example", "a.example:80", "a.example/", "bücher.example", ""):
        refused = refuses(capsys, folder, "--name", name)
        assert refused.startswith(f"mathsetu: --name {name}: give a host without scheme and port")
    refused = refuses(capsys, folder, "--key-file", missing)
    assert refused.endswith(f"{missing}: the key cannot be read (no such file or directory)")
    (tmp_path / "key").write_text("\n")
    assert "is empty" in refuses(capsys, folder, "--key-file", str(tmp_path / "key"))
    (tmp_path / "key").write_text("schlüssel-zum-schloss", encoding="utf-8")
    refused = refuses(capsys, folder, "--key-file", str(tmp_path / "key"))
    assert "the key cannot be sent in a header; use only visible ASCII characters" in refused
    for variable in ("MATHSETU_KEY", "MATHSETU_WRITE_KEY"):
        with monkeypatch.context() as changed:
            changed.setenv(variable, " ")
            refused = refuses(capsys, folder)
            assert refused == f"mathsetu: {variable}: is empty; set it to the key, or unset it"
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        refused = refuses(capsys, folder, "--port", port)
        assert "cannot listen on" in refused
        assert refused.endswith("; try --port")
        key = tmp_path / "key"
        key.write_text("short")
        with pytest.raises(SystemExit):
            main(["serve", folder, "--port", port, "--key-file", str(key)])
        assert f"the key in {key} has 5 characters and can be" in capsys.readouterr().err
        # The port can come from the environment, where the health check reads it, too.
        monkeypatch.setenv("MATHSETU_PORT", port)
        assert f"127.0.0.1:{port}" in refuses(capsys, folder)
    for host in ("no.such.host.invalid", "127.0.0.300", "192.0.2.1", "a" * 100):
        refused = refuses(capsys, folder, "--host", host)
        assert refused.startswith(f"mathsetu: cannot listen on {host}:")
        assert refused.endswith("; try --host")
    for given in ("http", "0", "65536"):
        problem = "must be an integer from 1 to 65,535"
        assert refuses(capsys, folder, "--port", given) == f"mathsetu: --port {given}: {problem}"
        monkeypatch.setenv("MATHSETU_PORT", given)
        assert refuses(capsys, folder) == f"mathsetu: MATHSETU_PORT={given}: {problem}"
