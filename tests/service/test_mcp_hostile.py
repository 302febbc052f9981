"""Invalid messages to the MCP server: each request still gets an answer."""

import asyncio
import io
import json
import signal
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from queue import Empty, Queue
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("mcp")

from mcp import Client

from mathsetu.service import stdio
from mathsetu.service.engine import Engine
from mathsetu.service.stdio import LONGEST, Lines, Refusal, read_message
from mathsetu.service.tools import tool_server

PING = b'{"jsonrpc": "2.0", "id": 99, "method": "ping"}'


def call(name: str, arguments: object, number: object = 7) -> bytes:
    params = {"name": name, "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
    return json.dumps(message).encode()


# Messages, and the code and the id of the error that each must get.
REFUSED: list[tuple[bytes, int, object]] = [
    (call("search", {"query": "\ud800"}), -32602, 7),
    (call("search", {"\udfff": "x"}), -32602, 7),
    (b'{"jsonrpc":"2.0","id":7,"method":"ping\\ud800"}', -32602, 7),
    (b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}', -32600, None),
    (b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":[]}', -32602, 7),
    (b'{"jsonrpc":"2.0","id":7,"method":"ping","params":5}', -32602, 7),
    (b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":NaN}}', -32602, 7),
    (b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":1e999}}', -32602, 7),
    (b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":' + b"9" * 9_999 + b"}}",
     -32700, None),
    (b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":"\xff"}}', -32700, 7),
    (b'{"jsonrpc":"2.0","id":7,"method":"ping","params":' + b'{"a":' * 400 + b"1" + b"}" * 401,
     -32700, 7),
    (b'{"jsonrpc":"2.0","id":7,"method":"ping","params":' + b"[" * 300_000, -32700, None),
    (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, None),
    (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600, None),
    (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600, None),
    (b'{"jsonrpc":"2.0","id":[1],"method":"ping"}', -32600, None),
    (b'{"jsonrpc":"1.0","id":7,"method":"ping"}', -32600, 7),
    (b'{"id":7,"method":"ping"}', -32600, 7),
    (b'{"jsonrpc":"2.0","id":7}', -32600, 7),
    (b'{"jsonrpc":"2.0","id":7,"method":5}', -32600, 7),
    (b'[{"jsonrpc":"2.0","id":7,"method":"ping"}]', -32600, None),
    (b"[]", -32600, None),
    (b"null", -32600, None),
    (b"{", -32700, None),
    (b"nonsense", -32700, None),
    (b"\x00", -32700, None),
    (b"\xff\xfe", -32700, None),
    (b'\xef\xbb\xbf{"jsonrpc":"2.0","id":7,"method":"ping"}', -32700, None),
]  # fmt: skip
# Messages that need no answer.
SILENT = [
    b"",
    b"   ",
    b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":[]}',
    b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[]}}',
    b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"\\ud800"}}',
    b'{"jsonrpc":"2.0","id":7,"result":5}',
    b'{"jsonrpc":"2.0","id":7,"error":5}',
    b'{"jsonrpc":"2.0","id":7,"result":{}}',
]
# Messages that only the SDK refuses, with the id of the request; and the start of the error.
WRONG = [
    (b'{"jsonrpc":"2.0","id":7,"method":"no/such"}', "Method not found"),
    (b'{"jsonrpc":"2.0","id":7,"method":"tools/call"}', "params: Field required"),
    (b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":5}}',
     "params.name: Input should be a valid string"),
    (b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"search","arguments":[1]}}',
     "params.arguments: Input should be a valid dictionary"),
    (b'{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"cursor":5}}',
     "params.cursor: Input should be a valid string"),
    (b'{"jsonrpc":"2.0","id":7,"method":"initialize","params":{}}',
     "params.capabilities: Field required"),
    (b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"_meta":5}}', "params._meta: "),
    (b'{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"file:///etc/passwd"}}',
     ""),
    (b'{"jsonrpc":"2.0","id":7,"method":"prompts/get","params":{"name":"../x"}}', ""),
]  # fmt: skip
# Wrong calls of tools, and a part of the error message.
CALLS: list[tuple[str, dict[str, Any], str]] = [
    ("search", {"query": "x", "k": 500}, "k is 500; it must lie between 1 and 50"),
    ("search", {"query": "x", "k": 0}, "k is 0; it must lie between 1 and 50"),
    ("search", {"query": "x", "k": 10**300}, "k is 10000000000000000...; it must lie"),
    ("search", {"query": "x", "k": "many"}, "k: Input should be a valid integer"),
    ("search", {"query": "x", "k": None}, "k: Input should be a valid integer"),
    ("search", {"query": 5}, "query: Input should be a valid string"),
    ("search", {}, "query: Field required"),
    ("search", {"query": "x", "language": []}, "language: Input should be a valid string"),
    ("search", {"query": "x", "language": "../etc"}, "is not a language"),
    ("search", {"query": "x", "tags": "y"}, "tags: Input should be a valid list"),
    ("search", {"query": "x", "tags": [1, {}]}, "tags.0: Input should be a valid string"),
    ("search", {"query": "x", "in": "hi"},
     "in: unknown argument (known: query, k, language, tags, as_words)"),
    ("fetch_post", {"id": "x", "a\n" * 100: 1}, "unknown argument (known: id)"),
    ("search_formulas", {"latex": [], "k": 5}, "latex: Input should be a valid string"),
    ("search_formulas", {"latex": "x", "k": -1}, "k is -1; it must lie between 1 and 50"),
    ("fetch_post", {"id": {}}, "id: Input should be a valid string"),
    ("fetch_post", {"id": "\x00"}, "there is no post"),
    ("explain_match", {"query": "x", "id": 10**300}, "id: Input should be a valid string"),
    ("no_such_tool", {}, "Unknown tool: no_such_tool"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "code", "number"), REFUSED)
def test_a_message_that_cannot_be_read_is_refused(line: bytes, code: int, number: object) -> None:
    refusal = read_message(line)
    assert isinstance(refusal, Refusal)
    assert (refusal.code, refusal.id) == (code, number)
    assert "\n" not in refusal.problem
    assert len(refusal.problem) < 300


@pytest.mark.parametrize("line", SILENT[:6])
def test_a_notification_or_answer_is_never_answered(line: bytes) -> None:
    assert not isinstance(read_message(line), Refusal)


@given(st.binary(max_size=200))
def test_the_reader_accepts_or_refuses_any_bytes(line: bytes) -> None:
    assert isinstance(read_message(line), str | Refusal | None)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text("a2.0\x00é\ud800"),
    lambda inside: st.lists(inside) | st.dictionaries(st.text("ab"), inside),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["jsonrpc", "id", "method", "params"]), JSON))
@pytest.mark.thorough
def test_a_refusal_has_the_id_of_its_request(message: dict[str, Any]) -> None:
    answer = read_message(json.dumps(message).encode())
    if type(message.get("id")) is int and isinstance(answer, Refusal):
        assert answer.id == message["id"]


class Flood(io.RawIOBase):
    """A stream that generates bytes when they are read, then a ping."""

    def __init__(self, size: int) -> None:
        self._left = size
        self._end = b"\n" + PING + b"\n"

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._left:
            count = min(self._left, len(buffer))
            buffer[:count] = b"x" * count
            self._left -= count
        else:
            count = len(self._end)
            buffer[:count] = self._end
            self._end = b""
        return count


@pytest.mark.thorough
def test_requests_sent_before_the_end_of_standard_input_are_answered(sampler_folder: Path) -> None:
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": []}}
    messages = [
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}).encode(),
        b'{"jsonrpc": "2.0", "method": "notifications/initialized"}',
        json.dumps(cancelled).encode(),
        b'{"jsonrpc": "2.0", "id": "list", "method": "tools/list"}',
        call("search", {"query": "prime number"}),
    ]
    done = subprocess.run(
        [sys.executable, "-m", "mathsetu", "mcp", str(sampler_folder)],
        input=b"\n".join(messages) + b"\n",
        capture_output=True,
        timeout=120,
        check=True,
    )
    answers = {answer["id"]: answer for answer in map(json.loads, done.stdout.splitlines())}
    assert answers.keys() == {1, "list", 7}
    assert not answers[7]["result"].get("isError")


def test_an_unanswered_request_delays_the_end_only_for_a_limited_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stdio, "LAST_ANSWERS", 0.05)

    async def read() -> list[str]:
        async def refuse(refusal: Refusal) -> None:
            raise AssertionError(refusal)

        return [line async for line in Lines(io.BytesIO(PING), refuse, stdio.Unanswered())]

    assert len(asyncio.run(read())) == 1


@pytest.mark.thorough
def test_an_endless_line_is_refused_and_not_kept_in_memory() -> None:
    refusals: list[Refusal] = []

    async def refuse(refusal: Refusal) -> None:
        refusals.append(refusal)

    async def read() -> list[str]:
        stream: Any = io.BufferedReader(Flood(100_000_000))
        return [message async for message in Lines(stream, refuse)]

    def peak() -> int:
        refusals.clear()
        tracemalloc.start()
        try:
            messages = asyncio.run(read())
            most = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert [json.loads(message)["id"] for message in messages] == [99]
        assert [(refusal.code, refusal.id) for refusal in refusals] == [(-32600, None)]
        return most

    # A thread of another test may still load a model, so the smaller of two peaks counts.
    assert min(peak(), peak()) < 8 * LONGEST


def test_a_wrong_argument_gets_an_error_in_one_line(engine: Engine) -> None:
    async def ask() -> list[Any]:
        async with Client(tool_server(engine)) as client:
            return [await client.call_tool(name, arguments) for name, arguments, _ in CALLS]

    for result, (_, _, expected) in zip(asyncio.run(ask()), CALLS, strict=True):
        assert result.is_error
        [content] = result.content
        assert expected in content.text
        assert "\n" not in content.text
        assert len(content.text) < 200


@pytest.fixture
def process(sampler_folder: Path) -> Iterator["Talk"]:
    talk = Talk(sampler_folder)
    yield talk
    talk.end()


class Talk:
    """A server as a process, and its answers."""

    def __init__(self, folder: Path) -> None:
        self.server = subprocess.Popen(
            [sys.executable, "-m", "mathsetu", "mcp", str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._said: Queue[bytes] = Queue()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        params = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        }
        hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
        self.say(b'{"jsonrpc":"2.0","id":7,"method":"tools/list"}')
        early = self.hear()["error"]
        assert early["message"] == "tools/list came before initialize; send initialize first"
        self.say(json.dumps(hello).encode())
        assert "result" in self.hear()
        self.say(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')

    def _listen(self) -> None:
        assert self.server.stdout is not None
        with self.server.stdout as lines:
            for line in lines:
                self._said.put(line)

    def say(self, line: bytes, end: bytes = b"\n") -> None:
        assert self.server.stdin is not None
        self.server.stdin.write(line + end)
        self.server.stdin.flush()

    def hear(self, seconds: float = 60) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self._said.get(timeout=seconds))
        return answer

    def is_silent(self) -> bool:
        try:
            self._said.get(timeout=0.5)
        except Empty:
            return True
        return False

    def end(self) -> int:
        assert self.server.stdin is not None
        self.server.stdin.close()
        try:
            return self.server.wait(30)
        finally:
            self.server.kill()
            self._listener.join(30)


@pytest.mark.thorough
def test_a_server_answers_every_hostile_request_and_keeps_running(process: Talk) -> None:
    for line, code, number in REFUSED:
        process.say(line)
        answer = process.hear()
        assert (answer["error"]["code"], answer["id"]) == (code, number)
    for line, problem in WRONG:
        process.say(line)
        answer = process.hear()
        assert answer["id"] == 7
        assert answer["error"]["message"].startswith(problem)
        assert "Traceback" not in json.dumps(answer["error"])
    for name, arguments, expected in CALLS:
        process.say(call(name, arguments))
        answer = process.hear()
        assert answer["id"] == 7
        assert expected in answer["result"]["content"][0]["text"]
    for line in SILENT:
        process.say(line)
    assert process.is_silent()
    for _ in range(100):
        process.say(b"x" * (1 << 20), end=b"")
    process.say(b"")
    assert process.hear()["error"]["code"] == -32600
    memory = Path(f"/proc/{process.server.pid}/status")
    if memory.exists():
        [peak] = [line for line in memory.read_text().splitlines() if line.startswith("VmHWM")]
        assert int(peak.split()[1]) < 500_000
    process.say(call("search", {"query": "primes", "k": 1}, "last"))
    answer = process.hear()
    assert answer["id"] == "last"
    assert not answer["result"]["isError"]
    process.say(PING, end=b"")  # the input ends in the middle of a line
    assert process.end() == 0


@pytest.mark.thorough
def test_input_that_ends_in_the_middle_of_a_message_ends_the_server(process: Talk) -> None:
    process.say(PING[:20], end=b"")
    assert process.end() == 0


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_ctrl_c_ends_a_server_although_its_input_stays_open(process: Talk) -> None:
    process.server.send_signal(signal.SIGINT)
    assert process.server.wait(60) == 130  # a busy machine may need long
