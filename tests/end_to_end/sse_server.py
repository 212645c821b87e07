"""Servers of an LLM's API for the tests of `llmprof load`, on 127.0.0.1: an honest one, whose answers take as
long as it is told, and raw ones that send what they are told, byte for byte."""
import asyncio
import json
import ssl
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Any

LONGEST_WAIT_S = 60  # for requests that do not come: then the test fails

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class LoopServer:
    """Runs an asyncio server on a thread of its own; a context manager."""

    def __init__(self, handler: Handler, tls: ssl.SSLContext | None = None) -> None:
        self.handler = handler
        self.tls = tls
        self.loop = asyncio.new_event_loop()
        self.port = 0
        self.ready = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def run(self) -> None:
        asyncio.set_event_loop(self.loop)
        server = self.loop.run_until_complete(
            asyncio.start_server(self.handler, "127.0.0.1", 0, ssl=self.tls, backlog=4096))
        self.port = server.sockets[0].getsockname()[1]
        self.ready.set()
        self.loop.run_forever()
        server.close()
        tasks = asyncio.all_tasks(self.loop)
        for task in tasks:
            task.cancel()
        self.loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        self.loop.close()

    def __enter__(self) -> "LoopServer":
        self.thread.start()
        assert self.ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(10)

    def url(self, path: str = "") -> str:
        return f"http{'s' if self.tls else ''}://127.0.0.1:{self.port}{path}"


async def read_request(reader: asyncio.StreamReader) -> tuple[str, str, dict[str, str], bytes]:
    """(method, target, headers, body); raises IncompleteReadError at the end of the connection."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    first, *lines = head.split("\r\n")
    method, target, _ = first.split(" ", 2)
    headers = {name.lower(): value.strip()
               for name, _, value in (line.partition(":") for line in lines if line)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return method, target, headers, body


def plain_answer(status: int, body: str, kind: str = "application/json") -> bytes:
    data = body.encode()
    return (f"HTTP/1.1 {status} Status\r\nContent-Type: {kind}\r\n"
            f"Content-Length: {len(data)}\r\n\r\n").encode() + data


def chunked(data: str) -> bytes:
    raw = data.encode()
    return f"{len(raw):x}\r\n".encode() + raw + b"\r\n"


STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


class OpenAiServer(LoopServer):
    """OpenAI completions and chat, or llama.cpp's /completion. It notes the times at which it got each request and sent
    each token (CLOCK_MONOTONIC). No answer begins before `together` requests are open, however slow the machine is."""

    def __init__(self, first_token_s: float = 0.0, token_s: float = 0.0, *, together: int = 1, llama: bool = False,
                 key: str = "", strict: bool = False, tls: ssl.SSLContext | None = None) -> None:
        super().__init__(self.serve, tls)
        self.first_token_s, self.token_s = first_token_s, token_s
        self.llama, self.key, self.strict = llama, key, strict
        self.requests: list[dict[str, Any]] = []  # those for more than one token: the load
        self.open = 0
        self.most_open = 0
        self.together = together
        self.enough = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                await self.answer(writer, *await read_request(reader))
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError, asyncio.TimeoutError):
            pass
        finally:
            writer.close()

    async def answer(self, writer: asyncio.StreamWriter, method: str, target: str, headers: dict[str, str],
                     body: bytes) -> None:
        if self.key and headers.get("authorization") != f"Bearer {self.key}":
            text = json.dumps({"error": {"message": f"bad key {headers.get('authorization')}"}})
            writer.write(plain_answer(401, text))
        elif method == "GET" and target == "/v1/models":
            writer.write(plain_answer(200, json.dumps({"data": [{"id": "test-model", "owned_by": "tests"}]})))
        elif method == "GET" and target == "/props" and self.llama:
            writer.write(plain_answer(200, json.dumps({"default_generation_settings": {}})))
        elif method == "POST" and self.knows(target):
            await self.stream(writer, target, json.loads(body))
        else:
            writer.write(plain_answer(404, json.dumps({"error": {"message": f"no {target}"}})))

    def knows(self, target: str) -> bool:
        return target == "/completion" if self.llama else target in ("/v1/completions", "/v1/chat/completions")

    async def stream(self, writer: asyncio.StreamWriter, target: str, body: dict[str, Any]) -> None:
        if self.strict and ("ignore_eos" in body or isinstance(body.get("prompt"), list)):
            writer.write(plain_answer(400, json.dumps({"error": {"message": "unknown field"}})))
            return
        tokens = body["n_predict"] if self.llama else body["max_tokens"]
        note: dict[str, Any] = {"body": body, "target": target, "got_ns": time.monotonic_ns(), "sent_ns": []}
        if tokens > 1:
            self.requests.append(note)
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        if self.open >= self.together:
            self.enough.set()
        try:
            writer.write(STREAM_HEAD)
            if tokens > 1:
                await asyncio.wait_for(self.enough.wait(), LONGEST_WAIT_S)
            await asyncio.sleep(self.first_token_s)
            for number in range(tokens):
                if number:
                    await asyncio.sleep(self.token_s)
                note["sent_ns"].append(time.monotonic_ns())
                writer.write(chunked(self.event(target, number, tokens)))
                await writer.drain()
            if not self.llama:
                usage = {"prompt_tokens": 11, "completion_tokens": tokens}
                writer.write(chunked(f"data: {json.dumps({'choices': [], 'usage': usage})}\n\n"))
                writer.write(chunked("data: [DONE]\n\n"))
            writer.write(b"0\r\n\r\n")
            await writer.drain()
        finally:
            self.open -= 1

    def event(self, target: str, number: int, tokens: int) -> str:
        last = number == tokens - 1
        if self.llama:
            data: dict[str, Any] = {"content": " a", "tokens": [number], "stop": last}
            if last:
                data |= {"tokens_predicted": tokens, "tokens_evaluated": 11, "timings": {"prompt_ms": 1.5}}
        elif target == "/v1/completions":
            data = {"choices": [{"text": " a", "finish_reason": "length" if last else None}]}
        else:
            data = {"choices": [{"delta": {"content": " a"}, "finish_reason": "length" if last else None}]}
        return f"data: {json.dumps(data)}\n\n"


class RawServer(LoopServer):
    """Sends `answer` to every request of more than one token, then closes; a request for one token (the check before a
    load) gets a proper answer if `check` is set."""

    def __init__(self, answer: bytes, check: bool = True, wait_s: float = 0) -> None:
        super().__init__(self.serve)
        self.text, self.check, self.wait_s = answer, check, wait_s

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            method, _, _, body = await read_request(reader)
            asked = json.loads(body)["max_tokens"] if method == "POST" else 0
            if self.check and asked <= 1:
                writer.write(plain_answer(200, "{}"))
            else:
                writer.write(self.text)
            await writer.drain()
            await asyncio.sleep(self.wait_s)
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError, ValueError):
            pass
        finally:
            writer.close()
