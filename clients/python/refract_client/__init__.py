"""A client of Refract's API.

    refract = Refract("http://127.0.0.1:8080/v1", os.environ["REFRACT_KEY"])
    result = refract.create("support-triage", text="Where is my order?", ref="ticket-17")
    print(result["answers"])

`refract.raw`, `.row`, `.csv`, `.tsv` and `.jsonl` have the same calls for the other formats, and
`AsyncRefract` has them all to be awaited. A call is repeated after a 408, a 429, a 5xx, a timeout and a broken
connection; a create call always with one idempotency key, so that no text is asked about twice. A result
that the model gave no answer to is returned with the status `failed`; whatever else fails is a RefractError.
A client for an address, key or setting that can never work is not made: that is a ValueError.
`to_frame` makes a table of results for pandas or polars.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import random
import re
import threading
import time
import uuid
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypedDict, TypeVar
from urllib.parse import quote

import httpx

from .frame import to_frame

__all__ = [
    "AsyncCalls", "AsyncRefract", "BadRequest", "ChoiceAnswer", "Conflict", "InternalError", "NotFound", "RawResult", "Refract",
    "RefractError", "Result", "Row", "ScaleAnswer", "StoredAnswer", "SyncCalls", "Unauthorized", "Unavailable",
    "ValidationFailed", "Value", "YesNoAnswer", "to_frame",
]

Value = str | float | None | dict[str, float]


class Result(TypedDict):
    """A result through the prism's lens; `answers` has a value for each column, or is None if it failed."""

    id: str
    ref: str | None
    prism: str
    version: int
    status: Literal["ok", "failed"]
    error: str | None
    took_ms: int
    created_at: str
    answers: dict[str, Value] | None


class ChoiceAnswer(TypedDict):
    """The stored answer to a choice; `value` is None where the model named an option that the prism lacks."""

    type: Literal["choice"]
    value: str | None
    probabilities: dict[str, float]
    confidence: float


class YesNoAnswer(TypedDict):
    """The stored answer to a yes/no question: the probability of yes."""

    type: Literal["yes_no"]
    probability: float


class ScaleAnswer(TypedDict):
    """The stored answer to a scale."""

    type: Literal["scale"]
    level: str
    probabilities: dict[str, float]


# `answer["type"]` decides which it is, for a type checker too
StoredAnswer = ChoiceAnswer | YesNoAnswer | ScaleAnswer


class RawResult(TypedDict):
    """A result with its stored answers, whatever the lens."""

    id: str
    ref: str | None
    prism: str
    version: int
    status: Literal["ok", "failed"]
    error: str | None
    took_ms: int
    created_at: str
    answers: dict[str, StoredAnswer] | None


@dataclass(frozen=True)
class Row:
    """A result as a row; `columns` are the fields, then the columns of the lens."""

    result_id: str
    ref: str | None
    version: int
    status: Literal["ok", "failed"]
    error: str | None
    created_at: str
    columns: dict[str, Value]


class RefractError(Exception):
    """A call that failed, by the status and code of the API; there is no status without an answer."""

    def __init__(self, message: str, status: int | None = None, code: str | None = None, request_id: str | None = None):
        super().__init__(message)
        self.status, self.code, self.request_id = status, code, request_id


class ValidationFailed(RefractError): ...


class BadRequest(RefractError): ...


class Unauthorized(RefractError): ...


class NotFound(RefractError): ...


class Conflict(RefractError): ...


class InternalError(RefractError): ...


class Unavailable(RefractError):
    """No answer, or none from Refract: a node that stops, a timeout, a broken connection, a proxy's error."""


ERRORS: dict[str | None, type[RefractError]] = {
    "validation_failed": ValidationFailed,
    "bad_request": BadRequest,
    "unauthorized": Unauthorized,
    "not_found": NotFound,
    "conflict": Conflict,
    "internal_error": InternalError,
}
TEXTS = ("csv", "tsv", "jsonl")
ADDRESS = re.compile(r"https?://[^\s/?#@]+(/[^\s?#@]*)?", re.IGNORECASE)
LONGEST_WAIT = 60.0
# requests under way at once: the pool of httpx takes ever longer for each one beyond its connections
PLACES = 100
RETRIED_AS = re.compile(r"already retried as ([0-9a-f-]{36})")

T = TypeVar("T")
# what a call does is written once: it yields a request or a pause, and is sent an answer or a fault
Step = tuple[str, str, dict[str, str], bytes | None] | float
Steps = Generator[Step, "httpx.Response | httpx.RequestError | None", T]
P = TypeVar("P")
C = TypeVar("C", httpx.Client, httpx.AsyncClient)


class Pools(Generic[P]):
    """A pool of connections for each process and event loop: a connection that two processes share mixes up their answers."""

    def __init__(self, make: Callable[[], P]):
        self._make = make
        # a pool of the process that this one was forked from stays here, so that nothing closes it
        self._pools: dict[tuple[int, asyncio.AbstractEventLoop | None], P] = {}

    def own(self, loop: asyncio.AbstractEventLoop | None = None) -> P:
        owner = os.getpid(), loop
        if owner not in self._pools:
            for other in list(self._pools):
                if other[1] and other[1].is_closed():
                    self._pools.pop(other, None)
            # threads may make two: all use the first
            self._pools.setdefault(owner, self._make())
        return self._pools[owner]


SyncPools = Pools[tuple[httpx.Client, threading.Semaphore]]
AsyncPools = Pools[tuple[httpx.AsyncClient, asyncio.Semaphore]]


class Calls(Generic[T]):
    """The steps of the three calls in one format."""

    def __init__(self, url: str, key: str, format: str, read: Callable[[str], T], attempts: int, pause: float):
        self._url, self._format, self._read = url.rstrip("/"), format, read
        self._headers = {"Authorization": f"Bearer {key}"}
        self._attempts, self._pause = attempts, pause

    def _create(self, prism: str, call: dict[str, object]) -> Steps[T]:
        body = {name: value for name, value in call.items() if value is not None}
        body.setdefault("idempotency_key", str(uuid.uuid4()))
        try:
            # an unpaired surrogate is escaped as in JSON: the server says where it is
            written = json.dumps(body, ensure_ascii=False, allow_nan=False).encode(errors="backslashreplace")
        except (TypeError, ValueError):
            raise ValidationFailed("texts must be str and version int: another value, such as NaN, cannot be sent",
                                   code="validation_failed") from None
        return self._repeated("POST", f"/prisms/{_quoted(prism)}/results", written)

    def _retry(self, result_id: str) -> Steps[T]:
        return self._repeated("POST", f"/results/{_quoted(result_id)}/retry")

    def _repeated(self, method: str, path: str, body: bytes | None = None) -> Steps[T]:
        url = f"{self._url}{path}?format={self._format}"
        headers = {**self._headers, "Content-Type": "application/json"} if body else self._headers
        for attempt in range(1, self._attempts + 1):
            answer = yield method, url, headers, body
            if isinstance(answer, httpx.Response):
                result = self._result(answer)
                if result is not None:
                    return result
                error, wait = _error(answer), 0.0
                retried_as = RETRIED_AS.search(str(error)) if attempt > 1 and isinstance(error, Conflict) else None
                if retried_as:  # by an attempt whose answer was lost
                    return (yield from self._repeated("GET", f"/results/{retried_as[1]}"))
                # a proxy that takes no more for now, or gave up an idle connection, asked nobody
                if answer.status_code < 500 and answer.status_code not in (408, 429):
                    raise error
                # a proxy may send a date, or hours
                after = answer.headers.get("retry-after", "") if answer.status_code in (429, 503) else ""
                if re.fullmatch("[0-9]{1,9}", after):
                    wait = min(float(after), LONGEST_WAIT)
            else:
                error, wait = Unavailable(f"no answer: {type(answer).__name__}"), 0.0
                error.__cause__ = answer
            if attempt < self._attempts:
                yield max(wait, self._pause * 4 ** (attempt - 1) * random.uniform(0.5, 1))
        raise error

    def _result(self, answer: httpx.Response) -> T | None:
        """The result in an answer, also one that the model gave no answer to (502); None for what a proxy says."""
        try:
            return self._read(answer.text) if answer.status_code in (200, 502) else None
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
            return None


class SyncCalls(Calls[T]):
    """The three calls in one format."""

    _pools: SyncPools

    def create(self, prism: str, *, text: str | None = None, fields: dict[str, str] | None = None, context: str | None = None,
               ref: str | None = None, version: int | None = None, idempotency_key: str | None = None) -> T:
        """Asks the prism's questions about a text, and saves the result."""
        return self._run(self._create(prism, {"text": text, "fields": fields, "context": context, "ref": ref,
                                              "version": version, "idempotency_key": idempotency_key}))

    def read(self, result_id: str) -> T:
        """A saved result; the model is not asked."""
        return self._run(self._repeated("GET", f"/results/{_quoted(result_id)}"))

    def retry(self, result_id: str) -> T:
        """Asks again about the text of a failed result, and saves a new result."""
        return self._run(self._retry(result_id))

    def _run(self, steps: Steps[T]) -> T:
        answer: httpx.Response | httpx.RequestError | None = None
        try:
            while True:
                step = steps.send(answer)
                if isinstance(step, float):
                    time.sleep(step)
                    answer = None
                    continue
                method, url, headers, body = step
                client, places = self._pools.own()
                with places:
                    try:
                        answer = client.request(method, url, headers=headers, content=body)
                    except httpx.RequestError as fault:
                        answer = fault
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]


class AsyncCalls(Calls[T]):
    """The three calls in one format, to be awaited."""

    _pools: AsyncPools

    async def create(self, prism: str, *, text: str | None = None, fields: dict[str, str] | None = None, context: str | None = None,
                     ref: str | None = None, version: int | None = None, idempotency_key: str | None = None) -> T:
        """Asks the prism's questions about a text, and saves the result."""
        return await self._run(self._create(prism, {"text": text, "fields": fields, "context": context, "ref": ref,
                                                    "version": version, "idempotency_key": idempotency_key}))

    async def read(self, result_id: str) -> T:
        """A saved result; the model is not asked."""
        return await self._run(self._repeated("GET", f"/results/{_quoted(result_id)}"))

    async def retry(self, result_id: str) -> T:
        """Asks again about the text of a failed result, and saves a new result."""
        return await self._run(self._retry(result_id))

    async def _run(self, steps: Steps[T]) -> T:
        answer: httpx.Response | httpx.RequestError | None = None
        try:
            while True:
                step = steps.send(answer)
                if isinstance(step, float):
                    await asyncio.sleep(step)
                    answer = None
                    continue
                method, url, headers, body = step
                client, places = self._pools.own(asyncio.get_running_loop())
                async with places:
                    try:
                        answer = await client.request(method, url, headers=headers, content=body)
                    except httpx.RequestError as fault:
                        answer = fault
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]


class Refract(SyncCalls[Result]):
    """A client; `url` is the server's address up to `/v1`. Close it, or use it in a `with` block.

    `timeout` is the number of seconds after which a silent server is given up, `attempts` how often a call is
    made at most, `pause` the seconds before the first repeat, four times as many before each further one.
    Threads may share a client, and a forked process may go on with it. At most 100 requests are under way at
    once; `timeout` does not count the time that others wait.
    """

    def __init__(self, url: str, key: str, *, timeout: float = 45, attempts: int = 4, pause: float = 1):
        _check(url, key, timeout, attempts, pause)
        super().__init__(url, key, "json", _read_json, attempts, pause)
        self.raw: SyncCalls[RawResult] = SyncCalls(url, key, "raw", _read_json, attempts, pause)
        self.row: SyncCalls[Row] = SyncCalls(url, key, "jsonl", _read_row, attempts, pause)
        self.csv, self.tsv, self.jsonl = (SyncCalls(url, key, format, _read_text, attempts, pause) for format in TEXTS)
        self._pools = SyncPools(lambda: (_opened(httpx.Client, timeout), threading.Semaphore(PLACES)))
        self._pools.own()
        for calls in (self.raw, self.row, self.csv, self.tsv, self.jsonl):
            calls._pools = self._pools

    def close(self) -> None:
        self._pools.own()[0].close()

    def __enter__(self) -> Refract:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncRefract(AsyncCalls[Result]):
    """A client whose calls are awaited, as of Refract; close it, or use it in an `async with` block.

    Each event loop of asyncio has connections of its own; `close` closes those of the one it is awaited in.
    """

    def __init__(self, url: str, key: str, *, timeout: float = 45, attempts: int = 4, pause: float = 1):
        _check(url, key, timeout, attempts, pause)
        super().__init__(url, key, "json", _read_json, attempts, pause)
        self.raw: AsyncCalls[RawResult] = AsyncCalls(url, key, "raw", _read_json, attempts, pause)
        self.row: AsyncCalls[Row] = AsyncCalls(url, key, "jsonl", _read_row, attempts, pause)
        self.csv, self.tsv, self.jsonl = (AsyncCalls(url, key, format, _read_text, attempts, pause) for format in TEXTS)
        self._pools = AsyncPools(lambda: (_opened(httpx.AsyncClient, timeout), asyncio.Semaphore(PLACES)))
        for calls in (self.raw, self.row, self.csv, self.tsv, self.jsonl):
            calls._pools = self._pools

    async def close(self) -> None:
        await self._pools.own(asyncio.get_running_loop())[0].aclose()

    async def __aenter__(self) -> AsyncRefract:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def _check(url: str, key: str, timeout: float, attempts: int, pause: float) -> None:
    """Refuses what no call can be made with; the key is not shown."""
    try:
        address = httpx.URL(url)
        usable = ADDRESS.fullmatch(url) and address.host.encode("idna") and (address.port or 80) < 65536
    except (TypeError, UnicodeError, httpx.InvalidURL):
        usable = None
    if not usable:
        raise ValueError("url: give the server's address up to /v1, such as http://127.0.0.1:8080/v1, without name, password or query")
    if not isinstance(key, str) or not re.fullmatch("[!-~]+", key):
        raise ValueError("key: give the API key as it was printed, without a line break, a space or anything around it")
    if not attempts >= 1:
        raise ValueError("attempts: a call needs at least one")
    if not 0 < timeout < math.inf:
        raise ValueError("timeout: give seconds, more than 0")
    if not 0 <= pause < math.inf:
        raise ValueError("pause: give seconds, 0 or more")


def _opened(client: type[C], timeout: float) -> C:
    try:
        return client(timeout=timeout, limits=httpx.Limits(max_connections=PLACES, max_keepalive_connections=20))
    except httpx.InvalidURL:
        raise ValueError("httpx cannot read HTTP_PROXY, HTTPS_PROXY, ALL_PROXY or NO_PROXY of the environment: NO_PROXY takes "
                         "IPv6 addresses without brackets and prefixes") from None


def _quoted(name: str) -> str:
    return quote(name, safe="", errors="replace")


def _read_json(body: str) -> Any:
    result = json.loads(body)
    if not {"id", "answers"} <= result.keys():
        raise ValueError("no result")
    return result


def _read_text(body: str) -> str:
    if not body.startswith(("result_id,", "result_id\t", '{"result_id":')):
        raise ValueError("no result")
    return body


def _read_row(body: str) -> Row:
    columns = json.loads(body)
    fixed = {name: columns.pop(name) for name in ("result_id", "ref", "version", "status", "error", "created_at")}
    return Row(**fixed, columns=columns)


def _error(answer: httpx.Response) -> RefractError:
    """The error of an answer: a stopping node and a proxy send none in the API's form."""
    code, message = None, f"status {answer.status_code}"
    if answer.status_code < 500:
        message += ", not from Refract: check the address, which ends in /v1, and what is in between"
    try:
        body = json.loads(answer.text)["error"]
        if body["code"] in ERRORS:
            code, message = body["code"], str(body["message"])
    except (KeyError, RecursionError, TypeError, ValueError):
        pass
    return ERRORS.get(code, Unavailable)(message, answer.status_code, code, answer.headers.get("x-request-id"))
