"""More requests than a server can handle, and queries that take too long."""

import asyncio
import threading
import time
from pathlib import Path

import httpx
import pytest

from mathsetu.deadline import check_time
from mathsetu.retrieval.base import Retriever
from mathsetu.retrieval.lexical import LexicalReply
from mathsetu.service.app import create_app
from mathsetu.service.engine import Engine
from mathsetu.service.limits import Limits
from mathsetu.service.metrics import Metrics
from mathsetu.service.settings import Settings


def endless(*_: object) -> None:
    """Work that never ends by itself."""
    while True:
        check_time()
        time.sleep(0.001)


def part_of(engine: Engine, name: str) -> Retriever:
    """A part of the library that an engine serves."""
    parts, _ = engine._reloading.opened.library._backend.now().parts(None)
    return parts[name]


@pytest.mark.thorough
def test_requests_beyond_capacity_are_refused_and_the_server_recovers(
    sampler_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = create_app(Settings(str(sampler_folder), running=1, waiting=2))
    engine = app.state.engine
    gate = threading.Event()
    search = engine.search

    def slow(*arguments: object, **options: object) -> object:
        gate.wait(20)
        return search(*arguments, **options)

    monkeypatch.setattr(engine, "search", slow)

    async def crowd() -> tuple[list[httpx.Response], httpx.Response, httpx.Response]:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            asking = [asyncio.create_task(client.get("/v1/search?q=primes")) for _ in range(8)]
            refused = [await task for task in asking[3:]]
            # The health check works even when the server is busy.
            health = await client.get("/v1/health")
            gate.set()
            answered = [await task for task in asking[:3]]
            after = await client.get("/v1/search?q=primes")
            assert [response.status_code for response in refused] == [429] * 5
            assert {response.headers["retry-after"] for response in refused} == {"1"}
            return answered, health, after

    answered, health, after = asyncio.run(crowd())
    assert [response.status_code for response in answered] == [200] * 3
    assert (health.status_code, after.status_code) == (200, 200)


@pytest.mark.thorough
def test_a_slow_search_is_stopped_and_its_answer_names_the_unfinished_part(
    sampler_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One part never ends; the others answer, and the answer names that part."""
    events: list[str] = []
    engine = Engine(sampler_folder, Limits(seconds=2.0), note=events.append)

    formulas = part_of(engine, "formulas")
    monkeypatch.setattr(formulas, "ask", endless)
    answer = engine.search("infinitely many primes $p$", k=3)
    assert answer.unfinished == ("formulas",)
    assert answer.hits[0].id.startswith("infinitely-many-primes")
    assert [reason.part for reason in answer.hits[0].reasons] == ["words"]
    assert answer.hits[0].score == pytest.approx(1.0)
    assert events == ["unfinished"]


@pytest.mark.thorough
def test_a_slow_first_part_leaves_time_for_the_others(
    sampler_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = Engine(sampler_folder, Limits(seconds=1.0))
    engine.search("$a^2+b^2=c^2$ triangle")

    monkeypatch.setattr(part_of(engine, "words"), "ask", endless)
    answer = engine.search("$a^2+b^2=c^2$ triangle", k=3)
    assert answer.unfinished == ("words",)
    assert answer.hits[0].id.startswith("pythagorean")


@pytest.mark.thorough
def test_hits_are_kept_when_only_their_reasons_take_too_long(
    sampler_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = Engine(sampler_folder, Limits(seconds=0.5))

    monkeypatch.setattr(LexicalReply, "reason", endless)
    answer = engine.search("infinitely many primes", k=3)
    assert answer.unfinished == ("reasons",)
    assert [reason.part for reason in answer.hits[0].reasons] == ["words"]
    assert answer.hits[0].reasons[0].detail == ""


def test_metrics_of_all_workers_are_added_up(tmp_path: Path) -> None:
    one, other = Metrics(str(tmp_path)), Metrics(str(tmp_path))
    other._file = tmp_path / "metrics-0.json"
    one.observe("GET", "/v1/search", 200, 0.02)
    other.observe("GET", "/v1/search", 200, 3.0)
    other.count("refused")
    other.publish()
    text = one.text({"library_posts": 7})
    assert 'mathsetu_requests_total{method="GET",path="/v1/search",status="200"} 2' in text
    assert 'mathsetu_request_seconds_bucket{path="/v1/search",le="0.025"} 1' in text
    assert 'mathsetu_request_seconds_bucket{path="/v1/search",le="+Inf"} 2' in text
    assert 'mathsetu_request_seconds_count{path="/v1/search"} 2' in text
    assert "mathsetu_refused_total 1" in text
    assert "mathsetu_library_posts 7" in text


def test_metrics_are_well_formed_prometheus_text(tmp_path: Path) -> None:
    metrics = Metrics(str(tmp_path))
    metrics.observe("GET", "/v1/search", 200, 0.02)
    metrics.count("unfinished")
    family = ""
    for line in metrics.text({"library_posts": 1}).splitlines():
        if line.startswith("# TYPE "):
            family = line.split()[2]
        elif not line.startswith("#"):
            series, value = line.rsplit(" ", 1)
            assert series.startswith(family)
            float(value)
